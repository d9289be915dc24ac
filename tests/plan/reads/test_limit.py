"""limit(): the most results on all pages together; page_size() is the size of one page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    children,
    connect,
    connect_async,
    explain,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidCursor, InvalidValue
from tests.prepared import prepared


class Shelves(Table, name="limit_shelves"):
    by_state = GSI("GSI1PK", "GSI1SK")


class Book(Entity, table=Shelves):
    shelf: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="in")
    primary = key("SHELF" / shelf, "BOOK" / number)
    by_state = index(Shelves.by_state, "STATE" / state, "BOOK" / number)


class Label(Entity, table=Shelves):
    """Shares the partitions and the index with Book, so its rows are filtered out."""

    shelf: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="in")
    primary = key("SHELF" / shelf, "BOOK" / number / "LABEL")
    by_state = index(Shelves.by_state, "STATE" / state, "BOOK" / number / "LABEL")


class BookWithLabels(Aggregate):
    book: Book = root()
    labels: list[Label] = children()


def fill(engine: Engine) -> None:
    opened = connect(engine, Shelves)
    for number in range(10):
        opened.run(put(Book(shelf="A", number=number, state="odd" if number % 2 else "even")))
        opened.run(put(Label(shelf="A", number=number)))


@pytest.fixture
def db() -> Iterator[Database]:
    with prepared(fill) as engine:
        yield connect(engine, Shelves, cursor_secret="ours")


PLANS: dict[str, Callable[[], Query[Any]]] = {
    "table": lambda: Book.primary.within("A"),
    "descending": lambda: Book.primary.within("A").desc(),
    "range": lambda: Book.primary.within("A").gt(2),
    "filtered": lambda: Book.primary.within("A").filter(Book.state == "odd"),
    "index": lambda: Book.by_state("even"),
    "selected": lambda: Book.primary.within("A").select(Book.number),
    "scan": lambda: Book.scan(reason="a test"),
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
    plan = Book.primary.within("A").page_size(2).limit(5)
    first = db.run(plan)
    second = db.run(plan.after(first.next_cursor))
    third = db.run(plan.after(second.next_cursor))
    assert [len(first), len(second), len(third)] == [2, 2, 1]
    assert third.next_cursor is None


def test_the_page_size_may_change_between_pages(db: Database) -> None:
    plan = Book.primary.within("A").limit(5)
    first = db.run(plan.page_size(2))
    assert len(db.run(plan.page_size(50).after(first.next_cursor))) == 3


@pytest.mark.parametrize("change", [lambda p: p.limit(6), lambda p: p], ids=["another", "none"])
def test_a_cursor_of_another_limit_is_refused(
    db: Database, change: Callable[[Query[Book]], Query[Book]]
) -> None:
    plan = Book.primary.within("A").page_size(2)
    cursor = db.run(plan.limit(5)).next_cursor
    with pytest.raises(InvalidCursor):
        db.run(change(plan).after(cursor))


@pytest.mark.parametrize(("limit", "counted"), [(1, 1), (4, 4), (10, 10), (50, 10)])
def test_a_count_stops_at_the_limit(db: Database, limit: int, counted: int) -> None:
    assert db.run(Book.primary.within("A").limit(limit).count()) == counted


def test_the_first_of_a_limited_query_is_the_first(db: Database) -> None:
    found = db.run(Book.primary.within("A").limit(3).first())
    assert found == Book(shelf="A", number=0, state="even")


def test_an_event_loop_iterates_up_to_the_limit() -> None:
    async def main() -> list[int]:
        async with connect_async(":memory:", Shelves) as adb:
            for number in range(5):
                await adb.run(put(Book(shelf="A", number=number)))
            plan = Book.primary.within("A").page_size(2).limit(3)
            return [book.number async for book in adb.iterate(plan)]

    assert asyncio.run(main()) == [0, 1, 2]


@pytest.mark.parametrize("total", [0, -1, True, 1.5, "3", None])
def test_a_limit_that_is_no_number_of_results_is_refused(total: Any) -> None:
    with pytest.raises(InvalidValue, match=r"limit\(.*\): the number must be an int, at least 1"):
        Book.primary.within("A").limit(total)


def test_an_explanation_shows_the_page_size_and_the_limit() -> None:
    @access_pattern
    def books(shelf: str, most: int) -> Query[Book]:
        return Book.primary.within(shelf).page_size(20).limit(most)

    assert "at most {most} in all" in explain(books).page
    assert explain(Book.primary.within("A").limit(7)).page.endswith("1 MB; at most 7 in all")


def test_the_root_of_an_aggregate_takes_no_limit() -> None:
    with pytest.raises(DeclarationError, match=r"a range with limit\(\)"):
        BookWithLabels.of(Book.by_state("in").limit(3))
