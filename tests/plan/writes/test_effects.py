"""The effect of a write is known before it is sent: items, index rows, sentinels and events.

Each write is prepared, and its effects are applied to a copy of the table and its indexes. Then it
is run, and the copy is compared with what is stored.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
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
from tablewright.database import Database
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.writes.effect import WriteEffect, index_row
from tablewright.plan.writes.write import Write
from tablewright.values import Item

NOW = datetime(2026, 1, 1, tzinfo=UTC)

#: The rows of the table (None) and of each index, by their key in the table.
Rows = dict[tuple[str | None, str, str], Item]


class Homes(Table, name="homes"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_rank = GSI("GSI2PK", "GSI2SK", project=("title",))


class StateEvent(Entity, table=Homes):
    owner: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    version: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    by: Attr[str | None] = attr(default=None)

    primary = key("EVENTS" / owner, "EVENT" / version)


class Home(Entity, table=Homes):
    owner: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="new")
    title: Attr[str] = attr(default="t")
    rank: Attr[int | None] = attr(pad=3, default=None)
    email: Attr[str | None] = attr(default=None)
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("OWNER" / owner, "HOME" / number)
    by_state = index(Homes.by_state, "STATE" / state, "HOME" / number)
    by_rank = index(Homes.by_rank, "RANKS", "RANK" / rank)
    by_email = unique("EMAIL" / email)
    states = history(
        state,
        StateEvent,
        old=StateEvent.old,
        new=StateEvent.new,
        version=StateEvent.version,
        by=StateEvent.by,
    )


class Room(Entity, table=Homes):
    owner: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    room: Attr[str] = attr()

    primary = key("OWNER" / owner, "HOME" / number / "ROOM" / room)


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Homes,)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Homes)
    db._context = msgspec.structs.replace(db._context, clock=lambda: NOW)
    home = Home(owner="a", number=1, rank=5, email="a@x")
    db.run(create(home))
    db.run(create(Room(owner="a", number=1, room="hall")))
    return db


class Effects(Plan[tuple[WriteEffect, ...]]):
    """The effects of a write that is not sent."""

    def __init__(self, write: Write[Any]) -> None:
        self._write = write

    def _steps(self, context: Context) -> Steps[tuple[WriteEffect, ...]]:
        prepared = yield from self._write._prepare(context, 0, alone=True)
        return prepared.effects


def stored(engine: Engine) -> Rows:
    rows: Rows = {}
    for name in (None, "by_state", "by_rank"):
        request = {"TableName": "homes"} | ({} if name is None else {"IndexName": name})
        for item in engine.call("Scan", request)["Items"]:
            rows[name, item["PK"]["S"], item["SK"]["S"]] = item
    return rows


def change(rows: Rows, name: str | None, old: Item | None, new: Item | None) -> None:
    if old is not None:
        assert rows.pop((name, old["PK"]["S"], old["SK"]["S"])) == old
    if new is not None:
        assert (name, new["PK"]["S"], new["SK"]["S"]) not in rows
        rows[name, new["PK"]["S"], new["SK"]["S"]] = new


def existing(db: Database) -> Home:
    home = db.run(Home.primary("a", 1))
    assert home is not None
    return home


def replaced(db: Database) -> Write[Any]:
    home = existing(db)
    home.state, home.email, home.rank = "sold", "b@x", None
    return put(home).audit(by="me")


WRITES: dict[str, Any] = {
    "create": lambda db: create(Home(owner="b", number=2, rank=1, email="c@x")),
    "create of an entity in no sparse index": lambda db: create(Home(owner="b", number=3)),
    "put of a new entity": lambda db: put(Room(owner="c", number=1, room="hall")),
    "put": replaced,
    "update of an index key": lambda db: update(existing(db), Home.rank.increment(2)),
    "update by key": lambda db: Home.primary("a", 1).update(Home.rank.increment(2)),
    "update that leaves an index and releases a unique value": lambda db: update(
        existing(db), Home.rank.set(None), Home.email.set(None)
    ),
    "update of a unique value": lambda db: Home.primary("a", 1).update(Home.email.set("b@x")),
    "update with an event": lambda db: (
        Home.primary("a", 1).update(Home.state.set("sold"), Home.title.set("u")).audit(by="me")
    ),
    "update without a change": lambda db: Home.primary("a", 1).update(Home.state.set("new")),
    "move with a row below": lambda db: Home.primary("a", 1).update(
        Home.owner.set("z"), Home.state.set("sold")
    ),
    "delete": lambda db: delete(existing(db)),
    "delete of a missing item": lambda db: Home.primary("x", 1).delete(),
}


@pytest.mark.parametrize("name", WRITES)
def test_the_effects_of_a_write_are_what_it_changes(
    db: Database, engine: Engine, name: str
) -> None:
    write = WRITES[name](db)
    rows = stored(engine)
    for effect in db.run(Effects(write)):
        change(rows, None, effect.old, effect.new)
        table = effect.entity.table
        for declared in table.indexes.values():
            old, new = (index_row(table, declared, item) for item in (effect.old, effect.new))
            if old != new:
                change(rows, declared.name, old, new)
        for side in effect.side_items:
            change(rows, None, side.old, side.new)
    before = stored(engine)
    db.run(write)
    assert stored(engine) == rows
    assert (rows == before) is (name == "delete of a missing item")


def test_the_effect_of_an_update_that_reads_nothing_has_only_the_keys(
    db: Database,
) -> None:
    home = Home.primary("a", 1)
    (effect,) = db.run(Effects(home.update(Home.rank.set(7))))
    assert effect.old is None
    assert effect.new == {**home._key, "GSI2PK": {"S": "RANKS"}, "GSI2SK": {"S": "RANK#007"}}
