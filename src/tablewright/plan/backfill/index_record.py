"""The index record: an item that records what the stored keys of a table are made of.

A composed index key, such as `GSI1PK = "STATUS#open"`, is an attribute that only the program
writes. Items that were stored before it was declared do not have it, so the index lacks them until
`backfill` has written their keys; items that were stored by another template have another key. The
same is true of the sentinels of a unique value. The record lists, for each entity, which indexes
lack no item and which unique values are all reserved, and describes the keys:

    PK = "$tablewright", SK = "indexes"
    $complete = {"entity Order", "index gsi1 Order", "unique Order.by_number Order"}
    $key Order = "PK=ORDER#{id}, SK=ORDER"
    $index gsi1 Order = "GSI1PK=STATUS#{status}, GSI1SK={createdAt}"
    $unique Order.by_number Order = "PK=NUMBER#{number}, SK=NUMBER#{number}"
    $awaited = {"gsi2"}

The attributes of migrations are in the same item: see `plan/migration/revision.py`.

- An entity that is listed has items in all its indexes that are listed with it. Reads of its
  other composed places are refused.
- An entity with a described primary key: a difference between a description and the design is a
  DesignMismatch, and a unique value that is not listed was added to stored items.
- An entity that is listed without descriptions was recorded by an earlier version: its keys are
  accepted, and its unique values count as reserved.
- An entity that is not listed, and a table without a record: nothing is known, nothing is refused.
- A global index is awaited if the table may lack it: it is still to be created.

The record is an item of the table, because every endpoint can store one, and because it is copied,
dumped and restored together with the items that it describes. Its type is that of no entity.

Invariants: only `connect(…, update=True)`, `backfill` and migrations write a record. A name is
added when it is true for all stored items. Each description is an attribute of its own, and only a
backfill or a migration replaces one, so concurrent writers do not conflict.

This module must not know how an index is created or how items get their keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Literal

import msgspec
from msgspec import Struct

from tablewright.errors import (
    ConditionalCheckFailedException,
    DeclarationError,
    DesignMismatch,
    KeyDifference,
)
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import RECORD_NAME, record_key
from tablewright.mapping.keys import IndexKeys
from tablewright.mapping.table import TableMap
from tablewright.plan.description import describe_keys
from tablewright.plan.migration.revision import Revision, revision_of
from tablewright.plan.plan import Request, Steps
from tablewright.plan.writes.guard import StoredValues, WriteExpressions
from tablewright.values import Item, Value

#: What messages call the primary key.
PRIMARY_KEY = "the primary key"

#: Names that no index has as its key.
_COMPLETE = "$complete"
_AWAITED = "$awaited"
_POSITION = "$backfill"
_DESCRIBED = ("$key ", "$index ", "$unique ")
#: How many descriptions one request writes: an expression has at most 4 KB.
_DESCRIPTIONS = 60


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
    #: What the stored keys are made of: "key Order", "index gsi1 Order", "unique … Order".
    descriptions: Mapping[str, str] = {}
    #: The global indexes that the table may lack.
    awaited: frozenset[str] = frozenset()
    #: How far the last backfill is, unless it has ended.
    position: BackfillPosition | None = None
    #: The version of the design that the items are prepared for, if the table records it.
    revision: Revision | None = None

    def knows(self, entity: EntityMap) -> bool:
        return _name("entity", entity) in self.complete

    def describes(self, entity: EntityMap) -> bool:
        """Return whether it is known what the keys of an entity are made of."""
        return _name("key", entity) in self.descriptions

    def incomplete(self, table: TableMap) -> frozenset[tuple[str, str]]:
        """Return the composed indexes that stored items may lack, each with the type of items."""
        return frozenset(
            (index, entity.type_name)
            for entity in table.entities
            if self.knows(entity)
            for index in _composed_indexes(entity)
            if _name("index", entity, index) not in self.complete
        )

    def unreserved(self, table: TableMap) -> frozenset[tuple[str, str]]:
        """Return the unique values that stored items may not have reserved, each with a type."""
        return frozenset(
            (unique.type_name, entity.type_name)
            for entity in table.entities
            if self.describes(entity)
            for unique in entity.uniques
            if not self._is_reserved(_name("unique", entity, unique.type_name), entity)
        )

    def _is_reserved(self, unique: str, entity: EntityMap) -> bool:
        """Return whether a unique value is listed, perhaps under the name that it had before."""
        text = describe(entity)[unique]
        return unique in self.complete or any(
            described == text and name in self.complete
            for name, described in self.descriptions.items()
            if name.startswith("unique ") and name.endswith(f" {entity.type_name}")
        )

    def differences(
        self, entities: Iterable[EntityMap], indexes: Collection[str] | None = None
    ) -> dict[str, KeyDifference]:
        """Return the keys that the design composes in another way, by their names in the record.

        With `indexes`, only the primary keys and the places in these indexes are compared.
        """
        return {
            name: KeyDifference(entity.name, _shown(name, entity), self.descriptions[name], text)
            for entity in entities
            for name, text in describe(entity, indexes).items()
            if self.descriptions.get(name, text) != text
        }


def describe(entity: EntityMap, indexes: Collection[str] | None = None) -> dict[str, str]:
    """Return what the keys of an entity are made of, by their names in the record.

    With `indexes`, only of the primary key and of the places in these indexes.
    """
    texts = {_name("key", entity): describe_keys(entity, entity.primary)}
    for index, keys in _composed_indexes(entity).items():
        if indexes is None or index in indexes:
            texts[_name("index", entity, index)] = describe_keys(entity, keys)
    for unique in entity.uniques if indexes is None else ():
        texts[_name("unique", entity, unique.type_name)] = describe_keys(entity, unique.key)
    return texts


def describe_all(table: TableMap) -> dict[str, str]:
    """Return what the keys of all entities are made of, by their names in the record."""
    return {name: text for each in table.entities for name, text in describe(each).items()}


def _composed_indexes(entity: EntityMap) -> dict[str, IndexKeys]:
    """Return the indexes for which an entity composes keys; DynamoDB fills the others itself."""
    return {
        each.index.name: each
        for each in entity.index_keys
        if each.composed and each.index is not None
    }


def refuse_differences(table: str, differences: Collection[KeyDifference]) -> None:
    """Raise DesignMismatch if there are differences."""
    if differences:
        listed = "\n  ".join(map(str, differences))
        raise DesignMismatch(
            f"the keys that the design declares for the table {table!r} differ from the stored "
            f"keys, so reads would miss stored items:\n  {listed}\n"
            "Declare the keys as they are stored, or rewrite the stored keys: see 'Change a key' "
            "in the guide 'Tables without a version', or run `tablewright help changes`",
            tuple(differences),
        )


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
    return None if item is None else _record(item, name)


def begin_record(table: TableMap, name: str, indexes: Collection[str]) -> Steps[IndexRecord]:
    """Create the record of a table without one: all items have the keys of these indexes.

    Return the record, which is another process's if that was faster.
    """
    complete = [each for entity in table.entities for each in _complete_names(entity, indexes)]
    while True:
        with suppress(ConditionalCheckFailedException):
            return (yield from _write(table, name, complete, describe_all(table), is_new=True))
        found = yield from read_record(table, name)
        if found is not None:
            return found


def extend_record(table: TableMap, name: str, record: IndexRecord) -> Steps[IndexRecord]:
    """Return the record with all entities of the table, and a description of each key.

    An entity that it does not list has no items yet. Of one that it does not describe, the stored
    keys are taken to be as declared.
    """
    complete = list[str]()
    for entity in table.entities:
        if not record.describes(entity):
            complete += _complete_names(entity, () if record.knows(entity) else None)
    texts = {n: t for n, t in describe_all(table).items() if n not in record.descriptions}
    if complete or texts:
        record = yield from _write(table, name, complete, texts)
    return record


def add_complete(
    table: TableMap,
    name: str,
    entity: EntityMap,
    indexes: Collection[str] | None = None,
    *,
    uniques: bool = True,
) -> Steps[None]:
    """End a backfill: the items of an entity have the keys of these indexes, or of all its indexes.

    With `uniques`, also their unique values are reserved. If another design has replaced a
    description meanwhile, its items may have these keys instead: then nothing is complete, and
    DesignMismatch is raised.
    """
    complete = _complete_names(entity, indexes, uniques=uniques)
    texts = describe(entity)
    required = {n: t for n, t in texts.items() if n in (*complete, _name("key", entity))}
    while True:
        update = _Update(table, name)
        update.expressions.require_absent_or_equal({f"${n}": {"S": t} for n, t in required.items()})
        update.change_names("ADD", _COMPLETE, complete)
        update.set(_POSITION, None)
        update.add_descriptions(texts.items())
        with suppress(ConditionalCheckFailedException):
            yield update.request()
            return
        record = (yield from read_record(table, name)) or IndexRecord(frozenset())
        found = record.differences([entity])
        differences = {n: found[n] for n in required if n in found}
        if differences:
            update = _Update(table, name)
            update.change_names("DELETE", _COMPLETE, differences)
            yield update.request()
            refuse_differences(name, differences.values())


def replace_descriptions(
    table: TableMap, name: str, differences: Mapping[str, KeyDifference]
) -> Steps[None]:
    """Record that keys are made in another way from now on, which stored items may not have yet."""
    update = _Update(table, name)
    for each, difference in differences.items():
        update.set(f"${each}", {"S": difference.declared})
    update.change_names("DELETE", _COMPLETE, differences)
    yield update.request()


def record_keys(
    table: TableMap, name: str, former_types: Collection[str], fence: StoredValues
) -> Steps[None]:
    """End a migration: all items of a table have the declared keys, and only those.

    Names and descriptions of keys that its entities no longer have, and of `former_types`, are
    removed: a program that declares them again must not take the stored keys for complete. Every
    request requires the attributes of `fence`; raise ConditionalCheckFailedException.
    """
    record = (yield from read_record(table, name)) or IndexRecord(frozenset())
    texts = describe_all(table)
    complete = {each for entity in table.entities for each in _complete_names(entity, None)}
    types = tuple(f" {each}" for each in (*(e.type_name for e in table.entities), *former_types))
    stale = {
        each
        for each in record.complete.union(record.descriptions)
        if each.endswith(types) and each not in complete.union(texts)
    }
    update = _Update(table, name)
    update.expressions.require_unchanged(fence)
    update.set(_POSITION, None)
    if stale & record.complete:
        update.change_names("DELETE", _COMPLETE, stale & record.complete)
    yield update.request()
    changes: dict[str, Value | None] = {
        f"${each}": {"S": text}
        for each, text in texts.items()
        if record.descriptions.get(each) != text
    }
    changes |= {f"${each}": None for each in stale if each in record.descriptions}
    remaining = iter(changes.items())
    while batch := list(islice(remaining, _DESCRIPTIONS)):
        update = _Update(table, name)
        update.expressions.require_unchanged(fence)
        for attribute, value in batch:
            update.set(attribute, value)
        yield update.request()
    update = _Update(table, name)
    update.expressions.require_unchanged(fence)
    update.change_names("ADD", _COMPLETE, complete)
    yield update.request()


def await_indexes(table: TableMap, name: str, indexes: Collection[str]) -> Steps[None]:
    """Record that the table may lack these indexes, until they are created."""
    yield from _change_awaited(table, name, "ADD", indexes)


def stop_awaiting(table: TableMap, name: str, indexes: Collection[str]) -> Steps[None]:
    """Record that the table has these indexes."""
    yield from _change_awaited(table, name, "DELETE", indexes)


def _change_awaited(
    table: TableMap, name: str, clause: Literal["ADD", "DELETE"], indexes: Collection[str]
) -> Steps[None]:
    if indexes:
        update = _Update(table, name)
        update.change_names(clause, _AWAITED, indexes)
        yield update.request()


def save_position(table: TableMap, name: str, position: BackfillPosition | None) -> Steps[None]:
    """Keep how far a backfill is; None: the next one begins with the first item."""
    update = _Update(table, name)
    text = None if position is None else {"S": msgspec.json.encode(position).decode()}
    update.set(_POSITION, text)
    yield update.request()


def _write(
    table: TableMap,
    name: str,
    complete: Collection[str],
    descriptions: Mapping[str, str],
    *,
    is_new: bool = False,
) -> Steps[IndexRecord]:
    """Add names to the record, and the descriptions that it lacks; return the record.

    The names are added first: without its description, nothing of an entity is refused.
    """
    remaining = iter(descriptions.items())
    update = _Update(table, name)
    if complete:
        update.change_names("ADD", _COMPLETE, complete)
    if is_new:
        update.expressions.require_unchanged({_COMPLETE: None})
    answer = yield update.request()
    while batch := list(islice(remaining, _DESCRIPTIONS)):
        update = _Update(table, name)
        update.add_descriptions(batch)
        answer = yield update.request()
    return _record(msgspec.json.decode(answer)["Attributes"], name)


class _Update:
    """An update of the record of a table."""

    def __init__(self, table: TableMap, name: str) -> None:
        check_record(table)
        self._table = table
        self._name = name
        self.expressions = WriteExpressions()
        if table.type_attribute is not None:
            self.set(table.type_attribute, table.type_value(RECORD_NAME))

    def set(self, attribute: str, value: Value | None) -> None:
        """Set an attribute; None removes it."""
        self.expressions.update.set_or_remove(attribute, value)

    def change_names(
        self, clause: Literal["ADD", "DELETE"], attribute: str, names: Iterable[str]
    ) -> None:
        """Add names to a set, or remove them."""
        update, marks = self.expressions.update, self.expressions.update.marks
        action = f"{marks.name(attribute)} {marks.value({'SS': sorted(names)})}"
        update.clauses[clause].append(action)

    def add_descriptions(self, descriptions: Iterable[tuple[str, str]]) -> None:
        """Add the descriptions that the record lacks."""
        update, marks = self.expressions.update, self.expressions.update.marks
        for each, text in descriptions:
            path = marks.name(f"${each}")
            update.set(path, f"if_not_exists({path}, {marks.value({'S': text})})")

    def request(self) -> Request:
        key = record_key(self._table)
        body = {"TableName": self._name, "Key": key, "ReturnValues": "ALL_NEW"}
        return Request("UpdateItem", self.expressions.add_to(body))


def _record(item: Item, name: str) -> IndexRecord:
    position = None
    if _POSITION in item:
        with suppress(msgspec.MsgspecError, KeyError):
            position = msgspec.json.decode(item[_POSITION]["S"], type=BackfillPosition)
    return IndexRecord(
        _names_in(item, _COMPLETE),
        {
            name[1:]: value["S"]
            for name, value in item.items()
            if name.startswith(_DESCRIBED) and "S" in value
        },
        _names_in(item, _AWAITED),
        position,
        revision_of(item, name),
    )


def _names_in(item: Item, attribute: str) -> frozenset[str]:
    return frozenset(item.get(attribute, {}).get("SS", ()))


def _complete_names(
    entity: EntityMap, indexes: Collection[str] | None, *, uniques: bool = True
) -> list[str]:
    """Return the names for an entity with all keys of these indexes, or of all its indexes."""
    places = [each for each in _composed_indexes(entity) if indexes is None or each in indexes]
    return [
        _name("entity", entity),
        *(_name("index", entity, each) for each in places),
        *(_name("unique", entity, each.type_name) for each in entity.uniques if uniques),
    ]


def _name(kind: Literal["entity", "key", "index", "unique"], entity: EntityMap, *of: str) -> str:
    """Return what the record calls an entity, or one of its keys: `index gsi1 Order`."""
    return " ".join((kind, *of, entity.type_name))


def _shown(name: str, entity: EntityMap) -> str:
    """Return the name of a key for a message."""
    kind, _, rest = name.removesuffix(f" {entity.type_name}").partition(" ")
    return {"key": PRIMARY_KEY, "index": f"the index {rest}"}.get(kind, f"the unique value {rest}")
