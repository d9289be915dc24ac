"""pydynox: models with a discriminator, templates for keys, and a version."""

# mypy: disable-error-code="import-not-found", allow-subclassing-any, allow-untyped-calls
# mypy: allow-untyped-decorators

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydynox import DynamoDBClient, Model, ModelConfig, set_default_client
from pydynox.attributes import (
    DatetimeAttribute,
    DecimalAttribute,
    NumberAttribute,
    StringAttribute,
    VersionAttribute,
)
from pydynox.hooks import before_save
from pydynox.indexes import GlobalSecondaryIndex

from benchmarks.peers.libraries.sample import NewOrder, StatusChange

DISTRIBUTION = "pydynox"
REGION = "us-east-1"


class MomentAttribute(DatetimeAttribute):
    """Its own attribute writes other texts: without a fraction if that is zero, and no Z."""

    def serialize(self, value: datetime | None) -> str | None:
        return None if value is None else moment(value)


class CommerceItem(Model):
    model_config = ModelConfig(table="")

    pk = StringAttribute(partition_key=True, alias="PK", template="CUST#{customer_id}")
    sk = StringAttribute(sort_key=True, alias="SK")
    entity_type = StringAttribute(discriminator=True, alias="entityType")
    customer_id = StringAttribute(alias="customerId")
    order_id = StringAttribute(alias="orderId")


class CustomerOrder(CommerceItem):
    sk = StringAttribute(sort_key=True, alias="SK", template="ORDER#{order_id}")
    gsi1pk = StringAttribute(alias="GSI1PK", template="CUST#{customer_id}")
    gsi1sk = StringAttribute(alias="GSI1SK")
    gsi2pk = StringAttribute(alias="GSI2PK", template="STATUS#{status}")
    gsi2sk = StringAttribute(alias="GSI2SK")
    gsi3pk = StringAttribute(alias="GSI3PK", template="CUST#{customer_id}#STATUS#{status}")
    gsi3sk = StringAttribute(alias="GSI3SK")
    created_at = MomentAttribute(alias="createdAt")
    status = StringAttribute(default="CREATED")
    total = DecimalAttribute()
    version = VersionAttribute()

    timeline = GlobalSecondaryIndex(
        index_name="gsi_customer_orders", partition_key="gsi1pk", sort_key="gsi1sk"
    )

    @before_save
    def set_sort_keys(self) -> None:
        """A template cannot format a time."""
        placed = f"ORDER#{moment(self.created_at)}"
        self.gsi1sk = self.gsi3sk = f"{placed}#{self.order_id}"
        self.gsi2sk = f"{placed}#CUST#{self.customer_id}#{self.order_id}"


class OrderLineItem(CommerceItem):
    sk = StringAttribute(sort_key=True, alias="SK", template="ORDER#{order_id}#ITEM#{item_id}")
    item_id = StringAttribute(alias="itemId")
    sku = StringAttribute()
    quantity = NumberAttribute()
    price = DecimalAttribute()
    item_status = StringAttribute(alias="itemStatus", default="PENDING")


class OrderStatusEvent(CommerceItem):
    version = NumberAttribute()
    from_status = StringAttribute(alias="fromStatus")
    to_status = StringAttribute(alias="toStatus")
    changed_at = MomentAttribute(alias="changedAt")
    changed_by = StringAttribute(alias="changedBy")
    reason = StringAttribute()


def connected(target: str, table: str) -> DynamoDBClient:
    client = DynamoDBClient(endpoint_url=target, region=REGION)
    set_default_client(client)
    CommerceItem.model_config.table = table
    return client


def models_of(new: NewOrder) -> list[Any]:
    ids = {"customer_id": new.customer_id, "order_id": new.order_id}
    return [
        CustomerOrder(created_at=new.created_at, total=new.total, **ids),
        *(
            OrderLineItem(
                item_id=line.item_id,
                sku=line.sku,
                quantity=line.quantity,
                price=line.price,
                **ids,
            )
            for line in new.lines
        ),
    ]


def changed(order: Any, change: StatusChange) -> OrderStatusEvent:
    """Change the status of an order; return the event."""
    if order.version != change.expected_version:
        raise ValueError(f"{change.order_id} has version {order.version}")
    version = order.version + 1
    event = OrderStatusEvent(
        sk=f"ORDER_STATUS_EVT#{order.order_id}#V#{version:010}",
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
    return event


def key_of(customer_id: str, order_id: str) -> dict[str, str]:
    return {"pk": f"CUST#{customer_id}", "sk": f"ORDER#{order_id}"}


def belongs_to(order_id: str) -> Any:
    """The last key ends with the character after the separator."""
    return CommerceItem.sk.between(f"ORDER#{order_id}", f"ORDER#{order_id}$")


def moment(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
