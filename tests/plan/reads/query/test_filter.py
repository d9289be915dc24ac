"""Filters."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from tablewright import create, put, update
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.plan.reads import page_query
from tests.plan.reads.query.desk import MONDAY, Comment, Details, Reading, Step, Task, numbers, task

# -- filter ----------------------------------------------------------------------------------------


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


# -- what belongs to another entity ----------------------------------------------------------------


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


def test_a_page_that_its_requests_do_not_fill_is_short_and_has_a_cursor(
    filled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the cursor tells whether there is more."""
    monkeypatch.setattr(page_query, "MAX_REQUESTS", 2)
    plan = Task.primary.within("P").filter(Task.priority.in_([1, 12])).page_size(2)
    first = filled.run(plan)
    assert numbers(first) == [1]
    assert first.next_cursor is not None
    assert numbers(filled.iterate(plan)) == [1, 12]
