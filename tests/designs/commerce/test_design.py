"""The commerce design as a whole: every row is verified, no pattern scans."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tablewright import Engine, Query, connect, explain
from tablewright.database import Database
from tablewright.designs.catalog import load
from tablewright.designs.commerce import (
    Commerce,
    CustomerOrder,
    customer_orders_by_status,
    customer_timeline,
    order_items,
    order_with_items,
    orders_by_status,
    update_order_status_with_history,
)
from tablewright.designs.commerce.checks import checks
from tablewright.errors import AlreadyExists, DeclarationError, VersionConflict
from tablewright.model.pattern import why_scan
from tablewright.plans import access_patterns
from tablewright.publish import document
from tablewright.verify.contents import Scanner
from tests.designs.commerce.support import (
    CREATED,
)
from tests.transports import CapacityTransport

ROWS = [
    "Get customer profile by customerId",
    "Get one order header by customerId + orderId",
    "Get one specific order item by customerId + orderId + itemId",
    "List items for one order",
    "Load order aggregate (order + items)",
    "List customer timeline (newest first)",
    "Paginate customer timeline",
    "List global orders for one status",
    "List customer orders for one status",
    "List status change history for one order",
    "Upsert customer profile",
    "Idempotent customer create",
    "Create order root",
    "Add order line item",
    "Update order status (state transition)",
    "Update status with history + lock",
    "Reject stale status update",
    "Update item status (partial fulfillment)",
    "Delete one order item",
    "Atomic order root + items write",
    "Atomic rollback on conflict",
]


def test_the_design_verifies_every_row_of_the_document(db: Database) -> None:
    names = [check.name for check in checks(Scanner(db))]
    assert [row for row in ROWS if row not in names] == []


def test_no_pattern_scans(db: Database, engine: Engine) -> None:
    scanner = Scanner(connect(engine, Commerce))
    db._transport = sent = CapacityTransport(db._transport)
    called = set()
    for check in checks(scanner):
        called.add(check.plan._pattern.rpartition(".")[2])
        with suppress(AlreadyExists, VersionConflict):  # the expected errors
            db.run(check.plan)
    assert called == {
        traced.name
        for traced in access_patterns(Commerce)
        if traced.function.__module__ == Commerce.__module__
    }
    assert set(sent.operations) == {
        "GetItem",
        "Query",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "TransactWriteItems",
    }
    assert not any("FilterExpression" in request for _, request in sent.requests)


def test_no_read_discards_items(db: Database) -> None:
    db._transport = sent = CapacityTransport(db._transport)
    found = db.run(order_with_items("C1", "O100"))
    assert found is not None
    feeds = (
        customer_timeline("C1", 4),
        orders_by_status(CREATED, 3),
        customer_orders_by_status("C1", CREATED, 2),
    )
    returned = [*found.items, *db.run(order_items("C1", "O100"))]
    orders = [found.order, *(order for feed in feeds for order in db.run(feed))]
    assert sent.read == len(returned) + len(orders) == 16


def rows_of(section: str) -> list[list[str]]:
    """Return the cells of the table in a section of the generated document."""
    text = document(load("commerce")).partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_document_says_why_each_pattern_is_efficient() -> None:
    reasons = {row[2].strip("`"): (row[3], row[-1]) for row in rows_of("Access patterns")}
    assert reasons["customer_profile"] == ("GetItem", "point read by the whole primary key")
    assert reasons["customer_timeline"] == (
        "Query",
        "one partition of an index that contains only CustomerOrder; page size {limit}",
    )
    assert reasons["put_customer_if_absent"] == (
        "PutItem",
        "one write by the exact key; a condition, not a read, prevents duplicates; "
        "changes keys of no index",
    )
    assert reasons["update_order_status_with_history"] == (
        "GetItem + TransactWriteItems",
        "a point read first; the write requires what was read to be unchanged; "
        "all or nothing, by exact keys; changes keys of 2 indexes",
    )
    assert all(reason for _, reason in reasons.values())


def test_the_document_lists_the_queries_that_need_another_index() -> None:
    rows = rows_of("Not efficient with these keys")
    assert [row[0] for row in rows] == [
        "Query by sku across all customers/orders",
        "Query by itemStatus across all customers/orders",
        "Global date-range feed independent of status/customer",
    ]
    assert rows[0][1] == "no key or index of OrderLineItem begins with sku"
    assert 'by_sku = GSI("GSI4PK", "GSI4SK")' in rows[0][2]


def test_a_query_that_a_key_serves_is_not_listed_as_inefficient() -> None:
    def by_customer(customer_id: str) -> Query[CustomerOrder]:
        return CustomerOrder.where(CustomerOrder.customer_id == customer_id)

    with pytest.raises(DeclarationError, match="by_customer is not inefficient"):
        why_scan(by_customer)


def test_explain_shows_the_read_before_the_transaction() -> None:
    read, update, event = explain(update_order_status_with_history).steps
    assert (read.operation, update.operation, event.operation) == ("GetItem", "Update", "Put")
    assert read.condition == update.condition
    assert "version is unchanged since the read" in update.requires
