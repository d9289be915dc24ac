from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    history,
    index,
    key,
    put,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import Contention, DeclarationError, InvalidValue
from tests.prepared import Prepare, with_tables
from tests.transports import ThrottlingTransport


class Store(Table, name="store"):
    by_shelf = GSI("GSI1PK", "GSI1SK")


class Box(Entity, table=Store):
    box_id: Attr[str] = attr()
    shelf: Attr[str | None] = attr(default=None)

    primary = key("BOX" / box_id, "BOX")
    on_shelf = index(Store.by_shelf, "SHELF" / shelf, "BOX" / box_id)


class Parcel(Entity, table=Store):
    parcel_id: Attr[str] = attr()
    changed: Attr[datetime] = updated_at()

    primary = key("PARCEL" / parcel_id, "PARCEL")


class Versioned(Entity, table=Store):
    thing_id: Attr[str] = attr()
    version: Attr[int] = version()

    primary = key("VERSIONED" / thing_id, "VERSIONED")


class Named(Entity, table=Store):
    thing_id: Attr[str] = attr()
    name: Attr[str] = attr()

    primary = key("NAMED" / thing_id, "NAMED")
    by_name = unique("NAME" / name)


class Event(Entity, table=Store):
    thing_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    new: Attr[str] = attr()

    primary = key("TRACED" / thing_id, "EVENT" / at)


class Traced(Entity, table=Store):
    thing_id: Attr[str] = attr()
    state: Attr[str] = attr(default="new")

    primary = key("TRACED" / thing_id, "TRACED")
    states = history(state, Event, new=Event.new, at=Event.at)


class Archive(Table, name="archive"):
    pass


class Folder(Entity, table=Archive):
    folder_id: Attr[str] = attr()

    primary = key("FOLDER" / folder_id, "FOLDER")


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Store, Archive)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Store, Archive)


def keys(engine: Engine, table: str = "store") -> list[str]:
    items = engine.call("Scan", {"TableName": table})["Items"]
    return sorted(item["PK"]["S"] for item in items)


def test_a_batch_puts_and_deletes(db: Database, engine: Engine) -> None:
    db.run(put(Box(box_id="1", shelf="a")))
    db.run(put(Box(box_id="2", shelf="a")))

    db.run(
        batch_write(
            [
                put(Box(box_id="3", shelf="b")),
                put(Box(box_id="2", shelf="b")),
                Box.primary("1").delete(),
            ]
        )
    )

    assert keys(engine) == ["BOX#2", "BOX#3"]
    assert [box.box_id for box in db.run(Box.on_shelf("b"))] == ["2", "3"]
    assert list(db.run(Box.on_shelf("a"))) == []


def test_a_batch_deletes_instances_and_what_is_not_there(db: Database, engine: Engine) -> None:
    box = db.run(put(Box(box_id="1")))
    db.run(batch_write([delete(box), Box.primary("9").delete()]))

    assert keys(engine) == []


def test_a_batch_of_more_than_25_goes_in_several_requests(db: Database, engine: Engine) -> None:
    db._transport = throttled = ThrottlingTransport(db._transport, times=0, unprocessed=0)
    db.run(batch_write(put(Box(box_id=f"{number:03}")) for number in range(60)))

    assert throttled.sizes == [25, 25, 10]
    assert keys(engine) == [f"BOX#{number:03}" for number in range(60)]


def test_a_batch_reaches_over_tables(db: Database, engine: Engine) -> None:
    db.run(batch_write([put(Box(box_id="1")), put(Folder(folder_id="1"))]))

    assert keys(engine) == ["BOX#1"]
    assert keys(engine, "archive") == ["FOLDER#1"]


def test_an_empty_batch_does_nothing(db: Database, engine: Engine) -> None:
    db._transport = throttled = ThrottlingTransport(db._transport, times=0, unprocessed=0)
    db.run(batch_write([]))

    assert throttled.sizes == []


