"""Updates of items that other programs or older versions wrote."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, create
from tablewright.database import Database
from tests.plan.writes.update.orders import Job, Order, Status, Task, index_keys


def write_old(engine: Engine, kind: str, **attributes: dict[str, Any]) -> None:
    """An item from before the entity had all of its attributes."""
    item = {
        "PK": {"S": f"{kind.upper()}#1"},
        "SK": {"S": kind.upper()},
        "type": {"S": kind},
        f"{kind.lower()}_id": {"S": "1"},
        **attributes,
    }
    engine.call("PutItem", {"TableName": "orders", "Item": item})


@pytest.mark.parametrize(
    ("change", "priority"),
    [
        (Job.queue.set("high"), 1),
        (Job.priority.set(4), 4),
        (Job.priority.increment(4), 4),
        (Job.priority.set_if_absent(4), 4),
    ],
    ids=repr,
)
def test_a_part_that_an_old_item_lacks_has_its_default(
    db: Database, engine: Engine, change: Any, priority: int
) -> None:
    write_old(engine, "Job", version={"N": "1"})

    updated = db.run(Job.primary("1").update(change))

    assert updated.priority == priority
    assert index_keys(engine, "JOB#1") == {
        "GSI1PK": f"QUEUE#{updated.queue}",
        "GSI1SK": f"PRIO#{updated.priority:03}#1",
    }


@pytest.mark.parametrize(
    ("change", "priority"),
    [
        (Task.queue.set("high"), 1),
        (Task.priority.set(4), 4),
        (Task.priority.increment(4), 4),
        (Task.priority.set_if_absent(4), 4),
    ],
    ids=repr,
)
def test_a_part_that_an_old_unversioned_item_lacks_has_its_default(
    db: Database, engine: Engine, change: Any, priority: int
) -> None:
    write_old(engine, "Task")

    updated = db.run(Task.primary("1").update(change))

    assert updated.priority == priority
    assert index_keys(engine, "TASK#1")["GSI1PK"] == f"TASKS#{updated.queue}"
    assert index_keys(engine, "TASK#1")["GSI1SK"] == f"PRIO#{updated.priority:03}#1"


def test_removing_a_part_with_a_default_keeps_the_place_in_the_index(
    db: Database, engine: Engine
) -> None:
    """What is read back has the default, and so has its place in the index."""
    db.run(create(Task(task_id="T1", priority=5)))

    removed = db.run(Task.primary("T1").update(Task.priority.remove()))

    assert removed.priority == 1
    assert [found.task_id for found in db.run(Task.queued("low").eq(1))] == ["T1"]


def test_a_part_in_another_spelling_is_guarded_as_it_is_stored(
    db: Database, engine: Engine
) -> None:
    """Other writers leave the fractions of a second away."""
    engine.call(
        "PutItem",
        {
            "TableName": "orders",
            "Item": {
                "PK": {"S": "CUST#C1"},
                "SK": {"S": "ORDER#0007"},
                "type": {"S": "Order"},
                "customerId": {"S": "C1"},
                "number": {"N": "7"},
                "at": {"S": "2026-01-15T10:15:30Z"},
            },
        },
    )

    db.run(Order.primary("C1", 7).update(Order.status.set(Status.PAID)))

    assert index_keys(engine)["GSI1PK"] == "STATUS#PAID"
    assert index_keys(engine)["GSI1SK"] == "DAY#2026-01-15#0007"
