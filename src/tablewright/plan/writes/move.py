"""Move: give an item a new primary key, with its sentinels and the rows below it.

DynamoDB cannot change a key. So an update of an attribute of the primary key is a delete and a put
in one transaction. The rows below the item (see `rows_below.py`) move with it.

The delete and the put of a row are in one transaction, so that no row is ever lost or duplicated.
What does not fit into one transaction moves in several: the rows below first, the item itself last.
If this is interrupted, the same update continues where it stopped. A row that another client
creates below the old key during the last transaction is found by one more read, and follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR, read_units
from tablewright.errors import (
    AlreadyExists,
    Contention,
    DeclarationError,
    InvalidValue,
    WriteRejected,
)
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan.change import Change
from tablewright.plan.facts import Absent, Actions, Exists, Repeats, Requirement
from tablewright.plan.plan import DECLARED, Context, Steps, Wait
from tablewright.plan.reads.item import item_shape, read_item
from tablewright.plan.shape import TYPICAL_PAGE, Shape, read_shape, typical_size
from tablewright.plan.units import ITEM_WRITE, NOTHING, UnitRange, all_read, item_write, total
from tablewright.plan.writes import commit
from tablewright.plan.writes.action import (
    Action,
    Prepared,
    RetryWrite,
    Verdict,
    always_retry,
    is_optional,
    require_reserved,
)
from tablewright.plan.writes.chunks import fit, joined, send_or_retry, take_fitting
from tablewright.plan.writes.effect import WriteEffect, affected_by_all, write_effect
from tablewright.plan.writes.guard import (
    EXISTS,
    Guard,
    all_unchanged,
    key_text,
    put_if_absent,
    rejection,
    stored_version,
)
from tablewright.plan.writes.rows_below import (
    Follower,
    followers,
    read_rows_below,
    request_for_rows_below,
    require_no_parent,
)
from tablewright.plan.writes.side_actions import side_actions
from tablewright.plan.writes.side_items import Audit
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import entity_of, refuse_write_once
from tablewright.plan.writes.write_shape import side_shapes, write_units
from tablewright.values import Item

E = TypeVar("E")


class Move(Update[E, E], Generic[E]):
    """An update that gives an item another key."""

    _depends_on_whole = True

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, audit = self._entity, self._audit(context)
        old = yield from self._read_existing(context)
        new = _rekeyed(entity, self._apply(self._encode(audit.at), old), old)
        key = entity.table.key(new)
        if key == self._key:  # another spelling of the same key, or the same value
            return (yield from self._without_key_changes()._prepare(context, attempt, alone=alone))
        values = vars(entity.decode(new))
        effect = write_effect(entity, key, old, new, values, affected_by_all(entity), audit)
        guard = self._guard(old, set())
        own = _move_actions(effect, guard, guard.verdict)
        rows = yield from read_rows_below(entity, self._key, followers(entity), context)
        effects = [_row_effect(member, row, values, audit) for member, row in rows]
        moves = [_move_row(row) for row in effects]
        if not fit(own, *moves):
            if not alone:
                raise InvalidValue(
                    f"{entity.name}: the {len(moves)} rows below it are too many to move in one "
                    "transaction with other writes; move it on its own"
                )
            for action in joined(own, *moves):
                require_reserved(action, context)
            yield from _check_first(own, context)
            yield from _move_in_steps(own, moves, context)
            raise RetryWrite(has_written=True)  # and look for rows that were added meanwhile
        return Prepared(
            joined(own, *moves),
            lambda _: self._written(new),
            effects=(effect, *effects),
            finish=partial(_move_late_rows, entity, self._key, values, audit, context),
        )

    def _without_key_changes(self) -> Update[E, E]:
        """Return the same update without the changes of natural key attributes, which stay."""
        keys = self._entity.table.attributes
        kept = tuple(change for change in self._changes if change.attribute.stored not in keys)
        update: Update[E, E] = Update(self._entity, self._key, self._known, kept, self._instance)
        return update._replace(_conditions=self._conditions, _by=self._by, _reason=self._reason)

    def _shape(self) -> Shape:
        entity = self._entity
        below = tuple(member.entity for member in followers(entity))
        requires = tuple(self._requirements(set()))
        steps = tuple(self._shapes_of_steps(requires))
        reads = total(step.read_range for step in steps)
        checks = _checks_range(entity) if below else NOTHING
        writes = total([checks, *(step.write_range for step in steps)])
        each = max(step.write_range.per_item for step in steps)  # a row is of one entity
        return Shape(
            operation="TransactWriteItems",
            tables=(entity.table,),
            targets=(entity,),
            keys=(KeyCondition(self._key),),
            extent=Actions(2, Repeats.EACH_ROW, below),
            read_units=sum(step.read_units for step in steps),
            write_units=sum(step.write_units for step in steps),
            # What is not in one transaction is read twice; the same key is a plain update.
            read_range=replace(reads * 2, low=1),
            write_range=replace(writes, low=1, per_item=each),
            steps=steps,
            assignments=tuple(self._sets()),
            requirements=requires,
        )

    def _shapes_of_steps(self, requires: tuple[Requirement, ...]) -> Iterator[Shape]:
        """Yield the requests and actions of a move."""
        entity, below = self._entity, followers(self._entity)
        rows = self._shape_of_rows(below)
        delete = Shape(
            "Delete",
            (entity.table,),
            (entity,),
            keys=(KeyCondition(self._key),),
            write_units=write_units(entity) * TRANSACTION_FACTOR,
            write_range=item_write(entity.index_rows) * TRANSACTION_FACTOR,
            requirements=requires,
        )
        yield replace(item_shape(entity, self._key), extent=None, read_units=1)
        yield from rows
        yield delete
        yield replace(
            delete,
            operation="Put",
            keys=(entity.primary.symbolic(),),
            assignments=tuple(self._sets()),
            requirements=(Absent(),),
        )
        yield from side_shapes(entity, entity.uniques, "Delete", "Put")
        yield from side_shapes(entity, self._affected.histories, "Put")
        for member in below:
            yield _row_shape(member.entity, TYPICAL_PAGE / len(below))
        for query in rows:  # once more, for those that were created meanwhile
            yield replace(query, read_units=1, read_range=UnitRange(1, 1))

    def _shape_of_rows(self, below: Sequence[Follower]) -> list[Shape]:
        """Return the query for the rows below the item; none if there cannot be any."""
        if not below:
            return []
        size = TYPICAL_PAGE * max(typical_size(each.entity) for each in below)
        request = request_for_rows_below(self._entity, self._key, below, DECLARED)
        query = replace(
            read_shape(request, [member.entity for member in below], [self._entity.table]),
            order="",
            read_units=read_units(size, consistent=True),
            read_range=all_read(consistent=True),
        )
        return [query]


def _row_shape(entity: EntityMap, rows: float) -> Shape:
    """Return the actions that move the rows of an entity below the item; `rows` is how many."""
    own = item_write(entity.index_rows) * (2 * TRANSACTION_FACTOR)
    side = [
        *side_shapes(entity, entity.uniques, "Delete", "Put"),
        *side_shapes(entity, entity.histories, "Put"),
    ]
    units = 2 * (write_units(entity) + len(entity.uniques)) * TRANSACTION_FACTOR
    return Shape(
        "Delete + Put",
        (entity.table,),
        (entity,),
        keys=(entity.primary.symbolic(),),
        extent=Actions(None, Repeats.EACH_ROW),
        write_units=units * rows,
        write_range=total([own, *(each.write_range for each in side)]).for_each(),
    )


def _checks_range(entity: EntityMap) -> UnitRange:
    """Return the units of the condition checks before the first of several transactions."""
    actions = 2 * (1 + len(entity.uniques)) + len(entity.histories)
    return UnitRange(0, TRANSACTION_FACTOR * actions * ITEM_WRITE)


def _row_effect(member: Follower, row: Item, values: Values, audit: Audit) -> WriteEffect:
    """Return the effect of moving a row below, to the key that follows the moved item's."""
    entity = member.entity
    refuse_write_once(entity, "a move of the item above it, which changes its key,")
    moved = dict(row)
    for theirs, ours in member.follows.items():
        attribute = entity.attributes[theirs]
        if attribute.is_immutable:
            raise InvalidValue(
                f"{entity.name}.{theirs} is immutable, so the {entity.name} below the item cannot "
                "move with it"
            )
        moved[attribute.stored] = attribute.converter.encode(values[ours])
    if entity.version is not None:
        moved[entity.version.stored] = {"N": str(stored_version(entity, row) + 1)}
    if entity.updated_at is not None:
        moved[entity.updated_at.stored] = entity.updated_at.converter.encode(audit.at)
    new = _rekeyed(entity, moved, row)
    new_values = vars(entity.decode(new))
    key = entity.table.key(new)
    return write_effect(entity, key, row, new, new_values, affected_by_all(entity), audit)


