"""Ranges of a partition: on the table, on its indexes, in order, filtered, selected, counted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tablewright import (
    GSI,
    LSI,
    Attr,
    Database,
    Engine,
    Entity,
    Query,
    Table,
    attr,
    connect,
    create,
    day,
    descending,
    epoch_seconds,
    index,
    key,
    lower,
    put,
    unique,
    update,
    year_month,
)
from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.plan.reads.query_request import QueryRequest


class Desk(Table, name="query_desk", type_attribute="kind"):
    by_due = LSI("LSI1SK")
    timeline = GSI("GSI1PK", "GSI1SK")
    reverse = GSI("SK", "PK")
    lookup = GSI("id", "kind", project="KEYS_ONLY")
    titles = GSI("GSI2PK", "GSI2SK", project=("title", "details"))
    urgent = GSI("GSI3PK", "GSI3SK")


class Step(BaseModel):
    name: str
    note: str | None = None


@dataclass
class Details:
    color: str
    steps: list[Step]
    size: int | None = None


class Task(Entity, table=Desk):
    task_id: Attr[str] = attr(name="id")
    project: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    title: Attr[str] = attr(default="untitled")
    created_at: Attr[datetime] = attr(name="createdAt")
    due: Attr[date | None] = attr(default=None)
    assignee: Attr[str | None] = attr(default=None)
    priority: Attr[int] = attr(default=0)
    details: Attr[Details | None] = attr(default=None)
    tags: Attr[list[str]] = attr(default_factory=list)

    primary = key("PROJECT" / project, "TASK" / number)
    by_due = primary.local(Desk.by_due, "DUE" / due)
    assigned = index(Desk.timeline, "ASSIGNEE" / assignee, "TASK" / created_at / number)
    swapped = primary.swapped(Desk.reverse)
    by_id = index(Desk.lookup, task_id)
    titles = index(Desk.titles, "TITLES" / project, "TASK" / number)
    urgent = index(Desk.urgent, "URGENT", "TASK" / created_at, when=priority >= 5)


class Comment(Entity, table=Desk):
    """Shares the beginning of its sort key with Task."""

    comment_id: Attr[str] = attr()
    project: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    text: Attr[str] = attr(default="")
    by: Attr[str | None] = attr(default=None)
    at: Attr[datetime | None] = attr(default=None)
    primary = key("PROJECT" / project, "TASK" / number / "COMMENT" / comment_id)
    assigned = index(Desk.timeline, "ASSIGNEE" / by, "COMMENT" / at)
    titles = index(Desk.titles, "TITLES" / project, "TASK" / number / "COMMENT" / comment_id)


class Weather(Table, name="query_weather", pk="station", sk="at", type_attribute=None):
    by_kind = GSI("kind", "value")


class Reading(Entity, table=Weather):
    station: Attr[str] = attr()
    at: Attr[int] = attr()
    kind: Attr[str | None] = attr(default=None)
    value: Attr[int] = attr(default=0)
    primary = key(station, at)
    by_kind = index(Weather.by_kind, kind, value)


class Shelf(Table, name="query_shelf", type_attribute=None):
    ranks = GSI("GSI1PK", "GSI1SK")
    names = GSI("GSI2PK", "GSI2SK")


class Book(Entity, table=Shelf):
    shelf: Attr[str] = attr()
    name: Attr[str] = attr()
    score: Attr[int] = attr(pad=3, default=0)
    at: Attr[datetime | None] = attr(default=None)
    primary = key("SHELF" / shelf, "BOOK" / name)
    by_score = index(Shelf.ranks, "SHELF" / shelf, descending(score))
    by_name = index(Shelf.names, "BOOKS", lower(name))


class Leaf(Entity, table=Shelf):
    shelf: Attr[str] = attr()
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    body: Attr[str] = attr(default="")
    primary = key("SHELF" / shelf, "BOOK" / name / "PAGE" / number)


class Diary(Table, name="query_diary"):
    days = GSI("GSI1PK", "GSI1SK")
    seconds = GSI("GSI2PK", "GSI2SK")


class Entry(Entity, table=Diary):
    """Alone in its table: no bound is needed to keep others out."""

    author: Attr[str] = attr()
    word: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("AUTHOR" / author, "WORD" / word)
    by_day = index(Diary.days, "AUTHOR" / author, "DAY" / day(at) / word)
    by_second = index(Diary.seconds, "AUTHOR" / author, "AT" / epoch_seconds(at))


MONDAY = datetime(2026, 1, 5, 8, tzinfo=UTC)


def task(number: int, project: str = "P", **values: Any) -> Task:
    values.setdefault("created_at", MONDAY + timedelta(hours=number))
    return Task(task_id=f"{project}-{number}", project=project, number=number, **values)


def comment(number: int, comment_id: str, **values: Any) -> Comment:
    return Comment(project="P", number=number, comment_id=comment_id, **values)


def numbers(tasks: Any) -> list[int]:
    return [one.number for one in tasks]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Desk, Weather, Shelf, Diary)


@pytest.fixture
def filled(db: Database) -> Database:
    """Twelve tasks with three comments each, and a task of another project."""
    for number in range(1, 13):
        created = task(
            number,
            due=None if number % 3 == 0 else date(2026, 2, number),
            assignee="ann" if number % 2 else None,
            priority=number,
        )
        db.run(create(created))
        for name in "abc":
            db.run(create(comment(number, name, by="ann", at=MONDAY + timedelta(hours=number))))
    db.run(create(task(1, project="Q")))
    return db


def body_of(plan: Query[Any], db: Database) -> dict[str, Any]:
    request = next(plan._steps(db._context))
    assert isinstance(request, QueryRequest)
    return request.body


# -- where it reads ------------------------------------------------------------------------------


def test_a_partition_gives_the_items_of_the_entity_in_the_order_of_the_sort_key(
    filled: Database,
) -> None:
    assert numbers(filled.run(Task.primary.within("P"))) == list(range(1, 13))


def test_a_partition_that_is_empty_is_an_empty_page(filled: Database) -> None:
    page = filled.run(Task.primary.within("none"))
    assert list(page) == []
    assert page.next_cursor is None


def test_a_part_that_is_bound_narrows_the_range_to_what_is_below_it(filled: Database) -> None:
    found = filled.run(Comment.primary.within("P").eq(1))
    assert [one.comment_id for one in found] == ["a", "b", "c"]
    assert {one.number for one in found} == {1}


def test_all_parts_bound_give_that_one_item(filled: Database) -> None:
    found = filled.run(Comment.primary.within("P").eq(1, "b"))
    assert [(one.number, one.comment_id) for one in found] == [(1, "b")]


def test_a_local_index_holds_the_partition_in_another_order(filled: Database) -> None:
    found = filled.run(Task.by_due("P"))
    assert numbers(found) == [1, 2, 4, 5, 7, 8, 10, 11]
    assert [one.due for one in found] == sorted(one.due for one in found if one.due)


def test_a_global_index_is_queried_by_its_own_partition(filled: Database) -> None:
    assert numbers(filled.run(Task.assigned("ann"))) == [1, 3, 5, 7, 9, 11]


def test_a_swapped_index_is_queried_by_the_sort_key(filled: Database) -> None:
    found = filled.run(Task.swapped(1))
    assert [(one.project, one.number) for one in found] == [("P", 1), ("Q", 1)]
    assert [one.project for one in filled.run(Task.swapped(1).gte("Q"))] == ["Q"]


def test_an_index_of_an_id_and_the_type_finds_the_one_item(filled: Database) -> None:
    found = filled.run(Task.by_id("P-3").select(Task.task_id))
    assert list(found) == [("P-3",)]
    condition = Task.by_id("P-3").select(Task.task_id)._shape().condition
    assert condition == 'id="P-3" AND kind="Task"'


def test_natural_keys_are_queried_as_they_are_stored(db: Database) -> None:
    for at in (9, 10, 100, -1):
        db.run(put(Reading(station="S#1", at=at, kind="rain", value=at * 2)))
    assert [one.at for one in db.run(Reading.primary.within("S#1"))] == [-1, 9, 10, 100]
    assert [one.value for one in db.run(Reading.by_kind("rain").gt(18))] == [20, 200]


def test_too_few_values_for_a_partition_are_refused_by_name() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.primary takes project; 0 values were given"):
        Task.primary.within()  # type: ignore[call-arg]


def test_too_many_values_for_a_partition_say_where_the_others_go() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.assigned takes assignee here.* with eq\(\)"):
        Task.assigned("ann", MONDAY)  # type: ignore[call-arg]


def test_more_values_than_a_sort_key_has_parts_are_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Comment\.primary takes at most 3 values"):
        Comment.primary.within("P").eq(1, "a", "x")  # type: ignore[call-overload]


# -- comparisons ---------------------------------------------------------------------------------

Compare = Callable[[Any, Any], Query[Any]]
Holds = Callable[[Any, Any], bool]

COMPARISONS: list[tuple[str, Compare, Holds]] = [
    ("eq", lambda range_, value: range_.eq(value), lambda v, bound: v == bound),
    ("gte", lambda range_, value: range_.gte(value), lambda v, bound: v >= bound),
    ("gt", lambda range_, value: range_.gt(value), lambda v, bound: v > bound),
    ("lte", lambda range_, value: range_.lte(value), lambda v, bound: v <= bound),
    ("lt", lambda range_, value: range_.lt(value), lambda v, bound: v < bound),
    ("between", lambda range_, value: range_.between(value, value), lambda v, bound: v == bound),
]
comparisons = pytest.mark.parametrize(
    ("compare", "holds"), [pytest.param(c, h, id=name) for name, c, h in COMPARISONS]
)


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
    class Log(Table, name="query_log", pk="stream", sk="line"): ...

    class Line(Entity, table=Log):
        stream: Attr[str] = attr()
        line: Attr[str] = attr()
        primary = key(stream, line)

    log = connect(":memory:", Log)
    for line in ("x", "x#1", "y"):
        log.run(put(Line(stream="s", line=line)))
    found = log.run(Line.primary.within("s").begins_with("x"))
    assert [one.line for one in found] == ["x", "x#1"]


def test_begins_with_is_for_texts() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.primary: number is not a text"):
        Task.primary.within("P").begins_with("00")  # type: ignore[arg-type]


def test_begins_with_when_every_part_is_bound_is_refused() -> None:
    with pytest.raises(DeclarationError, match="every part is bound"):
        Comment.primary.within("P").eq(1, "a").begins_with("a")  # type: ignore[arg-type, misc]


def test_a_comparison_when_every_part_is_bound_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.primary: every part is bound"):
        Task.primary.within("P").eq(1).gte(2)  # type: ignore[arg-type, misc]


def test_a_range_on_free_text_with_more_behind_it_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Leaf\.primary: name is text with more behind it"):
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

        @settings(max_examples=60)
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


# -- order, limit, first -------------------------------------------------------------------------


def test_desc_reverses_the_order(filled: Database) -> None:
    assert numbers(filled.run(Task.primary.within("P").desc())) == list(range(12, 0, -1))


def test_asc_restores_the_order(filled: Database) -> None:
    plan = Task.primary.within("P").desc().asc()
    assert numbers(filled.run(plan)) == list(range(1, 13))


def test_a_limit_is_the_size_of_a_page(filled: Database) -> None:
    page = filled.run(Task.assigned("ann").page_size(4))
    assert numbers(page) == [1, 3, 5, 7]
    assert page.next_cursor is not None


def test_a_limit_above_what_there_is_gives_all_and_no_cursor(filled: Database) -> None:
    page = filled.run(Task.assigned("ann").page_size(100))
    assert len(page) == 6
    assert page.next_cursor is None


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "3", None])
def test_a_limit_that_is_no_count_is_refused(size: Any) -> None:
    with pytest.raises(InvalidValue, match=r"page_size\(.*\): give a whole number, at least 1"):
        Task.primary.within("P").page_size(size)


@pytest.mark.parametrize("size", range(1, 14))
def test_pages_are_full_in_a_partition_that_others_share(size: int, filled: Database) -> None:
    page = filled.run(Task.primary.within("P").page_size(size))
    assert numbers(page) == list(range(1, 13))[:size]


def test_a_page_is_full_where_hundreds_of_others_come_first(db: Database) -> None:
    for number in range(1, 4):
        for name in range(120):
            db.run(create(comment(number, f"{name:03d}")))
        db.run(create(task(number)))
    assert numbers(db.run(Task.primary.within("P").page_size(3))) == [1, 2, 3]
    assert numbers(db.run(Task.primary.within("P").desc().page_size(3))) == [3, 2, 1]


def test_first_gives_the_first_or_none(filled: Database) -> None:
    first = filled.run(Task.primary.within("P").first())
    assert first is not None
    assert first.number == 1
    last = filled.run(Task.primary.within("P").desc().first())
    assert last is not None
    assert last.number == 12
    assert filled.run(Task.primary.within("none").first()) is None


def test_first_reads_on_until_the_filter_lets_one_through(filled: Database) -> None:
    found = filled.run(Task.primary.within("P").filter(Task.priority > 11).first())
    assert found is not None
    assert found.number == 12


def test_a_plan_is_left_as_it_was_by_everything_asked_of_it(filled: Database) -> None:
    plan = Task.primary.within("P")
    before = body_of(plan, filled)
    plan.desc().page_size(2).filter(Task.priority > 3).consistent().select(Task.title)
    assert body_of(plan, filled) == before


def test_a_page_is_a_sequence(filled: Database) -> None:
    page = filled.run(Task.assigned("ann").page_size(3))
    assert len(page) == 3
    assert page[0].number == 1
    assert numbers(page[1:]) == [3, 5]
    assert page == list(page)
    assert page[0] in page


# -- filter --------------------------------------------------------------------------------------


def test_a_filter_leaves_out_what_does_not_meet_it(filled: Database) -> None:
    plan = Task.primary.within("P").filter(Task.priority >= 10)
    assert numbers(filled.run(plan)) == [10, 11, 12]


def test_filters_add_up(filled: Database) -> None:
    plan = Task.primary.within("P").filter(Task.priority >= 5).filter(Task.priority < 7)
    assert numbers(filled.run(plan)) == [5, 6]


def test_conditions_combine_in_a_filter(filled: Database) -> None:
    either = (Task.priority == 2) | (Task.priority == 4)
    plan = Task.primary.within("P").filter(either & ~(Task.priority == 4))
    assert numbers(filled.run(plan)) == [2]
    turned = Task.primary.within("P").filter(~either & (Task.priority < 6))
    assert numbers(filled.run(turned)) == [1, 3, 5]


FILTERS: list[tuple[Any, list[int]]] = [
    (Task.title == "one", [1]),
    (Task.title != "one", [2, 3]),
    (Task.title.begins_with("t"), [2, 3]),
    (Task.title.contains("re"), [3]),
    (Task.title.in_(["one", "two", "four"]), [1, 2]),
    (Task.title.between("p", "u"), [2, 3]),
    (Task.assignee.exists(), [1]),
    (Task.assignee.not_exists(), [2, 3]),
    (Task.assignee == None, [2, 3]),  # noqa: E711  # as SQLAlchemy's columns
    (Task.assignee != None, [1]),  # noqa: E711
    (Task.tags.contains("x"), [1, 2]),
    (Task.created_at > MONDAY + timedelta(hours=2), [3]),
    (Task.due <= date(2026, 2, 1), [1]),
    (Task.details.path(lambda d: d.color) == "red", [1]),
    (Task.details.path(lambda d: d.steps[0].name) == "cut", [1]),
]


@pytest.mark.parametrize(("condition", "expected"), FILTERS, ids=[repr(c) for c, _ in FILTERS])
def test_each_condition_filters(condition: Any, expected: list[int], db: Database) -> None:
    details = Details("red", [Step(name="cut")])
    db.run(create(task(1, title="one", assignee="ann", tags=["x", "y"], details=details)))
    db.run(create(task(2, title="two", tags=["x"], due=date(2026, 2, 2))))
    db.run(create(task(3, title="three")))
    db.run(update(task(1), Task.due.set(date(2026, 2, 1))))
    assert numbers(db.run(Task.primary.within("P").filter(condition))) == expected


def test_a_limit_counts_what_the_filter_lets_through(filled: Database) -> None:
    page = filled.run(Task.primary.within("P").filter(Task.priority > 6).page_size(4))
    assert numbers(page) == [7, 8, 9, 10]


def test_an_attribute_that_a_key_is_composed_of_can_be_filtered(filled: Database) -> None:
    """It is stored beside the key, so DynamoDB may look at it."""
    plan = Task.assigned("ann").filter(Task.number > 5)
    assert numbers(filled.run(plan)) == [7, 9, 11]


@pytest.mark.parametrize("condition", [Reading.at > 5, Reading.station == "S", ~(Reading.at == 1)])
def test_a_filter_on_a_key_attribute_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"Reading\.primary: filter\(.*is part of the key"):
        Reading.primary.within("S").filter(condition)


def test_the_keys_of_the_table_can_be_filtered_in_an_index(db: Database) -> None:
    for at in (1, 2, 3):
        db.run(put(Reading(station="S", at=at, kind="rain", value=at)))
    found = db.run(Reading.by_kind("rain").filter(Reading.at >= 2))
    assert [one.at for one in found] == [2, 3]
    with pytest.raises(DeclarationError, match="'value' is part of the key"):
        Reading.by_kind("rain").filter(Reading.value > 1)


def test_a_condition_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match=r"combine conditions with & \| ~"):
        Task.primary.within("P").filter((Task.priority > 1) and (Task.priority < 3))


# -- select --------------------------------------------------------------------------------------


def test_select_gives_tuples_of_typed_values(filled: Database) -> None:
    page = filled.run(Task.primary.within("P").page_size(2).select(Task.number, Task.created_at))
    assert list(page) == [(1, MONDAY + timedelta(hours=1)), (2, MONDAY + timedelta(hours=2))]


def test_select_has_only_what_is_asked_for_and_the_keys_travel(filled: Database) -> None:
    body = body_of(Task.primary.within("P").select(Task.title), filled)
    names = set(body["ExpressionAttributeNames"].values())
    assert "priority" not in names
    assert {"title", "PK", "SK", "kind"} == names


def test_select_gives_none_for_an_optional_value_that_is_absent(filled: Database) -> None:
    page = filled.run(Task.primary.within("P").page_size(3).select(Task.number, Task.due))
    assert list(page) == [(1, date(2026, 2, 1)), (2, date(2026, 2, 2)), (3, None)]


def test_select_of_an_absent_attribute_gives_its_default_as_a_whole_read_does(
    db: Database, engine: Engine
) -> None:
    db.run(create(task(1)))
    _remove(engine, task(1), "title", "tags")
    whole = db.run(Task.primary("P", 1))
    assert whole is not None
    selected = db.run(Task.primary.within("P").select(Task.title, Task.tags))
    assert list(selected) == [(whole.title, whole.tags)] == [("untitled", [])]


def test_select_of_an_absent_attribute_without_default_names_it(
    db: Database, engine: Engine
) -> None:
    db.run(create(task(1)))
    _remove(engine, task(1), "createdAt")
    with pytest.raises(
        UnreadableItem, match=r"Task\.created_at: the stored item has no 'createdAt'"
    ):
        db.run(Task.primary.within("P").select(Task.created_at))


def test_select_of_places_inside_of_a_document(db: Database) -> None:
    steps = [Step(name="cut"), Step(name="glue", note="slowly")]
    db.run(create(task(1, details=Details("red", steps, size=4))))
    color = Task.details.path(lambda d: d.color)
    size = Task.details.path(lambda d: d.size)
    assert list(db.run(Task.primary.within("P").select(color, size, Task.number))) == [
        ("red", 4, 1)
    ]


def test_select_of_a_member_of_a_list(db: Database) -> None:
    """DynamoDB answers with a list of the asked members alone."""
    db.run(create(task(1, tags=["a", "b", "c"])))
    tags = [Task.tags.path(lambda t, n=n: t[n]) for n in range(3)]  # type: ignore[misc]
    assert list(db.run(Task.primary.within("P").select(tags[0]))) == [("a",)]
    assert list(db.run(Task.primary.within("P").select(tags[1]))) == [("b",)]
    assert list(db.run(Task.primary.within("P").select(tags[2], tags[0]))) == [("c", "a")]


def test_select_of_an_attribute_and_of_a_place_inside_of_it(db: Database) -> None:
    details = Details("red", [])
    db.run(create(task(1, details=details)))
    color = Task.details.path(lambda d: d.color)
    page = db.run(Task.primary.within("P").select(Task.details, color))
    assert list(page) == [(details, "red")]


def test_select_of_an_optional_place_that_is_absent_gives_none(db: Database) -> None:
    db.run(create(task(1, details=Details("red", []))))
    size = Task.details.path(lambda d: d.size)
    assert list(db.run(Task.primary.within("P").select(size))) == [(None,)]


def test_select_of_one_attribute_twice(filled: Database) -> None:
    page = filled.run(Task.primary.within("P").page_size(1).select(Task.number, Task.number))
    assert list(page) == [(1, 1)]


def test_select_in_a_shared_partition_gives_the_asked_entity_only(filled: Database) -> None:
    page = filled.run(Task.primary.within("P").select(Task.number))
    assert list(page) == [(number,) for number in range(1, 13)]


def test_select_without_a_type_attribute_gives_the_asked_entity_only(db: Database) -> None:
    db.run(put(Book(shelf="S", name="a")))
    db.run(put(Leaf(shelf="S", name="a", number=1)))
    assert list(db.run(Book.primary.within("S").select(Book.name))) == [("a",)]


def test_select_of_natural_keys(db: Database) -> None:
    db.run(put(Reading(station="S", at=3, value=4)))
    page = db.run(Reading.primary.within("S").select(Reading.value, Reading.at))
    assert list(page) == [(4, 3)]


def test_first_and_count_of_a_selection(filled: Database) -> None:
    plan = Task.primary.within("P").select(Task.title, Task.number)
    assert filled.run(plan.desc().first()) == ("untitled", 12)
    assert filled.run(plan.count()) == 12


# -- indexes that do not hold everything ---------------------------------------------------------


def test_an_index_that_does_not_hold_an_attribute_refuses_the_whole_entity(
    filled: Database,
) -> None:
    with pytest.raises(
        DeclarationError, match=r"Task\.titles: the index titles does not hold .*due"
    ):
        filled.run(Task.titles("P"))
    with pytest.raises(
        DeclarationError, match=r"Task\.by_id: the index lookup does not hold project"
    ):
        filled.run(Task.by_id("P-1"))


def test_an_index_that_does_not_hold_a_column_refuses_it(filled: Database) -> None:
    with pytest.raises(
        DeclarationError, match=r"does not hold priority; select\(…\) what it holds"
    ):
        filled.run(Task.titles("P").select(Task.title, Task.priority))


def test_an_index_that_includes_an_attribute_gives_it_for_the_asked_entity(
    filled: Database,
) -> None:
    """The index is shared with comments, and holds no type to filter by."""
    page = filled.run(Task.titles("P").page_size(3).select(Task.title))
    assert list(page) == [("untitled",)] * 3
    assert len(list(filled.iterate(Task.titles("P").select(Task.title)))) == 12


def test_an_index_that_includes_a_document_gives_places_inside_of_it(db: Database) -> None:
    db.run(create(task(1, details=Details("red", []))))
    color = Task.details.path(lambda d: d.color)
    assert list(db.run(Task.titles("P").select(color))) == [("red",)]


def test_an_index_of_keys_gives_its_keys(filled: Database) -> None:
    assert list(filled.run(Task.by_id("P-2").select(Task.task_id))) == [("P-2",)]


def test_a_filter_on_what_the_index_does_not_hold_is_refused(filled: Database) -> None:
    """As a column is: before a request leaves, and when a pattern is defined."""
    with pytest.raises(
        DeclarationError, match=r"Task\.titles: filter\(.*\): .* not hold 'priority'"
    ):
        filled.run(Task.titles("P").filter(Task.priority > 3).select(Task.title))


def test_a_count_needs_nothing_of_the_index_but_its_keys(filled: Database) -> None:
    assert filled.run(Task.by_id("P-2").count()) == 1
    assert filled.run(Task.titles("P").count()) == 12


# -- count ---------------------------------------------------------------------------------------


def test_a_count_counts_the_asked_entity_only(filled: Database) -> None:
    assert filled.run(Task.primary.within("P").count()) == 12
    assert filled.run(Comment.primary.within("P").count()) == 36
    assert filled.run(Comment.primary.within("P").eq(3).count()) == 3
    assert filled.run(Task.assigned("ann").count()) == 6
    assert filled.run(Task.primary.within("none").count()) == 0


def test_a_count_without_a_type_attribute_counts_the_asked_entity_only(db: Database) -> None:
    for name in "abc":
        db.run(put(Book(shelf="S", name=name)))
        for number in range(4):
            db.run(put(Leaf(shelf="S", name=name, number=number)))
    assert db.run(Book.primary.within("S").count()) == 3
    assert db.run(Leaf.primary.within("S").count()) == 12
    assert db.run(Book.primary.within("S").gt("a").count()) == 2


@comparisons
def test_a_count_is_the_length_of_what_a_query_gives(
    compare: Compare, holds: Holds, filled: Database
) -> None:
    plan = compare(Task.primary.within("P"), 5)
    assert filled.run(plan.count()) == len(list(filled.iterate(plan)))


def test_a_count_takes_no_notice_of_the_limit_and_keeps_the_filter(filled: Database) -> None:
    plan = Task.primary.within("P").filter(Task.priority > 6)
    assert filled.run(plan.page_size(2).count()) == 6


def test_more_than_a_megabyte_is_counted_and_read_to_the_end(db: Database, engine: Engine) -> None:
    body = "x" * 100_000
    for number in range(25):
        db.run(put(Leaf(shelf="S", name="a", number=number, body=body)))
        db.run(put(Book(shelf="S", name=f"b{number:03d}")))
    first = engine.call(
        "Query",
        {
            "TableName": "query_shelf",
            "KeyConditionExpression": "PK = :p",
            "ExpressionAttributeValues": {":p": {"S": "SHELF#S"}},
        },
    )
    assert "LastEvaluatedKey" in first
    assert db.run(Leaf.primary.within("S").count()) == 25
    assert db.run(Book.primary.within("S").count()) == 25
    assert [one.number for one in db.iterate(Leaf.primary.within("S"))] == list(range(25))
    assert len(db.run(Book.primary.within("S").page_size(25))) == 25


def test_a_megabyte_of_typed_items_is_counted_to_the_end(db: Database) -> None:
    for number in range(1, 22):
        db.run(create(task(number, title="x" * 100_000)))
        db.run(create(comment(number, "a")))
    assert db.run(Task.primary.within("P").count()) == 21
    assert db.run(Task.by_due("P").count()) == 0
    assert numbers(db.iterate(Task.primary.within("P"))) == list(range(1, 22))


# -- consistent ----------------------------------------------------------------------------------


def test_a_table_and_a_local_index_can_be_read_consistently(filled: Database) -> None:
    assert body_of(Task.primary.within("P").consistent(), filled)["ConsistentRead"] is True
    assert numbers(filled.run(Task.by_due("P").consistent().page_size(2))) == [1, 2]


@pytest.mark.parametrize(
    "plan", [Task.assigned("ann"), Task.swapped(1), Task.by_id("x"), Task.urgent()]
)
def test_a_global_index_cannot_be_read_consistently(plan: Query[Any]) -> None:
    with pytest.raises(
        DeclarationError, match="a global secondary index cannot be read consistently"
    ):
        plan.consistent()


# -- sparse indexes ------------------------------------------------------------------------------


def test_an_item_without_a_part_is_not_in_the_index(db: Database) -> None:
    db.run(create(task(1)))
    db.run(create(task(2, assignee="ann", due=date(2026, 2, 2))))
    assert numbers(db.run(Task.assigned("ann"))) == [2]
    assert numbers(db.run(Task.by_due("P"))) == [2]
    db.run(Task.primary("P", 2).update(Task.assignee.set(None), Task.due.remove()))
    assert numbers(db.run(Task.assigned("ann"))) == []
    assert numbers(db.run(Task.by_due("P"))) == []


def test_an_item_is_in_an_index_while_its_condition_holds(db: Database, engine: Engine) -> None:
    db.run(create(task(1, priority=4)))
    db.run(create(task(2, priority=5)))
    assert numbers(db.run(Task.urgent())) == [2]
    db.run(Task.primary("P", 1).update(Task.priority.set(9)))
    db.run(Task.primary("P", 2).update(Task.priority.increment(-1)))
    assert numbers(db.run(Task.urgent())) == [1]
    items = engine.call("Scan", {"TableName": "query_desk"})["Items"]
    assert [item["id"]["S"] for item in items if "GSI3PK" in item] == ["P-1"]
    assert engine.check().problems == []


# -- what others wrote ---------------------------------------------------------------------------


def _key(item: Task) -> dict[str, Any]:
    return {"PK": {"S": f"PROJECT#{item.project}"}, "SK": {"S": f"TASK#{item.number:04d}"}}


def _remove(engine: Engine, item: Task, *names: str) -> None:
    request = {
        "TableName": "query_desk",
        "Key": _key(item),
        "UpdateExpression": "REMOVE " + ", ".join(f"#{n}" for n, _ in enumerate(names)),
        "ExpressionAttributeNames": {f"#{n}": name for n, name in enumerate(names)},
    }
    engine.call("UpdateItem", request)


def _set(engine: Engine, item: Task, name: str, value: dict[str, Any]) -> None:
    request = {
        "TableName": "query_desk",
        "Key": _key(item),
        "UpdateExpression": "SET #0 = :0",
        "ExpressionAttributeNames": {"#0": name},
        "ExpressionAttributeValues": {":0": value},
    }
    engine.call("UpdateItem", request)


PLANS: list[Any] = [
    Task.primary.within("P"),
    Task.primary.within("P").page_size(5),
    Task.primary.within("P").eq(1),
    Task.urgent(),
    Task.swapped(1),
]
plans = pytest.mark.parametrize("plan", PLANS, ids=["table", "page", "one", "gsi", "swapped"])


@plans
def test_attributes_that_the_entity_does_not_know_are_passed_over(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    _set(engine, task(1), "color", {"M": {"deep": {"SS": ["x"]}}})
    assert list(db.run(plan)) == [task(1, priority=5)]


@plans
def test_absent_attributes_read_as_their_defaults(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5, tags=["x"])))
    _remove(engine, task(1), "title", "tags", "priority")
    assert list(db.run(plan)) == [task(1)]


@plans
def test_an_item_that_cannot_be_read_names_entity_attribute_and_value(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    _set(engine, task(1), "createdAt", {"S": "yesterday"})
    with pytest.raises(UnreadableItem, match=r"Task\.created_at: 'yesterday' cannot be read as"):
        db.run(plan)


@plans
def test_an_item_without_a_needed_attribute_names_it(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    _remove(engine, task(1), "createdAt")
    told = r"Task\.created_at: the stored item has no 'createdAt'"
    with pytest.raises(UnreadableItem, match=told):
        db.run(plan)


def test_items_of_a_type_that_nobody_declared_are_passed_over(
    filled: Database, engine: Engine
) -> None:
    strange = {"PK": {"S": "PROJECT#P"}, "SK": {"S": "TASK#0001#X#1"}, "kind": {"S": "Strange"}}
    engine.call("PutItem", {"TableName": "query_desk", "Item": strange})
    assert numbers(filled.run(Task.primary.within("P"))) == list(range(1, 13))
    assert filled.run(Task.primary.within("P").count()) == 12


def test_sentinels_in_the_partition_are_passed_over(db: Database) -> None:
    class Club(Table, name="query_club", type_attribute=None): ...

    class Member(Entity, table=Club):
        name: Attr[str] = attr()
        email: Attr[str] = attr()
        primary = key("CLUB", "MEMBER" / name)
        by_email = unique("CLUB" / email, "MEMBER" / email.again)

    class Guest(Entity, table=Club):
        name: Attr[str] = attr()
        nick: Attr[str] = attr()
        primary = key("GUESTS", "GUEST" / name)
        by_nick = unique("GUESTS" / nick, "NICK")

    club = connect(":memory:", Club)
    club.run(create(Member(name="ann", email="a@b")))
    club.run(create(Guest(name="bob", nick="b")))
    assert [one.name for one in club.run(Member.primary.within())] == ["ann"]
    assert [one.name for one in club.run(Guest.primary.within())] == ["bob"]


# -- one comparison ------------------------------------------------------------------------------

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


# -- between what is stored ----------------------------------------------------------------------


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
    with pytest.raises(InvalidValue, match="is above"):
        plan()


# -- what belongs to another entity --------------------------------------------------------------

TASKS = Task.primary.within("P")


OTHERS: Any = Comment.text == "x"


@pytest.mark.parametrize("condition", [OTHERS, (Task.priority > 1) & OTHERS])
def test_a_filter_on_an_attribute_of_another_entity_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"Comment\.text is not an attribute of Task"):
        TASKS.filter(condition)


@pytest.mark.parametrize("condition", [None, True, "priority > 1", Task.priority, Task])
def test_a_filter_that_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Task\."):
        TASKS.filter(condition)


def test_an_attribute_of_another_entity_cannot_be_selected() -> None:
    with pytest.raises(DeclarationError, match=r"Comment\.text is not an attribute of Task"):
        TASKS.select(Comment.text)  # type: ignore[arg-type]


@pytest.mark.parametrize("column", ["title", None, Task, Task.priority > 1])
def test_what_is_no_attribute_cannot_be_selected(column: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not an attribute; write Task\."):
        TASKS.select(column)
