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

from msgspec import Struct
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
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import extends, templates_can_collide
from tablewright.plan import facts
from tablewright.plan.change import Change
from tablewright.plan.plan import DECLARED, Context, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.single import item_shape, read_all, read_item
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
from tablewright.plan.writes.effect import Audit, WriteEffect, affected_by_all, write_effect
from tablewright.plan.writes.guard import (
    EXISTS,
    Guard,
    WriteExpressions,
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
        new = _rekeyed(entity, self._apply(self._encode(audit.at), old), old)
        key = entity.table.key(new)
        if key == self._key:  # another spelling of the same key, or the same value
            return (yield from self._without_key_changes()._prepare(context, attempt, alone=alone))
        values = vars(entity.decode(new))
        effect = write_effect(entity, key, old, new, values, affected_by_all(entity), audit)
        own = _move_actions(effect, guard, guard.verdict)
        rows = yield from read_rows_below(entity, self._key, followers(entity), context)
        effects = [_row_effect(member, row, values, audit) for member, row in rows]
        moves = [without_link_to(key, _move_row(row)) for row in effects]
        if not fit(own, *moves):
            if not alone:
                raise InvalidValue(
                    f"{entity.name}: the {len(moves)} rows below it are too many to move in one "
                    "transaction with other writes; move it on its own"
                )
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
        kept = tuple(change for change in self._changes if change.attribute.stored not in keys)
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
    side = changed_sides(entity, entity.uniques, entity.histories)
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


def _checks_range(entity: EntityMap) -> facts.UnitRange:
    """Return the units of the condition checks before the first of several transactions."""
    actions = 2 * (1 + len(entity.uniques)) + len(entity.histories)
    return facts.UnitRange(0, TRANSACTION_FACTOR * actions * facts.ITEM_WRITE)


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
        now = entity.updated_at.fit(audit.at)
        moved[entity.updated_at.stored] = entity.updated_at.converter.encode(now)
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
    guard = Guard(entity, entity.table.key(old), [facts.Exists(), all_unchanged(entity)], old)
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


# -- what does not fit into one transaction -------------------------------------------------------


def _check_first(own: Sequence[Action], context: Context) -> Steps[None]:
    """Check the conditions on the item itself, before any row below it is moved."""
    checks = []
    for action in own:
        if not action.is_optional:
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
            reason = f"other writers changed them, {attempt} times in a row"
            yield from wait_for_writers(attempt, _left_behind(entity, key, reason))
        except (WriteRejected, InvalidValue, DeclarationError) as error:
            raise Contention(_left_behind(entity, key, str(error))) from error


def _left_behind(entity: EntityMap, key: Item, reason: str) -> str:
    return (
        f"{entity.name}: it has moved, but rows that were created meanwhile below its old key, "
        f"{key_text(key)}, could not follow: {reason}. Move each of them with an update of its own"
    )


# -- the rows below an item -----------------------------------------------------------------------


class Follower(Struct, frozen=True):
    """An entity whose rows move with those of another, and which attributes follow which."""

    entity: EntityMap
    #: The row's attribute -> the moved item's attribute.
    follows: dict[str, str]


def followers(entity: EntityMap) -> list[Follower]:
    """Return the entities whose rows are below those of an entity, in its partition."""
    found = []
    for other in entity.table.entities:
        if other is not entity and (other.base is None or other.base is not entity.base):
            follows = _follows(entity.primary, other.primary)
            if follows is not None:
                found.append(Follower(other, follows))
    return found


def _follows(key: KeyMap, theirs: KeyMap) -> dict[str, str] | None:
    """Return which attributes of one key follow which of the other; None if none do."""
    if key.sort is None or theirs.sort is None or not _share_partition(key, theirs):
        return None
    pairs = list(zip(key.partition.pieces, theirs.partition.pieces, strict=True))
    if key.sort.is_text and theirs.sort.is_text and extends(theirs.sort, key.sort):
        pairs += zip(key.sort.pieces, theirs.sort.pieces, strict=False)
    elif len(key.parameters) > key.partition_arity:  # there are others like it in the partition
        return None
    if any(isinstance(part, KeyPart) and part.notation.derive is not None for _, part in pairs):
        return None  # made from a value of its own, which does not follow
    return {
        part.attribute: own.attribute
        for own, part in pairs
        if isinstance(own, KeyPart) and isinstance(part, KeyPart)
    }


def _share_partition(key: KeyMap, theirs: KeyMap) -> bool:
    """Return whether rows of one key belong into the partitions of the other.

    A natural key has no literal that says whose partition it is, but the name of its attribute.
    """
    own, other = key.partition, theirs.partition
    if own.natural is not None or other.natural is not None:
        is_natural = own.natural is not None and other.natural is not None
        names = [[part.attribute for part in template.parts] for template in (own, other)]
        return is_natural and names[0] == names[1]
    return templates_can_collide(own, other) and len(own.pieces) == len(other.pieces)


def read_rows_below(
    entity: EntityMap, key: Item, members: Sequence[Follower], context: Context
) -> Steps[list[tuple[Follower, Item]]]:
    """Read all rows below an item, each with its entity."""
    by_entity = {member.entity: member for member in members}
    if not members:
        return []
    rows = yield from read_all(request_for_rows_below(entity, key, members, context))
    owned = [(by_entity.get(found), row) for row in rows if (found := entity.table.entity_of(row))]
    return [(member, row) for member, row in owned if member is not None]


def request_for_rows_below(
    entity: EntityMap, key: Item, members: Sequence[Follower], context: Context
) -> QueryRequest:
    """Return the query for the rows below an item, perhaps with others of its partition."""
    partition, sort = entity.table.attributes
    assert sort is not None
    below = None
    if all(extends(each.entity.primary.sort, entity.primary.sort) for each in members):  # type: ignore[arg-type]
        start = key[sort]["S"] + entity.primary.partition.delimiter.text
        below = SortCondition(sort, "begins_with", ({"S": start},))
    return QueryRequest(
        "Query",
        {"TableName": context.name_of(entity.table), "ConsistentRead": True},
        Selection(KeyCondition({partition: key[partition]}, below)),
    )


def require_no_parent(entity: EntityMap, key: Item) -> Action:
    """Return the check that an item which was deleted or moved does not exist again."""
    expressions = WriteExpressions()
    expressions.require_not_exists(entity.table)
    body = expressions.add_to({"Key": key})
    return Action("ConditionCheck", entity.table, body, always_retry)
