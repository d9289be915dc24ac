"""boto3's client: requests and responses with DynamoDB's types, results as dataclasses."""

from __future__ import annotations

from typing import Any

import boto3
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

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

serialize = TypeSerializer().serialize
deserialize = TypeDeserializer().deserialize


def open_orders(target: str, table: str) -> ClientOrders:
    return ClientOrders(boto3.client("dynamodb", endpoint_url=target), table)


class ClientOrders:
    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def create(self, new: NewOrder) -> None:
        self._transact(create_request(self._table, new))

    def get(self, customer_id: str, order_id: str) -> Order:
        return self._get(customer_id, order_id)

    def load(self, customer_id: str, order_id: str) -> tuple[Order, list[OrderLine]]:
        page = self._query(load_request(customer_id, order_id))
        return order_with_lines([plain(item) for item in page["Items"]])

    def timeline(self, customer_id: str) -> tuple[list[Order], dict[str, Any] | None]:
        page = self._query(timeline_request(customer_id))
        return [order_from(plain(item)) for item in page["Items"]], page.get("LastEvaluatedKey")

    def change_status(self, change: StatusChange) -> Order:
        before = self._get(change.customer_id, change.order_id, ConsistentRead=True)
        after, items = status_request(self._table, before, change)
        self._transact(items)
        return after

    def _get(self, customer_id: str, order_id: str, **options: bool) -> Order:
        key = typed(order_key(customer_id, order_id))
        return order_from(
            plain(self._client.get_item(TableName=self._table, Key=key, **options)["Item"])
        )

    def _query(self, request: dict[str, Any]) -> dict[str, Any]:
        values = typed(request["ExpressionAttributeValues"])
        page: dict[str, Any] = self._client.query(
            TableName=self._table, **request | {"ExpressionAttributeValues": values}
        )
        return page

    def _transact(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            for action in item.values():
                for name in ("Key", "Item", "ExpressionAttributeValues"):
                    if name in action:
                        action[name] = typed(action[name])
        self._client.transact_write_items(TransactItems=items)

    def close(self) -> None:
        self._client.close()


def typed(values: dict[str, Any]) -> dict[str, Any]:
    return {name: serialize(value) for name, value in values.items()}


def plain(item: dict[str, Any]) -> dict[str, Any]:
    return {name: deserialize(value) for name, value in item.items()}
