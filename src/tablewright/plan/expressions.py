"""Placeholders: the names and values that an expression refers to.

Names are numbered by their first use, so that plans of one shape have one text, which the engine
has parsed before.

    >>> marks = Placeholders()
    >>> f"{marks.name('status')} = {marks.value({'S': 'PAID'})}"
    '#0 = :0'
    >>> marks.members()["ExpressionAttributeNames"]
    {'#0': 'status'}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablewright.values import Value


class Placeholders:
    """Collects what the expressions of one request refer to."""

    __slots__ = ("names", "values")

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}

    def name(self, attribute: str) -> str:
        for mark, known in self.names.items():
            if known == attribute:
                return mark
        mark = f"#{len(self.names)}"
        self.names[mark] = attribute
        return mark

    def path(self, steps: Sequence[str | int]) -> str:
        """A path into a document: `#0.#1[2]`."""
        text = ""
        for step in steps:
            text += f"[{step}]" if isinstance(step, int) else f".{self.name(step)}"
        return text.removeprefix(".")

    def value(self, value: Value) -> str:
        mark = f":{len(self.values)}"
        self.values[mark] = value
        return mark

    def members(self) -> dict[str, Any]:
        """The members of a request, without those that are empty: DynamoDB refuses them."""
        members: dict[str, Any] = {}
        if self.names:
            members["ExpressionAttributeNames"] = self.names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members
