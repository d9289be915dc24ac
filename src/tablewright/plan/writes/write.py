"""Write: the base of every write, alone or in `transact(…)`.

A write prepares itself: it reads what it has to know, computes its effect, and returns its actions
(`Write._prepare`). `commit` sends them, and prepares the write again if an item has changed:

    prepare   each write reads what it needs   ->  actions, each with the meaning of its failure
    send      one request, or one transaction  ->  results, or the error of the first failed action
    finish    what a write does afterwards     ->  requests of their own
    retry     with backoff, while other writers change the items between read and write

`commit` is the only place that retries a write; it must not know the kinds of writes.

The shape of a write (`write_shape`) is made from what its request is made from: the requirements,
what the write affects, and whether it reads the item first. The shape adds the units: an estimate
for typical items, and those of the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, Self

from msgspec.structs import replace
from typing_extensions import TypeVar

from tablewright import capacity
from tablewright.backoff import Backoff
from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import (
    ConditionalCheckFailedException,
    ConditionFailed,
    Contention,
    DeclarationError,
    EndpointUnavailable,
    InvalidValue,
    TransactionCanceledException,
    ValidationException,
    WriteRejected,
)
from tablewright.limits import MAX_ITEM_SIZE, MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE
from tablewright.mapping.attributes import HistoryMap, UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.keys import IndexKeys
from tablewright.plan import facts
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Context, Plan, Steps, Wait
from tablewright.plan.reads.single import item_shape
from tablewright.plan.reference import check_condition
from tablewright.plan.shape import Shape, action_name, typical_size
from tablewright.plan.writes.action import (
    Action,
    NothingToDo,
    Prepared,
    RetryWrite,
    merge,
    send_one,
    send_transaction,
    transaction_size,
    verdict_of,
)
from tablewright.plan.writes.effect import Audit
from tablewright.plan.writes.guard import key_text, rejection
from tablewright.values import Item

E = TypeVar("E")
T_co = TypeVar("T_co", covariant=True)
#: The result in a transaction, of which DynamoDB returns nothing.
R_co = TypeVar("R_co", covariant=True, default=Any)

#: For writes that found a change since they read. A write stops after about eight seconds: with
#: 30 attempts, 16 threads that all update one item at 10 ms latency succeed.
CONTENTION = Backoff(attempts=30, first=0.01, longest=0.64)
#: What DynamoDB says of a path whose parent does not exist.
INVALID_PATH = "document path provided in the update expression is invalid"
PARENT_MISSING = "the parent path does not exist"
NOT_WRITTEN = "nothing was written"


class IsEntity(Protocol):
    """An instance of an entity's class; this layer does not know the class itself."""

    __entity__: ClassVar[EntityMap]


class IsRewritable(IsEntity, Protocol):
    """An instance of an entity that, for type checkers, is not write-once."""

    __write_once__: ClassVar[Literal[False]]


Stored = TypeVar("Stored", bound=IsEntity)
Rewritable = TypeVar("Rewritable", bound=IsRewritable)


def entity_of(instance: Any) -> EntityMap:
    """Return the compiled entity of an instance."""
    entity = getattr(type(instance), "__entity__", None)
    if not isinstance(entity, EntityMap):
        by_key = "; for a key, write Order.primary(…).update(…) or .delete()"
        raise DeclarationError(
            f"{instance!r} is not an entity; pass an instance, such as Order(order_id=…)"
            f"{by_key if isinstance(instance, Plan) else ''}"
        )
    return entity


def refuse_write_once(entity: EntityMap, verb: str) -> None:
    """Raise DeclarationError for a write that could change a write-once entity."""
    for kind in entity.kinds:
        if kind.is_write_once:
            raise DeclarationError(
                f"{kind.name} is write-once, so {verb} is not allowed; use create(…), which never "
                "overwrites"
            )


def refuse_undeletable(entity: EntityMap, verb: str) -> None:
    """Raise DeclarationError for a delete of a write-once entity that does not allow it."""
    for kind in entity.kinds:
        if not kind.is_deletable:
            raise DeclarationError(
                f"{kind.name} is write-once, so {verb} is not allowed; to allow deletes, declare "
                f"class {kind.name}(…, deletable=True)"
            )


