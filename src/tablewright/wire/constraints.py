"""What DynamoDB's service model demands of a member, besides its type.

Requests state these in their annotations; `tablewright.wire.read` checks them, all of them, and
reports every one that fails in one fault, as DynamoDB does.

A constraint on the size of a list or map also has `head`: the part within the limit. Only that part
is read, so entries beyond a limit cost nothing.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, NamedTuple

#: Tables and indexes are named with these.
NAME_PATTERN = "[a-zA-Z0-9_.-]+"


class Length(NamedTuple):
    """How long a text, or how large a list or map, may be."""

    least: int = 0
    most: int | None = None

    def broken(self, value: Any) -> str | None:
        if len(value) < self.least:
            return f"Member must have length greater than or equal to {self.least}"
        if self.most is not None and len(value) > self.most:
            return f"Member must have length less than or equal to {self.most}"
        return None

    def head(self, value: Any) -> Any:
        """The entries of a list or map within the limit."""
        if self.most is None or len(value) <= self.most:
            return value
        if type(value) is dict:
            return dict(islice(value.items(), self.most))
        return value[: self.most]


class LengthOfEach(NamedTuple):
    """How large the lists in a map may be; the map is blamed."""

    least: int
    most: int

    def broken(self, value: dict[str, Any]) -> str | None:
        if all(self.least <= len(each) <= self.most for each in value.values()):
            return None
        return (
            "Map value must satisfy constraint: "
            f"[Member must have length less than or equal to {self.most}, "
            f"Member must have length greater than or equal to {self.least}]"
        )

    def head(self, value: dict[str, Any]) -> dict[str, Any]:
        """The map with each of its lists cut to the limit."""
        return {
            name: each[: self.most] if type(each) is list else each for name, each in value.items()
        }


class Between(NamedTuple):
    """The range of a number."""

    least: int
    most: int | None = None

    def broken(self, value: int) -> str | None:
        if value < self.least:
            return f"Member must have value greater than or equal to {self.least}"
        if self.most is not None and value > self.most:
            return f"Member must have value less than or equal to {self.most}"
        return None


class Matching(NamedTuple):
    """A pattern that the whole text must match, if there is a text."""

    pattern: str

    def broken(self, value: str) -> str | None:
        if not value or re.fullmatch(self.pattern, value):
            return None
        return f"Member must satisfy regular expression pattern: {self.pattern}"


class Named(NamedTuple):
    """The name of a table, or its ARN."""

    def broken(self, value: str) -> str | None:
        return None if value.startswith("arn:") else _NAME.broken(value)


_NAME = Matching(NAME_PATTERN)


class OneOf(NamedTuple):
    """The words that may stand here, in the order DynamoDB lists them."""

    words: tuple[str, ...]

    def broken(self, value: str) -> str | None:
        if value in self.words:
            return None
        return f"Member must satisfy enum value set: [{', '.join(self.words)}]"


Constraint = Length | LengthOfEach | Between | Matching | Named | OneOf


class Like(NamedTuple):
    """Marks a map that is read as if of another type, and handed on as JSON again."""

    type: Any
