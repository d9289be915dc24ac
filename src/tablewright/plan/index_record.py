"""The index record: an item that records which indexes of a table have all stored items.

A composed index key, such as `GSI1PK = "STATUS#open"`, is an attribute that only the program
writes. Items that were stored before it was declared do not have it, so the index lacks them until
`backfill` has written their keys. The record lists, for each entity, the indexes that lack none:

    PK = "$tablewright", SK = "indexes"
    $complete = {"entity Order", "index gsi1 Order", "entity Customer"}

- An entity that is listed has items in all its indexes that are listed with it. Reads of its
  other composed places are refused.
- An entity that is not listed, and a table without a record: nothing is known, nothing is refused.

The record is an item of the table, because every endpoint can store one, and because it is copied,
dumped and restored together with the items that it describes. Its type is that of no entity.

Invariants: only `connect(…, update=True)` and `backfill` write a record. A name is added when it is
true for all stored items; concurrent writers add names without conflicts.

This module must not know how an index is created or how items get their keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress

import msgspec
from msgspec import Struct

from tablewright.errors import ConditionalCheckFailedException, DeclarationError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.record_key import RECORD_NAME, record_key
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Request, Steps
from tablewright.plan.writes.guard import WriteExpressions
from tablewright.values import Item

#: An index of the table, and the type of the items in it.
IndexPlace = tuple[str, str]

#: Names that no index has as its key.
_COMPLETE = "$complete"
_POSITION = "$backfill"


class BackfillPosition(Struct, frozen=True):
    """How far a backfill is."""

    #: The keys that it writes; another backfill cannot continue it.
    keys: list[str]
    #: The key of the last item that it has read.
    last: Item
    #: How many items it has read.
    items: int


class IndexRecord(Struct, frozen=True):
    """What is known about the indexes of a table."""

    complete: frozenset[str]
    #: How far the last backfill is, unless it has ended.
    position: BackfillPosition | None = None

    def knows(self, entity: EntityMap) -> bool:
        return _entity_name(entity) in self.complete

    def incomplete(self, table: TableMap) -> frozenset[IndexPlace]:
        """Return the composed places that stored items may lack."""
        return frozenset(
            place
            for entity in table.entities
            if self.knows(entity)
            for place in composed_places(entity)
            if _place_name(place) not in self.complete
        )


def composed_places(entity: EntityMap) -> list[IndexPlace]:
    """Return the indexes for which an entity composes keys; DynamoDB fills the others itself."""
    return [
        (each.index.name, entity.type_name)
        for each in entity.index_keys
        if each.composed and each.index is not None
    ]


def check_record(table: TableMap) -> None:
    """Raise DeclarationError if the record could be taken for an item of an entity."""
    if table.type_attribute is None and table.entity_of(record_key(table)) is not None:
        raise DeclarationError(
            f"{table.owner}: its items cannot be told from the record of its indexes; declare the "
            "table with a type_attribute"
        )


def read_record(table: TableMap, name: str) -> Steps[IndexRecord | None]:
    """Return the record of a table; None if it has none."""
    body = {"TableName": name, "Key": record_key(table), "ConsistentRead": True}
    item: Item | None = msgspec.json.decode((yield Request("GetItem", body))).get("Item")
    return None if item is None else _record(item)


def begin_record(table: TableMap, name: str, indexes: Collection[str]) -> Steps[IndexRecord]:
    """Create the record of a table without one: all items have the keys of these indexes.

    Return the record, which is another process's if that was faster.
    """
    names = {_entity_name(entity) for entity in table.entities} | {
        _place_name(place)
        for entity in table.entities
        for place in composed_places(entity)
        if place[0] in indexes
    }
    while True:
        with suppress(ConditionalCheckFailedException):
            return (yield from _add(table, name, names, is_new=True))
        found = yield from read_record(table, name)
        if found is not None:
            return found


def add_complete(
    table: TableMap,
    name: str,
    entities: Iterable[EntityMap],
    indexes: Collection[str] | None = None,
    *,
    ends_backfill: bool = False,
) -> Steps[IndexRecord]:
    """Record that the items of these entities have the keys of these indexes, or of all theirs."""
    names = set[str]()
    for entity in entities:
        names.add(_entity_name(entity))
        names |= {
            _place_name(place)
            for place in composed_places(entity)
            if indexes is None or place[0] in indexes
        }
    return (yield from _add(table, name, names, ends_backfill=ends_backfill))


def save_position(table: TableMap, name: str, position: BackfillPosition) -> Steps[None]:
    """Keep how far a backfill is."""
    expressions = _expressions(table)
    text = {"S": msgspec.json.encode(position).decode()}
    expressions.update.set_or_remove(_POSITION, text)
    yield _update(table, name, expressions)


def _add(
    table: TableMap,
    name: str,
    names: Collection[str],
    *,
    is_new: bool = False,
    ends_backfill: bool = False,
) -> Steps[IndexRecord]:
    expressions = _expressions(table)
    update = expressions.update
    update.add(update.marks.name(_COMPLETE), update.marks.value({"SS": sorted(names)}))
    if is_new:
        expressions.require_unchanged({_COMPLETE: None})
    if ends_backfill:
        update.set_or_remove(_POSITION, None)
    answer = yield _update(table, name, expressions)
    return _record(msgspec.json.decode(answer)["Attributes"])


def _expressions(table: TableMap) -> WriteExpressions:
    check_record(table)
    expressions = WriteExpressions()
    if table.type_attribute is not None:
        expressions.update.set_or_remove(table.type_attribute, table.type_value(RECORD_NAME))
    return expressions


def _update(table: TableMap, name: str, expressions: WriteExpressions) -> Request:
    body = {"TableName": name, "Key": record_key(table), "ReturnValues": "ALL_NEW"}
    return Request("UpdateItem", expressions.add_to(body))


def _record(item: Item) -> IndexRecord:
    position = None
    if _POSITION in item:
        with suppress(msgspec.MsgspecError, KeyError):
            position = msgspec.json.decode(item[_POSITION]["S"], type=BackfillPosition)
    return IndexRecord(frozenset(item.get(_COMPLETE, {}).get("SS", ())), position)


def _entity_name(entity: EntityMap) -> str:
    return f"entity {entity.type_name}"


def _place_name(place: IndexPlace) -> str:
    index, kind = place
    return f"index {index} {kind}"
