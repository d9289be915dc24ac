"""Which programs may connect in each phase of a migration."""

from __future__ import annotations

import asyncio
import time

import pytest

from tablewright import Engine, attr, connect, connect_async, create
from tablewright.errors import DesignMismatch, TablewrightError, UniqueNotReady
from tablewright.observe import RequestEvent
from tablewright.plan.migration import admission
from tablewright.plan.migration.admission import ProgramWatch
from tests.plan.migration.migrating import (
    PAIRS,
    Stopped,
    drive,
    interrupt,
    migration,
    record,
    sending,
    stop_before,
    stored,
    whole,
)
from torture.migration_designs import Side, base, by_state, optional, side

#: Which versions may connect before a migration, when it has begun, before its last step, after it,
#: and when it is completed.
PHASES: dict[str, tuple[str, str, str, str, str]] = {
    "index key changed": ("old", "old", "new", "new", "new"),
    "entity renamed": ("old", "old", "new", "new", "new"),
    "attributes renamed": ("old", "old", "new", "new", "new"),
    "optional attribute renamed": ("old", "old", "new", "new", "new"),
    "attribute retyped": ("old", "old", "new", "new", "new"),
    "attribute made required": ("old new", "old new", "new", "new", "new"),
    "required attribute added": ("old new", "old new", "new", "new", "new"),
    "unique added": ("old new", "old new", "new", "new", "new"),
    "unique removed": ("old", "", "new", "new", "new"),
    "place added": ("old new", "old new", "new", "new", "new"),
    "attribute added": ("old new", "old new", "old new", "old new", "old new"),
    "version added": ("old new", "old new", "old new", "old new", "old new"),
    "history added": ("old new", "old new", "old new", "old new", "old new"),
}


def served(engine: Engine, name: str) -> str:
    """Return which versions may connect."""
    pair = PAIRS[name]
    return " ".join(each for each in ("old", "new") if _connects(engine, getattr(pair, each)))


def _connects(engine: Engine, side: Side) -> bool:
    try:
        connect(engine, side.table)
    except DesignMismatch:
        return False
    return True


def begun(engine: Engine, name: str) -> None:
    """Stop a migration as soon as it has begun."""
    for number in range(30):
        with pytest.raises(Stopped):
            drive(migration("apply", PAIRS[name].new), stop_before(number, sending(engine)))
        if "$target" in record(engine):
            return


@pytest.mark.parametrize("name", PHASES)
def test_programs_are_served_by_phase(name: str) -> None:
    engine, found = stored(PAIRS[name]), list[str]()
    found.append(served(engine, name))
    begun(engine, name)
    found.append(served(engine, name))
    interrupt(engine, "apply", PAIRS[name].new, "switch")
    found.append(served(engine, name))
    drive(migration("apply", PAIRS[name].new), engine)
    found.append(served(engine, name))
    drive(migration("complete", PAIRS[name].new), engine)
    found.append(served(engine, name))
    assert tuple(found) == PHASES[name]


@pytest.mark.parametrize("name", PHASES)
def test_after_a_rollback_programs_are_served_as_before(name: str) -> None:
    engine = stored(PAIRS[name])
    begun(engine, name)
    drive(migration("rollback", PAIRS[name].old), engine)
    assert served(engine, name) == PHASES[name][0]
    drive(migration("apply", PAIRS[name].new), engine)
    drive(migration("rollback", PAIRS[name].old), engine)
    assert served(engine, name) == PHASES[name][0]


@pytest.mark.parametrize(("step", "versions"), [("check", "new"), ("rewrite", ""), ("finish", "")])
def test_no_program_is_served_while_a_rollback_writes(step: str, versions: str) -> None:
    pair = PAIRS["entity renamed"]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    interrupt(engine, "rollback", pair.old, step)
    assert served(engine, "entity renamed") == versions


@pytest.mark.parametrize("name", ["place added", "unique added"])
def test_a_rollback_ends_programs_that_read_what_it_removes(name: str) -> None:
    pair = PAIRS[name]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    interrupt(engine, "rollback", pair.old, "clean")
    assert served(engine, name) == ""
    drive(migration("rollback", pair.old), engine)
    assert served(engine, name) == "old new"


@pytest.mark.parametrize("name", ["attributes renamed", "place added"])
def test_a_connected_program_notices_that_it_is_no_longer_served(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "RECHECK_SECONDS", 0.0)
    pair = PAIRS[name]
    engine = stored(pair)
    db = connect(engine, pair.old.table)
    before = whole(engine)
    db.run(pair.old.entity.primary("t1"))
    drive(migration("apply", pair.new), engine)
    with pytest.raises(DesignMismatch, match="cannot run together"):
        db.run(pair.old.entity.primary("t1"))
    drive(migration("rollback", pair.old), engine)
    assert whole(engine) == before
    db.run(pair.old.entity.primary("t1"))  # it is served again


