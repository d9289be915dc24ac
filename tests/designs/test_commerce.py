"""Each row of the document's read table and write table, and what the document says beside them.

A test is named after its row; its docstring has the repository's method and test of the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Database,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    access_patterns,
    attr,
    connect,
    create,
    explain,
    index,
    key,
    put,
)
from tablewright.designs.commerce import (
    Commerce,
    Customer,
    ItemStatus,
    Order,
    OrderItem,
    OrderStatus,
    OrderWithItems,
    StatusEvent,
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
    rows,
    sample,
    status_history,
    update_item_status,
    update_order_status,
    update_order_status_with_history,
)
from tablewright.errors import (
    AlreadyExists,
    DeclarationError,
    InvalidCursor,
    NotFound,
    VersionConflict,
)
from tablewright.transport import Transport
from tablewright.verify.run import Scanner

NAME = "commerce_single_table"
START = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
INDEXES = ("gsi_customer_orders", "gsi_status_orders", "gsi_customer_status_orders")
CREATED, PAID, FULFILLED = OrderStatus.CREATED, OrderStatus.PAID, OrderStatus.FULFILLED


class Sent:
    """A transport that remembers what was sent, how much was read and what a write touched."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.forget()

    def forget(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.read = 0
        self.indexes: set[str] = set()

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.requests]

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        self.requests.append((operation, request))
        answer = self.inner.send(operation, {**request, "ReturnConsumedCapacity": "INDEXES"})
        told = msgspec.json.decode(answer)
        self.read += told.get("ScannedCount", 0)
        capacity = told["ConsumedCapacity"]
        for consumed in capacity if isinstance(capacity, list) else [capacity]:
            self.indexes |= set(consumed.get("GlobalSecondaryIndexes", {}))
        return answer

    def close(self) -> None:
        self.inner.close()


class Meanwhile:
    """A transport for which somebody else writes right before a transaction leaves."""

    def __init__(self, inner: Transport, write: Callable[[], object]) -> None:
        self.inner = inner
        self.writes = [write]

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        if operation == "TransactWriteItems" and self.writes:
            self.writes.pop()()
        return self.inner.send(operation, request)

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    """The sample, and a clock that stands still."""
    database = connect(engine, Commerce)
    database._context = msgspec.structs.replace(database._context, clock=lambda: NOW)
    for entity in sample():
        database.run(put(entity))
    return database


@pytest.fixture
def sent(db: Database) -> Sent:
    db._transport = sent = Sent(db._transport)
    return sent


def items(engine: Engine, index: str | None = None) -> list[dict[str, Any]]:
    """Every item of the table or of an index, with what its values hold."""
    request = {"TableName": NAME} if index is None else {"TableName": NAME, "IndexName": index}
    found = engine.call("Scan", request)["Items"]
    return [{name: bare(value) for name, value in item.items()} for item in found]


def bare(value: dict[str, Any]) -> Any:
    ((tag, content),) = value.items()
    return int(content) if tag == "N" and content.isdigit() else content


def item(engine: Engine, sk: str, customer_id: str = "C1") -> dict[str, Any] | None:
    place = {"PK": f"CUST#{customer_id}", "SK": sk}
    return next((found for found in items(engine) if place.items() <= found.items()), None)


def everything(engine: Engine) -> list[dict[str, Any]]:
    """The table and all its indexes, to see that nothing has changed."""
    found = [items(engine, name) for name in (None, *INDEXES)]
    return [
        item for part in found for item in sorted(part, key=lambda item: (item["PK"], item["SK"]))
    ]


def places(engine: Engine, index: str, order_id: str) -> list[tuple[str, str]]:
    """The keys under which an index has an order."""
    number = INDEXES.index(index) + 1
    return [
        (item[f"GSI{number}PK"], item[f"GSI{number}SK"])
        for item in items(engine, index)
        if item["orderId"] == order_id
    ]


def asked(function: Callable[..., Any]) -> tuple[str, str | None, str]:
    """The document's columns: operation, index (None is the base table), key condition."""
    shape = explain(function)
    return shape.operation, shape.index, shape.condition


def ids(orders: Any) -> list[str]:
    return [order.order_id for order in orders]


def order(order_id: str, customer_id: str = "C1", *, day: int = 10, **values: Any) -> Order:
    created = START + timedelta(days=day)
    return Order(customer_id=customer_id, order_id=order_id, created_at=created, **values)


def line(item_id: str, order_id: str = "O500", customer_id: str = "C1") -> OrderItem:
    return OrderItem(customer_id=customer_id, order_id=order_id, item_id=item_id, sku="SKU-9")


# -- the table -----------------------------------------------------------------------------------


def test_the_table_has_the_keys_and_indexes_of_the_document(db: Database, engine: Engine) -> None:
    table = engine.call("DescribeTable", {"TableName": NAME})["Table"]

    def keys(described: dict[str, Any]) -> list[tuple[str, str]]:
        return [(key["AttributeName"], key["KeyType"]) for key in described["KeySchema"]]

    assert keys(table) == [("PK", "HASH"), ("SK", "RANGE")]
    indexes = {index["IndexName"]: index for index in table["GlobalSecondaryIndexes"]}
    assert {name: keys(index) for name, index in indexes.items()} == {
        "gsi_customer_orders": [("GSI1PK", "HASH"), ("GSI1SK", "RANGE")],
        "gsi_status_orders": [("GSI2PK", "HASH"), ("GSI2SK", "RANGE")],
        "gsi_customer_status_orders": [("GSI3PK", "HASH"), ("GSI3SK", "RANGE")],
    }
    assert {index["Projection"]["ProjectionType"] for index in indexes.values()} == {"ALL"}
    assert "LocalSecondaryIndexes" not in table


