"""The kind of an item: its entity, the unique value that it reserves, or nothing that is known.

An item that the design does not know is never hidden: it has the kind `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from tablewright.errors import UnreadableItem
from tablewright.mapping.entity import EntityMap, content_of
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.members import UniqueMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Parser
from tablewright.values import Value


class ItemKind(Struct, frozen=True):
    """What an item is: of an entity; with `unique`, a sentinel of that entity."""

    entity: EntityMap | None = None
    unique: UniqueMap | None = None

    @property
    def name(self) -> str:
        """How the filter of a page names it."""
        if self.unique is not None:
            return UNIQUE_VALUES
        return UNKNOWN_ITEMS if self.entity is None else self.entity.name

    @property
    def side(self) -> str:
        """What it is if it is no plain entity: a sentinel, an event of a history, or unknown."""
        if self.entity is None:
            return "not in the design"
        if self.unique is not None:
            return f"sentinel: reserves {self.unique.key.name}"
        for owner in self.entity.table.entities:
            for history in owner.histories:
                if history.event is self.entity:
                    return f"history of {owner.name}.{history.attribute}"
        return ""

    @property
    def key(self) -> KeyMap | None:
        """The key of such items in the table."""
        if self.unique is not None:
            return self.unique.key
        return None if self.entity is None else self.entity.primary

    def attribute(self, stored: str) -> str:
        """Return the attribute in Python of a stored one; the same name if it has none."""
        attributes = {} if self.entity is None else self.entity.attributes
        found = (name for name, each in attributes.items() if each.stored == stored)
        return next(found, stored)

    def keys_in(self, index: str) -> tuple[KeyMap, ...]:
        """Return the keys that the entity declares for an index; "" is the table."""
        if not index:
            return () if self.key is None else (self.key,)
        if self.entity is None or self.unique is not None:
            return ()
        return tuple(
            each
            for each in self.entity.indexes
            if each.index is not None and each.index.name == index
        )


#: The names of the kinds that are no entity; no class can have such a name.
UNIQUE_VALUES = "-unique"
UNKNOWN_ITEMS = "-unknown"
UNKNOWN = ItemKind()


def kind_of(table: TableMap | None, item: Mapping[str, Value]) -> ItemKind:
    """Return the kind of an item of a table, or of a table without a design."""
    if table is None:
        return UNKNOWN
    entity = table.entity_of(item)
    if entity is not None:
        return ItemKind(entity)
    for entity in table.entities:
        for unique in entity.uniques:
            if _is_sentinel(table, unique, item):
                return ItemKind(entity, unique)
    return UNKNOWN


def _is_sentinel(table: TableMap, unique: UniqueMap, item: Mapping[str, Value]) -> bool:
    name = table.type_attribute
    # A row of an index that does not project the type is known by its key alone.
    if name is not None and name in item and item[name] != table.type_value(unique.type_name):
        return False
    return all(
        match(content_of(item, attribute)) is not None
        for attribute, match in (
            (attribute, parser(unique.key, attribute).match) for attribute in unique.key.attributes
        )
    )


@cache
def parser(key: KeyMap, attribute: str) -> Parser:
    """Return what takes the texts of a key attribute apart, in any spelling."""
    return Parser(key.templates[attribute], any_spelling=True)


def unreadable(kind: ItemKind, item: Mapping[str, Value]) -> str:
    """Return why a whole item cannot be decoded; "" if it can, or if it is of no entity."""
    if kind.entity is None or kind.unique is not None:
        return ""
    try:
        kind.entity.decode(item)
    except UnreadableItem as error:
        return str(error)
    return ""


def stored_names(table: TableMap | None) -> list[str]:
    """Return the stored attributes of all entities, without those that are only in keys."""
    return [
        attribute.stored
        for entity in (() if table is None else table.entities)
        for attribute in entity.attributes.values()
        if not attribute.is_key_only
    ]
