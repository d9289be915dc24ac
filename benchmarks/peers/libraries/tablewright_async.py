"""Tablewright in an event loop."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.libraries.sample import PAGE, NewOrder, StatusChange
from benchmarks.peers.libraries.tablewright_orders import entities
from tablewright import connect_async
from tablewright.database import AsyncDatabase
from tablewright.designs.commerce import (
    Commerce,
    CustomerOrder,
    OrderLineItem,
    create_order_with_items,
    customer_timeline_page,
    order_header,
    order_with_items,
    update_order_status_with_history,
)

DISTRIBUTION = "tablewright"


async def open_orders(target: str, table: str) -> AsyncTablewrightOrders:
    return AsyncTablewrightOrders(await connect_async(target, Commerce, table_name=table))


class AsyncTablewrightOrders:
    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def create(self, new: NewOrder) -> None:
        await self._database.run(create_order_with_items(*entities(new)))

    async def get(self, customer_id: str, order_id: str) -> CustomerOrder | None:
        return await self._database.run(order_header(customer_id, order_id))

    async def load(
        self, customer_id: str, order_id: str
    ) -> tuple[CustomerOrder, list[OrderLineItem]]:
        found = await self._database.run(order_with_items(customer_id, order_id))
        assert found is not None
        return found.order, found.items

    async def timeline(self, customer_id: str) -> tuple[Sequence[CustomerOrder], str | None]:
        page = await self._database.run(customer_timeline_page(customer_id, PAGE, None))
        return page, page.next_cursor

    async def change_status(self, change: StatusChange) -> CustomerOrder:
        return await self._database.run(
            update_order_status_with_history(
                change.customer_id,
                change.order_id,
                change.status,
                change.expected_version,
                change.by,
                change.reason,
            )
        )

    async def close(self) -> None:
        await self._database.close()
