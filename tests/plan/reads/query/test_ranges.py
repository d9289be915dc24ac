"""Which range of the table or of an index a query reads."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tablewright import Engine, Query, create, put
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tests.plan.reads.query.desk import MONDAY, Comment, Reading, Task, body_of, numbers, task

# -- where it reads --------------------------------------------------------------------------------


def test_a_partition_gives_the_items_of_the_entity_in_the_order_of_the_sort_key(
    filled: Database,
) -> None:
    assert numbers(filled.run(Task.primary.within("P"))) == list(range(1, 13))


def test_a_query_method_of_a_key_without_a_partition_says_what_to_call() -> None:
    primary: Any = Task.primary
    with pytest.raises(AttributeError, match=r": Task\.primary\.within\(project\)\.gte\(…\)"):
        primary.gte(3)
    assigned: Any = Task.assigned
    with pytest.raises(AttributeError, match=r": Task\.assigned\(assignee\)\.desc\(…\)"):
        assigned.desc()
    with pytest.raises(AttributeError, match=r"Task\.assigned is an index; .*assigned\(assignee\)"):
        assigned.within("ann")
    with pytest.raises(AttributeError, match=r"'BoundIndex' object has no attribute 'nothing'"):
        _ = assigned.nothing


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
    with pytest.raises(DeclarationError, match=r"Task\.assigned takes assignee, .* to eq\(\)"):
        Task.assigned("ann", MONDAY)  # type: ignore[call-arg]


def test_more_values_than_a_sort_key_has_parts_are_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Comment\.primary takes at most 3 values"):
        Comment.primary.within("P").eq(1, "a", "x")  # type: ignore[call-overload]


# -- consistent ------------------------------------------------------------------------------------


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


# -- sparse indexes --------------------------------------------------------------------------------


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
