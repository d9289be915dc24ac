"""A read and a write are the identity in indexes, too: an item keeps the spelling of all its keys.

The keys are those of indexes, and attributes that are keys themselves, in the table or an index.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    delete,
    index,
    key,
    put,
    save,
    update,
    upsert,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import AlreadyExists
from tablewright.formats import day, iso
from tests.prepared import Prepare, with_tables

MOMENT = datetime(2020, 1, 3, 1, 57, 44, tzinfo=UTC)

FOREIGN = "2020-01-03T01:57:44Z"
USUAL = "2020-01-03T01:57:44.000000Z"


class Log(Table, name="log"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_day = GSI("GSI2PK", "GSI2SK")
    by_seen = GSI("GSI3PK", "seen")


class Entry(Entity, table=Log):
    name: Attr[str] = attr()
    at: Attr[datetime] = attr()
    state: Attr[str] = attr(default="open")
    closed: Attr[datetime | None] = attr(default=None)
    seen: Attr[datetime | None] = attr(default=None)
    note: Attr[str] = attr(default="")
    primary = key("ENTRY" / name, "ENTRY")
    is_open = index(Log.by_state, "STATE" / state, "OPEN" / at, when=closed.not_exists())
    is_closed = index(Log.by_state, "STATE" / state, "CLOSED" / closed, when=closed.exists())
    by_day = index(Log.by_day, "DAY" / day(at), name / at)
    by_seen = index(Log.by_seen, "SEEN" / name, seen)


KEYS = {
    "GSI1PK": "STATE#open",
    "GSI1SK": f"OPEN#{FOREIGN}",
    "GSI2PK": "DAY#20200103",
    "GSI2SK": f"a$!b#{FOREIGN}",
    "GSI3PK": "SEEN#a$!b",
    "seen": FOREIGN,
}
ITEM = {
    name: {"S": text}
    for name, text in {
        "PK": "ENTRY#a$!b",
        "SK": "ENTRY",
        "type": "Entry",
        "name": "a#b",
        "at": FOREIGN,
        "state": "open",
        **KEYS,
    }.items()
}


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Log)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Log)
    engine.call("PutItem", {"TableName": "log", "Item": ITEM})
    return db


def keys(engine: Engine) -> dict[str, str]:
    """Return the keys in indexes of the only item."""
    (item,) = engine.call("Scan", {"TableName": "log"})["Items"]
    return {name: item[name]["S"] for name in KEYS if name in item}


def reads(db: Database) -> list[Entry]:
    """Return the entry as each kind of read returns it."""
    found = [
        db.run(Entry.primary("a#b")),
        db.run(Entry.primary.within("a#b"))[0],
        db.run(Entry.scan(reason="test"))[0],
        db.run(Entry.is_open("open"))[0],
    ]
    assert all(entry is not None and entry.at == entry.seen == MOMENT for entry in found)
    return found  # type: ignore[return-value]


def test_put_of_what_was_read_keeps_all_keys(db: Database, engine: Engine) -> None:
    for entry in reads(db):
        entry.note = "new"
        db.run(put(entry))
        assert keys(engine) == KEYS


def test_other_writes_keep_the_keys_that_they_do_not_change(db: Database, engine: Engine) -> None:
    entry = reads(db)[1]
    db.run(update(entry, Entry.note.set("new")))
    entry.note = "newer"
    db.run(save(entry))
    db.run(upsert(entry, Entry.note.set("newest")))
    assert keys(engine) == KEYS
    db.run(Entry.primary("a#b").update(Entry.state.set("late")))
    assert keys(engine) == KEYS | {"GSI1PK": "STATE#late"}


def test_an_update_of_an_entity_keeps_keys(db: Database, engine: Engine) -> None:
    db.run(update(reads(db)[0], Entry.state.set("late")))
    assert keys(engine) == KEYS | {"GSI1PK": "STATE#late"}


def test_another_value_gives_the_usual_key(db: Database, engine: Engine) -> None:
    later = datetime(2021, 1, 1, tzinfo=UTC)
    (entry, *_) = reads(db)
    entry.at = later
    db.run(put(entry))
    assert keys(engine) == KEYS | {
        "GSI1SK": "OPEN#2021-01-01T00:00:00.000000Z",
        "GSI2PK": "DAY#2021-01-01",
        "GSI2SK": "a$!b#2021-01-01T00:00:00.000000Z",
    }


def test_a_key_of_another_place_is_not_kept(db: Database, engine: Engine) -> None:
    (entry, *_) = reads(db)
    entry.closed = MOMENT  # equal to `at`, and so to the value in the other place
    db.run(put(entry))
    assert keys(engine) == KEYS | {"GSI1SK": f"CLOSED#{USUAL}"}


def test_a_key_in_an_index_that_the_item_leaves_is_removed(db: Database, engine: Engine) -> None:
    (entry, *_) = reads(db)
    entry.seen = None
    db.run(put(entry))
    assert keys(engine) == {
        name: text for name, text in KEYS.items() if name not in ("GSI3PK", "seen")
    }


def test_a_stale_key_is_replaced(db: Database, engine: Engine) -> None:
    """An index key that the values do not give does not make the item unreadable."""
    stale = ITEM | {"GSI1SK": {"S": "OPEN#2019-01-01T00:00:00Z"}, "GSI2SK": {"S": "?"}}
    engine.call("PutItem", {"TableName": "log", "Item": stale})
    db.run(put(db.run(Entry.primary.within("a#b"))[0]))
    assert keys(engine) == KEYS | {"GSI1SK": f"OPEN#{USUAL}", "GSI2SK": f"a$!b#{USUAL}"}


# -- attributes that are keys themselves ---------------------------------------------------------


class Visits(Table, name="visits", pk="page", sk="at", type_attribute=None): ...


class Visit(Entity, table=Visits):
    page: Attr[UUID] = attr()
    at: Attr[datetime] = attr()
    note: Attr[str] = attr(default="")
    primary = key(page, at)


PAGE = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
VISIT = {"page": {"S": str(PAGE).upper()}, "at": {"S": FOREIGN}}


@pytest.fixture
def visits(engine: Engine) -> Database:
    db = connect(engine, Visits)
    engine.call("PutItem", {"TableName": "visits", "Item": VISIT})
    return db


def stored_visits(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "visits"})["Items"]
    return found


def only_visit(db: Database) -> Visit:
    (visit,) = db.run(Visit.scan(reason="test"))
    assert (visit.page, visit.at) == (PAGE, MOMENT)
    return visit


def test_put_of_a_natural_key_replaces_the_same_item(visits: Database, engine: Engine) -> None:
    visit = only_visit(visits)
    visit.note = "new"
    visits.run(put(visit))
    assert stored_visits(engine) == [VISIT | {"note": {"S": "new"}}]


def test_update_and_delete_of_a_natural_key_find_the_same_item(
    visits: Database, engine: Engine
) -> None:
    visit = only_visit(visits)
    visits.run(update(visit, Visit.note.set("new")))
    visits.run(update(visit, Visit.at.set(MOMENT)))  # the same value
    assert stored_visits(engine) == [VISIT | {"note": {"S": "new"}}]
    visits.run(delete(visit))
    assert stored_visits(engine) == []


def test_another_value_of_a_natural_key_moves_the_item(visits: Database, engine: Engine) -> None:
    later = datetime(2021, 1, 1, tzinfo=UTC)
    visits.run(update(only_visit(visits), Visit.at.set(later)))
    moved = VISIT | {"at": {"S": "2021-01-01T00:00:00.000000Z"}}
    (item,) = stored_visits(engine)
    assert {name: item[name] for name in ("page", "at")} == moved


# -- the primary key -----------------------------------------------------------------------------


class Notes(Table, name="notes"): ...


class Note(Entity, table=Notes):
    owner: Attr[str] = attr()
    on: Attr[date] = attr()
    at: Attr[datetime] = attr()
    primary = key("OWNER" / owner, "ON" / on / iso(at, "seconds"))


NOTE = {
    "PK": {"S": "OWNER#ann"},
    "SK": {"S": f"ON#20200103#{USUAL}"},
    "type": {"S": "Note"},
    "owner": {"S": "ann"},
    "on": {"S": "2020-01-03"},
    "at": {"S": USUAL},
}


def test_create_of_what_was_read_finds_the_stored_item(engine: Engine) -> None:
    db = connect(engine, Notes)
    engine.call("PutItem", {"TableName": "notes", "Item": NOTE})
    (note,) = db.run(Note.primary.within("ann"))
    with pytest.raises(AlreadyExists):
        db.run(create(note))


def test_a_move_keeps_the_spelling_of_what_stays(engine: Engine) -> None:
    db = connect(engine, Notes)
    engine.call("PutItem", {"TableName": "notes", "Item": NOTE})
    (note,) = db.run(Note.primary.within("ann"))
    db.run(update(note, Note.owner.set("bob")))
    (item,) = engine.call("Scan", {"TableName": "notes"})["Items"]
    assert (item["PK"], item["SK"]) == ({"S": "OWNER#bob"}, NOTE["SK"])
