"""Events: what happened to an entity.

    event      what happened                                  old    new    changed
    Created    the item was stored                                   yes
    Updated    attributes changed                             yes    yes    yes
    Moved      its primary key changed                        yes    yes    yes
    Deleted    the item was deleted                           yes
    Expired    DynamoDB deleted it, because its TTL was over  yes

`old` and `new` are entities, decoded when they are first used. An item that does not fit its entity
raises UnreadableItem there, so the events behind it can still be read. Which of the two a stream
has depends on its view type; the other raises InvalidValue.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.values import Item

E = TypeVar("E")


class _Event(Generic[E]):
    """What all events have."""

    def __init__(
        self,
        entity: EntityMap,
        record: dict[str, Any],
        old: Item | None = None,
        new: Item | None = None,
    ) -> None:
        self._entity = entity
        self._change: dict[str, Any] = record["dynamodb"]
        self._old_item = old
        self._new_item = new
        #: The id of the record, to recognise one that is read twice.
        self.id: str = record["eventID"]

    @property
    def entity(self) -> type[E]:
        """The class of the entity."""
        return self._entity.type

    @property
    def key(self) -> Item:
        """The primary key, as DynamoDB's JSON; of a move, the new one."""
        key: Item = self._change["Keys"]
        return key

    @property
    def sequence_number(self) -> str:
        """The sequence number of the record in its shard."""
        return str(self._change["SequenceNumber"])

    @property
    def at(self) -> datetime:
        """When it happened, approximately."""
        return datetime.fromtimestamp(self._change["ApproximateCreationDateTime"], UTC)

    def _decode(self, item: Item | None, kind: str) -> Any:
        if item is None:
            view = self._change.get("StreamViewType", "another view type")
            raise InvalidValue(
                f"{type(self).__name__} of {self._entity.name}: the stream has no {kind} image "
                f"({view}); enable it with the view type NEW_AND_OLD_IMAGES"
            )
        return self._entity.decode(item)

    def __repr__(self) -> str:
        names = [name for name in self._entity.table.attributes if name in self.key]
        values = ", ".join(str(next(iter(self.key[name].values()))) for name in names)
        return f"{type(self).__name__}({self._entity.name}: {values})"


class _WithOld(_Event[E]):
    @cached_property
    def old(self) -> E:
        """The entity before the change."""
        decoded: E = self._decode(self._old_item, "old")
        return decoded


class _WithNew(_Event[E]):
    @cached_property
    def new(self) -> E:
        """The entity after the change."""
        decoded: E = self._decode(self._new_item, "new")
        return decoded


class _WithBoth(_WithOld[E], _WithNew[E]):
    @cached_property
    def changed(self) -> frozenset[str]:
        """The names of the attributes that changed."""
        for item, kind in ((self._old_item, "old"), (self._new_item, "new")):
            if item is None:
                self._decode(item, kind)  # raises
        old, new = self._old_item or {}, self._new_item or {}
        return frozenset(
            attribute.name
            for attribute in self._entity.attributes.values()
            if (
                old.get(attribute.stored) != new.get(attribute.stored)
                if not attribute.is_key_only
                else getattr(self.old, attribute.name) != getattr(self.new, attribute.name)
            )
        )


class Created(_WithNew[E]):
    """An item was stored that did not exist before."""


class Updated(_WithBoth[E]):
    """Attributes of an item changed."""


class Moved(_WithBoth[E]):
    """The primary key of an item changed: it was deleted at one key and stored at another."""


class Deleted(_WithOld[E]):
    """An item was deleted."""


class Expired(_WithOld[E]):
    """DynamoDB deleted an item, because its time to live was over."""


StreamEvent: TypeAlias = Created[E] | Updated[E] | Moved[E] | Deleted[E] | Expired[E]
