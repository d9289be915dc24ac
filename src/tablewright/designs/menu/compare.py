"""Compare: the measured cost of each pattern in the four variants.

`verify` runs the same patterns on the same menus in all four variants. The results show:

- Each read of the source document is one request in every variant. The sample menus are smaller
  than the 4 KB of a read unit, so all reads cost the same. The number of items read shows what
  larger menus would cost.
- The item collection and the joins read only the sections of a menu. With composite sort keys, the
  products sort between the sections and are read with them. A document is always read as a whole.
- The whole menu is one item in the document variant. It is one query in the item collection and
  with composite sort keys. With joins it needs a further query for each section, so it is not one
  plan, and not in the table.
- Joins need an id. A caller that knows only the name of a menu makes one more query. In the item
  collection and with composite sort keys, the name is the key.
- An update writes one small item. With joins it also writes the copies in one or two indexes. In
  the document variant it writes the whole menu and its copy in the index, even for a small change.
- Renames differ most. In a document, a rename is an ordinary update. Where names are part of keys,
  items are deleted and put again in transactions, which cost twice as much. These are all items of
  a menu, or with joins one item; its children get new index keys.
- A delete also deletes the children, except with joins. There an item must have no children, so a
  caller deletes the products first, then the sections. The menu that is deleted here with joins is
  empty.

Use a document while menus are small (the limit is 400 KB) and few writers change a menu at the same
time. Use an item collection if items change often and names rarely. Use composite sort keys for
more levels, or to move or read a part of the tree. Use joins if children change their parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from tablewright.verify.run import Result

if TYPE_CHECKING:
    from rich.table import Table

#: The checks to compare, if a variant has them.
COMPARED_CHECKS = (
    "Get Menu by Name",
    "Get Sections by Menu",
    "Get Sections by Menu, from its name",
    "Get Products by Section",
    "Get the whole menu",
    "Update Menu",
    "Update Section",
    "Update Product",
    "Add a section",
    "Add a product",
    "Rename a menu",
    "Rename a section",
    "Rename a product",
    "Delete a menu",
    "Delete a section",
    "Delete a product",
)
#: The measured values, in the order of the columns.
COLUMNS = ("requests", "items read", "read units", "write units")
HEADER = ("pattern", "variant", *COLUMNS)


class Cost(Struct, frozen=True):
    """The measured cost of one run of a pattern."""

    requests: int
    items: int
    read_units: float
    write_units: float

    def cells(self) -> tuple[str, ...]:
        """Return the values as the cells of a table."""
        values = (self.requests, self.items, self.read_units, self.write_units)
        return tuple(f"{value:g}" for value in values)


#: Pattern -> variant -> cost.
Costs = dict[str, dict[str, Cost]]


def compare(results: Iterable[Result]) -> Costs:
    """Return the costs of the compared checks, from the results of `verify`."""
    found: Costs = {pattern: {} for pattern in COMPARED_CHECKS}
    for result in results:
        variant, _, pattern = result.check.partition(": ")
        if pattern in found:
            found[pattern][variant] = _cost(result)
    return {pattern: variants for pattern, variants in found.items() if variants}


def _cost(result: Result) -> Cost:
    return Cost(result.requests, result.read, result.read_units, result.write_units)


def as_table(costs: Costs) -> Table:
    """Format the costs for a terminal."""
    from rich.table import Table  # importing it here keeps loading a design fast

    table = Table(*HEADER[:2], title="The menu in four variants")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for pattern, variants in costs.items():
        for line in _lines(pattern, variants):
            table.add_row(*line)
        table.add_section()
    return table


def as_rows(costs: Costs) -> Iterator[tuple[str, ...]]:
    """Return the costs as the rows of a table with the columns `HEADER`."""
    for pattern, variants in costs.items():
        yield from _lines(pattern, variants)


def _lines(pattern: str, variants: dict[str, Cost]) -> Iterator[tuple[str, ...]]:
    """Yield one line for each variant; only the first line has the name of the pattern."""
    for number, (variant, cost) in enumerate(variants.items()):
        yield (pattern if number == 0 else "", variant, *cost.cells())
