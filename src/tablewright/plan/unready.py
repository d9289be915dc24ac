"""Unready: which indexes of a table cannot be read yet, and why; which unique values are unknown.

This module must not know requests: `model/databases/provision.py` finds out what is unready.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tablewright.errors import IndexNotReady, UniqueNotReady
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.members import UniqueMap


class Unready(Struct, frozen=True):
    """What of one table cannot be relied on: indexes, or keys and unique values of some items."""

    #: Why an index cannot be read at all, by its name: "does not exist", "is CREATING".
    indexes: Mapping[str, str]
    #: Indexes whose keys stored items may lack, each with the type of the items.
    places: frozenset[tuple[str, str]]
    #: Unique values that stored items may not have reserved: the type of the sentinels, and the
    #: type of the items.
    uniques: frozenset[tuple[str, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.indexes or self.places or self.uniques)

    def require_ready(self, key: KeyMap, entity: EntityMap, table: str) -> None:
        """Raise IndexNotReady if the items of an entity cannot be read from the index of a key."""
        assert key.index is not None
        index = key.index.name
        where = f"{key.name}: the index {index!r} of the table {table!r}"
        if index in self.indexes:
            raise IndexNotReady(
                f"{where} {self.indexes[index]}; it is added by connect(…, update=True), or by "
                "the template of the table"
            )
        if any((index, name) in self.places for name in entity.type_names):
            raise IndexNotReady(
                f"{where} may lack items of {entity.name}: items that were stored before "
                f"{key.name} was declared or changed do not have its keys yet. Run: "
                f"{_backfill(entity)}"
            )

    def require_reserved(self, unique: UniqueMap, entity: EntityMap, table: str) -> None:
        """Raise UniqueNotReady if stored items of an entity may not have reserved a value."""
        # Variants share the values, so the items of all of them must have reserved theirs.
        if any(each == unique.type_name for each, _ in self.uniques):
            raise UniqueNotReady(
                f"{unique.key.name}: items of {entity.name} that were stored in the table "
                f"{table!r} before this unique value was declared may not have reserved their "
                f"values. Run: {_backfill(entity)}"
            )


def _backfill(entity: EntityMap) -> str:
    design = entity.type.__module__.removeprefix("design ")
    return f"tablewright backfill {design} TARGET (TARGET: where the table is)"


READY = Unready({}, frozenset())
