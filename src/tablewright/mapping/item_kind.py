"""What a stored item is: the result of `TableMap.identify`, and the key of the index record.

    an item of an entity      `entity` (the variant, if the item has its type); `history` for events
    a sentinel                `unique`, and the `entity` whose value it reserves
    the index record          `is_record`; `plan/backfill/index_record.py` says what it contains
    anything else             `is_unknown`: neither its type nor its key is declared

An unknown item with a type is something else on purpose; one without a type may be the item of an
entity with a damaged key.

This module must not know how an item is recognized. Commands that only skip the index record import
it, so it imports no entities and tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from tablewright.errors import UnreadableItem
from tablewright.values import Item, Value

if TYPE_CHECKING:
    from tablewright.mapping.attributes import HistoryMap, UniqueMap
    from tablewright.mapping.entity import EntityMap
    from tablewright.mapping.keys import KeyMap
    from tablewright.mapping.table import TableMap


class ItemKind(Struct, frozen=True):
    """What an item is: an item of `entity`; with `unique`, a sentinel of that entity."""

    entity: EntityMap | None = None
    unique: UniqueMap | None = None
    is_record: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether neither the type nor the key of the item is declared."""
        return self.entity is None and not self.is_record

    @property
    def stored(self) -> EntityMap | None:
        """The entity of the item; None for sentinels, the index record and unknown items."""
        return None if self.unique is not None else self.entity

    @property
    def history(self) -> tuple[EntityMap, HistoryMap] | None:
        """The history whose event the item is, with the entity that declares it."""
        for owner in () if self.stored is None else self.stored.table.entities:
            for history in owner.histories:
                if history.event is self.entity:
                    return owner, history
        return None

    @property
    def key(self) -> KeyMap | None:
        """The key of such items in the table."""
        if self.unique is not None:
            return self.unique.key
        return None if self.entity is None else self.entity.primary

    def attribute(self, stored: str) -> str:
        """Return the Python name of a stored attribute; the stored name if there is none."""
        attributes = {} if self.entity is None else self.entity.attributes
        found = (name for name, each in attributes.items() if each.stored == stored)
        return next(found, stored)

    def keys_in(self, index: str) -> tuple[KeyMap, ...]:
        """Return the keys that the entity declares for an index; "" is the table."""
        if not index:
            return () if self.key is None else (self.key,)
        if self.stored is None:
            return ()
        return tuple(
            each
            for each in self.stored.indexes
            if each.index is not None and each.index.name == index
        )


UNKNOWN = ItemKind()
INDEX_RECORD = ItemKind(is_record=True)


#: The partition key of the index record, and its type.
RECORD_NAME = "$tablewright"
#: The values of key attributes by type. The number has the codes of the letters of "tablewright".
_PARTITION: dict[str, Value] = {
    "S": {"S": RECORD_NAME},
    "N": {"N": "-116097098108101119114105103104116"},
    "B": {"B": "JHRhYmxld3JpZ2h0"},
}
_SORT: dict[str, Value] = {"S": {"S": "indexes"}, "N": {"N": "0"}, "B": {"B": "aW5kZXhlcw=="}}


def record_key(table: TableMap) -> Item:
    """Return the key of the record."""
    partition, sort = table.attributes
    key = {partition: _PARTITION[table.key_types.get(partition, "S")]}
    if sort is not None:
        key[sort] = _SORT[table.key_types.get(sort, "S")]
    return key


def is_record(key: Iterable[Value]) -> bool:
    """Return whether these values, of partition key and sort key, are the key of a record."""
    partition, *sort = key
    return partition in _PARTITION.values() and all(each in _SORT.values() for each in sort)


class UnknownItem(dict[str, Value]):
    """An unknown item among those that a read found."""


def is_of_other_type(table: TableMap, item: Mapping[str, Value]) -> bool:
    """Return whether an item is unknown, and has a type that is not declared."""
    return table.has_foreign_type(item) and table.identify(item).is_unknown


def unknown_item(table: TableMap, item: Mapping[str, Value]) -> UnreadableItem:
    """Return the error that reports an unknown item."""
    problem = f"no entity has a key like {table.show_key(item)}"
    if table.type_attribute in item:
        problem += f", or the type {content_of(item, str(table.type_attribute))!r}"
    message = f"{table.owner}: {problem}; declare one"
    return UnreadableItem(message, key=table.key(item), item=dict(item))


def content_of(item: Mapping[str, Value], name: str) -> str:
    """Return the content of an attribute as text; "" if the item does not have it."""
    for content in item.get(name, {}).values():
        return str(content)
    return ""
