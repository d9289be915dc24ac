"""Commerce: customers, orders and line items; status feeds, optimistic lock and history.

    PK=CUST#{customerId}   SK=PROFILE#{customerId}                         CustomerProfile
                           SK=ORDER#{orderId}                              CustomerOrder
                           SK=ORDER#{orderId}#ITEM#{itemId}                OrderLineItem
                           SK=ORDER_STATUS_EVT#{orderId}#V#{version}       OrderStatusEvent

Three sparse indexes contain only the orders: the timeline of a customer, the orders with a status,
and the orders of a customer with a status. An update of the status moves the order in the indexes,
increments its version and adds an event, all in one transaction.

The design implements a document that describes its keys and access patterns, called the source
document here. Decisions where it is unclear or contradicts itself:

- The version in the key of an event has ten digits. Times have microseconds. Items also have the
  name of their entity in `entityType`.
- An order and its items are created in one transaction, which has space for 99 items.
- Every update of the status adds an event, also if the status stays the same, so that the versions
  of the events have no gaps. Creating an order adds none.
- `put_order` creates an order, or replaces the stored one and increments its version. In the source
  document it is a plain PutItem, which would set the version back to 1; the next event would then
  have the key of an older one. So here the order is read first, and replacing it adds an event.
- Statuses are plain strings, so orders and items with other ones are read, too. `OrderStatus` has
  those of the source document. It does not list those of items; `ItemStatus` has usual ones.
- An update of the status without an expected version is the same transaction as with one. The
  source document also calls it a single UpdateItem.
- An order and its items are read as the range of keys that belong to the order.
  `begins_with(SK, ORDER#O10)` would also read the order O100.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
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
    Upsert,
    WriteOnce,
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
    upsert,
    version,
)
from tablewright.errors import InvalidValue
from tablewright.symbol import contains_symbol


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


class CustomerProfile(Entity, table=Commerce):
    customer_id: Attr[str] = attr(name="customerId")
    name: Attr[str] = attr()
    email: Attr[str] = attr()

    primary = key("CUST" / customer_id, "PROFILE" / customer_id.again)


class OrderStatusEvent(WriteOnce, table=Commerce):
    """One change of an order's status: in its transaction; never changed or deleted."""

    customer_id: Attr[str] = attr(name="customerId")
    order_id: Attr[str] = attr(name="orderId")
    version: Attr[int] = attr(pad=10)
    from_status: Attr[str] = attr(name="fromStatus")
    to_status: Attr[str] = attr(name="toStatus")
    changed_at: Attr[datetime] = attr(name="changedAt")
    changed_by: Attr[str | None] = attr(name="changedBy", default=None)
    reason: Attr[str | None] = attr(default=None)

    primary = key("CUST" / customer_id, "ORDER_STATUS_EVT" / order_id / "V" / version)


class CustomerOrder(Entity, table=Commerce):
    customer_id: Attr[str] = attr(name="customerId")
    order_id: Attr[str] = attr(name="orderId")
    created_at: Attr[datetime] = attr(name="createdAt")
    status: Attr[str] = attr(default=OrderStatus.CREATED)
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
        OrderStatusEvent,
        old=OrderStatusEvent.from_status,
        new=OrderStatusEvent.to_status,
        version=OrderStatusEvent.version,
        at=OrderStatusEvent.changed_at,
        by=OrderStatusEvent.changed_by,
        reason=OrderStatusEvent.reason,
        always=True,
    )


class OrderLineItem(Entity, table=Commerce):
    customer_id: Attr[str] = attr(name="customerId")
    order_id: Attr[str] = attr(name="orderId")
    item_id: Attr[str] = attr(name="itemId")
    sku: Attr[str] = attr()
    quantity: Attr[int] = attr(default=1)
    price: Attr[Decimal] = attr(default=Decimal(0))
    item_status: Attr[str] = attr(name="itemStatus", default=ItemStatus.PENDING)

    primary = key("CUST" / customer_id, "ORDER" / order_id / "ITEM" / item_id)


class OrderWithItems(Aggregate):
    order: CustomerOrder = root()
    items: list[OrderLineItem] = children()


# -- reads ---------------------------------------------------------------------------------------


@access_pattern
def customer_profile(customer_id: str) -> Get[CustomerProfile]:
    """Get customer profile by customerId"""
    return CustomerProfile.primary(customer_id)


@access_pattern
def order_header(customer_id: str, order_id: str) -> Get[CustomerOrder]:
    """Get one order header by customerId + orderId"""
    return CustomerOrder.primary(customer_id, order_id)


