"""A cursor is valid for the tenant that received it."""

from __future__ import annotations

import pytest

from tablewright.database import Database
from tablewright.errors import InvalidCursor
from tablewright.plan.reads import page_query
from tests.model.tenancy.market import OTHERS, Order, cursor_of, last_orders
from tests.transports import record_requests


def test_a_cursor_goes_on_for_its_own_tenant(db: Database) -> None:
    page = db.for_tenant(user_id="a").run(last_orders("a").page_size(2))
    following = db.for_tenant(user_id="a").run(
        last_orders("a").page_size(2).after(page.next_cursor)
    )
    assert [o.total for o in following] == [0]


@pytest.mark.parametrize("user", OTHERS)
def test_a_cursor_of_one_tenant_is_refused_for_another(db: Database, user: str) -> None:
    page = db.for_tenant(user_id="a").run(last_orders("a").page_size(1))
    recording = record_requests(db)
    with pytest.raises(InvalidCursor):
        db.for_tenant(user_id=user).run(last_orders(user).page_size(1).after(page.next_cursor))
    assert recording.requests == []


def test_a_cursor_of_a_filtered_index_is_refused_for_another_tenant(db: Database) -> None:
    page = db.for_tenant(user_id="a").run(Order.by_total().page_size(1))
    with pytest.raises(InvalidCursor):
        db.for_tenant(user_id="b").run(Order.by_total().page_size(1).after(cursor_of(page)))


def test_a_cursor_of_the_whole_database_is_refused_for_a_tenant_and_the_other_way(
    db: Database, own: Database
) -> None:
    plan = last_orders("a").page_size(1)
    with pytest.raises(InvalidCursor):
        own.run(plan.after(cursor_of(db.run(plan))))
    with pytest.raises(InvalidCursor):
        db.run(plan.after(cursor_of(own.run(plan))))


def test_a_cursor_that_was_changed_is_refused_for_a_tenant(own: Database) -> None:
    plan = last_orders("a").page_size(1)
    cursor = cursor_of(own.run(plan))
    for position in range(0, len(cursor), 7):
        changed = "A" if cursor[position] != "A" else "B"
        with pytest.raises(InvalidCursor):
            own.run(plan.after(cursor[:position] + changed + cursor[position + 1 :]))


def test_a_page_that_ends_among_items_of_others_continues_there(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cursor holds the key of another's item; it is encrypted, and valid for this tenant."""
    monkeypatch.setattr(page_query, "MAX_REQUESTS", 1)
    own = db.for_tenant(user_id="aa")
    plan = Order.by_total().page_size(1)
    first = own.run(plan)
    assert list(first) == []
    assert {order.user_id for order in own.iterate(plan)} == {"aa"}
    assert len(list(own.iterate(plan))) == 3
    cursor = cursor_of(first)
    for other in (db, db.for_tenant(user_id="a")):
        with pytest.raises(InvalidCursor):
            other.run(plan.after(cursor))
