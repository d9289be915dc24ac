"""Get: one item by its key, or many in batches.

db.run(Order.primary("C1", "O1"))                                    Order | None
db.run(batch_get([Order.primary("C1", "O1"), Order.primary("C1", "O2")]))   list[Order | None]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct

from tablewright.backoff import Backoff
from tablewright.errors import Contention, DeclarationError
from tablewright.limits import MAX_BATCH_GET_KEYS
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.shape import Shape, key_condition, read_units, typical_size
from tablewright.plan.single import Single
from tablewright.values import Item

E = TypeVar("E")

#: For batches of which DynamoDB processed nothing.
UNPROCESSED = Backoff(attempts=10, first=0.1, longest=10.0)


class _Got(Struct, rename="pascal"):
    item: Item | None = None


decode_got = msgspec.json.Decoder(_Got).decode


class Fetch(Single[E], Generic[E]):
    """The item with one key."""

    _is_consistent = False

    def __init__(self, entity: EntityMap, arguments: tuple[Any, ...]) -> None:
        self._entity = entity
        self._arguments = arguments
        self._key = key_from(entity.primary, arguments)

    def consistent(self) -> Self:
        """Read what was written last, at twice the units."""
        return self._replace(_is_consistent=True)

    def _steps(self, context: Context) -> Steps[E | None]:
        body: dict[str, Any] = {"TableName": context.name_of(self._entity.table), "Key": self._key}
        if self._is_consistent:
            body["ConsistentRead"] = True
        found: E | None = self._entity.decode_get((yield Request("GetItem", body)))
        return found

    def _shape(self) -> Shape:
        return Shape(
            operation="GetItem",
            table=self._entity.table.name,
            entity=self._entity.name,
            condition=key_condition(self._key),
            page="1",
            read_units=read_units(typical_size(self._entity), consistent=self._is_consistent),
        )


def key_from(primary: KeyMap, arguments: tuple[Any, ...]) -> Item:
    """The key of the table, from the arguments of a call."""
    if len(arguments) != len(primary.parameters):
        primary.check_arguments(arguments, complete=True)
    partition, sort = primary.attributes
    key = {partition: primary.partition_value(arguments)}
    if sort is not None:
        key[sort] = primary.sort_value(arguments)
    return key


def batch_get(fetches: Iterable[Fetch[E]]) -> BatchGet[E]:
    """Many items by their keys, in as few requests as can be; results in the same order."""
    if isinstance(fetches, Fetch):
        raise DeclarationError("batch_get() takes many keys: batch_get([Order.primary(…), …])")
    return BatchGet(tuple(fetches))


class BatchGet(Plan[list[E | None]], Generic[E]):
    """Items by their keys, in the order asked for; None for those that are not there."""

    def __init__(self, fetches: tuple[Fetch[E], ...]) -> None:
        self._fetches = fetches
        self._is_consistent = False

    def consistent(self) -> Self:
        return self._replace(_is_consistent=True)

    def _steps(self, context: Context) -> Steps[list[E | None]]:
        wanted: dict[tuple[str, bytes], tuple[str, Item]] = {}
        for fetch in self._fetches:
            name = context.name_of(fetch._entity.table)
            wanted[name, _identity(fetch._key)] = (name, fetch._key)
        queue = list(wanted.values())
        found: dict[tuple[str, bytes], Item] = {}
        failures = 0
        if queue:
            context.check(Request("BatchGetItem", self._body(queue)))
        while queue:
            asked, queue = queue[:MAX_BATCH_GET_KEYS], queue[MAX_BATCH_GET_KEYS:]
            answer = msgspec.json.decode((yield Request("BatchGetItem", self._body(asked))))
            for name, items in answer["Responses"].items():
                table = next(table for table in context.names if context.names[table] == name)
                for item in items:
                    found[name, _identity(table.key(item))] = item
            left = answer["UnprocessedKeys"]
            if left:
                again = [(name, key) for name, asked in left.items() for key in asked["Keys"]]
                queue += again
                failures = 0 if len(again) < len(asked) else failures + 1
                yield from wait_for_capacity("BatchGetItem", failures)
        return [
            self._decoded(fetch, found, context.name_of(fetch._entity.table))
            for fetch in self._fetches
        ]

    def _entities(self) -> tuple[EntityMap, ...]:
        return tuple(dict.fromkeys(fetch._entity for fetch in self._fetches))

    def _body(self, asked: list[tuple[str, Item]]) -> dict[str, Any]:
        tables: dict[str, dict[str, Any]] = {}
        for name, key in asked:
            tables.setdefault(name, {"Keys": []})["Keys"].append(key)
        if self._is_consistent:
            for table in tables.values():
                table["ConsistentRead"] = True
        return {"RequestItems": tables}

    def _decoded(
        self, fetch: Fetch[E], found: dict[tuple[str, bytes], Item], name: str
    ) -> E | None:
        item = found.get((name, _identity(fetch._key)))
        return None if item is None else fetch._entity.decode(item)

    def _shape(self) -> Shape:
        if not self._fetches:
            return Shape(operation="BatchGetItem", table="", entity="")
        first = self._fetches[0]._shape()
        return Shape(
            operation="BatchGetItem",
            table=first.table,
            entity=first.entity,
            condition=first.condition,
            page=f"{MAX_BATCH_GET_KEYS} in a request",
            read_units=sum(fetch._shape().read_units for fetch in self._fetches),
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
