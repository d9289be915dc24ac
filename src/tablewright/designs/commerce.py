"""Commerce: customers, orders and line items; status feeds, optimistic lock and history.

    PK=CUST#{customerId}   SK=PROFILE#{customerId}                         Customer
                           SK=ORDER#{orderId}                              Order
                           SK=ORDER#{orderId}#ITEM#{itemId}                OrderItem
                           SK=ORDER_STATUS_EVT#{orderId}#V#{version}       StatusEvent

Orders, and nothing else, are in three sparse indexes: a customer's timeline, the feed of one
status, and the feed of one customer and one status. An update of the status moves an order from
feed to feed, counts its version and appends an event, all in one transaction.

Chosen where the document leaves it open: the version in an event's key has ten digits; an event is
written when the status changes, and not when an order is created or set to the status it has;
times have microseconds. Chosen where it contradicts itself: an update of the status without an
expected version is the same transaction as with one, and not a lone UpdateItem. And an order with
its items is the range from its key to the end of what is below it, since
`begins_with(SK, ORDER#O10)` would read O100 as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Entity,
    Get,
    Load,
    Put,
    Query,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    children,
    create,
    history,
    index,
    key,
    put,
    root,
    transact,
    version,
)
from tablewright.errors import AlreadyExists, VersionConflict
from tablewright.verify.rows import Refused, Row, Stored, changed


class OrderStatus(StrEnum):
    CREATED = "CREATED"
    AWAITING_PAYMENT = "AWAITING_PAYMENT"
    PAID = "PAID"
    IN_FULFILLMENT = "IN_FULFILLMENT"
    PARTIALLY_FULFILLED = "PARTIALLY_FULFILLED"
    FULFILLED = "FULFILLED"
    CANCELLED = "CANCELLED"
    REFUNDED = "REFUNDED"


class ItemStatus(StrEnum):
    PENDING = "PENDING"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    RETURNED = "RETURNED"


class Commerce(Table, name="commerce_single_table", type_attribute="entityType"):
    customer_orders = GSI("GSI1PK", "GSI1SK", name="gsi_customer_orders")
    status_orders = GSI("GSI2PK", "GSI2SK", name="gsi_status_orders")
    customer_status_orders = GSI("GSI3PK", "GSI3SK", name="gsi_customer_status_orders")


class Customer(Entity, table=Commerce, type_name="CustomerProfile"):
    customer_id: Attr[str] = attr(name="customerId")
    name: Attr[str] = attr()
    email: Attr[str] = attr()

    primary = key("CUST" / customer_id, "PROFILE" / customer_id.again)


class StatusEvent(Entity, table=Commerce, type_name="OrderStatusEvent"):
    """One change of an order's status: written with it, and never again."""

    customer_id: Attr[str] = attr(name="customerId")
    order_id: Attr[str] = attr(name="orderId")
    version: Attr[int] = attr(pad=10)
    from_status: Attr[OrderStatus] = attr(name="fromStatus")
    to_status: Attr[OrderStatus] = attr(name="toStatus")
    changed_at: Attr[datetime] = attr(name="changedAt")
    changed_by: Attr[str | None] = attr(name="changedBy", default=None)
    reason: Attr[str | None] = attr(default=None)

    primary = key("CUST" / customer_id, "ORDER_STATUS_EVT" / order_id / "V" / version)


class Order(Entity, table=Commerce, type_name="CustomerOrder"):
    customer_id: Attr[str] = attr(name="customerId")
    order_id: Attr[str] = attr(name="orderId")
    created_at: Attr[datetime] = attr(name="createdAt")
    status: Attr[OrderStatus] = attr(default=OrderStatus.CREATED)
    total: Attr[Decimal] = attr(default=Decimal(0))
    version: Attr[int] = version()

    primary = key("CUST" / customer_id, "ORDER" / order_id)
    timeline = index(
        Commerce.customer_orders, "CUST" / customer_id, "ORDER" / created_at / order_id
    )
    by_status = index(
        Commerce.status_orders,
        "STATUS" / status,
        "ORDER" / created_at / "CUST" / customer_id / order_id,
    )
    by_customer_status = index(
        Commerce.customer_status_orders,
        "CUST" / customer_id / "STATUS" / status,
        "ORDER" / created_at / order_id,
    )
    status_history = history(
        status,
        StatusEvent,
        old=StatusEvent.from_status,
        new=StatusEvent.to_status,
        version=StatusEvent.version,
        at=StatusEvent.changed_at,
        by=StatusEvent.changed_by,
        reason=StatusEvent.reason,
    )


