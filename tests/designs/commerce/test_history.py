"""The history of the status of an order."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tablewright.database import Database
from tablewright.designs.commerce import (
    OrderStatus,
    customer_timeline,
    order_items,
    order_with_items,
    put_order,
    status_history,
    update_order_status,
    update_order_status_with_history,
)
from tests.designs.commerce.support import (
    CREATED,
    INDEXES,
    NAME,
    PAID,
    ids,
    items,
    order,
    stored_item,
)
from tests.designs.stored import query


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_contains_no_history_events(db: Database, index: str, client: Any) -> None:
    for status in OrderStatus:
        for order_id in ("O100", "O101", "O10"):
            db.run(update_order_status("C1", order_id, status))
    events = [item for item in items(client) if item["entityType"] == "OrderStatusEvent"]
    assert len(events) == 3 * 8
    assert not any(name.startswith("GSI") for event in events for name in event)

    indexed = items(client, index)
    assert len(indexed) == 9
    assert {item["entityType"] for item in indexed} == {"CustomerOrder"}
    name = f"GSI{INDEXES.index(index) + 1}PK"
    for partition in {item[name] for item in indexed}:
        found = query(client, NAME, f'{name}="{partition}"', index)
        assert {item["entityType"]["S"] for item in found} == {"CustomerOrder"}


def test_reads_of_orders_return_no_history_events(db: Database) -> None:
    db.run(update_order_status("C1", "O10", PAID))
    found = db.run(order_with_items("C1", "O10"))
    assert found is not None
    assert [item.item_id for item in found.items] == ["I1", "I2", "I3"]
    assert len(db.run(order_items("C1", "O10"))) == 3
    assert ids(db.run(customer_timeline("C1", 99))).count("O10") == 1


def test_history_is_sorted_by_version_beyond_nine(db: Database) -> None:
    for number in range(12):
        db.run(update_order_status("C1", "O100", (PAID, CREATED)[number % 2]))
    history = db.run(status_history("C1", "O100", 99))
    assert [event.version for event in history] == list(range(13, 1, -1))


def test_creating_an_order_adds_no_event(db: Database) -> None:
    assert list(db.run(status_history("C1", "O100", 10))) == []


def test_setting_the_same_status_adds_an_event_too(db: Database, client: Any) -> None:
    for number, status in enumerate((CREATED, PAID, PAID), start=1):
        update = update_order_status_with_history("C1", "O100", status, number, "ann", f"r{number}")
        assert db.run(update).version == number + 1
    events = [
        (item["version"], item["fromStatus"], item["toStatus"], item["changedBy"], item["reason"])
        for item in items(client)
        if item["entityType"] == "OrderStatusEvent"
    ]
    assert events == [
        (2, "CREATED", "CREATED", "ann", "r1"),
        (3, "CREATED", "PAID", "ann", "r2"),
        (4, "PAID", "PAID", "ann", "r3"),
    ]


def test_replacing_an_order_leaves_no_gap_between_versions_and_events(
    db: Database, client: Any
) -> None:
    db.run(update_order_status("C1", "O100", PAID))
    db.run(put_order(order("O100", status=PAID, total=Decimal(7))))
    db.run(update_order_status("C1", "O100", CREATED))
    stored = stored_item(client, "ORDER#O100")
    assert stored is not None
    assert stored["version"] == 4
    history = db.run(status_history("C1", "O100", 10))
    assert [event.version for event in history] == [4, 3, 2]


def test_an_event_without_name_and_reason_omits_both_attributes(db: Database, client: Any) -> None:
    db.run(update_order_status("C1", "O100", PAID))
    event = stored_item(client, "ORDER_STATUS_EVT#O100#V#0000000002")
    assert event is not None
    assert event.keys().isdisjoint({"changedBy", "reason"})
