"""Tablewright: on a file in this process, or on an endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.libraries.sample import PAGE, NewOrder, StatusChange
from benchmarks.peers.libraries.tablewright_orders import entities
from tablewright import connect
from tablewright.database import Database
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


def open_orders(target: str, table: str) -> TablewrightOrders:
    return TablewrightOrders(connect(target, Commerce, table_name=table, durability="normal"))


class TablewrightOrders:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, new: NewOrder) -> None:
        self._database.run(create_order_with_items(*entities(new)))

    def get(self, customer_id: str, order_id: str) -> CustomerOrder | None:
        return self._database.run(order_header(customer_id, order_id))

    def load(self, customer_id: str, order_id: str) -> tuple[CustomerOrder, list[OrderLineItem]]:
        found = self._database.run(order_with_items(customer_id, order_id))
        assert found is not None
        return found.order, found.items

    def timeline(self, customer_id: str) -> tuple[Sequence[CustomerOrder], str | None]:
        page = self._database.run(customer_timeline_page(customer_id, PAGE, None))
        return page, page.next_cursor

    def change_status(self, change: StatusChange) -> CustomerOrder:
        return self._database.run(
            update_order_status_with_history(
                change.customer_id,
                change.order_id,
                change.status,
                change.expected_version,
                change.by,
                change.reason,
            )
        )

    def close(self) -> None:
        self._database.close()
