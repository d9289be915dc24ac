"""Traces: the requests that the checks of a design make, and the items that each reads and writes.

    checks of the design ──▶ plans ──▶ requests ──▶ Recorder ──▶ the engine
                                                       │
                            units; with an ItemReader, the items before and after
                                                       ▼
               TracedCheck(check, answer, requests=[TracedRequest(operation, reads, writes), …])

The checks of a design call its patterns with real arguments on its sample data. So a trace contains
the reads before a write, the sentinels, the events of histories and the transactions that a call
really has. `verify` compares what a traced check gives; `cost` and `advise` read `trace(design)`,
which compares nothing.

This module keeps the units that responses report. It must not compute units, or know rates or
prices.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.plan.inspection import label_of
from tablewright.plan.plan import Plan
from tablewright.plan.reads.include import PAGED
from tablewright.plan.reads.page import Page
from tablewright.plan.request_events import add_capacity, consumed_units
from tablewright.transport import Response, Transport
from tablewright.values import Item
from tablewright.verify.checks import Check, Raises
from tablewright.verify.contents import Scanner
from tablewright.verify.design import Design, describe_failure
from tablewright.verify.seeding import load_sample, temporary_tables
from tablewright.wire.operations import OPERATIONS, READS, Operation
from tablewright.wire.touches import Named, Touch, whole_page

EVENTUAL, CONSISTENT = 0.5, 1


class ReadItems(Struct, frozen=True):
    """Items that a request reads together, also those that it filters out."""

    table: TableMap
    #: None for the table itself.
    index: str | None
    items: list[Item]
    #: 0.5 if the read is eventually consistent, 2 in a transaction.
    factor: float


class WrittenItem(Struct, frozen=True):
    """An item that a request writes, or only checks."""

    table: TableMap
    kind: str
    key: Item
    before: Item | None
    after: Item | None = None

    @property
    def is_check(self) -> bool:
        return self.kind == "ConditionCheck"


class TracedRequest(Struct, frozen=True):
    """One request, as a plan made it, and what came back."""

    operation: str
    body: dict[str, Any]
    #: How many items were read for it, and the units that the response reports.
    read: int = 0
    units: float = 0.0
    seconds: float = 0.0
    #: Why it failed; None if it did not.
    error: Exception | None = None
    #: What an ItemReader has read.
    reads: tuple[ReadItems, ...] = ()
    writes: tuple[WrittenItem, ...] = ()


class Recorder:
    """A transport that records each request; with an ItemReader, also its items."""

    def __init__(self, transport: Transport, items: ItemReader | None = None) -> None:
        self.transport = transport
        self.items = items
        self.requests: list[TracedRequest] = []

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        sent = TracedRequest(operation, request)
        if self.items is not None:
            sent = self.items.before(sent)
        started = time.perf_counter()
        try:
            response = self.transport.send(operation, add_capacity(operation, request))
        except Exception as error:
            self.requests.append(replace(sent, reads=(), error=error))
            raise
        self.requests.append(
            replace(
                sent,
                read=count_read(response.body),
                units=consumed_units(response.body),
                seconds=time.perf_counter() - started,
                writes=sent.writes if self.items is None else self.items.after(sent.writes),
            )
        )
        return response

    def close(self) -> None:
        """Do nothing: the owner closes the transport."""

    def drain(self) -> tuple[TracedRequest, ...]:
        """Return the requests since the last call."""
        requests = tuple(self.requests)
        self.requests.clear()
        return requests


class _Answer(Struct, rename="pascal"):
    item: Raw | UnsetType = UNSET
    scanned_count: int | None = None
    responses: Any = ()


_decode_answer = msgspec.json.Decoder(_Answer).decode


def count_read(body: bytes) -> int:
    """Count the items that a request has read, by the body of its response."""
    answer = _decode_answer(body)
    if isinstance(answer.responses, dict):  # of BatchGetItem: items by table
        return sum(map(len, answer.responses.values()))
    if answer.responses:  # of TransactGetItems: one for each key
        return sum("Item" in response for response in answer.responses)
    return int(answer.item is not UNSET) if answer.scanned_count is None else answer.scanned_count


class ItemReader:
    """Reads the items of requests before and after them, so it works on local targets only."""

    def __init__(self, transport: Transport, tables: Mapping[TableMap, str]) -> None:
        self.transport = transport
        #: The tables, by the names that requests use.
        self.tables = {name: table for table, name in tables.items()}

    def before(self, sent: TracedRequest) -> TracedRequest:
        """Return a request with the items that it will read, and those that it will write."""
        row = OPERATIONS[sent.operation]
        reads: list[ReadItems] = []
        writes: list[WrittenItem] = []
        for touch in row.touched(sent.body) if row.touched else ():
            table, what = self.tables[touch.table], touch.what
            if not isinstance(what, Named):
                items = self._ask(touch.kind, whole_page(touch.part))["Items"]
                reads.append(ReadItems(table, touch.index, items, _factor(touch, row)))
                continue
            key = table.key(what.item)
            item = self._read(touch.table, key)
            if touch.access == "read":
                found = [] if item is None else [item]
                reads.append(ReadItems(table, None, found, _factor(touch, row)))
            else:
                writes.append(WrittenItem(table, touch.kind, key, item))
        return replace(sent, reads=tuple(reads), writes=tuple(writes))

    def after(self, writes: tuple[WrittenItem, ...]) -> tuple[WrittenItem, ...]:
        """Return the items that a request has written, as they are now."""
        names = {table: name for name, table in self.tables.items()}
        return tuple(
            each if each.is_check else replace(each, after=self._read(names[each.table], each.key))
            for each in writes
        )

    def _read(self, name: str, key: Item) -> Item | None:
        request = {"TableName": name, "Key": key, "ConsistentRead": True}
        item: Item | None = self._ask("GetItem", request).get("Item")
        return item

    def _ask(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.json.decode(self.transport.send(operation, request).body)
        return answer


def _factor(touch: Touch, row: Operation) -> float:
    if row.is_transaction:
        return TRANSACTION_FACTOR
    return CONSISTENT if touch.part.get("ConsistentRead") else EVENTUAL


class TracedCheck(Struct, frozen=True):
    """A check that has run: what it returned or raised, and its requests."""

    check: Check
    #: The result of its plan, or the exception that it raised.
    answer: Any
    requests: tuple[TracedRequest, ...]

    @property
    def label(self) -> str:
        """The pattern with its module, as in `AccessPattern.label`; "" for other plans."""
        return label_of(self.check.plan)

    @property
    def is_refused(self) -> bool:
        """Whether the check expects an error."""
        return isinstance(self.check.expect, Raises)

    @property
    def has_run(self) -> bool:
        """Whether it raised the expected error, or none if none is expected."""
        if isinstance(self.check.expect, Raises):
            return type(self.answer) is self.check.expect.error
        return not isinstance(self.answer, Exception)

    @property
    def returned(self) -> int:
        """The number of entities in the result."""
        return count_entities(self.answer)

    @property
    def read(self) -> int:
        """The number of items that its requests read."""
        return sum(each.read for each in self.requests)

    def units(self, *, reads: bool) -> float:
        """Return the units of its reads, or of its writes."""
        return sum(each.units for each in self.requests if (each.operation in READS) is reads)


class Trace(Struct, frozen=True):
    """What the checks of a design request on its sample data."""

    #: The items of the sample data.
    sample: Mapping[TableMap, list[Item]]
    #: Those that have run as expected.
    checks: tuple[TracedCheck, ...]
    #: The names of the others.
    failed: tuple[str, ...]


def trace(design: Design) -> Trace:
    """Load the sample data of a design into memory, run its checks, and record their requests.

    No result is compared. A design without sample data or checks has no traced checks. Raise
    DesignLoadError if the sample data cannot be stored.
    """
    with temporary_tables(":memory:", *design.tables) as database:
        load_sample(design, database)
        scan = Scanner(database)
        sample = {table: scan.items(table) for table in database.table_names}
        recorder = Recorder(
            database.transport, ItemReader(database.transport, database.table_names)
        )
        recorded, run, failed = database.through(recorder), list[TracedCheck](), list[str]()
        for check in () if design.sample is None else checks_of(design, scan):
            if isinstance(check, Check) and isinstance(check.plan, Plan):
                found = run_check(check, recorded, recorder)
                if found.has_run:
                    run.append(found)
                    continue
            failed.append(check.name if isinstance(check, Check) else "checks()")
    return Trace(sample, tuple(run), tuple(failed))


def checks_of(design: Design, scan: Scanner) -> Iterator[Check | str]:
    """Yield the checks of a design; if `checks` raises an exception, the reason as the last one."""
    try:
        yield from () if design.checks is None else design.checks(scan)
    except Exception as error:
        yield f"it failed, and ran no further checks: {describe_failure(error)}"


def run_check(check: Check, database: Database, recorder: Recorder) -> TracedCheck:
    """Run the plan of a check; for a query, as many pages as the check asks for."""
    recorder.drain()
    try:
        answer = _execute(database, check)
    except Exception as error:
        answer = error
    return TracedCheck(check, answer, recorder.drain())


def _execute(database: Database, check: Check) -> Any:
    answer: Any = database.run(check.plan)
    results = answer
    for _ in range(check.pages - 1):
        assert isinstance(check.plan, PAGED)
        answer = database.run(check.plan.after(answer.next_cursor))
        results = [*results, *answer]
    return results


def count_entities(answer: Any) -> int:
    """Count the entities in a result."""
    if answer is None or isinstance(answer, Exception):
        return 0
    if isinstance(answer, (Page, list, tuple)):
        return sum(map(count_entities, answer))
    if hasattr(type(answer), "__aggregate__"):
        return sum(map(count_entities, vars(answer).values()))
    return 1