@pytest.mark.parametrize("left", [1, 7, 25])
def test_what_was_not_processed_is_sent_again(db: Database, engine: Engine, left: int) -> None:
    db.run(put(Folder(folder_id="gone")))
    db._transport = throttled = ThrottlingTransport(db._transport, times=1, unprocessed=left)
    writes = [put(Box(box_id=f"{number:03}")) for number in range(30)]
    db.run(batch_write([*writes, Folder.primary("gone").delete(), put(Folder(folder_id="new"))]))

    assert keys(engine) == [f"BOX#{number:03}" for number in range(30)]
    assert keys(engine, "archive") == ["FOLDER#new"]
    assert sum(throttled.sizes) == 32 + left


def test_a_long_batch_of_which_every_answer_leaves_something_is_done(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB does most of every request, and so there is no reason to give up."""
    monkeypatch.setattr(
        "tablewright.plan.reads.several.UNPROCESSED", Backoff(10, first=0.0, longest=0.0)
    )
    db._transport = ThrottlingTransport(db._transport, times=14, unprocessed=5)
    db.run(batch_write(put(Box(box_id=f"{number:03}")) for number in range(302)))

    assert len(keys(engine)) == 302


def test_a_batch_of_which_nothing_is_ever_done_is_an_error(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.reads.several.UNPROCESSED", Backoff(10, first=0.0, longest=0.0)
    )
    db._transport = ThrottlingTransport(db._transport, times=1000, unprocessed=25)

    with pytest.raises(
        Contention, match="BatchWriteItem: DynamoDB processed nothing in 10 attempts"
    ):
        db.run(batch_write([put(Box(box_id="1"))]))

    assert keys(engine) == []


def test_a_batch_stamps_the_instances_as_a_put_does(db: Database) -> None:
    parcel = Parcel(parcel_id="1")
    db.run(batch_write([put(parcel)]))

    assert db.run(Parcel.primary("1")) == parcel


def test_two_writes_to_one_item_are_refused_before_sending(db: Database, engine: Engine) -> None:
    writes = [put(Box(box_id=str(number))) for number in range(30)]

    with pytest.raises(InvalidValue, match=r"two writes have the same key.*BOX#0"):
        db.run(batch_write([*writes, Box.primary("0").delete()]))

    assert keys(engine) == []


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (put(Versioned(thing_id="1")), "put Versioned: it has a version"),
        (delete(Versioned(thing_id="1")), "delete Versioned: it has a version"),
        (Versioned.primary("1").delete(), "delete Versioned: it has a version"),
        (put(Named(thing_id="1", name="n")), "put Named: it has unique values"),
        (Named.primary("1").delete(), "delete Named: it has unique values"),
        (put(Traced(thing_id="1")), "put Traced: it has a history"),
        (put(Box(box_id="1")).condition(Box.shelf == "a"), "put Box: it has a condition"),
        (Box.primary("1").delete().condition(Box.shelf == "a"), "delete Box: it has a condition"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_write_that_needs_a_condition_is_refused(write: Any, reason: str) -> None:
    with pytest.raises(
        DeclarationError, match=rf"batch_write\(\) cannot {reason}.*use transact\(\)"
    ):
        batch_write([put(Box(box_id="2")), write])


@pytest.mark.parametrize(
    "write",
    [
        create(Box(box_id="1")),
        Box.primary("1").update(Box.shelf.set("a")),
        update(Box(box_id="1"), Box.shelf.set("a")),
        condition_check(Box.primary("1")),
        Box.primary("1"),
        Box(box_id="1"),
    ],
    ids=["create", "update by key", "update", "condition_check", "get", "instance"],
)
def test_what_is_neither_put_nor_delete_is_refused(write: Any) -> None:
    with pytest.raises(
        DeclarationError, match=r"batch_write\(\) takes put\(…\) and delete\(…\), not"
    ):
        batch_write([write])


def test_a_value_that_does_not_fit_is_refused_before_anything_is_sent(
    db: Database, engine: Engine
) -> None:
    writes = [put(Box(box_id=f"{number:03}")) for number in range(30)]

    with pytest.raises(InvalidValue, match="box_id is empty"):
        db.run(batch_write([*writes, put(Box(box_id=""))]))

    assert keys(engine) == []


def test_a_batch_of_no_writes_can_be_shown() -> None:
    assert repr(batch_write([])) == "BatchWrite(BatchWriteItem )"
