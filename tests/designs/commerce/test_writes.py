"""Each row of the source document's write table.

A test has the name of its row; its docstring names the method and the test in the source document.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tablewright import explain
from tablewright.database import Database
from tablewright.designs.commerce import (
    CustomerOrder,
    CustomerProfile,
    ItemStatus,
    OrderLineItem,
    OrderWithItems,
    create_order_with_items,
    customer_orders_by_status,
    customer_profile,
    customer_timeline,
    delete_order_item,
    order_header,
    order_item,
    order_items,
    order_with_items,
    orders_by_status,
    put_customer,
    put_customer_if_absent,
    put_order,
    put_order_item,
    status_history,
    update_item_status,
    update_order_status,
    update_order_status_with_history,
)
from tablewright.errors import AlreadyExists, InvalidValue, VersionConflict
from tests.designs.commerce.support import (
    CREATED,
    FULFILLED,
    INDEXES,
    NOW,
    PAID,
    everything,
    ids,
    index_keys,
    items,
    line,
    order,
    request_shape,
    stored_item,
)
from tests.transports import CapacityTransport


def test_upsert_customer_profile(db: Database, sent: CapacityTransport, client: Any) -> None:
    """putCustomer: shouldUpsertCustomerProfileByExactKey"""
    assert request_shape(put_customer) == (
        "PutItem",
        None,
        'PK="CUST#{customer_id}" AND SK="PROFILE#{customer_id}"',
    )
    count = len(items(client))
    renamed = CustomerProfile(customer_id="C1", name="Ann Harbor", email="ann@example.org")
    db.run(put_customer(renamed))
    assert db.run(customer_profile("C1")) == renamed
    assert len(items(client)) == count

    new = CustomerProfile(customer_id="C3", name="Cat Bells", email="cat@example.com")
    db.run(put_customer(new))
    assert db.run(customer_profile("C3")) == new
    assert len(items(client)) == count + 1
    assert sent.operations == ["PutItem", "GetItem", "PutItem", "GetItem"]
    assert sent.indexes == set()


def test_idempotent_customer_create(db: Database, sent: CapacityTransport, client: Any) -> None:
    """putCustomerIfAbsent: shouldUseConditionalWriteForIdempotentCustomerCreate"""
    assert request_shape(put_customer_if_absent) == request_shape(put_customer)
    cat = CustomerProfile(customer_id="C3", name="Cat Bells", email="cat@example.com")
    db.run(put_customer_if_absent(cat))
    before = everything(client)

    another = CustomerProfile(customer_id="C3", name="Another customer", email="else@example.com")
    with pytest.raises(AlreadyExists) as caught:
        db.run(put_customer_if_absent(another))
    assert caught.value.current == cat
    assert everything(client) == before
    assert sent.operations == ["PutItem", "PutItem"]  # without a read before it
    assert "attribute_not_exists" in sent.requests[0][1]["ConditionExpression"]
    assert sent.indexes == set()


def test_create_order_root(db: Database, sent: CapacityTransport, client: Any) -> None:
    """putOrder: shouldQueryCustomerOrderTimelineFromGsi"""
    assert request_shape(put_order) == (
        "TransactWriteItems",  # the order and an event, if it replaces one
        ", ".join(INDEXES),
        'PK="CUST#{order.customer_id}" AND SK="ORDER#{order.order_id}"',
    )
    created = db.run(put_order(order("O500", total=Decimal(5))))
    assert (created.status, created.version) == (CREATED, 1)
    assert sent.operations == ["GetItem", "PutItem"]
    assert sent.indexes == set(INDEXES)
    assert stored_item(client, "ORDER#O500") == {
        "PK": "CUST#C1",
        "SK": "ORDER#O500",
        "GSI1PK": "CUST#C1",
        "GSI1SK": "ORDER#2026-01-25T10:15:30.000000Z#O500",
        "GSI2PK": "STATUS#CREATED",
        "GSI2SK": "ORDER#2026-01-25T10:15:30.000000Z#CUST#C1#O500",
        "GSI3PK": "CUST#C1#STATUS#CREATED",
        "GSI3SK": "ORDER#2026-01-25T10:15:30.000000Z#O500",
        "entityType": "CustomerOrder",
        "customerId": "C1",
        "orderId": "O500",
        "createdAt": "2026-01-25T10:15:30.000000Z",
        "status": "CREATED",
        "total": 5,
        "version": 1,
    }
    assert ids(db.run(customer_timeline("C1", 2))) == ["O500", "O104"]
    assert ids(db.run(orders_by_status(CREATED, 2))) == ["O500", "O106"]
    assert ids(db.run(customer_orders_by_status("C1", CREATED, 2))) == ["O500", "O103"]


def test_put_order_replaces_a_stored_order(db: Database, client: Any) -> None:
    replaced = db.run(put_order(order("O100", day=3, status=PAID, total=Decimal(5))))
    assert replaced.version == 2
    stored = stored_item(client, "ORDER#O100")
    assert stored is not None
    assert [stored[name] for name in ("createdAt", "status", "total", "version")] == [
        "2026-01-18T10:15:30.000000Z",
        "PAID",
        5,
        2,
    ]
    assert index_keys(client, "gsi_customer_status_orders", "O100") == [
        ("CUST#C1#STATUS#PAID", "ORDER#2026-01-18T10:15:30.000000Z#O100")
    ]


def test_add_order_line_item(db: Database, sent: CapacityTransport) -> None:
    """putOrderItem: shouldLoadOrderAggregateFromSinglePartitionQuery"""
    assert request_shape(put_order_item) == (
        "PutItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    added = line("I4", "O100")
    db.run(put_order_item(added))
    assert sent.operations == ["PutItem"]
    assert sent.indexes == set()
    found = db.run(order_with_items("C1", "O100"))
    assert found is not None
    assert [item.item_id for item in found.items] == ["I1", "I2", "I3", "I4"]
    assert found.items[-1] == added


def test_update_order_status(db: Database, sent: CapacityTransport, client: Any) -> None:
    """updateOrderStatus: shouldUpdateOrderStatusAndMoveOrderAcrossStatusIndexes"""
    assert request_shape(update_order_status) == (
        "TransactWriteItems",  # the order and its event, after a read of the version
        "gsi_status_orders, gsi_customer_status_orders",
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"',
    )
    before = {item["SK"]: item for item in items(client)}
    updated = db.run(update_order_status("C1", "O103", PAID))
    assert (updated.status, updated.version) == (PAID, 2)
    assert sent.operations == ["GetItem", "TransactWriteItems"]

    assert "O103" not in ids(db.run(orders_by_status(CREATED, 99)))
    assert "O103" not in ids(db.run(customer_orders_by_status("C1", CREATED, 99)))
    assert ids(db.run(orders_by_status(PAID, 99))) == ["O107", "O104", "O103", "O101"]
    assert ids(db.run(customer_orders_by_status("C1", PAID, 99))) == ["O104", "O103", "O101"]

    after = {item["SK"]: item for item in items(client)}
    changed = {sk for sk, item in after.items() if before.get(sk) != item}
    assert changed == {"ORDER#O103", "ORDER_STATUS_EVT#O103#V#0000000002"}
    assert after["ORDER#O103"] == before["ORDER#O103"] | {
        "GSI2PK": "STATUS#PAID",
        "GSI3PK": "CUST#C1#STATUS#PAID",
        "status": "PAID",
        "version": 2,
    }


def test_update_status_with_history_and_lock(
    db: Database, sent: CapacityTransport, client: Any
) -> None:
    """updateOrderStatusWithHistory: shouldAppendStatusHistoryAndIncrementVersionOnStatusUpdate"""
    assert request_shape(update_order_status_with_history) == request_shape(update_order_status)
    assert explain(update_order_status_with_history).filter == "version = {expected_version}"
    updated = db.run(update_order_status_with_history("C1", "O100", PAID, 1, "till", "card"))
    assert (updated.status, updated.version) == (PAID, 2)
    assert db.run(order_header("C1", "O100")) == updated
    transaction = dict(sent.requests)["TransactWriteItems"]["TransactItems"]
    assert [list(action) for action in transaction] == [["Update"], ["Put"]]
    (event,) = db.run(status_history("C1", "O100", 10))
    assert (event.version, event.from_status, event.to_status) == (2, CREATED, PAID)
    assert (event.changed_at, event.changed_by, event.reason) == (NOW, "till", "card")
    assert index_keys(client, "gsi_status_orders", "O100") == [
        ("STATUS#PAID", "ORDER#2026-01-15T10:15:30.000000Z#CUST#C1#O100")
    ]
    assert index_keys(client, "gsi_customer_status_orders", "O100") == [
        ("CUST#C1#STATUS#PAID", "ORDER#2026-01-15T10:15:30.000000Z#O100")
    ]
    assert index_keys(client, "gsi_customer_orders", "O100") == [
        ("CUST#C1", "ORDER#2026-01-15T10:15:30.000000Z#O100")
    ]


@pytest.mark.parametrize("expected", [1, 3], ids=["an old version", "a future version"])
def test_reject_stale_status_update(db: Database, expected: int, client: Any) -> None:
    """updateOrderStatusWithHistory: shouldRejectStaleVersionDuringOptimisticStatusUpdate"""
    current = db.run(update_order_status("C1", "O100", PAID))
    before = everything(client)
    with pytest.raises(VersionConflict) as caught:
        db.run(update_order_status_with_history("C1", "O100", FULFILLED, expected, "web", "late"))
    assert caught.value.current == current
    assert caught.value.entity == "CustomerOrder"
    assert caught.value.key == {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O100"}}
    assert str(caught.value).endswith(f"version {expected} was expected, but version 2 is stored")
    assert everything(client) == before


def test_update_item_status(db: Database, sent: CapacityTransport, client: Any) -> None:
    """updateOrderItemStatus: shouldUpdateItemStatusWithinOrder"""
    assert request_shape(update_item_status) == (
        "UpdateItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    before = items(client)
    updated = db.run(update_item_status("C1", "O100", "I2", ItemStatus.SHIPPED))
    assert updated.item_status == ItemStatus.SHIPPED
    assert sent.operations == ["UpdateItem"]
    assert sent.indexes == set()
    assert items(client) == [
        item | {"itemStatus": "SHIPPED"} if item["SK"] == "ORDER#O100#ITEM#I2" else item
        for item in before
    ]
    found = db.run(order_items("C1", "O100"))
    assert [item.item_status for item in found] == ["PENDING", "SHIPPED", "PENDING"]


def test_delete_one_order_item(db: Database, sent: CapacityTransport, client: Any) -> None:
    """deleteOrderItem: shouldDeleteOrderItemByPrimaryKey"""
    assert request_shape(delete_order_item) == (
        "DeleteItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    before = items(client)
    deleted = db.run(delete_order_item("C1", "O100", "I2"))
    assert deleted is not None
    assert deleted.sku == "SKU-2"
    assert items(client) == [item for item in before if item["SK"] != "ORDER#O100#ITEM#I2"]
    assert db.run(delete_order_item("C1", "O100", "I2")) is None
    assert sent.operations == ["DeleteItem", "DeleteItem"]
    assert sent.indexes == set()


def test_atomic_order_root_and_items_write(db: Database, sent: CapacityTransport) -> None:
    """createOrderWithItemsAtomic: shouldCreateOrderAndItemsAtomically"""
    shape = explain(create_order_with_items)
    assert shape.operation == "TransactWriteItems"
    assert [(step.operation, step.condition) for step in shape.steps] == [
        ("PutItem", 'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"'),
        (
            "PutItem",
            'PK="CUST#{items[].customer_id}" AND '
            'SK="ORDER#{items[].order_id}#ITEM#{items[].item_id}"',
        ),
    ]
    new, lines = order("O500"), [line("I1"), line("I2")]
    db.run(create_order_with_items(new, lines))
    assert sent.operations == ["TransactWriteItems"]
    puts = [action["Put"] for action in sent.requests[0][1]["TransactItems"]]
    assert len(puts) == 3
    assert all("attribute_not_exists" in put["ConditionExpression"] for put in puts)
    assert sent.indexes == set(INDEXES)
    found = db.run(order_with_items("C1", "O500"))
    assert found == OrderWithItems(order=new, items=lines)
    assert new.version == 1
    assert ids(db.run(customer_timeline("C1", 1))) == ["O500"]


CONFLICTS: dict[str, tuple[CustomerOrder, list[OrderLineItem], str]] = {
    "the root": (order("O100"), [line("I7", "O100")], "write 1 of 2, create CustomerOrder: "),
    "the first item": (
        order("O500"),
        [line("I1"), line("I7")],
        "write 2 of 3, create OrderLineItem: ",
    ),
    "the last item": (
        order("O500"),
        [line("I7"), line("I1")],
        "write 3 of 3, create OrderLineItem: ",
    ),
}


@pytest.mark.parametrize(
    "foreign", [line("I1", "O100"), line("I1", customer_id="C2")], ids=["order", "customer"]
)
def test_an_order_is_not_created_with_items_of_another(
    db: Database, foreign: OrderLineItem, client: Any
) -> None:
    before = everything(client)
    with pytest.raises(InvalidValue, match="with its own items only"):
        db.run(create_order_with_items(order("O500"), [foreign]))
    assert everything(client) == before


@pytest.mark.parametrize("which", CONFLICTS)
def test_atomic_rollback_on_conflict(db: Database, which: str, client: Any) -> None:
    """createOrderWithItemsAtomic: shouldRollbackAtomicCreateWhenAnyRowAlreadyExists"""
    new, lines, message = CONFLICTS[which]
    db.run(put_order_item(line("I1")))
    before = everything(client)
    with pytest.raises(AlreadyExists) as caught:
        db.run(create_order_with_items(new, lines))
    assert str(caught.value).startswith(message)
    assert everything(client) == before
    current: Any = db.run(
        order_header("C1", "O100") if which == "the root" else order_item("C1", "O500", "I1")
    )
    assert caught.value.current == current
