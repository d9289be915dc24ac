"""The functions of `tablewright.migrations`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine, attr, connect, create, migrations, ttl, unique
from tablewright.errors import (
    DesignMismatch,
    InvalidValue,
    MigrationRefused,
    TableMismatch,
    TableNotFound,
)
from tablewright.plan.migration.executing import MigrationProgress
from tests.plan.migration.migrating import PAIRS, RECORDS, items, load, record, stored, whole
from torture.migration_designs import Side, side

PAIR = PAIRS["several changes"]
OLD, NEW = PAIR.old.table, PAIR.new.table


def test_a_migration_forward_and_back() -> None:
    engine = stored(PAIR)
    assert [str(each) for each in migrations.plan(engine, NEW)[0].steps] == [
        "check",
        "create-index gsi2",
        "await-programs",
        "rewrite",
        "verify",
        "switch",
    ]
    [report] = migrations.apply(engine, NEW)
    assert (report.changed, report.reserved) == (5, 5)
    [back] = migrations.rollback(engine, OLD)
    assert [str(each) for each in back.steps][-3:] == ["clean", "delete-index gsi2", "finish"]
    migrations.apply(engine, NEW)
    migrations.complete(engine, NEW)
    assert migrations.plan(engine, NEW)[0].steps == ()


def test_plan_writes_nothing() -> None:
    engine = stored(PAIR)
    before = engine.call("Scan", {"TableName": "things"})
    migrations.plan(engine, NEW)
    assert engine.call("Scan", {"TableName": "things"}) == before


def test_status_tells_the_version_and_the_changes() -> None:
    engine = stored(PAIR)
    [before] = migrations.status(engine, NEW)
    assert before.changes
    assert before.revision is not None
    assert before.revision.previous is None
    migrations.apply(engine, NEW)
    [after] = migrations.status(engine, NEW)
    assert after.changes == ()
    assert after.revision is not None
    assert after.revision.previous == before.revision.design


def test_baseline_records_the_version_once() -> None:
    engine = Engine(":memory:")
    load(engine, PAIR.old, RECORDS)
    assert migrations.status(engine, OLD)[0].revision is None
    migrations.baseline(engine, OLD)
    assert migrations.status(engine, OLD)[0].changes == ()
    with pytest.raises(MigrationRefused, match="records already"):
        migrations.baseline(engine, OLD)


def test_baseline_of_a_table_without_an_index_record() -> None:
    engine = Engine(":memory:")
    connect(engine, OLD).run(create(PAIR.old.make(RECORDS[0])))
    migrations.baseline(engine, OLD)
    migrations.apply(engine, NEW)
    connect(engine, NEW)


def test_baseline_of_another_structure_is_refused() -> None:
    engine = Engine(":memory:")
    request = {
        "TableName": "things",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    engine.call("CreateTable", request)
    with pytest.raises(TableMismatch):
        migrations.baseline(engine, OLD)


def test_complete_keeps_the_items_of_removed_entities_unless_told() -> None:
    pair = PAIRS["entity removed"]
    engine = stored(pair)
    db = connect(engine, pair.old.table)
    db.run(create(pair.old.other(oid="1")))
    count = len(items(engine))
    migrations.apply(engine, pair.new.table)
    migrations.complete(engine, pair.new.table)
    assert len(items(engine)) == count  # also its sentinel

    engine = stored(pair)
    connect(engine, pair.old.table).run(create(pair.old.other(oid="1")))
    migrations.apply(engine, pair.new.table)
    migrations.complete(engine, pair.new.table, delete_removed=True)
    assert len(items(engine)) == count - 2


@pytest.mark.parametrize("name", ["ttl added", "stream added"])
def test_settings_that_the_new_version_lacks_are_removed_by_complete(name: str) -> None:
    pair = PAIRS[name]
    old, new = pair.new.table, pair.old.table
    engine = Engine(":memory:")
    load(engine, pair.new, RECORDS)
    migrations.baseline(engine, old)
    migrations.apply(engine, new)
    connect(engine, old)  # they are kept until then
    migrations.complete(engine, new)
    with pytest.raises((TableMismatch, DesignMismatch)):
        connect(engine, old, create=False)
    description = engine.call("DescribeTable", {"TableName": "things"})["Table"]
    ttl = engine.call("DescribeTimeToLive", {"TableName": "things"})["TimeToLiveDescription"]
    assert ttl["TimeToLiveStatus"] == "DISABLED"
    assert "StreamSpecification" not in description


def test_sentinels_of_a_type_that_both_versions_have_belong_to_their_items() -> None:
    """Another type of items without renamed_from= is another entity, with the same sentinels."""

    def version(type_name: str) -> Side:
        def parts(table: Any, a: Any) -> dict[str, Any]:
            return {"mail": unique("MAIL" / a.email, type_name="Mail")}

        return side({"email": (str, attr())}, parts, type_name=type_name)

    old, new = version("Old"), version("New")
    engine = Engine(":memory:")
    load(engine, old, [{"tid": f"t{n}", "email": f"e{n}"} for n in range(3)])
    migrations.baseline(engine, old.table)
    before = sorted(map(str, items(engine)))
    migrations.apply(engine, new.table, program_seconds=0)
    connect(engine, new.table).run(create(new.entity(tid="n", email="new")))
    migrations.rollback(engine, old.table, program_seconds=0)
    assert sorted(map(str, items(engine))) == before
    migrations.apply(engine, new.table, program_seconds=0)
    connect(engine, new.table).run(create(new.entity(tid="n", email="new")))
    migrations.complete(engine, new.table, program_seconds=0, delete_removed=True)
    assert sorted(each["PK"]["S"] for each in items(engine)) == ["MAIL#new", "THING#n"]


def test_stored_items_get_the_time_when_they_expire() -> None:
    """They are read with it at once; items expire when all of them have it."""

    def version(**more: Any) -> Side:
        return side({"state": (str, attr())} | more, names={"state": "state"})

    new = version(expires=(datetime, ttl(fill=lambda item: EXPIRIES[item["state"]])))
    old = version()
    engine = Engine(":memory:")
    load(engine, old, [{"tid": f"t{n}", "state": "ab"[n % 2]} for n in range(4)])
    migrations.baseline(engine, old.table)
    read = new.entity.primary("t1")
    beside = connect(engine, new.table, update=True)
    assert beside.run(read).expires == EXPIRIES["b"]
    engine.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": DISABLED})
    [done] = migrations.apply(engine, new.table)
    assert ([each.name for each in done.steps][-2:], done.changed) == (["enable-ttl", "switch"], 4)
    assert connect(engine, new.table).run(read).expires == EXPIRIES["b"]
    assert engine.expire(EXPIRIES["a"].timestamp() + 1) == 2
    [back] = migrations.rollback(engine, old.table)
    assert (back.changed, [*map(sorted, items(engine))]) == (
        2,
        [["PK", "SK", "state", "tid", "type"]] * 2,
    )


EXPIRIES = {"a": datetime(2030, 1, 1, tzinfo=UTC), "b": datetime(2040, 1, 1, tzinfo=UTC)}
DISABLED = {"AttributeName": "expires", "Enabled": False}


def test_progress_is_reported_by_step() -> None:
    engine = stored(PAIR)
    seen = list[MigrationProgress]()
    migrations.apply(engine, NEW, progress=seen.append)
    assert [each.number for each in seen] == sorted(each.number for each in seen)
    assert {each.steps for each in seen} == {6}
    assert seen[-1].step.name == "switch"


def test_a_file_is_migrated(tmp_path: Path) -> None:
    file = tmp_path / "things.db"
    with Engine(file, durability="normal") as engine:
        load(engine, PAIR.old, RECORDS)
    migrations.baseline(file, OLD)
    migrations.apply(file, NEW)
    with Engine(file) as engine:
        expected = stored(PAIR)
        migrations.apply(expected, NEW)
        assert whole(engine) == whole(expected)
        assert "$previous" in record(engine)


def test_bad_targets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableNotFound, match="no such file"):
        migrations.apply(tmp_path / "missing.db", NEW)
    with pytest.raises(TableNotFound, match="does not exist"):
        migrations.apply(Engine(":memory:"), NEW)
    with pytest.raises(MigrationRefused, match="has no tables"):
        migrations.apply(":memory:", NEW)
    with pytest.raises(InvalidValue, match="at least one Table"):
        migrations.apply(Engine(":memory:"))
