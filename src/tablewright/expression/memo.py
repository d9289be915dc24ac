"""The memo of a condition: what comparisons of large values need, computed once for each value.

An expression of 4 KB has a thousand comparisons, each of which can walk through 400 KB. So a value
is reduced to a digest of its JSON, in which the members of maps are sorted: normal values are equal
exactly if their digests are. A list is searched in the set of its elements' digests.

A memo belongs to one request. What it knows about the request's values holds for all items;
`begin` forgets what belongs to the previous item. Values are known by their identity.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Hashable, Mapping
from hashlib import blake2b
from typing import Any, Final, TypeVar

import msgspec

from tablewright.values import Value

T = TypeVar("T")

_dump: Final = msgspec.json.Encoder(order="deterministic").encode
#: Types whose content is compared directly: it is one text.
_TEXTS: Final = frozenset(("S", "N", "B", "BOOL", "NULL"))
#: JSON that is used as it is; a digest takes longer.
_SHORT: Final = 64


class Memo:
    """Facts about the values of a request, and about the values of one item at a time."""

    __slots__ = ("_of_item", "_of_request", "_request_values", "_values")

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values
        self._request_values = frozenset(map(id, values.values()))
        self._of_request: dict[Hashable, Any] = {}
        self._of_item: dict[Hashable, Any] = {}

    def begin(self) -> None:
        """Forget the values of the previous item."""
        self._of_item = {}

    def equal(self, one: Value, two: Value) -> bool:
        for tag, content in one.items():
            if tag in _TEXTS:
                return one == two
            return (
                tag in two
                and len(content) == len(two[tag])
                and (one is two or self._digest(one) == self._digest(two))
            )
        raise AssertionError("a value has a type")

    def is_any(self, value: Value, names: tuple[str, ...]) -> bool:
        """Return whether a value equals one of the request's values with these names."""
        options = self._of_request.get(names)
        if options is None:
            options = {self._digest(self._values[name]) for name in names}
            self._of_request[names] = options
        return self._digest(value) in options

    def has_element(self, value: Value, wanted: Value) -> bool:
        """Return whether a list has an element that equals a value."""
        elements = self._once(value, "elements", lambda: _digests(value["L"]))
        return self._digest(wanted) in elements

    def members(self, value: Value) -> frozenset[str]:
        """Return the members of a set."""
        return self._once(value, "members", lambda: frozenset(*value.values()))

    def binary(self, value: Value) -> bytes:
        """Return the content of a binary value."""
        return self._once(value, "binary", lambda: binascii.a2b_base64(value["B"]))

    def _digest(self, value: Value) -> Hashable:
        for tag in value:
            if tag in _TEXTS:
                return _digest(value)
        return self._once(value, "digest", lambda: _digest(value))

    def _once(self, value: Value, what: str, compute: Callable[[], T]) -> T:
        key = what, id(value)
        known = self._of_request if id(value) in self._request_values else self._of_item
        if key not in known:
            known[key] = compute()
        found: T = known[key]
        return found


def _digests(values: list[Value]) -> set[Hashable]:
    """Return the digests of many values; those of texts without a call for each (10 ms, not 90)."""
    found: set[Hashable] = {pair for value in values for pair in value.items() if pair[0] in _TEXTS}
    found.update(map(_digest, [value for value in values if _TEXTS.isdisjoint(value)]))
    return found


def _digest(value: Value) -> Hashable:
    for tag, content in value.items():
        if tag in _TEXTS:
            return tag, content
        text = _dump(value)
        return text if len(text) <= _SHORT else blake2b(text, digest_size=32).digest()
    raise AssertionError("a value has a type")
