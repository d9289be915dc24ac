"""Pages: together they are everything, and a cursor opens only what it was given out for."""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    GSI,
    LSI,
    Attr,
    Engine,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    connect,
    connect_async,
    create,
    index,
    key,
    put,
)
from tablewright.database import Database
from tablewright.errors import InvalidCursor
from tests.examples import examples
from tests.plan.reads.store import Order, Store
from tests.prepared import Prepare, with_tables

SECRET = "between us"


class Blog(Table, name="cursor_blog"):
    by_title = LSI("LSI1SK")
    by_tag = GSI("GSI1PK", "GSI1SK")
    by_topic = GSI("topic", "SK", project="KEYS_ONLY")


class Post(Entity, table=Blog):
    blog: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    title: Attr[str] = attr(default="same")
    tag: Attr[str | None] = attr(default=None)
    topic: Attr[str | None] = attr(default=None)
    stars: Attr[int] = attr(default=0)
    body: Attr[str] = attr(default="")
    primary = key("BLOG" / blog, "POST" / number)
    by_title = primary.local(Blog.by_title, "TITLE" / title)
    by_tag = index(Blog.by_tag, "TAG" / tag, "TITLE" / title)


class Reply(Entity, table=Blog):
    """Shares its partitions with Post, on the table and in the index."""

    blog: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    reply: Attr[int] = attr(pad=3)
    tag: Attr[str | None] = attr(default=None)
    primary = key("BLOG" / blog, "POST" / number / "REPLY" / reply)
    by_tag = index(Blog.by_tag, "TAG" / tag, "TITLE" / number)


class Plain(Table, name="cursor_plain", type_attribute=None): ...


class Folder(Entity, table=Plain):
    name: Attr[str] = attr()
    primary = key("ROOT", "FOLDER" / name)


class File(Entity, table=Plain):
    folder: Attr[str] = attr()
    name: Attr[str] = attr()
    primary = key("ROOT", "FOLDER" / folder / "FILE" / name)


@access_pattern
def posts(blog: str) -> Query[Post]:
    """Every post of a blog."""
    return Post.primary.within(blog)


@access_pattern
def posts_again(blog: str) -> Query[Post]:
    """The same query under another name."""
    return Post.primary.within(blog)


@pytest.fixture
def prepare(request: pytest.FixtureRequest) -> Prepare:
    return fill_blogs if "filled" in request.fixturenames else with_tables(Blog, Plain)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Blog, Plain, cursor_secret=SECRET)


def fill(db: Database, blog: str, count: int, replies: int = 0) -> None:
    """Posts of one title, so that index entries differ in nothing but the table's keys."""
    for number in range(count):
        db.run(put(Post(blog=blog, number=number, tag=blog, stars=number % 3)))
        for reply in range(replies):
            db.run(put(Reply(blog=blog, number=number, reply=reply, tag=blog)))


def fill_blogs(engine: Engine) -> None:
    db = connect(engine, Blog, Plain, cursor_secret=SECRET)
    fill(db, "B", 10, replies=2)
    fill(db, "C", 10)


@pytest.fixture
def filled(db: Database) -> Database:
    return db


# -- pages together are everything ---------------------------------------------------------------

RANGES: dict[str, Callable[[str], Query[Any]]] = {
    "table": lambda blog: Post.primary.within(blog),
    "table, a range of it": lambda blog: Post.primary.within(blog).gt(0),
    "table, up to a bound": lambda blog: Post.primary.within(blog).lt(5),
    "children": lambda blog: Reply.primary.within(blog).eq(1),
    "local index": lambda blog: Post.by_title(blog),
    "global index": lambda blog: Post.by_tag(blog),
    "other entity in the global index": lambda blog: Reply.by_tag(blog),
    "filtered": lambda blog: Post.primary.within(blog).filter(Post.stars == 1),
    "filtered in an index": lambda blog: Post.by_tag(blog).filter(Post.stars != 1),
    "selected": lambda blog: Post.primary.within(blog).select(Post.number),
    "selected from an index": lambda blog: Post.by_tag(blog).select(Post.number, Post.title),
    "selected and filtered": lambda blog: (
        Post.by_title(blog).filter(Post.stars == 2).select(Post.number)
    ),
    "consistent": lambda blog: Post.primary.within(blog).consistent(),
    "scan": lambda blog: Post.scan(reason="a test").filter(Post.blog == blog),
}
ranges = pytest.mark.parametrize("make", RANGES.values(), ids=RANGES)


