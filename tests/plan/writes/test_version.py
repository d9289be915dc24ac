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
    condition_check,
    connect,
    create,
    delete,
    index,
    key,
    put,
    transact,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import AlreadyExists, InvalidValue, UniqueViolation, VersionConflict
from tablewright.plans import Write
from tests.prepared import Prepare, with_tables


class Office(Table, name="office"):
    by_state = GSI("GSI1PK", "GSI1SK")


class Memo(Entity, table=Office):
    room: Attr[str] = attr()
    memo_id: Attr[str] = attr()
    state: Attr[str] = attr(default="draft")
    text: Attr[str] = attr(default="")
    version: Attr[int] = version(name="_version")
    changed: Attr[datetime] = updated_at()

    primary = key("ROOM" / room, "MEMO" / memo_id)
    of_state = index(Office.by_state, "STATE" / state, "MEMO" / memo_id)


class Clerk(Entity, table=Office):
    clerk_id: Attr[str] = attr()
    badge: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()

    primary = key("CLERK" / clerk_id, "CLERK")
    by_badge = unique("BADGE" / badge)


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Office)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Office)


@pytest.fixture
def memo(db: Database) -> Memo:
    return db.run(create(Memo(room="R1", memo_id="1")))


def items(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "office"})["Items"]
    return found


def stored_version(engine: Engine) -> str:
    (item,) = items(engine)
    return str(item["_version"]["N"])


# -- counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [create, put])
def test_a_new_entity_has_version_1(db: Database, engine: Engine, write: Any) -> None:
    memo = Memo(room="R1", memo_id="1")
    assert memo.version == 0

    db.run(write(memo))

    assert memo.version == 1
    assert stored_version(engine) == "1"


