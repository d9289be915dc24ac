"""Helpers for the tests of the commerce design: stored items, short names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright import explain
from tablewright.designs.commerce import CustomerOrder, OrderLineItem, OrderStatus
from tests.designs.stored import scan

NAME = "commerce_single_table"
START = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
INDEXES = ("gsi_customer_orders", "gsi_status_orders", "gsi_customer_status_orders")
CREATED, PAID, FULFILLED = OrderStatus.CREATED, OrderStatus.PAID, OrderStatus.FULFILLED


def items(client: Any, index: str | None = None) -> list[dict[str, Any]]:
    """Return every item of the table or of an index, with plain values."""
    found = scan(client, NAME, index)
    return [{name: plain_value(value) for name, value in item.items()} for item in found]


def plain_value(value: dict[str, Any]) -> Any:
    ((tag, content),) = value.items()
    return int(content) if tag == "N" and content.isdigit() else content


def stored_item(client: Any, sk: str, customer_id: str = "C1") -> dict[str, Any] | None:
    key = {"PK": f"CUST#{customer_id}", "SK": sk}
    return next((found for found in items(client) if key.items() <= found.items()), None)


def everything(client: Any) -> list[dict[str, Any]]:
    """Return the items of the table and of all its indexes, to detect any change."""
    found = [items(client, name) for name in (None, *INDEXES)]
    return [item for part in found for item in part]


def index_keys(client: Any, index: str, order_id: str) -> list[tuple[str, str]]:
    """Return the keys of an order in an index."""
    number = INDEXES.index(index) + 1
    return [
        (item[f"GSI{number}PK"], item[f"GSI{number}SK"])
        for item in items(client, index)
        if item["orderId"] == order_id
    ]


def request_shape(function: Callable[..., Any]) -> tuple[str, str | None, str]:
    """Return the operation, the index (None for the table) and the key condition."""
    shape = explain(function)
    return shape.operation, shape.index, shape.condition


def ids(orders: Any) -> list[str]:
    return [order.order_id for order in orders]


def order(order_id: str, customer_id: str = "C1", *, day: int = 10, **values: Any) -> CustomerOrder:
    created = START + timedelta(days=day)
    return CustomerOrder(customer_id=customer_id, order_id=order_id, created_at=created, **values)


def line(item_id: str, order_id: str = "O500", customer_id: str = "C1") -> OrderLineItem:
    return OrderLineItem(customer_id=customer_id, order_id=order_id, item_id=item_id, sku="SKU-9")
