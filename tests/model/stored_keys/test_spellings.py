"""A read and a write are the identity: an item keeps the key that it was stored under."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import Attr, Entity, Table, attr, connect, delete, key, put, update
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import UnreadableItem
from tablewright.formats import lower
from tests.new_table import new_table


class Log(Table, name="log"): ...


class Entry(Entity, table=Log):
    owner: Attr[str] = attr()
    at: Attr[datetime] = attr()
    note: Attr[str] = attr(default="")
    primary = key("OWNER" / lower(owner), "AT" / at)


MOMENT = datetime(2020, 1, 3, 1, 57, 44, tzinfo=UTC)
#: Another program writes moments without a fraction of a second.
FOREIGN = {
    "PK": {"S": "OWNER#ann"},
    "SK": {"S": "AT#2020-01-03T01:57:44Z"},
    "type": {"S": "Entry"},
    "owner": {"S": "Ann"},
    "at": {"S": "2020-01-03T01:57:44Z"},
    "note": {"S": "old"},
}


@pytest.fixture
def engine() -> Engine:
    return Engine(":memory:")


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Log)
    engine.call("PutItem", {"TableName": "log", "Item": FOREIGN})
    return db


def items(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "log"})["Items"]
    return found


def only_entry(db: Database) -> Entry:
    (entry,) = db.run(Entry.primary.within("Ann"))
    assert entry.at == MOMENT
    return entry


def test_put_of_what_was_read_replaces_the_same_item(db: Database, engine: Engine) -> None:
    entry = only_entry(db)
    entry.note = "new"
    db.run(put(entry))
    (item,) = items(engine)
    assert item["SK"] == FOREIGN["SK"]
    assert item["note"] == {"S": "new"}


def test_update_and_delete_of_what_was_read_find_the_same_item(
    db: Database, engine: Engine
) -> None:
    entry = only_entry(db)
    db.run(update(entry, Entry.note.set("new")))
    (item,) = items(engine)
    assert (item["SK"], item["note"]) == (FOREIGN["SK"], {"S": "new"})
    db.run(delete(entry))
    assert items(engine) == []


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_a_copy_keeps_the_stored_key(db: Database, engine: Engine, duplicate: Any) -> None:
    db.run(put(duplicate(only_entry(db))))
    assert len(items(engine)) == 1


def test_another_value_of_a_key_attribute_gives_another_key(db: Database, engine: Engine) -> None:
    entry = only_entry(db)
    entry.at = datetime(2021, 1, 1, tzinfo=UTC)
    db.run(put(entry))
    assert [item["SK"]["S"] for item in items(engine)] == [
        "AT#2020-01-03T01:57:44Z",
        "AT#2021-01-01T00:00:00.000000Z",
    ]


def test_an_equal_value_of_a_key_attribute_keeps_the_key(db: Database, engine: Engine) -> None:
    entry = only_entry(db)
    entry.owner = "ANN"  # the key contains it in lower case
    db.run(put(entry))
    (item,) = items(engine)
    assert (item["SK"], item["owner"]) == (FOREIGN["SK"], {"S": "ANN"})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("SK", "AT#2020-01-03T01:57:45Z", "the stored SK is 'AT#2020-01-03T01:57:45Z'"),
        ("SK", "AT#soon", "the stored SK is 'AT#soon'"),
        (
            "PK",
            "OWNER#bob",
            "the stored PK is 'OWNER#bob', but its values (owner) give 'OWNER#ann'",
        ),
        ("SK", "ENTRY", "by AT#{at}"),
    ],
)
def test_a_key_that_the_values_do_not_explain_is_unreadable(
    engine: Engine, name: str, text: str, told: str
) -> None:
    strange = FOREIGN | {name: {"S": text}}
    with connect(engine, Log) as db:
        engine.call("PutItem", {"TableName": "log", "Item": strange})
        page = db.run(Entry.scan(reason="test").skip_unreadable())
        assert list(page) == []
        (error,) = page.unreadable
        assert told in str(error)
        assert error.item == strange
        with pytest.raises(UnreadableItem):
            db.run(Entry.scan(reason="test"))


def test_a_get_of_an_unexplained_key_raises(engine: Engine) -> None:
    with connect(engine, Log) as db:
        own = {"S": "AT#2020-01-03T01:57:44.000000Z"}
        strange = FOREIGN | {"SK": own, "at": {"S": "2020-01-04T00:00:00Z"}}
        engine.call("PutItem", {"TableName": "log", "Item": strange})
        with pytest.raises(UnreadableItem, match=r"the stored SK is .*44\.000000Z.* give"):
            db.run(Entry.primary("Ann", MOMENT))


def test_a_moment_out_of_range_in_a_key_is_unreadable(engine: Engine) -> None:
    ends = new_table("ends")

    class End(Entity, table=ends):
        at: Attr[datetime] = attr(key_only=True)
        primary = key("END", "AT" / at)

    db = connect(engine, ends)
    item = {"PK": {"S": "END"}, "SK": {"S": "AT#9999-12-31T23:59:59-01:00"}, "type": {"S": "End"}}
    engine.call("PutItem", {"TableName": "ends", "Item": item})
    with pytest.raises(UnreadableItem, match="'9999-12-31T23:59:59-01:00' is out of range in UTC"):
        db.run(End.primary.within())
