"""An update moves the item in every index whose key it changes."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tablewright import Engine, create, update
from tablewright.database import Database
from tablewright.errors import InvalidValue
from tests.plan.writes.update.orders import AT, Job, Order, Status, Task, index_keys, item
from tests.transports import RecordingTransport


def test_an_update_of_a_part_moves_every_index_key(
    db: Database, engine: Engine, order: Order
) -> None:
    assert index_keys(engine) == {
        "LSI1SK": "RANK#994#0007",
        "GSI1PK": "STATUS#NEW",
        "GSI1SK": "DAY#2026-01-15#0007",
        "GSI2PK": "CITY#bern",
        "GSI2SK": "STREET#Aare#NEW#0007",
        "GSI3PK": "OPEN#C1",
        "GSI3SK": "AT#2026-01-15T10:15:30.000000Z",
    }

    db.run(Order.primary("C1", 7).update(Order.status.set(Status.PAID)))

    assert index_keys(engine) == {
        "LSI1SK": "RANK#994#0007",
        "GSI1PK": "STATUS#PAID",
        "GSI1SK": "DAY#2026-01-15#0007",
        "GSI2PK": "CITY#bern",
        "GSI2SK": "STREET#Aare#PAID#0007",
        "GSI3PK": "OPEN#C1",
        "GSI3SK": "AT#2026-01-15T10:15:30.000000Z",
    }
    assert list(db.run(Order.of_status(Status.NEW))) == []
    assert [found.number for found in db.run(Order.of_status(Status.PAID))] == [7]


def test_an_update_of_two_parts_moves_keys_of_both(
    db: Database, engine: Engine, order: Order
) -> None:
    later = datetime(2026, 2, 1, tzinfo=UTC)
    db.run(Order.primary("C1", 7).update(Order.at.set(later), Order.rank.increment(-2)))

    assert index_keys(engine) == {
        "LSI1SK": "RANK#996#0007",
        "GSI1PK": "STATUS#NEW",
        "GSI1SK": "DAY#2026-02-01#0007",
        "GSI2PK": "CITY#bern",
        "GSI2SK": "STREET#Aare#NEW#0007",
        "GSI3PK": "OPEN#C1",
        "GSI3SK": "AT#2026-02-01T00:00:00.000000Z",
    }


def test_an_instance_moves_index_keys_without_a_read(
    db: Database, engine: Engine, order: Order
) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(update(order, Order.status.set(Status.PAID)))

    assert sent.operations == ["UpdateItem"]
    assert index_keys(engine)["GSI2SK"] == "STREET#Aare#PAID#0007"


def test_an_update_that_touches_no_key_reads_nothing(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("C1", 7).update(Order.note.set("x")))

    assert sent.operations == ["UpdateItem"]


def test_an_update_that_gives_every_part_reads_nothing(
    db: Database, engine: Engine, order: Order
) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("C1", 7).update(Order.rank.set(9)))

    assert sent.operations == ["UpdateItem"]
    assert index_keys(engine)["LSI1SK"] == "RANK#990#0007"


def test_a_part_that_is_not_known_is_read_first(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert sent.operations == ["GetItem", "UpdateItem"]


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        (Order.rank.set(None), {"LSI1SK"}),
        (Order.rank.remove(), {"LSI1SK"}),
        (Order.city.set(None), {"GSI2PK", "GSI2SK"}),
        (Order.city.remove(), {"GSI2PK", "GSI2SK"}),
        (Order.street.remove(), {"GSI2PK", "GSI2SK"}),
    ],
    ids=["rank to None", "rank", "city to None", "city", "street"],
)
def test_taking_a_part_away_takes_the_index_entry_away(
    db: Database, engine: Engine, order: Order, change: Any, gone: set[str]
) -> None:
    before = index_keys(engine)
    db.run(Order.primary("C1", 7).update(change))

    assert index_keys(engine) == {name: value for name, value in before.items() if name not in gone}


def test_a_part_that_comes_back_brings_the_index_entry_back(
    db: Database, engine: Engine, order: Order
) -> None:
    before = index_keys(engine)
    db.run(Order.primary("C1", 7).update(Order.city.remove(), Order.street.remove()))
    db.run(Order.primary("C1", 7).update(Order.city.set("BERN")))
    assert "GSI2PK" not in index_keys(engine)

    db.run(Order.primary("C1", 7).update(Order.street.set_if_absent("Aare")))

    assert index_keys(engine) == before
    assert [found.city for found in db.run(Order.of_city("bern"))] == ["BERN"]


@pytest.mark.parametrize(
    "change",
    [
        Order.status.set(Status.SENT),
        Order.total.set(Decimal(10)),
        Order.total.increment(Decimal(-10)),
    ],
    ids=repr,
)
def test_an_update_after_which_the_condition_fails_leaves_the_index(
    db: Database, engine: Engine, order: Order, change: Any
) -> None:
    db.run(Order.primary("C1", 7).update(change))

    assert list(db.run(Order.open("C1"))) == []
    assert not {"GSI3PK", "GSI3SK"} & index_keys(engine).keys()


def test_an_update_after_which_the_condition_holds_enters_the_index(db: Database) -> None:
    db.run(create(Order(customer="C1", number=7, at=AT, total=Decimal(10))))
    assert list(db.run(Order.open("C1"))) == []

    db.run(Order.primary("C1", 7).update(Order.total.increment(Decimal("0.5"))))

    assert [found.number for found in db.run(Order.open("C1"))] == [7]


def test_members_that_join_and_leave_a_set_decide_on_the_index(db: Database) -> None:
    db.run(create(Task(task_id="T1")))

    db.run(Task.primary("T1").update(Task.labels.add_to_set({"hot", "late"})))
    assert [found.task_id for found in db.run(Task.hot())] == ["T1"]

    db.run(Task.primary("T1").update(Task.labels.remove_from_set({"hot"})))
    assert list(db.run(Task.hot())) == []


def test_a_number_that_outgrows_its_key_is_refused(
    db: Database, engine: Engine, order: Order
) -> None:
    before = item(engine)

    with pytest.raises(
        InvalidValue, match=r"Order.ranked: descending\(rank\) is 1005, outside the range 0 to 999"
    ):
        db.run(Order.primary("C1", 7).update(Order.rank.increment(1000)))

    assert item(engine) == before


def test_values_set_on_the_instance_alone_get_into_no_index_key(
    db: Database, engine: Engine
) -> None:
    """The instance says `priority` 7; stored, and not changed by the update, is 1."""
    job = db.run(create(Job(job_id="J1")))
    job.priority = 7

    db.run(update(job, Job.queue.set("high")))

    assert item(engine, "JOB#J1")["priority"] == {"N": "1"}
    assert index_keys(engine, "JOB#J1") == {"GSI1PK": "QUEUE#high", "GSI1SK": "PRIO#001#J1"}


def test_values_set_on_an_unversioned_instance_alone_get_into_no_index_key(
    db: Database, engine: Engine, order: Order
) -> None:
    order.street = "Kramgasse"

    db.run(update(order, Order.city.set("Chur")))

    assert index_keys(engine)["GSI2SK"] == "STREET#Aare#NEW#0007"
    assert order.street == "Aare"
