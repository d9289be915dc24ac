"""One member of an aggregate, read in pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tablewright import (
    Aggregate,
    Attr,
    Entity,
    Load,
    Page,
    Projection,
    Table,
    access_pattern,
    attr,
    child,
    children,
    connect,
    create,
    delete_all,
    explain,
    key,
    root,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import DeclarationError, InvalidCursor, InvalidValue, UnreadableItem
from tablewright.observe import RequestEvent, Usage
from tests.costs import run_within_range
from tests.examples import examples
from tests.plan.reads.aggregates.sales import (
    Delivery,
    Order,
    OrderItem,
    OrderWithItems,
    Payment,
    Sales,
    item,
    order,
    store,
)
from tests.plan.reads.aggregates.test_children import AWKWARD
from tests.plan.reads.aggregates.test_spans import Github, Issue, Repo, Star


class ItemText(Projection[OrderItem]):
    item_id: str
    note: str


class OrderPage(Aggregate):
    order: Order = root()
    items: Page[OrderItem] = children()


class OrderTextPage(Aggregate):
    order: Order = root()
    items: Page[ItemText] = children()


class ParcelPage(Aggregate):
    """Other members come before the page."""

    order: Order = root()
    items: list[OrderItem] = children()
    parcels: Page[Delivery] = children()


class IssuePage(Aggregate):
    """The root comes after the page."""

    repo: Repo = root()
    issues: Page[Issue] = children()


class StarPage(Aggregate):
    repo: Repo = root()
    stars: Page[Star] = children()


class Halls(Table, name="aggregate_halls"): ...


class Hall(Entity, table=Halls):
    hall: Attr[str] = attr()
    primary = key("HALL" / hall, "HALL")


class Row(Entity, table=Halls):
    hall: Attr[str] = attr()
    row: Attr[int] = attr(pad=3)
    primary = key("HALL" / hall, "HALL#ROW" / row)


class Seat(Entity, table=Halls):
    hall: Attr[str] = attr()
    row: Attr[int] = attr(pad=3)
    seat: Attr[int] = attr(pad=3)
    primary = key("HALL" / hall, "HALL#ROW" / row / "SEAT" / seat)


class Show(Entity, table=Halls):
    hall: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    title: Attr[str] = attr()
    primary = key("HALL" / hall, "HALL#SHOW" / number)


class SeatNumber(Projection[Seat]):
    seat: int


class ShowTitle(Projection[Show]):
    title: str


class RowWithSeats(Aggregate):
    row: Row = root()
    seats: list[SeatNumber] = children()


class HallPage(Aggregate):
    hall: Hall = root()
    rows: list[RowWithSeats] = children()
    shows: Page[ShowTitle] = children()


@access_pattern
def order_page(customer_id: str, order_id: str, cursor: str | None) -> Load[OrderPage]:
    return OrderPage.of(Order.primary(customer_id, order_id)).page_size(2).after(cursor)


def pages(db: Database, order_id: str, size: int) -> list[list[str]]:
    """The items of an order, page by page."""
    found, cursor = [], None
    while True:
        plan = OrderPage.of(Order.primary("C1", order_id)).page_size(size).after(cursor)
        loaded = run_within_range(db, plan)
        assert loaded is not None
        assert loaded.order == order(order_id)
        assert all(each.order_id == order_id for each in loaded.items)
        found.append([each.item_id for each in loaded.items])
        cursor = loaded.items.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, [["a"], ["b"], ["c"], []]),
        (2, [["a", "b"], ["c"]]),
        (3, [["a", "b", "c"], []]),
        (9, [["a", "b", "c"]]),
    ],
)
def test_each_page_has_the_root_and_the_next_children(
    size: int, expected: list[list[str]], db: Database
) -> None:
    store(db, order("1"), *(item("1", each) for each in "abc"), order("2"), item("2", "z"))
    store(db, Payment(customer_id="C1", order_id="1"))
    found = pages(db, "1", size)
    assert [each for each in found if each] == [each for each in expected if each]


@pytest.mark.parametrize("asked", AWKWARD, ids=ascii)
def test_a_page_never_holds_children_of_another_root(asked: str, db: Database) -> None:
    for order_id in AWKWARD:
        store(db, order(order_id), *(item(order_id, each) for each in ("a", "b c", "#")))
    assert sorted(each for page in pages(db, asked, 2) for each in page) == ["#", "a", "b c"]


IDS = st.text(st.sampled_from("a#$! 1"), min_size=1, max_size=3)


@examples(25)
@given(
    children=st.sets(st.tuples(IDS, IDS), max_size=12),
    asked=IDS,
    size=st.integers(1, 4),
)
def test_all_pages_together_are_the_whole_aggregate(
    children: set[tuple[str, str]], asked: str, size: int
) -> None:
    with connect(":memory:", Sales) as db:
        for order_id in {asked, *(each for each, _ in children)}:
            store(db, order(order_id))
        store(db, *(item(order_id, item_id) for order_id, item_id in children))
        whole = db.run(OrderWithItems.of(Order.primary("C1", asked)))
        assert whole is not None
        found = pages(db, asked, size)
        assert [each for page in found for each in page] == [each.item_id for each in whole.items]
        assert all(len(page) == size for page in found[:-1])


def test_without_children_the_page_is_empty(db: Database) -> None:
    store(db, order("1"))
    found = db.run(order_page("C1", "1", None))
    assert found == OrderPage(order=order("1"), items=Page([], None))


def test_without_its_root_there_is_no_page(db: Database) -> None:
    store(db, order("1"), *(item("1", each) for each in "abc"))
    first = db.run(order_page("C1", "1", None))
    assert first is not None
    db.run(Order.primary("C1", "1").delete())
    assert db.run(order_page("C1", "1", None)) is None
    assert db.run(order_page("C1", "1", first.items.next_cursor)) is None


def test_a_first_page_is_one_request_and_a_later_one_is_two() -> None:
    usage = Usage()
    with Engine(":memory:") as engine:
        quiet, db = connect(engine, Github), connect(engine, Github, observe=usage)
        quiet.run(create(Repo(owner="a", name="tw")))
        for number in range(1, 6):
            quiet.run(create(Issue(owner="a", name="tw", number=number)))
        for number in range(50):
            quiet.run(create(Star(owner="a", name="tw", user=f"u{number:03d}")))
        plan = IssuePage.of(Repo.primary("a", "tw")).desc().page_size(2)
        first = db.run(plan)
        assert first is not None
        assert [issue.number for issue in first.issues] == [5, 4]
        assert usage.by_pattern["Load"].requests == 1
        second = db.run(plan.after(first.issues.next_cursor))
        assert second is not None
        assert second.repo == first.repo
        assert [issue.number for issue in second.issues] == [3, 2]
        assert (usage.by_pattern["Load"].requests, usage.by_pattern["Load"].units) == (
            3,
            1.5,
        )
        stars = run_within_range(quiet, StarPage.of(Repo.primary("a", "tw")).page_size(7))
        assert stars is not None
        assert [star.user for star in stars.stars] == [f"u{number:03d}" for number in range(7)]


def test_members_before_the_page_are_on_every_page(db: Database) -> None:
    parcels = [Delivery(customer_id="C1", order_id="1", parcel=number) for number in range(5)]
    items = [item("1", f"{number:03d}") for number in range(9)]
    store(db, order("1"), *items, *parcels)
    plan = ParcelPage.of(Order.primary("C1", "1")).page_size(3)
    first = run_within_range(db, plan)
    assert first is not None
    second = run_within_range(db, plan.after(first.parcels.next_cursor))
    assert second is not None
    assert first.items == second.items == items
    assert [*first.parcels, *second.parcels] == parcels
    assert second.parcels.next_cursor is None


def test_many_rows_of_other_members_take_few_requests(db: Database) -> None:
    items = [item("1", f"{number:03d}") for number in range(300)]
    parcels = [Delivery(customer_id="C1", order_id="1", parcel=number) for number in range(5)]
    store(db, order("1"), *items, *parcels)
    plan = ParcelPage.of(Order.primary("C1", "1")).page_size(3)
    assert explain(plan).page == "1 + 3, and all rows of the other members"
    events: list[RequestEvent] = []
    found = run_within_range(db, plan, events=events)
    assert found is not None
    assert (found.items, list(found.parcels)) == (items, parcels[:3])
    assert len(events) <= 8


def test_members_are_nested_projected_and_paged_at_once() -> None:
    with connect(":memory:", Halls) as db:
        seats = [Seat(hall="h", row=row, seat=seat) for row in (1, 2) for seat in (1, 2, 3)]
        shows = [Show(hall="h", number=number, title=f"t{number}") for number in range(5)]
        store(db, Hall(hall="h"), *(Row(hall="h", row=row) for row in (1, 2)), *seats, *shows)
        found: list[ShowTitle] = []
        cursor = None
        for _ in range(3):
            plan = HallPage.of(Hall.primary("h")).page_size(2).after(cursor)
            page = run_within_range(db, plan)
            assert page is not None
            assert [len(each.seats) for each in page.rows] == [3, 3]
            assert page.rows[1].seats[0] == SeatNumber(seat=1)
            found += page.shows
            cursor = page.shows.next_cursor
        assert found == [ShowTitle(title=f"t{number}") for number in range(5)]
        assert cursor is None


def test_a_page_of_projections_asks_for_their_attributes(db: Database) -> None:
    store(db, order("1"), *(item("1", each, note=each.upper()) for each in "abc"))
    plan = OrderTextPage.of(Order.primary("C1", "1")).page_size(2)
    first = db.run(plan)
    assert first is not None
    assert first.order == order("1")
    assert first.items == [ItemText(item_id="a", note="A"), ItemText(item_id="b", note="B")]
    second = db.run(plan.after(first.items.next_cursor))
    assert second is not None
    assert second.items == [ItemText(item_id="c", note="C")]


def test_without_a_page_size_a_page_is_a_megabyte(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}", note="x" * 100_000) for n in range(25)))
    found, cursor = [], None
    for _ in range(9):
        loaded = db.run(OrderPage.of(Order.primary("C1", "1")).after(cursor))
        assert loaded is not None
        found += [each.item_id for each in loaded.items]
        cursor = loaded.items.next_cursor
        if cursor is None:
            break
    assert found == [f"{n:03d}" for n in range(25)]


def test_a_page_of_a_root_that_is_found_first(db: Database) -> None:
    store(db, order("1", state="open"), *(item("1", each) for each in "abc"))
    plan = OrderPage.of(Order.by_state("open").first()).page_size(2)
    first = run_within_range(db, plan)
    assert first is not None
    second = run_within_range(db, plan.after(first.items.next_cursor))
    assert second is not None
    assert [each.item_id for each in (*first.items, *second.items)] == ["a", "b", "c"]


def test_a_page_by_an_index(db: Database) -> None:
    store(db, order("1", state="open"), *(item("1", each, state="open") for each in "abc"))
    plan = OrderPage.of(Order.by_state("open").eq("1")).page_size(2)
    first = run_within_range(db, plan)
    assert first is not None
    assert [each.item_id for each in first.items] == ["a", "b"]
    second = run_within_range(db, plan.after(first.items.next_cursor))
    assert second is not None
    assert second.order == first.order
    assert [each.item_id for each in second.items] == ["c"]


def test_an_item_that_cannot_be_read_is_reported_by_the_page(db: Database, engine: Engine) -> None:
    store(db, order("1"), item("1", "a"), item("1", "c"))
    engine.call(
        "PutItem",
        {
            "TableName": "aggregate_sales",
            "Item": {
                "PK": {"S": "CUST#C1"},
                "SK": {"S": "ORDER#1#ITEM#b"},
                "entityType": {"S": "OrderItem"},
                "note": {"N": "1"},
            },
        },
    )
    plan = order_page("C1", "1", None).page_size(3)
    with pytest.raises(UnreadableItem) as raised:
        db.run(plan)
    assert raised.value.results == [item("1", "a")]
    rest = db.run(plan.after(raised.value.cursor))
    assert rest is not None
    assert rest.items == [item("1", "c")]
    skipping = db.run(plan.skip_unreadable())
    assert skipping is not None
    assert skipping.items == [item("1", "a"), item("1", "c")]
    assert [error.key["SK"] for error in skipping.items.unreadable] == [{"S": "ORDER#1#ITEM#b"}]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_an_item_of_no_entity_is_reported_by_the_page(
    size: int, db: Database, engine: Engine
) -> None:
    store(db, order("1"), *(item("1", each) for each in "abc"))
    unknown = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#1#ITEM#b#x"}}
    engine.call("PutItem", {"TableName": "aggregate_sales", "Item": unknown})
    plan = order_page("C1", "1", None).page_size(size)

    found, skipped, cursor = list[str](), list[Any](), None
    while True:
        page = db.run(plan.skip_unreadable().after(cursor))
        assert page is not None
        found += [each.item_id for each in page.items]
        skipped += [error.key for error in page.items.unreadable]
        cursor = page.items.next_cursor
        if cursor is None:
            break
    assert (found, skipped) == (["a", "b", "c"], [unknown])


def test_a_page_continues_behind_an_item_of_no_entity(db: Database, engine: Engine) -> None:
    store(db, order("1"), *(item("1", each) for each in "abc"))
    unknown = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#1#ITEM#b#x"}}
    engine.call("PutItem", {"TableName": "aggregate_sales", "Item": unknown})
    plan = order_page("C1", "1", None).page_size(4)

    with pytest.raises(UnreadableItem) as raised:
        db.run(plan)

    assert raised.value.results == [item("1", "a"), item("1", "b")]
    rest = db.run(plan.after(raised.value.cursor))
    assert rest is not None
    assert rest.items == [item("1", "c")]


def test_a_cursor_is_valid_for_its_root_only(db: Database) -> None:
    for order_id in "12":
        store(db, order(order_id), *(item(order_id, each) for each in "abc"))
    first = db.run(order_page("C1", "1", None))
    assert first is not None
    with pytest.raises(InvalidCursor):
        db.run(order_page("C1", "2", first.items.next_cursor))


def test_the_json_of_an_aggregate_has_the_cursor() -> None:
    adapter = TypeAdapter(OrderPage)
    stored = adapter.dump_python(OrderPage(order=order("1"), items=Page([item("1", "a")], "next")))
    assert stored["items"]["next_cursor"] == "next"
    assert [each["item_id"] for each in stored["items"]["items"]] == ["a"]


def test_explain_states_the_range_and_that_the_root_is_read_again() -> None:
    shape = explain(order_page)
    assert shape.operation == "Query"
    assert shape.condition == (
        'PK="CUST#{customer_id}" AND SK BETWEEN "ORDER#{order_id}" AND "ORDER#{order_id}#ITEM$"'
    )
    assert shape.page == "1 + 2; the root is read again for later pages"


# -- what is refused -------------------------------------------------------------------------------


def test_rows_behind_the_page_are_refused() -> None:
    class Behind(Aggregate):
        order: Order = root()
        items: Page[OrderItem] = children()
        payment: Payment | None = child()

    with pytest.raises(DeclarationError, match=r"Behind\.items is a page, so its rows must come"):
        explain(Behind.of(Order.primary("C1", "1")))


def test_rows_of_other_entities_before_the_page_are_refused() -> None:
    class Parcels(Aggregate):
        order: Order = root()
        parcels: Page[Delivery] = children()

    with pytest.raises(DeclarationError, match=r"Parcels\.parcels: .* rows of OrderItem"):
        explain(Parcels.of(Order.primary("C1", "1")))


def test_the_root_must_come_first() -> None:
    with pytest.raises(DeclarationError, match=r"must come last.*read it without desc\(\)"):
        explain(OrderPage.of(Order.primary("C1", "1")).desc())
    with pytest.raises(DeclarationError, match=r"must come last.*read it with desc\(\)"):
        explain(IssuePage.of(Repo.primary("a", "tw")))


def test_two_pages_are_refused() -> None:
    with pytest.raises(DeclarationError, match="items and parcels are pages, but one query reads"):

        class TwoPages(Aggregate):
            order: Order = root()
            items: Page[OrderItem] = children()
            parcels: Page[Delivery] = children()


def test_a_page_of_aggregates_and_an_aggregate_with_a_page_as_a_member_are_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Nested\.orders: a page has entities or proj"):

        class Nested(Aggregate):
            order: Order = root()
            orders: Page[ParcelPage] = children()

    with pytest.raises(DeclarationError, match=r"Inner\.orders: OrderPage has a page, items"):

        class Inner(Aggregate):
            order: Order = root()
            orders: list[OrderPage] = children()


def test_a_page_has_a_page_size_and_a_list_has_a_limit() -> None:
    plan: Load[Any] = OrderPage.of(Order.primary("C1", "1"))
    with pytest.raises(DeclarationError, match=r"items is a page.*page_size\(\), not by limit"):
        plan.limit(3)
    with pytest.raises(InvalidValue, match=r"page_size\(0\)"):
        plan.page_size(0)

    class Listed(Aggregate):
        order: Order = root()
        items: list[OrderItem] = children()

    listed = Listed.of(Order.primary("C1", "1"))
    with pytest.raises(DeclarationError, match=r"Listed: page_size\(\) needs a member that is a"):
        listed.page_size(3)
    with pytest.raises(DeclarationError, match=r"Listed: after\(\) needs a member that is a page"):
        listed.after(None)


def test_delete_all_takes_no_page() -> None:
    found = OrderPage.of(Order.by_state("open").first())
    for rows in (
        OrderPage.of(Order.primary("C1", "1")).page_size(2),
        OrderPage.of(Order.primary("C1", "1")).after("x"),
        found.page_size(2),
    ):
        with pytest.raises(DeclarationError, match="takes no limit"):
            delete_all(rows)
