"""Expressions: the placeholders of a request for names and values, and its UpdateExpression.

Names are numbered by their first use. So plans of one shape have one text, which the engine has
parsed before.

    >>> marks = Placeholders()
    >>> f"{marks.name('status')} = {marks.value({'S': 'PAID'})}"
    '#0 = :0'
    >>> marks.members()["ExpressionAttributeNames"]
    {'#0': 'status'}

This module must not know conditions, changes, entities or plans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias

from tablewright.values import Value

#: A path into a document: the name of an attribute, then names and indexes.
Path: TypeAlias = tuple[str | int, ...]


class Placeholders:
    """Collects the names and values that the expressions of one request refer to."""

    __slots__ = ("_names", "values")

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # attribute -> placeholder
        #: The values by their placeholders.
        self.values: dict[str, Value] = {}

    def name(self, attribute: str) -> str:
        """Return the placeholder of an attribute."""
        names = self._names
        if attribute not in names:
            names[attribute] = f"#{len(names)}"
        return names[attribute]

    def path(self, steps: Sequence[str | int]) -> str:
        """Render a path into a document: `#0.#1[2]`."""
        if len(steps) == 1:
            return self.name(steps[0])  # type: ignore[arg-type]  # a path begins with a name
        text = ""
        for step in steps:
            text += f"[{step}]" if isinstance(step, int) else f".{self.name(step)}"
        return text.removeprefix(".")

    def value(self, value: Value) -> str:
        """Return a new placeholder for a value."""
        mark = f":{len(self.values)}"
        self.values[mark] = value
        return mark

    def members(self) -> dict[str, Any]:
        """Return the members of a request; DynamoDB rejects empty ones, so they are left out."""
        members: dict[str, Any] = {}
        if self._names:
            members["ExpressionAttributeNames"] = {
                mark: attribute for attribute, mark in self._names.items()
            }
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members


class UpdateExpression:
    """Collects the clauses of one UpdateExpression."""

    __slots__ = ("clauses", "marks")

    def __init__(self, marks: Placeholders) -> None:
        self.marks = marks
        #: The rendered actions, by keyword.
        self.clauses: defaultdict[str, list[str]] = defaultdict(list)

    def set(self, path: str, value: str) -> None:
        """Set a path to a rendered operand."""
        self.clauses["SET"].append(f"{path} = {value}")

    def remove(self, path: str) -> None:
        self.clauses["REMOVE"].append(path)

    def set_or_remove(self, attribute: str, value: Value | None) -> None:
        """Set an attribute to a stored value; None removes it."""
        if value is None:
            self.remove(self.marks.name(attribute))
        else:
            self.set(self.marks.name(attribute), self.marks.value(value))

    def text(self) -> str:
        """Render the expression."""
        return " ".join(
            [f"{keyword} {', '.join(actions)}" for keyword, actions in self.clauses.items()]
        )