class OrderItem(Entity, table=Commerce, type_name="OrderLineItem"):
    customer_id: Attr[str] = attr(name="customerId")
    order_id: Attr[str] = attr(name="orderId")
    item_id: Attr[str] = attr(name="itemId")
    sku: Attr[str] = attr()
    quantity: Attr[int] = attr(default=1)
    price: Attr[Decimal] = attr(default=Decimal(0))
    item_status: Attr[ItemStatus] = attr(name="itemStatus", default=ItemStatus.PENDING)

    primary = key("CUST" / customer_id, "ORDER" / order_id / "ITEM" / item_id)


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()


# -- reads ---------------------------------------------------------------------------------------


@access_pattern
def customer_profile(customer_id: str) -> Get[Customer]:
    """Get customer profile by customerId"""
    return Customer.primary(customer_id)


@access_pattern
def order_header(customer_id: str, order_id: str) -> Get[Order]:
    """Get one order header by customerId + orderId"""
    return Order.primary(customer_id, order_id)


@access_pattern
def order_item(customer_id: str, order_id: str, item_id: str) -> Get[OrderItem]:
    """Get one specific order item by customerId + orderId + itemId"""
    return OrderItem.primary(customer_id, order_id, item_id)


@access_pattern
def order_items(customer_id: str, order_id: str) -> Query[OrderItem]:
    """List items for one order"""
    return OrderItem.primary.within(customer_id).eq(order_id)


@access_pattern
def order_with_items(customer_id: str, order_id: str) -> Load[OrderWithItems]:
    """Load order aggregate (order + items)"""
    return OrderWithItems.of(Order.primary(customer_id, order_id))


@access_pattern
def customer_timeline(customer_id: str, limit: int) -> Query[Order]:
    """List customer timeline (newest first)"""
    return Order.timeline(customer_id).desc().page_size(limit)


@access_pattern
def customer_timeline_page(customer_id: str, limit: int, cursor: str | None) -> Query[Order]:
    """Paginate customer timeline"""
    return Order.timeline(customer_id).desc().page_size(limit).after(cursor)


@access_pattern
def orders_by_status(status: OrderStatus, limit: int) -> Query[Order]:
    """List global orders for one status"""
    return Order.by_status(status).desc().page_size(limit)


@access_pattern
def customer_orders_by_status(customer_id: str, status: OrderStatus, limit: int) -> Query[Order]:
    """List customer orders for one status"""
    return Order.by_customer_status(customer_id, status).desc().page_size(limit)


@access_pattern
def status_history(customer_id: str, order_id: str, limit: int) -> Query[StatusEvent]:
    """List status change history for one order"""
    return StatusEvent.primary.within(customer_id).eq(order_id).desc().page_size(limit)


# -- writes --------------------------------------------------------------------------------------


@access_pattern
def put_customer(customer: Customer) -> Put[Customer]:
    """Upsert customer profile"""
    return put(customer)


@access_pattern
def put_customer_if_absent(customer: Customer) -> Create[Customer]:
    """Idempotent customer create"""
    return create(customer)


@access_pattern
def put_order(order: Order) -> Put[Order]:
    """Create order root"""
    return put(order)


@access_pattern
def put_order_item(item: OrderItem) -> Put[OrderItem]:
    """Add order line item"""
    return put(item)


@access_pattern
def update_order_status(customer_id: str, order_id: str, status: OrderStatus) -> Update[Order]:
    """Update order status (state transition)"""
    return Order.primary(customer_id, order_id).update(Order.status.set(status))


