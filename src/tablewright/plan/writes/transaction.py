"""Transaction: several writes as one TransactWriteItems; all of them are applied, or none.

    order, _ = db.run(transact(create(order), Customer.primary(…).update(…)))

The result is a tuple with the result of each write. DynamoDB returns no items of a transaction, so
an update, an upsert or a delete returns its entity only if the plan has it or has read it,
otherwise None.
"""

from __future__ import annotations

from typing import Any, Generic, overload

from typing_extensions import TypeVar

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.plan.condition import Condition
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.get import Get
from tablewright.plan.shape import Shape, distinct
from tablewright.plan.units import total
from tablewright.plan.writes.commit import commit
from tablewright.plan.writes.condition_check import ConditionCheck
from tablewright.plan.writes.put import Create
from tablewright.plan.writes.write import Write

T_co = TypeVar("T_co", covariant=True, default=tuple[Any, ...])
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")


class Transaction(Plan[T_co], Generic[T_co]):
    """Several writes as one: all of them are applied, or none; returns a tuple of their results."""

    #: Checks in addition to the writes; they have no results.
    _checks: tuple[ConditionCheck[Any], ...] = ()

    def __init__(self, writes: tuple[Write[Any], ...]) -> None:
        self._writes = writes

    def _steps(self, context: Context) -> Steps[T_co]:
        done = yield from commit((*self._writes, *self._checks), context)
        results: Any = tuple(done[: len(self._writes)])
        return results  # type: ignore[no-any-return]  # the overloads of transact() say which

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(write._entity for write in (*self._writes, *self._checks)))

    def _shape(self) -> Shape:
        steps = tuple(write._shape() for write in (*self._writes, *self._checks))
        return Shape(
            operation="TransactWriteItems",
            tables=distinct(table for step in steps for table in step.tables),
            targets=distinct(target for step in steps for target in step.targets),
            read_units=sum(step.read_units for step in steps),
            write_units=sum(step.write_units * step.transaction_factor for step in steps),
            read_range=total(
                step.read_range.for_each() if step.is_for_each else step.read_range
                for step in steps
            ),
            write_range=total(
                step.in_transaction.for_each() if step.is_for_each else step.in_transaction
                for step in steps
            ),
            steps=steps,
        )


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
