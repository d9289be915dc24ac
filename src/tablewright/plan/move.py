"""Move: a new primary key for an item, for its sentinels, and for the rows below it.

DynamoDB cannot change a key, so an update of an attribute that is part of one is a delete and a
put, in one transaction. Rows that lie below the item move with it:

    key of the item        MENU#lunch | SECTION#soups
    rows below it          MENU#lunch | SECTION#soups#PRODUCT#…      their sort key extends its
                           MENU#lunch | …                            if the item is the root of its
                                                                     partition: one key, no more

Each row's delete and put are in one transaction, so that none is ever lost or doubled. What does
not fit into one transaction moves in several: the rows below first, the item itself last. If this
is interrupted, the same update continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct

from tablewright.errors import (
    AlreadyExists,
    InvalidValue,
    NotFound,
    TransactionCanceledException,
    WriteRejected,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.keys import KeyMap, SortCondition, extends, templates_can_collide
from tablewright.mapping.parts import DELIMITER, KeyPart
from tablewright.plan.condition import Condition
from tablewright.plan.guard import Conditions, failed_condition, read_from, refusal, stale
from tablewright.plan.keeping import event_actions, sentinel_actions
from tablewright.plan.plan import Context, Steps
from tablewright.plan.put import read_stored
from tablewright.plan.query import decode_answer
from tablewright.plan.query_request import KeyCondition, QueryRequest, Selection
from tablewright.plan.shape import Shape, key_condition, write_units
from tablewright.plan.update import Update
from tablewright.plan.write import (
    Action,
    Again,
    Prepared,
    Verdict,
    send_all,
    transaction_size,
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

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity = self._entity
        stored = yield from read_stored(context, entity, self._key)
        if stored is None:
            raise refusal(NotFound, entity, self._key, None, "it is not there")
        refused = stale(entity, self._key, stored, self._expected)
        if refused is not None:
            raise refused
        now = context.clock()
        item = entity.rekey(self._counted(self._applied(self._stamped(now), stored), stored))
        key = entity.table.key(item)
        if key == self._key:  # another spelling of the same key, or the same value
            return (yield from self._in_place()._prepare(context, attempt, alone=alone))
        old, new = entity.values(stored), entity.values(item)
        own = _pair(entity, stored, item, self._all_conditions())
        own[0].failed = self._left(stored)
        own += sentinel_actions(entity, old, new, key)
        own += event_actions(entity, old, new, at=now, by=self._by, reason=self._reason)
        members = below(entity)
        rows = yield from _rows_below(entity, members, self._key, context)
        moves = [self._moved_row(row, members, new, now) for row in rows]
        if not _fit(own, *moves):
            if not alone:
                raise InvalidValue(
                    f"{entity.name}: {len(moves)} rows lie below it, too many to move in one "
                    "transaction with other writes; move it on its own"
                )
            yield from _check_first(own, context)
            yield from _move_in_steps(own, moves, context)
            raise Again  # and look for rows that came meanwhile
        return Prepared(_all(own, *moves), lambda _: self._written(item))

    def _moved_row(
        self, row: Item, members: Sequence[Below], values: Values, now: datetime
    ) -> list[Action]:
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
                if entity.updated_at is not None:
                    moved[entity.updated_at.stored] = entity.updated_at.converter.encode(now)
                item = entity.rekey(moved)
                new = entity.values(item)
                actions = _pair(entity, row, item)
                actions += sentinel_actions(entity, old, new, entity.table.key(row))
                return actions + event_actions(
                    entity, old, new, at=now, by=self._by, reason=self._reason
                )
        raise AssertionError("only rows of these entities were read")

    def _in_place(self) -> Update[E]:
        """The same changes without those of the key's own attributes, which stay as they are."""
        keys = self._entity.table.attributes
        kept = tuple(change for change in self._changes if change.attribute.stored not in keys)
        return Update(self._entity, self._key, self._known, kept, self._instance)._replace(
            _conditions=self._conditions, _by=self._by, _reason=self._reason
        )

    def _left(self, stored: Item) -> Callable[[Item | None], Verdict]:
        entity, key = self._entity, self._key

        def failed(item: Item | None) -> Verdict:
            if item is None:
                return refusal(NotFound, entity, key, None, "it is not there")
            refused = stale(entity, key, item, self._expected)
            if refused is not None:
                return refused
            if item != stored:
                return None
            return failed_condition(entity, key, item, self._all_conditions())

        return failed

    def _shape(self) -> Shape:
        entity = self._entity
        moved = ", ".join(member.entity.name for member in below(entity))
        return Shape(
            operation="TransactWriteItems",
            table=entity.table.name,
            entity=entity.name,
            condition=key_condition(self._key),
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


def _pair(
    entity: EntityMap, stored: Item, item: Item, expected: Sequence[Condition[Any]] = ()
) -> list[Action]:
    """Delete a row that is still as it was read, and put it under its new key."""
    conditions = Conditions()
    conditions.take(expected)
    if entity.version is None:
        guarded = {*stored, *(attribute.stored for attribute in entity.attributes.values())}
        conditions.still(read_from(stored, sorted(guarded)))
    else:  # it stands for all attributes
        conditions.still(read_from(stored, [entity.version.stored]))
    delete = conditions.into({"Key": entity.table.key(stored)})
    absent = Conditions()
    absent.not_exists(entity.table)
    key = entity.table.key(item)

    def changed(_: Item | None) -> Verdict:
        return None

    def exists(current: Item | None) -> Verdict:
        return refusal(AlreadyExists, entity, key, current, "it exists already")

    return [
        Action("Delete", entity.table, delete, changed, deletes=stored),
        Action("Put", entity.table, absent.into({"Item": item}), exists),
    ]


# -- what does not fit into one transaction ------------------------------------------------------


def _all(*groups: Sequence[Action]) -> list[Action]:
    return [action for group in groups for action in group]


def _fit(*groups: Sequence[Action]) -> bool:
    """Whether the actions fit into one transaction."""
    actions = _all(*groups)
    return (
        len(actions) <= MAX_TRANSACTION_ACTIONS
        and transaction_size(actions) <= MAX_TRANSACTION_SIZE
    )


def _check_first(own: Sequence[Action], context: Context) -> Steps[None]:
    """Refuse what would be refused at the end, before any row has been moved."""
    checks = []
    for action in own:
        if "ConditionExpression" in action.body:
            body = {name: value for name, value in action.body.items() if name != "Item"}
            check = Action(
                "ConditionCheck", action.table, body | {"Key": action.key}, action.failed
            )
            checks.append(check)
    yield from _sent(checks, context)


def _move_in_steps(
    own: Sequence[Action], moves: list[list[Action]], context: Context
) -> Steps[None]:
    """Move rows, a transaction at a time, until the others fit in beside the item itself."""
    while not _fit(own, *moves):
        step: list[Action] = []
        while moves and (not step or _fit(step, moves[0])):
            step += moves.pop(0)
        yield from _sent(step, context)


def _sent(actions: list[Action], context: Context) -> Steps[None]:
    try:
        yield from send_all(actions, context)
    except TransactionCanceledException as fault:
        verdict, _ = verdict_of(actions, fault)
        if isinstance(verdict, WriteRejected):
            raise verdict from None
        raise Again from None


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
    templates = (key.partition, key.sort, theirs.partition, theirs.sort)
    if any(template is None or template.natural is not None for template in templates):
        return None
    if (
        not templates_can_collide(key.partition, theirs.partition)
        or key.sort is None
        or theirs.sort is None
    ):
        return None
    pairs = list(zip(key.partition.segments, theirs.partition.segments, strict=True))
    if extends(theirs.sort, key.sort):
        pairs += zip(key.sort.segments, theirs.sort.segments, strict=False)
    elif len(key.parameters) > key.partition_arity:  # there are others like it in the partition
        return None
    if any(isinstance(part, KeyPart) and part.derive is not None for _, part in pairs):
        return None  # made from a value of its own, which does not follow
    return {
        part.attribute: own.attribute
        for own, part in pairs
        if isinstance(own, KeyPart) and isinstance(part, KeyPart)
    }


def _rows_below(
    entity: EntityMap, below: Sequence[Below], key: Item, context: Context
) -> Steps[list[Item]]:
    """All rows that lie below an item."""
    members = {member.entity for member in below}
    if not members:
        return []
    partition, sort = entity.table.attributes
    assert sort is not None
    below_root = None
    if all(extends(m.primary.sort, entity.primary.sort) for m in members):  # type: ignore[arg-type]
        below_root = SortCondition("begins_with", ({"S": key[sort]["S"] + DELIMITER},))
    request = QueryRequest(
        "Query",
        {"TableName": context.name_of(entity.table), "ConsistentRead": True},
        Selection(KeyCondition((partition, sort), key[partition], below_root)),
    )
    rows: list[Item] = []
    while True:
        answer = decode_answer((yield request))
        rows += [row for row in answer.items if entity.table.entity_of(row) in members]
        if answer.last_evaluated_key is None:
            return rows
        request = request.next_page(answer.last_evaluated_key)
