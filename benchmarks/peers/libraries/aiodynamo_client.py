"""aiodynamo with aiohttp, which takes less CPU time than httpx; results as dataclasses."""

# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from aiodynamo.client import Client, Table
from aiodynamo.credentials import Credentials
from aiodynamo.expressions import F, HashKey, RangeKey
from aiodynamo.http.aiohttp import AIOHTTP
from aiodynamo.operations import Put, Update
from aiohttp import ClientSession
from yarl import URL

from benchmarks.peers.libraries.plain_orders import (
    TIMELINE,
    Order,
    OrderLine,
    event_item,
    items_of,
    order_from,
    order_key,
    order_with_lines,
    status_keys,
)
from benchmarks.peers.libraries.sample import PAGE, NewOrder, StatusChange

DISTRIBUTION = "aiodynamo"
REGION = "us-east-1"


async def open_orders(target: str, table: str) -> AiodynamoOrders:
    session = ClientSession()
    client = Client(
        AIOHTTP(session),
        Credentials.auto(),
        REGION,
        endpoint=URL(target),
        numeric_type=Decimal,
    )
    return AiodynamoOrders(session, client.table(table))


class AiodynamoOrders:
    def __init__(self, session: ClientSession, table: Table) -> None:
        self._session = session
        self._table = table

    async def create(self, new: NewOrder) -> None:
        await self._table.client.transact_write_items([self._put(item) for item in items_of(new)])

    async def get(self, customer_id: str, order_id: str) -> Order:
        return order_from(await self._table.get_item(order_key(customer_id, order_id)))

    async def load(self, customer_id: str, order_id: str) -> tuple[Order, list[OrderLine]]:
        key = order_key(customer_id, order_id)
        # The last key ends with the character after the separator.
        belongs = RangeKey("SK").between(key["SK"], f"{key['SK']}$")
        page = await self._table.query_single_page(HashKey("PK", key["PK"]) & belongs)
        return order_with_lines(page.items)

    async def timeline(self, customer_id: str) -> tuple[list[Order], dict[str, Any] | None]:
        page = await self._table.query_single_page(
            HashKey("GSI1PK", f"CUST#{customer_id}"),
            index=TIMELINE,
            scan_forward=False,
            limit=PAGE,
        )
        return [order_from(item) for item in page.items], page.last_evaluated_key

    async def change_status(self, change: StatusChange) -> Order:
        key = order_key(change.customer_id, change.order_id)
        before = order_from(await self._table.get_item(key, consistent_read=True))
        after = replace(before, status=change.status, version=before.version + 1)
        update = F("status").set(after.status) & F("version").set(after.version)
        for name, value in status_keys(after).items():
            update &= F(name).set(value)
        expected = F("version").equals(change.expected_version)
        event = event_item(before, change, datetime.now(UTC))
        await self._table.client.transact_write_items(
            [Update(self._table.name, key, update, expected), self._put(event)]
        )
        return after

    def _put(self, item: dict[str, Any]) -> Put:
        return Put(self._table.name, item, F("PK").does_not_exist())

    async def close(self) -> None:
        await self._session.close()
