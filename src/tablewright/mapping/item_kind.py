"""The kind of an item: the result of `TableMap.identify`.

    an item of an entity      `entity` (the variant, if the item has its type); `history` for events
    a sentinel                `unique`, and the `entity` whose value it reserves
    the index record          `is_record`
    anything else             `is_unknown`

This module must not know how an item is recognized.
"""

from __future__ import annotations

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.members import HistoryMap, UniqueMap


class ItemKind(Struct, frozen=True):
    """What an item is: of an entity; with `unique`, a sentinel of that entity."""

    entity: EntityMap | None = None
    unique: UniqueMap | None = None
    is_record: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether neither type nor key says what the item is."""
        return self.entity is None and not self.is_record

    @property
    def stored(self) -> EntityMap | None:
        """The entity that the item is stored as; None for sentinels, the record and others."""
        return None if self.unique is not None else self.entity

    @property
    def history(self) -> tuple[EntityMap, HistoryMap] | None:
        """The history that the item is an event of, with the entity that has it."""
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
        """Return the attribute in Python of a stored one; the same name if it has none."""
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
