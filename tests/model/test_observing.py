from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest

from tablewright import connect, connect_async, create
from tablewright.database import Database
from tablewright.designs.commerce import (
    Commerce,
    CustomerOrder,
    CustomerProfile,
    OrderStatus,
    customer_timeline,
    update_order_status,
)
from tablewright.designs.commerce.checks import sample
from tablewright.errors import AlreadyExists, InvalidValue
from tablewright.observe import RequestEvent, Usage, log_requests, trace_requests
from tablewright.plan.writes.put import put


@pytest.fixture
def events() -> list[RequestEvent]:
    return []


@pytest.fixture
def db(events: list[RequestEvent]) -> Iterator[Database]:
    with connect(":memory:", Commerce, observe=events.append) as database:
        for entity in sample():
            database.run(put(entity))
        events.clear()
        yield database


def test_each_request_is_told(db: Database, events: list[RequestEvent]) -> None:
    db.run(customer_timeline("C1", 2))
    (event,) = events
    assert (event.operation, event.table, event.index, event.pattern) == (
        "Query",
        "commerce_single_table",
        "gsi_customer_orders",
        "customer_timeline",
    )
    assert (event.units, event.attempts, event.error) == (0.5, 1, "")
    assert event.seconds > 0


def test_every_request_of_a_plan_is_told(db: Database, events: list[RequestEvent]) -> None:
    db.run(update_order_status("C1", "O100", OrderStatus.CANCELLED))
    assert [event.operation for event in events] == ["GetItem", "TransactWriteItems"]
    assert {event.pattern for event in events} == {"update_order_status"}
    assert all(event.units for event in events)
    assert {event.table for event in events} == {"commerce_single_table"}


def test_a_plan_without_a_pattern_is_told_by_its_kind(
    db: Database, events: list[RequestEvent]
) -> None:
    db.run(CustomerOrder.primary("C1", "O100"))
    assert [event.pattern for event in events] == ["Get"]


def test_a_request_that_fails_is_told(db: Database, events: list[RequestEvent]) -> None:
    with pytest.raises(AlreadyExists):
        db.run(create(CustomerProfile(customer_id="C1", name="Ann", email="a@example.com")))
    assert [event.error for event in events] == ["ConditionalCheckFailedException"]


def test_what_a_scoped_or_asynchronous_database_does_is_told_too(
    events: list[RequestEvent],
) -> None:
    async def run() -> None:
        async with connect_async(":memory:", Commerce, observe=events.append) as database:
            await database.run(customer_timeline("C1", 2))

    asyncio.run(run())
    assert events[-1].pattern == "customer_timeline"


def test_usage_adds_up_by_pattern(db: Database) -> None:
    usage = Usage()
    with connect(db._transport.engine, Commerce, observe=usage) as observed:  # type: ignore[attr-defined]
        for _ in range(3):
            observed.run(customer_timeline("C1", 2))
        with pytest.raises(AlreadyExists):
            observed.run(
                create(CustomerProfile(customer_id="C1", name="Ann", email="a@example.com"))
            )
    total = usage.by_pattern["customer_timeline"]
    assert (total.requests, total.units, total.retries, total.failures) == (3, 1.5, 0, 0)
    assert usage.by_pattern["Create"].failures == 1


def test_requests_are_logged(db: Database, caplog: pytest.LogCaptureFixture) -> None:
    observer = log_requests(level=logging.INFO)
    observed = connect(db._transport.engine, Commerce, observe=observer)  # type: ignore[attr-defined]
    with caplog.at_level(logging.INFO, "tablewright.requests"):
        observed.run(customer_timeline("C1", 2))
        with pytest.raises(AlreadyExists):
            observed.run(
                create(CustomerProfile(customer_id="C1", name="Ann", email="a@example.com"))
            )
    told, failed = caplog.records
    assert told.levelno == logging.INFO
    assert told.getMessage().startswith(
        "Query commerce_single_table.gsi_customer_orders by customer_timeline: 0.5 units, "
    )
    assert failed.levelno == logging.INFO  # a condition that is false is no warning
    assert failed.getMessage().endswith(", ConditionalCheckFailedException")


@pytest.mark.parametrize(
    ("error", "level"),
    [
        ("", logging.DEBUG),
        ("ConditionalCheckFailedException", logging.DEBUG),
        ("TransactionCanceledException", logging.DEBUG),
        ("ValidationException", logging.DEBUG),
        ("ResourceNotFoundException", logging.DEBUG),
        ("ProvisionedThroughputExceededException", logging.DEBUG),
        ("ThrottlingException", logging.DEBUG),
        ("AccessDeniedException", logging.WARNING),
        ("UnrecognizedClientException", logging.WARNING),
        ("InternalServerError", logging.WARNING),
        ("EndpointUnavailable", logging.WARNING),
    ],
)
def test_expected_refusals_are_no_warnings(
    error: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "tablewright.requests"):
        log_requests()(RequestEvent(operation="Query", table="shop", pattern="users", error=error))
    assert [record.levelno for record in caplog.records] == [level]


def test_requests_are_spans_of_opentelemetry(db: Database) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    exporter = export.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    observer = trace_requests(provider.get_tracer("test"))
    with connect(db._transport.engine, Commerce, observe=observer) as observed:  # type: ignore[attr-defined]
        exporter.clear()
        observed.run(customer_timeline("C1", 2))
    (span,) = exporter.get_finished_spans()
    assert span.name == "Query commerce_single_table"
    assert span.attributes["db.operation.name"] == "Query"
    assert span.attributes["tablewright.pattern"] == "customer_timeline"
    assert span.attributes["tablewright.units"] == 0.5
    assert span.end_time > span.start_time


SEVERAL = r"observe= takes one function, not \[.*; to call several, write one that calls each"


def test_several_observers_are_refused_when_connecting() -> None:
    with pytest.raises(InvalidValue, match=SEVERAL):
        connect(":memory:", Commerce, observe=[Usage(), Usage()])  # type: ignore[arg-type]


def test_several_observers_are_refused_when_connecting_asynchronously() -> None:
    async def run() -> None:
        await connect_async(":memory:", Commerce, observe=[Usage()])  # type: ignore[arg-type]

    with pytest.raises(InvalidValue, match=SEVERAL):
        asyncio.run(run())