class Write(Plan[T_co], Generic[T_co, R_co]):
    """A write, alone or in `transact(…)`."""

    #: The key of its item before the write.
    _key: Item
    _conditions: tuple[Condition[Any], ...] = ()
    _by: Any = None
    _reason: Any = None
    #: The function that made it, for messages.
    _verb = "write"
    #: Whether its result is the entity as it was before, and whether it reads it for that.
    _returns_old = False
    _reads_old = False

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        """Read what has to be known, and return the actions.

        `alone`: there are no other writes in the same transaction. Raises RetryWrite if an item
        has changed meanwhile, WriteRejected if the write cannot succeed.
        """
        raise NotImplementedError

    def _prepare_after(
        self, earlier: Sequence[Prepared], context: Context, attempt: int, *, alone: bool
    ) -> Steps[Prepared]:
        """Prepare itself, knowing what the writes before it in the transaction will do."""
        return self._prepare(context, attempt, alone=alone)

    def _reading(self) -> Self:
        """Return the same write, which knows what it leaves behind before it is sent."""
        return self

    def _steps(self, context: Context) -> Steps[T_co]:
        results = yield from commit((self,), context)
        return results[0]  # type: ignore[no-any-return]

    def _in_transaction(self) -> Self:
        """Return the write as a part of a transaction, of which DynamoDB returns nothing."""
        return self._replace(_reads_old=True)._reading() if self._returns_old else self

    def _with_condition(self, condition: Condition[Any]) -> Self:
        check_condition(condition, self._entity)
        return self._replace(_conditions=(*self._conditions, *condition.parts()))

    def _audit(self, context: Context) -> Audit:
        return Audit(context.clock(), self._by, self._reason)


class Rewrite(Write[E, R_co], Generic[E, R_co]):
    """A write that may change an entity that exists."""

    def condition(self, condition: Condition[E]) -> Self:
        """Write only if the condition holds for the stored item."""
        return self._with_condition(condition)

    def audit(self, *, by: Any = None, reason: Any = None) -> Self:
        """Record who changes the entity and why, in its history."""
        return self._replace(_by=by, _reason=reason)


# -- commit ---------------------------------------------------------------------------------------


def commit(writes: Sequence[Write[Any]], context: Context) -> Steps[list[Any]]:
    """Apply all of these writes or none; retry while the items that they read keep changing."""
    attempt, has_written = 0, False
    while True:
        try:
            prepared = yield from _prepare_all(writes, context, attempt)
            results = yield from _send(writes, prepared, context)
        except RetryWrite as retry:
            has_written = has_written or retry.has_written
            attempt = 1 if retry.has_written else attempt + 1
        else:
            for ready in prepared:
                if ready.finish is not None:
                    yield from ready.finish()
            return results
        done = "a part was written: run it again to continue" if has_written else NOT_WRITTEN
        yield from wait_for_writers(
            attempt,
            f"{_names(writes)}: other writers changed the item between read and write, "
            f"{attempt} times in a row; {done}",
        )


def wait_for_writers(attempt: int, failure: str) -> Steps[None]:
    """Wait before the next attempt of a plan; raise Contention with this message after the last."""
    delay = CONTENTION.delay(attempt)
    if delay is None:
        raise Contention(failure) from None
    yield Wait(delay)


def _prepare_all(
    writes: Sequence[Write[Any]], context: Context, attempt: int
) -> Steps[list[Prepared]]:
    """Prepare the writes; raise RetryWrite if an item has changed meanwhile."""
    prepared: list[Prepared] = []
    for position, write in enumerate(writes):
        try:
            ready = yield from write._prepare_after(
                prepared, context, attempt, alone=len(writes) == 1
            )
        except WriteRejected as error:
            raise with_position(error, writes, position) from None
        prepared.append(ready)
    return prepared


