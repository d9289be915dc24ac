"""DescribeContinuousBackups, UpdateContinuousBackups and RestoreTableToPointInTime."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.engine.repair import repair
from tablewright.errors import InvalidRestoreTimeException
from tablewright.server import serving
from tests.engine.clock import Clock, stopped_clock
from tests.engine.database import Database, Json, index_request, item, table_request
from tests.server.http import sdk_client

DAY = 86_400
DISABLED: Json = {
    "ContinuousBackupsDescription": {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }
}
INDEXES: Json = {"local": {"by_n": ("pk:S / n:N", "ALL")}, "glob": {"by_g": ("g:S", ["n"])}}


def turn_on(days: int | None = None, *, enabled: bool = True) -> Json:
    setting: Json = {"PointInTimeRecoveryEnabled": enabled}
    if days is not None:
        setting["RecoveryPeriodInDays"] = days
    return {"PointInTimeRecoverySpecification": setting}


# -- over HTTP and in process


def test_recovery_is_off_at_first(db: Database) -> None:
    assert db.call("DescribeContinuousBackups", {"TableName": db.table()}) == DISABLED


def test_recovery_is_turned_on_for_35_days_and_off(db: Database) -> None:
    table = db.table()
    on = db.call("UpdateContinuousBackups", {"TableName": table, **turn_on()})
    recovery = on["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
    assert recovery["RecoveryPeriodInDays"] == 35
    assert recovery["EarliestRestorableDateTime"] <= recovery["LatestRestorableDateTime"]
    described = db.call("DescribeContinuousBackups", {"TableName": table})
    same = described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert same["EarliestRestorableDateTime"] == recovery["EarliestRestorableDateTime"]
    off = turn_on(enabled=False)
    assert db.call("UpdateContinuousBackups", {"TableName": table, **off}) == DISABLED
    assert db.call("UpdateContinuousBackups", {"TableName": table, **off}) == DISABLED
    assert db.call("DescribeContinuousBackups", {"TableName": table}) == DISABLED


@pytest.mark.parametrize("days", [0, 36])
def test_a_period_has_1_to_35_days(db: Database, table: str, days: int) -> None:
    bound = "greater than or equal to 1" if days < 1 else "less than or equal to 35"
    db.refuses(
        "UpdateContinuousBackups",
        {"TableName": table, **turn_on(days)},
        f"1 validation error detected: Value '{days}' at 'pointInTimeRecoverySpecification."
        f"recoveryPeriodInDays' failed to satisfy constraint: Member must have value {bound}",
    )


def test_a_period_without_recovery_is_refused(db: Database, table: str) -> None:
    db.refuses(
        "UpdateContinuousBackups",
        {"TableName": table, **turn_on(7, enabled=False)},
        "One or more parameter values were invalid: RecoveryPeriodInDays cannot be specified when "
        "PointInTimeRecoveryEnabled is false",
    )


def test_a_table_without_recovery_is_not_restored(db: Database, table: str) -> None:
    db.fails(
        "RestoreTableToPointInTime",
        {"SourceTableName": table, "TargetTableName": "more", "UseLatestRestorableTime": True},
        "PointInTimeRecoveryUnavailableException",
        f"Point in time recovery is not enabled for table '{table}'",
    )


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"UseLatestRestorableTime": True}, "SourceTableName and SourceTableArn"),
        ({"SourceTableName": "things"}, "UseLatestRestorableTime and RestoreDateTime"),
        (
            {
                "SourceTableName": "things",
                "UseLatestRestorableTime": True,
                "RestoreDateTime": 1_800_000_000,
            },
            "UseLatestRestorableTime and RestoreDateTime",
        ),
    ],
)
def test_a_source_and_a_time_are_required(db: Database, members: Json, message: str) -> None:
    db.refuses(
        "RestoreTableToPointInTime",
        {"TargetTableName": "more", **members},
        f"One or more parameter values were invalid: Exactly one of {message} must be specified",
    )


def test_the_latest_time_is_now(db: Database) -> None:
    table = db.table(**INDEXES)
    db.call("UpdateContinuousBackups", {"TableName": table, **turn_on()})
    things = [item(pk="a", sk=str(number), n=number, g="red") for number in range(3)]
    for one in things:
        db.put(table, one)
    name = db.new_name()
    arn = db.call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    answer = db.call(
        "RestoreTableToPointInTime",
        {"SourceTableArn": arn, "TargetTableName": name, "UseLatestRestorableTime": True},
    )
    summary = answer["TableDescription"]["RestoreSummary"]
    assert summary.keys() == {"SourceTableArn", "RestoreDateTime", "RestoreInProgress"}
    assert summary["SourceTableArn"] == arn
    for index in (None, "by_n"):
        assert sorted(db.items(name, index), key=lambda one: str(one["sk"])) == things
    assert db.call("DescribeContinuousBackups", {"TableName": name}) == DISABLED
    db.fails(
        "RestoreTableToPointInTime",
        {"SourceTableName": table, "TargetTableName": name, "UseLatestRestorableTime": True},
        "TableAlreadyExistsException",
        f"Table already exists: {name}",
    )


# -- at other times


@pytest.fixture
def clock() -> Iterator[Clock]:
    with stopped_clock() as clock:
        yield clock


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    """An engine with the table `things`, whose recovery is on since the time of the clock."""
    with Engine(":memory:") as engine:
        make_table(engine)
        yield engine
        assert engine.check().problems == []


def make_table(engine: Engine, days: int | None = None) -> None:
    engine.call("CreateTable", table_request("things", **INDEXES))
    put(engine, "before")
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on(days)})


def put(engine: Engine, key: str, **attributes: Any) -> None:
    thing = item(pk=key, sk="1", **attributes)
    engine.call("PutItem", {"TableName": "things", "Item": thing})


def restored(engine: Engine, moment: float, **overrides: Any) -> list[Json]:
    """What `things` had at a time."""
    with engine.sandbox():
        request = {"SourceTableName": "things", "TargetTableName": "then"} | overrides
        engine.call("RestoreTableToPointInTime", {"RestoreDateTime": moment, **request})
        assert engine.check().problems == []
        found: list[Json] = engine.call("Scan", {"TableName": "then"})["Items"]
    return sorted(found, key=lambda one: str(one["pk"]))


def test_each_time_has_the_items_of_then(engine: Engine, clock: Clock) -> None:
    start = clock.now
    clock.now += 10
    put(engine, "new", n=1, g="red")
    clock.now += 10
    put(engine, "new", n=2, g="blue")
    clock.now += 10
    engine.call("DeleteItem", {"TableName": "things", "Key": item(pk="before", sk="1")})
    before, new = item(pk="before", sk="1"), item(pk="new", sk="1", n=1, g="red")
    newer = item(pk="new", sk="1", n=2, g="blue")
    assert restored(engine, start) == [before]
    assert restored(engine, start + 9.999) == [before]
    assert restored(engine, start + 10) == [before, new]
    assert restored(engine, start + 19.9995) == [before, new]
    assert restored(engine, start + 20) == [before, newer]
    assert restored(engine, start + 29) == [before, newer]
    assert restored(engine, start + 30) == [newer]
    clock.now += 5
    assert restored(engine, start + 35) == [newer]


def test_times_before_and_after_are_refused(engine: Engine, clock: Clock) -> None:
    for moment in (clock.now - 1, clock.now + 1, 0, -5, 1e300):
        with pytest.raises(InvalidRestoreTimeException, match="An invalid restore time was"):
            restored(engine, moment)


def test_the_window_moves_and_does_not_reach_back(engine: Engine, clock: Clock) -> None:
    start = clock.now
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on(2)})
    clock.now += DAY
    put(engine, "new")
    assert restored(engine, start) == [item(pk="before", sk="1")]
    clock.now += DAY + 1
    with pytest.raises(InvalidRestoreTimeException):
        restored(engine, start)
    assert restored(engine, start + 2) == [item(pk="before", sk="1")]
    described = engine.call("DescribeContinuousBackups", {"TableName": "things"})
    recovery = described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["EarliestRestorableDateTime"] == start + 1
    assert recovery["LatestRestorableDateTime"] == clock.now
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on(enabled=False)})
    put(engine, "unseen")
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on()})
    with pytest.raises(InvalidRestoreTimeException):
        restored(engine, clock.now - 2)


def test_trimmed_changes_are_those_before_the_window(engine: Engine, clock: Clock) -> None:
    start = clock.now
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on(3)})
    for _ in range(6):
        clock.now += DAY
        put(engine, "new", n=int(clock.now))
        engine.trim()
        earliest = max(start, clock.now - 3 * DAY)
        then = item(pk="new", sk="1", n=int(earliest))
        assert restored(engine, earliest)[1:] == ([then] if earliest > start else [])
    with pytest.raises(InvalidRestoreTimeException):
        restored(engine, start)


def test_a_stream_and_recovery_share_the_log(engine: Engine, clock: Clock) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    engine.call("UpdateTable", {"TableName": "things", "StreamSpecification": stream})
    start = clock.now
    clock.now += 1
    put(engine, "new")
    off = {"StreamEnabled": False}
    engine.call("UpdateTable", {"TableName": "things", "StreamSpecification": off})
    clock.now += 1
    put(engine, "newer")
    before, new = item(pk="before", sk="1"), item(pk="new", sk="1")
    assert restored(engine, start) == [before]
    assert restored(engine, start + 1) == [before, new]


def test_recovery_begins_with_an_older_log_of_a_stream(clock: Clock) -> None:
    with Engine(":memory:") as engine:
        stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        engine.call("CreateTable", table_request("things", StreamSpecification=stream))
        put(engine, "old")
        clock.now += 0.4
        engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on()})
        clock.now += 0.4
        put(engine, "new")
        assert [one["pk"]["S"] for one in restored(engine, clock.now - 0.1)] == ["old"]


def test_changes_from_before_recovery_was_off_are_not_undone(engine: Engine, clock: Clock) -> None:
    """The changes in between were not logged, so undoing earlier ones would mix two states."""
    start = clock.now
    clock.now += 0.1
    put(engine, "a", n=1)
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on(enabled=False)})
    put(engine, "a", n=2)
    put(engine, "b")
    engine.call("UpdateContinuousBackups", {"TableName": "things", **turn_on()})
    put(engine, "c")
    assert restored(engine, start) == [
        item(pk="a", sk="1", n=2),
        item(pk="b", sk="1"),
        item(pk="before", sk="1"),
    ]


def test_overrides_are_those_of_backups(engine: Engine, clock: Clock) -> None:
    engine.call(
        "RestoreTableToPointInTime",
        {
            "SourceTableName": "things",
            "TargetTableName": "then",
            "RestoreDateTime": clock.now,
            "LocalSecondaryIndexOverride": [],
            "GlobalSecondaryIndexOverride": [index_request("by_g", "g:S", ["n"])],
            "SSESpecificationOverride": {"Enabled": True},
        },
    )
    described = engine.call("DescribeTable", {"TableName": "then"})["Table"]
    assert "LocalSecondaryIndexes" not in described
    assert described["SSEDescription"]["Status"] == "ENABLED"
    assert described["RestoreSummary"]["RestoreDateTime"] == clock.now


def test_expired_items_are_restored(engine: Engine, clock: Clock) -> None:
    ttl = {"AttributeName": "until", "Enabled": True}
    engine.call("UpdateTimeToLive", {"TableName": "things", "TimeToLiveSpecification": ttl})
    start = clock.now
    put(engine, "short", until=int(start) + 5)
    clock.now += 10
    engine.expire()
    assert len(restored(engine, start + 10)) == 1
    assert len(restored(engine, start + 9)) == 2


def test_a_deleted_table_leaves_no_log(engine: Engine, clock: Clock) -> None:
    put(engine, "new")
    engine.call("DeleteTable", {"TableName": "things"})
    clock.now += 2 * DAY
    engine.trim()
    assert engine._writer_catalog.logs == {}


def test_a_deleted_table_becomes_a_backup_of_the_system(engine: Engine, clock: Clock) -> None:
    put(engine, "new", n=1, g="red")
    engine.call("DeleteTable", {"TableName": "things"})
    engine.call("CreateTable", table_request("things", "pk:S"))
    (backup,) = engine.call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
    assert engine.call("ListBackups", {"BackupType": "USER"})["BackupSummaries"] == []
    assert backup["BackupName"] == "things$DeletedTableBackup"
    assert backup["BackupType"] == "SYSTEM"
    assert backup["BackupExpiryDateTime"] == clock.now + 35 * DAY
    request = {"TargetTableName": "again", "BackupArn": backup["BackupArn"]}
    engine.call("RestoreTableFromBackup", request)
    assert len(engine.call("Scan", {"TableName": "again"})["Items"]) == 2
    assert len(engine.call("Scan", {"TableName": "again", "IndexName": "by_g"})["Items"]) == 1
    assert engine.check().problems == []
    engine.expire(clock.now + 35 * DAY - 1)
    assert len(engine.call("ListBackups")["BackupSummaries"]) == 1
    engine.expire(clock.now + 35 * DAY)
    assert engine.call("ListBackups")["BackupSummaries"] == []


def test_recovery_is_in_the_file(tmp_path: Path, clock: Clock) -> None:
    start = clock.now
    with Engine(tmp_path / "things.db") as engine:
        make_table(engine)
        clock.now += 1
        put(engine, "new")
    clock.now += 1
    with Engine(tmp_path / "things.db") as engine, Engine(tmp_path / "things.db") as other:
        put(other, "newer")
        clock.now += 1
        put(engine, "newest")
        assert len(restored(engine, start)) == 1
        assert len(restored(other, start + 2)) == 3


def test_recovery_of_a_repaired_file_stays_on(tmp_path: Path, clock: Clock) -> None:
    request = {"TableName": "things"}
    with Engine(tmp_path / "old.db") as engine:
        make_table(engine)
        before = engine.call("DescribeContinuousBackups", request)
    assert repair(tmp_path / "old.db", tmp_path / "new.db")
    with Engine(tmp_path / "new.db") as engine:
        assert engine.call("DescribeContinuousBackups", request) == before
        assert engine.check()


def test_recovery_begins_again_if_the_log_is_damaged(tmp_path: Path, clock: Clock) -> None:
    with Engine(tmp_path / "old.db") as engine:
        make_table(engine)
        tree = engine._writer_catalog.tables["things"].schema.log
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        connection.execute(f"UPDATE tree${tree} SET checksum = 0")
        connection.commit()
    clock.now += 60
    assert not repair(tmp_path / "old.db", tmp_path / "new.db")
    with Engine(tmp_path / "new.db") as engine:
        (log,) = engine._writer_catalog.logs.values()
        assert log.recovery_seconds > 0
        recovery = engine._writer_catalog.tables["things"].schema.recovery
        assert recovery is not None
        assert recovery.since == clock.now
        assert engine.check()


def test_boto3_restores_a_table() -> None:
    with Engine(":memory:") as engine, serving(engine) as url:
        client = sdk_client(url)
        client.create_table(**table_request("things"))
        client.update_continuous_backups(TableName="things", **turn_on(7))
        client.put_item(TableName="things", Item=item(pk="a", sk="1"))
        recovery = client.describe_continuous_backups(TableName="things")[
            "ContinuousBackupsDescription"
        ]["PointInTimeRecoveryDescription"]
        assert recovery["RecoveryPeriodInDays"] == 7
        earliest = recovery["EarliestRestorableDateTime"]
        client.restore_table_to_point_in_time(
            SourceTableName="things", TargetTableName="then", RestoreDateTime=earliest
        )
        client.get_waiter("table_exists").wait(TableName="then")
        with pytest.raises(client.exceptions.InvalidRestoreTimeException):
            client.restore_table_to_point_in_time(
                SourceTableName="things",
                TargetTableName="again",
                RestoreDateTime=datetime(2020, 1, 1, tzinfo=UTC),
            )
        client.close()
