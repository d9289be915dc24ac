"""Writes that return the entity as it was before them: `.returning("old")`.

    old = db.run(put(order).returning("old"))                       Order | None
    old = db.run(update(order, Order.status.set(PAID)).returning("old"))   Order

A write of one item gets it from the response (ReturnValues=ALL_OLD), so it costs nothing. Of a
transaction DynamoDB returns nothing: there the item is read first, and the write requires that all
of it is as it was read.

The write itself makes the result: it has `_returns_old`, and `_reads_old` in a transaction with
others. This module must not know the kinds of writes.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from tablewright.errors import InvalidValue
from tablewright.plan.plan import Context, Steps
from tablewright.plan.shape import Shape
from tablewright.plan.writes.action import Prepared
from tablewright.plan.writes.write import Write
from tablewright.values import Item

T = TypeVar("T")


class ReturningOld(Write[T, T], Generic[T]):
    """A write; its result is the entity as it was before."""

    def __init__(self, write: Write[Any]) -> None:
        self._write = write._replace(_returns_old=True)
        self._entity = write._entity
        self._verb = write._verb

    @property
    def _key(self) -> Item:  # type: ignore[override]  # that of an instance is computed
        return self._write._key

    def _with_condition(self, condition: Any) -> ReturningOld[T]:
        return self._replace(_write=self._write._with_condition(condition))

    def _in_transaction(self) -> ReturningOld[T]:
        return self._replace(_write=self._write._in_transaction())

    def _prepare(self, context: Context, attempt: int, *, alone: bool) -> Steps[Prepared]:
        return (yield from self._write._prepare(context, attempt, alone=alone))

    def _shape(self) -> Shape:
        return self._write._shape()


def returning(write: Write[Any], values: Literal["old"]) -> Any:
    """Return the write with the entity as it was before as its result."""
    if values != "old":
        raise InvalidValue(
            f"{write._verb} {write._entity.name}: returning({values!r}): expected 'old'; without "
            "it, a write returns the entity as it is after the write"
        )
    return ReturningOld(write)
