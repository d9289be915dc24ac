"""Partitions: the set of partition keys that one tenant may access.

The set holds single keys, and all texts that begin with one of some prefixes:

    >>> own = Partitions.of([({"S": "ORG#a"}, False), ({"S": "ORG#a#"}, True)])
    >>> [{"S": text} in own for text in ("ORG#a", "ORG#a#PROJECT#7", "ORG#ab", "ORG#b#a")]
    [True, True, False, False]
    >>> str(own)
    'ORG#a, ORG#a#*'

Invariant: a value that cannot be a key is in no set. Values are compared with their types.

This module must not know tenants, declarations or requests.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from tablewright.encoding.numbers import normalise_number
from tablewright.errors import ValidationException
from tablewright.mapping.key_condition import SortCondition
from tablewright.values import Value

#: The type tag of a key value and its content, normalized so that equal values compare equal.
KeyValue: TypeAlias = tuple[str, str | bytes]


def key_value(value: object) -> KeyValue | None:
    """Return the comparable form of a key value; None if it is not the value of a key.

    >>> key_value({"N": "7.0"}) == key_value({"N": "7"}), key_value({"S": "7"})
    (True, ('S', '7'))
    >>> key_value("7"), key_value({"S": "a", "N": "7"}), key_value({"N": "seven"})
    (None, None, None)
    """
    if type(value) is not dict or len(value) != 1:
        return None
    ((tag, content),) = value.items()
    if type(content) is not str:
        return None
    try:
        if tag == "S":
            return tag, content
        if tag == "N":
            return tag, normalise_number(content)
        if tag == "B":
            return tag, binascii.a2b_base64(content, strict_mode=True)
    except (ValidationException, ValueError):
        pass
    return None


class Partitions(Struct, frozen=True):
    """A set of partition keys."""

    #: The single keys, by their comparable forms.
    keys: Mapping[KeyValue, Value]
    #: All texts that begin with one of these are in the set, too.
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Iterable[tuple[Value, bool]]) -> Partitions:
        """Return the set of these keys; with True, of all keys that begin with the value."""
        keys: dict[KeyValue, Value] = {}
        prefixes: list[str] = []
        for value, is_prefix in values:
            comparable = key_value(value)
            if is_prefix:
                prefixes.append(value["S"])
            elif comparable is not None:
                keys[comparable] = value
        return cls(keys, tuple(prefixes))

    def __contains__(self, value: object) -> bool:
        comparable = key_value(value)
        return comparable is not None and (
            comparable in self.keys or any(_begins(comparable, each) for each in self.prefixes)
        )

    def covers(self, condition: SortCondition) -> bool:
        """Return whether every key that matches a condition is in the set."""
        if condition.comparison == "=":
            return condition.values[0] in self
        if condition.comparison not in ("begins_with", "between"):
            return False
        bounds = [key_value(value) for value in condition.values]
        # All texts between two that begin with the same prefix begin with it.
        return any(all(_begins(bound, prefix) for bound in bounds) for prefix in self.prefixes)

    def __str__(self) -> str:
        texts = [str(next(iter(value.values()))) for value in self.keys.values()]
        return ", ".join(sorted([*texts, *(f"{prefix}*" for prefix in self.prefixes)]))


def _begins(value: KeyValue | None, prefix: str) -> bool:
    if value is None:
        return False
    tag, content = value
    return tag == "S" and isinstance(content, str) and content.startswith(prefix)
