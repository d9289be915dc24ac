"""Transaction: several writes as one TransactWriteItems; all of them are applied, or none.

db.run(transact(create(order), update(customer, Customer.orders.increment(1))))
"""

from __future__ import annotations

from typing import Any

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.shape import Shape
from tablewright.plan.units import total
from tablewright.plan.writes.commit import commit
from tablewright.plan.writes.write import Write


class Transaction(Plan[None]):
    """Several writes as one: all of them are applied, or none."""

    def __init__(self, writes: tuple[Write[Any], ...]) -> None:
        self._writes = writes

    def _steps(self, context: Context) -> Steps[None]:
        yield from commit(self._writes, context)

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(write._entity for write in self._writes))

    def _shape(self) -> Shape:
        steps = tuple(write._shape() for write in self._writes)
        return Shape(
            operation="TransactWriteItems",
            table=", ".join(dict.fromkeys(step.table for step in steps)),
            entity=", ".join(dict.fromkeys(step.entity for step in steps)),
            read_units=sum(step.read_units for step in steps),
            write_units=sum(  # those that are transactions by themselves count double already
                step.write_units * (1 if step.operation == "TransactWriteItems" else 2)
                for step in steps
            ),
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


def transact(*writes: Write[Any]) -> Transaction:
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
