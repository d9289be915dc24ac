"""PynamoDB: polymorphic models with a discriminator and a version.

Its own attributes for numbers and times return floats, and write times in another format.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pynamodb.attributes import (
    Attribute,
    DiscriminatorAttribute,
    NumberAttribute,
    UnicodeAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from benchmarks.peers.libraries.sample import PAGE, NewOrder, StatusChange

DISTRIBUTION = "pynamodb"
REGION = "us-east-1"


class DecimalAttribute(Attribute[Decimal]):
    attr_type = "N"

    def serialize(self, value: Decimal) -> str:
        return str(value)

    def deserialize(self, value: str) -> Decimal:
        return Decimal(value)


class MomentAttribute(Attribute[datetime]):
    attr_type = "S"

    def serialize(self, value: datetime) -> str:
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def deserialize(self, value: str) -> datetime:
        return datetime.fromisoformat(value)


class Timeline(GlobalSecondaryIndex["CustomerOrder"]):
    class Meta:
        index_name = "gsi_customer_orders"
        projection = AllProjection()

    gsi1pk = UnicodeAttribute(hash_key=True, attr_name="GSI1PK")
    gsi1sk = UnicodeAttribute(range_key=True, attr_name="GSI1SK")


class CommerceItem(Model):
    class Meta:
        table_name = ""
        host = ""
        region = REGION

    pk = UnicodeAttribute(hash_key=True, attr_name="PK")
    sk = UnicodeAttribute(range_key=True, attr_name="SK")
    entity_type = DiscriminatorAttribute(attr_name="entityType")
    customer_id = UnicodeAttribute(attr_name="customerId")
    order_id = UnicodeAttribute(attr_name="orderId")


class CustomerOrder(CommerceItem, discriminator="CustomerOrder"):
    gsi1pk = UnicodeAttribute(attr_name="GSI1PK")
    gsi1sk = UnicodeAttribute(attr_name="GSI1SK")
    gsi2pk = UnicodeAttribute(attr_name="GSI2PK")
    gsi2sk = UnicodeAttribute(attr_name="GSI2SK")
    gsi3pk = UnicodeAttribute(attr_name="GSI3PK")
    gsi3sk = UnicodeAttribute(attr_name="GSI3SK")
    created_at = MomentAttribute(attr_name="createdAt")
    status = UnicodeAttribute()
    total = DecimalAttribute()
    version = VersionAttribute()

    timeline = Timeline()


class OrderLineItem(CommerceItem, discriminator="OrderLineItem"):
    item_id = UnicodeAttribute(attr_name="itemId")
    sku = UnicodeAttribute()
    quantity = NumberAttribute()
    price = DecimalAttribute()
    item_status = UnicodeAttribute(attr_name="itemStatus", default="PENDING")


class OrderStatusEvent(CommerceItem, discriminator="OrderStatusEvent"):
    version = NumberAttribute()
    from_status = UnicodeAttribute(attr_name="fromStatus")
    to_status = UnicodeAttribute(attr_name="toStatus")
    changed_at = MomentAttribute(attr_name="changedAt")
    changed_by = UnicodeAttribute(attr_name="changedBy")
    reason = UnicodeAttribute()


def open_orders(target: str, table: str) -> PynamoOrders:
    CommerceItem.Meta.host = target
    CommerceItem.Meta.table_name = table
    return PynamoOrders(Connection(region=REGION, host=target))


class PynamoOrders:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, new: NewOrder) -> None:
        customer, order = f"CUST#{new.customer_id}", f"ORDER#{new.order_id}"
        placed = f"ORDER#{new.created_at:%Y-%m-%dT%H:%M:%S.%fZ}"
        ids: dict[str, Any] = {"customer_id": new.customer_id, "order_id": new.order_id}
        root = CustomerOrder(
            customer,
            order,
            gsi1pk=customer,
            gsi1sk=f"{placed}#{new.order_id}",
            gsi2pk="STATUS#CREATED",
            gsi2sk=f"{placed}#{customer}#{new.order_id}",
            gsi3pk=f"{customer}#STATUS#CREATED",
            gsi3sk=f"{placed}#{new.order_id}",
            created_at=new.created_at,
            status="CREATED",
            total=new.total,
            **ids,
        )
        lines = [
            OrderLineItem(
                customer,
                f"{order}#ITEM#{line.item_id}",
                item_id=line.item_id,
                sku=line.sku,
                quantity=line.quantity,
                price=line.price,
                **ids,
            )
            for line in new.lines
        ]
        with TransactWrite(connection=self._connection) as transaction:
            for item in (root, *lines):
                transaction.save(item, condition=CommerceItem.pk.does_not_exist())

    def get(self, customer_id: str, order_id: str) -> CustomerOrder:
        return CustomerOrder.get(f"CUST#{customer_id}", f"ORDER#{order_id}")

    def load(self, customer_id: str, order_id: str) -> tuple[Any, list[Any]]:
        order = f"ORDER#{order_id}"
        # The last key ends with the character after the separator.
        root, *lines = CommerceItem.query(
            f"CUST#{customer_id}", CommerceItem.sk.between(order, f"{order}$")
        )
        return root, lines

    def timeline(self, customer_id: str) -> tuple[list[CustomerOrder], Any]:
        found = CustomerOrder.timeline.query(
            f"CUST#{customer_id}", scan_index_forward=False, limit=PAGE
        )
        return list(found), found.last_evaluated_key

    def change_status(self, change: StatusChange) -> CustomerOrder:
        order = CustomerOrder.get(
            f"CUST#{change.customer_id}", f"ORDER#{change.order_id}", consistent_read=True
        )
        if order.version != change.expected_version:
            raise ValueError(f"{change.order_id} has version {order.version}")
        version = order.version + 1
        event = OrderStatusEvent(
            order.pk,
            f"ORDER_STATUS_EVT#{order.order_id}#V#{version:010}",
            customer_id=order.customer_id,
            order_id=order.order_id,
            version=version,
            from_status=order.status,
            to_status=change.status,
            changed_at=datetime.now(UTC),
            changed_by=change.by,
            reason=change.reason,
        )
        order.status = change.status
        order.gsi2pk = f"STATUS#{change.status}"
        order.gsi3pk = f"{order.pk}#STATUS#{change.status}"
        with TransactWrite(connection=self._connection) as transaction:
            transaction.update(
                order,
                [
                    CustomerOrder.status.set(order.status),
                    CustomerOrder.gsi2pk.set(order.gsi2pk),
                    CustomerOrder.gsi3pk.set(order.gsi3pk),
                ],
            )
            transaction.save(event, condition=CommerceItem.pk.does_not_exist())
        return order

    def close(self) -> None:
        self._connection.client.close()
