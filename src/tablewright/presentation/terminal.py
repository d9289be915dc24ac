"""The terminal: items and the results of plans, as tables, lists of fields and trees.

A view prints items as they are stored, or as the entities of a design: as tables that fit the width
of the terminal, one item as a list of its attributes, or one JSON value on each line. Entities are
grouped, in the order in which they first appear; an item that the design does not know, or that
does not match its entity, is shown as it is stored and marked.

`presentation.printing` prints the lines and tables. rich is imported when something is printed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from tablewright.errors import UnreadableItem
from tablewright.presentation.printing import (
    HIDDEN,
    escape_controls,
    escaped,
    make_console,
    print_fields,
    print_json,
    print_table,
    print_title,
    print_values,
)
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
        from tablewright.presentation.kinds import side_of

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