def _send(
    writes: Sequence[Write[Any]], prepared: list[Prepared], context: Context
) -> Steps[list[Any]]:
    """Send the writes as one request; return their results.

    Raise RetryWrite if an item has changed since it was read.
    """
    actions: list[Action] = []
    for position, ready in enumerate(prepared):
        for action in ready.actions:
            action.write = position
            actions.append(action)
    if len(writes) > 1 or len(actions) > 1:
        actions = merge(actions)
        _check_limits(writes, actions)
    returned: Item | None = None
    maybe_applied = False
    try:
        if len(actions) == 1:
            returned = yield from send_one(actions[0], context, prepared[actions[0].write].returns)
        elif actions:
            yield from send_transaction(actions, context)
    except ConditionalCheckFailedException as fault:
        verdict, failed = actions[0].verdict(fault.item), 0
        maybe_applied = fault.maybe_applied
        if verdict is None and maybe_applied:  # the change since the read may be its own
            error = EndpointUnavailable(f"{_names(writes)}: the item has changed since it was read")
            error.maybe_applied = True
            raise error from fault
    except ValidationException as fault:
        if INVALID_PATH not in str(fault):
            raise
        entity, key = writes[actions[0].write]._entity, actions[0].key
        verdict, failed = rejection(ConditionFailed, entity, key, None, PARENT_MISSING), 0
    except TransactionCanceledException as fault:
        verdict, failed = verdict_of(actions, fault)
    else:
        return [ready.result(returned) for ready in prepared]
    if isinstance(verdict, NothingToDo):
        if len(writes) == 1:
            return [verdict.result]
        verdict = verdict.error
    if verdict is None:
        raise RetryWrite from None
    rejected = with_position(verdict, writes, actions[failed].write)
    rejected.maybe_applied = maybe_applied
    raise rejected from None


def _check_limits(writes: Sequence[Write[Any]], actions: list[Action]) -> None:
    if len(actions) > MAX_TRANSACTION_ACTIONS:
        raise InvalidValue(
            f"{_names(writes)}: {len(actions)} actions, with sentinels, history and counters; "
            f"DynamoDB allows at most {MAX_TRANSACTION_ACTIONS} in one transaction"
        )
    seen: dict[tuple[str, bytes], int] = {}
    for action in actions:
        identity = action.identity
        if identity in seen:
            raise InvalidValue(
                f"writes {seen[identity] + 1} and {action.write + 1} of {_names(writes)} change or "
                f"check the same item, {key_text(action.key)}; DynamoDB allows one action on an "
                "item"
            )
        seen[identity] = action.write
    if len(actions) * MAX_ITEM_SIZE <= MAX_TRANSACTION_SIZE:
        return  # whatever their sizes
    size = transaction_size(actions)
    if size > MAX_TRANSACTION_SIZE:
        raise InvalidValue(
            f"{_names(writes)}: {size:,} bytes; DynamoDB allows at most "
            f"{MAX_TRANSACTION_SIZE:,} in one transaction"
        )


def with_position(error: WriteRejected, writes: Sequence[Write[Any]], owner: int) -> WriteRejected:
    """Say in the error which of several writes it is about, and return it."""
    if len(writes) == 1:
        return error
    write = writes[owner]
    position = f"write {owner + 1} of {len(writes)}, {write._verb} {write._entity.name}"
    error.args = (f"{position}: {error}",)
    return error


def _names(writes: Sequence[Write[Any]]) -> str:
    """Render writes for a message: `put Order`, or `transact(put Order, …)`."""
    named = [f"{write._verb} {write._entity.name}" for write in writes]
    if len(named) == 1:
        return named[0]
    return f"transact({', '.join(named[:3])}{', …' * (len(named) > 3)})"


# -- shapes ---------------------------------------------------------------------------------------


