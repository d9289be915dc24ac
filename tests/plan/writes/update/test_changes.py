"""What an update changes, returns and stamps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tablewright import Engine, create, update
from tablewright.database import Database
from tablewright.errors import NotFound
from tests.plan.writes.update.orders import AT, Order, Status, Task, index_keys, item
from tests.transports import RecordingTransport

# -- the item --------------------------------------------------------------------------------------


def test_an_update_changes_named_attributes_only(
    db: Database, engine: Engine, order: Order
) -> None:
    before = item(engine)
    db.run(Order.primary("C1", 7).update(Order.note.set("ring twice")))

    assert item(engine) == before | {"note": {"S": "ring twice"}}


def test_an_update_gives_the_entity_as_it_is_then(db: Database, order: Order) -> None:
    updated = db.run(Order.primary("C1", 7).update(Order.note.set("x"), Order.city.set("Chur")))

    assert (updated.note, updated.city, updated.total) == ("x", "Chur", Decimal(20))
    assert db.run(Order.primary("C1", 7)) == updated


def test_an_update_of_an_instance_refreshes_it(db: Database, order: Order) -> None:
    db.run(Order.primary("C1", 7).update(Order.total.set(Decimal(30))))

    assert db.run(update(order, Order.note.set("x"))) is order
    assert (order.note, order.total) == ("x", Decimal(30))


def test_an_update_of_what_is_not_there_is_refused(db: Database, engine: Engine) -> None:
    with pytest.raises(
        NotFound, match=r'Order .*PK="CUST#C1", SK="ORDER#0007".* does not exist'
    ) as no:
        db.run(Order.primary("C1", 7).update(Order.note.set("x")))

    assert no.value.entity == "Order"
    assert no.value.key == {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#0007"}}
    assert engine.call("Scan", {"TableName": "orders"})["Items"] == []


def test_an_update_that_has_to_read_what_is_not_there_is_refused(
    db: Database, engine: Engine
) -> None:
    with pytest.raises(NotFound):
        db.run(Order.primary("C1", 7).update(Order.status.set(Status.PAID)))

    assert engine.call("Scan", {"TableName": "orders"})["Items"] == []


def test_several_attributes_change_in_one_write(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    updated = db.run(
        Order.primary("C1", 7).update(
            Order.note.set("x"), Order.total.increment(Decimal("2.5")), Order.lines.append("a", "b")
        )
    )

    assert (updated.note, updated.total, updated.lines) == ("x", Decimal("22.5"), ["a", "b"])
    assert sent.operations.count("UpdateItem") == 1


def test_adding_counts_from_zero_where_nothing_is_stored(db: Database) -> None:
    db.run(create(Order(customer="C1", number=7, at=AT)))
    updated = db.run(Order.primary("C1", 7).update(Order.rank.increment(3)))

    assert updated.rank == 3
    assert [found.number for found in db.run(Order.ranked("C1").eq(3))] == [7]


def test_set_if_absent_leaves_a_value_alone(db: Database, order: Order) -> None:
    updated = db.run(
        Order.primary("C1", 7).update(
            Order.city.set_if_absent("Chur"), Order.note.set_if_absent("x")
        )
    )

    assert (updated.city, updated.note) == ("Bern", "x")


def test_an_empty_set_takes_the_attribute_away(db: Database, engine: Engine, order: Order) -> None:
    db.run(Order.primary("C1", 7).update(Order.tags.set({"a"})))
    updated = db.run(Order.primary("C1", 7).update(Order.tags.set(set())))

    assert updated.tags == set()
    assert "tags" not in item(engine)


@pytest.mark.parametrize("change", [Order.note.set(None), Order.note.remove()])
def test_nothing_takes_the_attribute_away(
    db: Database, engine: Engine, order: Order, change: Any
) -> None:
    db.run(Order.primary("C1", 7).update(Order.note.set("x")))
    updated = db.run(Order.primary("C1", 7).update(change))

    assert updated.note is None
    assert "note" not in item(engine)


def test_a_time_to_live_is_stored_in_seconds(db: Database, engine: Engine) -> None:
    db.run(create(Task(task_id="T1")))
    db.run(Task.primary("T1").update(Task.ends.set(AT)))

    assert item(engine, "TASK#T1")["expires"] == {"N": str(int(AT.timestamp()))}


# -- stamps ----------------------------------------------------------------------------------------


def test_an_update_stamps_the_time_and_moves_its_index_key(db: Database, engine: Engine) -> None:
    task = db.run(create(Task(task_id="T1")))
    changed = db.run(Task.primary("T1").update(Task.begins.set(AT)))

    assert changed.changed > task.changed
    assert changed.made == task.made
    assert index_keys(engine, "TASK#T1")["GSI2SK"] == (
        "AT#" + changed.changed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    )