@ranges
def test_pages_of_any_size_are_everything(make: Callable[[str], Query[Any]]) -> None:
    fresh = itertools.count()
    with connect(":memory:", Blog) as db:

        @examples(15)
        @given(
            count=st.integers(0, 9),
            replies=st.integers(0, 3),
            size=st.integers(1, 12),
            newest=st.booleans(),
        )
        def check(count: int, replies: int, size: int, newest: bool) -> None:
            blog = f"B{next(fresh)}"
            fill(db, blog, count, replies)
            plan = make(blog)
            if newest and plan._operation == "Query":
                plan = plan.desc()
            whole = list(db.run(plan))
            assert list(db.iterate(plan.page_size(size))) == whole
            sizes = [len(page) for page in _pages(db, plan.page_size(size))]
            assert all(length == size for length in sizes[:-1])
            assert sum(sizes) == len(whole)

        check()


def _pages(db: Database, plan: Query[Any]) -> Iterator[Any]:
    while True:
        page = db.run(plan)
        yield page
        if page.next_cursor is None:
            return
        plan = plan.after(page.next_cursor)


def test_pages_are_everything_in_a_shared_partition_without_a_type_attribute(db: Database) -> None:
    for name in "abcdef":
        db.run(put(Folder(name=name)))
        for number in range(3):
            db.run(put(File(folder=name, name=str(number))))
    for size in range(1, 8):
        found = [one.name for one in db.iterate(Folder.primary.within().page_size(size))]
        assert found == list("abcdef")
    for size in range(1, 20):
        assert len(list(db.iterate(File.primary.within().page_size(size)))) == 18


def test_pages_are_everything_where_hundreds_of_others_lie_between(db: Database) -> None:
    for number in range(3):
        db.run(put(Post(blog="B", number=number)))
        for reply in range(250):
            db.run(put(Reply(blog="B", number=number, reply=reply)))
    for size in (1, 2, 3, 4):
        found = [one.number for one in db.iterate(Post.primary.within("B").page_size(size))]
        assert found == [0, 1, 2]


def test_iterate_goes_through_more_than_a_megabyte_without_a_limit(db: Database) -> None:
    for number in range(24):
        db.run(put(Post(blog="B", number=number, body="x" * 100_000)))
    assert [post.number for post in db.iterate(Post.primary.within("B"))] == list(range(24))
    newest = Post.primary.within("B").desc()
    assert [post.number for post in db.iterate(newest)] == list(range(24))[::-1]


def test_iterate_asks_for_the_next_page_when_it_is_needed(filled: Database) -> None:
    each = filled.iterate(Post.primary.within("C").page_size(2))
    assert [next(each).number, next(each).number] == [0, 1]
    for number in range(2, 10):
        filled.run(Post.primary("C", number).delete())
    assert list(each) == []


def test_iterate_goes_on_from_a_cursor(filled: Database) -> None:
    page = filled.run(Post.primary.within("C").page_size(3))
    rest = filled.iterate(Post.primary.within("C").after(page.next_cursor))
    assert [post.number for post in rest] == list(range(3, 10))


async def _async_numbers(plan: Query[Post]) -> tuple[list[int], list[int]]:
    adb = await connect_async(":memory:", Blog)
    async with adb:
        for number in range(5):
            await adb.run(create(Post(blog="B", number=number)))
        whole = [post.number for post in await adb.run(plan)]
        return whole, [post.number async for post in adb.iterate(plan.page_size(2))]