def _rekeyed(entity: EntityMap, changed: Item, old: Item) -> Item:
    """Return a changed item with its keys; what the change does not concern keeps its spelling."""
    new = entity.rekey(changed)
    return entity.keep_spelling(new, old, entity.values(new))


def _move_row(effect: WriteEffect) -> list[Action]:
    """Return the actions that move a row below, if it is as it was read."""
    entity, old = effect.entity, effect.old or {}
    guard = Guard(entity, entity.table.key(old), [Exists(), all_unchanged(entity)], old)
    return _move_actions(effect, guard, always_retry)


def _move_actions(
    effect: WriteEffect, guard: Guard, on_change: Callable[[Item | None], Verdict]
) -> list[Action]:
    """Return the actions that delete a row as it was read, and put it under its new key."""
    entity, old, new = effect.entity, effect.old or {}, effect.new or {}
    delete = guard.expressions().add_to({"Key": entity.table.key(old)})

    def exists(current: Item | None) -> Verdict:
        return rejection(AlreadyExists, entity, effect.key, current, EXISTS)

    return [
        Action("Delete", entity.table, delete, on_change, deleted=old),
        Action("Put", entity.table, put_if_absent(entity.table, new), exists),
        *side_actions(effect),
    ]


# -- what does not fit into one transaction ------------------------------------------------------


