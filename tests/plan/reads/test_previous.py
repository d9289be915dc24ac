"""The page before one: `page.previous_cursor` and `.before()`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    Aggregate,
    Attr,
    Engine,
    Entity,
    Page,
    Query,
    Table,
    attr,
    children,
    connect,
    create,
    delete_all,
    explain,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidCursor, InvalidValue
from tablewright.formats import shard
from tests.examples import examples
from tests.plan.reads.test_cursors import RANGES, Blog, Plain, Post, Reply, fill
from tests.prepared import Prepare, with_tables
from tests.transports import record_requests


class Log(Table, name="previous_log"): ...


class Entry(Entity, table=Log):
    month: Attr[str] = attr()
    at: Attr[int] = attr(pad=3)
    primary = key("LOG" / month / shard(at, of=3), "AT" / at)


class Thread(Aggregate):
    post: Post = root()
    replies: Page[Reply] = children()


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Blog, Plain)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Blog, Plain)


def forward(db: Database, plan: Query[Any]) -> list[Page[Any]]:
    pages = [db.run(plan)]
    while pages[-1].next_cursor is not None:
        pages.append(db.run(plan.after(pages[-1].next_cursor)))
    return pages


def backward(db: Database, plan: Query[Any], last: Page[Any]) -> list[Page[Any]]:
    """Return the pages before one, in their order."""
    pages: list[Page[Any]] = []
    while last.previous_cursor is not None:
        last = db.run(plan.before(last.previous_cursor))
        pages.insert(0, last)
    return pages


def check_both_ways(db: Database, plan: Query[Any], *, looks_ahead: bool) -> None:
    pages = forward(db, plan)
    assert pages[0].previous_cursor is None
    found = backward(db, plan, pages[-1])
    if not looks_ahead and found and not found[0]:
        del found[0]  # a filter is not asked whether anything is before the first page
    assert [list(page) for page in found] == [list(page) for page in pages[:-1]]
    for before, page in itertools.pairwise([*found, pages[-1]]):
        assert before.next_cursor is not None
        assert list(db.run(plan.after(before.next_cursor))) == list(page)


TURNING: dict[str, Callable[[str], Query[Any]]] = {
    name: make for name, make in RANGES.items() if name != "scan"
} | {
    "union": lambda blog: Post.by_tag(blog).union(Reply.by_tag(blog)),
    "union in the table": lambda blog: Post.primary.within(blog).union(Reply.primary.within(blog)),
}
#: With items of another entity in the range, which are left out as by a filter.
BESIDE = {
    *("table", "table, a range of it", "table, up to a bound", "consistent", "selected"),
    *("global index", "other entity in the global index", "selected from an index"),
}


@pytest.mark.parametrize("name", TURNING)
def test_forth_and_back_are_the_same_pages(name: str) -> None:
    fresh = itertools.count()
    with connect(":memory:", Blog) as db:

        @examples(10)
        @given(
            count=st.integers(0, 9),
            replies=st.integers(0, 2),
            size=st.integers(1, 6),
            limit=st.none() | st.integers(1, 9),
            newest=st.booleans(),
        )
        def check(count: int, replies: int, size: int, limit: int | None, newest: bool) -> None:
            blog = f"B{next(fresh)}"
            fill(db, blog, count, replies)
            plan = TURNING[name](blog).page_size(size)
            plan = plan if limit is None else plan.limit(limit)
            plan = plan.desc() if newest else plan
            looks_ahead = name not in BESIDE and "filtered" not in name
            check_both_ways(db, plan, looks_ahead=looks_ahead)

        check()


@examples(20)
@given(
    numbers=st.sets(st.integers(0, 40), max_size=14),
    size=st.integers(1, 6),
    limit=st.none() | st.integers(1, 14),
    newest=st.booleans(),
)
def test_merged_shards_go_forth_and_back(
    numbers: set[int], size: int, limit: int | None, newest: bool
) -> None:
    with connect(":memory:", Log) as db:
        for number in numbers:
            db.run(create(Entry(month="m", at=number)))
        plan = Entry.primary.all_shards("m").page_size(size)
        plan = plan if limit is None else plan.limit(limit)
        check_both_ways(db, plan.desc() if newest else plan, looks_ahead=True)


def test_the_first_page_has_none_before_it(db: Database) -> None:
    fill(db, "B", 4)
    plan = Post.by_title("B").page_size(2)
    first, second, _ = forward(db, plan)
    back = db.run(plan.before(second.previous_cursor))
    assert first.previous_cursor is back.previous_cursor is None
    assert list(back) == list(first)


def test_the_empty_page_at_the_end_has_one_before_it(db: Database) -> None:
    fill(db, "B", 2)
    plan = Post.primary.within("B").page_size(2)
    pages = forward(db, plan)
    assert [len(page) for page in pages] == [2, 0]
    assert list(db.run(plan.before(pages[1].previous_cursor))) == list(pages[0])


def test_what_was_created_before_a_page_is_found(db: Database) -> None:
    for number in (4, 6, 8):
        db.run(create(Post(blog="B", number=number)))
    plan = Post.primary.within("B").page_size(2)
    _, second = forward(db, plan)
    db.run(create(Post(blog="B", number=2)))
    db.run(create(Post(blog="B", number=7)))
    back = db.run(plan.before(second.previous_cursor))
    assert [post.number for post in back] == [6, 7]
    assert [post.number for post in db.run(plan.before(back.previous_cursor))] == [2, 4]


def test_a_page_before_deleted_items_is_empty_and_leads_forward_again(db: Database) -> None:
    fill(db, "B", 4)
    plan = Post.by_title("B").page_size(2)
    second = db.run(plan.after(db.run(plan).next_cursor))
    for number in (0, 1):
        db.run(Post.primary("B", number).delete())
    back = db.run(plan.before(second.previous_cursor))
    assert list(back) == []
    assert back.previous_cursor is None
    again = db.run(plan.after(back.next_cursor))
    assert list(again) == list(second)
    assert again.previous_cursor is None


def test_it_reads_one_item_more_than_the_page(db: Database) -> None:
    fill(db, "B", 6)
    plan = Post.by_title("B").page_size(2)
    last = forward(db, plan)[2]
    recorded = record_requests(db)
    db.run(plan.before(last.previous_cursor))
    ((_, body),) = recorded.requests
    assert (body["Limit"], body["ScanIndexForward"]) == (3, False)
    assert explain(plan.before("x")).read_range.high > explain(plan).read_range.high


def test_a_page_of_an_aggregate_goes_back(db: Database) -> None:
    db.run(create(Post(blog="B", number=1)))
    for reply in range(5):
        db.run(create(Reply(blog="B", number=1, reply=reply)))
    plan = Thread.of(Post.primary("B", 1)).page_size(2)
    first = db.run(plan)
    assert first is not None
    second = db.run(plan.after(first.replies.next_cursor))
    assert second is not None
    back = db.run(plan.before(second.replies.previous_cursor))
    assert back is not None
    assert list(back.replies) == list(first.replies)
    assert back.replies.previous_cursor is None


def test_each_cursor_is_for_its_own_direction(db: Database) -> None:
    fill(db, "B", 4)
    plan = Post.by_title("B").page_size(2)
    page = db.run(plan.after(db.run(plan).next_cursor))
    with pytest.raises(InvalidCursor, match=r"before\(\) takes page\.previous_cursor"):
        db.run(plan.after(page.previous_cursor))
    with pytest.raises(InvalidCursor):
        db.run(plan.before(db.run(plan).next_cursor))
    with pytest.raises(InvalidValue, match="not both"):
        db.run(plan.after(page.next_cursor).before(page.previous_cursor))


def test_none_is_no_return(db: Database) -> None:
    """So a pattern can take both cursors."""
    fill(db, "B", 3)
    plan = Post.by_title("B").page_size(2)
    assert db.run(plan.after(None).before(None)) == db.run(plan)
    page = db.run(plan.after(db.run(plan).next_cursor))
    assert list(db.run(plan.before(page.previous_cursor).after(None))) == list(db.run(plan))


def test_a_scan_has_no_page_before(db: Database) -> None:
    fill(db, "B", 4)
    plan = Post.scan(reason="a test").page_size(2)
    assert db.run(plan.after(db.run(plan).next_cursor)).previous_cursor is None
    segments = plan.segments(2)
    assert db.run(segments.after(db.run(segments).next_cursor)).previous_cursor is None
    for refused in plan, segments:
        with pytest.raises(DeclarationError, match="in one direction only"):
            refused.before("x")


def test_a_limit_and_unreadable_items_have_no_page_before(db: Database) -> None:
    plan = Post.primary.within("B").limit(4).page_size(2).skip_unreadable()
    with pytest.raises(DeclarationError, match="not known where a page began"):
        plan.before("x")


def test_what_reads_all_pages_refuses_it(db: Database) -> None:
    plan = Post.primary.within("B").before("x")
    with pytest.raises(InvalidValue, match="reads forward"):
        next(db.iterate(plan))
    with pytest.raises(DeclarationError, match="first"):
        plan.first()
    with pytest.raises(DeclarationError, match=r"before\(\)"):
        delete_all(plan)


def test_a_page_of_unreadable_items_says_where_it_stopped(db: Database) -> None:
    for number in range(5):
        db.run(put(Post(blog="B", number=number)))
    plan = Post.primary.within("B").page_size(2).skip_unreadable()
    pages = forward(db, plan)
    assert [list(page) for page in backward(db, plan, pages[-1])][-1] == list(pages[-2])
