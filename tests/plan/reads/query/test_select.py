"""Selected attributes, and indexes that do not project all of them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from tablewright import Engine, create, put
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tests.plan.reads.query.desk import (
    MONDAY,
    Book,
    Details,
    Leaf,
    Reading,
    Step,
    Task,
    _remove,
    body_of,
    task,
)

# -- select ----------------------------------------------------------------------------------------


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
    plan = Task.primary.within("P").select(Task.created_at)
    (problem,) = db.run(plan.skip_unreadable()).unreadable
    assert "Task.created_at: the stored item has no 'createdAt'" in str(problem)
    with pytest.raises(UnreadableItem):
        db.run(plan)


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


# -- indexes that do not hold everything -----------------------------------------------------------


def test_an_index_that_does_not_hold_an_attribute_refuses_the_whole_entity(
    filled: Database,
) -> None:
    with pytest.raises(
        DeclarationError, match=r"Task\.titles: the index titles does not contain .*due"
    ):
        filled.run(Task.titles("P"))
    with pytest.raises(
        DeclarationError, match=r"Task\.by_id: the index lookup does not contain title"
    ):
        filled.run(Task.by_id("P-1"))


def test_an_index_that_does_not_hold_a_column_refuses_it(filled: Database) -> None:
    with pytest.raises(
        DeclarationError,
        match=r"does not contain priority; select\(…\) attributes that it contains",
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


def test_a_select_of_nothing_is_refused() -> None:
    anything: Any = Task.titles("P")
    with pytest.raises(InvalidValue, match=r"select\(\) needs at least one attribute"):
        anything.select()


def test_a_filter_on_what_the_index_does_not_hold_is_refused(filled: Database) -> None:
    """As a column is: before a request leaves, and when a pattern is defined."""
    with pytest.raises(
        DeclarationError, match=r"Task\.titles: filter\(.*\): .* not contain 'priority'"
    ):
        filled.run(Task.titles("P").filter(Task.priority > 3).select(Task.title))


def test_a_count_needs_nothing_of_the_index_but_its_keys(filled: Database) -> None:
    assert filled.run(Task.by_id("P-2").count()) == 1
    assert filled.run(Task.titles("P").count()) == 12
