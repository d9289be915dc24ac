"""The commerce design of this package: what both kinds of database share."""

from __future__ import annotations

from benchmarks.peers.libraries.sample import NewOrder
from tablewright.designs.commerce import CustomerOrder, OrderLineItem


def entities(new: NewOrder) -> tuple[CustomerOrder, list[OrderLineItem]]:
    order = CustomerOrder(
        customer_id=new.customer_id,
        order_id=new.order_id,
        created_at=new.created_at,
        total=new.total,
    )
    items = [
        OrderLineItem(
            customer_id=new.customer_id,
            order_id=new.order_id,
            item_id=line.item_id,
            sku=line.sku,
            quantity=line.quantity,
            price=line.price,
        )
        for line in new.lines
    ]
    return order, items
