"""Dataclasses for the libraries that read and write dictionaries of Python values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from benchmarks.peers.libraries.sample import NewOrder, StatusChange

TIMELINE = "gsi_customer_orders"


@dataclass
class Order:
    customer_id: str
    order_id: str
    created_at: datetime
    status: str
    total: Decimal
    version: int


@dataclass
class OrderLine:
    customer_id: str
    order_id: str
    item_id: str
    sku: str
    quantity: int
    price: Decimal
    item_status: str


def order_key(customer_id: str, order_id: str) -> dict[str, Any]:
    return {"PK": f"CUST#{customer_id}", "SK": f"ORDER#{order_id}"}


def status_keys(order: Order) -> dict[str, Any]:
    placed = f"ORDER#{moment(order.created_at)}"
    return {
        "GSI2PK": f"STATUS#{order.status}",
        "GSI2SK": f"{placed}#CUST#{order.customer_id}#{order.order_id}",
        "GSI3PK": f"CUST#{order.customer_id}#STATUS#{order.status}",
        "GSI3SK": f"{placed}#{order.order_id}",
    }


def items_of(new: NewOrder) -> list[dict[str, Any]]:
    """Return the items of a new order: the order, then its lines."""
    order = Order(new.customer_id, new.order_id, new.created_at, "CREATED", new.total, 1)
    placed = moment(order.created_at)
    key = order_key(order.customer_id, order.order_id)
    ids = {"customerId": order.customer_id, "orderId": order.order_id}
    root = {
        **key,
        "GSI1PK": f"CUST#{order.customer_id}",
        "GSI1SK": f"ORDER#{placed}#{order.order_id}",
        **status_keys(order),
        "entityType": "CustomerOrder",
        **ids,
        "createdAt": placed,
        "status": order.status,
        "total": order.total,
        "version": order.version,
    }
    lines = [
        {
            "PK": key["PK"],
            "SK": f"{key['SK']}#ITEM#{line.item_id}",
            "entityType": "OrderLineItem",
            **ids,
            "itemId": line.item_id,
            "sku": line.sku,
            "quantity": line.quantity,
            "price": line.price,
            "itemStatus": "PENDING",
        }
        for line in new.lines
    ]
    return [root, *lines]


def event_item(before: Order, change: StatusChange, now: datetime) -> dict[str, Any]:
    version = before.version + 1
    return {
        "PK": f"CUST#{before.customer_id}",
        "SK": f"ORDER_STATUS_EVT#{before.order_id}#V#{version:010}",
        "entityType": "OrderStatusEvent",
        "customerId": before.customer_id,
        "orderId": before.order_id,
        "version": version,
        "fromStatus": before.status,
        "toStatus": change.status,
        "changedAt": moment(now),
        "changedBy": change.by,
        "reason": change.reason,
    }


def order_from(item: dict[str, Any]) -> Order:
    return Order(
        item["customerId"],
        item["orderId"],
        datetime.fromisoformat(item["createdAt"]),
        item["status"],
        item["total"],
        int(item["version"]),
    )


def line_from(item: dict[str, Any]) -> OrderLine:
    return OrderLine(
        item["customerId"],
        item["orderId"],
        item["itemId"],
        item["sku"],
        int(item["quantity"]),
        item["price"],
        item["itemStatus"],
    )


def order_with_lines(items: list[dict[str, Any]]) -> tuple[Order, list[OrderLine]]:
    root, *lines = items
    return order_from(root), [line_from(line) for line in lines]


def moment(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
