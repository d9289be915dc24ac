"""Sample data and checks of commerce: the rows of the source document's read and write tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tablewright import Entity
from tablewright.designs.commerce import (
    CustomerOrder,
    CustomerProfile,
    ItemStatus,
    OrderLineItem,
    OrderStatus,
    OrderStatusEvent,
    OrderWithItems,
    create_order_with_items,
    customer_orders_by_status,
    customer_profile,
    customer_timeline,
    customer_timeline_page,
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
from tablewright.errors import AlreadyExists, VersionConflict
from tablewright.verify.checks import Check, Raises, Stored, changed


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


def checks(stored: Stored) -> Iterator[Check]:
    """Check each row of the read table, then of the write table."""
    yield from _reads(stored)
    yield from _writes(stored)


def _order(stored: Stored, order_id: str) -> CustomerOrder:
    return next(order for order in stored(CustomerOrder) if order.order_id == order_id)


def _items(stored: Stored, order_id: str) -> list[OrderLineItem]:
    return [item for item in stored(OrderLineItem) if item.order_id == order_id]


def _feed(
    stored: Stored, customer_id: str | None, status: OrderStatus | None
) -> list[CustomerOrder]:
    """Return the newest orders first, as every feed does."""
    found = [
        order
        for order in stored(CustomerOrder)
        if customer_id in (None, order.customer_id) and status in (None, order.status)
    ]
    return sorted(found, key=lambda order: order.created_at, reverse=True)


def _history(stored: Stored) -> list[OrderStatusEvent]:
    """Return the updates of order O1, newest first, with their stored times."""
    steps = [
        (5, OrderStatus.PAID, OrderStatus.PAID, None, None),
        (4, OrderStatus.PAID, OrderStatus.PAID, "till", "receipt"),
        (3, OrderStatus.AWAITING_PAYMENT, OrderStatus.PAID, "till", "card"),
        (2, OrderStatus.CREATED, OrderStatus.AWAITING_PAYMENT, None, None),
    ]
    times = {event.version: event.changed_at for event in stored(OrderStatusEvent)}
    return [
        OrderStatusEvent(
            customer_id="C3",
            order_id="O1",
            version=version,
            from_status=old,
            to_status=new,
            changed_at=times[version],
            changed_by=by,
            reason=why,
        )
        for version, old, new, by, why in steps
    ]


def _reads(stored: Stored) -> Iterator[Check]:
    paid = OrderStatus.PAID
    yield Check(
        "Get customer profile by customerId",
        customer_profile("C1"),
        next(customer for customer in stored(CustomerProfile) if customer.customer_id == "C1"),
    )
    yield Check(
        "Get one order header by customerId + orderId",
        order_header("C1", "O100"),
        _order(stored, "O100"),
    )
    yield Check(
        "Get one specific order item by customerId + orderId + itemId",
        order_item("C1", "O100", "I2"),
        _items(stored, "O100")[1],
    )
    yield Check("List items for one order", order_items("C1", "O10"), _items(stored, "O10"))
    yield Check(
        "Load order aggregate (order + items)",
        order_with_items("C1", "O10"),
        OrderWithItems(order=_order(stored, "O10"), items=_items(stored, "O10")),
    )
    yield Check(
        "List customer timeline (newest first)",
        customer_timeline("C1", 3),
        _feed(stored, "C1", None)[:3],
    )
    yield Check(
        "Paginate customer timeline",
        customer_timeline_page("C1", 2, None),
        _feed(stored, "C1", None)[:4],
        pages=2,
    )
    yield Check(
        "List global orders for one status",
        orders_by_status(paid, 10),
        _feed(stored, None, paid),
    )
    yield Check(
        "List customer orders for one status",
        customer_orders_by_status("C1", paid, 10),
        _feed(stored, "C1", paid),
    )


def _writes(stored: Stored) -> Iterator[Check]:
    renamed = CustomerProfile(customer_id="C2", name="Ben Lomond", email="ben@example.com")
    yield Check("Upsert customer profile", put_customer(renamed), renamed)
    cat = CustomerProfile(customer_id="C3", name="Cat Bells", email="cat@example.com")
    yield Check("Idempotent customer create", put_customer_if_absent(cat), cat)
    yield Check(
        "Idempotent customer create, a second time",
        put_customer_if_absent(changed(cat, name="Another customer")),
        Raises(AlreadyExists),
    )
    new = CustomerOrder(
        customer_id="C3", order_id="O1", created_at=datetime(2026, 2, 1, tzinfo=UTC)
    )
    yield Check("Create order root", put_order(new), changed(new, version=1))
    item = OrderLineItem(customer_id="C3", order_id="O1", item_id="I1", sku="SKU-1")
    yield Check("Add order line item", put_order_item(item), item)

    yield Check(
        "Update order status (state transition)",
        update_order_status("C3", "O1", OrderStatus.AWAITING_PAYMENT),
        changed(new, status=OrderStatus.AWAITING_PAYMENT, version=2),
    )
    yield Check(
        "Update status with history + lock",
        update_order_status_with_history("C3", "O1", OrderStatus.PAID, 2, "till", "card"),
        changed(new, status=OrderStatus.PAID, version=3),
    )
    yield Check(
        "Reject stale status update",
        update_order_status_with_history("C3", "O1", OrderStatus.CANCELLED, 2, "web", "late"),
        Raises(VersionConflict),
    )
    yield Check(
        "Update status with history, the status stays the same",
        update_order_status_with_history("C3", "O1", OrderStatus.PAID, 3, "till", "receipt"),
        changed(new, status=OrderStatus.PAID, version=4),
    )
    replaced = changed(new, status=OrderStatus.PAID, total=Decimal("59.70"))
    yield Check("Create order root, replaces it", put_order(replaced), changed(replaced, version=5))
    yield Check(
        "List status change history for one order",
        status_history("C3", "O1", 10),
        lambda: _history(stored),
    )
    yield Check(
        "List global orders for one status, after the update",
        orders_by_status(OrderStatus.PAID, 10),
        lambda: _feed(stored, None, OrderStatus.PAID),
    )
    yield Check(
        "List customer orders for one status, after the update",
        customer_orders_by_status("C3", OrderStatus.AWAITING_PAYMENT, 10),
        [],
    )
    yield Check(
        "Update item status (partial fulfillment)",
        update_item_status("C3", "O1", "I1", ItemStatus.SHIPPED),
        changed(item, item_status=ItemStatus.SHIPPED),
    )
    yield Check(
        "Delete one order item",
        delete_order_item("C3", "O1", "I1"),
        changed(item, item_status=ItemStatus.SHIPPED),
    )
    whole = CustomerOrder(
        customer_id="C3", order_id="O2", created_at=datetime(2026, 2, 2, tzinfo=UTC)
    )
    lines = [
        OrderLineItem(customer_id="C3", order_id="O2", item_id=f"I{n}", sku="SKU-9") for n in (1, 2)
    ]
    yield Check("Atomic order root + items write", create_order_with_items(whole, lines), None)
    another = CustomerOrder(
        customer_id="C3", order_id="O3", created_at=datetime(2026, 2, 3, tzinfo=UTC)
    )
    early = OrderLineItem(customer_id="C3", order_id="O3", item_id="I1", sku="SKU-9")
    yield Check("Add order line item, before its order", put_order_item(early), early)
    yield Check(
        "Atomic rollback on conflict",
        create_order_with_items(another, [early]),
        Raises(AlreadyExists),
    )
