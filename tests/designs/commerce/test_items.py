"""The table and its items have the form of the source document."""

from __future__ import annotations

from typing import Any

from tablewright.database import Database
from tablewright.designs.commerce import (
    OrderStatus,
    put_order,
    status_history,
    update_order_status,
    update_order_status_with_history,
)
from tests.designs.commerce.support import NAME, PAID, index_keys, order, stored_item


def test_the_table_has_the_keys_and_indexes_of_the_document(db: Database, client: Any) -> None:
    table = client.describe_table(TableName=NAME)["Table"]

    def keys(described: dict[str, Any]) -> list[tuple[str, str]]:
        return [(key["AttributeName"], key["KeyType"]) for key in described["KeySchema"]]

    assert keys(table) == [("PK", "HASH"), ("SK", "RANGE")]
    indexes = {index["IndexName"]: index for index in table["GlobalSecondaryIndexes"]}
    assert {name: keys(index) for name, index in indexes.items()} == {
        "gsi_customer_orders": [("GSI1PK", "HASH"), ("GSI1SK", "RANGE")],
        "gsi_status_orders": [("GSI2PK", "HASH"), ("GSI2SK", "RANGE")],
        "gsi_customer_status_orders": [("GSI3PK", "HASH"), ("GSI3SK", "RANGE")],
    }
    assert {index["Projection"]["ProjectionType"] for index in indexes.values()} == {"ALL"}
    assert "LocalSecondaryIndexes" not in table


def test_a_customer_profile_is_stored_as_in_the_document(db: Database, client: Any) -> None:
    assert stored_item(client, "PROFILE#C1") == {
        "PK": "CUST#C1",
        "SK": "PROFILE#C1",
        "entityType": "CustomerProfile",
        "customerId": "C1",
        "name": "Ann Arbor",
        "email": "ann@example.com",
    }


def test_an_order_root_is_stored_as_in_the_document(db: Database, client: Any) -> None:
    assert stored_item(client, "ORDER#O101") == {
        "PK": "CUST#C1",
        "SK": "ORDER#O101",
        "GSI1PK": "CUST#C1",
        "GSI1SK": "ORDER#2026-01-16T10:15:30.000000Z#O101",
        "GSI2PK": "STATUS#PAID",
        "GSI2SK": "ORDER#2026-01-16T10:15:30.000000Z#CUST#C1#O101",
        "GSI3PK": "CUST#C1#STATUS#PAID",
        "GSI3SK": "ORDER#2026-01-16T10:15:30.000000Z#O101",
        "entityType": "CustomerOrder",
        "customerId": "C1",
        "orderId": "O101",
        "createdAt": "2026-01-16T10:15:30.000000Z",
        "status": "PAID",
        "total": "39.8",
        "version": 1,
    }


def test_an_order_item_is_stored_as_in_the_document(db: Database, client: Any) -> None:
    assert stored_item(client, "ORDER#O100#ITEM#I2") == {
        "PK": "CUST#C1",
        "SK": "ORDER#O100#ITEM#I2",
        "entityType": "OrderLineItem",
        "customerId": "C1",
        "orderId": "O100",
        "itemId": "I2",
        "sku": "SKU-2",
        "quantity": 2,
        "price": "19.9",
        "itemStatus": "PENDING",
    }


def test_a_status_event_is_stored_as_in_the_document(db: Database, client: Any) -> None:
    db.run(update_order_status_with_history("C1", "O100", PAID, 1, "till", "card"))

    assert stored_item(client, "ORDER_STATUS_EVT#O100#V#0000000002") == {
        "PK": "CUST#C1",
        "SK": "ORDER_STATUS_EVT#O100#V#0000000002",
        "entityType": "OrderStatusEvent",
        "customerId": "C1",
        "orderId": "O100",
        "version": 2,
        "fromStatus": "CREATED",
        "toStatus": "PAID",
        "changedAt": "2026-03-01T12:00:00.000000Z",
        "changedBy": "till",
        "reason": "card",
    }


def test_the_statuses_are_those_of_the_lifecycle() -> None:
    assert [status.value for status in OrderStatus] == [
        "CREATED",
        "AWAITING_PAYMENT",
        "PAID",
        "IN_FULFILLMENT",
        "PARTIALLY_FULFILLED",
        "FULFILLED",
        "CANCELLED",
        "REFUNDED",
    ]


def test_each_feed_contains_an_order_once_in_every_status(db: Database, client: Any) -> None:
    db.run(put_order(order("O500")))
    for number, status in enumerate(list(OrderStatus)[1:], start=2):
        assert db.run(update_order_status("C1", "O500", status)).version == number
        assert index_keys(client, "gsi_status_orders", "O500") == [
            (f"STATUS#{status}", "ORDER#2026-01-25T10:15:30.000000Z#CUST#C1#O500")
        ]
        assert index_keys(client, "gsi_customer_status_orders", "O500") == [
            (f"CUST#C1#STATUS#{status}", "ORDER#2026-01-25T10:15:30.000000Z#O500")
        ]
    history = db.run(status_history("C1", "O500", 10))
    assert [event.to_status for event in history] == list(OrderStatus)[:0:-1]
