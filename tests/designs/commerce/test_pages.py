"""Pages of a feed, and ids that are similar to other keys."""

from __future__ import annotations

import pytest

from tablewright.database import Database
from tablewright.designs.commerce import (
    create_order_with_items,
    customer_timeline_page,
    order_items,
    order_with_items,
    orders_by_status,
    put_order,
    status_history,
    update_order_status,
)
from tablewright.errors import InvalidCursor
from tests.designs.commerce.support import (
    CREATED,
    PAID,
    ids,
    line,
    order,
)
from tests.transports import CapacityTransport


def test_pages_are_stable_when_orders_are_added_between_them(
    db: Database, sent: CapacityTransport
) -> None:
    first = db.run(customer_timeline_page("C1", 2, None))
    assert ids(first) == ["O104", "O103"]
    db.run(put_order(order("O900", day=90)))  # newest
    db.run(put_order(order("O901", day=3)))  # same time as the last order of the page, higher id
    db.run(put_order(order("O001", day=-90)))  # oldest
    sent.reset()
    rest, cursor = [], first.next_cursor
    while cursor is not None:
        page = db.run(customer_timeline_page("C1", 2, cursor))
        rest += ids(page)
        cursor = page.next_cursor
    assert rest == ["O102", "O101", "O100", "O10", "O001"]
    assert sent.read == len(rest)
    assert all(request["Limit"] == 2 for _, request in sent.requests)


def test_a_feed_continues_after_the_last_order_of_a_page_left_it(db: Database) -> None:
    first = db.run(orders_by_status(CREATED, 2))
    assert ids(first) == ["O106", "O103"]
    db.run(update_order_status("C1", "O103", PAID))
    second = db.run(orders_by_status(CREATED, 2).after(first.next_cursor))
    assert ids(second) == ["O100", "O10"]


def test_a_cursor_is_valid_for_one_customer_only(db: Database) -> None:
    first = db.run(customer_timeline_page("C1", 2, None))
    with pytest.raises(InvalidCursor):
        db.run(customer_timeline_page("C2", 2, first.next_cursor))


def test_orders_with_equal_times_are_all_listed(db: Database) -> None:
    for number in range(5):
        db.run(put_order(order(f"S{number}", "C9", day=0)))
    assert ids(db.iterate(customer_timeline_page("C9", 2, None))) == ["S4", "S3", "S2", "S1", "S0"]


NEIGHBOURS = ["O1", "O1!", "O1 x", "O1$", "O1#ITEM#I1", "O1#", "O10", "O1%"]


@pytest.mark.parametrize("order_id", NEIGHBOURS)
def test_orders_with_similar_ids_are_not_mixed_up(db: Database, order_id: str) -> None:
    for near in NEIGHBOURS:
        db.run(create_order_with_items(order(near, "C9"), [line("I1", near, "C9")]))
        db.run(update_order_status("C9", near, PAID))
    found = db.run(order_with_items("C9", order_id))
    assert found is not None
    assert found.order.order_id == order_id
    assert [item.order_id for item in found.items] == [order_id]
    assert [item.order_id for item in db.run(order_items("C9", order_id))] == [order_id]
    assert [event.order_id for event in db.run(status_history("C9", order_id, 10))] == [order_id]
