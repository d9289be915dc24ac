"""ULIDs and KSUIDs as attributes, and ranges of time over them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tablewright import create
from tablewright.database import Database
from tablewright.ids import KSUID, ULID
from tests.model.entities.catalog import Event, Order, order

NOON = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


def test_an_id_is_made_with_the_entity_and_tells_when() -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)  # a KSUID counts seconds
    assert before <= order().order_id.time <= datetime.now(UTC)
    assert before <= Event(stream="s").event_id.time <= datetime.now(UTC)


def test_an_id_that_is_given_as_text_becomes_one() -> None:
    made = order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert type(made.order_id) is ULID
    assert made.order_id.time.year == 2016


def test_an_id_that_was_read_is_one(db: Database) -> None:
    made = db.run(create(order()))
    found = db.run(Order.primary("ann", made.order_id))
    assert found is not None
    assert type(found.order_id) is ULID
    assert found.order_id.time == made.order_id.time
    event = db.run(create(Event(stream="s")))
    (read,) = db.run(Event.primary.within("s"))
    assert type(read.event_id) is KSUID
    assert read.event_id.time == event.event_id.time


@pytest.fixture
def hourly(db: Database) -> Database:
    """Orders and events, one every hour from 10 to 14."""
    for hour in range(10, 15):
        at = NOON.replace(hour=hour)
        db.run(create(order(order_id=ULID.new(at), note=str(hour))))
        db.run(create(Event(stream="s", event_id=KSUID.new(at))))
    return db


def hours(found: Any) -> list[int]:
    return [
        (each.order_id if isinstance(each, Order) else each.event_id).time.hour for each in found
    ]


def test_a_range_of_time_is_a_range_of_ulids(hourly: Database) -> None:
    orders = Order.primary.within("ann")
    eleven, thirteen = NOON.replace(hour=11), NOON.replace(hour=13)
    between = orders.between(ULID.floor(eleven), ULID.ceiling(thirteen))
    assert hours(hourly.run(between)) == [11, 12, 13]
    assert hours(hourly.run(orders.gte(ULID.floor(NOON)))) == [12, 13, 14]
    assert hours(hourly.run(orders.gt(ULID.ceiling(NOON)))) == [13, 14]
    assert hours(hourly.run(orders.lte(ULID.ceiling(NOON)))) == [10, 11, 12]
    assert hours(hourly.run(orders.lt(ULID.floor(NOON)))) == [10, 11]
    assert hours(hourly.run(orders.desc().page_size(2))) == [14, 13]


def test_a_range_of_time_is_a_range_of_ksuids_in_the_table_and_in_an_index(
    hourly: Database,
) -> None:
    eleven, thirteen = NOON.replace(hour=11), NOON.replace(hour=13)
    for events in (Event.primary.within("s"), Event.by_key()):
        between = events.between(KSUID.floor(eleven), KSUID.ceiling(thirteen))
        assert hours(hourly.run(between)) == [11, 12, 13]
        assert hours(hourly.run(events.gte(KSUID.floor(NOON)))) == [12, 13, 14]
        assert hours(hourly.run(events.lt(KSUID.floor(NOON)))) == [10, 11]
