"""boto3's resource: requests with Python values, results as dataclasses."""

from __future__ import annotations

from typing import Any

import boto3

from benchmarks.peers.libraries.boto_requests import (
    create_request,
    load_request,
    status_request,
    timeline_request,
)
from benchmarks.peers.libraries.plain_orders import (
    Order,
    OrderLine,
    order_from,
    order_key,
    order_with_lines,
)
from benchmarks.peers.libraries.sample import NewOrder, StatusChange

DISTRIBUTION = "boto3"


def open_orders(target: str, table: str) -> ResourceOrders:
    return ResourceOrders(boto3.resource("dynamodb", endpoint_url=target).Table(table))


class ResourceOrders:
    def __init__(self, table: Any) -> None:
        self._table = table
        self._client = table.meta.client

    def create(self, new: NewOrder) -> None:
        self._client.transact_write_items(TransactItems=create_request(self._table.name, new))

    def get(self, customer_id: str, order_id: str) -> Order:
        return order_from(self._table.get_item(Key=order_key(customer_id, order_id))["Item"])

    def load(self, customer_id: str, order_id: str) -> tuple[Order, list[OrderLine]]:
        return order_with_lines(self._table.query(**load_request(customer_id, order_id))["Items"])

    def timeline(self, customer_id: str) -> tuple[list[Order], dict[str, Any] | None]:
        page = self._table.query(**timeline_request(customer_id))
        return [order_from(item) for item in page["Items"]], page.get("LastEvaluatedKey")

    def change_status(self, change: StatusChange) -> Order:
        key = order_key(change.customer_id, change.order_id)
        before = order_from(self._table.get_item(Key=key, ConsistentRead=True)["Item"])
        after, items = status_request(self._table.name, before, change)
        self._client.transact_write_items(TransactItems=items)
        return after

    def close(self) -> None:
        self._client.close()