@access_pattern
def update_order_status_with_history(
    customer_id: str,
    order_id: str,
    status: OrderStatus,
    expected_version: int,
    changed_by: str,
    reason: str,
) -> Update[Order]:
    """Update status with history + lock"""
    return (
        Order.primary(customer_id, order_id)
        .update(Order.status.set(status))
        .condition(Order.version == expected_version)
        .audit(by=changed_by, reason=reason)
    )


@access_pattern
def update_item_status(
    customer_id: str, order_id: str, item_id: str, status: ItemStatus
) -> Update[OrderItem]:
    """Update item status (partial fulfillment)"""
    return OrderItem.primary(customer_id, order_id, item_id).update(
        OrderItem.item_status.set(status)
    )


@access_pattern
def delete_order_item(customer_id: str, order_id: str, item_id: str) -> Delete[OrderItem]:
    """Delete one order item"""
    return OrderItem.primary(customer_id, order_id, item_id).delete()


@access_pattern
def create_order_with_items(order: Order, items: Sequence[OrderItem]) -> Transaction:
    """Atomic order root + items write"""
    return transact(create(order), *(create(item) for item in items))


# -- sample data, and what each row of the document must give ------------------------------------


def sample() -> list[Entity]:
    """Two customers with nine orders, and items on three of them."""
    start = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
    statuses = (OrderStatus.CREATED, OrderStatus.PAID, OrderStatus.FULFILLED)
    orders = [
        Order(
            customer_id="C1" if number < 5 else "C2",
            order_id=f"O{100 + number}",
            created_at=start + timedelta(days=number),
            status=statuses[number % 3],
            total=Decimal("19.90") * (number + 1),
        )
        for number in range(8)
    ]
    # O10 beside O100 to O107: the beginning of another id.
    orders.append(Order(customer_id="C1", order_id="O10", created_at=start - timedelta(days=1)))
    items = [
        OrderItem(
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
        Customer(customer_id="C1", name="Ann Arbor", email="ann@example.com"),
        Customer(customer_id="C2", name="Ben Nevis", email="ben@example.com"),
        *orders,
        *items,
    ]


def rows(stored: Stored) -> Iterator[Row]:
    """Every row of the document's read table, then of its write table."""
    yield from _reads(stored)
    yield from _writes(stored)


def _order(stored: Stored, order_id: str) -> Order:
    return next(order for order in stored(Order) if order.order_id == order_id)


def _items(stored: Stored, order_id: str) -> list[OrderItem]:
    return [item for item in stored(OrderItem) if item.order_id == order_id]


def _feed(stored: Stored, customer_id: str | None, status: OrderStatus | None) -> list[Order]:
    """Newest first, as every feed has them."""
    found = [
        order
        for order in stored(Order)
        if customer_id in (None, order.customer_id) and status in (None, order.status)
    ]
    return sorted(found, key=lambda order: order.created_at, reverse=True)


def _history(stored: Stored) -> list[StatusEvent]:
    """The two changes of order O1, newest first; when they were made is all that is not known."""
    steps = [
        (3, OrderStatus.AWAITING_PAYMENT, OrderStatus.PAID, "till", "card"),
        (2, OrderStatus.CREATED, OrderStatus.AWAITING_PAYMENT, None, None),
    ]
    made = {event.version: event.changed_at for event in stored(StatusEvent)}
    return [
        StatusEvent(
            customer_id="C3",
            order_id="O1",
            version=version,
            from_status=old,
            to_status=new,
            changed_at=made[version],
            changed_by=by,
            reason=why,
        )
        for version, old, new, by, why in steps
    ]


def _reads(stored: Stored) -> Iterator[Row]:
    paid = OrderStatus.PAID
    yield Row(
        "Get customer profile by customerId",
        customer_profile("C1"),
        next(customer for customer in stored(Customer) if customer.customer_id == "C1"),
    )
    yield Row(
        "Get one order header by customerId + orderId",
        order_header("C1", "O100"),
        _order(stored, "O100"),
    )
    yield Row(
        "Get one specific order item by customerId + orderId + itemId",
        order_item("C1", "O100", "I2"),
        _items(stored, "O100")[1],
    )
    yield Row("List items for one order", order_items("C1", "O10"), _items(stored, "O10"))
    yield Row(
        "Load order aggregate (order + items)",
        order_with_items("C1", "O10"),
        OrderWithItems(order=_order(stored, "O10"), items=_items(stored, "O10")),
    )
    yield Row(
        "List customer timeline (newest first)",
        customer_timeline("C1", 3),
        _feed(stored, "C1", None)[:3],
    )
    yield Row(
        "Paginate customer timeline",
        customer_timeline_page("C1", 2, None),
        _feed(stored, "C1", None)[:4],
        pages=2,
    )
    yield Row(
        "List global orders for one status",
        orders_by_status(paid, 10),
        _feed(stored, None, paid),
    )
    yield Row(
        "List customer orders for one status",
        customer_orders_by_status("C1", paid, 10),
        _feed(stored, "C1", paid),
    )


def _writes(stored: Stored) -> Iterator[Row]:
    renamed = Customer(customer_id="C2", name="Ben Lomond", email="ben@example.com")
    yield Row("Upsert customer profile", put_customer(renamed), renamed)
    cat = Customer(customer_id="C3", name="Cat Bells", email="cat@example.com")
    yield Row("Idempotent customer create", put_customer_if_absent(cat), cat)
    yield Row(
        "Idempotent customer create, again",
        put_customer_if_absent(changed(cat, name="somebody else")),
        Refused(AlreadyExists),
    )
    new = Order(customer_id="C3", order_id="O1", created_at=datetime(2026, 2, 1, tzinfo=UTC))
    yield Row("Create order root", put_order(new), changed(new, version=1))
    item = OrderItem(customer_id="C3", order_id="O1", item_id="I1", sku="SKU-1")
    yield Row("Add order line item", put_order_item(item), item)

    yield Row(
        "Update order status (state transition)",
        update_order_status("C3", "O1", OrderStatus.AWAITING_PAYMENT),
        changed(new, status=OrderStatus.AWAITING_PAYMENT, version=2),
    )
    yield Row(
        "Update status with history + lock",
        update_order_status_with_history("C3", "O1", OrderStatus.PAID, 2, "till", "card"),
        changed(new, status=OrderStatus.PAID, version=3),
    )
    yield Row(
        "Reject stale status update",
        update_order_status_with_history("C3", "O1", OrderStatus.CANCELLED, 2, "web", "late"),
        Refused(VersionConflict),
    )
    yield Row(
        "List status change history for one order",
        status_history("C3", "O1", 10),
        lambda: _history(stored),
    )
    yield Row(
        "List global orders for one status, after the update",
        orders_by_status(OrderStatus.PAID, 10),
        lambda: _feed(stored, None, OrderStatus.PAID),
    )
    yield Row(
        "List customer orders for one status, after the update",
        customer_orders_by_status("C3", OrderStatus.AWAITING_PAYMENT, 10),
        [],
    )
    yield Row(
        "Update item status (partial fulfillment)",
        update_item_status("C3", "O1", "I1", ItemStatus.SHIPPED),
        changed(item, item_status=ItemStatus.SHIPPED),
    )
    yield Row(
        "Delete one order item",
        delete_order_item("C3", "O1", "I1"),
        changed(item, item_status=ItemStatus.SHIPPED),
    )
    whole = Order(customer_id="C3", order_id="O2", created_at=datetime(2026, 2, 2, tzinfo=UTC))
    lines = [
        OrderItem(customer_id="C3", order_id="O2", item_id=f"I{n}", sku="SKU-9") for n in (1, 2)
    ]
    yield Row("Atomic order root + items write", create_order_with_items(whole, lines), None)
    another = Order(customer_id="C3", order_id="O3", created_at=datetime(2026, 2, 3, tzinfo=UTC))
    yield Row(
        "Atomic rollback on conflict",
        create_order_with_items(another, lines),
        Refused(AlreadyExists),
    )
