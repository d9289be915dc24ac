"""Size budget: how many bytes an update may still write; counted only if its values are large.

A few kilobytes of an update can describe gigabytes: `list_append(l, l)`, a hundred times. All
operands read the item before the update, and no path contains another. So the size of the updated
item is a sum: what the update leaves alone, and the value that each action writes. An action takes
the size of its value from the budget before the value is built. If the budget is exceeded, the item
cannot fit, whatever the other actions are.

    item                            {"l": 300 KB, "k": 90 KB}
    SET m = list_append(k, k) REMOVE l
    budget at the start             400 KB - 90 KB: `l` is replaced, so it does not count
    after `m`                       310 KB - 180 KB
"""

from __future__ import annotations

from typing import Any

from tablewright.encoding.items import ITEM_TO_UPDATE_TOO_LARGE, text_size, value_size
from tablewright.errors import ValidationException
from tablewright.values import Value


class Joined(tuple[list[Value], list[Value]]):
    """The content of a list that is not built yet: the two lists that it consists of."""

    __slots__ = ()


def build(value: Value) -> Value:
    """Return a value with the list that it describes."""
    content = value.get("L")
    if isinstance(content, Joined):
        beginning, end = content
        return {"L": beginning + end}
    return value


class SizeBudget:
    """The bytes that an update may still write.

    It measures each value once, however often the update uses it.
    """

    __slots__ = ("_left", "_members", "_sizes")

    def __init__(self, left: int) -> None:
        self._left = left
        self._sizes: dict[int, int] = {}
        self._members: dict[int, frozenset[str]] = {}

    @property
    def left(self) -> int:
        return self._left

    def free(self, part: str | int, value: Value, *, nested: bool) -> None:
        """Add the bytes of a value that an action replaces or removes."""
        self._left += _part_size(part, nested) + self.size(value)

    def take(self, part: str | int, value: Value, *, nested: bool) -> None:
        """Take the bytes of a value that an action writes; raise a fault if they do not fit."""
        self._left -= _part_size(part, nested) + self.size(value)
        if self._left < 0:
            raise ValidationException(ITEM_TO_UPDATE_TOO_LARGE)

    def require(self, value: Value) -> None:
        """Raise a fault if a value that is part of what an action writes does not fit."""
        if self.size(value) > self._left:
            raise ValidationException(ITEM_TO_UPDATE_TOO_LARGE)

    def size(self, value: Value) -> int:
        """Return the size of a value, of a list that is not built yet, too."""
        ((tag, content),) = value.items()
        if content.__class__ is Joined:
            return 3 + sum(self._content_size("L", part) - 3 for part in content)
        return self._content_size(tag, content)

    def members(self, content: list[str]) -> frozenset[str]:
        """Return the members of a set."""
        found = self._members.get(id(content))
        if found is None:
            found = self._members[id(content)] = frozenset(content)
        return found

    def _content_size(self, tag: str, content: Any) -> int:
        found = self._sizes.get(id(content))
        if found is None:
            found = value_size({tag: content})
            if tag in ("L", "M", "SS", "NS", "BS"):  # other contents may share an identity
                self._sizes[id(content)] = found
        return found


def _part_size(part: str | int, nested: bool) -> int:
    """Return what the name or the position of a value adds to its size."""
    return (text_size(part) if isinstance(part, str) else 0) + nested
