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

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.cost.units import Consumption, item_write, page_read, unchanged_item
from tablewright.errors import (
    ConditionalCheckFailedException,
    InvalidValue,
    TransactionCanceledException,
)
from tablewright.mapping.table import TableMap
from tablewright.model.database import Database
from tablewright.transport import Response, Transport
from tablewright.values import Item
from tablewright.verify.checks import Check, Raises, Stored
from tablewright.verify.design import Design
from tablewright.verify.run import verify

EVENTUAL, CONSISTENT = 0.5, 1
#: The reason of the units of a write whose condition fails.
REFUSED = "refused: a condition fails"

_PLACEHOLDER = re.compile(r"[#:]\w+")
#: The members of a Query or Scan that decide which items it reads.
_RANGE = (
    *("TableName", "IndexName", "KeyConditionExpression", "ScanIndexForward", "Limit"),
    *("ExclusiveStartKey", "Segment", "TotalSegments"),
)
_KINDS = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}


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
        writes = list(_writes(operation, request))
        keys = [(name, self._key(name, body)) for _, name, body in writes]
        before = [self._read(*key) for key in keys]
        reads = list(self._reads(operation, request))
        self.operations.append(operation)
        in_transaction = operation == "TransactWriteItems"
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
        for (kind, name, _), (_, key), old in zip(writes, keys, before, strict=True):
            table = self.tables[name]
            if kind == "ConditionCheck":
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

    def _key(self, name: str, body: dict[str, Any]) -> Item:
        return self.tables[name].key(body.get("Key") or body["Item"])

    def _read(self, name: str, key: Item) -> Item | None:
        request = {"TableName": name, "Key": key, "ConsistentRead": True}
        item: Item | None = self._ask("GetItem", request).get("Item")
        return item

    def _ask(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.json.decode(self.transport.send(operation, request).body)
        return answer

    def _reads(self, operation: str, request: dict[str, Any]) -> Iterator[Consumption]:
        for name, key, factor in _gets(operation, request):
            item = self._read(name, self.tables[name].key(key))
            items = [] if item is None else [item]
            yield page_read(self.tables[name], None, items, factor=factor, reason=operation)
        if operation in ("Query", "Scan"):
            answer = self._ask(operation, _without_filter(request))
            yield page_read(
                self.tables[request["TableName"]],
                request.get("IndexName"),
                answer["Items"],
                factor=_factor(request),
                reason=operation,
            )


def _factor(request: dict[str, Any]) -> float:
    return CONSISTENT if request.get("ConsistentRead") else EVENTUAL


def _gets(operation: str, request: dict[str, Any]) -> Iterator[tuple[str, Item, float]]:
    """Yield the table, the key and the factor of each item that a request gets."""
    if operation == "GetItem":
        yield request["TableName"], request["Key"], _factor(request)
    elif operation == "BatchGetItem":
        for name, wanted in request["RequestItems"].items():
            for key in wanted["Keys"]:
                yield name, key, _factor(wanted)
    elif operation == "TransactGetItems":
        for action in request["TransactItems"]:
            yield action["Get"]["TableName"], action["Get"]["Key"], TRANSACTION_FACTOR


def _writes(operation: str, request: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the kind, the table and the body of each write of a request."""
    if operation in _KINDS:
        yield _KINDS[operation], request["TableName"], request
    elif operation == "TransactWriteItems":
        for action in request["TransactItems"]:
            ((kind, body),) = action.items()
            yield kind, body["TableName"], body
    elif operation == "BatchWriteItem":
        for name, actions in request["RequestItems"].items():
            for action in actions:
                ((kind, body),) = action.items()
                yield kind.removesuffix("Request"), name, body


def _without_filter(request: dict[str, Any]) -> dict[str, Any]:
    """Return a Query or Scan that returns all items that the request reads, whole."""
    kept = {name: request[name] for name in _RANGE if name in request}
    used = set(_PLACEHOLDER.findall(kept.get("KeyConditionExpression", "")))
    for member in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        values = {mark: each for mark, each in request.get(member, {}).items() if mark in used}
        if values:
            kept[member] = values
    return kept


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
