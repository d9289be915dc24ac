"""Requested access: one action, its table or index, and its condition keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from tablewright.encoding.numbers import normalise_number
from tablewright.engine.keys import Keys
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value

#: Reads the partition key values of a request, given the keys of its table or index.
PartitionReader: TypeAlias = Callable[[Keys], list[tuple[str, ...]]]


class RequestedAccess(Struct):
    """One access that a request needs, without the parts that depend on its table."""

    action: str
    table: str | None = None  # a name or an ARN; None: the request needs no table
    index: str | None = None
    items: Sequence[Item] = ()  # the items, or the keys, that the request names
    partitions: PartitionReader | None = None  # of a request that selects by a key condition
    attributes: Callable[[], Iterable[str]] | None = None
    is_full_scan: Callable[[Keys], bool] | None = None  # None: the action has no such key
    keys: dict[str, tuple[str, ...]] = {}  # all other condition keys
    resource: str = "*"  # used if `table` is None

    @property
    def has_partitions(self) -> bool:
        return bool(self.items) or self.partitions is not None

    def read_partitions(self, keys: Keys) -> list[tuple[str, ...]]:
        """Return the partition key values of the request as text; mistyped ones are left out."""
        if self.partitions is not None:
            return self.partitions(keys)
        return format_keys(self.items, keys.schema.partition)


def add_value(keys: dict[str, tuple[str, ...]], key: str, value: str) -> None:
    """Add a value to a condition key: tags that differ only in case share one key."""
    keys[key] = (*keys.get(key, ()), value)


def format_keys(items: Iterable[Item], attributes: Sequence[KeyAttribute]) -> list[tuple[str, ...]]:
    """Return the values of key attributes as text; items without all of them are left out."""
    found = []
    for item in items:
        values = [
            _format_key_value(attribute, item.get(attribute.name)) for attribute in attributes
        ]
        present = tuple([value for value in values if value is not None])
        if len(present) == len(attributes):
            found.append(present)
    return found


def _format_key_value(attribute: KeyAttribute, value: Value | None) -> str | None:
    """Return the value of a key attribute as text; None if it is missing or mistyped."""
    content: str | None = None if value is None else value.get(attribute.type)
    if content is not None and attribute.type == "N":
        return normalise_number(content)
    return content  # `wire` has converted base64 to its canonical form
