"""Each row of the source document's read table.

A test has the name of its row; its docstring names the method and the test in the source document.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from tablewright import explain
from tablewright.database import Database
from tablewright.designs.commerce import (
    CustomerProfile,
    ItemStatus,
    OrderLineItem,
    OrderStatus,
    OrderStatusEvent,
    OrderWithItems,
    customer_orders_by_status,
    customer_profile,
    customer_timeline,
    customer_timeline_page,
    order_header,
    order_item,
    order_items,
    order_with_items,
    orders_by_status,
    put_order,
    put_order_item,
    status_history,
    update_order_status,
    update_order_status_with_history,
)
from tests.designs.commerce.support import (
    CREATED,
    FULFILLED,
    NAME,
    NOW,
    PAID,
    START,
    ids,
    index_keys,
    line,
    order,
    request_shape,
)
from tests.transports import CapacityTransport


def test_get_customer_profile_by_customer_id(db: Database, sent: CapacityTransport) -> None:
    """getCustomerProfile: shouldGetCustomerProfileByPrimaryKey"""
    assert request_shape(customer_profile) == (
        "GetItem",
        None,
        'PK="CUST#{customer_id}" AND SK="PROFILE#{customer_id}"',
    )
    found = db.run(customer_profile("C1"))
    assert found == CustomerProfile(customer_id="C1", name="Ann Arbor", email="ann@example.com")
    assert db.run(customer_profile("C9")) is None
    assert sent.operations == ["GetItem", "GetItem"]


def test_get_one_order_header_by_customer_id_and_order_id(
    db: Database, sent: CapacityTransport
) -> None:
    """getOrderHeader: shouldGetOrderHeaderByPrimaryKey"""
    assert request_shape(order_header) == (
        "GetItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"',
    )
    found = db.run(order_header("C1", "O101"))
    assert found is not None
    assert (found.customer_id, found.order_id) == ("C1", "O101")
    assert (found.created_at, found.status) == (START + timedelta(days=1), PAID)
    assert (found.total, found.version) == (Decimal("39.80"), 1)
    assert db.run(order_header("C2", "O101")) is None
    assert sent.operations == ["GetItem", "GetItem"]


def test_get_one_specific_order_item_by_customer_id_and_order_id_and_item_id(
    db: Database, sent: CapacityTransport
) -> None:
    """getOrderItem: shouldGetOrderItemByPrimaryKey"""
    assert request_shape(order_item) == (
        "GetItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    found = db.run(order_item("C1", "O100", "I2"))
    assert found == OrderLineItem(
        customer_id="C1",
        order_id="O100",
        item_id="I2",
        sku="SKU-2",
        quantity=2,
        price=Decimal("19.90"),
        item_status=ItemStatus.PENDING,
    )
    assert db.run(order_item("C1", "O100", "I")) is None
    assert sent.operations == ["GetItem", "GetItem"]


def test_list_items_for_one_order(db: Database, sent: CapacityTransport) -> None:
    """listOrderItems: shouldListOrderItemsForOneOrderByPrefixQuery"""
    assert request_shape(order_items) == (
        "Query",
        None,
        'PK="CUST#{customer_id}" AND begins_with(SK, "ORDER#{order_id}#ITEM#")',
    )
    found = db.run(order_items("C1", "O10"))
    assert [(item.order_id, item.item_id) for item in found] == [
        ("O10", "I1"),
        ("O10", "I2"),
        ("O10", "I3"),
    ]
    assert found.next_cursor is None
    ((operation, request),) = sent.requests
    assert operation == "Query"
    assert "FilterExpression" not in request
    assert sent.read == 3
    assert list(db.run(order_items("C1", "O102"))) == []


def test_load_order_aggregate(db: Database, sent: CapacityTransport) -> None:
    """getOrderWithItems: shouldLoadOrderAggregateFromSinglePartitionQuery

    The begins_with(SK, ORDER#O10) of the source document would also read O100 to O107.
    """
    assert request_shape(order_with_items) == (
        "Query",
        None,
        'PK="CUST#{customer_id}" AND SK BETWEEN "ORDER#{order_id}" AND "ORDER#{order_id}$"',
    )
    found = db.run(order_with_items("C1", "O10"))
    assert isinstance(found, OrderWithItems)
    assert found.order.order_id == "O10"
    assert [(item.order_id, item.item_id) for item in found.items] == [
        ("O10", "I1"),
        ("O10", "I2"),
        ("O10", "I3"),
    ]
    assert sent.operations == ["Query"]
    assert sent.read == 4


def test_list_customer_timeline_in_descending_order(db: Database, sent: CapacityTransport) -> None:
    """listOrdersForCustomerNewestFirst: shouldQueryCustomerOrderTimelineFromGsi"""
    assert request_shape(customer_timeline) == (
        "Query",
        "gsi_customer_orders",
        'GSI1PK="CUST#{customer_id}"',
    )
    assert explain(customer_timeline).order == "descending"
    assert explain(customer_timeline).page == "{limit}"
    assert ids(db.run(customer_timeline("C1", 3))) == ["O104", "O103", "O102"]
    ((_, request),) = sent.requests
    assert request["IndexName"] == "gsi_customer_orders"
    assert request["ScanIndexForward"] is False
    assert request["Limit"] == 3
    assert "FilterExpression" not in request
    assert sent.read == 3
    assert ids(db.run(customer_timeline("C1", 99))) == [
        "O104",
        "O103",
        "O102",
        "O101",
        "O100",
        "O10",
    ]


def test_paginate_customer_timeline(db: Database, sent: CapacityTransport) -> None:
    """listOrdersForCustomerNewestFirstPage: shouldPaginateCustomerTimelineUsingExclusiveStartKey"""
    assert request_shape(customer_timeline_page) == request_shape(customer_timeline)
    assert explain(customer_timeline_page).order == "descending"
    first = db.run(customer_timeline_page("C1", 2, None))
    second = db.run(customer_timeline_page("C1", 2, first.next_cursor))
    third = db.run(customer_timeline_page("C1", 2, second.next_cursor))
    assert [ids(page) for page in (first, second, third)] == [
        ["O104", "O103"],
        ["O102", "O101"],
        ["O100", "O10"],
    ]
    starts = [request.get("ExclusiveStartKey") for _, request in sent.requests]
    assert starts[0] is None
    assert starts[1] == {
        "PK": {"S": "CUST#C1"},
        "SK": {"S": "ORDER#O103"},
        "GSI1PK": {"S": "CUST#C1"},
        "GSI1SK": {"S": "ORDER#2026-01-18T10:15:30.000000Z#O103"},
    }
    assert [request["Limit"] for _, request in sent.requests] == [2, 2, 2]
    assert sent.read == 6


def test_list_global_orders_for_one_status(db: Database, sent: CapacityTransport) -> None:
    """listOrdersByStatusNewestFirst: shouldQueryOrdersByStatusAcrossCustomersFromGsi"""
    assert request_shape(orders_by_status) == (
        "Query",
        "gsi_status_orders",
        'GSI2PK="STATUS#{status}"',
    )
    assert explain(orders_by_status).order == "descending"
    found = db.run(orders_by_status(PAID, 10))
    assert [(order.customer_id, order.order_id) for order in found] == [
        ("C2", "O107"),
        ("C1", "O104"),
        ("C1", "O101"),
    ]
    sent.reset()
    assert ids(db.run(orders_by_status(PAID, 2))) == ["O107", "O104"]
    assert sent.read == 2
    assert ids(db.run(orders_by_status(OrderStatus.REFUNDED, 10))) == []


def test_list_customer_orders_for_one_status(db: Database, sent: CapacityTransport) -> None:
    """listOrdersForCustomerByStatusNewestFirst:
    shouldQueryOrdersByStatusForSingleCustomerFromGsi
    """
    assert request_shape(customer_orders_by_status) == (
        "Query",
        "gsi_customer_status_orders",
        'GSI3PK="CUST#{customer_id}#STATUS#{status}"',
    )
    assert explain(customer_orders_by_status).order == "descending"
    assert ids(db.run(customer_orders_by_status("C1", PAID, 10))) == ["O104", "O101"]
    assert ids(db.run(customer_orders_by_status("C2", PAID, 10))) == ["O107"]
    sent.reset()
    assert ids(db.run(customer_orders_by_status("C1", PAID, 1))) == ["O104"]
    assert sent.read == 1


def test_list_status_change_history_for_one_order(db: Database, sent: CapacityTransport) -> None:
    """listOrderStatusHistoryNewestFirst:
    shouldAppendStatusHistoryAndIncrementVersionOnStatusUpdate
    """
    assert request_shape(status_history) == (
        "Query",
        None,
        'PK="CUST#{customer_id}" AND begins_with(SK, "ORDER_STATUS_EVT#{order_id}#V#")',
    )
    assert explain(status_history).order == "descending"
    db.run(update_order_status_with_history("C1", "O10", PAID, 1, "till", "card"))
    db.run(update_order_status_with_history("C1", "O10", FULFILLED, 2, "depot", "sent"))
    db.run(update_order_status("C1", "O100", PAID))  # O10 is a prefix of its id
    assert list(db.run(status_history("C1", "O10", 10))) == [
        OrderStatusEvent(
            customer_id="C1",
            order_id="O10",
            version=3,
            from_status=PAID,
            to_status=FULFILLED,
            changed_at=NOW,
            changed_by="depot",
            reason="sent",
        ),
        OrderStatusEvent(
            customer_id="C1",
            order_id="O10",
            version=2,
            from_status=CREATED,
            to_status=PAID,
            changed_at=NOW,
            changed_by="till",
            reason="card",
        ),
    ]
    sent.reset()
    assert [event.version for event in db.run(status_history("C1", "O10", 1))] == [3]
    assert sent.read == 1
    assert "FilterExpression" not in sent.requests[0][1]


def test_a_status_outside_of_the_enumeration_is_listed_like_any_other(
    db: Database, client: Any
) -> None:
    db.run(put_order(order("O700", status="ON_HOLD")))
    db.run(put_order_item(line("I1", "O700")))
    key = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O700#ITEM#I1"}}
    client.update_item(
        TableName=NAME,
        Key=key,
        UpdateExpression="SET itemStatus = :lost",
        ExpressionAttributeValues={":lost": {"S": "LOST"}},
    )
    assert [found.status for found in db.run(customer_timeline("C1", 1))] == ["ON_HOLD"]
    assert ids(db.run(orders_by_status("ON_HOLD", 9))) == ["O700"]
    assert ids(db.run(customer_orders_by_status("C1", "ON_HOLD", 9))) == ["O700"]
    assert [item.item_status for item in db.run(order_items("C1", "O700"))] == ["LOST"]
    assert index_keys(client, "gsi_status_orders", "O700")[0][0] == "STATUS#ON_HOLD"
