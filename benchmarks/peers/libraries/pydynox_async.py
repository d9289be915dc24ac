"""pydynox in an event loop."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from typing import Any

from pydynox import DynamoDBClient, Transaction

from benchmarks.peers.libraries.pydynox_models import (
    DISTRIBUTION,
    CommerceItem,
    CustomerOrder,
    belongs_to,
    changed,
    connected,
    key_of,
    models_of,
)
from benchmarks.peers.libraries.sample import PAGE, NewOrder, StatusChange

__all__ = ["DISTRIBUTION", "open_orders"]


async def open_orders(target: str, table: str) -> AsyncPydynoxOrders:
    return AsyncPydynoxOrders(connected(target, table))


class AsyncPydynoxOrders:
    def __init__(self, client: DynamoDBClient) -> None:
        self._client = client

    async def create(self, new: NewOrder) -> None:
        async with Transaction(self._client) as transaction:
            for model in models_of(new):
                transaction.save_model(model, condition=CommerceItem.pk.not_exists())

    async def get(self, customer_id: str, order_id: str) -> Any:
        return await CustomerOrder.get(**key_of(customer_id, order_id))

    async def load(self, customer_id: str, order_id: str) -> tuple[Any, list[Any]]:
        found = CommerceItem.query(
            partition_key=f"CUST#{customer_id}", sort_key_condition=belongs_to(order_id)
        )
        root, *lines = [item async for item in found]
        return root, lines

    async def timeline(self, customer_id: str) -> tuple[list[Any], Any]:
        found = CustomerOrder.timeline.query(
            partition_key=f"CUST#{customer_id}", scan_index_forward=False, limit=PAGE
        )
        return [order async for order in found], found.last_evaluated_key

    async def change_status(self, change: StatusChange) -> Any:
        key = key_of(change.customer_id, change.order_id)
        order = await CustomerOrder.get(**key, consistent_read=True)
        event = changed(order, change)
        async with Transaction(self._client) as transaction:
            transaction.save_model(order)
            transaction.save_model(event, condition=CommerceItem.pk.not_exists())
        return order

    async def close(self) -> None:
        pass
