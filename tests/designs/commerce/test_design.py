"""The commerce design as a whole: every row is verified, no pattern scans."""

from __future__ import annotations

from contextlib import suppress

from tablewright import Engine, connect
from tablewright.database import Database
from tablewright.designs.commerce import (
    Commerce,
    customer_orders_by_status,
    customer_timeline,
    order_items,
    order_with_items,
    orders_by_status,
)
from tablewright.designs.commerce.checks import checks
from tablewright.errors import AlreadyExists, VersionConflict
from tablewright.plans import access_patterns
from tablewright.verify.run import Scanner
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
