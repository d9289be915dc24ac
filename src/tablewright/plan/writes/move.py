"""Update or move: `update(…)`, and updates that change the primary key of an item.

DynamoDB cannot change a key. So an update of an attribute of the primary key is a delete and a put
in one transaction. The rows below the item move with it:

    key of the item        MENU#lunch | SECTION#soups
    rows below it          MENU#lunch | SECTION#soups#PRODUCT#…      their sort key extends its own
                           MENU#lunch | …                            if the item is the root of its
                                                                     partition: it has one key only
                           lunch | …                                 the same, if the partition key
                                                                     is the attribute `menu` of both

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
from tablewright.mapping.counters import CounterMap
from tablewright.mapping.entity import EntityMap, Values
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan import facts
from tablewright.plan.change import Change
from tablewright.plan.plan import DECLARED, Context, Steps
from tablewright.plan.reads.single import item_shape, read_item
from tablewright.plan.shape import TYPICAL_PAGE, Shape, read_shape, shape_of, typical_size
from tablewright.plan.writes.action import (
    Action,
    Prepared,
    RetryWrite,
    Verdict,
    always_retry,
    fit,
    joined,
    send_or_retry,
    side_actions,
    take_fitting,
)
from tablewright.plan.writes.counter_shapes import counter_shapes
from tablewright.plan.writes.counting import carried_counters, counters_of_moved, reset_counters
from tablewright.plan.writes.effect import Audit, WriteEffect, affected_by_all, write_effect
from tablewright.plan.writes.followers import (
    Follower,
    followers,
    read_rows_below,
    request_for_rows_below,
    require_no_parent,
)
from tablewright.plan.writes.guard import (
    EXISTS,
    Guard,
    all_unchanged,
    key_text,
    put_if_absent,
    rejection,
    stored_version,
)
from tablewright.plan.writes.linking import link_shapes, refuse_stranded, without_link_to
from tablewright.plan.writes.update import Update
from tablewright.plan.writes.write import (
    Rewritable,
    changed_sides,
    entity_of,
    refuse_write_once,
    wait_for_writers,
    write_units,
)
from tablewright.values import Item

E = TypeVar("E")


def update(instance: Rewritable, *changes: Change[Rewritable]) -> Update[Rewritable, Rewritable]:
    """Change attributes of an entity: of the version at hand, if it is versioned."""
    entity = entity_of(instance)
    values = vars(instance)
    known = {name: values[name] for name in entity.primary.depends_on}
    updated: Any = update_item(entity, entity.stored_key(instance), known, changes, instance)
    return updated  # type: ignore[no-any-return]


def update_item(
    entity: EntityMap,
    key: Item,
    known: Values,
    changes: Sequence[Change[Any]],
    instance: Any = None,
) -> Update[Any]:
    """Return the update of an item whose key gives `known`: a move, if it changes the key."""
    if not changes:
        raise InvalidValue(f"{entity.name}: update() needs at least one change")
    # Update reports what is not a change.
    moves = any(getattr(change, "name", "") in entity.primary.depends_on for change in changes)
    if moves:
        refuse_stranded(entity, {each.entity for each in followers(entity)})
    return (Move if moves else Update)(entity, key, known, changes, instance)


class Move(Update[E, E], Generic[E]):
    """An update that gives an item another key."""

    _depends_on_whole = True

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, audit = self._entity, self._audit(context)
        found = yield from read_item(context, entity, self._key)
        guard = self._guard(found, set())
        old = guard.check(found)
        changed = self._apply(self._encode(audit.at), entity.opened(old))
        new = _rekeyed(entity, changed, old, self._values_in_keys())
        members = followers(entity)
        carried = _carried(entity, members)
        reset_counters(entity, new, carried)
        key = entity.table.key(new)
        if key == self._key:  # another spelling of the same key, or the same value
            return (yield from self._without_key_changes()._prepare(context, attempt, alone=alone))
        values = vars(entity.decode(new))
        effect = write_effect(entity, key, old, new, values, affected_by_all(entity), audit)
        own = _move_actions(effect, guard, guard.verdict, carried)
        rows = yield from read_rows_below(entity, self._key, members, context)
        effects = [_row_effect(member, row, values, audit, carried) for member, row in rows]
        moves = [without_link_to(key, _move_row(row, carried)) for row in effects]
        if not fit(own, *moves):
            if not alone:
                raise InvalidValue(
                    f"{entity.name}: the {len(moves)} rows below it are too many to move in one "
                    "transaction with other writes; move it on its own"
                )
            # Counters after what they count, so that no item is counted that has not moved.
            moves.sort(key=lambda actions: actions[0].counters is not None)
            for action in joined(own, *moves):
                action.require_reserved(context)
            yield from _check_first(own, context)
            yield from _move_in_steps(own, moves, context)
            raise RetryWrite(has_written=True)  # and look for rows that were added meanwhile
        return Prepared(
            joined(own, *moves),
            lambda _: self._answer(old, new),
            effects=(effect, *effects),
            finish=partial(_move_late_rows, entity, self._key, values, audit, context),
        )

    def _without_key_changes(self) -> Update[E, E]:
        """Return the same update without the changes of natural key attributes, which stay."""
        keys = self._entity.table.attributes
        kept = tuple(
            change
            for change in self._changes
            if change.attribute.stored not in keys
            and not (change.attribute.is_key_only and change.name in self._known)
        )
        update: Update[E, E] = Update(self._entity, self._key, self._known, kept, self._instance)
        return update._replace(
            _conditions=self._conditions,
            _by=self._by,
            _reason=self._reason,
            _returns_old=self._returns_old,
            _reads_old=self._reads_old,
            _depends_on_whole=self._reads_old or update._depends_on_whole,
        )

    def _shape(self) -> Shape:
        entity = self._entity
        below = tuple(member.entity for member in followers(entity))
        requires = tuple(self._requirements(set()))
        whole = shape_of(
            list(self._shapes_of_steps(requires)),
            operation="TransactWriteItems",
            targets=(entity,),
            keys=(KeyCondition(self._key),),
            extent=facts.Actions(2, facts.Repeats.EACH_ROW, below),
            assignments=tuple(self._sets()),
            requirements=requires,
        )
        checks = _checks_range(entity) if below else facts.NOTHING
        # A row is of one entity, and it is deleted and put.
        each = 2 * max(step.write_range.per_item for step in whole.steps)
        return replace(
            whole,
            # What is not in one transaction is read twice; the same key is a plain update.
            read_range=replace(whole.read_range * 2, low=1),
            write_range=replace(whole.write_range + checks, low=1, per_item=each),
        )

    def _shapes_of_steps(self, requires: tuple[facts.Requirement, ...]) -> Iterator[Shape]:
        """Yield the requests and actions of a move."""
        entity, below = self._entity, followers(self._entity)
        rows = self._shape_of_rows(below)
        delete = Shape(
            "Delete",
            (entity.table,),
            (entity,),
            keys=(KeyCondition(self._key),),
            write_units=write_units(entity) * TRANSACTION_FACTOR,
            write_range=facts.item_write(entity.index_rows) * TRANSACTION_FACTOR,
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
            requirements=(facts.Absent(),),
        )
        yield from changed_sides(entity, entity.uniques, self._affected.histories)
        yield from link_shapes(self._affected.links)
        yield from counter_shapes(entity.counted)
        yield from counter_shapes(entity.counted, gone=True)
        for member in below:
            yield from _row_shapes(member.entity, TYPICAL_PAGE / len(below))
        for query in rows:  # once more, for those that were created meanwhile
            yield replace(query, read_units=1, read_range=facts.UnitRange(1, 1))

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
            read_range=facts.all_read(consistent=True),
        )
        return [query]


def _row_shapes(entity: EntityMap, rows: float) -> list[Shape]:
    """Return the actions that move the rows of an entity below the item; `rows` is how many.

    Half of the units of a row, with those of its side items, are those of its delete.
    """
    side = [
        *changed_sides(entity, entity.uniques, entity.histories),
        *counter_shapes(entity.counted),
        *counter_shapes(entity.counted, gone=True),
    ]
    most = facts.total(each.write_range for each in side) * 0.5
    own = facts.item_write(entity.index_rows) * TRANSACTION_FACTOR
    units = (write_units(entity) + len(entity.uniques)) * TRANSACTION_FACTOR
    delete = Shape(
        "Delete",
        (entity.table,),
        (entity,),
        keys=(entity.primary.symbolic(),),
        extent=facts.Actions(None, facts.Repeats.EACH_ROW),
        write_units=units * rows,
        write_range=(own + most).for_each(),
    )
    return [delete, replace(delete, operation="Put")]


def _carried(entity: EntityMap, members: Sequence[Follower]) -> list[CounterMap]:
    """Return the counters that move with everything they count."""
    return carried_counters(entity, {member.entity: member.follows for member in members})


def _checks_range(entity: EntityMap) -> facts.UnitRange:
    """Return the units of the condition checks before the first of several transactions."""
    actions = 2 * (1 + len(entity.uniques)) + len(entity.histories)
    return facts.UnitRange(0, TRANSACTION_FACTOR * actions * facts.ITEM_WRITE)


def _row_effect(
    member: Follower,
    row: Item,
    values: Values,
    audit: Audit,
    carried: Sequence[CounterMap],
) -> WriteEffect:
    """Return the effect of moving a row below, to the key that follows the moved item's."""
    entity = member.entity
    refuse_write_once(entity, "a move of the item above it, which changes its key,")
    moved = dict(entity.opened(row))
    in_keys: Values = {}
    for theirs, ours in member.follows.items():
        attribute = entity.attributes[theirs]
        if attribute.is_immutable:
            raise InvalidValue(
                f"{entity.name}.{theirs} is immutable, so the {entity.name} below the item cannot "
                "move with it"
            )
        if attribute.is_key_only:
            in_keys[theirs] = values[ours]
        else:
            moved[attribute.stored] = attribute.converter.encode(values[ours])
    reset_counters(entity, moved, carried)
    if entity.version is not None:
        moved[entity.version.stored] = {"N": str(stored_version(entity, row) + 1)}
    if entity.updated_at is not None:
        now = entity.updated_at.fit(audit.at)
        moved[entity.updated_at.stored] = entity.updated_at.converter.encode(now)
    new = _rekeyed(entity, moved, row, in_keys)
    new_values = vars(entity.decode(new))
    key = entity.table.key(new)
    effect = write_effect(entity, key, row, new, new_values, affected_by_all(entity), audit)
    changes = tuple(each for each in effect.counters if each.counter not in carried)
    return replace(effect, counters=changes) if effect.counters else effect


