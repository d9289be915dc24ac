"""Compare: what each pattern costs in each of the four ways, measured.

`verify` runs the same patterns on the same menus in all four ways; here its results are put side by
side. What they show:

- Each of the document's reads is one request in every way. The menus fit into the 4 KB of a unit,
  so they cost the same; how many items are read says what they would cost if they were larger.
- The sections of a menu are read alone in the item collection and with joins. With composite sort
  keys the products lie between the sections, and are read with them. A document is always read
  whole.
- The whole menu is one item as a document, and one query of all its rows in the other two; with
  joins it is a query for each section, which no single plan does.
- Joins begin with an id: who knows a menu by its name makes one more query. In the item collections
  the name is the key.
- An update writes one small row, with joins also its copies in one index or two, and of a document
  the whole menu and its copy in the index, however small the change.
- A rename is where the ways differ most. In a document it is an update like any other. Where names
  are keys, rows are deleted and put again in transactions, which cost double: of a menu, all its
  rows; with joins, one row, and the index keys of its children.

So: a document, while a menu stays small (an item ends at 400 KB) and few change it at a time; an
item collection, where rows are updated often and names last; composite sort keys, where there are
more levels and a part of the tree is moved or read; joins, where a child changes its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from tablewright.verify.run import Result

if TYPE_CHECKING:
    from rich.table import Table

#: The rows that are compared, where a way has them.
PATTERNS = (
    "Get Menu by Name",
    "Get Sections by Menu",
    "Get Sections by Menu, from its name",
    "Get Products by Section",
    "Get the whole menu",
    "Update Menu",
    "Update Section",
    "Update Product",
    "Add a section",
    "Rename a menu",
    "Rename a section",
    "Rename a product",
)
#: What is measured, in the order of a table's columns.
COLUMNS = ("requests", "items read", "read units", "write units")


class Cost(Struct, frozen=True):
    """What one run of a pattern used."""

    requests: int
    items: int
    read_units: float
    write_units: float

    def cells(self) -> tuple[str, ...]:
        """Its values, as a table shows them."""
        values = (self.requests, self.items, self.read_units, self.write_units)
        return tuple(f"{value:g}" for value in values)


#: Pattern -> way -> what it used there.
Comparison = dict[str, dict[str, Cost]]


def compare(results: Iterable[Result]) -> Comparison:
    """Put the results of `verify` side by side."""
    found: Comparison = {pattern: {} for pattern in PATTERNS}
    for result in results:
        way, _, pattern = result.row.partition(": ")
        if pattern in found:
            found[pattern][way] = _cost(result)
    return {pattern: ways for pattern, ways in found.items() if ways}


def _cost(result: Result) -> Cost:
    return Cost(result.requests, result.read, result.read_units, result.write_units)


def as_table(comparison: Comparison) -> Table:
    """The comparison, for a terminal."""
    from rich.table import Table  # who loads a design does not wait for it

    table = Table("pattern", "way", title="The menu, four ways")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for pattern, ways in comparison.items():
        for line in _lines(pattern, ways):
            table.add_row(*line)
        table.add_section()
    return table


def as_markdown(comparison: Comparison) -> str:
    """The comparison, for a document."""
    lines = [
        f"| pattern | way | {' | '.join(COLUMNS)} |",
        f"| --- | --- |{' ---: |' * len(COLUMNS)}",
    ]
    for pattern, ways in comparison.items():
        lines += [f"| {' | '.join(line)} |" for line in _lines(pattern, ways)]
    return "\n".join(lines) + "\n"


def _lines(pattern: str, ways: dict[str, Cost]) -> Iterator[tuple[str, ...]]:
    """A line for each way; the first one names the pattern."""
    for number, (way, cost) in enumerate(ways.items()):
        yield (pattern if number == 0 else "", way, *cost.cells())
