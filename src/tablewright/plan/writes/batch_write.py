"""Batch write: many puts and deletes, without conditions, in as few requests as possible.

A batch is not a transaction: some writes may be applied and others not. What DynamoDB leaves
unprocessed is sent again, until all is done. Entities that need a condition (a version, a unique
value, history) are rejected: their guarantees need a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.limits import MAX_BATCH_WRITES
from tablewright.mapping.entity import EntityMap
from tablewright.plan.facts import Batches
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.plan.reads.batch_get import wait_for_capacity
from tablewright.plan.shape import Shape
from tablewright.plan.units import total
from tablewright.plan.writes.action import Action
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.guard import key_text
from tablewright.plan.writes.put import Put
from tablewright.plan.writes.write import Write
from tablewright.values import Item


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
        queue: list[tuple[str, dict[str, Any]]] = []
        results: list[Callable[[Item | None], Any]] = []
        seen: set[tuple[str, bytes]] = set()
        for write in self._writes:
            prepared = yield from write._prepare(context, 0, alone=False)
            (action,) = prepared.actions
            name = context.name_of(action.table)
            if action.identity in seen:
                raise InvalidValue(
                    f"batch_write(): two writes have the same key, {key_text(action.key)}; a "
                    "batch has no order, so keep one of them"
                )
            seen.add(action.identity)
            queue.append((name, {f"{action.kind}Request": action.body}))
            results.append(prepared.result)
        yield from _send_all(queue, context)
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
            extent=Batches(MAX_BATCH_WRITES),
            write_units=sum(shape.write_units for shape in shapes),
            write_range=total(
                shape.write_range.for_each() if shape.is_for_each else shape.write_range
                for shape in shapes
            ),
        )


def send_batch(actions: Iterable[Action], context: Context) -> Steps[None]:
    """Send puts and deletes without conditions."""
    queue = [
        (context.name_of(action.table), {f"{action.kind}Request": action.body})
        for action in actions
    ]
    yield from _send_all(queue, context)


def _send_all(queue: list[tuple[str, dict[str, Any]]], context: Context) -> Steps[None]:
    """Send writes in batches, until DynamoDB has processed all of them."""
    if queue:
        context.check(_request(queue))
    failures = 0
    while queue:
        sent, queue = queue[:MAX_BATCH_WRITES], queue[MAX_BATCH_WRITES:]
        answer = yield _request(sent)
        unprocessed = [
            (name, write)
            for name, writes in msgspec.json.decode(answer)["UnprocessedItems"].items()
            for write in writes
        ]
        if unprocessed:
            queue += unprocessed
            failures = 0 if len(unprocessed) < len(sent) else failures + 1
            yield from wait_for_capacity("BatchWriteItem", failures)


def _request(writes: list[tuple[str, dict[str, Any]]]) -> Request:
    tables: dict[str, list[dict[str, Any]]] = {}
    for name, write in writes:
        tables.setdefault(name, []).append(write)
    return Request("BatchWriteItem", {"RequestItems": tables})


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
        "immutable attributes": bool(entity.immutable) and isinstance(write, Put),
    }
    for reason, holds in reasons.items():
        if holds:
            raise DeclarationError(
                f"batch_write() cannot {write._verb} {entity.name}: it has {reason}, and "
                "DynamoDB's batches have no conditions; use transact()"
            )
