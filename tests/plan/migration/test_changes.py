"""Every kind of change, forward and back: what is stored is what a fresh load would store."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, connect, update
from tablewright.errors import TablewrightError
from tablewright.verify.stored_items import compare_stored
from tests.plan.migration.migrating import (
    PAIRS,
    RECORDS,
    drive,
    items,
    load,
    migration,
    stored,
    whole,
)
from torture.migration_designs import Side

#: What a version stores of these records depends on the time, or is filled in by the other version.
LOSSY = {"attribute made required", "several changes"}


def comparable(side: Side, found: list[Any]) -> list[Any]:
    return [{n: v for n, v in item.items() if n not in side.volatile} for item in found]


@pytest.mark.parametrize("name", PAIRS)
def test_a_completed_migration_leaves_what_a_fresh_load_stores(name: str) -> None:
    pair = PAIRS[name]
    engine, fresh = stored(pair), Engine(":memory:")
    load(fresh, pair.new, [pair.new.expected(record) for record in _known(pair.old)])

    drive(migration("apply", pair.new), engine)
    drive(migration("complete", pair.new, delete_removed=True), engine)

    assert comparable(pair.new, items(engine)) == comparable(pair.new, items(fresh))
    assert compare_stored(pair.new.table.__table__, items(engine))


@pytest.mark.parametrize("name", PAIRS)
def test_a_rollback_restores_every_item(name: str) -> None:
    pair = PAIRS[name]
    engine = stored(pair)
    before = items(engine)

    drive(migration("apply", pair.new), engine)
    drive(migration("rollback", pair.old), engine)

    after = items(engine)
    if name in LOSSY:
        before, after = ([i | {"note": {"S": "y"}} for i in each] for each in (before, after))
    assert after == before
    connect(engine, pair.old.table)


@pytest.mark.parametrize("name", PAIRS)
def test_a_second_run_changes_nothing(name: str) -> None:
    pair = PAIRS[name]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    before = whole(engine)

    report = drive(migration("apply", pair.new), engine)

    assert (report.changed, report.reserved, whole(engine)) == (0, 0, before)


@pytest.mark.parametrize("name", PAIRS)
def test_what_new_programs_write_is_kept_by_a_rollback(name: str) -> None:
    pair = PAIRS[name]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    db = connect(engine, pair.new.table)
    first = db.run(pair.new.primary("t0"))
    db.run(update(first, pair.new.change("state", "c"), pair.new.change("email", "new@x")))
    db.run(pair.new.primary("t1").delete())

    drive(migration("rollback", pair.old), engine)

    db = connect(engine, pair.old.table)
    seen = pair.old.seen(db.run(pair.old.primary("t0")))
    assert (seen["state"], seen["email"]) == ("c", "new@x")
    assert db.run(pair.old.primary("t1")) is None
    assert compare_stored(pair.old.table.__table__, items(engine))


def test_a_rolled_back_index_is_not_taken_for_complete() -> None:
    """A program of the new version may connect: it must not read an index without the items."""
    pair = PAIRS["place added"]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    drive(migration("rollback", pair.old), engine)
    db = connect(engine, pair.new.table)
    with pytest.raises(TablewrightError, match="may lack items"):
        db.run(pair.new.entity.by_email("T1@x"))


def _known(side: Side) -> list[Any]:
    return [{n: v for n, v in each.items() if n in ("tid", *side.names)} for each in RECORDS]
