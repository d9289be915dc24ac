"""The terminal: items, entities and results as tables, lists of fields and trees.

A view prints items as they are stored, or as the entities of a design: as tables that fit the width
of the terminal, one item as a list of its attributes, or one JSON value on each line. Entities are
grouped, in the order in which they first appear; an item that the design does not know, or that
does not match its entity, is shown as it is stored and marked.

Invariant: characters that a terminal would obey are escaped. rich and typer are imported when
something is printed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from tablewright.errors import UnreadableItem
from tablewright.presentation.results import (
    ResultNode,
    as_json,
    is_rows,
    json_text,
    result_node,
)
from tablewright.presentation.values import content

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from tablewright.mapping.table import TableMap
    from tablewright.values import Item

HIDDEN = "choose columns with --attributes, or use --json"
#: The widest column of a table, and the space between columns.
MAX_COLUMN = 40
GAP = 2
#: The narrowest text, on a narrow terminal.
MIN_TEXT = 12
_is_number = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch  # exact decimals are texts in JSON


def make_console() -> Console:
    """Return the console of standard output; rich decides on colours and the width."""
    from rich.console import Console

    return Console()


def note(text: str) -> None:
    """Print a remark on standard error, so that standard output has only items."""
    import typer

    typer.echo(text, err=True)


def print_json(values: Sequence[Any]) -> None:
    """Print one value on each line."""
    import typer

    for value in values:
        typer.echo(msgspec.json.encode(value).decode())


# --- items --------------------------------------------------------------------------------------


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
        fields = {name: content(item[name]) for name in self._order([item]) if name in item}
        print_fields(self._console, escaped(fields))

    def _order(self, items: Sequence[Item]) -> list[str]:
        if self._attributes:
            return list(self._attributes)
        found = dict.fromkeys(name for item in items for name in item)
        names = sorted(found, key=lambda name: name in self._last)
        return list(dict.fromkeys([*self._key, *names]))

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
        from tablewright.presentation.keys import side_of

        kind = self._table.identify(item)
        entity = kind.stored
        if entity is None:
            return SeenItem(item, None, None, side_of(kind))
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
            print_fields(self._console, escaped(seen.values))

    def _print_problem(self, seen: SeenItem) -> None:
        """Print why an item of an entity cannot be decoded."""
        if seen.entity is not None:
            self._console.print(escape_controls(seen.problem), markup=False, highlight=False)


# --- results of plans ---------------------------------------------------------------------------


def print_result(console: Console, result: Any) -> None:
    """Print the result of a plan that is no page: an entity, an aggregate, a number, a tuple."""
    if isinstance(result, tuple):
        for number, part in enumerate(part for part in result if part is not None):
            if number:
                console.print()
            print_result(console, part)
    elif is_rows(result):
        print_rows(console, list(result))
    elif result is not None:
        node = result_node(result)
        if node.kind == "aggregate":
            console.print(tree_of(node, {}))
        elif node.entity is not None:
            print_title(console, node.title)
            print_fields(console, escaped(node.values))
        else:
            text = msgspec.json.format(msgspec.json.encode(as_json(result)), indent=2).decode()
            console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_rows(console: Console, rows: Sequence[Any], columns: Sequence[str] = ()) -> None:
    """Print the results of a query as a table; entities of several kinds have a table each.

    `columns` are the names of the values of a tuple, as `select()` gives them.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    trees: list[Tree] = []
    for row in rows:
        node = result_node(row)
        if node.kind == "aggregate":
            trees.append(tree_of(node, {}))
        elif node.kind == "list" and len(columns) == len(node.members):
            groups.setdefault("", []).append(dict(zip(columns, as_json(row), strict=True)))
        else:
            values = node.values or {"value": as_json(row)}
            groups.setdefault(node.title, []).append(values)
    for tree in trees:
        console.print(tree)
    for number, (name, group) in enumerate(groups.items()):
        if len(groups) > 1:
            if number:
                console.print()
            print_title(console, f"{name} ({len(group)})")
        print_values(console, group, "use --json")


def tree_of(aggregate: ResultNode, known: Mapping[str, Any]) -> Tree:
    """Return an aggregate as a tree: its root, and below it the other members.

    A member has the key attributes of the root above it; they are left out, as all that is known.
    """
    from rich.tree import Tree

    (_, root), *others = aggregate.members
    tree = Tree(_line(root, known))
    common = {**known, **{name: root.values.get(name) for name in root.key_names}}
    for name, member in others:
        if member.kind == "list":
            branch = tree.add(_bold(f"{name} ({len(member.members)})"))
            for _, row in member.members:
                branch.add(_branch(row, common))
        elif member.values or member.members:
            tree.add(_branch(member, common))
    return tree