@access_pattern
def order_item(customer_id: str, order_id: str, item_id: str) -> Get[OrderLineItem]:
    """Get one specific order item by customerId + orderId + itemId"""
    return OrderLineItem.primary(customer_id, order_id, item_id)


@access_pattern
def order_items(customer_id: str, order_id: str) -> Query[OrderLineItem]:
    """List items for one order"""
    return OrderLineItem.primary.within(customer_id).eq(order_id)


@access_pattern
def order_with_items(customer_id: str, order_id: str) -> Load[OrderWithItems]:
    """Load order aggregate (order + items)"""
    return OrderWithItems.of(CustomerOrder.primary(customer_id, order_id))


@access_pattern
def customer_timeline(customer_id: str, limit: int) -> Query[CustomerOrder]:
    """List customer timeline (newest first)"""
    return CustomerOrder.timeline(customer_id).desc().page_size(limit)


@access_pattern
def customer_timeline_page(
    customer_id: str, limit: int, cursor: str | None
) -> Query[CustomerOrder]:
    """Paginate customer timeline"""
    return CustomerOrder.timeline(customer_id).desc().page_size(limit).after(cursor)


@access_pattern
def orders_by_status(status: str, limit: int) -> Query[CustomerOrder]:
    """List global orders for one status"""
    return CustomerOrder.by_status(status).desc().page_size(limit)


@access_pattern
def customer_orders_by_status(customer_id: str, status: str, limit: int) -> Query[CustomerOrder]:
    """List customer orders for one status"""
    return CustomerOrder.by_customer_status(customer_id, status).desc().page_size(limit)


@access_pattern
def status_history(customer_id: str, order_id: str, limit: int) -> Query[OrderStatusEvent]:
    """List status change history for one order"""
    return OrderStatusEvent.primary.within(customer_id).eq(order_id).desc().page_size(limit)


# -- writes --------------------------------------------------------------------------------------


@access_pattern
def put_customer(customer: CustomerProfile) -> Put[CustomerProfile]:
    """Upsert customer profile"""
    return put(customer)


@access_pattern
def put_customer_if_absent(customer: CustomerProfile) -> Create[CustomerProfile]:
    """Idempotent customer create"""
    return create(customer)


@access_pattern
def put_order(order: CustomerOrder) -> Upsert[CustomerOrder]:
    """Create order root"""
    return upsert(
        order,
        CustomerOrder.created_at.set(order.created_at),
        CustomerOrder.status.set(order.status),
        CustomerOrder.total.set(order.total),
    )


@access_pattern
def put_order_item(item: OrderLineItem) -> Put[OrderLineItem]:
    """Add order line item"""
    return put(item)


@access_pattern
def update_order_status(customer_id: str, order_id: str, status: str) -> Update[CustomerOrder]:
    """Update order status (state transition)"""
    return CustomerOrder.primary(customer_id, order_id).update(CustomerOrder.status.set(status))


@access_pattern
def update_order_status_with_history(
    customer_id: str,
    order_id: str,
    status: str,
    expected_version: int,
    changed_by: str,
    reason: str,
) -> Update[CustomerOrder]:
    """Update status with history + lock"""
    return (
        CustomerOrder.primary(customer_id, order_id)
        .update(CustomerOrder.status.set(status))
        .condition(CustomerOrder.version == expected_version)
        .audit(by=changed_by, reason=reason)
    )


@access_pattern
def update_item_status(
    customer_id: str, order_id: str, item_id: str, status: str
) -> Update[OrderLineItem]:
    """Update item status (partial fulfillment)"""
    return OrderLineItem.primary(customer_id, order_id, item_id).update(
        OrderLineItem.item_status.set(status)
    )


@access_pattern
def delete_order_item(customer_id: str, order_id: str, item_id: str) -> Delete[OrderLineItem]:
    """Delete one order item"""
    return OrderLineItem.primary(customer_id, order_id, item_id).delete()


def _of_order(order: CustomerOrder, item: OrderLineItem) -> OrderLineItem:
    """Return the item; raise InvalidValue if it is not an item of this order."""
    theirs, own = (item.customer_id, item.order_id), (order.customer_id, order.order_id)
    if not contains_symbol(theirs) and theirs != own:
        raise InvalidValue(
            f"create_order_with_items(): item {item.item_id} is of the order {theirs}, not of "
            f"{own}; an order is created with its own items only"
        )
    return item


@access_pattern
def create_order_with_items(order: CustomerOrder, items: Sequence[OrderLineItem]) -> Transaction:
    """Atomic order root + items write"""
    return transact(create(order), *(create(_of_order(order, item)) for item in items))