def _rekeyed(entity: EntityMap, changed: Item, old: Item, in_keys: Values) -> Item:
    """Return a changed item with its keys; what the change does not concern keeps its spelling.

    `in_keys` are new values that only keys store.
    """
    new = entity.rekey(changed, entity.values(changed) | in_keys)
    return entity.keep_spelling(new, old, entity.values(new))


def _move_row(effect: WriteEffect, carried: Sequence[CounterMap]) -> list[Action]:
    """Return the actions that move a row below, if it is as it was read."""
    entity, old = effect.entity, effect.old or {}
    guard = Guard(entity, entity.table.key(old), [facts.Exists(), all_unchanged(entity)], old)
    return _move_actions(effect, guard, always_retry, carried)


def _move_actions(
    effect: WriteEffect,
    guard: Guard,
    on_change: Callable[[Item | None], Verdict],
    carried: Sequence[CounterMap],
) -> list[Action]:
    """Return the actions that delete a row as it was read, and put it under its new key."""
    entity, old, new = effect.entity, effect.old or {}, effect.new or {}
    delete = guard.expressions().add_to({"Key": entity.table.key(old)})

    def exists(current: Item | None) -> Verdict:
        return rejection(AlreadyExists, entity, effect.key, current, EXISTS)

    return [
        Action(
            "Delete",
            entity.table,
            delete,
            on_change,
            deleted=old,
            counters=counters_of_moved(entity, old, carried),
        ),
        Action("Put", entity.table, put_if_absent(entity.table, new), exists),
        *side_actions(effect),
    ]


# -- what does not fit into one transaction -------------------------------------------------------


def _check_first(own: Sequence[Action], context: Context) -> Steps[None]:
    """Check the conditions on the item itself, before any row below it is moved."""
    checks = []
    for action in own:
        if not action.is_optional and not action.only_counts:
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
            carried = _carried(entity, members)
            effects = [_row_effect(member, row, values, audit, carried) for member, row in rows]
            moves = [_move_row(row, carried) for row in effects]
            while moves:
                late = take_fitting(moves, no_parent)
                yield from send_or_retry(joined(no_parent, *late), context)
        except RetryWrite:
            attempt += 1
            reason = f"other writers changed them, {attempt} times in a row"
            yield from wait_for_writers(attempt, _left_behind(entity, key, reason))
        except (WriteRejected, InvalidValue, DeclarationError) as error:
            raise Contention(_left_behind(entity, key, str(error))) from error


def _left_behind(entity: EntityMap, key: Item, reason: str) -> str:
    return (
        f"{entity.name}: it has moved, but rows that were created meanwhile below its old key, "
        f"{key_text(key)}, could not follow: {reason}. Move each of them with an update of its own"
    )
