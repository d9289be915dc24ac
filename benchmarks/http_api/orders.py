"""The design of the comparison, as a service of Tablewright."""

from __future__ import annotations

import os
from decimal import Decimal

from tablewright import (
    Attr,
    Create,
    Entity,
    Get,
    Query,
    Table,
    access_pattern,
    attr,
    create,
    key,
    version,
)
from tablewright.fastapi import create_app


class Orders(Table, name="orders"):
    pass


class Order(Entity, table=Orders):
    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    status: Attr[str] = attr()
    total: Attr[Decimal] = attr()
    city: Attr[str] = attr()
    street: Attr[str] = attr()
    note: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()
    primary = key("CUSTOMER" / customer_id, "ORDER" / order_id)


@access_pattern(route="POST /orders")
def add_order(order: Order) -> Create[Order]:
    return create(order)


@access_pattern(route="GET /customers/{customer_id}/orders/{order_id}")
def order(customer_id: str, order_id: str) -> Get[Order]:
    return Order.primary(customer_id, order_id)


@access_pattern(route="GET /customers/{customer_id}/orders")
def orders(customer_id: str) -> Query[Order]:
    return Order.primary.within(customer_id)


def app() -> object:
    """Return the application, for uvicorn."""
    return create_app(os.environ["ORDERS_TARGET"], Orders)
