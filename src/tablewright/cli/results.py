"""Results of patterns for people: entities as tables, one as a list, aggregates as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.cli.views import as_json, format_json, print_fields, print_title, print_values

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree


def print_result(console: Console, result: Any) -> None:
    """Print the result of a plan that is no page: an entity, an aggregate, a number, a tuple."""
    from tablewright.model.aggregate import Aggregate
    from tablewright.model.entity import Entity

    if isinstance(result, Aggregate):
        console.print(tree_of(result))
    elif isinstance(result, Entity):
        print_title(console, type(result).__name__)
        print_fields(console, {n: format_json(v) for n, v in as_json(result).items()})
    elif isinstance(result, tuple):
        for number, part in enumerate(part for part in result if part is not None):
            if number:
                console.print()
            print_result(console, part)
    elif is_rows(result):
        print_rows(console, list(result))
    elif result is not None:
        text = msgspec.json.format(msgspec.json.encode(as_json(result)), indent=2).decode()
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_rows(console: Console, rows: Sequence[Any], columns: Sequence[str] = ()) -> None:
    """Print the results of a query as a table; entities of several kinds have a table each.

    `columns` are the names of the values of a tuple, as `select()` gives them.
    """
    from tablewright.model.aggregate import Aggregate

    if any(isinstance(row, Aggregate) for row in rows):
        for row in rows:
            print_result(console, row)
        return
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        values = as_json(row)
        if isinstance(row, tuple) and len(columns) == len(row):
            values = dict(zip(columns, values, strict=True))
        elif not isinstance(values, dict):
            values = {"value": values}
        groups.setdefault(type(row).__name__, []).append(values)
    for number, (name, group) in enumerate(groups.items()):
        if len(groups) > 1:
            if number:
                console.print()
            print_title(console, f"{name} ({len(group)})")
        print_values(console, group, "use --json")


def tree_of(aggregate: Any, known: Mapping[str, Any] | None = None) -> Tree:
    """Return an aggregate as a tree: its root, and below it the other members.

    A member has the key attributes of the root above it; they are left out.
    """
    from rich.tree import Tree

    root, *others = type(aggregate).__members__
    first = getattr(aggregate, root)
    tree = Tree(_line(first, known or {}))
    common = {**(known or {}), **_key_values(first)}
    for name in others:
        member = getattr(aggregate, name)
        if is_rows(member):
            branch = tree.add(_title(f"{name} ({len(member)})"))
            for row in member:
                branch.add(_branch(row, common))
        elif member is not None:
            tree.add(_branch(member, common))
    return tree


def _key_values(row: Any) -> dict[str, Any]:
    entity = getattr(row, "__entity__", None)
    names = () if entity is None else [part.attribute for part in entity.primary.parameters]
    values = as_json(row)
    return {name: values[name] for name in names if name in values}


def _branch(member: Any, known: Mapping[str, Any]) -> Tree | Text:
    from tablewright.model.aggregate import Aggregate

    return tree_of(member, known) if isinstance(member, Aggregate) else _line(member, known)


def _line(row: Any, known: Mapping[str, Any]) -> Text:
    """Return an entity as a line: its type, and the attributes that are not known."""
    shown = [
        f"  {name}={format_json(value)}"
        for name, value in as_json(row).items()
        if value is not None and known.get(name) != value
    ]
    return _title(type(row).__name__).append("".join(shown), style="not bold")


def _title(text: str) -> Text:
    from rich.text import Text

    return Text(text, style="bold")


def is_rows(value: Any) -> bool:
    """Return whether a value is a list of results."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | tuple)
