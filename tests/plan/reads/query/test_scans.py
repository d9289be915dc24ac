"""Scans of an index, and scans in segments."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tablewright import (
    connect,
    connect_async,
    create,
    explain,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidCursor, InvalidValue, TenantViolation
from tests.costs import run_within_range
from tests.plan.reads.store import Label, Order, Store
from tests.transports import RecordingLocal, record_requests


def order(number: int) -> Order:
    status = "OPEN" if number % 3 else "PAID"
    return Order(customer=f"o{number % 7}", number=number, status=status)


ORDERS = [order(number) for number in range(40)]
OPEN = [each for each in ORDERS if each.status == "OPEN"]


def by_number(found: Any) -> list[Any]:
    return sorted(found, key=lambda each: each.number)


@pytest.fixture(scope="module")
def db() -> Database:
    db = connect(":memory:", Store)
    for each in ORDERS:
        db.run(create(each))
        db.run(create(Label(customer=each.customer, number=each.number)))
    return db


def test_a_scan_of_an_index_reads_the_rows_of_the_entity_in_it(db: Database) -> None:
    plan = Order.open_only.scan(reason="test")
    assert by_number(db.iterate(plan)) == OPEN
    assert by_number(db.iterate(plan.page_size(7))) == OPEN
    assert db.run(plan.count()) == len(OPEN)
    assert len(run_within_range(db, plan.page_size(5))) == 5
    shape = explain(plan)
    assert (shape.operation, shape.index, shape.condition) == ("Scan", "open_only", "test")


def test_a_scan_of_an_index_filters_and_selects(db: Database) -> None:
    plan = Order.open_only.scan(reason="test").filter(Order.customer == "o1")
    assert by_number(db.iterate(plan)) == [each for each in OPEN if each.customer == "o1"]
    numbers = db.iterate(Order.thin.scan(reason="test").select(Order.customer, Order.number))
    assert sorted(numbers) == sorted((each.customer, each.number) for each in ORDERS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Order.open_only.scan(reason=" "), "Order.open_only.scan.. needs its reason"),
        (lambda: explain(Order.thin.scan(reason="x")), "thin does not contain status"),
        (
            lambda: Order.thin.scan(reason="x").filter(Order.status == "OPEN"),
            "does not contain 'status'",
        ),
        (lambda: Order.open_only.scan(reason="x").consistent(), "cannot be read consistently"),
        (lambda: Order.open_only.scan(reason="x").desc(), "a scan has no order"),
    ],
)
def test_what_a_scan_of_an_index_cannot_do_is_refused(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        make()


@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_the_segments_together_hold_every_item_once(db: Database, count: int) -> None:
    plan = Order.scan(reason="test").segments(count)
    assert by_number(db.run(plan)) == ORDERS
    assert db.run(plan.count()) == 40
    for size in (1, 3, 100):
        assert by_number(db.iterate(plan.page_size(size))) == ORDERS
        page = run_within_range(db, plan.page_size(size))
        assert len(page) <= size
    assert len(list(db.iterate(plan.page_size(3).limit(10)))) == 10
    assert len(explain(plan).requests) == count
    assert explain(plan).condition == f"test, in {count} segments"


def test_segments_of_an_index_with_a_filter(db: Database) -> None:
    plan = Order.open_only.scan(reason="test").filter(Order.customer == "o1").segments(3)
    assert by_number(db.iterate(plan)) == [each for each in OPEN if each.customer == "o1"]
    assert db.run(Order.scan(reason="test").segments(4).page_size(4).first()) in ORDERS


def test_each_segment_is_one_request(db: Database) -> None:
    recording = record_requests(db)
    db.run(Order.scan(reason="test").segments(4))
    db._transport = recording.inner
    assert recording.operations == ["Scan"] * 4
    assert sorted(body["Segment"] for _, body in recording.requests) == [0, 1, 2, 3]
    assert {body["TotalSegments"] for _, body in recording.requests} == {4}


def test_a_cursor_is_for_the_same_segments(db: Database) -> None:
    scan = Order.scan(reason="test")
    cursor = db.run(scan.segments(4).page_size(4)).next_cursor
    assert cursor is not None
    for other in (scan.segments(3), scan, Label.scan(reason="test").segments(4)):
        with pytest.raises(InvalidCursor):
            db.run(other.page_size(4).after(cursor))


@pytest.mark.parametrize("count", [0, -1, 1_000_001, "2", 2.0, True])
def test_another_number_of_segments_is_refused(count: Any) -> None:
    with pytest.raises(InvalidValue, match="must be an int from 1 to 1,000,000"):
        Order.scan(reason="test").segments(count)


def test_a_tenant_scans_nothing(db: Database) -> None:
    scoped = db.for_tenant(customer="o1")
    plans = [
        Order.open_only.scan(reason="test"),
        Order.scan(reason="test").segments(2),
        Order.scan(reason="test").segments(2).count(),
    ]
    for plan in plans:
        with pytest.raises(TenantViolation):
            scoped.run(plan)


class Meeting:
    """Lets all threads or tasks continue once the last one has arrived."""

    def __init__(self, count: int) -> None:
        self.threads = threading.Barrier(count, timeout=20)
        self.tasks = asyncio.Event()
        self.missing = count

    async def come(self) -> None:
        self.missing -= 1
        if self.missing == 0:
            self.tasks.set()
        await self.tasks.wait()


class Waiting(RecordingLocal):
    """Answers no scan before all have been sent."""

    def __init__(self, inner: Any, meeting: Meeting) -> None:
        super().__init__(inner)
        self.meeting = meeting

    def send(self, operation: str, request: dict[str, Any]) -> Any:
        self.meeting.threads.wait()
        return super().send(operation, request)

    async def send_async(self, operation: str, request: dict[str, Any]) -> Any:
        await self.meeting.come()
        return await super().send_async(operation, request)


def test_segments_are_scanned_at_the_same_time_in_threads(db: Database) -> None:
    waiting = db.through(Waiting(db.transport, Meeting(4)))
    assert by_number(waiting.iterate(Order.scan(reason="test").segments(4))) == ORDERS


def test_segments_are_scanned_at_the_same_time_in_an_event_loop() -> None:
    async def read() -> list[Order]:
        async with connect_async(":memory:", Store) as db:
            for each in ORDERS:
                await db.run(create(each))
            waiting = db.through(Waiting(db.transport, Meeting(4)))
            plan = Order.scan(reason="test").segments(4)
            return [each async for each in waiting.iterate(plan)]

    assert by_number(asyncio.run(asyncio.wait_for(read(), 20))) == ORDERS
