"""aioboto3's resource: requests with Python values, results as dataclasses."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import aioboto3

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

DISTRIBUTION = "aioboto3"


async def open_orders(target: str, table: str) -> AsyncResourceOrders:
    stack = AsyncExitStack()
    session = aioboto3.Session()
    resource = await stack.enter_async_context(session.resource("dynamodb", endpoint_url=target))
    return AsyncResourceOrders(stack, await resource.Table(table), table)


class AsyncResourceOrders:
    def __init__(self, stack: AsyncExitStack, table: Any, name: str) -> None:
        self._stack = stack
        self._table = table
        self._name = name
        self._client = table.meta.client

    async def create(self, new: NewOrder) -> None:
        await self._client.transact_write_items(TransactItems=create_request(self._name, new))

    async def get(self, customer_id: str, order_id: str) -> Order:
        found = await self._table.get_item(Key=order_key(customer_id, order_id))
        return order_from(found["Item"])

    async def load(self, customer_id: str, order_id: str) -> tuple[Order, list[OrderLine]]:
        page = await self._table.query(**load_request(customer_id, order_id))
        return order_with_lines(page["Items"])

    async def timeline(self, customer_id: str) -> tuple[list[Order], dict[str, Any] | None]:
        page = await self._table.query(**timeline_request(customer_id))
        return [order_from(item) for item in page["Items"]], page.get("LastEvaluatedKey")

    async def change_status(self, change: StatusChange) -> Order:
        key = order_key(change.customer_id, change.order_id)
        found = await self._table.get_item(Key=key, ConsistentRead=True)
        after, items = status_request(self._name, order_from(found["Item"]), change)
        await self._client.transact_write_items(TransactItems=items)
        return after

    async def close(self) -> None:
        await self._stack.aclose()
