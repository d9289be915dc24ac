"""Updates while others write the same item."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablewright import Engine, connect, create, update
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import Contention, NotFound, VersionConflict
from tests.plan.writes.update.orders import AT, Job, Order, Orders, Status, index_keys, item
from tests.transports import InterferingTransport


def test_a_part_that_changes_after_it_was_read_is_read_again(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = race = InterferingTransport(
        db._transport,
        lambda _: other.run(Order.primary("C1", 7).update(Order.street.set("Kramgasse"))),
    )

    updated = db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert (updated.city, updated.street) == ("Chur", "Kramgasse")
    assert index_keys(engine)["GSI2PK"] == "CITY#chur"
    assert index_keys(engine)["GSI2SK"] == "STREET#Kramgasse#NEW#0007"
    assert race.operations == ["GetItem", "UpdateItem", "GetItem", "UpdateItem"]


def test_a_part_that_goes_away_after_it_was_read_is_noticed(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).update(Order.street.remove()))
    )

    db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert not {"GSI2PK", "GSI2SK"} & index_keys(engine).keys()


def test_a_part_that_comes_after_it_was_read_is_noticed(db: Database, engine: Engine) -> None:
    db.run(create(Order(customer="C1", number=7, at=AT)))
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).update(Order.street.set("Aare")))
    )

    db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert index_keys(engine)["GSI2PK"] == "CITY#chur"
    assert index_keys(engine)["GSI2SK"] == "STREET#Aare#NEW#0007"


def test_the_condition_of_an_index_is_guarded_too(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Order.primary("C1", 7).update(Order.status.set(Status.SENT))),
    )

    db.run(Order.primary("C1", 7).update(Order.total.set(Decimal(99))))

    assert list(db.run(Order.open("C1"))) == []


def test_an_instance_that_is_behind_is_read_again(
    db: Database, engine: Engine, order: Order
) -> None:
    connect(engine, Orders).run(Order.primary("C1", 7).update(Order.street.set("Kramgasse")))

    db.run(update(order, Order.city.set("Chur")))

    assert order.street == "Kramgasse"
    assert index_keys(engine)["GSI2SK"] == "STREET#Kramgasse#NEW#0007"


def test_what_changes_beside_the_parts_needs_no_second_try(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = race = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).update(Order.note.set("theirs")))
    )

    updated = db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert updated.note == "theirs"
    assert race.operations == ["GetItem", "UpdateItem"]


def test_a_versioned_entity_that_changes_after_it_was_read_is_read_again(
    db: Database, engine: Engine
) -> None:
    db.run(create(Job(job_id="J1")))
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Job.primary("J1").update(Job.priority.set(9)))
    )

    updated = db.run(Job.primary("J1").update(Job.queue.set("high")))

    assert updated.version == 3
    assert index_keys(engine, "JOB#J1") == {"GSI1PK": "QUEUE#high", "GSI1SK": "PRIO#009#J1"}


def test_a_version_that_is_expected_is_not_waited_for(db: Database, engine: Engine) -> None:
    db.run(create(Job(job_id="J1")))
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Job.primary("J1").update(Job.note.set("theirs")))
    )

    with pytest.raises(VersionConflict, match="version 1 was expected, but version 2 is stored"):
        db.run(Job.primary("J1").update(Job.queue.set("high")).condition(Job.version == 1))

    assert index_keys(engine, "JOB#J1") == {"GSI1PK": "QUEUE#low", "GSI1SK": "PRIO#001#J1"}


def test_an_item_that_is_deleted_after_it_was_read_is_not_found(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).delete())
    )

    with pytest.raises(NotFound):
        db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert engine.call("Scan", {"TableName": "orders"})["Items"] == []


def test_an_update_that_never_wins_gives_up_and_writes_nothing(
    db: Database, engine: Engine, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.write.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    other = connect(engine, Orders)
    db._transport = race = InterferingTransport(
        db._transport,
        lambda n: other.run(Order.primary("C1", 7).update(Order.street.set(f"Street {n}"))),
        times=1000,
    )

    with pytest.raises(Contention, match=r"update Order: .* nothing was written"):
        db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert race.operations.count("UpdateItem") == 8
    assert item(engine)["city"] == {"S": "Bern"}
    assert index_keys(engine)["GSI2PK"] == "CITY#bern"
