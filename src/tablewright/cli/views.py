"""Views: how the items of a table are shown, as they are stored or as the entities of a design.

A view prints items as tables for people, one item as a list of its attributes, or one JSON value on
each line. Entities are grouped, in the order in which they first appear; an item that the design
does not know, or that does not match its entity, is shown as it is stored and marked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec
import typer

from tablewright.cli import report
from tablewright.cli.item_json import print_json
from tablewright.cli.item_tables import escape_controls, format_cell, print_columns, print_table
from tablewright.errors import UnreadableItem

if TYPE_CHECKING:
    import pydantic
    from rich.console import Console

    from tablewright.mapping.table import TableMap
    from tablewright.values import Item

HIDDEN = "choose columns with --attributes, or use --json"
_is_number = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch  # exact decimals are texts in JSON
UNKNOWN = "not in the design"
RESERVED = "reserves a unique value"
RECORD = "the record of complete indexes"


class View(Protocol):
    """Prints items."""

    def print_json(self, items: Sequence[Item]) -> None: ...
    def print_items(self, items: Sequence[Item]) -> None: ...
    def print_item(self, item: Item) -> None: ...


class StoredView:
    """Items as they are stored: the key comes first, the keys of other indexes come last."""

    def __init__(
        self, key: Sequence[str], attributes: Sequence[str] = (), last: Collection[str] = ()
    ) -> None:
        self._key = key
        self._attributes = attributes
        self._last = last

    @cached_property
    def _console(self) -> Console:
        return make_console()

    def print_json(self, items: Sequence[Item]) -> None:
        print_json([self._selected(item) for item in items])

    def print_items(self, items: Sequence[Item]) -> None:
        shown = [self._selected(item) for item in items]
        print_table(self._console, shown, self._order(shown), HIDDEN)

    def print_item(self, item: Item) -> None:
        item = self._selected(item)
        fields = {name: format_cell(item[name]) for name in self._order([item]) if name in item}
        print_fields(self._console, fields)

    def _order(self, items: Sequence[Item]) -> list[str]:
        if self._attributes:
            return list(self._attributes)
        found = dict.fromkeys(name for item in items for name in item)
        return list(
            dict.fromkeys(
                [
                    *self._key,
                    *(name for name in found if name not in self._last),
                    *(name for name in self._last if name in found),
                ]
            )
        )

    def _selected(self, item: Item) -> Item:
        if not self._attributes:
            return item
        return {name: item[name] for name in self._attributes if name in item}


class SeenItem(NamedTuple):
    """An item, as a design sees it."""

    item: Item
    #: The name of the entity; None if there is none.
    entity: str | None
    #: The attributes of the entity as JSON values; None if the item cannot be decoded.
    values: dict[str, Any] | None
    #: Why it cannot be decoded.
    problem: str = ""

    @property
    def title(self) -> str:
        if self.entity is None:
            return self.problem
        return self.entity if self.values is not None else f"{self.entity}, as stored"


class EntityView:
    """Items as entities of a design."""

    def __init__(self, table: TableMap, stored: StoredView, attributes: Sequence[str] = ()) -> None:
        self._table = table
        self._attributes = attributes
        self._stored = stored

    @cached_property
    def _console(self) -> Console:
        return make_console()

    def see(self, item: Item) -> SeenItem:
        """Return the entity of an item and its attributes."""

        kind = self._table.identify(item)
        entity = kind.stored
        if entity is None:
            what = RECORD if kind.is_record else UNKNOWN if kind.is_unknown else RESERVED
            return SeenItem(item, None, None, what)
        try:
            values = as_json(entity.decode_kind(item))
        except UnreadableItem as error:
            return SeenItem(item, entity.name, None, str(error))
        if self._attributes:
            values = {name: values[name] for name in self._attributes if name in values}
        return SeenItem(item, entity.name, values)

    def print_json(self, items: Sequence[Item]) -> None:
        for seen in map(self.see, items):
            if seen.values is None:
                value = {"entity": seen.entity, "problem": seen.problem, "item": seen.item}
            else:
                value = {"entity": seen.entity, "values": seen.values}
            print_json([value])

    def print_items(self, items: Sequence[Item]) -> None:
        groups: dict[str, list[SeenItem]] = {}
        for seen in map(self.see, items):
            groups.setdefault(seen.title, []).append(seen)
        for number, (title, group) in enumerate(groups.items()):
            if number:
                self._console.print()
            print_title(self._console, f"{title} ({len(group)})")
            if group[0].values is None:
                for seen in group:
                    self._print_problem(seen)
                self._stored.print_items([seen.item for seen in group])
            else:
                print_values(self._console, [seen.values or {} for seen in group])

    def print_item(self, item: Item) -> None:
        seen = self.see(item)
        print_title(self._console, seen.title)
        if seen.values is None:
            self._print_problem(seen)
            self._stored.print_item(item)
        else:
            print_fields(self._console, {n: format_json(v) for n, v in seen.values.items()})

    def _print_problem(self, seen: SeenItem) -> None:
        """Print why an item of an entity cannot be decoded."""
        if seen.entity is not None:
            self._console.print(escape_controls(seen.problem), markup=False, highlight=False)


def make_console() -> Console:
    """Return the console of standard output; rich decides on colours and the width."""
    from rich.console import Console

    return Console()


def as_json(value: Any) -> Any:
    """Return the result of a plan as JSON values: entities, aggregates, rows, and lists of them."""
    import pydantic_core

    if hasattr(value, "__get_pydantic_core_schema__"):
        kind: Any = type(value)
        return _adapter(kind).dump_python(value, mode="json")
    if isinstance(value, list | tuple):
        return [as_json(member) for member in value]
    return pydantic_core.to_jsonable_python(value)


@cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    import pydantic

    return pydantic.TypeAdapter(kind)


def format_json(value: Any) -> str:
    """Return a JSON value for a cell: a text as it is, anything else as JSON."""
    if value is None:
        return ""
    return escape_controls(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def print_values(console: Console, rows: Sequence[dict[str, Any]], hint: str = HIDDEN) -> None:
    """Print entities as a table; a column that is empty in all rows is left out."""
    names = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    columns = {name: [format_json(row.get(name)) for row in rows] for name in names}
    numbers = {
        name for name in names if all(not cell or _is_number(cell) for cell in columns[name])
    }
    print_columns(console, columns, numbers, hint)


def print_title(console: Console, text: str) -> None:
    console.print(text, style="bold", markup=False, highlight=False)


def print_fields(console: Console, fields: dict[str, str], indent: str = "") -> None:
    """Print names and values below each other."""
    report.print_fields(
        console, [(escape_controls(name), value) for name, value in fields.items()], indent
    )


def count_items(number: int) -> str:
    return "1 item" if number == 1 else f"{number:,} items"


def count_units(units: float) -> str:
    return "1 unit" if units == 1 else f"{units:g} units"


def note(text: str) -> None:
    """Print a remark on standard error, so that standard output has only items."""
    typer.echo(text, err=True)