def test_a_customer_profile_is_stored_as_in_the_document(db: Database, engine: Engine) -> None:
    assert item(engine, "PROFILE#C1") == {
        "PK": "CUST#C1",
        "SK": "PROFILE#C1",
        "entityType": "CustomerProfile",
        "customerId": "C1",
        "name": "Ann Arbor",
        "email": "ann@example.com",
    }


def test_an_order_root_is_stored_as_in_the_document(db: Database, engine: Engine) -> None:
    assert item(engine, "ORDER#O101") == {
        "PK": "CUST#C1",
        "SK": "ORDER#O101",
        "GSI1PK": "CUST#C1",
        "GSI1SK": "ORDER#2026-01-16T10:15:30.000000Z#O101",
        "GSI2PK": "STATUS#PAID",
        "GSI2SK": "ORDER#2026-01-16T10:15:30.000000Z#CUST#C1#O101",
        "GSI3PK": "CUST#C1#STATUS#PAID",
        "GSI3SK": "ORDER#2026-01-16T10:15:30.000000Z#O101",
        "entityType": "CustomerOrder",
        "customerId": "C1",
        "orderId": "O101",
        "createdAt": "2026-01-16T10:15:30.000000Z",
        "status": "PAID",
        "total": "39.8",
        "version": 1,
    }


def test_an_order_item_is_stored_as_in_the_document(db: Database, engine: Engine) -> None:
    assert item(engine, "ORDER#O100#ITEM#I2") == {
        "PK": "CUST#C1",
        "SK": "ORDER#O100#ITEM#I2",
        "entityType": "OrderLineItem",
        "customerId": "C1",
        "orderId": "O100",
        "itemId": "I2",
        "sku": "SKU-2",
        "quantity": 2,
        "price": "19.9",
        "itemStatus": "PENDING",
    }


def test_a_status_event_is_stored_as_in_the_document(db: Database, engine: Engine) -> None:
    db.run(update_order_status_with_history("C1", "O100", PAID, 1, "till", "card"))

    assert item(engine, "ORDER_STATUS_EVT#O100#V#0000000002") == {
        "PK": "CUST#C1",
        "SK": "ORDER_STATUS_EVT#O100#V#0000000002",
        "entityType": "OrderStatusEvent",
        "customerId": "C1",
        "orderId": "O100",
        "version": 2,
        "fromStatus": "CREATED",
        "toStatus": "PAID",
        "changedAt": "2026-03-01T12:00:00.000000Z",
        "changedBy": "till",
        "reason": "card",
    }


def test_the_statuses_are_those_of_the_lifecycle() -> None:
    assert [status.value for status in OrderStatus] == [
        "CREATED",
        "AWAITING_PAYMENT",
        "PAID",
        "IN_FULFILLMENT",
        "PARTIALLY_FULFILLED",
        "FULFILLED",
        "CANCELLED",
        "REFUNDED",
    ]


def test_an_order_goes_through_all_statuses_and_each_feed_has_it_once(
    db: Database, engine: Engine
) -> None:
    db.run(put_order(order("O500")))
    for number, status in enumerate(list(OrderStatus)[1:], start=2):
        assert db.run(update_order_status("C1", "O500", status)).version == number
        assert places(engine, "gsi_status_orders", "O500") == [
            (f"STATUS#{status}", "ORDER#2026-01-25T10:15:30.000000Z#CUST#C1#O500")
        ]
        assert places(engine, "gsi_customer_status_orders", "O500") == [
            (f"CUST#C1#STATUS#{status}", "ORDER#2026-01-25T10:15:30.000000Z#O500")
        ]
    history = db.run(status_history("C1", "O500", 10))
    assert [event.to_status for event in history] == list(OrderStatus)[:0:-1]


# -- reads ---------------------------------------------------------------------------------------


def test_get_customer_profile_by_customer_id(db: Database, sent: Sent) -> None:
    """getCustomerProfile: shouldGetCustomerProfileByPrimaryKey"""
    assert asked(customer_profile) == (
        "GetItem",
        None,
        'PK="CUST#{customer_id}" AND SK="PROFILE#{customer_id}"',
    )
    found = db.run(customer_profile("C1"))
    assert found == Customer(customer_id="C1", name="Ann Arbor", email="ann@example.com")
    assert db.run(customer_profile("C9")) is None
    assert sent.operations == ["GetItem", "GetItem"]


