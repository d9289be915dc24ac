"""Sample data of the commerce design."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tablewright import Entity
from tablewright.designs.commerce import CustomerOrder, CustomerProfile, OrderLineItem, OrderStatus


def sample() -> list[Entity]:
    """Return two customers with nine orders; three of the orders have items."""
    start = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
    statuses = (OrderStatus.CREATED, OrderStatus.PAID, OrderStatus.FULFILLED)
    orders = [
        CustomerOrder(
            customer_id="C1" if number < 5 else "C2",
            order_id=f"O{100 + number}",
            created_at=start + timedelta(days=number),
            status=statuses[number % 3],
            total=Decimal("19.90") * (number + 1),
        )
        for number in range(8)
    ]
    # O10 is a prefix of O100 to O107.
    orders.append(
        CustomerOrder(customer_id="C1", order_id="O10", created_at=start - timedelta(days=1))
    )
    items = [
        OrderLineItem(
            customer_id="C1",
            order_id=order_id,
            item_id=f"I{number}",
            sku=f"SKU-{number}",
            quantity=number,
            price=Decimal("19.90"),
        )
        for order_id in ("O100", "O101", "O10")
        for number in range(1, 4)
    ]
    return [
        CustomerProfile(customer_id="C1", name="Ann Arbor", email="ann@example.com"),
        CustomerProfile(customer_id="C2", name="Ben Nevis", email="ben@example.com"),
        *orders,
        *items,
    ]
