"""Queries that the keys of commerce do not serve: each would need another index.

They are not patterns: `@access_pattern` refuses them. The generated document lists them, with the
index that each would need.
"""

from __future__ import annotations

from datetime import datetime

from tablewright import Query
from tablewright.designs.commerce import CustomerOrder, OrderLineItem


def orders_with_sku(sku: str) -> Query[OrderLineItem]:
    """Query by sku across all customers/orders"""
    return OrderLineItem.where(OrderLineItem.sku == sku)


def items_by_status(status: str) -> Query[OrderLineItem]:
    """Query by itemStatus across all customers/orders"""
    return OrderLineItem.where(OrderLineItem.item_status == status)


def orders_between(first: datetime, last: datetime) -> Query[CustomerOrder]:
    """Global date-range feed independent of status/customer"""
    return CustomerOrder.where(CustomerOrder.created_at.between(first, last))


INEFFICIENT = (orders_with_sku, items_by_status, orders_between)