WRITES: dict[str, Any] = {
    "put": put,
    "update of an instance": lambda memo: update(memo, Memo.text.set("x")),
    "update of an instance, with an index key": lambda memo: update(memo, Memo.state.set("x")),
    "update by key": lambda memo: Memo.primary("R1", "1").update(Memo.text.set("x")),
    "update by key, with an index key": lambda memo: Memo.primary("R1", "1").update(
        Memo.state.set("x")
    ),
    "update to the same value": lambda memo: Memo.primary("R1", "1").update(Memo.text.set("")),
    "put in a transaction": lambda memo: transact(put(memo)),
    "move": lambda memo: update(memo, Memo.room.set("R2")),
    "move by key": lambda memo: Memo.primary("R1", "1").update(Memo.memo_id.set("2")),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_write_counts_the_version_on(
    db: Database, engine: Engine, memo: Memo, name: str
) -> None:
    db.run(WRITES[name](memo))

    assert stored_version(engine) == "2"


def test_an_update_in_a_transaction_counts_the_version_on(
    db: Database, engine: Engine, memo: Memo
) -> None:
    db.run(create(Clerk(clerk_id="C1")))
    db.run(transact(update(memo, Memo.text.set("x")), condition_check(Clerk.primary("C1"))))

    assert memo.version == 2
    assert memo.text == "x"
    assert db.run(Memo.primary("R1", "1")) == memo


@pytest.mark.parametrize(
    "name", ["put", "update of an instance", "update of an instance, with an index key", "move"]
)
def test_a_write_counts_the_version_of_the_instance_on(db: Database, memo: Memo, name: str) -> None:
    db.run(WRITES[name](memo))
    assert memo.version == 2

    db.run(put(memo))
    assert memo.version == 3


def test_a_create_after_a_delete_begins_again(db: Database, memo: Memo) -> None:
    db.run(delete(memo))
    db.run(create(memo))

    assert memo.version == 1


def test_a_version_cannot_be_given() -> None:
    with pytest.raises(InvalidValue, match=r"Memo\.version is set by the library"):
        Memo(room="R1", memo_id="1", version=5)  # type: ignore[call-arg]


# -- stale writers -------------------------------------------------------------------------------

STALE: dict[str, Any] = {
    "put": put,
    "update": lambda memo: update(memo, Memo.text.set("mine")),
    "update with an index key": lambda memo: update(memo, Memo.state.set("mine")),
    "update by key": lambda memo: (
        Memo.primary("R1", "1").update(Memo.text.set("mine")).condition(Memo.version == 1)
    ),
    "update by key with an index key": lambda memo: (
        Memo.primary("R1", "1").update(Memo.state.set("mine")).condition(Memo.version == 1)
    ),
    "delete": delete,
    "delete by key": lambda memo: Memo.primary("R1", "1").delete().condition(Memo.version == 1),
    "move": lambda memo: update(memo, Memo.room.set("R2")),
    "move by key": lambda memo: (
        Memo.primary("R1", "1").update(Memo.room.set("R2")).condition(Memo.version == 1)
    ),
}


@pytest.mark.parametrize("name", STALE)
def test_a_stale_write_is_refused_and_nothing_is_written(
    db: Database, engine: Engine, memo: Memo, name: str
) -> None:
    current = db.run(Memo.primary("R1", "1").update(Memo.text.set("theirs")))
    before = items(engine)

    with pytest.raises(VersionConflict, match=r"Memo \(PK=.*version 1 was expected") as refused:
        db.run(STALE[name](memo))

    assert refused.value.entity == "Memo"
    assert refused.value.key == {"PK": {"S": "ROOM#R1"}, "SK": {"S": "MEMO#1"}}
    assert refused.value.current == current
    assert items(engine) == before


@pytest.mark.parametrize("name", STALE)
def test_a_stale_write_in_a_transaction_is_refused_and_nothing_is_written(
    db: Database, engine: Engine, memo: Memo, name: str
) -> None:
    current = db.run(Memo.primary("R1", "1").update(Memo.text.set("theirs")))
    before = items(engine)

    with pytest.raises(VersionConflict, match="write 2 of 2") as refused:
        db.run(transact(create(Clerk(clerk_id="C1")), STALE[name](memo)))

    assert refused.value.current == current
    assert items(engine) == before


@pytest.mark.parametrize("name", ["put", "update", "update with an index key", "delete", "move"])
def test_an_instance_keeps_its_version_and_stamps_when_the_write_fails(
    db: Database, memo: Memo, name: str
) -> None:
    db.run(Memo.primary("R1", "1").update(Memo.text.set("theirs")))
    before = dict(vars(memo))

    with pytest.raises(VersionConflict):
        db.run(STALE[name](memo))

    assert vars(memo) == before


def test_a_put_over_what_was_never_read_is_refused(db: Database, memo: Memo) -> None:
    with pytest.raises(
        VersionConflict, match="it already exists, in version 1; read it before you replace it"
    ):
        db.run(put(Memo(room="R1", memo_id="1", text="mine")))

    assert db.run(Memo.primary("R1", "1")) == memo


def test_a_put_of_what_was_deleted_is_refused(db: Database, engine: Engine, memo: Memo) -> None:
    db.run(Memo.primary("R1", "1").delete())

    with pytest.raises(
        VersionConflict, match="version 1 was expected, but the item does not exist: it was deleted"
    ):
        db.run(put(memo))

    assert items(engine) == []


def test_a_stale_writer_can_go_on_from_the_current_item(db: Database, memo: Memo) -> None:
    db.run(Memo.primary("R1", "1").update(Memo.text.set("theirs")))
    with pytest.raises(VersionConflict) as refused:
        db.run(update(memo, Memo.state.set("final")))

    current: Memo = refused.value.current
    updated = db.run(update(current, Memo.state.set("final")))

    assert (updated.version, updated.text, updated.state) == (3, "theirs", "final")


def test_a_create_of_what_is_there_is_no_stale_write(db: Database, memo: Memo) -> None:
    again = Memo(room="R1", memo_id="1")

    with pytest.raises(AlreadyExists):
        db.run(create(again))

    assert again.version == 0


# -- with unique values --------------------------------------------------------------------------

CLERK: dict[str, Any] = {
    "put": lambda clerk: _with_badge(clerk, "b2"),
    "update": lambda clerk: update(clerk, Clerk.badge.set("b2")),
    "delete": delete,
    "move": lambda clerk: update(clerk, Clerk.clerk_id.set("C9")),
}


def _with_badge(clerk: Clerk, badge: str) -> Write[Clerk]:
    clerk.badge = badge
    return put(clerk)


@pytest.mark.parametrize("name", CLERK)
def test_a_stale_write_leaves_sentinels_alone(db: Database, engine: Engine, name: str) -> None:
    clerk = db.run(create(Clerk(clerk_id="C1", badge="b1")))
    db.run(Clerk.primary("C1").update(Clerk.badge.set("b0")))
    before = items(engine)

    with pytest.raises(VersionConflict):
        db.run(CLERK[name](clerk))

    assert items(engine) == before
    assert clerk.version == 1


@pytest.mark.parametrize("name", ["put", "update", "move"])
def test_a_write_with_sentinels_counts_the_version_on(
    db: Database, engine: Engine, name: str
) -> None:
    clerk = db.run(create(Clerk(clerk_id="C1", badge="b1")))
    db.run(CLERK[name](clerk))

    assert clerk.version == 2
    found = db.run(Clerk.primary(clerk.clerk_id))
    assert found == clerk


def test_a_write_that_is_not_unique_keeps_the_version(db: Database) -> None:
    db.run(create(Clerk(clerk_id="C2", badge="b2")))
    clerk = db.run(create(Clerk(clerk_id="C1", badge="b1")))

    with pytest.raises(UniqueViolation):
        db.run(update(clerk, Clerk.badge.set("b2")))

    assert (clerk.version, clerk.badge) == (1, "b1")


# -- items from before the entity was versioned --------------------------------------------------


@pytest.mark.parametrize(
    "name", ["put", "update of an instance", "update by key", "update by key, with an index key"]
)
def test_an_item_without_a_version_counts_as_version_0(
    db: Database, engine: Engine, name: str
) -> None:
    old = {"room": {"S": "R1"}, "memo_id": {"S": "1"}, "state": {"S": "draft"}, "text": {"S": ""}}
    key = {"PK": {"S": "ROOM#R1"}, "SK": {"S": "MEMO#1"}, "type": {"S": "Memo"}}
    engine.call("PutItem", {"TableName": "office", "Item": key | old})
    memo = db.run(Memo.primary("R1", "1"))
    assert memo is not None
    assert memo.version == 0

    db.run(WRITES[name](memo))

    assert stored_version(engine) == "1"