def write_shape(
    entity: EntityMap,
    operation: str,
    key: KeyCondition,
    *,
    reads: bool = False,
    indexes: Iterable[IndexKeys] = (),
    more_rows: int = 0,
    conditions: Iterable[Condition[Any]] = (),
    sets: Iterable[facts.Assignment] = (),
    requires: Iterable[facts.Requirement] = (),
    sides: Sequence[Shape] = (),
    optional: Sequence[Shape] = (),
    branches: Iterable[str] = (),
) -> Shape:
    """Return the shape of a write of one item, with its index rows and side items.

    `operation` is that of the write without side items; `indexes` are those whose keys it sets, and
    `more_rows` is how many index rows it deletes. Side items without units, and the `optional`
    ones, are those that only some of the writes have. `branches` are the operations that may write
    the item instead, after it was read.
    """
    typical = sum(side.write_units > 0 for side in sides)
    factor = TRANSACTION_FACTOR if typical else 1
    largest = facts.item_write(entity.index_rows)
    own = Shape(
        action_name(operation) if typical else operation,
        (entity.table,),
        (entity,),
        tuple(each.index for each in indexes if each.index is not None),
        (key,),
        extent=facts.Actions(1),
        filters=tuple(conditions),
        write_units=write_units(entity, more_rows) * factor,
        write_range=largest * factor,
        assignments=tuple(sets),
        requirements=tuple(requires),
    )
    names = map(action_name, branches) if typical else branches
    own = replace(own, branches=tuple(replace(own, operation=name) for name in names))
    others = (*sides, *optional)
    most = facts.total([largest, *(side.write_range for side in others)])
    whole = replace(
        own,
        operation="TransactWriteItems" if typical else operation,
        extent=facts.Actions(1 + typical),
        write_units=own.write_units + sum(side.write_units for side in sides),
        write_range=facts.UnitRange(1, most.high + (largest.high if others else 0)),
    )
    if reads:
        read = item_shape(entity, key.equal)
        # An entity that was never stored is not read.
        read = replace(read, read_units=1, read_range=facts.UnitRange(0, facts.ITEM_READ))
        whole = replace(whole, read_units=read.read_units, read_range=read.read_range)
        return replace(whole, steps=(read, own, *sides))
    return replace(whole, steps=(own, *sides)) if typical else whole


def write_units(entity: EntityMap, more_rows: int = 0) -> float:
    """Estimate the units of a write of an item and its index rows."""
    return capacity.write_units(typical_size(entity)) * (1 + entity.index_rows + more_rows)


def side_shapes(
    entity: EntityMap,
    declared: Iterable[UniqueMap | HistoryMap],
    *kinds: str,
    is_typical: bool = True,
    may_be_own: bool = True,
) -> list[Shape]:
    """Return the actions of these kinds on sentinels of unique values, and on events.

    `is_typical`: a typical write has them. `may_be_own`: the entity may have reserved a value
    before.
    """
    shapes: list[Shape] = []
    for each in declared:
        if isinstance(each, UniqueMap):
            target: facts.Target = each
            key, rows = each.key, entity.table.index_rows({kept.stored for kept in each.keeps})
            absent = facts.Absent(entity if may_be_own else None)
        else:
            target, key = each.event, each.event.primary
            rows, absent = each.event.index_rows, facts.Absent()
        for kind in kinds:
            shape = Shape(
                kind,
                (entity.table,),
                (target,),
                keys=(key.symbolic(),),
                extent=facts.Actions(1),
                write_units=is_typical * (1 + rows) * TRANSACTION_FACTOR,
                write_range=facts.UnitRange(0, facts.item_write(rows).high * TRANSACTION_FACTOR),
                requirements=(absent,) if kind == "Put" else (),
            )
            shapes.append(shape)
    return shapes


def changed_sides(
    entity: EntityMap, uniques: Iterable[UniqueMap], histories: Iterable[HistoryMap]
) -> list[Shape]:
    """Return the actions on the side items of values that change."""
    return [*side_shapes(entity, uniques, "Delete", "Put"), *side_shapes(entity, histories, "Put")]


def of_base(base: EntityMap, shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a write through a base: that of the kind with the most to write."""
    return replace(max(shapes, key=lambda each: each.write_range.high), targets=(base,))


def composed(keys: Iterable[IndexKeys]) -> list[IndexKeys]:
    """Return the index keys that a write sets: those that are not attributes themselves."""
    return [key for key in keys if key.composed]
