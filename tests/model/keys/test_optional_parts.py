"""Optional parts: the end of a key, which is left out if its attribute has no value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    GSI,
    Attr,
    Create,
    Engine,
    Entity,
    Get,
    Query,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    explain,
    index,
    key,
    put,
    save,
    unique,
    update,
)
from tablewright.database import Database
from tablewright.design_changes import Need, differences
from tablewright.errors import AlreadyExists, DeclarationError, InvalidValue, UnreadableItem
from tablewright.formats import day, lower, number, optional
from tablewright.model.description import describe_design
from tablewright.plans import Range
from tests.model.declaring.declarations import refused
from tests.new_table import new_indexed_table, new_table
from tests.prepared import with_tables


class Library(Table, name="library"):
    by_place = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class Copy(Entity, table=Library):
    """`BOOK#1` with `COPY`, or `COPY#2`, as others publish it."""

    book: Attr[str] = attr()
    copy_number: Attr[int | None] = attr(pad=3, default=None)
    hall: Attr[int] = attr(pad=2, default=1)
    shelf: Attr[str | None] = attr(default=None)
    owner: Attr[str | None] = attr(default=None)
    primary = key("BOOK" / book, "COPY" / optional(copy_number))
    by_place = index(Library.by_place, "PLACES", "HALL" / hall / optional("SHELF" / lower(shelf)))
    by_owner = index(Library.by_owner, "OWNER" / optional(owner), "BOOK" / book)


class Chapter(Entity, table=Library):
    book: Attr[str] = attr(key_only=True)
    chapter: Attr[str] = attr(key_only=True)
    section: Attr[str | None] = attr(key_only=True, default=None)
    title: Attr[str] = attr(default="")
    primary = key("BOOK" / book, "CHAPTER" / chapter / optional("SECTION" / section))


@access_pattern
def copy_of(book: str, number: int | None) -> Get[Copy]:
    return Copy.primary(book, number)


@access_pattern
def in_hall(hall: int) -> Query[Copy]:
    return Copy.by_place().eq(hall)


@access_pattern
def add(book: str, number: int | None) -> Create[Copy]:
    return create(Copy(book=book, copy_number=number))


@pytest.fixture
def prepare() -> Any:
    return with_tables(Library)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Library)


@pytest.fixture
def copies(db: Database) -> Database:
    for copy_number, shelf in ((None, None), (1, "A"), (2, "a#b"), (10, None)):
        db.run(create(Copy(book="7", copy_number=copy_number, shelf=shelf)))
    db.run(create(Copy(book="8", copy_number=1, hall=2, owner="ann")))
    return db


def keys(engine: Engine) -> list[tuple[str, ...]]:
    items = engine.call("Scan", {"TableName": "library"})["Items"]
    names = ("PK", "SK", "GSI1SK", "GSI2PK")
    return sorted(tuple(item[name]["S"] for name in names if name in item) for item in items)


def numbers(found: Any) -> list[int | None]:
    return [each.copy_number for each in found]


def test_a_part_without_a_value_is_left_out_with_the_text_before_it(
    copies: Database, engine: Engine
) -> None:
    assert keys(engine) == [
        ("BOOK#7", "COPY", "HALL#01", "OWNER"),
        ("BOOK#7", "COPY#001", "HALL#01#SHELF#a", "OWNER"),
        ("BOOK#7", "COPY#002", "HALL#01#SHELF#a$!b", "OWNER"),
        ("BOOK#7", "COPY#010", "HALL#01", "OWNER"),
        ("BOOK#8", "COPY#001", "HALL#02", "OWNER#ann"),
    ]
    assert Copy.primary._key.show() == "PK=BOOK#{book}, SK=COPY[#{copy_number}]"


def test_a_get_takes_a_value_or_none(copies: Database) -> None:
    assert copies.run(Copy.primary("7", None).or_raise()).copy_number is None
    assert copies.run(Copy.primary("7", 2).or_raise()).shelf == "a#b"
    assert copies.run(copy_of("7", None)) == copies.run(Copy.primary("7", None))
    assert copies.run(copy_of("7", 10)) == copies.run(Copy.primary("7", 10))
    assert copies.run(Copy.by_owner("ann").count()) == 1
    assert copies.run(Copy.by_owner(None).count()) == 4


RANGES: list[tuple[Query[Copy], str, list[int | None]]] = [
    (Copy.primary.within("7"), 'PK="BOOK#7" AND begins_with(SK, "COPY")', [None, 1, 2, 10]),
    (Copy.primary.within("7").eq(None), 'PK="BOOK#7" AND SK="COPY"', [None]),
    (Copy.primary.within("7").eq(2), 'PK="BOOK#7" AND SK="COPY#002"', [2]),
    (Copy.primary.within("7").gte(2), 'PK="BOOK#7" AND SK BETWEEN "COPY#002" AND "COPY$"', [2, 10]),
    (Copy.primary.within("7").gt(2), 'PK="BOOK#7" AND SK BETWEEN "COPY#002" AND "COPY$"', [10]),
    (Copy.primary.within("7").lt(2), 'PK="BOOK#7" AND SK BETWEEN "COPY#" AND "COPY#002"', [1]),
    (Copy.primary.within("7").lte(2), 'PK="BOOK#7" AND SK BETWEEN "COPY#" AND "COPY#002"', [1, 2]),
    (
        Copy.primary.within("7").between(0, 5),
        'PK="BOOK#7" AND SK BETWEEN "COPY#000" AND "COPY#005"',
        [1, 2],
    ),
    (
        Copy.by_place().eq(1).begins_with("A"),
        'GSI1PK="PLACES" AND begins_with(GSI1SK, "HALL#01#SHELF#a")',
        [1, 2],
    ),
]


@pytest.mark.parametrize(("query", "condition", "found"), RANGES)
def test_a_comparison_concerns_the_keys_that_have_the_part(
    copies: Database, query: Query[Copy], condition: str, found: list[int | None]
) -> None:
    assert str(explain(query).condition) == condition
    assert numbers(copies.run(query)) == found
    assert numbers(copies.run(query.desc())) == found[::-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Copy.by_place().eq(1), {None, 1, 2, 10}),
        (Copy.by_place().eq(1, None), {None, 10}),
        (Copy.by_place().eq(1, "A"), {1}),
        (Copy.by_place().lt(1), set()),
        (Copy.by_place().lte(1), {None, 1, 2, 10}),
        (Copy.by_place().gt(1), {1}),
        (Copy.by_place().between(1, 1), {None, 1, 2, 10}),
        (in_hall(2), {1}),
    ],
)
def test_a_range_of_the_part_before_it_contains_both_forms(
    copies: Database, query: Query[Copy], found: set[int | None]
) -> None:
    assert set(numbers(copies.run(query))) == found


def test_a_prefix_that_could_be_the_beginning_of_another_value_is_refused(db: Database) -> None:
    with pytest.raises(DeclarationError, match=r"chapter has no fixed width.*can be None") as error:
        db.run(Chapter.primary.within("7").eq("1"))
    assert "optional(section)" in str(error.value)
    db.run(create(Chapter(book="7", chapter="1")))
    db.run(create(Chapter(book="7", chapter="1", section="2")))
    db.run(create(Chapter(book="7", chapter="10")))
    exact = Chapter.primary.within("7").eq("1", None)
    assert [each.chapter for each in db.run(exact)] == ["1"]
    assert len(db.run(Chapter.primary.within("7"))) == 3
    assert [each.section for each in db.run(Chapter.primary.within("7").eq("1").gte("0"))] == ["2"]
    with pytest.raises(InvalidValue, match=r"cannot be compared with None; eq\(None\)"):
        db.run(Copy.primary.within("7").gte(None))


def test_values_that_are_only_in_keys_are_parsed(db: Database) -> None:
    chapters = [Chapter(book="7", chapter="1", section=each) for each in (None, "2", "a#b")]
    for chapter in chapters:
        db.run(create(chapter))
    assert list(db.run(Chapter.primary.within("7"))) == chapters
    assert [db.run(Chapter.primary("7", "1", each.section)) for each in chapters] == chapters


@given(st.none() | st.text(min_size=1, max_size=5), st.none() | st.integers(0, 999))
def test_every_value_comes_back(section: str | None, copy_number: int | None) -> None:
    for made in (
        Chapter(book="7", chapter="1", section=section),
        Copy(book="7", copy_number=copy_number, shelf=section),
    ):
        entity: Any = made.__entity__
        item = entity.encode(vars(made))
        if isinstance(made, Copy):
            made.shelf = section  # as it is stored
        assert entity.decode(item) == made
        assert Library.__table__.entity_of({name: item[name] for name in ("PK", "SK")}) is entity


def test_a_value_that_comes_or_goes_moves_the_item(db: Database, engine: Engine) -> None:
    copy = db.run(create(Copy(book="7")))
    db.run(update(copy, Copy.copy_number.set(3)))
    assert [each[1] for each in keys(engine)] == ["COPY#003"]
    copy.copy_number = None
    db.run(save(copy))
    assert [each[1] for each in keys(engine)] == ["COPY"]
    assert db.run(Copy.primary("7", None)) == copy
    db.run(create(Copy(book="7", copy_number=1)))
    with pytest.raises(AlreadyExists):
        db.run(Copy.primary("7", 1).update(Copy.copy_number.remove()))
    db.run(Copy.primary("7", 1).update(Copy.shelf.set("B")))
    assert [each[2] for each in keys(engine)] == ["HALL#01", "HALL#01#SHELF#b"]
    db.run(Copy.primary("7", 1).update(Copy.shelf.remove()))
    assert [each[2] for each in keys(engine)] == ["HALL#01", "HALL#01"]
    chapter = db.run(create(Chapter(book="7", chapter="1", section="2")))
    db.run(update(chapter, Chapter.section.remove()))
    assert db.run(Chapter.primary("7", "1", None)) == Chapter(book="7", chapter="1")


def test_a_spelling_of_the_value_is_kept(db: Database, engine: Engine) -> None:
    stored = {"PK": "BOOK#7", "SK": "COPY#7", "type": "Copy", "book": "7"}
    item = {name: {"S": text} for name, text in stored.items()} | {"copy_number": {"N": "7"}}
    engine.call("PutItem", {"TableName": "library", "Item": item})
    (copy,) = db.run(Copy.primary.within("7"))
    db.run(put(copy))
    assert [each[1] for each in keys(engine)] == ["COPY#7"]
    engine.call("PutItem", {"TableName": "library", "Item": item | {"SK": {"S": "COPY"}}})
    with pytest.raises(UnreadableItem, match=r"the stored SK is 'COPY'.*give 'COPY#007'"):
        db.run(Copy.primary("7", None))


def test_patterns_show_the_part(copies: Database) -> None:
    assert str(explain(copy_of).condition) == 'PK="BOOK#{book}" AND SK="COPY{optional(number)}"'
    copies.run(add("9", None))
    copies.run(add("9", 4))
    assert numbers(copies.run(Copy.primary.within("9"))) == [None, 4]


def test_unique_values_may_have_one(engine: Engine) -> None:
    class Doors(Table, name="doors"):
        pass

    class Door(Entity, table=Doors):
        number: Attr[int] = attr()
        house: Attr[str] = attr()
        wing: Attr[str | None] = attr(default=None)
        primary = key("DOOR" / number, "DOOR")
        by_name = unique("NAME" / house / optional(wing))

    doors = connect(engine, Doors)
    doors.run(create(Door(number=1, house="N")))
    doors.run(create(Door(number=2, house="N", wing="e")))
    assert doors.run(Door.by_name("N", None).or_raise()).number == 1
    assert doors.run(Door.by_name("N", "e").or_raise()).number == 2


def test_it_is_a_change_of_the_key_for_diff() -> None:
    def described(make: Callable[[Any, Any], Any]) -> Any:
        class Shelves(Table, name="shelves"):
            pass

        class Box(Entity, table=Shelves):
            shelf: Attr[str] = attr()
            box: Attr[str | None] = attr(default=None)
            note: Attr[str] = attr(default="")
            primary = make(shelf, box)

        return describe_design(Shelves)

    old = described(lambda shelf, box: key("SHELF" / shelf, "BOX"))
    new = described(lambda shelf, box: key("SHELF" / shelf, "BOX" / optional(box)))
    other = described(lambda shelf, box: key("SHELF" / shelf, "BOX" / optional("NR" / box)))
    for one, two, kind in (
        (old, new, "primary-key-changed"),
        (new, other, "primary-format-changed"),
        (new, old, "primary-key-changed"),
    ):
        (change,) = differences(one, two)
        assert (change.kind.name, change.need) == (kind, Need.MOVES)
    assert list(differences(new, new)) == []


# -- declarations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda a, b, at: key("A" / a, "B" / optional(a)), "a always has a value; annotate it"),
        (
            lambda a, b, at: key("A" / a, "B" / optional(b) / "END"),
            "optional(b) is not the last part behind others",
        ),
        (
            lambda a, b, at: key("A" / a, "B" / optional(b) / optional(at)),
            "optional(b) is not the last part behind others",
        ),
        (lambda a, b, at: key("A" / a, optional(b)), "optional(b) is not the last part"),  # type: ignore[call-overload]
        (lambda a, b, at: key("A" / a, "B" + optional(b)), "nothing separates optional(b)"),
        (lambda a, b, at: key("A" / a, "B" / b), "'b' is optional, but a primary key needs every"),
        (lambda a, b, at: key("A" / a, "B" / optional(a / b)), "optional(…) takes an attribute"),
        (lambda a, b, at: key("A" / a, "B" / optional(number(b))), "number(b)"),  # type: ignore[call-overload]
    ],
)
def test_what_cannot_be_left_out_is_refused(make: Any, problem: str) -> None:
    with refused(problem.replace("optional(…)", "")):

        class Thing(Entity, table=new_table()):
            a: Attr[str] = attr()
            b: Attr[str | None] = attr(default=None)
            at: Attr[date | None] = attr(default=None)
            primary = make(a, b, at)


def test_a_key_that_could_be_that_of_another_entity_is_refused() -> None:
    table = new_table()

    class Order(Entity, table=table):
        order: Attr[str] = attr()
        item: Attr[str | None] = attr(default=None)
        primary = key("ORDER" / order, "META" / optional("ITEM" / item))

    class Other(Entity, table=table):
        order: Attr[str] = attr()
        note: Attr[str] = attr()
        primary = key("ORDER" / order, "META#NOTE" / note)

    for sort in ("META", "META#ITEM"):
        with refused("can be the same key as Order.primary"):

            class Same(Entity, table=table):
                order: Attr[str] = attr()
                number: Attr[str] = attr()
                primary = key("ORDER" / order, sort if sort == "META" else sort / number)


def test_other_formats_and_separators() -> None:
    table = new_indexed_table()

    class Visit(Entity, table=table):
        guest: Attr[str] = attr()
        left: Attr[datetime | None] = attr(default=None)
        note: Attr[str | None] = attr(default=None)
        primary = key("GUEST" / guest, "VISIT" + optional("@" + day(left)))
        noted = index(table.gsi1, "VISITS" / optional(note), guest)

    entity = Visit.__entity__
    moment = datetime(2026, 1, 15, 10, tzinfo=UTC)
    assert entity.encode(vars(Visit(guest="a")))["SK"] == {"S": "VISIT"}
    assert entity.encode(vars(Visit(guest="a", left=moment)))["SK"] == {"S": "VISIT@2026-01-15"}
    later: Range[Visit, Any] = Visit.primary.within("a")
    condition = 'PK="GUEST#a" AND SK BETWEEN "VISIT@2026-01-01" AND "VISITA"'
    assert str(explain(later.gte(date(2026, 1, 1))).condition) == condition
