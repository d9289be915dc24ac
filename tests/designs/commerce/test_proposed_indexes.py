"""Patterns that the source document calls inefficient: the error proposes an index for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    index,
    key,
)
from tablewright.designs.commerce import Commerce, CustomerOrder, ItemStatus, OrderLineItem
from tablewright.errors import DeclarationError
from tests.designs.commerce.support import (
    START,
    ids,
    request_shape,
)
from tests.transports import CapacityTransport


def by_sku(sku: str) -> Query[OrderLineItem]:
    """Query by sku across all customers/orders"""
    return OrderLineItem.where(OrderLineItem.sku == sku)


def by_item_status(status: ItemStatus) -> Query[OrderLineItem]:
    """Query by itemStatus across all customers/orders"""
    return OrderLineItem.where(OrderLineItem.item_status == status)


def by_date(low: datetime, high: datetime) -> Query[CustomerOrder]:
    """Global date-range feed independent of status/customer"""
    return CustomerOrder.where(CustomerOrder.created_at.between(low, high))


PROPOSED: dict[Callable[..., Query[Any]], str] = {
    by_sku: (
        'by_sku = index(Commerce.by_sku, "SKU" / sku, '
        '"ORDERLINEITEM" / customer_id / order_id / item_id)'
    ),
    by_item_status: (
        'by_item_status = index(Commerce.by_item_status, "ITEM_STATUS" / item_status, '
        '"ORDERLINEITEM" / customer_id / order_id / item_id)'
    ),
    by_date: (
        'by_created_at = index(Commerce.by_created_at, "CUSTOMERORDER", '
        '"CUSTOMERORDER" / created_at / customer_id / order_id)'
    ),
}


def error_of(function: Callable[..., Query[Any]]) -> str:
    with pytest.raises(DeclarationError) as caught:
        access_pattern(function)
    return str(caught.value)


def proposal(function: Callable[..., Query[Any]]) -> str:
    """Return the line of the error message to paste into the entity."""
    (found,) = re.findall(r"by_\w+ = index\(.*?\)(?=\.|$)", error_of(function))
    return str(found)


@pytest.mark.parametrize("function", PROPOSED, ids=lambda function: function.__name__)
def test_an_inefficient_pattern_is_rejected_with_a_proposed_index(
    function: Callable[..., Query[Any]],
) -> None:
    message = error_of(function)
    assert message.startswith(f"pattern {function.__name__}: ")
    assert "would be a scan" in message
    assert proposal(function) == PROPOSED[function]


@pytest.mark.parametrize("function", PROPOSED, ids=lambda function: function.__name__)
def test_the_error_shows_the_index_to_declare_in_the_table(
    function: Callable[..., Query[Any]],
) -> None:
    """The table does not have the proposed index yet."""
    message = error_of(function)
    (name,) = re.findall(r"index\(Commerce\.(\w+),", message)
    assert not hasattr(Commerce, name)
    assert re.search(rf"\b{name} = GSI\(\"\w+\", \"\w+\"\)", message)


def test_the_proposed_index_serves_a_query_by_sku(engine: Engine) -> None:
    class Wider(Table, name="wider"):
        by_sku = GSI("GSI4PK", "GSI4SK")

    class Line(Entity, table=Wider):
        customer_id: Attr[str] = attr()
        order_id: Attr[str] = attr()
        item_id: Attr[str] = attr()
        sku: Attr[str] = attr()
        primary = key("CUST" / customer_id, "ORDER" / order_id / "ITEM" / item_id)
        exec(proposal(by_sku), {"Commerce": Wider, "index": index}, locals())

    @access_pattern
    def lines_by_sku(sku: str) -> Query[Line]:
        return Line.where(Line.sku == sku)

    assert request_shape(lines_by_sku) == ("Query", "by_sku", 'GSI4PK="SKU#{sku}"')
    db = connect(engine, Wider)
    for customer, order_id, item_id, sku in (
        ("C1", "O1", "I1", "SKU-1"),
        ("C1", "O1", "I2", "SKU-10"),
        ("C1", "O2", "I1", "SKU-1"),
        ("C2", "O3", "I1", "SKU-1"),
        ("C2", "O3", "I2", "SKU-2"),
    ):
        new_line = Line(customer_id=customer, order_id=order_id, item_id=item_id, sku=sku)
        db.run(create(new_line))
    db._transport = sent = CapacityTransport(db._transport)
    found = db.run(lines_by_sku("SKU-1"))
    assert [(line.customer_id, line.order_id, line.item_id) for line in found] == [
        ("C1", "O1", "I1"),
        ("C1", "O2", "I1"),
        ("C2", "O3", "I1"),
    ]
    assert (sent.operations, sent.read) == (["Query"], 3)


def test_the_proposed_index_serves_a_query_by_item_status(engine: Engine) -> None:
    class Wider(Table, name="wider"):
        by_item_status = GSI("GSI4PK", "GSI4SK")

    class Line(Entity, table=Wider):
        customer_id: Attr[str] = attr()
        order_id: Attr[str] = attr()
        item_id: Attr[str] = attr()
        item_status: Attr[ItemStatus] = attr(default=ItemStatus.PENDING)
        primary = key("CUST" / customer_id, "ORDER" / order_id / "ITEM" / item_id)
        exec(proposal(by_item_status), {"Commerce": Wider, "index": index}, locals())

    @access_pattern
    def lines_by_status(status: ItemStatus) -> Query[Line]:
        return Line.where(Line.item_status == status)

    assert request_shape(lines_by_status) == (
        "Query",
        "by_item_status",
        'GSI4PK="ITEM_STATUS#{status}"',
    )
    db = connect(engine, Wider)
    for customer in ("C1", "C2"):
        for item_id in ("I1", "I2"):
            db.run(create(Line(customer_id=customer, order_id="O1", item_id=item_id)))
    shipped = Line.item_status.set(ItemStatus.SHIPPED)
    db.run(Line.primary("C1", "O1", "I2").update(shipped))
    db.run(Line.primary("C2", "O1", "I1").update(shipped))
    db._transport = sent = CapacityTransport(db._transport)
    found = db.run(lines_by_status(ItemStatus.SHIPPED))
    assert [(line.customer_id, line.item_id) for line in found] == [("C1", "I2"), ("C2", "I1")]
    assert (sent.operations, sent.read) == (["Query"], 2)


def test_the_proposed_index_serves_a_global_feed_by_date(engine: Engine) -> None:
    class Wider(Table, name="wider"):
        by_created_at = GSI("GSI4PK", "GSI4SK")

    class Placed(Entity, table=Wider):
        customer_id: Attr[str] = attr()
        order_id: Attr[str] = attr()
        created_at: Attr[datetime] = attr()
        primary = key("CUST" / customer_id, "ORDER" / order_id)
        exec(proposal(by_date), {"Commerce": Wider, "index": index}, locals())

    @access_pattern
    def placed_between(low: datetime, high: datetime) -> Query[Placed]:
        return Placed.where(Placed.created_at.between(low, high))

    operation, where, condition = request_shape(placed_between)
    assert (operation, where) == ("Query", "by_created_at")
    assert condition.startswith('GSI4PK="CUSTOMERORDER" AND GSI4SK BETWEEN "CUSTOMERORDER#{low}"')
    db = connect(engine, Wider)
    for day in range(6):
        customer, created = f"C{day % 2}", START + timedelta(days=day)
        db.run(create(Placed(customer_id=customer, order_id=f"O{day}", created_at=created)))
    db._transport = sent = CapacityTransport(db._transport)
    found = db.run(placed_between(START + timedelta(days=1), START + timedelta(days=4)))
    assert ids(found) == ["O1", "O2", "O3", "O4"]
    assert (sent.operations, sent.read) == (["Query"], 4)
