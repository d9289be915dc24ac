"""pydynox without an event loop."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from typing import Any

from pydynox import DynamoDBClient, SyncTransaction

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


def open_orders(target: str, table: str) -> PydynoxOrders:
    return PydynoxOrders(connected(target, table))


class PydynoxOrders:
    def __init__(self, client: DynamoDBClient) -> None:
        self._client = client

    def create(self, new: NewOrder) -> None:
        with SyncTransaction(self._client) as transaction:
            for model in models_of(new):
                transaction.save_model(model, condition=CommerceItem.pk.not_exists())

    def get(self, customer_id: str, order_id: str) -> Any:
        return CustomerOrder.sync_get(**key_of(customer_id, order_id))

    def load(self, customer_id: str, order_id: str) -> tuple[Any, list[Any]]:
        root, *lines = CommerceItem.sync_query(
            partition_key=f"CUST#{customer_id}", sort_key_condition=belongs_to(order_id)
        )
        return root, lines

    def timeline(self, customer_id: str) -> tuple[list[Any], Any]:
        found = CustomerOrder.timeline.sync_query(
            partition_key=f"CUST#{customer_id}", scan_index_forward=False, limit=PAGE
        )
        return list(found), found.last_evaluated_key

    def change_status(self, change: StatusChange) -> Any:
        key = key_of(change.customer_id, change.order_id)
        order = CustomerOrder.sync_get(**key, consistent_read=True)
        event = changed(order, change)
        with SyncTransaction(self._client) as transaction:
            transaction.save_model(order)
            transaction.save_model(event, condition=CommerceItem.pk.not_exists())
        return order

    def close(self) -> None:
        pass