def test_iterate_of_an_asynchronous_database_gives_the_same_pages() -> None:
    whole, paged = asyncio.run(_async_numbers(Post.primary.within("B").desc()))
    assert paged == whole == [4, 3, 2, 1, 0]


# -- what changes between pages ------------------------------------------------------------------


@pytest.mark.parametrize("mixed", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("at", [0, 4, 7])
def test_what_is_inserted_between_pages_never_doubles_a_result(
    mixed: bool, at: int, db: Database
) -> None:
    for number in range(0, 20, 2):
        db.run(put(Post(blog="B", number=number)))
        if mixed:
            db.run(put(Reply(blog="B", number=number, reply=1)))
    seen: list[int] = []
    plan = Post.primary.within("B").page_size(3)
    for page in _pages(db, plan):
        seen += [post.number for post in page]
        db.run(put(Post(blog="B", number=2 * at + 1)))
    assert len(seen) == len(set(seen))
    assert set(range(0, 20, 2)) <= set(seen)
    assert seen == sorted(seen)


@pytest.mark.parametrize("make", [Post.primary.within, Post.by_title, Post.by_tag])
def test_the_item_that_a_cursor_points_at_may_be_deleted(
    make: Callable[[str], Query[Post]], filled: Database
) -> None:
    page = filled.run(make("C").page_size(4))
    for post in page:
        filled.run(Post.primary("C", post.number).delete())
    rest = list(filled.iterate(make("C").page_size(4).after(page.next_cursor)))
    gone = {post.number for post in page}
    assert sorted(post.number for post in rest) == sorted(set(range(10)) - gone)


# -- None, and the beginning ---------------------------------------------------------------------


def test_none_starts_at_the_beginning(filled: Database) -> None:
    plan = Post.primary.within("C").page_size(2)
    assert filled.run(plan.after(None)) == filled.run(plan)


def test_none_takes_a_cursor_back(filled: Database) -> None:
    plan = Post.primary.within("C").page_size(2)
    resumed = plan.after(filled.run(plan).next_cursor)
    assert [post.number for post in filled.run(resumed)] == [2, 3]
    assert [post.number for post in filled.run(resumed.after(None))] == [0, 1]


def test_the_last_page_has_no_cursor(filled: Database) -> None:
    assert filled.run(Post.primary.within("C").page_size(11)).next_cursor is None
    assert filled.run(Post.primary.within("C")).next_cursor is None


# -- what a cursor is for ------------------------------------------------------------------------


def cursor_of(db: Database, plan: Query[Any]) -> str:
    following = db.run(plan).next_cursor
    assert following is not None
    return following


def test_a_cursor_is_a_text_for_the_query_of_an_address(filled: Database) -> None:
    cursor = cursor_of(filled, Post.primary.within("C").page_size(2))
    assert cursor.isascii()
    assert set(cursor) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def test_a_cursor_goes_on_with_another_limit(filled: Database) -> None:
    cursor = cursor_of(filled, Post.primary.within("C").page_size(2))
    page = filled.run(Post.primary.within("C").page_size(5).after(cursor))
    assert [post.number for post in page] == [2, 3, 4, 5, 6]
    assert len(filled.run(Post.primary.within("C").after(cursor))) == 8


@pytest.mark.parametrize("limit", [None, 9])
def test_the_first_result_after_a_cursor(limit: int | None, filled: Database) -> None:
    query: Query[Post] = Post.primary.within("C").page_size(2)
    query = query if limit is None else query.limit(limit)
    first = filled.run(query.after(cursor_of(filled, query)).first())
    assert first is not None
    assert first.number == 2


def test_every_character_of_a_cursor_counts(filled: Database) -> None:
    plan = Post.primary.within("C").page_size(2)
    cursor = cursor_of(filled, plan)
    for place, character in enumerate(cursor):
        for other in "A_z.=" if character != "A" else "B-":
            changed = cursor[:place] + other + cursor[place + 1 :]
            if changed == cursor:
                continue
            with pytest.raises(InvalidCursor):
                filled.run(plan.after(changed))


def test_a_cursor_cannot_be_cut_extended_or_padded(filled: Database) -> None:
    plan = Post.primary.within("C").page_size(2)
    cursor = cursor_of(filled, plan)
    for changed in (
        *(cursor[:length] for length in range(len(cursor))),
        cursor + "A",
        cursor + "=",
        cursor + "==",
        cursor + "\n",
        " " + cursor,
        cursor * 2,
        cursor.swapcase(),
    ):
        with pytest.raises(InvalidCursor):
            filled.run(plan.after(changed))


_EMPTY = connect(":memory:", Blog)


@examples(60)
@given(garbage=st.one_of(st.text(), st.binary().map(lambda raw: base64.b64encode(raw).decode())))
def test_a_text_that_is_no_cursor_is_refused(garbage: str) -> None:
    plan = Post.primary.within("C").page_size(2).after(garbage)
    with pytest.raises(InvalidCursor):
        _EMPTY.run(plan)


@pytest.mark.parametrize("garbage", [0, 1.5, b"abc", [], {"PK": "x"}, True])
def test_a_value_that_is_no_text_is_refused(garbage: Any, filled: Database) -> None:
    with pytest.raises(InvalidCursor):
        filled.run(Post.primary.within("C").after(garbage))


def test_the_key_of_an_item_is_no_cursor(filled: Database) -> None:
    """Nobody starts where they like."""
    place = b'{"PK":{"S":"BLOG#C"},"SK":{"S":"POST#004"}}'
    for raw in (place, bytes(16) + place):
        forged = base64.urlsafe_b64encode(raw).decode().rstrip("=")
        with pytest.raises(InvalidCursor):
            filled.run(Post.primary.within("C").after(forged))


within_c = Post.primary.within("C")
OTHERS: dict[str, tuple[Query[Any], Query[Any]]] = {
    "arguments": (within_c, Post.primary.within("B")),
    "a range": (within_c, within_c.gte(0)),
    "another bound": (within_c.gte(0), within_c.gte(1)),
    "another comparison": (within_c.gte(0), within_c.gt(0)),
    "order": (within_c, within_c.desc()),
    "order back": (within_c.desc(), within_c),
    "a filter": (within_c, within_c.filter(Post.stars >= 0)),
    "another value in the filter": (
        within_c.filter(Post.stars >= 0),
        within_c.filter(Post.stars >= 1),
    ),
    "another attribute in the filter": (
        within_c.filter(Post.stars.exists()),
        within_c.filter(Post.title.exists()),
    ),
    "columns": (within_c, within_c.select(Post.number)),
    "other columns": (within_c.select(Post.number), within_c.select(Post.title)),
    "consistent": (within_c, within_c.consistent()),
    "an index": (within_c, Post.by_title("C")),
    "another index": (Post.by_title("C"), Post.by_tag("C")),
    "another entity": (Post.primary.within("B"), Reply.primary.within("B")),
    "another entity of an index": (Post.by_tag("B"), Reply.by_tag("B")),
    "a scan": (within_c, Post.scan(reason="a test")),
    "the scan of another entity": (
        Post.scan(reason="a test"),
        Reply.scan(reason="a test"),
    ),
    "a pattern": (within_c, posts("C")),
    "no pattern": (posts("C"), within_c),
    "another pattern": (posts("C"), posts_again("C")),
    "another argument of a pattern": (posts("C"), posts("B")),
}


@pytest.mark.parametrize(("given_for", "used_for"), OTHERS.values(), ids=OTHERS)
def test_a_cursor_is_refused_for(
    given_for: Query[Any], used_for: Query[Any], filled: Database
) -> None:
    cursor = cursor_of(filled, given_for.page_size(2))
    assert filled.run(given_for.page_size(2).after(cursor))
    with pytest.raises(InvalidCursor, match="the cursor was changed, or belongs to another"):
        filled.run(used_for.page_size(2).after(cursor))


def test_a_cursor_is_refused_for_another_entity_without_a_type_attribute(db: Database) -> None:
    for name in "abc":
        db.run(put(Folder(name=name)))
        db.run(put(File(folder=name, name="x")))
    for one, other in (
        (Folder.primary.within(), File.primary.within()),
        (Folder.scan(reason="a test"), File.scan(reason="a test")),
    ):
        cursor = cursor_of(db, one.page_size(1))
        with pytest.raises(InvalidCursor):
            db.run(other.page_size(1).after(cursor))


def test_a_cursor_of_a_pattern_goes_on_in_that_pattern(filled: Database) -> None:
    found = [post.number for post in filled.iterate(posts("C").page_size(3))]
    assert found == list(range(10))


# -- what a cursor reveals -----------------------------------------------------------------------


@examples(60)
@given(
    blog=st.text(st.characters(codec="utf-8"), min_size=6, max_size=40),
    tag=st.text(st.characters(codec="ascii"), min_size=6, max_size=40),
)
def test_no_text_of_a_key_is_in_a_cursor(blog: str, tag: str) -> None:
    with connect(":memory:", Blog) as db:
        for number in (101, 102):
            db.run(put(Post(blog=blog, number=number, tag=tag, title=f"{tag}{number}")))
        [item, _] = db._transport.engine.call("Scan", {"TableName": "cursor_blog"})["Items"]  # type: ignore[attr-defined]
        texts = [
            *(value["S"] for name, value in item.items() if name.endswith(("PK", "SK"))),
            *(blog, tag, "LSI1SK", "GSI1PK", "GSI1SK", "POST#1", "TITLE#"),
        ]
        for plan in (Post.primary.within(blog), Post.by_title(blog), Post.by_tag(tag)):
            cursor = cursor_of(db, plan.page_size(1))
            seen = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            for text in texts:
                # Shorter ones would be in some of the random cursors by chance.
                assert len(text) >= 6
                assert text not in cursor
                assert text.encode() not in seen


def test_two_cursors_of_one_place_differ_and_both_are_valid(filled: Database) -> None:
    plan = Post.primary.within("C").page_size(2)
    one, other = cursor_of(filled, plan), cursor_of(filled, plan)
    assert one != other
    assert list(filled.run(plan.after(one))) == list(filled.run(plan.after(other)))


def test_the_length_of_a_cursor_follows_from_the_key(filled: Database) -> None:
    """28 bytes for the nonce and the tag, and about six for each attribute of the key."""
    for plan, place in (
        (Post.primary.within("C"), {"PK": "BLOG#C", "SK": "POST#001"}),
        (
            Post.by_tag("B"),
            {"PK": "BLOG#C", "SK": "POST#001", "GSI1PK": "TAG#B", "GSI1SK": "TITLE#same"},
        ),
    ):
        raw = 28 + sum(len(name) + len(text) + 6 for name, text in place.items())
        assert len(cursor_of(filled, plan.page_size(2))) <= raw * 4 / 3 + 2


# -- secrets -------------------------------------------------------------------------------------


def test_another_database_with_the_same_secret_takes_the_cursor(
    filled: Database, engine: Engine
) -> None:
    cursor = cursor_of(filled, posts("C").page_size(2))
    for secret in (SECRET, SECRET.encode()):
        other = connect(engine, Blog, Plain, cursor_secret=secret)
        assert [post.number for post in other.run(posts("C").page_size(2).after(cursor))] == [2, 3]


def test_another_secret_refuses_the_cursor(filled: Database, engine: Engine) -> None:
    cursor = cursor_of(filled, posts("C").page_size(2))
    other = connect(engine, Blog, Plain, cursor_secret="another")
    with pytest.raises(InvalidCursor, match="cursor_secret"):
        other.run(posts("C").after(cursor))


def test_without_a_secret_all_databases_of_a_process_have_the_same(
    filled: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TABLEWRIGHT_CURSOR_SECRET", raising=False)
    one, other = connect(engine, Blog), connect(engine, Blog)
    cursor = cursor_of(one, posts("C").page_size(2))
    assert other.run(posts("C").after(cursor)) == one.run(posts("C").after(cursor))
    with pytest.raises(InvalidCursor):
        filled.run(posts("C").after(cursor))


def test_the_secret_can_be_in_the_environment(
    filled: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_CURSOR_SECRET", SECRET)
    other = connect(engine, Blog)
    cursor = cursor_of(filled, posts("C").page_size(2))
    assert other.run(posts("C").after(cursor))
    monkeypatch.setenv("TABLEWRIGHT_CURSOR_SECRET", "changed")
    with pytest.raises(InvalidCursor):
        connect(engine, Blog).run(posts("C").after(cursor))


def test_a_secret_that_is_given_goes_before_the_environment(
    filled: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_CURSOR_SECRET", "of the environment")
    cursor = cursor_of(filled, posts("C").page_size(2))
    assert connect(engine, Blog, cursor_secret=SECRET).run(posts("C").after(cursor))


def test_a_cursor_of_another_table_is_refused(filled: Database, engine: Engine) -> None:
    """The same declaration under another name holds other data."""
    other = connect(engine, Blog, table_name="cursor_blog_copy", cursor_secret=SECRET)
    cursor = cursor_of(filled, posts("C").page_size(2))
    with pytest.raises(InvalidCursor):
        other.run(posts("C").after(cursor))


# -- tenants -------------------------------------------------------------------------------------


@pytest.fixture
def store(engine: Engine) -> Database:
    database = connect(engine, Store, cursor_secret=SECRET)
    for number in range(4):
        for user in ("ann", "bob"):
            database.run(put(Order(customer=user, number=number)))
    return database


def test_pages_of_a_scoped_database_are_everything_of_the_tenant(store: Database) -> None:
    ann = store.for_tenant(customer="ann")
    found = [order.number for order in ann.iterate(Order.primary.within("ann").page_size(1))]
    assert found == [0, 1, 2, 3]


def test_a_cursor_of_one_tenant_is_refused_for_another(store: Database) -> None:
    ann, bob = store.for_tenant(customer="ann"), store.for_tenant(customer="bob")
    plan = Order.by_status("OPEN").page_size(2)
    cursor = cursor_of(ann, plan)
    with pytest.raises(InvalidCursor):
        bob.run(plan.after(cursor))
    with pytest.raises(InvalidCursor):
        store.run(plan.after(cursor))
    assert len(store.for_tenant(customer="ann").run(plan.after(cursor))) == 2


def test_a_cursor_of_everybody_is_refused_for_a_tenant(store: Database) -> None:
    ann = store.for_tenant(customer="ann")
    plan = Order.primary.within("ann").page_size(2)
    with pytest.raises(InvalidCursor):
        ann.run(plan.after(cursor_of(store, plan)))


@pytest.mark.parametrize("size", range(1, 6))
@pytest.mark.parametrize("user", ["ann", "bob"])
def test_pages_of_an_index_filtered_by_tenant_are_full_and_everything(
    user: str, size: int, store: Database
) -> None:
    scoped = store.for_tenant(customer=user)
    pages = list(_pages(scoped, Order.by_status("OPEN").page_size(size)))
    found = [order for page in pages for order in page]
    assert [(order.customer, order.number) for order in found] == [(user, n) for n in range(4)]
    assert all(len(page) == size for page in pages[:-1])


def test_a_filtered_index_is_read_on_past_hundreds_of_rows_of_others(store: Database) -> None:
    for number in range(300):
        store.run(put(Order(customer="zoe", number=number)))
    store.run(put(Order(customer="ann", number=999)))
    ann = store.for_tenant(customer="ann")
    found = [order.number for order in ann.iterate(Order.by_status("OPEN").page_size(2))]
    assert found == [0, 1, 2, 3, 999]
