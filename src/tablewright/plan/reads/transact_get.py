"""Transact get: several items by their keys, as they are at one moment.

db.run(transact_get(Order.primary("C1", "O1"), Customer.primary("C1")))
                                                        tuple[Order | None, Customer | None]

One TransactGetItems. DynamoDB cancels it if another transaction is writing to one of the items; it
is then sent again. Each read costs twice the units of a consistent one.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

import msgspec
from msgspec import Struct

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import (
    Contention,
    InvalidValue,
    TransactionCanceledException,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.mapping.entity import EntityMap
from tablewright.plan.facts import Paging
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.reads.batch_get import check_keys, item_identity, keys_range
from tablewright.plan.reads.get import Get
from tablewright.plan.reads.item import ItemAnswer
from tablewright.plan.shape import Shape, distinct
from tablewright.plan.writes.action import TRANSIENT
from tablewright.plan.writes.commit import CONTENTION

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")


class _Answer(Struct, rename="pascal"):
    responses: list[ItemAnswer]


_decode = msgspec.json.Decoder(_Answer).decode


class TransactGet(Plan[T], Generic[T]):
    """Items by their keys, read at one moment; a tuple in the order of the keys."""

    def __init__(self, gets: tuple[Get[Any], ...]) -> None:
        self._gets = gets

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(get._entity for get in self._gets))

    def _steps(self, context: Context) -> Steps[T]:
        # DynamoDB rejects a transaction with the same item twice.
        actions: dict[tuple[str, bytes], dict[str, Any]] = {}
        places = []
        for get in self._gets:
            name = context.name_of(get._entity.table)
            place = (name, item_identity(get._key))
            places.append(place)
            actions[place] = {"Get": {"TableName": name, "Key": get._key}}
        request = Request("TransactGetItems", {"TransactItems": list(actions.values())})
        attempt = 0
        while True:
            try:
                answer = _decode((yield request))
                break
            except TransactionCanceledException as fault:
                if not any(reason["Code"] in TRANSIENT for reason in fault.reasons):
                    raise
            attempt += 1
            delay = CONTENTION.delay(attempt)
            if delay is None:
                raise Contention(
                    f"transact_get(): other transactions wrote to the items, {attempt} times in a "
                    "row; nothing was read"
                )
            yield Wait(delay)
        found = {
            place: response.item for place, response in zip(actions, answer.responses, strict=True)
        }
        results: Any = tuple(
            None if (item := found[place]) is None else get._entity.decode_kind(item)
            for get, place in zip(self._gets, places, strict=True)
        )
        return results  # type: ignore[no-any-return]  # the overloads of transact_get() say which

    def _shape(self) -> Shape:
        steps = tuple(get.consistent()._shape() for get in self._gets)
        return Shape(
            operation="TransactGetItems",
            tables=distinct(get._entity.table for get in self._gets),
            targets=self._entities(),
            keys=tuple(step.keys[0] for step in steps),
            extent=Paging(len(steps)),
            read_units=TRANSACTION_FACTOR * sum(step.read_units for step in steps),
            read_range=keys_range(self._gets, steps) * TRANSACTION_FACTOR,
        )


@overload
def transact_get(a: Get[A], /) -> TransactGet[tuple[A | None]]: ...
@overload
def transact_get(a: Get[A], b: Get[B], /) -> TransactGet[tuple[A | None, B | None]]: ...
@overload
def transact_get(
    a: Get[A], b: Get[B], c: Get[C], /
) -> TransactGet[tuple[A | None, B | None, C | None]]: ...
@overload
def transact_get(
    a: Get[A], b: Get[B], c: Get[C], d: Get[D], /
) -> TransactGet[tuple[A | None, B | None, C | None, D | None]]: ...
@overload
def transact_get(
    a: Get[A], b: Get[B], c: Get[C], d: Get[D], e: Get[E], /
) -> TransactGet[tuple[A | None, B | None, C | None, D | None, E | None]]: ...
@overload
def transact_get(*gets: Get[E]) -> TransactGet[tuple[E | None, ...]]: ...
@overload
def transact_get(*gets: Get[Any]) -> TransactGet[tuple[Any, ...]]: ...
def transact_get(*gets: Get[Any]) -> TransactGet[Any]:
    """Read several items by their keys as they are at one moment, in one request."""
    if not gets:
        raise InvalidValue("transact_get() needs at least one key")
    check_keys("transact_get()", gets)
    if len(gets) > MAX_TRANSACTION_ACTIONS:
        raise InvalidValue(
            f"transact_get(): {len(gets)} keys; DynamoDB reads at most {MAX_TRANSACTION_ACTIONS} "
            "in a transaction. Read fewer, or use batch_get(), which does not read at one moment"
        )
    return TransactGet(gets)
