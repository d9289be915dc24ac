"""Order, page size and the first item."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import create
from tablewright.database import Database
from tablewright.errors import InvalidValue
from tests.plan.reads.query.desk import Task, body_of, comment, numbers, task


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
    with pytest.raises(
        InvalidValue, match=r"page_size\(.*\): the number must be an int, at least 1"
    ):
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
