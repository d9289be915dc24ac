"""Changes that are refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tablewright import Engine, create
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.plans import Ref
from tests.plan.writes.update.orders import AT, Job, Order, Task, item


def test_an_update_without_changes_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Order: update\(\) needs at least one change"):
        Order.primary("C1", 7).update()


def test_two_changes_of_one_attribute_are_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Order\.note is changed twice in one update"):
        Order.primary("C1", 7).update(Order.note.set("a"), Order.note.remove())


@pytest.mark.parametrize("change", [Job.version.set(7), Job.version.increment(1)], ids=repr)
def test_a_version_changed_by_hand_is_refused(change: Any) -> None:
    with pytest.raises(InvalidValue, match=r"Job\.version is set by the library"):
        Job.primary("J1").update(change)


@pytest.mark.parametrize("stamp", [Task.made, Task.changed], ids=repr)
def test_a_stamp_changed_by_hand_is_refused(stamp: Ref[Task, datetime]) -> None:
    with pytest.raises(InvalidValue, match=rf"{stamp!r} is set by the library"):
        Task.primary("T1").update(stamp.set(AT))


def test_an_increment_of_a_text_is_refused() -> None:
    note: Any = Order.note
    with pytest.raises(InvalidValue, match=r"Order\.note is not a number; increment\(\) adds"):
        note.increment(1)


@pytest.mark.parametrize("value", [Order.number + 1, Order.number], ids=["sum", "attribute"])  # type: ignore[operator]
def test_a_number_set_to_an_expression_is_refused_and_names_increment(value: Any) -> None:
    rank: Any = Order.rank
    with pytest.raises(InvalidValue, match=r"takes a value, .* write Order\.rank\.increment\(1\)"):
        rank.set(value)


def test_a_text_set_to_an_attribute_is_refused() -> None:
    note: Any = Order.note
    with pytest.raises(InvalidValue, match=r"Order\.note\.set\(…\) takes a value, not attributes"):
        note.set_if_absent(Order.city)


def test_an_append_to_a_text_is_refused() -> None:
    note: Any = Order.note
    with pytest.raises(InvalidValue, match=r"Order\.note is not a list; append\(\) and prepend"):
        note.append("x")


def test_a_change_of_another_entity_is_refused() -> None:
    with pytest.raises(InvalidValue, match="is not an attribute of Order"):
        Order.primary("C1", 7).update(Job.note.set("x"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        Order.status.set("PAID!"),  # type: ignore[arg-type]
        Order.total.set("20"),  # type: ignore[arg-type]
        Order.note.set(5),  # type: ignore[arg-type]
        Order.tags.add_to_set({5}),  # type: ignore[arg-type]
        Order.at.set(datetime(2026, 1, 1)),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(
    db: Database, engine: Engine, order: Order, change: Any
) -> None:
    before = item(engine)

    with pytest.raises(InvalidValue, match=r"Order\."):
        db.run(Order.primary("C1", 7).update(change))

    assert item(engine) == before


def test_a_required_attribute_cannot_be_removed(db: Database, engine: Engine, order: Order) -> None:
    with pytest.raises(InvalidValue, match=r"Order\.at cannot be removed: it is not optional"):
        Order.at.remove()


def test_a_required_attribute_cannot_be_set_to_none(
    db: Database, engine: Engine, order: Order
) -> None:
    with pytest.raises(InvalidValue, match=r"Order\.at"):
        db.run(Order.primary("C1", 7).update(Order.at.set(None)))  # type: ignore[arg-type]

    assert db.run(Order.primary("C1", 7)) == order


def test_a_value_that_the_constructor_refuses_is_refused_by_an_update(
    db: Database, engine: Engine
) -> None:
    db.run(create(Task(task_id="T1")))
    with pytest.raises(InvalidValue, match=r"Task\.weight"):
        Task(task_id="T2", weight=-1)

    with pytest.raises(InvalidValue, match=r"Task\.weight"):
        db.run(Task.primary("T1").update(Task.weight.set(-1)))

    assert item(engine, "TASK#T1")["weight"] == {"N": "0"}


@pytest.mark.parametrize(
    "change", [None, "PAID", {"status": "PAID"}, Order.status, Order.number > 1]
)
def test_what_is_no_change_is_refused(change: Any) -> None:
    with pytest.raises(InvalidValue, match=r"is not a change; write Order\..*\.set"):
        Order.primary("C1", 1).update(change)


def test_an_update_under_a_condition_of_another_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.queue is not an attribute of Order"):
        Order.primary("C1", 1).update(Order.note.set("x")).condition(
            Task.queue == "low"  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("condition", [None, True, "total > 1", Order.total])
def test_an_update_under_what_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Order\."):
        Order.primary("C1", 1).update(Order.note.set("x")).condition(condition)
