"""An update after which an item is surely not in a sparse index needs to read nothing for it."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    Update,
    access_pattern,
    attr,
    connect,
    create,
    explain,
    index,
    key,
    upsert,
)
from tablewright.database import Database
from tablewright.formats import lower
from tests.costs import run_within_range
from tests.transports import record_requests


class Desk(Table, name="leaving"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_place = GSI("GSI2PK", "GSI2SK")


class User(Entity, table=Desk):
    """Its key holds the email in lower case, so it does not say which email it has."""

    email: Attr[str] = attr()
    state: Attr[str] = attr(default="open")
    room: Attr[str] = attr(default="r")
    primary = key("USER" / lower(email), "USER")
    open = index(Desk.by_state, "OPEN", lower(email), when=state == "open")
    in_room = index(Desk.by_place, "ROOM" / room, lower(email), when=state == "open")
    left = index(Desk.by_place, "LEFT", "ROOM" / room, when=state == "left")


@pytest.fixture
def db() -> Database:
    db = connect(":memory:", Desk)
    db.run(create(User(email="Ann@example.com")))
    return db


def operations(db: Database, plan: Any) -> list[str]:
    recording = record_requests(db)
    db.run(plan)
    db._transport = recording.inner
    return [operation for operation, _ in recording.requests]


def in_index(db: Database) -> int:
    return len(db.run(User.open()))


def test_an_item_that_leaves_is_not_read(db: Database) -> None:
    plan = User.primary("ann@example.com").update(User.state.set("closed"))
    assert operations(db, plan) == ["UpdateItem"]
    assert in_index(db) == 0
    found = db.run(User.primary("ANN@example.com"))
    assert found is not None
    assert found == User(email="Ann@example.com", state="closed")


def test_an_item_that_enters_is_read(db: Database) -> None:
    db.run(User.primary("ann@example.com").update(User.state.set("closed")))
    plan = User.primary("ann@example.com").update(User.state.set("open"))
    assert operations(db, plan) == ["GetItem", "UpdateItem"]
    assert in_index(db) == 1


def test_an_item_that_goes_to_another_place_is_read_for_that_place(db: Database) -> None:
    plan = User.primary("ann@example.com").update(User.state.set("left"))
    assert operations(db, plan) == ["GetItem", "UpdateItem"]
    assert [each.email for each in db.run(User.left())] == ["Ann@example.com"]
    known = User.primary("ann@example.com").update(User.state.set("left"), User.room.set("s"))
    assert operations(db, known) == ["UpdateItem"]
    assert [each.room for each in db.run(User.left())] == ["s"]


def test_an_upsert_that_leaves_changes_both_cases(db: Database) -> None:
    for email in ("Ann@example.com", "bob@example.com"):
        db.run(upsert(User(email=email), User.state.set("closed")))
    assert in_index(db) == 0


@access_pattern
def close_user(email: str) -> Update[User]:
    return User.primary(email).update(User.state.set("closed"))


@access_pattern
def change_state(email: str, state: str) -> Update[User]:
    return User.primary(email).update(User.state.set(state))


def test_explain_states_the_read_that_may_be_needed(db: Database) -> None:
    assert explain(close_user).operation == "UpdateItem"
    assert len(explain(close_user).requests) == 1
    assert [each.operation for each in explain(change_state).requests] == ["GetItem", "UpdateItem"]
    run_within_range(db, close_user("ann@example.com"))
    run_within_range(db, change_state("ann@example.com", "open"))
    run_within_range(db, change_state("ann@example.com", "closed"))
