"""A sentinel expires with its entity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    key,
    put,
    ttl,
    unique,
    update,
)
from tablewright.database import Database
from tablewright.errors import UniqueViolation
from tests.plan.writes.unique.accounts import items


class Sessions(Table, name="sessions"):
    pass


class Session(Entity, table=Sessions):
    session_id: Attr[str] = attr()
    token: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    ends: Attr[datetime | None] = ttl(name="expires", default=None)

    primary = key("SESSION" / session_id, "SESSION")
    by_token = unique("TOKEN" / token)


ENDS = datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def sessions(engine: Engine) -> Database:
    db = connect(engine, Sessions)
    db.run(create(Session(session_id="1", token="t", ends=ENDS)))
    return db


def expiries(engine: Engine) -> dict[str, str | None]:
    """When each item expires, by its partition key."""
    return {item["PK"]: item.get("expires") for item in items(engine, "sessions")}


def seconds(moment: datetime) -> str:
    return str(int(moment.timestamp()))


def test_a_sentinel_expires_with_its_entity(sessions: Database, engine: Engine) -> None:
    assert expiries(engine) == {"SESSION#1": seconds(ENDS), "TOKEN#t": seconds(ENDS)}


def later(_: Database) -> Any:
    return Session.primary("1").update(Session.ends.set(ENDS + timedelta(hours=1)))


def never(_: Database) -> Any:
    return Session.primary("1").update(Session.ends.set(None))


def put_later(_: Database) -> Any:
    return put(Session(session_id="1", token="t", ends=ENDS + timedelta(hours=1)))


def instance_later(db: Database) -> Any:
    session = db.run(Session.primary("1"))
    assert session is not None
    return update(session, Session.ends.set(ENDS + timedelta(hours=1)))


@pytest.mark.parametrize(
    ("write", "expires"),
    [
        (later, seconds(ENDS + timedelta(hours=1))),
        (put_later, seconds(ENDS + timedelta(hours=1))),
        (instance_later, seconds(ENDS + timedelta(hours=1))),
        (never, None),
    ],
)
def test_a_sentinel_expires_when_its_entity_does_after_a_change(
    sessions: Database, engine: Engine, write: Callable[[Database], Any], expires: str | None
) -> None:
    sessions.run(write(sessions))
    assert expiries(engine) == {"SESSION#1": expires, "TOKEN#t": expires}


def test_a_sentinel_of_another_value_expires_with_its_entity(
    sessions: Database, engine: Engine
) -> None:
    sessions.run(Session.primary("1").update(Session.token.set("u")))
    assert expiries(engine) == {"SESSION#1": seconds(ENDS), "TOKEN#u": seconds(ENDS)}


def test_what_expires_frees_its_value(sessions: Database, engine: Engine) -> None:
    second = Session(session_id="2", token="t")
    engine.expire(ENDS.timestamp() - 1)
    with pytest.raises(UniqueViolation):
        sessions.run(create(second))

    engine.expire(ENDS.timestamp() + 1)
    sessions.run(create(second))

    assert sessions.run(Session.by_token("t")) == second
    assert sorted(expiries(engine)) == ["SESSION#2", "TOKEN#t"]
