"""The functions of `tablewright.migrations`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright import Engine, connect, create, migrations
from tablewright.errors import (
    DesignMismatch,
    InvalidValue,
    MigrationRefused,
    TableMismatch,
    TableNotFound,
)
from tablewright.plan.migration.executing import MigrationProgress
from tests.plan.migration.migrating import PAIRS, RECORDS, items, load, record, stored, whole

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
