"""Several writes: all of them or none, or in batches.

    order, _ = db.run(transact(create(order), Customer.primary(…).update(…)))
    transact(create(ingredient), condition_check(Category.primary(ingredient.category_id)))
    db.run(batch_write([put(order), delete(other)]))

A transaction is one TransactWriteItems. Its result is a tuple with the result of each write.
DynamoDB returns no items of a transaction, so an update, an upsert or a delete returns its entity
only if the plan has it or has read it, otherwise None. `condition_check` is an item that must
exist, and meet conditions, for a transaction to succeed.

A batch has puts and deletes without conditions: some may be applied and others not. What DynamoDB
leaves unprocessed is sent again, until all is done. Entities that need a condition (a version, a
unique value, history) are rejected: their guarantees need a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, overload

from typing_extensions import TypeVar

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.limits import MAX_BATCH_WRITES
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan import facts
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.several import send_batches
from tablewright.plan.reference import check_condition
from tablewright.plan.shape import Shape, shape_of
from tablewright.plan.writes.action import Action, Prepared
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.guard import Guard, key_text
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.write import Write, commit
from tablewright.values import Item

T_co = TypeVar("T_co", covariant=True, default=tuple[Any, ...])
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")


# -- all or none ----------------------------------------------------------------------------------


@overload
def transact(a: Write[object, A], /) -> Transaction[tuple[A]]: ...


@overload
def transact(a: Write[object, A], b: Write[object, B], /) -> Transaction[tuple[A, B]]: ...


@overload
def transact(
    a: Write[object, A], b: Write[object, B], c: Write[object, C], /
) -> Transaction[tuple[A, B, C]]: ...


@overload
def transact(
    a: Write[object, A], b: Write[object, B], c: Write[object, C], d: Write[object, D], /
) -> Transaction[tuple[A, B, C, D]]: ...


@overload
def transact(
    a: Write[object, A],
    b: Write[object, B],
    c: Write[object, C],
    d: Write[object, D],
    e: Write[object, E],
    /,
) -> Transaction[tuple[A, B, C, D, E]]: ...


@overload
def transact(*writes: Write[object, E]) -> Transaction[tuple[E, ...]]: ...


@overload
def transact(*writes: Write[Any]) -> Transaction[tuple[Any, ...]]: ...


def transact(*writes: Write[Any]) -> Transaction[Any]:
    """Apply several writes as one TransactWriteItems: all of them, or none."""
    if not writes:
        raise InvalidValue("transact() needs at least one write")
    for write in writes:
        if not isinstance(write, Write):
            raise DeclarationError(
                f"transact() takes writes (create, put, update, delete, condition_check), not "
                f"{write!r}"
            )
    return Transaction(writes)


class Transaction(Plan[T_co], Generic[T_co]):
    """Several writes as one: all of them are applied, or none; returns a tuple of their results."""

    #: Checks in addition to the writes; they have no results.
    _checks: tuple[ConditionCheck[Any], ...] = ()

    def __init__(self, writes: tuple[Write[Any], ...]) -> None:
        self._writes = tuple(write._in_transaction() for write in writes)

    def _steps(self, context: Context) -> Steps[T_co]:
        done = yield from commit((*self._writes, *self._checks), context)
        results: Any = tuple(done[: len(self._writes)])
        return results  # type: ignore[no-any-return]  # the overloads of transact() say which

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(write._entity for write in (*self._writes, *self._checks)))

    def _shape(self) -> Shape:
        return transaction_shape([write._shape() for write in (*self._writes, *self._checks)])


def transaction_shape(steps: Sequence[Shape]) -> Shape:
    """Return the shape of writes in one transaction."""
    return shape_of(
        steps,
        operation="TransactWriteItems",
        write_units=sum(step.write_units * step.transaction_factor for step in steps),
        read_range=facts.total(
            step.read_range.for_each() if step.is_for_each else step.read_range for step in steps
        ),
        write_range=facts.total(
            step.in_transaction.for_each() if step.is_for_each else step.in_transaction
            for step in steps
        ),
    )


def require(
    transaction: Transaction[A], item: Get[Any] | Write[Any], condition: Condition[Any]
) -> Transaction[A]:
    """Return the transaction with a condition on an item.

    It is a condition of the write of the item, or a check of its own: DynamoDB allows one action
    on an item.
    """
    writes = list(transaction._writes)
    for position, write in enumerate(writes):
        if write._entity.table is item._entity.table and write._key == item._key:
            if isinstance(write, Create):
                raise DeclarationError(
                    f"create {write._entity.name}: it writes only if no item exists, so the "
                    f"condition {condition!r} cannot hold; use put(…) or update(…)"
                )
            writes[position] = write._with_condition(condition)
            return transaction._replace(_writes=tuple(writes))
    check: ConditionCheck[Any] = ConditionCheck(item._entity, item._key, (condition,))
    return transaction._replace(_checks=(*transaction._checks, check))


def condition_check(item: Get[E], *conditions: Condition[E]) -> ConditionCheck[E]:
    """Let a transaction succeed only if an item exists and satisfies the conditions."""
    if not isinstance(item, Get):
        raise DeclarationError(
            f"condition_check() takes a key, such as Order.primary(…), not {item!r}"
        )
    for condition in conditions:
        check_condition(condition, item._entity)
    return ConditionCheck(item._entity, item._key, conditions)


class ConditionCheck(Write[None, None], Generic[E]):
    """Write nothing; fail if the item does not exist, or does not satisfy the conditions."""

    _verb = "condition_check"

    def __init__(
        self, entity: EntityMap, key: Item, conditions: tuple[Condition[Any], ...]
    ) -> None:
        self._entity = entity
        self._key = key
        self._conditions = conditions

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        entity, key = self._entity, self._key
        guard = Guard(entity, key, self._requirements())
        yield from ()  # it has nothing to read
        body = guard.expressions().add_to({"Key": key})
        return Prepared(
            [Action("ConditionCheck", entity.table, body, guard.verdict)], lambda _: None
        )

    def _requirements(self) -> tuple[facts.Requirement, ...]:
        return (facts.Exists(), *self._conditions)

    def _shape(self) -> Shape:
        return Shape(
            operation="ConditionCheck",
            tables=(self._entity.table,),
            targets=(self._entity,),
            keys=(KeyCondition(self._key),),
            filters=self._conditions,
            requirements=self._requirements(),
            extent=facts.Actions(1),
            write_units=TRANSACTION_FACTOR,
            write_range=facts.UnitRange(1, facts.ITEM_WRITE) * TRANSACTION_FACTOR,
        )


# -- in batches -----------------------------------------------------------------------------------


def batch_write(writes: Iterable[Put[Any] | Delete[Any]]) -> BatchWrite:
    """Send many `put` and `delete` in as few requests as possible; not all or nothing."""
    if isinstance(writes, Write):
        raise DeclarationError("batch_write() takes many writes: batch_write([put(…), delete(…)])")
    return BatchWrite(tuple(writes))


class BatchWrite(Plan[None]):
    """Puts and deletes in batches of 25."""

    def __init__(self, writes: tuple[Write[Any], ...]) -> None:
        self._writes = writes
        for write in writes:
            _check(write)

    def _steps(self, context: Context) -> Steps[None]:
        actions: dict[tuple[str, bytes], Action] = {}
        results: list[Callable[[Item | None], Any]] = []
        for write in self._writes:
            prepared = yield from write._prepare(context, 0, alone=False)
            (action,) = prepared.actions
            if action.identity in actions:
                raise InvalidValue(
                    f"batch_write(): two writes have the same key, {key_text(action.key)}; a "
                    "batch has no order, so keep one of them"
                )
            actions[action.identity] = action
            results.append(prepared.result)
        yield from send_batch(actions.values(), context)
        for result in results:
            result(None)

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(write._entity for write in self._writes))

    def _shape(self) -> Shape:
        if not self._writes:
            return Shape("BatchWriteItem", (), ())
        shapes = [write._shape() for write in self._writes]
        first = shapes[0]
        return Shape(
            operation="BatchWriteItem",
            tables=first.tables,
            targets=first.targets,
            keys=first.keys,
            extent=facts.Batches(MAX_BATCH_WRITES),
            write_units=sum(shape.write_units for shape in shapes),
            write_range=facts.total(
                shape.write_range.for_each() if shape.is_for_each else shape.write_range
                for shape in shapes
            ),
        )


def _check(write: Any) -> None:
    if not isinstance(write, (Put, Delete)):
        raise DeclarationError(
            f"batch_write() takes put(…) and delete(…), not {write!r}; use transact()"
        )
    entity = write._entity
    reasons = {
        "other variants": entity.base is not None,
        "a condition": bool(write._conditions),
        "a version": entity.version is not None,
        "unique values": bool(entity.uniques),
        "a history": bool(entity.histories),
        "counters": bool(entity.maintained),
        "a parent that counts it": bool(entity.counted),
        "immutable attributes": bool(entity.immutable) and isinstance(write, Put),
        "transitions": bool(entity.stateful) and isinstance(write, Put),
        "links to other items": bool(entity.links) and isinstance(write, Put),
        "cascades": bool(entity.cascades) and isinstance(write, Delete),
    }
    for reason, holds in reasons.items():
        if holds:
            raise DeclarationError(
                f"batch_write() cannot {write._verb} {entity.name}: it has {reason}, and "
                "DynamoDB's batches have no conditions; use transact()"
            )


def send_batch(actions: Iterable[Action], context: Context) -> Steps[None]:
    """Send puts and deletes without conditions, until DynamoDB has processed all of them."""
    queue = [
        (context.name_of(action.table), {f"{action.kind}Request": action.body})
        for action in actions
    ]
    yield from send_batches("BatchWriteItem", queue, MAX_BATCH_WRITES, list, context)
