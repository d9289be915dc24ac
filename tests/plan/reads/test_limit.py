"""limit(): the most results on all pages together; page_size() is the size of one page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tablewright import (
    Aggregate,
    Engine,
    Query,
    access_pattern,
    children,
    connect,
    connect_async,
    explain,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidCursor, InvalidValue
from tests.plan.reads.store import Label, Order, Store
from tests.prepared import prepared


class OrderWithLabels(Aggregate):
    order: Order = root()
    labels: list[Label] = children()


def fill(engine: Engine) -> None:
    opened = connect(engine, Store)
    for number in range(10):
        opened.run(put(Order(customer="A", number=number, status="odd" if number % 2 else "even")))
        opened.run(put(Label(customer="A", number=number)))


@pytest.fixture
def db() -> Iterator[Database]:
    with prepared(fill) as engine:
        yield connect(engine, Store, cursor_secret="ours")


PLANS: dict[str, Callable[[], Query[Any]]] = {
    "table": lambda: Order.primary.within("A"),
    "descending": lambda: Order.primary.within("A").desc(),
    "range": lambda: Order.primary.within("A").gt(2),
    "filtered": lambda: Order.primary.within("A").filter(Order.status == "odd"),
    "index": lambda: Order.by_status("even"),
    "selected": lambda: Order.primary.within("A").select(Order.number),
    "scan": lambda: Order.scan(reason="a test"),
}
plans = pytest.mark.parametrize("make", PLANS.values(), ids=PLANS)


@plans
@pytest.mark.parametrize("size", [None, 1, 2, 3, 50])
@pytest.mark.parametrize("limit", [1, 3, 4, 50])
def test_all_pages_together_have_at_most_the_limit(
    db: Database, make: Callable[[], Query[Any]], size: int | None, limit: int
) -> None:
    whole = list(db.iterate(make()))
    plan = make().limit(limit)
    if size is not None:
        plan = plan.page_size(size)
    assert list(db.iterate(plan)) == whole[:limit]


@plans
def test_a_page_never_goes_beyond_the_limit(db: Database, make: Callable[[], Query[Any]]) -> None:
    page = db.run(make().page_size(5).limit(3))
    assert len(page) == 3
    assert page.next_cursor is None


def test_a_cursor_carries_what_is_left_of_the_limit(db: Database) -> None:
    plan = Order.primary.within("A").page_size(2).limit(5)
    first = db.run(plan)
    second = db.run(plan.after(first.next_cursor))
    third = db.run(plan.after(second.next_cursor))
    assert [len(first), len(second), len(third)] == [2, 2, 1]
    assert third.next_cursor is None


def test_the_page_size_may_change_between_pages(db: Database) -> None:
    plan = Order.primary.within("A").limit(5)
    first = db.run(plan.page_size(2))
    assert len(db.run(plan.page_size(50).after(first.next_cursor))) == 3


@pytest.mark.parametrize("change", [lambda p: p.limit(6), lambda p: p], ids=["another", "none"])
def test_a_cursor_of_another_limit_is_refused(
    db: Database, change: Callable[[Query[Order]], Query[Order]]
) -> None:
    plan = Order.primary.within("A").page_size(2)
    cursor = db.run(plan.limit(5)).next_cursor
    with pytest.raises(InvalidCursor):
        db.run(change(plan).after(cursor))


@pytest.mark.parametrize(("limit", "counted"), [(1, 1), (4, 4), (10, 10), (50, 10)])
def test_a_count_stops_at_the_limit(db: Database, limit: int, counted: int) -> None:
    assert db.run(Order.primary.within("A").limit(limit).count()) == counted


def test_the_first_of_a_limited_query_is_the_first(db: Database) -> None:
    found = db.run(Order.primary.within("A").limit(3).first())
    assert found == Order(customer="A", number=0, status="even")


def test_an_event_loop_iterates_up_to_the_limit() -> None:
    async def main() -> list[int]:
        async with connect_async(":memory:", Store) as adb:
            for number in range(5):
                await adb.run(put(Order(customer="A", number=number)))
            plan = Order.primary.within("A").page_size(2).limit(3)
            return [order.number async for order in adb.iterate(plan)]

    assert asyncio.run(main()) == [0, 1, 2]


@pytest.mark.parametrize("total", [0, -1, True, 1.5, "3", None])
def test_a_limit_that_is_no_number_of_results_is_refused(total: Any) -> None:
    with pytest.raises(InvalidValue, match=r"limit\(.*\): the number must be an int, at least 1"):
        Order.primary.within("A").limit(total)


def test_an_explanation_shows_the_page_size_and_the_limit() -> None:
    @access_pattern
    def orders(customer: str, most: int) -> Query[Order]:
        return Order.primary.within(customer).page_size(20).limit(most)

    assert "at most {most} in all" in explain(orders).page
    assert explain(Order.primary.within("A").limit(7)).page.endswith("1 MB; at most 7 in all")


def test_the_root_of_an_aggregate_takes_no_limit() -> None:
    with pytest.raises(DeclarationError, match=r"a range with limit\(\)"):
        OrderWithLabels.of(Order.by_status("in").limit(3))
