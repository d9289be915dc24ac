"""The overlay: a transport that keeps writes in memory, above a target that is only read.

    read          ──▶ the target; after the first write, the engine, which gets what the read finds
    write         ──▶ an engine in memory, which first gets the touched items from the target
    other         ──▶ the target, if it changes nothing; refused otherwise

So a plan runs as it would run at the target, and nothing changes there. The tables in memory have
the keys and indexes of those at the target: conditions, errors, index rows and units are those of
the engine. `reads`, `writes` and `refused` record what the plan did.

Invariants:
- The target receives no request that writes.
- An item is in memory as it was read from the target, or as the plan wrote it.
- At most `MAX_ITEMS` items are loaded, by at most `MAX_READS` reads of the plan: a larger write
  raises PreviewTooLarge.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.capacity import CHARGED_FAULTS, refused_units
from tablewright.encoding.items import item_size
from tablewright.engine import Engine
from tablewright.errors import (
    DynamoDBError,
    TablewrightError,
)
from tablewright.plan.request_events import add_capacity, consumed_units
from tablewright.studio.workspace import ReadOnly, only_reads
from tablewright.table_description import TableDescription, read_table
from tablewright.transport import Response, Transport
from tablewright.values import Item
from tablewright.wire.operations import OPERATIONS, READS, WRITES, touches
from tablewright.wire.touches import Everything, Key, KeyRange, Named, Touch, whole_page

#: How many items a preview shows; a plan that touches more must be run by a program.
MAX_ITEMS = 500
#: How many reads a plan makes in a preview.
MAX_READS = 100
#: How many keys one BatchGetItem takes.
BATCH = 100

#: The table and the key of an item, as text.
Identity: TypeAlias = tuple[str, bytes]


class PreviewTooLarge(TablewrightError):
    """A plan touches more items than a preview shows."""


class Touched(Struct, frozen=True):
    """An item before and after one request."""

    write: Touch
    key: Item
    before: Item | None
    after: Item | None


class SentRead(Struct, frozen=True):
    """A read that the plan made, and the items in its response."""

    operation: str
    body: dict[str, Any]
    response: dict[str, Any]
    units: float
    #: Whether the target has answered it, rather than the memory.
    is_stored: bool


class SentWrite(Struct, frozen=True):
    """A write that the plan would make; its units are those of the engine in memory."""

    operation: str
    body: dict[str, Any]
    touched: tuple[Touched, ...]
    capacity: list[dict[str, Any]] = []
    #: Whether its condition failed, for which DynamoDB charges units, but reports none.
    is_charged: bool = False

    @property
    def is_transaction(self) -> bool:
        return OPERATIONS[self.operation].is_transaction

    @property
    def units(self) -> float:
        if self.is_charged:
            sizes = [item_size(each.before) if each.before else 0 for each in self.touched]
            return refused_units(sizes, transaction=self.is_transaction)
        return float(sum(each["CapacityUnits"] for each in self.capacity))


class Overlay:
    """A transport that reads from a target and writes into memory."""

    def __init__(self, target: Transport) -> None:
        self._target = ReadOnly(target)
        self._engine = Engine(":memory:")
        self._lock = threading.Lock()
        #: The descriptions of the tables at the target, by name.
        self.tables: dict[str, TableDescription] = {}
        self._loaded: dict[Identity, Item | None] = {}
        self.reads: list[SentRead] = []
        self.writes: list[SentWrite] = []
        #: Writes whose conditions failed.
        self.refused: list[SentWrite] = []
        #: All requests of the plan that succeeded, in order: their operations and bodies.
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def close(self) -> None:
        self._engine.close()

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        with self._lock:
            if operation in WRITES or _is_written(operation, request):
                return self._write(operation, request)
            if operation in READS:
                return self._read(operation, request)
            return self._target.send(operation, request)

    # --- writes --------------------------------------------------------------------------------

    def _write(self, operation: str, request: dict[str, Any]) -> Response:
        parts = list(touches(operation, request))
        keys = [(part.table, self._key(part)) for part in parts]
        self._load(keys)
        before = [self._stored(*key) for key in keys]
        try:
            body = self._call(operation, {**request, "ReturnConsumedCapacity": "INDEXES"})
        except DynamoDBError as fault:
            touched = _touched(parts, keys, before, before)
            charged = isinstance(fault, CHARGED_FAULTS)
            self.refused.append(SentWrite(operation, request, touched, is_charged=charged))
            raise
        self.requests.append((operation, request))
        after = [self._stored(*key) for key in keys]
        capacity = msgspec.json.decode(body)["ConsumedCapacity"]
        capacity = capacity if isinstance(capacity, list) else [capacity]
        touched = _touched(parts, keys, before, after)
        self.writes.append(SentWrite(operation, request, touched, capacity))
        return Response(body)

    def _key(self, part: Touch) -> Item:
        assert not isinstance(part.what, Everything)
        if isinstance(part.what, Key):
            return part.what.item
        item = part.what.fixed if isinstance(part.what, KeyRange) else part.what.item
        return self._describe(part.table).key(item)

    def _describe(self, table: str) -> TableDescription:
        """Return the description of a table; create it in memory when it is first needed."""
        if table not in self.tables:
            answer = self._target.send("DescribeTable", {"TableName": table}).body
            found = read_table(msgspec.json.decode(answer)["Table"])
            self._call("CreateTable", found.on_demand_only().to_create_table())
            self.tables[table] = found
        return self.tables[table]

    def _call(self, operation: str, request: dict[str, Any]) -> bytes:
        engine = self._engine
        return engine.run(engine.prepare(operation, request))

    def _stored(self, table: str, key: Item) -> Item | None:
        """Return an item as it is in memory."""
        found = self._call("GetItem", {"TableName": table, "Key": key})
        item: Item | None = msgspec.json.decode(found).get("Item")
        return item

    def _load(self, keys: Iterable[tuple[str, Item]]) -> None:
        """Read items from the target that are not in memory yet."""
        missing = {identity(*key): key for key in keys}
        wanted = [key for found, key in missing.items() if found not in self._loaded]
        if len(self._loaded) + len(wanted) > MAX_ITEMS:
            raise PreviewTooLarge(
                f"this write touches more than {MAX_ITEMS} items, which is more than a preview "
                "shows; run it with db.run() in a program"
            )
        for start in range(0, len(wanted), BATCH):
            self._load_batch(wanted[start : start + BATCH])

    def _load_batch(self, keys: list[tuple[str, Item]]) -> None:
        tables: dict[str, dict[str, Any]] = {}
        for table, key in keys:
            tables.setdefault(table, {"Keys": [], "ConsistentRead": True})["Keys"].append(key)
        pending = tables
        while pending:
            request = {"RequestItems": pending}
            answer = msgspec.json.decode(self._target.send("BatchGetItem", request).body)
            for table, items in answer["Responses"].items():
                description = self._describe(table)
                for item in items:
                    self._call("PutItem", {"TableName": table, "Item": item})
                    self._loaded[identity(table, description.key(item))] = item
            pending = answer.get("UnprocessedKeys") or {}
        for table, key in keys:
            self._describe(table)
            self._loaded.setdefault(identity(table, key), None)

    # --- reads ---------------------------------------------------------------------------------

    def _read(self, operation: str, request: dict[str, Any]) -> Response:
        """Answer from the target, or from memory if the plan has written something."""
        if len(self.reads) >= MAX_READS:
            raise PreviewTooLarge(
                f"this write makes more than {MAX_READS} reads, which is more than a preview "
                "makes; run it with db.run() in a program"
            )
        is_stored = not self.writes
        if is_stored:
            response = self._target.send(operation, add_capacity(operation, request))
        else:
            self._load_for(operation, request)
            response = Response(self._call(operation, add_capacity(operation, request)))
        self.requests.append((operation, request))
        decoded = msgspec.json.decode(response.body)
        units = consumed_units(response.body)
        self.reads.append(SentRead(operation, request, decoded, units, is_stored))
        return response

    def _load_for(self, operation: str, request: dict[str, Any]) -> None:
        """Load what a read finds at the target, so that the same read in memory is complete."""
        touched = list(touches(operation, request))
        if all(isinstance(touch.what, Named) for touch in touched):
            self._load((touch.table, self._key(touch)) for touch in touched)
        else:
            self._load_pages(operation, request)

    def _load_pages(self, operation: str, request: dict[str, Any]) -> None:
        """Load the pages of a query until those items of it that are unchanged fill a page."""
        table, limit = request["TableName"], request.get("Limit")
        description, whole = self._describe(table), whole_page(request)
        unchanged = 0
        while True:
            page = msgspec.json.decode(self._target.send(operation, whole).body)
            keys = [description.key(item) for item in page["Items"]]
            self._load((table, key) for key in keys)
            unchanged += sum(
                self._stored(table, key) == self._loaded[identity(table, key)] for key in keys
            )
            if "LastEvaluatedKey" not in page or (limit is not None and unchanged >= limit):
                return
            whole["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _is_written(operation: str, request: dict[str, Any]) -> bool:
    """Return whether a request is a statement that writes one item."""
    return operation == "ExecuteStatement" and not only_reads(operation, request)


def _touched(
    parts: list[Touch],
    keys: list[tuple[str, Item]],
    before: list[Item | None],
    after: list[Item | None],
) -> tuple[Touched, ...]:
    return tuple(
        Touched(part, key, old, new)
        for part, (_, key), old, new in zip(parts, keys, before, after, strict=True)
    )


def identity(table: str, key: Item) -> Identity:
    """Return what identifies an item at a target."""
    return table, msgspec.json.encode(key, order="deterministic")