def _check_first(own: Sequence[Action], context: Context) -> Steps[None]:
    """Raise what would be raised at the end, before any row has been moved."""
    checks = []
    for action in own:
        if not is_optional(action):
            body = {name: value for name, value in action.body.items() if name != "Item"}
            body["Key"] = action.key
            checks.append(replace(action, kind="ConditionCheck", body=body))
    yield from send_or_retry(checks, context)


def _move_in_steps(
    own: Sequence[Action], moves: list[list[Action]], context: Context
) -> Steps[None]:
    """Move rows, one transaction at a time, until the rest fits into one with the item itself."""
    has_written = False
    while not fit(own, *moves):
        try:
            yield from send_or_retry(joined(*take_fitting(moves)), context)
        except RetryWrite:
            raise RetryWrite(has_written=has_written) from None
        has_written = True


def _move_late_rows(
    entity: EntityMap, key: Item, values: Values, audit: Audit, context: Context
) -> Steps[None]:
    """Move the rows that other clients have created below an item while it was moved.

    `key` is its old key. If the item exists there again, the rows belong to it and stay.
    """
    members, attempt = followers(entity), 0
    while True:
        rows = yield from read_rows_below(entity, key, members, context)
        if not rows or (yield from read_item(context, entity, key)) is not None:
            return
        no_parent = [require_no_parent(entity, key)]
        try:
            effects = [_row_effect(member, row, values, audit) for member, row in rows]
            moves = [_move_row(row) for row in effects]
            while moves:
                late = take_fitting(moves, no_parent)
                yield from send_or_retry(joined(no_parent, *late), context)
        except RetryWrite:
            attempt += 1
            delay = commit.CONTENTION.delay(attempt)
            if delay is None:
                reason = f"other writers changed them, {attempt} times in a row"
                raise _left_behind(entity, key, reason) from None
            yield Wait(delay)
        except (WriteRejected, InvalidValue, DeclarationError) as error:
            raise _left_behind(entity, key, str(error)) from error


def _left_behind(entity: EntityMap, key: Item, reason: str) -> Contention:
    return Contention(
        f"{entity.name}: it has moved, but rows that were created meanwhile below its old key, "
        f"{key_text(key)}, could not follow: {reason}. Move each of them with an update of its own"
    )


# -- an update, or a move ------------------------------------------------------------------------


def update_item(
    entity: EntityMap,
    key: Item,
    known: Values,
    changes: Sequence[Change[Any]],
    instance: Any = None,
) -> Update[Any]:
    """Return the update of the item with a key: a move, if it changes the primary key.

    `known` are the attributes that the key consists of.
    """
    if not changes:
        raise InvalidValue(f"{entity.name}: update() needs at least one change")
    # Update reports what is not a change.
    moves = any(getattr(change, "name", "") in entity.primary.depends_on for change in changes)
    return (Move if moves else Update)(entity, key, known, changes, instance)


def update_instance(instance: Any, changes: Sequence[Change[Any]]) -> Update[Any, Any]:
    """Return the update of an entity's item."""
    entity = entity_of(instance)
    values = vars(instance)
    known = {name: values[name] for name in entity.primary.depends_on}
    return update_item(entity, entity.stored_key(instance), known, changes, instance)
