"""Several items by their keys: at one moment, or in as few requests as possible."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest

from tablewright import (
    access_pattern,
    batch_get,
    connect,
    connect_async,
    create,
    explain,
    put,
    transact_get,
)
from tablewright.database import Database
from tablewright.errors import (
    Contention,
    DeclarationError,
    InvalidValue,
    TenantViolation,
    TransactionCanceledException,
)
from tablewright.observe import RequestEvent
from tablewright.plan.plan import Wait
from tablewright.plans import BatchGet, Plan, TransactGet
from tests.costs import run_within_range
from tests.plan.reads.store import Customer, Item, Store
from tests.transports import record_requests

ANN = Customer(customer="C1", name="ann")
FIRST = Item(customer="C1", item_id="O1", day=date(2026, 3, 1))


@pytest.fixture
def db() -> Database:
    db = connect(":memory:", Store)
    db.run(create(ANN))
    db.run(create(FIRST))
    return db


BOTH = (Item.primary("C1", "O1"), Customer.primary("C1"))


@pytest.mark.parametrize(
    ("read", "operation"), [(transact_get, "TransactGetItems"), (batch_get, "BatchGetItem")]
)
def test_items_of_two_entities_are_read_in_one_request_in_order(
    db: Database, read: Any, operation: str
) -> None:
    recording = record_requests(db)
    assert db.run(read(*BOTH)) == (FIRST, ANN)
    assert db.run(read(*reversed(BOTH))) == (ANN, FIRST)
    assert recording.operations == [operation, operation]


@pytest.mark.parametrize("read", [transact_get, batch_get])
def test_a_missing_item_is_none_and_a_key_may_be_given_twice(db: Database, read: Any) -> None:
    keys = (Customer.primary("C1"), Item.primary("C1", "O9"), Customer.primary("C1"))
    assert db.run(read(*keys)) == (ANN, None, ANN)
    assert run_within_range(db, read(*keys)) == (ANN, None, ANN)


def test_a_transaction_costs_twice_a_consistent_read_as_explain_states(db: Database) -> None:
    db.run(put(Customer(customer="C1", name="x" * 5000)))
    events: list[RequestEvent] = []
    observed = connect(db._transport.engine, Store, observe=events.append)  # type: ignore[attr-defined]
    events.clear()
    observed.run(transact_get(*BOTH))
    assert [(event.operation, event.units) for event in events] == [("TransactGetItems", 6)]
    shape = explain(transact_get(*BOTH))
    assert (shape.operation, shape.page, shape.read_units) == ("TransactGetItems", "2", 4)
    assert 6 in shape.read_range
    assert (shape.read_range.low, shape.read_range.high) == (4, 400)


def test_a_consistent_batch_states_twice_the_units(db: Database) -> None:
    plan = batch_get(*BOTH)
    assert explain(plan).read_units == 1
    assert explain(plan.consistent()).read_units == 2
    assert run_within_range(db, plan.consistent()) == (FIRST, ANN)


def test_a_pattern_is_explained_with_every_key() -> None:
    @access_pattern
    def item_and_customer(
        customer: str, item_id: str
    ) -> TransactGet[tuple[Item | None, Customer | None]]:
        return transact_get(Item.primary(customer, item_id), Customer.primary(customer))

    shape = explain(item_and_customer)
    assert shape.entity == "Item, Customer"
    assert 'PK="CUST#{customer}" AND SK="ITEM#{item_id}"' in shape.condition
    assert 'SK="PROFILE"' in shape.condition


def test_a_batch_of_a_list_may_read_any_number_of_items() -> None:
    @access_pattern
    def customers(ids: list[str]) -> BatchGet[Customer]:
        return batch_get(Customer.primary(each) for each in ids)

    assert explain(customers).read_range.most("read") == "50 read for each item"
    assert explain(batch_get([Customer.primary("a[]")])).read_range.most("read") == "50 read"


def test_more_than_a_hundred_keys_are_refused() -> None:
    keys = [Item.primary("C1", f"O{number}") for number in range(101)]
    transact_get(*keys[:100])
    with pytest.raises(InvalidValue, match="101 keys; DynamoDB reads at most 100"):
        transact_get(*keys)


@pytest.mark.parametrize("read", [transact_get, batch_get])
@pytest.mark.parametrize("other", [ANN, Item.primary.within("C1"), None])
def test_what_is_not_a_key_is_refused(read: Any, other: Any) -> None:
    with pytest.raises(DeclarationError, match=r"takes keys, such as Order.primary\(…\)"):
        read(Customer.primary("C1"), other)


def test_nothing_to_read_is_refused() -> None:
    empty: Any = transact_get
    with pytest.raises(InvalidValue, match="at least one key"):
        empty()


@pytest.mark.parametrize("read", [transact_get, batch_get])
def test_one_key_of_another_tenant_refuses_all(db: Database, read: Any) -> None:
    db.run(create(Customer(customer="C2", name="bob")))
    scoped = db.for_tenant(customer="C1")
    recording = record_requests(scoped)
    assert scoped.run(read(*BOTH)) == (FIRST, ANN)
    with pytest.raises(TenantViolation):
        scoped.run(read(*BOTH, Customer.primary("C2")))
    assert len(recording.requests) == 1


def cancelled(code: str) -> TransactionCanceledException:
    return TransactionCanceledException([{"Code": "None"}, {"Code": code}])


def test_a_conflict_with_a_writer_is_tried_again(db: Database) -> None:
    plan: Plan[Any] = transact_get(*BOTH)
    steps = plan._steps(db._context)
    request = next(steps)
    assert isinstance(steps.throw(cancelled("TransactionConflict")), Wait)
    assert steps.send(b"") == request


def test_a_conflict_that_does_not_end_is_an_error(db: Database) -> None:
    plan: Plan[Any] = transact_get(*BOTH)
    steps = plan._steps(db._context)

    def always_in_conflict() -> None:
        while True:
            steps.send(None)  # type: ignore[arg-type]  # as next() does
            steps.throw(cancelled("TransactionConflict"))

    with pytest.raises(Contention, match="nothing was read"):
        always_in_conflict()


def test_another_reason_is_not_tried_again(db: Database) -> None:
    steps = transact_get(*BOTH)._steps(db._context)
    next(steps)
    with pytest.raises(TransactionCanceledException):
        steps.throw(cancelled("ValidationError"))


def test_an_asynchronous_database_reads_the_same() -> None:
    async def read() -> tuple[Customer | None, Customer | None]:
        async with connect_async(":memory:", Store) as db:
            await db.run(create(ANN))
            plan = transact_get(Customer.primary("C1"), Customer.primary("C2"))
            return await db.run(plan)

    assert asyncio.run(read()) == (ANN, None)
