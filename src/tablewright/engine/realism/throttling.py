"""Throttling: refuse requests above the declared throughput, and requests of hot partition keys.

    provisioned table or index     its units per second, and up to 300 seconds of unused ones
    on-demand table or index       its maximum, if it has one; nothing is saved
    partition key                  1,000 write units and 3,000 read units per second, of the table;
                                   for reads of an index, of the index

Before a request runs, every bucket that it uses must hold its smallest cost; afterwards its real
cost is taken, which can leave the bucket in debt. So the long-term rate is the declared one, as in
DynamoDB. A new table has the units of one second; a table that existed before has saved up all it
can. The cost of several items of one request is spread evenly over their partition keys. A write
also needs units of every global index, because a throttled index throttles its table.

A batch is admitted item by item: the others are returned as unprocessed. It is refused only if no
item is admitted. A transaction is cancelled. A throttled statement of a batch has an error.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from threading import Lock
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.engine.access.authorization import StoredTables, find_keys
from tablewright.engine.access.requested_access import (
    RequestedAccess,
    format_keys,
    requested_accesses,
)
from tablewright.engine.realism import Realism
from tablewright.engine.step import table_name
from tablewright.engine.tables.describe import table_arn
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import (
    DynamoDBError,
    ProvisionedThroughputExceededException,
    ThrottlingException,
    TransactionCanceledException,
)
from tablewright.schema import IndexSchema, TableSchema
from tablewright.wire import requests
from tablewright.wire.operations import OPERATIONS
from tablewright.wire.partiql import BatchExecuteStatementInput
from tablewright.wire.responses import ConsumedCapacity

Kind: TypeAlias = Literal["Read", "Write"]

KEY_RATES: dict[Kind, float] = {"Read": 3_000.0, "Write": 1_000.0}
TABLE_EXCEEDED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
INDEX_EXCEEDED = (
    "The level of configured provisioned throughput for one or more global secondary indexes of "
    "the table was exceeded. Consider increasing your provisioning level for the "
    "under-provisioned global secondary indexes with the UpdateTable API"
)
ON_DEMAND_EXCEEDED = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "
    "scaling your table or index so please try again shortly. If exceptions persist, check if you "
    "have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)


class Bucket:
    """The units of one table, index or partition key."""

    __slots__ = ("_capacity", "_rate", "_tokens", "_updated")

    def __init__(self, rate: float, capacity: float, now: float, *, is_full: bool = True) -> None:
        self._rate = rate
        self._capacity = max(capacity, rate)
        self._tokens = self._capacity if is_full else rate
        self._updated = now

    def change_rate(self, rate: float, capacity: float) -> None:
        if rate != self._rate:
            self._rate, self._capacity = rate, max(capacity, rate)
            self._tokens = min(max(self._tokens, rate), self._capacity)

    def available(self, now: float) -> float:
        """Return the units that the bucket holds; negative if it is in debt."""
        elapsed = max(0.0, now - self._updated)
        self._tokens = min(self._capacity, self._tokens + elapsed * self._rate)
        self._updated = now
        return self._tokens

    def take(self, units: float, now: float) -> None:
        self._tokens = self.available(now) - units

    def holds(self, units: float, now: float) -> bool:
        """Return whether a request of at least these units is admitted.

        A request that is larger than the bucket is admitted if the bucket is full.
        """
        return self.available(now) >= min(units, self._capacity)

    def is_full(self, now: float) -> bool:
        return self.available(now) >= self._capacity


class Buckets:
    """Buckets by name. Full ones are forgotten when there are many."""

    MAX = 10_000

    def __init__(self) -> None:
        self._buckets: dict[Hashable, Bucket] = {}

    def find(self, name: Hashable, rate: float, capacity: float, now: float) -> Bucket:
        """Return a bucket; an unknown one is full."""
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= self.MAX:
                self._forget_full(now)
            bucket = self._buckets[name] = Bucket(rate, capacity, now)
        else:
            bucket.change_rate(rate, capacity)
        return bucket

    def start(self, name: Hashable, rate: float, capacity: float, now: float) -> None:
        """Add a bucket without saved units."""
        self._buckets[name] = Bucket(rate, capacity, now, is_full=False)

    def _forget_full(self, now: float) -> None:
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if not bucket.is_full(now)
        }


class BucketUse(Struct, frozen=True):
    """One bucket that a request uses, and what its fault says."""

    bucket: Bucket
    schema: TableSchema
    index: IndexSchema | None
    kind: Kind
    limit: str  # as in the reasons of DynamoDB's faults

    def fault(self) -> DynamoDBError:
        resource = table_arn(self.schema.name)
        if self.index is not None:
            resource = f"{resource}/index/{self.index.name}"
        where = "Table" if self.index is None else "Index"
        reasons = [{"reason": f"{where}{self.kind}{self.limit}", "resource": resource}]
        if self.schema.billing == "PAY_PER_REQUEST":
            return ThrottlingException(ON_DEMAND_EXCEEDED, reasons)
        text = TABLE_EXCEEDED if self.index is None else INDEX_EXCEEDED
        return ProvisionedThroughputExceededException(text, reasons)


class MeteredPart(Struct, frozen=True):
    """A part of a request that is admitted or not: an item of a batch, or the whole request."""

    table: StoredTable
    index: str | None
    kind: Kind
    partition: tuple[str, ...] | None
    least: float  # the smallest cost


class Throttle:
    """Admits requests, and charges them."""

    def __init__(self, settings: Realism) -> None:
        self._settings = settings
        self._lock = Lock()  # requests are prepared and run in several threads
        self._buckets = Buckets()

    def check(self, parts: Iterable[MeteredPart]) -> list[DynamoDBError | None]:
        """Return, for each part, None if it is admitted, or the fault."""
        now = self._settings.clock()
        promised: dict[int, float] = {}  # by bucket: units of parts that were admitted before
        faults: list[DynamoDBError | None] = []
        with self._lock:
            for part in parts:
                uses = list(self._uses(part, now))
                full = next(
                    (
                        use
                        for use in uses
                        if not use.bucket.holds(part.least + promised.get(id(use.bucket), 0), now)
                    ),
                    None,
                )
                faults.append(full.fault() if full else None)
                if full is None:
                    for use in uses:
                        promised[id(use.bucket)] = promised.get(id(use.bucket), 0) + part.least
        return faults

    def charge(self, parts: list[MeteredPart], consumed: Iterable[ConsumedCapacity]) -> None:
        """Take the units that a request has consumed."""
        now = self._settings.clock()
        with self._lock:
            for capacity in consumed:
                of_table = [
                    part for part in parts if part.table.name == table_name(capacity.table_name)
                ]
                if of_table:
                    self._charge_table(of_table, capacity, now)

    def charge_failure(self, parts: Iterable[MeteredPart]) -> None:
        """Take the smallest cost of a write whose condition is false: it is not free."""
        now = self._settings.clock()
        with self._lock:
            for part in parts:
                bucket = self._declared(part.table.schema, None, part.kind, now)
                if bucket is not None:
                    bucket.take(part.least, now)
                if part.partition is not None:
                    self._key_bucket(part, now).take(part.least, now)

    def _charge_table(
        self, parts: list[MeteredPart], capacity: ConsumedCapacity, now: float
    ) -> None:
        first = parts[0]
        schema = first.table.schema
        units = {None: capacity.table.capacity_units if capacity.table else 0.0} | {
            name: one.capacity_units
            for name, one in (capacity.global_secondary_indexes or {}).items()
        }
        # Local indexes share the units of their table.
        units[None] += sum(
            one.capacity_units for one in (capacity.local_secondary_indexes or {}).values()
        )
        for name, number in units.items():
            index = _find_index(schema, name)
            bucket = self._declared(schema, index, first.kind, now)
            if bucket is not None:
                bucket.take(number, now)
        for part in parts:
            if part.partition is not None:
                share = units.get(part.index, units[None]) / len(parts)
                self._key_bucket(part, now).take(share, now)

    def _uses(self, part: MeteredPart, now: float) -> Iterator[BucketUse]:
        schema = part.table.schema
        indexes = [_find_index(schema, part.index)]
        if part.kind == "Write":
            indexes += schema.global_indexes
        limit = (
            "MaxOnDemandThroughputExceeded"
            if schema.billing == "PAY_PER_REQUEST"
            else "ProvisionedThroughputExceeded"
        )
        for index in indexes:
            bucket = self._declared(schema, index, part.kind, now)
            if bucket is not None:
                yield BucketUse(bucket, schema, index, part.kind, limit)
        if part.partition is not None:
            bucket = self._key_bucket(part, now)
            yield BucketUse(bucket, schema, indexes[0], part.kind, "KeyRangeThroughputExceeded")

    def _declared(
        self, schema: TableSchema, index: IndexSchema | None, kind: Kind, now: float
    ) -> Bucket | None:
        """Return the bucket of a table or a global index; None if it has no limit."""
        if index is not None and index.kind == "local":
            index = None
        limit = self._limit(schema, index, kind)
        return None if limit is None else self._buckets.find(*limit, now)

    def start(self, schema: TableSchema) -> None:
        """Begin to count the units of a new table, which has saved nothing."""
        now = self._settings.clock()
        kinds: tuple[Kind, ...] = ("Read", "Write")
        with self._lock:
            for index in (None, *schema.global_indexes):
                for kind in kinds:
                    limit = self._limit(schema, index, kind)
                    if limit is not None:
                        self._buckets.start(*limit, now)

    def _limit(
        self, schema: TableSchema, index: IndexSchema | None, kind: Kind
    ) -> tuple[Hashable, float, float] | None:
        """Return the name, the rate and the capacity of the bucket of a table or global index."""
        source = schema if index is None else index
        if schema.billing == "PROVISIONED":
            rate = source.throughput.read if kind == "Read" else source.throughput.write
            burst = self._settings.burst_seconds
        else:
            limits = source.on_demand
            rate = (limits.read if kind == "Read" else limits.write) if limits else -1
            burst = 1.0
            if rate < 0:
                return None
        return (schema.id, index.name if index else None, kind), rate, rate * burst

    def _key_bucket(self, part: MeteredPart, now: float) -> Bucket:
        rate = KEY_RATES[part.kind]
        name = (part.table.schema.id, part.index, part.kind, part.partition)
        return self._buckets.find(name, rate, rate, now)


def list_parts(operation: str, request: Any, tables: StoredTables, kind: Kind) -> list[MeteredPart]:
    """Return the parts of a request: one for each item that it names, else one for each table.

    The parts of a batch have the order of its items.
    """
    found: list[MeteredPart] = []
    for requested in requested_accesses(operation, request):
        table = tables.get(table_name(requested.table)) if requested.table else None
        if table is None:  # the operation raises that it is missing
            return []
        least = _smallest_cost(operation, request, requested, kind)
        found += [
            MeteredPart(table, requested.index, kind, partition, least)
            for partition in _partitions(requested, table)
        ]
    return found


def _partitions(requested: RequestedAccess, table: StoredTable) -> Iterator[tuple[str, ...] | None]:
    keys = find_keys(table, requested.index)
    if keys is None or not requested.has_partitions:
        yield None
    elif requested.items:
        for item in requested.items:  # None: its partition key is mistyped
            yield next(iter(format_keys((item,), table.keys.schema.partition)), None)
    else:
        found: list[tuple[str, ...] | None] = [*requested.read_partitions(keys)]
        yield from found or [None]


def _smallest_cost(operation: str, request: Any, requested: RequestedAccess, kind: Kind) -> float:
    if OPERATIONS[operation].is_transaction:
        return 2.0
    if kind == "Write":
        return 1.0
    if isinstance(request, requests.BatchGetItemInput):
        return 1.0 if request.tables[str(requested.table)].consistent else 0.5
    if isinstance(request, BatchExecuteStatementInput):
        return 1.0 if any(one.consistent for one in request.statements) else 0.5
    return 1.0 if request.consistent else 0.5


def cancellation(faults: list[DynamoDBError | None]) -> TransactionCanceledException:
    """Return the fault of a transaction some of whose items are throttled."""
    codes = {
        "ProvisionedThroughputExceededException": "ProvisionedThroughputExceeded",
        "ThrottlingException": "ThrottlingError",
    }
    return TransactionCanceledException(
        [
            {"Code": "None"}
            if fault is None
            else {"Code": codes[fault.code], "Message": fault.message}
            for fault in faults
        ]
    )


def _find_index(schema: TableSchema, name: str | None) -> IndexSchema | None:
    return next((index for index in schema.indexes if index.name == name), None)
