"""Comparisons of the next part of a sort key."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import GSI, Attr, Engine, Entity, Table, attr, connect, create, index, key, put
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.formats import lower, year_month
from tests.examples import examples
from tests.new_table import new_table
from tests.plan.reads.query.desk import (
    COMPARISONS,
    MONDAY,
    Book,
    Comment,
    Compare,
    Diary,
    Entry,
    Holds,
    Leaf,
    Reading,
    Shelf,
    Task,
    comparisons,
    numbers,
)

# -- comparisons -----------------------------------------------------------------------------------


@comparisons
@pytest.mark.parametrize("bound", [0, 1, 9, 10, 12, 13])
def test_a_comparison_on_the_table_in_a_shared_partition(
    compare: Compare, holds: Holds, bound: int, filled: Database
) -> None:
    expected = [number for number in range(1, 13) if holds(number, bound)]
    assert numbers(filled.run(compare(Task.primary.within("P"), bound))) == expected
    newest = compare(Task.primary.within("P"), bound).desc()
    assert numbers(filled.run(newest)) == expected[::-1]


@comparisons
def test_a_comparison_of_a_part_that_others_follow(
    compare: Compare, holds: Holds, filled: Database
) -> None:
    expected = [(n, name) for n in range(1, 13) for name in "abc" if holds(n, 5)]
    found = filled.run(compare(Comment.primary.within("P"), 5))
    assert [(one.number, one.comment_id) for one in found] == expected


@comparisons
def test_a_comparison_of_the_last_part_behind_a_bound_one(
    compare: Compare, holds: Holds, filled: Database
) -> None:
    found = filled.run(compare(Comment.primary.within("P").eq(5), "b"))
    expected = [(5, name) for name in "abc" if holds(name, "b")]
    assert [(one.number, one.comment_id) for one in found] == expected


@comparisons
@pytest.mark.parametrize("bound", [1, 4, 6, 28])
def test_a_comparison_on_a_local_index(
    compare: Compare, holds: Holds, bound: int, filled: Database
) -> None:
    expected = [n for n in range(1, 13) if n % 3 and holds(n, bound)]
    assert numbers(filled.run(compare(Task.by_due("P"), date(2026, 2, bound)))) == expected


@comparisons
@pytest.mark.parametrize("bound", [0, 3, 4, 30])
def test_a_comparison_on_a_global_index_that_others_are_in(
    compare: Compare, holds: Holds, bound: int, filled: Database
) -> None:
    expected = [n for n in range(1, 13, 2) if holds(n, bound)]
    found = filled.run(compare(Task.assigned("ann"), MONDAY + timedelta(hours=bound)))
    assert numbers(found) == expected


@comparisons
@pytest.mark.parametrize("bound", [-10, 9, 10, 50, 100])
def test_a_comparison_on_a_natural_number(
    compare: Compare, holds: Holds, bound: int, db: Database
) -> None:
    values = [-10, -9, 9, 10, 100]
    for at in values:
        db.run(put(Reading(station="S", at=at)))
    found = db.run(compare(Reading.primary.within("S"), bound))
    assert [one.at for one in found] == [at for at in values if holds(at, bound)]


@comparisons
@pytest.mark.parametrize("bound", [0, 9, 10, 50, 999])
def test_a_comparison_on_a_part_that_sorts_downwards(
    compare: Compare, holds: Holds, bound: int, db: Database
) -> None:
    scores = [0, 9, 10, 100, 999]
    for score in scores:
        db.run(put(Book(shelf="S", name=str(score), score=score)))
    found = db.run(compare(Book.by_score("S"), bound))
    assert [one.score for one in found] == [s for s in reversed(scores) if holds(s, bound)]


def test_between_holds_both_ends(filled: Database) -> None:
    assert numbers(filled.run(Task.primary.within("P").between(4, 7))) == [4, 5, 6, 7]


def test_between_on_a_part_that_sorts_downwards_takes_the_lower_value_first(db: Database) -> None:
    for score in (5, 50, 500):
        db.run(put(Book(shelf="S", name=str(score), score=score)))
    found = db.run(Book.by_score("S").between(5, 50))
    assert [one.score for one in found] == [50, 5]


def test_begins_with_a_text(db: Database) -> None:
    for name in ("a", "ab", "abc", "b", "a#b", "a$"):
        db.run(put(Book(shelf="S", name=name)))
        db.run(put(Leaf(shelf="S", name=name, number=1)))
    within = Book.primary.within("S")
    assert {one.name for one in db.run(within.begins_with("ab"))} == {"ab", "abc"}
    assert {one.name for one in db.run(within.begins_with("a#"))} == {"a#b"}
    assert {one.name for one in db.run(within.begins_with("a$"))} == {"a$"}


def test_begins_with_on_a_part_in_lower_case(db: Database) -> None:
    for name in ("Anna", "ANTON", "Bert"):
        db.run(put(Book(shelf="S", name=name)))
    assert [one.name for one in db.run(Book.by_name().begins_with("AN"))] == ["Anna", "ANTON"]


def test_begins_with_on_a_natural_text(db: Database) -> None:
    table = new_table("query_log", pk="stream", sk="line")

    class Line(Entity, table=table):
        stream: Attr[str] = attr()
        line: Attr[str] = attr()
        primary = key(stream, line)

    log = connect(":memory:", table)
    for line in ("x", "x#1", "y"):
        log.run(put(Line(stream="s", line=line)))
    found = log.run(Line.primary.within("s").begins_with("x"))
    assert [one.line for one in found] == ["x", "x#1"]


def test_begins_with_is_for_texts() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.primary: number is not a text"):
        Task.primary.within("P").begins_with("00")  # type: ignore[call-overload]


def test_begins_with_when_every_part_is_bound_is_refused() -> None:
    with pytest.raises(DeclarationError, match="every part is bound"):
        Comment.primary.within("P").eq(1, "a").begins_with("a")  # type: ignore[call-overload, misc]


def test_a_comparison_when_every_part_is_bound_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.primary: every part is bound"):
        Task.primary.within("P").eq(1).gte(2)  # type: ignore[arg-type, misc]


def test_a_range_on_free_text_with_more_behind_it_is_refused() -> None:
    with pytest.raises(
        DeclarationError, match=r"Leaf\.primary: name is text followed by other parts"
    ):
        Leaf.primary.within("S").gte("a")


def test_a_time_cut_to_its_day_is_asked_for_by_the_day(db: Database) -> None:
    for hour in (0, 23, 24, 47, 48):
        at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(hours=hour)
        db.run(put(Entry(author="A", word=f"{hour:02d}", at=at)))
    tuesday = date(2026, 1, 6)
    assert [e.word for e in db.run(Entry.by_day("A").eq(tuesday))] == ["24", "47"]
    assert [e.word for e in db.run(Entry.by_day("A").gt(tuesday))] == ["48"]
    assert [e.word for e in db.run(Entry.by_day("A").lte(tuesday))] == ["00", "23", "24", "47"]
    assert [e.word for e in db.run(Entry.by_day("A").lt(tuesday))] == ["00", "23"]


# Characters around the delimiter: they sort below it, are it, or escape it.
awkward = st.text(alphabet=' !"#$%a~é\U0001f600', min_size=1, max_size=4)


def test_ranges_of_free_text_are_ranges_of_the_texts() -> None:
    """In a partition of its own, and in one that it shares with what is below it."""
    fresh = itertools.count()
    with connect(":memory:", Diary, Shelf) as db:

        @examples(60)
        @given(words=st.sets(awkward, min_size=1, max_size=8), bound=awkward)
        def check(words: set[str], bound: str) -> None:
            name = f"partition {next(fresh)}"
            for word in words:
                db.run(put(Entry(author=name, word=word, at=MONDAY)))
                db.run(put(Book(shelf=name, name=word)))
                db.run(put(Leaf(shelf=name, name=word, number=1)))
            for _, compare, holds in COMPARISONS:
                expected = sorted(word for word in words if holds(word, bound))
                alone = db.run(compare(Entry.primary.within(name), bound))
                assert [one.word for one in alone] == expected
                shared = db.run(compare(Book.primary.within(name), bound))
                # Behind a text comes `#` or nothing, so this order is the order of the texts too.
                assert [one.name for one in shared] == expected
            begun = sorted(word for word in words if word.startswith(bound))
            assert [e.word for e in db.run(Entry.primary.within(name).begins_with(bound))] == begun
            assert [b.name for b in db.run(Book.primary.within(name).begins_with(bound))] == begun
            below = db.run(Leaf.primary.within(name).eq(bound))
            assert [one.name for one in below] == [bound] * (bound in words)

        check()


# -- one comparison --------------------------------------------------------------------------------


COMPARED: list[Callable[[Any], Any]] = [
    lambda tasks: tasks.gte(3),
    lambda tasks: tasks.gt(3),
    lambda tasks: tasks.lte(3),
    lambda tasks: tasks.lt(3),
    lambda tasks: tasks.between(3, 5),
]


@pytest.mark.parametrize("second", COMPARED)
@pytest.mark.parametrize("first", COMPARED)
def test_a_second_comparison_is_refused(first: Any, second: Any) -> None:
    with pytest.raises(DeclarationError, match=r"Task\.primary: .*once; .* between\(low, high\)"):
        second(first(Task.primary.within("P")))


def test_a_text_that_begins_with_something_is_not_compared_as_well() -> None:
    found: Any = Book.by_name().begins_with("a")
    with pytest.raises(DeclarationError, match="once"):
        found.gte("b")


# -- between what is stored ------------------------------------------------------------------------


class Grade(Enum):
    """Its members have no order of their own."""

    LOW = "a"
    MIDDLE = "b"
    HIGH = "c"


class Exams(Table, name="query_exams"):
    names = GSI("GSI1PK", "GSI1SK")
    months = GSI("GSI2PK", "GSI2SK")


class Exam(Entity, table=Exams):
    subject: Attr[str] = attr()
    grade: Attr[Grade] = attr()
    name: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("SUBJECT" / subject, "GRADE" / grade)
    by_name = index(Exams.names, "SUBJECT" / subject, "NAME" / lower(name))
    by_month = index(Exams.months, "SUBJECT" / subject, "MONTH" / year_month(at))


@pytest.fixture
def exams(engine: Engine) -> Database:
    db = connect(engine, Exams)
    for number, (grade, name) in enumerate(zip(Grade, ("Ann", "bob", "Cid"), strict=True), 1):
        at = datetime(2026, number, 20, tzinfo=UTC)
        db.run(create(Exam(subject="S", grade=grade, name=name, at=at)))
    return db


def test_between_members_of_an_enum_compares_their_values(exams: Database) -> None:
    found = exams.run(Exam.primary.within("S").between(Grade.LOW, Grade.MIDDLE))
    assert [exam.grade for exam in found] == [Grade.LOW, Grade.MIDDLE]


def test_between_texts_in_lower_case_compares_them_in_lower_case(exams: Database) -> None:
    found = exams.run(Exam.by_name("S").between("ann", "Bob"))
    assert [exam.name for exam in found] == ["Ann", "bob"]


def test_between_months_compares_the_months_of_the_days(exams: Database) -> None:
    found = exams.run(Exam.by_month("S").between(date(2026, 2, 25), date(2026, 2, 1)))
    assert [exam.at.month for exam in found] == [2]


@pytest.mark.parametrize(
    "plan",
    [
        lambda: Exam.primary.within("S").between(Grade.HIGH, Grade.LOW),
        lambda: Exam.by_name("S").between("B", "a"),
        lambda: Exam.by_month("S").between(date(2026, 2, 1), date(2026, 1, 31)),
    ],
    ids=["an enum", "in lower case", "months"],
)
def test_between_bounds_that_are_stored_the_other_way_round_is_refused(
    plan: Callable[[], Any],
) -> None:
    with pytest.raises(InvalidValue, match="exceeds the upper bound"):
        plan()