@pytest.mark.parametrize("connects", ["before the migration", "after it"])
def test_a_program_that_did_nothing_during_a_rollback_notices_it(connects: str) -> None:
    pair = PAIRS["unique added"]
    engine = stored(pair)
    find = pair.new.entity.mail("t1@example.com")
    db = connect(engine, pair.new.table)
    with pytest.raises(UniqueNotReady):
        db.run(find)
    drive(migration("apply", pair.new), engine)
    if connects == "after it":
        db = connect(engine, pair.new.table)
    db.run(find)
    drive(migration("rollback", pair.old), engine)
    watch = db._context.watch
    assert isinstance(watch, ProgramWatch)
    watch._now = lambda: time.monotonic() + admission.RECHECK_SECONDS
    with pytest.raises(DesignMismatch, match="after the program connected"):
        db.run(find)
    with pytest.raises(UniqueNotReady):
        connect(engine, pair.new.table).run(find)


def test_a_connected_program_in_an_event_loop_notices_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "RECHECK_SECONDS", 0.0)
    pair = PAIRS["attributes renamed"]
    engine = stored(pair)

    async def work() -> None:
        async with connect_async(engine, pair.old.table) as db:
            await db.run(pair.old.entity.primary("t1"))
            drive(migration("apply", pair.new), engine)
            with pytest.raises(DesignMismatch, match="cannot run together"):
                await db.run(pair.old.entity.primary("t1"))

    asyncio.run(work())


def test_the_record_is_read_again_only_when_that_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS["attributes renamed"]
    engine, events = stored(pair), list[RequestEvent]()
    db = connect(engine, pair.old.table, observe=events.append)
    events.clear()
    db.run(pair.old.entity.primary("t1"))
    assert len(events) == 1
    monkeypatch.setattr(admission, "RECHECK_SECONDS", 0.0)
    db = connect(engine, pair.old.table, observe=events.append)
    events.clear()
    db.run(pair.old.entity.primary("t1"))
    assert [event.operation for event in events] == ["GetItem", "GetItem"]


def test_a_program_that_may_not_read_the_record_is_not_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "RECHECK_SECONDS", 0.0)
    pair = PAIRS["attribute added"]
    engine = stored(pair)
    policy = {
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Action": "dynamodb:GetItem",
            "Resource": "*",
            "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "T*"}},
        },
    }
    db = connect(engine, pair.old.table, policy=policy)
    assert db.run(pair.old.entity.primary("t1")) is not None
    assert db.run(pair.old.entity.primary("t1")) is not None


def test_an_executor_waits_for_programs_before_it_changes_what_they_read() -> None:
    pair, waits = PAIRS["attributes renamed"], list[float]()
    engine = stored(pair)
    drive(migration("apply", pair.new, program_seconds=15), engine, waits)
    assert sum(waits) == 15
    waits.clear()
    drive(migration("complete", pair.new, program_seconds=15), engine, waits)
    assert not waits  # the old version was refused before


def test_a_unique_value_that_is_not_ready_names_the_migration() -> None:
    pair = PAIRS["unique added"]
    db = connect(stored(pair), pair.new.table)
    with pytest.raises(UniqueNotReady, match="until it has ended: tablewright migrate apply"):
        db.run(create(pair.new.make({"tid": "t9", **dict.fromkeys(pair.new.names, "x"), "n": 1})))


def test_a_refused_program_is_told_the_change_and_the_command() -> None:
    pair = PAIRS["entity renamed"]
    engine = stored(pair)
    with pytest.raises(TablewrightError, match=r"renamed: Thing -> Item(.|\n)*migrate plan"):
        connect(engine, pair.new.table)
    drive(migration("apply", pair.new), engine)
    with pytest.raises(TablewrightError, match=r"renamed: Thing -> Item(.|\n)*migrate rollback"):
        connect(engine, pair.old.table)
    drive(migration("complete", pair.new), engine)
    with pytest.raises(TablewrightError, match=r"renamed: Thing -> Item(.|\n)*later version"):
        connect(engine, pair.old.table)


def test_a_third_version_is_refused_if_it_cannot_run_with_the_one_that_is_migrated_to() -> None:
    pair = PAIRS["optional attribute renamed"]
    engine = stored(pair)
    third = side(base(note=optional(), more=(str, attr(fill="x"))), by_state)
    connect(engine, third.table).close()
    interrupt(engine, "apply", pair.new, "rewrite")
    with pytest.raises(DesignMismatch, match="cannot run together"):
        connect(engine, third.table)
