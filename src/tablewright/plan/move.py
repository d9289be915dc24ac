"""Move: a new primary key for an item, for its sentinels, and for the rows below it.

DynamoDB cannot change a key, so an update of an attribute that is part of one is a delete and a
put, in one transaction. Rows that lie below the item move with it:

    key of the item        MENU#lunch | SECTION#soups
    rows below it          MENU#lunch | SECTION#soups#PRODUCT#…      their sort key goes on from its
                           MENU#lunch | …                            if the item is the root of its
                                                                     partition: one key, no more

Each row's delete and put are in one transaction, so that none is ever lost or doubled. What does
not fit into one transaction moves in several: the rows below first, the item itself last. If this
is interrupted, the same update goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from tablewright.errors import (
    AlreadyExists,
    Contended,
    InvalidValue,
    NotFound,
    TransactionCanceledException,
    WriteRefused,
)
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.keys import KeyMap, goes_on, overlap
from tablewright.mapping.parts import DELIMITER, Part
from tablewright.plan.change import applied
from tablewright.plan.condition import Condition
from tablewright.plan.keeping import event_actions, sentinel_actions
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plan.put import read_stored
from tablewright.plan.query import decode_answer
from tablewright.plan.shape import Shape, key_condition, write_units
from tablewright.plan.update import Update
from tablewright.plan.write import (
    ATTEMPTS,
    MOST_ACTIONS,
    Action,
    Conditions,
    Prepared,
    Verdict,
    failed_condition,
    read_from,
    refusal,
    send_all,
    shown_key,
    stale,
    verdict_of,
)
from tablewright.values import Item

E = TypeVar("E")


class Below(Struct, frozen=True):
    """An entity whose rows move with another's, and which attributes follow which."""

    entity: EntityMap
    #: The row's attribute -> the moved item's attribute.
    follows: dict[str, str]


class Move(Update[E], Generic[E]):
    """An update that gives an item another key."""

    def prepare(self, context: Context, attempt: int) -> Steps[Prepared]:
        entity = self.entity
        stored = yield from read_stored(context, entity, self.key)
        if stored is None:
            raise refusal(NotFound, entity, self.key, None, "it is not there")
        refused = stale(entity, self.key, stored, self.expected)
        if refused is not None:
            raise refused
        now = context.clock()
        item = entity.rekey(self.counted(applied(self.stamped(now), stored), stored))
        key = _key(entity, item)
        if key == self.key:
            raise InvalidValue(f"{entity.name}: the new key is the old one, {shown_key(key)}")
        old, new = entity.values(stored), entity.values(item)
        own = _pair(entity, stored, item, self._all_conditions())
        own[0].failed = self._left(stored)
        own += sentinel_actions(entity, old, new, key)
        own += event_actions(entity, old, new, at=now, by=self.by, why=self.why)
        rows = yield from self._move_rows(context, key, new, MOST_ACTIONS - len(own))
        return Prepared(own + rows, lambda _: self.written(item))

    def _move_rows(
        self, context: Context, key: Item, new: Values, room: int
    ) -> Steps[list[Action]]:
        """Move the rows below for which there is no room beside the item; give the others."""
        members = below(self.entity)
        if not members:
            return []
        for _ in range(ATTEMPTS):
            rows = yield from _rows_below(self.entity, members, self.key, context)
            moves = [_moved_row(row, members, new) for row in rows]
            if sum(map(len, moves)) <= room:
                return [action for move in moves for action in move]
            if (yield from read_stored(context, self.entity, key)) is not None:
                raise refusal(AlreadyExists, self.entity, key, None, "it exists already")
            step: list[Action] = []
            try:
                while sum(map(len, moves)) > room:
                    step = []
                    while moves and len(step) + len(moves[0]) <= MOST_ACTIONS:
                        step += moves.pop(0)
                    yield from send_all(step, context)
            except TransactionCanceledException as fault:
                verdict, _position = verdict_of(step, fault)
                if isinstance(verdict, WriteRefused):
                    raise verdict from None
                continue  # a row has changed since it was read
            return [action for move in moves for action in move]
        raise Contended(
            f"{self.entity.name}: the rows below it kept changing while they were moved"
        )

    def _left(self, stored: Item) -> Callable[[Item | None], Verdict]:
        entity, key = self.entity, self.key

        def failed(item: Item | None) -> Verdict:
            if item is None:
                return refusal(NotFound, entity, key, None, "it is not there")
            refused = stale(entity, key, item, self.expected)
            if refused is not None:
                return refused
            if item != stored:
                return None
            return failed_condition(entity, key, item, self._all_conditions())

        return failed

    def shape(self) -> Shape:
        entity = self.entity
        moved = ", ".join(member.entity.name for member in below(entity))
        return Shape(
            operation="TransactWriteItems",
            table=entity.table.name,
            entity=entity.name,
            condition=key_condition(self.key),
            page=f"2 for each row{f', with {moved} below it' if moved else ''}",
            read_units=1,
            write_units=2
            * write_units(
                entity,
                index_entries=len(entity.indexes),
                others=len(entity.uniques),
                transaction=True,
            ),
        )


