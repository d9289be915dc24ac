"""Moves in tables whose keys are attributes of the entities themselves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tablewright import (
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    children,
    connect,
    create,
    delete_all,
    key,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


class Visits(Table, name="visits", pk="pk", sk="sk"):
    pass


class Patient(Entity, table=Visits):
    patient_id: Attr[str] = attr(name="pk")
    primary = key(patient_id, "PATIENT")


class Visit(Entity, table=Visits):
    patient_id: Attr[str] = attr(name="pk")
    number: Attr[int] = attr(pad=3)
    primary = key(patient_id, "VISIT" / number)


class Bill(Entity, table=Visits):
    patient_id: Attr[str] = attr(name="pk")
    number: Attr[int] = attr(pad=3)
    line: Attr[int] = attr(pad=2)
    primary = key(patient_id, "VISIT" / number / "BILL" / line)


class Room(Entity, table=Visits):
    """Its id may be that of a patient."""

    room_id: Attr[str] = attr(name="pk")
    primary = key(room_id, "ROOM")


class Readings(Table, name="readings", sk="at"):
    pass


class Device(Entity, table=Readings):
    device: Attr[str] = attr()
    primary = key("DEVICE" / device, "DEVICE")


class Reading(Entity, table=Readings):
    device: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("DEVICE" / device, at)


class PatientWithVisits(Aggregate):
    patient: Patient = root()
    visits: list[Visit] = children()
    bills: list[Bill] = children()


@pytest.fixture
def db() -> Database:
    db = connect(Engine(":memory:"), Visits, Readings)
    for entity in (
        Patient(patient_id="1"),
        Visit(patient_id="1", number=1),
        Bill(patient_id="1", number=1, line=1),
        Room(room_id="1"),
    ):
        db.run(create(entity))
    return db


def test_the_rows_below_an_item_move_with_it(db: Database) -> None:
    db.run(Visit.primary("1", 1).update(Visit.number.set(7)))
    assert db.run(Bill.primary("1", 7, 1)) is not None
    assert db.run(Bill.primary("1", 1, 1)) is None


def test_the_partition_of_an_item_moves_with_it(db: Database) -> None:
    db.run(Patient.primary("1").update(Patient.patient_id.set("2")))
    assert db.run(Visit.primary("2", 1)) == Visit(patient_id="2", number=1)
    assert db.run(Bill.primary("2", 1, 1)) is not None
    assert len(db.run(Visit.primary.within("1"))) == 0


def test_an_entity_whose_partition_is_another_attribute_stays(db: Database) -> None:
    db.run(Patient.primary("1").update(Patient.patient_id.set("2")))
    assert db.run(Room.primary("1")) is not None


def test_rows_whose_sort_key_is_an_attribute_move_too(db: Database) -> None:
    db.run(create(Device(device="a")))
    db.run(create(Reading(device="a", at=NOON)))
    db.run(Device.primary("a").update(Device.device.set("b")))
    assert db.run(Reading.primary("b", NOON)) == Reading(device="b", at=NOON)


def test_a_range_of_parents_is_not_deleted(db: Database) -> None:
    with pytest.raises(DeclarationError, match="rows of Bill below it"):
        delete_all(Visit.primary.within("1"))
    db.run(Room.primary("1").delete())
    assert db.run(delete_all(PatientWithVisits.of(Patient.primary("1")))) == 3
