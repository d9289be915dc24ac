"""The sample: orders of five lines, and what an application does with them.

Every library gets the same values and writes the same items. Order `n` belongs to a customer with
30 orders. This module uses the standard library only: it is imported beside every library.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

ORDERS_OF_A_CUSTOMER = 30
LINES = 5
PAGE = 20


class Line(NamedTuple):
    item_id: str
    sku: str
    quantity: int
    price: Decimal


class NewOrder(NamedTuple):
    customer_id: str
    order_id: str
    created_at: datetime
    total: Decimal
    lines: list[Line]


class StatusChange(NamedTuple):
    customer_id: str
    order_id: str
    expected_version: int
    status: str
    by: str
    reason: str


class Orders(Protocol):
    """The operations of a library. The methods of an asynchronous library are coroutines.

    Every method returns what is usual for the library: objects whose attributes are named as those
    of the commerce design.
    """

    def create(self, new: NewOrder) -> Any:
        """Create an order with its lines in one transaction, if none of them exists."""

    def get(self, customer_id: str, order_id: str) -> Any:
        """Return one order, without its lines."""

    def load(self, customer_id: str, order_id: str) -> Any:
        """Return one order and its lines, with one query."""

    def timeline(self, customer_id: str) -> Any:
        """Return the newest orders of a customer, and where the next page starts."""

    def change_status(self, change: StatusChange) -> Any:
        """Change the status and add an event to the history, if the version is the expected one.

        Reads the order, writes both items in one transaction, returns the changed order.
        """

    def close(self) -> Any:
        """Close the connections."""


def customer_id(n: int) -> str:
    return f"C{n // ORDERS_OF_A_CUSTOMER:04}"


def order_id(n: int) -> str:
    return f"O{n:06}"


def new_order(n: int) -> NewOrder:
    """Return order `n`."""
    lines = [
        Line(f"I{at}", f"SKU-{(n + at) % 500}", at, Decimal(f"{n % 90 + at}.95"))
        for at in range(1, LINES + 1)
    ]
    total = sum((line.quantity * line.price for line in lines), Decimal(0))
    created_at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n * 977, microseconds=n)
    return NewOrder(customer_id(n), order_id(n), created_at, total, lines)


def status_change(n: int) -> StatusChange:
    """Return the first change of order `n`."""
    return StatusChange(customer_id(n), order_id(n), 1, "PAID", "till", "card accepted")


def order_values(order: Any) -> tuple[object, ...]:
    """Return the values of an order, from the object of any library."""
    names = ("customer_id", "order_id", "created_at", "status", "total", "version")
    return tuple(getattr(order, name) for name in names)


def line_values(line: Any) -> tuple[object, ...]:
    """Return the values of a line, from the object of any library."""
    names = ("customer_id", "order_id", "item_id", "sku", "quantity", "price", "item_status")
    return tuple(getattr(line, name) for name in names)
