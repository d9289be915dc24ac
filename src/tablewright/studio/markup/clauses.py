"""Conditions as a person reads them: each clause with its values, and what is stored.

    #0 = :0 AND attribute_exists(#1)   ──▶   version = 3              stored: 3
                                             attribute_exists(PK)

A condition that joins clauses with AND is taken apart; each clause is evaluated on its own, with
the engine's expressions. This module must not know requests of other kinds, plans or markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from tablewright.expression import Scope, tree
from tablewright.expression.parse import parse_condition
from tablewright.expression.printing import NESTED, Dialect
from tablewright.presentation.values import content
from tablewright.values import Item, Value


class Clause(Struct, frozen=True):
    """One clause of a condition, and what is stored."""

    text: str
    #: The attributes that it reads, as they are stored; None for a missing one.
    stored: dict[str, Value | None]
    holds: bool


def clauses(body: Mapping[str, Any], item: Item | None) -> list[Clause]:
    """Return the clauses of the condition of a write, evaluated on the stored item."""
    text = body.get("ConditionExpression")
    if text is None:
        return []
    names: dict[str, str] = body.get("ExpressionAttributeNames", {})
    values: dict[str, Value] = body.get("ExpressionAttributeValues", {})
    scope = Scope(names or None, values or None)
    found = []
    for clause in split(parse_condition("ConditionExpression", text)):
        condition = scope.condition(render(clause))
        first = [str(path.parts[0]) for path in _paths(clause)]
        read = [names.get(name, name) for name in first]
        found.append(
            Clause(
                render(clause, names, values),
                {name: None if item is None else item.get(name) for name in read},
                condition is None or condition.holds(item or {}),
            )
        )
    return found


def split(condition: tree.Condition) -> tuple[tree.Condition, ...]:
    """Return the conditions that a condition joins with AND."""
    return condition.conditions if isinstance(condition, tree.And) else (condition,)


def render(
    condition: tree.Condition,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, Value] | None = None,
) -> str:
    """Render a condition; names and values, if given, replace the placeholders."""
    known, given = names or {}, values or {}
    dialect = Dialect(
        name=lambda name: known.get(name, name),
        value=lambda name: _value(name, given.get(name)),
        grouping=NESTED,
        negation="NOT {}",
    )
    return dialect.condition(condition)


def _value(name: str, value: Value | None) -> str:
    if value is None:
        return name
    return f'"{value["S"]}"' if "S" in value else content(value)


def _paths(node: Any) -> Iterator[tree.Path]:
    """Yield the paths that a condition reads."""
    if isinstance(node, tree.Path):
        yield node
    elif isinstance(node, tuple):
        for each in node:
            yield from _paths(each)
    elif isinstance(node, (tree.Comparison, tree.Between, tree.In, tree.Call, tree.Not)):
        for name in node.__struct_fields__:
            yield from _paths(getattr(node, name))
    elif isinstance(node, (tree.And, tree.Or)):
        yield from _paths(node.conditions)
