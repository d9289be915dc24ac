"""Events: what happened to an entity, from the records of a stream.

    event      what happened                                  old    new    changed
    Created    the item was stored                                   yes
    Updated    attributes changed                             yes    yes    yes
    Moved      its primary key changed                        yes    yes    yes
    Deleted    the item was deleted                           yes
    Expired    DynamoDB deleted it, because its TTL was over  yes

`old` and `new` are entities, decoded when they are first used. An item that does not fit its entity
raises UnreadableItem there, so the events behind it can still be read. Which of the two a stream
has depends on its view type; the other raises InvalidValue.

A record belongs to the entity whose type, or key, its item has. Sentinels of unique values belong
to none. The records of other entities, and of items that the table does not declare, give no event.

A move, which is a transaction that deletes an item and stores it at another key, has two records.
They are one `Moved` event if both are among the records that are converted together, and:

- both are of one entity, have different keys and were written at the same time;
- the new version is the next one, if the entity has a version;
- the time of creation is the same, if the entity has `created_at()`;
- for an entity with neither, the item was deleted first, and all attributes that are not part of
  the primary key are equal, and there are some;
- the item of the earlier record has no other change between the two, so that the changes of each
  item stay in order.

If several pairs are possible, the one with the most equal attributes is taken. A `Moved` event
takes the place of the later record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.values import Item

E = TypeVar("E")

Record: TypeAlias = dict[str, Any]
#: The times of the two records of a move, which are whole seconds, may differ by this much.
MAX_SECONDS_APART = 1
_encode = msgspec.json.Encoder(order="deterministic").encode
#: What every record has, beside the change.
_NAMES = {"eventID", "eventName"}
_SERVICE = "dynamodb.amazonaws.com"


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


# -- records become events ------------------------------------------------------------------------


class Converted(Struct, eq=False):
    """A record, its event if it has one, and the record of the same move, if there is one."""

    record: Record
    entity: EntityMap | None
    event: StreamEvent[Any] | None = None
    #: The later record of a move; this one has no event of its own.
    partner: Converted | None = None

    @property
    def images(self) -> tuple[Item | None, Item | None]:
        """The item before and after: of a move, under its old and its new key."""
        if self.event is not None:
            return self.event._old_item, self.event._new_item
        change = _change(self.record)
        return change.get("OldImage"), change.get("NewImage")


class RecordReader:
    """Converts the records of one table."""

    def __init__(self, table: TableMap, entities: Collection[EntityMap]) -> None:
        self._table = table
        self._entities = entities

    def convert(self, records: Iterable[Record]) -> list[Converted]:
        """Return each record with its event, in the same order."""
        found = [Converted(record, self._entity_of(record)) for record in records]
        _pair_moves(found)
        for each in found:
            if each.entity is not None and each.event is None and each.partner is None:
                each.event = _event(each.record, each.entity)
        return found

    def _entity_of(self, record: Record) -> EntityMap | None:
        """Return the entity of a record, if its events are asked for."""
        change = _change(record)
        item = change.get("NewImage") or change.get("OldImage") or change["Keys"]
        entity = self._table.entity_of(item)
        if entity is None:
            return None
        entity = entity.kind_of(item)
        return entity if any(wanted.includes(entity) for wanted in self._entities) else None


def history_entities(table: TableMap) -> set[EntityMap]:
    """Return the entities whose items the library writes: the events of histories."""
    return {history.event for entity in table.entities for history in entity.histories}


def _change(record: Any) -> dict[str, Any]:
    """Return the part of a record that describes the change; raise InvalidValue without one."""
    change = record.get("dynamodb") if isinstance(record, dict) else None
    if not isinstance(change, dict) or "Keys" not in change or not record.keys() >= _NAMES:
        raise InvalidValue(f"not a record of a DynamoDB stream: {str(record)[:200]}")
    return change


def _event(record: Record, entity: EntityMap) -> StreamEvent[Any]:
    change = _change(record)
    old, new = change.get("OldImage"), change.get("NewImage")
    if record["eventName"] == "INSERT":
        return Created(entity, record, new=new)
    if record["eventName"] == "MODIFY":
        return Updated(entity, record, old, new)
    return (Expired if _is_expired(record) else Deleted)(entity, record, old)


def _is_expired(record: Record) -> bool:
    """Return whether DynamoDB itself deleted the item; a Lambda event has other names for it."""
    identity = record.get("userIdentity") or {}
    return _SERVICE in (identity.get("PrincipalId"), identity.get("principalId"))


def _pair_moves(found: Sequence[Converted]) -> None:
    """Give the later record of each move the event, and the earlier one its partner."""
    removed: defaultdict[Hashable, list[Converted]] = defaultdict(list)
    for each in found:
        if _is(each, "REMOVE") and not _is_expired(each.record):
            removed[_signature(each, "OldImage")].append(each)
    if not removed:
        return
    positions = {id(each): position for position, each in enumerate(found)}
    following = _following_changes(found)
    for inserted in filter(lambda each: _is(each, "INSERT"), found):
        place = positions[id(inserted)]
        candidates = removed.get(_signature(inserted, "NewImage"), [])
        likeness, best = max(
            (
                (_likeness(each, inserted, positions[id(each)] < place), each)
                for each in candidates
                # The event of both can take the place of the later one.
                if following[min(positions[id(each)], place)] > max(positions[id(each)], place)
            ),
            key=lambda pair: pair[0],
            default=(-1, inserted),
        )
        if likeness >= 0 and inserted.entity is not None:
            candidates.remove(best)
            old, new = _change(best.record)["OldImage"], _change(inserted.record)["NewImage"]
            earlier, later = sorted((best, inserted), key=lambda each: positions[id(each)])
            later.event = Moved(inserted.entity, inserted.record, old, new)
            earlier.partner = later


def _following_changes(found: Sequence[Converted]) -> list[int]:
    """Return, for each record, the position of the next record of the same item."""
    following = [len(found)] * len(found)
    latest: dict[bytes, int] = {}
    for position in reversed(range(len(found))):
        key = _encode(_change(found[position].record)["Keys"])
        following[position] = latest.get(key, len(found))
        latest[key] = position
    return following


def _is(each: Converted, name: str) -> bool:
    return each.entity is not None and each.record["eventName"] == name


def _signature(each: Converted, image: str) -> Hashable:
    """Return a value that the two records of a move share, and few other records.

    Without it, all deleted items would be compared with all new ones.
    """
    entity, item = each.entity, _change(each.record).get(image)
    if entity is None or item is None:
        return None
    version, created = entity.version, entity.created_at
    if version is None and created is None:
        return id(entity), _encode([item.get(name) for name in _compared_attributes(entity)])
    next_version = 0
    if version is not None:
        next_version = _number(item, version.stored) + (image == "OldImage")
    return id(entity), next_version, _encode(item.get(created.stored) if created else None)


def _likeness(removed: Converted, inserted: Converted, is_in_order: bool) -> int:
    """Return how many attributes of the two items are equal; -1 if they are not one move."""
    entity, before, after = inserted.entity, _change(removed.record), _change(inserted.record)
    old, new = before.get("OldImage"), after.get("NewImage")
    if entity is None or removed.entity is not entity or old is None or new is None:
        return -1
    times = [change.get("ApproximateCreationDateTime", 0) for change in (before, after)]
    if before["Keys"] == after["Keys"] or abs(times[0] - times[1]) > MAX_SECONDS_APART:
        return -1
    version, created = entity.version, entity.created_at
    if version is not None and _number(new, version.stored) != _number(old, version.stored) + 1:
        return -1
    if created is not None and old.get(created.stored) != new.get(created.stored):
        return -1
    others = _compared_attributes(entity)
    equal: int = sum(old.get(name) == new.get(name) for name in others)
    if version is not None or created is not None:
        return equal
    return equal if is_in_order and others and equal == len(others) else -1


def _compared_attributes(entity: EntityMap) -> list[str]:
    """Return the stored attributes that a move does not change by itself."""
    return [
        attribute.stored
        for attribute in entity.attributes.values()
        if not attribute.is_key_only
        and attribute.name not in entity.primary.depends_on
        and attribute.role not in ("version", "updated_at")
    ]


def _number(item: Item, name: str) -> int:
    return int(item.get(name, {}).get("N", 0))