def _key(entity: EntityMap, item: Item) -> Item:
    return {name: item[name] for name in entity.table.attributes if name is not None}


def _pair(
    entity: EntityMap, stored: Item, item: Item, expected: Sequence[Condition[Any]] = ()
) -> list[Action]:
    """Delete a row that is still as it was read, and put it under its new key."""
    conditions = Conditions()
    conditions.take(expected)
    guarded = stored if entity.version is None else [entity.version.stored]
    conditions.still(read_from(stored, guarded))
    delete = conditions.into({"Key": _key(entity, stored)})
    absent = Conditions()
    absent.not_exists(entity.table)
    key = _key(entity, item)

    def changed(_: Item | None) -> Verdict:
        return None

    def exists(current: Item | None) -> Verdict:
        return refusal(AlreadyExists, entity, key, current, "it exists already")

    return [
        Action("Delete", entity.table, delete, changed),
        Action("Put", entity.table, absent.into({"Item": item}), exists),
    ]


# -- the rows below ------------------------------------------------------------------------------


def below(entity: EntityMap) -> list[Below]:
    """The entities whose rows lie below an entity's, in its partition."""
    found = []
    for other in entity.table.entities:
        if other is not entity:
            follows = _follows(entity.primary, other.primary)
            if follows is not None:
                found.append(Below(other, follows))
    return found


def _follows(key: KeyMap, theirs: KeyMap) -> dict[str, str] | None:
    if not overlap(key.partition, theirs.partition) or key.sort is None or theirs.sort is None:
        return None
    pairs = list(zip(key.partition.segments, theirs.partition.segments, strict=True))
    if goes_on(key.sort, theirs.sort):
        pairs += zip(key.sort.segments, theirs.sort.segments, strict=False)
    elif len(key.asked) > key.in_partition:  # there are others like it in the partition
        return None
    return {
        part.attribute: own.attribute
        for own, part in pairs
        if isinstance(own, Part) and isinstance(part, Part)
    }


def _rows_below(
    entity: EntityMap, below: Sequence[Below], key: Item, context: Context
) -> Steps[list[Item]]:
    """All rows that lie below an item."""
    members = {member.entity for member in below}
    partition, sort = entity.table.attributes
    assert sort is not None
    names = {"#p": partition}
    values = {":p": key[partition]}
    condition = "#p = :p"
    beginning = key[sort]["S"] + DELIMITER
    if all(goes_on(entity.primary.sort, m.primary.sort) for m in members):  # type: ignore[arg-type]
        condition += " AND begins_with(#s, :s)"
        names["#s"], values[":s"] = sort, {"S": beginning}
    body: dict[str, Any] = {
        "TableName": context.name_of(entity.table),
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
        "ConsistentRead": True,
    }
    rows: list[Item] = []
    while True:
        answer = decode_answer((yield Request("Query", body)))
        rows += [row for row in answer.items if entity.table.entity_of(row) in members]
        if answer.last_evaluated_key is None:
            return rows
        body["ExclusiveStartKey"] = answer.last_evaluated_key


def _moved_row(row: Item, members: Sequence[Below], values: Values) -> list[Action]:
    """A row below, under the key that follows the moved item's."""
    for member in members:
        entity = member.entity
        if entity.table.entity_of(row) is entity:
            moved = dict(row)
            for theirs, ours in member.follows.items():
                attribute = entity.attributes[theirs]
                moved[attribute.stored] = attribute.converter.encode(values[ours])
            old = entity.values(row)
            if entity.version is not None:
                following = old[entity.version.name] + 1
                moved[entity.version.stored] = {"N": str(following)}
            item = entity.rekey(moved)
            new = entity.values(item)
            return _pair(entity, row, item) + sentinel_actions(entity, old, new, _key(entity, row))
    raise AssertionError("only rows of these entities were read")
