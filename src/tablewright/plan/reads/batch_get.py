"""Batch get: many items by their keys, in as few requests as possible.

db.run(batch_get([Order.primary("C1", "O1"), Order.primary("C1", "O2")]))   list[Order | None]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Self, TypeVar

import msgspec

from tablewright.backoff import Backoff
from tablewright.errors import Contention, DeclarationError
from tablewright.limits import MAX_BATCH_GET_KEYS
from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.reads.get import Get
from tablewright.plan.shape import Shape
from tablewright.plan.units import total
from tablewright.values import Item

E = TypeVar("E")

#: For batches of which DynamoDB processed nothing.
UNPROCESSED = Backoff(attempts=10, first=0.1, longest=10.0)


def batch_get(gets: Iterable[Get[E]]) -> BatchGet[E]:
    """Read many items by their keys, in as few requests as possible; results keep the order."""
    if isinstance(gets, Get):
        raise DeclarationError("batch_get() takes many keys: batch_get([Order.primary(…), …])")
    return BatchGet(tuple(gets))


class BatchGet(Plan[list[E | None]], Generic[E]):
    """Items by their keys, in the order of the keys; None for those that do not exist."""

    def __init__(self, gets: tuple[Get[E], ...]) -> None:
        self._gets = gets
        self._is_consistent = False

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_is_consistent=True)

    def _steps(self, context: Context) -> Steps[list[E | None]]:
        wanted: dict[tuple[str, bytes], tuple[str, Item]] = {}
        for get in self._gets:
            name = context.name_of(get._entity.table)
            wanted[name, _identity(get._key)] = (name, get._key)
        queue = list(wanted.values())
        found: dict[tuple[str, bytes], Item] = {}
        failures = 0
        if queue:
            context.check(Request("BatchGetItem", self._body(queue)))
        while queue:
            sent, queue = queue[:MAX_BATCH_GET_KEYS], queue[MAX_BATCH_GET_KEYS:]
            answer = msgspec.json.decode((yield Request("BatchGetItem", self._body(sent))))
            for name, items in answer["Responses"].items():
                table = next(table for table in context.names if context.names[table] == name)
                for item in items:
                    found[name, _identity(table.key(item))] = item
            unprocessed = [
                (name, key)
                for name, keys in answer["UnprocessedKeys"].items()
                for key in keys["Keys"]
            ]
            if unprocessed:
                queue += unprocessed
                failures = 0 if len(unprocessed) < len(sent) else failures + 1
                yield from wait_for_capacity("BatchGetItem", failures)
        return [self._decode(get, found, context.name_of(get._entity.table)) for get in self._gets]

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(get._entity for get in self._gets))

    def _body(self, keys: list[tuple[str, Item]]) -> dict[str, Any]:
        tables: dict[str, dict[str, Any]] = {}
        for name, key in keys:
            tables.setdefault(name, {"Keys": []})["Keys"].append(key)
        if self._is_consistent:
            for table in tables.values():
                table["ConsistentRead"] = True
        return {"RequestItems": tables}

    def _decode(self, get: Get[E], found: dict[tuple[str, bytes], Item], name: str) -> E | None:
        item = found.get((name, _identity(get._key)))
        return None if item is None else get._entity.decode_kind(item)

    def _shape(self) -> Shape:
        if not self._gets:
            return Shape(operation="BatchGetItem", table="", entity="")
        first = self._gets[0]._shape()
        return Shape(
            operation="BatchGetItem",
            table=first.table,
            entity=first.entity,
            condition=first.condition,
            page=f"{MAX_BATCH_GET_KEYS} in a request",
            read_units=sum(get._shape().read_units for get in self._gets),
            read_range=total([get._shape().read_range for get in self._gets]),
        )


def _identity(key: Item) -> bytes:
    return msgspec.json.encode(key, order="deterministic")


def wait_for_capacity(operation: str, failures: int) -> Steps[None]:
    """Wait after a batch of which nothing was processed, `failures` times in a row.

    Raises Contention after the last attempt. Does not wait if there was progress.
    """
    if failures == 0:
        return
    delay = UNPROCESSED.delay(failures)
    if delay is None:
        raise Contention(
            f"{operation}: DynamoDB processed nothing in {failures} attempts; the table is "
            "throttled, and a part of the batch is not done"
        )
    yield Wait(delay)