def test_get_one_order_header_by_customer_id_and_order_id(db: Database, sent: Sent) -> None:
    """getOrderHeader: shouldGetOrderHeaderByPrimaryKey"""
    assert asked(order_header) == (
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
    db: Database, sent: Sent
) -> None:
    """getOrderItem: shouldGetOrderItemByPrimaryKey"""
    assert asked(order_item) == (
        "GetItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    found = db.run(order_item("C1", "O100", "I2"))
    assert found == OrderItem(
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


def test_list_items_for_one_order(db: Database, sent: Sent) -> None:
    """listOrderItems: shouldListOrderItemsForOneOrderByPrefixQuery"""
    assert asked(order_items) == (
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


def test_load_order_aggregate(db: Database, sent: Sent) -> None:
    """getOrderWithItems: shouldLoadOrderAggregateFromSinglePartitionQuery

    The document's begins_with(SK, ORDER#O10) would read O100 to O107 as well.
    """
    assert asked(order_with_items) == (
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


def test_list_customer_timeline_newest_first(db: Database, sent: Sent) -> None:
    """listOrdersForCustomerNewestFirst: shouldQueryCustomerOrderTimelineFromGsi"""
    assert asked(customer_timeline) == (
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


def test_paginate_customer_timeline(db: Database, sent: Sent) -> None:
    """listOrdersForCustomerNewestFirstPage: shouldPaginateCustomerTimelineUsingExclusiveStartKey"""
    assert asked(customer_timeline_page) == asked(customer_timeline)
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


def test_list_global_orders_for_one_status(db: Database, sent: Sent) -> None:
    """listOrdersByStatusNewestFirst: shouldQueryOrdersByStatusAcrossCustomersFromGsi"""
    assert asked(orders_by_status) == ("Query", "gsi_status_orders", 'GSI2PK="STATUS#{status}"')
    assert explain(orders_by_status).order == "descending"
    found = db.run(orders_by_status(PAID, 10))
    assert [(order.customer_id, order.order_id) for order in found] == [
        ("C2", "O107"),
        ("C1", "O104"),
        ("C1", "O101"),
    ]
    sent.forget()
    assert ids(db.run(orders_by_status(PAID, 2))) == ["O107", "O104"]
    assert sent.read == 2
    assert ids(db.run(orders_by_status(OrderStatus.REFUNDED, 10))) == []


def test_list_customer_orders_for_one_status(db: Database, sent: Sent) -> None:
    """listOrdersForCustomerByStatusNewestFirst:
    shouldQueryOrdersByStatusForSingleCustomerFromGsi
    """
    assert asked(customer_orders_by_status) == (
        "Query",
        "gsi_customer_status_orders",
        'GSI3PK="CUST#{customer_id}#STATUS#{status}"',
    )
    assert explain(customer_orders_by_status).order == "descending"
    assert ids(db.run(customer_orders_by_status("C1", PAID, 10))) == ["O104", "O101"]
    assert ids(db.run(customer_orders_by_status("C2", PAID, 10))) == ["O107"]
    sent.forget()
    assert ids(db.run(customer_orders_by_status("C1", PAID, 1))) == ["O104"]
    assert sent.read == 1


def test_list_status_change_history_for_one_order(db: Database, sent: Sent) -> None:
    """listOrderStatusHistoryNewestFirst:
    shouldAppendStatusHistoryAndIncrementVersionOnStatusUpdate
    """
    assert asked(status_history) == (
        "Query",
        None,
        'PK="CUST#{customer_id}" AND begins_with(SK, "ORDER_STATUS_EVT#{order_id}#V#")',
    )
    assert explain(status_history).order == "descending"
    db.run(update_order_status_with_history("C1", "O10", PAID, 1, "till", "card"))
    db.run(update_order_status_with_history("C1", "O10", FULFILLED, 2, "depot", "sent"))
    db.run(update_order_status("C1", "O100", PAID))  # its id begins with the other's
    assert list(db.run(status_history("C1", "O10", 10))) == [
        StatusEvent(
            customer_id="C1",
            order_id="O10",
            version=3,
            from_status=PAID,
            to_status=FULFILLED,
            changed_at=NOW,
            changed_by="depot",
            reason="sent",
        ),
        StatusEvent(
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
    sent.forget()
    assert [event.version for event in db.run(status_history("C1", "O10", 1))] == [3]
    assert sent.read == 1
    assert "FilterExpression" not in sent.requests[0][1]


# -- writes --------------------------------------------------------------------------------------


def test_upsert_customer_profile(db: Database, sent: Sent, engine: Engine) -> None:
    """putCustomer: shouldUpsertCustomerProfileByExactKey"""
    assert asked(put_customer) == (
        "PutItem",
        None,
        'PK="CUST#{customer_id}" AND SK="PROFILE#{customer_id}"',
    )
    count = len(items(engine))
    renamed = Customer(customer_id="C1", name="Ann Harbor", email="ann@example.org")
    db.run(put_customer(renamed))
    assert db.run(customer_profile("C1")) == renamed
    assert len(items(engine)) == count

    new = Customer(customer_id="C3", name="Cat Bells", email="cat@example.com")
    db.run(put_customer(new))
    assert db.run(customer_profile("C3")) == new
    assert len(items(engine)) == count + 1
    assert sent.operations == ["PutItem", "GetItem", "PutItem", "GetItem"]
    assert sent.indexes == set()


def test_idempotent_customer_create(db: Database, sent: Sent, engine: Engine) -> None:
    """putCustomerIfAbsent: shouldUseConditionalWriteForIdempotentCustomerCreate"""
    assert asked(put_customer_if_absent) == asked(put_customer)
    cat = Customer(customer_id="C3", name="Cat Bells", email="cat@example.com")
    db.run(put_customer_if_absent(cat))
    before = everything(engine)

    another = Customer(customer_id="C3", name="somebody else", email="else@example.com")
    with pytest.raises(AlreadyExists) as refused:
        db.run(put_customer_if_absent(another))
    assert refused.value.current == cat
    assert everything(engine) == before
    assert sent.operations == ["PutItem", "PutItem"]  # nothing is read before
    assert "attribute_not_exists" in sent.requests[0][1]["ConditionExpression"]
    assert sent.indexes == set()


def test_create_order_root(db: Database, sent: Sent, engine: Engine) -> None:
    """putOrder: shouldQueryCustomerOrderTimelineFromGsi"""
    assert asked(put_order) == (
        "PutItem",
        ", ".join(INDEXES),
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"',
    )
    created = db.run(put_order(order("O500", total=Decimal(5))))
    assert (created.status, created.version) == (CREATED, 1)
    assert sent.operations == ["PutItem"]
    assert sent.indexes == set(INDEXES)
    assert item(engine, "ORDER#O500") == {
        "PK": "CUST#C1",
        "SK": "ORDER#O500",
        "GSI1PK": "CUST#C1",
        "GSI1SK": "ORDER#2026-01-25T10:15:30.000000Z#O500",
        "GSI2PK": "STATUS#CREATED",
        "GSI2SK": "ORDER#2026-01-25T10:15:30.000000Z#CUST#C1#O500",
        "GSI3PK": "CUST#C1#STATUS#CREATED",
        "GSI3SK": "ORDER#2026-01-25T10:15:30.000000Z#O500",
        "entityType": "CustomerOrder",
        "customerId": "C1",
        "orderId": "O500",
        "createdAt": "2026-01-25T10:15:30.000000Z",
        "status": "CREATED",
        "total": 5,
        "version": 1,
    }
    assert ids(db.run(customer_timeline("C1", 2))) == ["O500", "O104"]
    assert ids(db.run(orders_by_status(CREATED, 2))) == ["O500", "O106"]
    assert ids(db.run(customer_orders_by_status("C1", CREATED, 2))) == ["O500", "O103"]


def test_add_order_line_item(db: Database, sent: Sent) -> None:
    """putOrderItem: shouldLoadOrderAggregateFromSinglePartitionQuery"""
    assert asked(put_order_item) == (
        "PutItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    added = line("I4", "O100")
    db.run(put_order_item(added))
    assert sent.operations == ["PutItem"]
    assert sent.indexes == set()
    found = db.run(order_with_items("C1", "O100"))
    assert found is not None
    assert [item.item_id for item in found.items] == ["I1", "I2", "I3", "I4"]
    assert found.items[-1] == added


def test_update_order_status(db: Database, sent: Sent, engine: Engine) -> None:
    """updateOrderStatus: shouldUpdateOrderStatusAndMoveOrderAcrossStatusIndexes"""
    assert asked(update_order_status) == (
        "TransactWriteItems",  # the root and its event: it reads the version, and delegates
        "gsi_status_orders, gsi_customer_status_orders",
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"',
    )
    before = {item["SK"]: item for item in items(engine)}
    updated = db.run(update_order_status("C1", "O103", PAID))
    assert (updated.status, updated.version) == (PAID, 2)
    assert sent.operations == ["GetItem", "TransactWriteItems"]

    assert "O103" not in ids(db.run(orders_by_status(CREATED, 99)))
    assert "O103" not in ids(db.run(customer_orders_by_status("C1", CREATED, 99)))
    assert ids(db.run(orders_by_status(PAID, 99))) == ["O107", "O104", "O103", "O101"]
    assert ids(db.run(customer_orders_by_status("C1", PAID, 99))) == ["O104", "O103", "O101"]

    after = {item["SK"]: item for item in items(engine)}
    changed = {sk for sk, item in after.items() if before.get(sk) != item}
    assert changed == {"ORDER#O103", "ORDER_STATUS_EVT#O103#V#0000000002"}
    assert after["ORDER#O103"] == before["ORDER#O103"] | {
        "GSI2PK": "STATUS#PAID",
        "GSI3PK": "CUST#C1#STATUS#PAID",
        "status": "PAID",
        "version": 2,
    }


def test_update_status_with_history_and_lock(db: Database, sent: Sent, engine: Engine) -> None:
    """updateOrderStatusWithHistory: shouldAppendStatusHistoryAndIncrementVersionOnStatusUpdate"""
    assert asked(update_order_status_with_history) == asked(update_order_status)
    assert explain(update_order_status_with_history).filter == "version = {expected_version}"
    updated = db.run(update_order_status_with_history("C1", "O100", PAID, 1, "till", "card"))
    assert (updated.status, updated.version) == (PAID, 2)
    assert db.run(order_header("C1", "O100")) == updated
    transaction = dict(sent.requests)["TransactWriteItems"]["TransactItems"]
    assert [list(action) for action in transaction] == [["Update"], ["Put"]]
    (event,) = db.run(status_history("C1", "O100", 10))
    assert (event.version, event.from_status, event.to_status) == (2, CREATED, PAID)
    assert (event.changed_at, event.changed_by, event.reason) == (NOW, "till", "card")
    assert places(engine, "gsi_status_orders", "O100") == [
        ("STATUS#PAID", "ORDER#2026-01-15T10:15:30.000000Z#CUST#C1#O100")
    ]
    assert places(engine, "gsi_customer_status_orders", "O100") == [
        ("CUST#C1#STATUS#PAID", "ORDER#2026-01-15T10:15:30.000000Z#O100")
    ]
    assert places(engine, "gsi_customer_orders", "O100") == [
        ("CUST#C1", "ORDER#2026-01-15T10:15:30.000000Z#O100")
    ]


@pytest.mark.parametrize("expected", [1, 3], ids=["an old version", "a version to come"])
def test_reject_stale_status_update(db: Database, engine: Engine, expected: int) -> None:
    """updateOrderStatusWithHistory: shouldRejectStaleVersionDuringOptimisticStatusUpdate"""
    current = db.run(update_order_status("C1", "O100", PAID))
    before = everything(engine)
    with pytest.raises(VersionConflict) as refused:
        db.run(update_order_status_with_history("C1", "O100", FULFILLED, expected, "web", "late"))
    assert refused.value.current == current
    assert refused.value.entity == "Order"
    assert refused.value.key == {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O100"}}
    assert str(refused.value).endswith(f"version {expected} was expected, and version 2 is stored")
    assert everything(engine) == before


def test_update_item_status(db: Database, sent: Sent, engine: Engine) -> None:
    """updateOrderItemStatus: shouldUpdateItemStatusWithinOrder"""
    assert asked(update_item_status) == (
        "UpdateItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    before = items(engine)
    updated = db.run(update_item_status("C1", "O100", "I2", ItemStatus.SHIPPED))
    assert updated.item_status is ItemStatus.SHIPPED
    assert sent.operations == ["UpdateItem"]
    assert sent.indexes == set()
    assert items(engine) == [
        item | {"itemStatus": "SHIPPED"} if item["SK"] == "ORDER#O100#ITEM#I2" else item
        for item in before
    ]
    found = db.run(order_items("C1", "O100"))
    assert [item.item_status.value for item in found] == ["PENDING", "SHIPPED", "PENDING"]


def test_delete_one_order_item(db: Database, sent: Sent, engine: Engine) -> None:
    """deleteOrderItem: shouldDeleteOrderItemByPrimaryKey"""
    assert asked(delete_order_item) == (
        "DeleteItem",
        None,
        'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"',
    )
    before = items(engine)
    deleted = db.run(delete_order_item("C1", "O100", "I2"))
    assert deleted is not None
    assert deleted.sku == "SKU-2"
    assert items(engine) == [item for item in before if item["SK"] != "ORDER#O100#ITEM#I2"]
    assert db.run(delete_order_item("C1", "O100", "I2")) is None
    assert sent.operations == ["DeleteItem", "DeleteItem"]
    assert sent.indexes == set()


def test_atomic_order_root_and_items_write(db: Database, sent: Sent, engine: Engine) -> None:
    """createOrderWithItemsAtomic: shouldCreateOrderAndItemsAtomically"""
    shape = explain(create_order_with_items)
    assert shape.operation == "TransactWriteItems"
    assert [(step.operation, step.condition) for step in shape.steps] == [
        ("PutItem", 'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"'),
        ("PutItem", 'PK="CUST#{customer_id}" AND SK="ORDER#{order_id}#ITEM#{item_id}"'),
    ]
    new, lines = order("O500"), [line("I1"), line("I2")]
    db.run(create_order_with_items(new, lines))
    assert sent.operations == ["TransactWriteItems"]
    puts = [action["Put"] for action in sent.requests[0][1]["TransactItems"]]
    assert len(puts) == 3
    assert all("attribute_not_exists" in put["ConditionExpression"] for put in puts)
    assert sent.indexes == set(INDEXES)
    found = db.run(order_with_items("C1", "O500"))
    assert found == OrderWithItems(order=new, items=lines)
    assert new.version == 1
    assert ids(db.run(customer_timeline("C1", 1))) == ["O500"]


CONFLICTS: dict[str, tuple[Order, list[OrderItem], str]] = {
    "the root": (order("O100"), [line("I7", "O100")], "write 1 of 2, create Order: "),
    "the first item": (
        order("O500"),
        [line("I1", "O100"), line("I7")],
        "write 2 of 3, create OrderItem: ",
    ),
    "the last item": (
        order("O500"),
        [line("I7"), line("I1", "O100")],
        "write 3 of 3, create OrderItem: ",
    ),
}


@pytest.mark.parametrize("which", CONFLICTS)
def test_atomic_rollback_on_conflict(db: Database, engine: Engine, which: str) -> None:
    """createOrderWithItemsAtomic: shouldRollbackAtomicCreateWhenAnyRowAlreadyExists"""
    new, lines, told = CONFLICTS[which]
    before = everything(engine)
    with pytest.raises(AlreadyExists) as refused:
        db.run(create_order_with_items(new, lines))
    assert str(refused.value).startswith(told)
    assert everything(engine) == before
    there: Any = db.run(
        order_header("C1", "O100") if which == "the root" else order_item("C1", "O100", "I1")
    )
    assert refused.value.current == there


# -- the design as a whole -----------------------------------------------------------------------

ROWS = [
    "Get customer profile by customerId",
    "Get one order header by customerId + orderId",
    "Get one specific order item by customerId + orderId + itemId",
    "List items for one order",
    "Load order aggregate (order + items)",
    "List customer timeline (newest first)",
    "Paginate customer timeline",
    "List global orders for one status",
    "List customer orders for one status",
    "List status change history for one order",
    "Upsert customer profile",
    "Idempotent customer create",
    "Create order root",
    "Add order line item",
    "Update order status (state transition)",
    "Update status with history + lock",
    "Reject stale status update",
    "Update item status (partial fulfillment)",
    "Delete one order item",
    "Atomic order root + items write",
    "Atomic rollback on conflict",
]


def test_the_design_verifies_every_row_of_the_document(db: Database) -> None:
    named = [row.name for row in rows(Scanner(db))]
    assert [row for row in ROWS if row not in named] == []


def test_no_pattern_scans(db: Database, engine: Engine) -> None:
    looking = Scanner(connect(engine, Commerce))
    db._transport = sent = Sent(db._transport)
    ran = set()
    for row in rows(looking):
        ran.add(row.plan._pattern.rpartition(".")[2])
        with suppress(AlreadyExists, VersionConflict):  # rows that are about being refused
            db.run(row.plan)
    assert ran == {
        traced.name
        for traced in access_patterns(Commerce)
        if traced.function.__module__ == Commerce.__module__
    }
    assert set(sent.operations) == {
        "GetItem",
        "Query",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "TransactWriteItems",
    }
    assert not any("FilterExpression" in request for _, request in sent.requests)


def test_what_a_read_reads_is_what_it_gives(db: Database) -> None:
    """No read of the design throws anything away."""
    db._transport = sent = Sent(db._transport)
    found = db.run(order_with_items("C1", "O100"))
    assert found is not None
    feeds = (
        customer_timeline("C1", 4),
        orders_by_status(CREATED, 3),
        customer_orders_by_status("C1", CREATED, 2),
    )
    given = [*found.items, *db.run(order_items("C1", "O100"))]
    orders = [found.order, *(order for feed in feeds for order in db.run(feed))]
    assert sent.read == len(given) + len(orders) == 16


# -- history -------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", INDEXES)
def test_history_rows_stay_out_of_an_index(db: Database, engine: Engine, index: str) -> None:
    for status in OrderStatus:
        for order_id in ("O100", "O101", "O10"):
            db.run(update_order_status("C1", order_id, status))
    events = [item for item in items(engine) if item["entityType"] == "OrderStatusEvent"]
    assert len(events) == 3 * 8 - 2  # O100 and O10 are CREATED already
    assert not any(name.startswith("GSI") for event in events for name in event)

    held = items(engine, index)
    assert len(held) == 9
    assert {item["entityType"] for item in held} == {"CustomerOrder"}
    name = f"GSI{INDEXES.index(index) + 1}PK"
    for partition in {item[name] for item in held}:
        answer = engine.call(
            "Query",
            {
                "TableName": NAME,
                "IndexName": index,
                "KeyConditionExpression": f"{name} = :pk",
                "ExpressionAttributeValues": {":pk": {"S": partition}},
            },
        )
        assert {item["entityType"]["S"] for item in answer["Items"]} == {"CustomerOrder"}


def test_history_rows_stay_out_of_every_read_of_orders(db: Database) -> None:
    db.run(update_order_status("C1", "O10", PAID))
    found = db.run(order_with_items("C1", "O10"))
    assert found is not None
    assert [item.item_id for item in found.items] == ["I1", "I2", "I3"]
    assert len(db.run(order_items("C1", "O10"))) == 3
    assert ids(db.run(customer_timeline("C1", 99))).count("O10") == 1


def test_history_is_in_the_order_of_versions_beyond_nine(db: Database) -> None:
    for number in range(12):
        db.run(update_order_status("C1", "O100", (PAID, CREATED)[number % 2]))
    history = db.run(status_history("C1", "O100", 99))
    assert [event.version for event in history] == list(range(13, 1, -1))


def test_the_first_status_of_an_order_is_no_event(db: Database) -> None:
    assert list(db.run(status_history("C1", "O100", 10))) == []


def test_an_update_to_the_same_status_counts_the_version_and_is_no_event(db: Database) -> None:
    assert db.run(update_order_status("C1", "O100", CREATED)).version == 2
    assert list(db.run(status_history("C1", "O100", 10))) == []


def test_an_update_without_a_name_or_a_reason_says_nothing_of_them(
    db: Database, engine: Engine
) -> None:
    db.run(update_order_status("C1", "O100", PAID))
    event = item(engine, "ORDER_STATUS_EVT#O100#V#0000000002")
    assert event is not None
    assert event.keys().isdisjoint({"changedBy", "reason"})


# -- locks ---------------------------------------------------------------------------------------


def test_a_writer_who_comes_second_at_the_last_moment_is_stale(
    db: Database, engine: Engine
) -> None:
    """The version is right when it is read, and wrong when the transaction arrives."""
    other = connect(engine, Commerce)
    theirs = update_order_status_with_history("C1", "O100", PAID, 1, "till", "card")
    db._transport = Meanwhile(db._transport, lambda: other.run(theirs))
    with pytest.raises(VersionConflict) as refused:
        db.run(update_order_status_with_history("C1", "O100", FULFILLED, 1, "web", "late"))
    assert refused.value.current == other.run(order_header("C1", "O100"))
    history = other.run(status_history("C1", "O100", 10))
    assert [(event.version, event.to_status) for event in history] == [(2, PAID)]
    assert places(engine, "gsi_status_orders", "O100")[0][0] == "STATUS#PAID"


def test_an_update_without_a_version_reads_again_when_another_was_first(
    db: Database, engine: Engine
) -> None:
    other = connect(engine, Commerce)
    db._transport = Meanwhile(
        db._transport, lambda: other.run(update_order_status("C1", "O100", PAID))
    )
    updated = db.run(update_order_status("C1", "O100", FULFILLED))
    assert (updated.status, updated.version) == (FULFILLED, 3)
    history = db.run(status_history("C1", "O100", 10))
    assert [(e.version, e.from_status, e.to_status) for e in history] == [
        (3, PAID, FULFILLED),
        (2, CREATED, PAID),
    ]


def test_an_order_that_is_there_is_not_put_over_by_who_has_not_read_it(
    db: Database, engine: Engine
) -> None:
    before = everything(engine)
    with pytest.raises(VersionConflict):
        db.run(put_order(order("O100")))
    assert everything(engine) == before


@pytest.mark.parametrize(
    "plan",
    [
        update_order_status("C1", "O999", PAID),
        update_order_status_with_history("C1", "O999", PAID, 1, "till", "card"),
        update_item_status("C1", "O100", "I99", ItemStatus.SHIPPED),
    ],
    ids=["the status of an order", "with history", "the status of an item"],
)
def test_an_update_of_what_is_not_there_makes_nothing(
    db: Database, engine: Engine, plan: Any
) -> None:
    """UpdateItem alone would make it."""
    before = everything(engine)
    with pytest.raises((NotFound, VersionConflict)) as refused:
        db.run(plan)
    assert type(refused.value) is NotFound
    assert everything(engine) == before


# -- pages ---------------------------------------------------------------------------------------


def test_pages_are_stable_when_orders_are_added_between_them(db: Database, sent: Sent) -> None:
    first = db.run(customer_timeline_page("C1", 2, None))
    assert ids(first) == ["O104", "O103"]
    db.run(put_order(order("O900", day=90)))  # newer than all
    db.run(put_order(order("O901", day=3)))  # as new as the last one on the page; its id is above
    db.run(put_order(order("O001", day=-90)))  # older than all
    sent.forget()
    rest, cursor = [], first.next_cursor
    while cursor is not None:
        page = db.run(customer_timeline_page("C1", 2, cursor))
        rest += ids(page)
        cursor = page.next_cursor
    assert rest == ["O102", "O101", "O100", "O10", "O001"]
    assert sent.read == len(rest)
    assert all(request["Limit"] == 2 for _, request in sent.requests)


def test_a_feed_goes_on_when_the_last_order_of_a_page_has_left_it(db: Database) -> None:
    first = db.run(orders_by_status(CREATED, 2))
    assert ids(first) == ["O106", "O103"]
    db.run(update_order_status("C1", "O103", PAID))
    second = db.run(orders_by_status(CREATED, 2).after(first.next_cursor))
    assert ids(second) == ["O100", "O10"]


def test_a_token_is_of_one_customer_alone(db: Database) -> None:
    first = db.run(customer_timeline_page("C1", 2, None))
    with pytest.raises(InvalidCursor):
        db.run(customer_timeline_page("C2", 2, first.next_cursor))


def test_orders_of_the_same_moment_are_all_listed(db: Database) -> None:
    for number in range(5):
        db.run(put_order(order(f"S{number}", "C9", day=0)))
    assert ids(db.iterate(customer_timeline_page("C9", 2, None))) == ["S4", "S3", "S2", "S1", "S0"]


# -- ids that look like other keys ---------------------------------------------------------------

NEIGHBOURS = ["O1", "O1!", "O1 x", "O1$", "O1#ITEM#I1", "O1#", "O10", "O1%"]


@pytest.mark.parametrize("order_id", NEIGHBOURS)
def test_an_order_is_never_mixed_up_with_one_whose_id_is_near(db: Database, order_id: str) -> None:
    for near in NEIGHBOURS:
        db.run(create_order_with_items(order(near, "C9"), [line("I1", near, "C9")]))
        db.run(update_order_status("C9", near, PAID))
    found = db.run(order_with_items("C9", order_id))
    assert found is not None
    assert found.order.order_id == order_id
    assert [item.order_id for item in found.items] == [order_id]
    assert [item.order_id for item in db.run(order_items("C9", order_id))] == [order_id]
    assert [event.order_id for event in db.run(status_history("C9", order_id, 10))] == [order_id]


# -- what the document calls not efficient -------------------------------------------------------


def by_sku(sku: str) -> Query[OrderItem]:
    """Query by sku across all customers/orders"""
    return OrderItem.where(OrderItem.sku == sku)


def by_item_status(status: ItemStatus) -> Query[OrderItem]:
    """Query by itemStatus across all customers/orders"""
    return OrderItem.where(OrderItem.item_status == status)


def by_date(low: datetime, high: datetime) -> Query[Order]:
    """Global date-range feed independent of status/customer"""
    return Order.where(Order.created_at.between(low, high))


PROPOSED: dict[Callable[..., Query[Any]], str] = {
    by_sku: (
        'by_sku = index(Commerce.by_sku, "SKU" / sku, '
        '"ORDERITEM" / customer_id / order_id / item_id)'
    ),
    by_item_status: (
        'by_item_status = index(Commerce.by_item_status, "ITEM_STATUS" / item_status, '
        '"ORDERITEM" / customer_id / order_id / item_id)'
    ),
    by_date: (
        'by_created_at = index(Commerce.by_created_at, "ORDER", '
        '"ORDER" / created_at / customer_id / order_id)'
    ),
}


def refusal(function: Callable[..., Query[Any]]) -> str:
    with pytest.raises(DeclarationError) as refused:
        access_pattern(function)
    return str(refused.value)


def proposal(function: Callable[..., Query[Any]]) -> str:
    """The line of the error that can be pasted into the entity."""
    (found,) = re.findall(r"by_\w+ = index\(.*?\)(?=\.|$)", refusal(function))
    return str(found)


@pytest.mark.parametrize("function", PROPOSED, ids=lambda function: function.__name__)
def test_what_is_not_efficient_is_refused_with_the_index_that_would_serve_it(
    function: Callable[..., Query[Any]],
) -> None:
    told = refusal(function)
    assert told.startswith(f"pattern {function.__name__}: ")
    assert "would be a scan" in told
    assert proposal(function) == PROPOSED[function]


@pytest.mark.parametrize("function", PROPOSED, ids=lambda function: function.__name__)
def test_the_refusal_says_what_the_table_has_to_declare(
    function: Callable[..., Query[Any]],
) -> None:
    """The index that is proposed is one that the table does not have yet."""
    told = refusal(function)
    (name,) = re.findall(r"index\(Commerce\.(\w+),", told)
    assert not hasattr(Commerce, name)
    assert re.search(rf"\b{name} = GSI\(\"\w+\", \"\w+\"\)", told)


def test_the_index_that_is_proposed_serves_a_query_by_sku(engine: Engine) -> None:
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

    assert asked(lines_by_sku) == ("Query", "by_sku", 'GSI4PK="SKU#{sku}"')
    db = connect(engine, Wider)
    for customer, order_id, item_id, sku in (
        ("C1", "O1", "I1", "SKU-1"),
        ("C1", "O1", "I2", "SKU-10"),
        ("C1", "O2", "I1", "SKU-1"),
        ("C2", "O3", "I1", "SKU-1"),
        ("C2", "O3", "I2", "SKU-2"),
    ):
        made = Line(customer_id=customer, order_id=order_id, item_id=item_id, sku=sku)
        db.run(create(made))
    db._transport = sent = Sent(db._transport)
    found = db.run(lines_by_sku("SKU-1"))
    assert [(line.customer_id, line.order_id, line.item_id) for line in found] == [
        ("C1", "O1", "I1"),
        ("C1", "O2", "I1"),
        ("C2", "O3", "I1"),
    ]
    assert (sent.operations, sent.read) == (["Query"], 3)


def test_the_index_that_is_proposed_serves_a_query_by_item_status(engine: Engine) -> None:
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

    assert asked(lines_by_status) == ("Query", "by_item_status", 'GSI4PK="ITEM_STATUS#{status}"')
    db = connect(engine, Wider)
    for customer in ("C1", "C2"):
        for item_id in ("I1", "I2"):
            db.run(create(Line(customer_id=customer, order_id="O1", item_id=item_id)))
    shipped = Line.item_status.set(ItemStatus.SHIPPED)
    db.run(Line.primary("C1", "O1", "I2").update(shipped))
    db.run(Line.primary("C2", "O1", "I1").update(shipped))
    db._transport = sent = Sent(db._transport)
    found = db.run(lines_by_status(ItemStatus.SHIPPED))
    assert [(line.customer_id, line.item_id) for line in found] == [("C1", "I2"), ("C2", "I1")]
    assert (sent.operations, sent.read) == (["Query"], 2)


def test_the_index_that_is_proposed_serves_a_global_feed_by_date(engine: Engine) -> None:
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

    operation, where, condition = asked(placed_between)
    assert (operation, where) == ("Query", "by_created_at")
    assert condition.startswith('GSI4PK="ORDER" AND GSI4SK BETWEEN "ORDER#{low}"')
    db = connect(engine, Wider)
    for day in range(6):
        customer, created = f"C{day % 2}", START + timedelta(days=day)
        db.run(create(Placed(customer_id=customer, order_id=f"O{day}", created_at=created)))
    db._transport = sent = Sent(db._transport)
    found = db.run(placed_between(START + timedelta(days=1), START + timedelta(days=4)))
    assert ids(found) == ["O1", "O2", "O3", "O4"]
    assert (sent.operations, sent.read) == (["Query"], 4)
