"""Roots that another plan finds, that come last, or that are not named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Load,
    Page,
    Table,
    access_pattern,
    attr,
    children,
    connect,
    explain,
    index,
    key,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tests.costs import run_within_range
from tests.plan.reads.aggregates.sales import (
    Category,
    CategoryWithIngredients,
    Ingredient,
    Order,
    OrderWithItems,
    Payment,
    Sales,
    body_of,
    category_and_some,
    first_in_state,
    item,
    order,
    store,
)
from tests.sensors import Reading, Sensors

# -- a root that is found by another plan ----------------------------------------------------------


def test_the_aggregate_of_a_root_that_is_found_first(db: Database) -> None:
    store(db, order("1"), item("1", "a"), order("2", state="open"), item("2", "a"), item("2", "b"))
    found = db.run(first_in_state("open"))
    assert found == OrderWithItems(
        order=order("2", state="open"), items=[item("2", "a"), item("2", "b")]
    )


def test_without_a_root_that_is_found_there_is_no_aggregate(db: Database) -> None:
    store(db, order("1"), item("1", "a"))
    assert db.run(first_in_state("open")) is None


def test_the_shape_of_a_root_that_is_found_first_has_both_requests() -> None:
    shape = explain(first_in_state)
    assert shape.operation == "Query + Query"
    assert [step.index for step in shape.steps] == [Sales.by_state.name, None]
    assert shape.read_units == sum(step.read_units for step in shape.steps)


# -- the root last: the second option of the recipes -----------------------------------------------


def fill_category(db: Database, category_id: str, count: int) -> None:
    store(db, Category(category_id=category_id))
    for number in range(count):
        store(db, Ingredient(category_id=category_id, ingredient_id=f"{number:02d}"))


def test_children_before_their_root_are_read_backwards_to_the_limit(
    db: Database, engine: Engine
) -> None:
    fill_category(db, "1", 20)
    fill_category(db, "10", 3)
    keys = {
        row["SK"]["S"] for row in engine.call("Scan", {"TableName": "aggregate_kitchen"})["Items"]
    }
    assert {"CATEGORY#1", "#INGREDIENT#00"} <= keys
    found = db.run(category_and_some("1", 11))
    assert found is not None
    assert found.category.category_id == "1"
    assert [one.ingredient_id for one in found.ingredients] == [
        f"{number:02d}" for number in range(19, 8, -1)
    ]


def test_the_backwards_read_asks_for_the_root_and_the_limit(db: Database) -> None:
    body = body_of(category_and_some("1", 10), db)
    assert body["ScanIndexForward"] is False
    assert body["Limit"] == 11


def test_children_before_their_root_are_all_read_without_a_limit(db: Database) -> None:
    fill_category(db, "1", 5)
    found = db.run(CategoryWithIngredients.of(Category.primary("1")))
    assert found is not None
    assert [one.ingredient_id for one in found.ingredients] == ["00", "01", "02", "03", "04"]


def test_a_limit_that_would_cut_the_root_off_says_how_to_read(db: Database) -> None:
    plan = CategoryWithIngredients.of(Category.primary("1")).limit(10)
    with pytest.raises(
        DeclarationError,
        match=r"CategoryWithIngredients: limit\(\) needs the root first, and #INGREDIENT#"
        r"\{ingredient_id\} comes before CATEGORY#\{category_id\}; read it with desc\(\)",
    ):
        db.run(plan)


def test_a_limit_that_would_cut_the_root_off_is_found_when_a_pattern_is_defined() -> None:
    with pytest.raises(DeclarationError, match=r"pattern cut_off: .*needs the root first"):

        @access_pattern
        def cut_off(category_id: str) -> Load[CategoryWithIngredients]:
            return CategoryWithIngredients.of(Category.primary(category_id)).limit(10)


# -- roots that are not named, and indexes that hold too little ------------------------------------


@pytest.mark.parametrize(
    "roots", [Order.primary.within("C1"), Order.by_state("open")], ids=["a partition", "an index"]
)
def test_all_roots_of_a_partition_with_children_below_them_are_refused(roots: Any) -> None:
    with pytest.raises(DeclarationError, match="is below one Order; say which, with every part of"):
        OrderWithItems.of(roots)


class Thin(Table, name="aggregate_thin"):
    keys = GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")
    notes = GSI("GSI2PK", "GSI2SK", project=("crate", "note", "tag"))


class Crate(Entity, table=Thin):
    crate: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    tag: Attr[str] = attr(default="t")
    primary = key("CRATE" / crate, "CRATE")
    by_keys = index(Thin.keys, "TAG" / tag, "CRATE" / crate)
    by_notes = index(Thin.notes, "TAG" / tag, "CRATE" / crate)


class Bottle(Entity, table=Thin):
    crate: Attr[str] = attr()
    bottle: Attr[str] = attr()
    tag: Attr[str] = attr(default="t")
    size: Attr[int] = attr(default=1)
    primary = key("CRATE" / crate, "BOTTLE" / bottle)
    by_keys = index(Thin.keys, "TAG" / tag, "CRATE" / crate / "BOTTLE" / bottle)
    by_notes = index(Thin.notes, "TAG" / tag, "CRATE" / crate / "BOTTLE" / bottle)


class FullCrate(Aggregate):
    crate: Crate = root()
    bottles: list[Bottle] = children()


def test_an_index_that_does_not_hold_the_whole_root_is_refused_when_the_plan_is_made() -> None:
    with pytest.raises(DeclarationError, match=r"the index keys does not contain .*note"):
        FullCrate.of(Crate.by_keys("t").eq("1"))


def test_an_index_that_does_not_hold_a_whole_member_is_refused_when_the_plan_is_made() -> None:
    with pytest.raises(DeclarationError, match="the index notes does not contain size"):
        FullCrate.of(Crate.by_notes("t").eq("1"))


def test_a_second_root_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Twins has one root, order; .* child\(\)"):

        class Twins(Aggregate):
            order: Order = root()
            payment: Payment = root()


# -- several roots, and an entity that is the root and a member ------------------------------------


class Library(Table, name="aggregate_library"):
    teams = GSI("GSI1PK", "GSI1SK")


class Book(Entity, table=Library):
    """Its sort key contains a title that the caller does not know."""

    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    primary = key("BOOK" / isbn, "BOOK" / title)


class Loan(Entity, table=Library):
    isbn: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("BOOK" / isbn, "LOAN" / number)


class BookWithLoans(Aggregate):
    book: Book = root()
    loans: list[Loan] = children()


class Librarian(Entity, table=Library):
    name: Attr[str] = attr()
    boss: Attr[str | None] = attr(default=None)
    primary = key("LIBRARIAN" / name, "LIBRARIAN")
    as_boss = index(Library.teams, "TEAM" / name, "BOSS", when=boss.not_exists())
    as_member = index(Library.teams, "TEAM" / boss, "MEMBER" / name, when=boss.exists())


class Team(Aggregate):
    boss: Librarian = root()
    members: list[Librarian] = children()


class TeamPage(Aggregate):
    boss: Librarian = root()
    members: Page[Librarian] = children()


@pytest.fixture
def library() -> Iterator[Database]:
    with connect(":memory:", Library) as db:
        yield db


def test_the_only_root_of_a_partition_needs_no_whole_key(library: Database) -> None:
    loans = [Loan(isbn="1", number=number) for number in range(5)]
    book = Book(isbn="1", title="Ulysses")
    store(library, book, *loans)
    plan = BookWithLoans.of(Book.primary.within("1"))
    assert library.run(plan) == BookWithLoans(book=book, loans=loans)
    first = run_within_range(library, plan.limit(2))
    assert first == BookWithLoans(book=book, loans=loans[:2])
    assert library.run(BookWithLoans.of(Book.primary.within("2"))) is None


def test_the_whole_key_of_a_root_beside_its_children_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"has one Book only, use Book\.primary\.within\("):
        BookWithLoans.of(Book.primary("1", "Ulysses"))


def test_several_roots_in_a_partition_are_reported(library: Database) -> None:
    store(library, *(Book(isbn="1", title=title) for title in ("Ulysses", "Ulixes")))
    with pytest.raises(InvalidValue, match="finds 2 of Book: PK=BOOK#1, SK=BOOK#Ulixes; PK=BOOK#1"):
        library.run(BookWithLoans.of(Book.primary.within("1")))


def test_several_roots_with_one_key_in_an_index_are_reported(db: Database) -> None:
    for customer_id in ("C1", "C2"):
        store(db, order("1", customer_id, state="open"), item("1", "a", customer_id, state="open"))
    with pytest.raises(InvalidValue, match=r"Order\.by_state finds 2 of Order: PK=CUST#C1, SK="):
        db.run(OrderWithItems.of(Order.by_state("open").eq("1")))


def fill_teams(db: Database) -> None:
    for name, boss in (
        ("ann", None),
        ("bob", "ann"),
        ("cid", "ann"),
        ("dan", None),
        ("eve", "dan"),
    ):
        store(db, Librarian(name=name, boss=boss))


def test_an_entity_with_two_places_is_the_root_and_the_members(library: Database) -> None:
    fill_teams(library)
    plan = Team.of(Librarian.as_boss("ann"))
    found = run_within_range(library, plan)
    assert found is not None
    assert found.boss.name == "ann"
    assert [member.name for member in found.members] == ["bob", "cid"]
    first = run_within_range(library, plan.limit(1))
    assert first is not None
    assert [member.name for member in first.members] == ["bob"]


def test_members_of_the_entity_of_the_root_are_read_in_pages(library: Database) -> None:
    fill_teams(library)
    plan = TeamPage.of(Librarian.as_boss("ann")).page_size(1)
    found, cursor = [], None
    for _ in range(3):
        page = run_within_range(library, plan.after(cursor))
        assert page is not None
        assert page.boss.name == "ann"
        found += [member.name for member in page.members]
        cursor = page.members.next_cursor
        if cursor is None:
            break
    assert found == ["bob", "cid"]


def test_an_entity_with_one_place_is_not_the_root_and_a_member() -> None:
    for aggregate in (Team, TeamPage):
        with pytest.raises(DeclarationError, match="Librarian is its root and a member, but PK="):
            aggregate.of(Librarian.primary("ann"))


class Shelf(Entity, table=Library):
    hall: Attr[str] = attr()
    row: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("HALL" / hall, "SHELF" / row / number)


class ShelfAlone(Aggregate):
    shelf: Shelf = root()


def test_a_part_of_the_sort_key_of_a_root_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"whole key; Shelf\.primary lacks number: add them"):
        ShelfAlone.of(Shelf.primary.within("h").eq("r"))


class ReadingAlone(Aggregate):
    reading: Reading = root()


def test_a_root_with_a_number_as_its_sort_key() -> None:
    with connect(":memory:", Sensors) as db:
        store(db, *(Reading(sensor="s", at=at) for at in (3, 30, 4)))
        found = run_within_range(db, ReadingAlone.of(Reading.primary("s", 3)))
    assert found == ReadingAlone(reading=Reading(sensor="s", at=3))
