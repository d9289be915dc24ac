"""Traces: what each call of an access pattern consumes, item by item.

    checks of the design ──▶ verify ──▶ requests ──▶ Recorder ──▶ the engine
                                                        │
                                   the items that each one reads and writes, before and after
                                                        ▼
                                          PatternCall(pattern, consumed=[Consumption, …])

The checks of a design call its patterns with real arguments on its sample data. So a trace contains
the reads before a write, the sentinels, the events of histories and the transactions that a call
really has. A call that is expected to fail is recorded as refused, if it sends a request: DynamoDB
charges a write whose condition fails.

This module must not know rates or prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import (
    ConditionalCheckFailedException,
    InvalidValue,
    TransactionCanceledException,
)
from tablewright.mapping.table import TableMap
from tablewright.model.database import Database
from tablewright.publish.cost.units import Consumption, item_write, page_read, unchanged_item
from tablewright.transport import Response, Transport
from tablewright.values import Item
from tablewright.verify.checks import Check, Raises, Stored
from tablewright.verify.design import Design
from tablewright.verify.run import verify
from tablewright.wire.operations import OPERATIONS, Operation
from tablewright.wire.touches import Named, Touch, whole_page

EVENTUAL, CONSISTENT = 0.5, 1
#: The reason of the units of a write whose condition fails.
REFUSED = "refused: a condition fails"


class PatternCall(Struct, frozen=True):
    """What a check called, and what that consumed."""

    #: The pattern with its module, as in `AccessPattern.label`.
    pattern: str
    #: The operations of its requests.
    operations: tuple[str, ...]
    consumed: tuple[Consumption, ...]
    #: How many calls it stands for: the pages of a query, each of which is a call.
    count: int = 1
    #: Whether it was refused, as the check expects.
    is_refused: bool = False


class Recorder:
    """A transport that records what each request consumes.

    It reads the items of a request before and after it, so it works on local targets only.
    """

    def __init__(self, transport: Transport, tables: Mapping[str, TableMap]) -> None:
        self.transport = transport
        #: The tables, by the names that requests use.
        self.tables = tables
        self.operations: list[str] = []
        self.consumed: list[Consumption] = []

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        row = OPERATIONS[operation]
        touched = list(row.touched(request)) if row.touched else []
        writes = [touch for touch in touched if touch.access != "read"]
        keys = [(touch.table, self._key(touch)) for touch in writes]
        before = [self._read(*key) for key in keys]
        reads = [self._page(touch, row) for touch in touched if touch.access == "read"]
        self.operations.append(operation)
        in_transaction = row.is_transaction
        try:
            response = self.transport.send(operation, request)
        except (ConditionalCheckFailedException, TransactionCanceledException):
            # DynamoDB charges it for the stored items; the plan may try again.
            self.consumed += [
                unchanged_item(
                    self.tables[name], key, old, transaction=in_transaction, reason=REFUSED
                )
                for (name, key), old in zip(keys, before, strict=True)
            ]
            raise
        self.consumed += reads
        for touch, (name, key), old in zip(writes, keys, before, strict=True):
            table = self.tables[name]
            if touch.access == "check":
                self.consumed.append(
                    unchanged_item(table, key, old, transaction=True, reason="condition check")
                )
            else:
                new = self._read(name, key)
                self.consumed += item_write(table, key, old, new, transaction=in_transaction)
        return response

    def close(self) -> None:
        """Do nothing: the owner closes the transport."""

    def drain(self) -> tuple[tuple[str, ...], tuple[Consumption, ...]]:
        """Return the operations and what they consumed since the last call."""
        operations, consumed = tuple(self.operations), tuple(self.consumed)
        self.operations, self.consumed = [], []
        return operations, consumed

    def _key(self, touch: Touch) -> Item:
        assert isinstance(touch.what, Named)
        return self.tables[touch.table].key(touch.what.item)

    def _read(self, name: str, key: Item) -> Item | None:
        request = {"TableName": name, "Key": key, "ConsistentRead": True}
        item: Item | None = self._ask("GetItem", request).get("Item")
        return item

    def _ask(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.json.decode(self.transport.send(operation, request).body)
        return answer

    def _page(self, touch: Touch, row: Operation) -> Consumption:
        """Return what reading an item, or a page, consumes."""
        if isinstance(touch.what, Named):
            item = self._read(touch.table, self._key(touch))
            items = [] if item is None else [item]
        else:
            items = self._ask(touch.kind, whole_page(touch.part))["Items"]
        factor = CONSISTENT if touch.part.get("ConsistentRead") else EVENTUAL
        if row.is_transaction:
            factor = TRANSACTION_FACTOR
        table = self.tables[touch.table]
        return page_read(table, touch.index, items, factor=factor, reason=row.name)


def trace(design: Design, database: Database) -> list[PatternCall]:
    """Load the sample data of a design, run its checks, and return the calls of its patterns.

    A design without sample data or checks has none. Raise InvalidValue if a check fails.
    """
    if design.checks is None:
        return []
    checks, seen = design.checks, list[Check]()

    def remembered(stored: Stored) -> Iterator[Check]:
        for check in checks(stored):
            seen.append(check)
            yield check

    context = database._context
    recorder = Recorder(database._transport, {name: table for table, name in context.names.items()})
    through = Database(recorder, context, database._tables)
    watched = msgspec.structs.replace(design, checks=remembered)
    calls: list[PatternCall] = []
    for result in verify(watched, database, through=through):
        if not result.ok:
            raise InvalidValue(
                f"{design.name}: the check {result.check!r} fails, so its cost is not known; "
                f"`tablewright verify {design.name}` shows why"
            )
        operations, consumed = recorder.drain()
        check = seen[-1]
        refused = isinstance(check.expect, Raises)
        if result.label and (operations or not refused):
            calls.append(PatternCall(result.label, operations, consumed, check.pages, refused))
    return calls