def _branch(node: ResultNode, known: Mapping[str, Any]) -> Tree | Text:
    return tree_of(node, known) if node.kind == "aggregate" else _line(node, known)


def _line(node: ResultNode, known: Mapping[str, Any]) -> Text:
    """Return an entity as a line: its type, and the attributes that are not known."""
    shown = [
        f"  {name}={escape_controls(json_text(value))}"
        for name, value in node.values.items()
        if value is not None and known.get(name) != value
    ]
    return _bold(node.title).append("".join(shown), style="not bold")


def _bold(text: str) -> Text:
    from rich.text import Text

    return Text(text, style="bold")


# --- tables and fields --------------------------------------------------------------------------


def print_title(console: Console, text: str) -> None:
    console.print(text, style="bold", markup=False, highlight=False)


def print_fields(
    console: Console, fields: Mapping[str, str] | Sequence[tuple[str, str]], indent: str = ""
) -> None:
    """Print names and values below each other, each value on as many lines as it needs."""
    pairs = list(fields.items() if isinstance(fields, Mapping) else fields)
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        label = name
        for line in value.splitlines():
            text = fill(console, f"{indent}{label:{width}}  {line}", f"{indent}{' ' * width}  ")
            console.print(text, soft_wrap=True, markup=False, highlight=False)
            label = ""


def escaped(values: Mapping[str, Any]) -> dict[str, str]:
    """Return JSON values as fields, each on one line."""
    return {
        escape_controls(name): escape_controls(json_text(value)) for name, value in values.items()
    }


def fill(console: Console, text: str, indent: str = "") -> str:
    """Return a text with line breaks at the width of the console; further lines are indented."""
    width = max(MIN_TEXT + len(indent), console.width)
    return textwrap.fill(
        text,
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,  # so that a path or a key can be copied
    )


def print_values(console: Console, rows: Sequence[dict[str, Any]], hint: str = HIDDEN) -> None:
    """Print entities as a table; a column that is empty in all rows is left out."""
    names = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    columns = {name: [json_text(row.get(name)) for row in rows] for name in names}
    numbers = {
        name for name in names if all(not cell or _is_number(cell) for cell in columns[name])
    }
    print_columns(console, columns, numbers, hint)


def print_table(
    console: Console,
    items: Sequence[Item],
    first: Sequence[str] = (),
    hint: str = "select them, or use --json",
) -> None:
    """Print items as a table with the width of the console; some columns come first."""
    found = dict.fromkeys(name for item in items for name in item)
    names = [*(name for name in first if name in found), *(n for n in found if n not in first)]
    columns = {
        name: [content(item[name]) if name in item else "" for item in items] for name in names
    }
    numbers = {name for name in names if all("N" in item[name] for item in items if name in item)}
    print_columns(console, columns, numbers, hint)


def print_columns(
    console: Console,
    columns: Mapping[str, Sequence[str]],
    numbers: Collection[str] = (),
    hint: str = "use --json",
) -> None:
    """Print a table with the width of the console; columns of numbers are aligned on the right.

    Columns that do not fit are named below the table, with the hint how to see them.
    """
    from rich.table import Table
    from rich.text import Text

    columns = {name: list(map(escape_controls, column)) for name, column in columns.items()}
    shown = choose_columns(console.width, columns)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name, width in shown.items():
        table.add_column(
            Text(escape_controls(name)),
            width=width,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if name in numbers else "left",
        )
    for row in zip(*(columns[name] for name in shown), strict=True):
        table.add_row(*map(Text, row))
    if table.row_count:
        console.print(table)
    hidden = [name for name in columns if name not in shown]
    if hidden:
        text = f"not shown: {', '.join(map(escape_controls, hidden))} ({hint})"
        console.print(text, markup=False, highlight=False, style="dim")


def choose_columns(width: int, columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the columns that fit into a width, in order, each with its own width."""
    from rich.cells import cell_len

    shown: dict[str, int] = {}
    left = width
    for name, column in columns.items():
        wanted = min(max(map(cell_len, [escape_controls(name), *column])), MAX_COLUMN)
        if shown and wanted > left:
            continue
        shown[name] = min(wanted, max(left, 1))
        left -= shown[name] + GAP
    return shown


def escape_controls(text: str) -> str:
    """Return a text without characters that a terminal would not print, but obey.

    >>> escape_controls("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
