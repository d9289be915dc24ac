"""Change logs in files: integrity, repair, backup, compaction, several engines, trimming."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from tablewright.engine import Engine
from tablewright.engine.change_log.changes import read_last_number, read_trim_points
from tablewright.engine.repair import repair
from tablewright.errors import ExpiredIteratorException, StoreFailed
from tablewright.storage import LogTree, WriteTransaction
from tests.engine.database import item, table_request
from tests.engine.streaming import enabled, iterator, read_stream, shards, stream_arn
from tests.engine.test_integrity import damage

DAY = 24 * 60 * 60
#: The trees of `make_file`'s table and of its change log.
TABLE, LOG = "tree$2", "tree$3"
CHANGE_2 = "key = 2"


def make_file(path: Path) -> None:
    """A file with a table, its stream, and three changes."""
    with Engine(path) as engine:
        request = table_request("things", "pk:S", StreamSpecification=enabled())
        engine.call("CreateTable", request)
        for number in range(3):
            put(engine, f"k{number}")


def put(engine: Engine, key: str, **attributes: Any) -> None:
    engine.call("PutItem", {"TableName": "things", "Item": item(pk=key, **attributes)})


def keys(engine: Engine, arn: str | None = None) -> list[str]:
    records = read_stream(engine.call, arn or stream_arn(engine.call, "things"))
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in records]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "things.db"
    make_file(path)
    return path


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    with Engine(path) as engine:
        yield engine


DAMAGES = {
    "a change is missing": (f"DELETE FROM {LOG} WHERE {CHANGE_2}", "change 2 of", "is missing"),
    "a change is no JSON": (
        f"UPDATE {LOG} SET body = 'x' WHERE {CHANGE_2}",
        "change 2 of",
        "cannot be read",
    ),
    "a change has no item": (
        f"UPDATE {LOG} SET body = '[1,false,null,null]' WHERE {CHANGE_2}",
        "change 2 of",
        "has no item",
    ),
    "a change has another key": (
        f"UPDATE {LOG} SET body = replace(CAST(body AS TEXT), 'k1', 'k2') WHERE {CHANGE_2}",
        "change 2 of",
        "has a hash that differs from the hash of its key",
    ),
    "a change has two keys": (
        f'UPDATE {LOG} SET body = replace(CAST(body AS TEXT), \'null\', \'{{"pk":{{"S":"x"}}}}\')'
        f" WHERE {CHANGE_2}",
        "change 2 of",
        "has items with different keys",
    ),
    "a change is older than the one before": (
        f"UPDATE {LOG} SET size = 1 WHERE {CHANGE_2}",
        "change 2 of",
        "has an earlier time than the change before it",
    ),
    "a change is not in the table": (
        f"DELETE FROM {TABLE} WHERE CAST(body AS TEXT) LIKE '%k1%'",
        "change 2 of",
        "differs from the table's item",
    ),
    "the trim points are gone": (
        f"DELETE FROM {LOG} WHERE key = 0",
        "things",
        "the change log is damaged: it has no trim points",
    ),
    "the log is gone": (f"DROP TABLE {LOG}", "things", f"no such table: {LOG}"),
    "the schema of the log is gone": (
        "DELETE FROM tree$0 WHERE key >= x'fe' AND key < x'ff'",
        "things",
        "its change log is unknown",
    ),
}


def test_a_whole_log_has_no_problems(engine: Engine) -> None:
    put(engine, "k1", n=1)
    engine.call("DeleteItem", {"TableName": "things", "Key": item(pk="k2")})
    assert engine.check()


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_reported(path: Path, name: str) -> None:
    statement, where, what = DAMAGES[name]
    damage(path, statement)
    with Engine(path) as engine:
        found = "\n".join(map(str, engine.check().problems))
    assert where in found
    assert what in found


def test_a_wrong_checksum_is_reported(path: Path) -> None:
    damage(path, f"UPDATE {LOG} SET checksum = 0 WHERE {CHANGE_2}", fix_checksums=False)
    with Engine(path) as engine:
        (problem,) = engine.check().problems
        assert str(problem) == (
            "things: the change 2 of the change log is damaged: its checksum is wrong"
        )
        with pytest.raises(StoreFailed, match="table things: a change of its change log is dam"):
            read_stream(engine.call, stream_arn(engine.call, "things"))


def test_changes_while_the_stream_was_off_are_no_difference(engine: Engine) -> None:
    for setting in ({"StreamEnabled": False}, enabled()):
        engine.call("UpdateTable", {"TableName": "things", "StreamSpecification": setting})
        put(engine, "k1", n=len(setting))
    assert engine.check()


# -- repair ------------------------------------------------------------------------------------


def test_repair_keeps_a_whole_log(path: Path, tmp_path: Path) -> None:
    with Engine(path) as engine:
        arn = stream_arn(engine.call, "things")
    assert repair(path, tmp_path / "new.db")
    with Engine(tmp_path / "new.db") as engine:
        assert stream_arn(engine.call, "things") == arn
        put(engine, "k3")
        assert keys(engine) == ["k0", "k1", "k2", "k3"]
        assert engine.check()


def test_repair_keeps_the_log_of_a_deleted_table(path: Path, tmp_path: Path) -> None:
    with Engine(path) as engine:
        arn = stream_arn(engine.call, "things")
        engine.call("DeleteTable", {"TableName": "things"})
    assert repair(path, tmp_path / "new.db")
    with Engine(tmp_path / "new.db") as engine:
        assert keys(engine, arn) == ["k0", "k1", "k2"]


def test_an_item_that_is_lost_is_saved_from_the_log(path: Path, tmp_path: Path) -> None:
    damage(path, f"UPDATE {TABLE} SET body = x'00'", fix_checksums=False)
    report = repair(path, tmp_path / "new.db")
    (table,) = report.tables
    assert (table.items, table.from_log, table.lost) == (3, 3, [])
    with Engine(tmp_path / "new.db") as engine:
        assert engine.check()
        assert engine.call("Scan", {"TableName": "things"})["Count"] == 3


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {LOG} SET checksum = 0 WHERE {CHANGE_2}",
        f"DELETE FROM {LOG} WHERE {CHANGE_2}",
        f"DROP TABLE {LOG}",
        "UPDATE tree$0 SET body = x'00' WHERE key >= x'fe' AND key < x'ff'",
    ],
)
def test_a_damaged_log_begins_again(path: Path, tmp_path: Path, statement: str) -> None:
    with Engine(path) as engine:
        arn = stream_arn(engine.call, "things")
    damage(path, statement, fix_checksums=False)
    report = repair(path, tmp_path / "new.db")
    assert not report
    assert [(table.name, table.items) for table in report.tables] == [("things", 3)]
    with Engine(tmp_path / "new.db") as engine:
        assert engine.check()
        new = stream_arn(engine.call, "things")
        assert new != arn
        put(engine, "k3")
        assert keys(engine) == ["k3"]


def test_a_backup_and_a_compacted_file_have_the_stream(engine: Engine, tmp_path: Path) -> None:
    engine.back_up(tmp_path / "copy.db")
    engine.compact()
    assert keys(engine) == ["k0", "k1", "k2"]
    assert engine.check()
    with Engine(tmp_path / "copy.db") as copy:
        put(copy, "k3")
        assert keys(copy) == ["k0", "k1", "k2", "k3"]
        assert copy.check()


# -- several engines -----------------------------------------------------------------------------


def test_two_engines_share_one_sequence_of_numbers(engine: Engine, path: Path) -> None:
    with Engine(path) as other:
        for number in range(3, 9):
            put((engine, other)[number % 2], f"k{number}")
        assert keys(engine) == keys(other) == [f"k{number}" for number in range(9)]
        assert engine.check()


def test_another_engine_sees_a_rotation_before_it_reads(engine: Engine, path: Path) -> None:
    arn = stream_arn(engine.call, "things")
    start = iterator(engine.call, arn)
    assert len(engine.call("GetRecords", {"ShardIterator": start})["Records"]) == 3
    with Engine(path) as other:
        other.rotate_shards("things")
        put(other, "k3")
    page = engine.call("GetRecords", {"ShardIterator": start})
    assert len(page["Records"]) == 3
    assert "NextShardIterator" not in page
    assert keys(engine) == ["k0", "k1", "k2", "k3"]


def test_a_rolled_back_write_uses_no_number(engine: Engine) -> None:
    def fail(tx: WriteTransaction) -> None:
        log = engine._writer_catalog.tables["things"].log
        assert log is not None
        log.append(tx, b"\x00" * 8, None, b"{}")
        raise RuntimeError("after a change")

    with pytest.raises(RuntimeError):
        engine._store.write(fail)
    put(engine, "k3")
    assert keys(engine) == ["k0", "k1", "k2", "k3"]
    assert engine.check()


# -- trimming ------------------------------------------------------------------------------------


def later(days: float = 1) -> float:
    return time.time() + days * DAY + 60


def trees(path: Path) -> set[str]:
    with closing(apsw.Connection(str(path))) as connection:
        found = connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'tree$*'")
        return {str(name) for (name,) in found}


def test_numbers_are_not_used_again_after_everything_was_trimmed(engine: Engine) -> None:
    assert engine.trim(later()) == 3
    assert engine.trim() == 0
    put(engine, "k3")
    (record,) = read_stream(engine.call, stream_arn(engine.call, "things"))
    assert record["dynamodb"]["SequenceNumber"] == "100000000000000000004"
    assert engine.check()


def test_a_large_log_is_trimmed_in_steps(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.engine.change_log.trimming.MAX_STEP_ROWS", 2)
    assert engine.trim(later()) == 3
    assert engine._store.read(lambda s: s.count(LogTree(3)))[0] == 1  # the trim points
    assert engine.check()


def test_only_old_records_are_trimmed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr("tablewright.engine.change_log.changes.time.time", lambda: now + 100)
        put(engine, "k3")
    assert engine.trim(now + DAY + 50) == 3
    assert keys(engine) == ["k3"]


def test_closed_shards_are_forgotten_when_they_are_trimmed(engine: Engine) -> None:
    arn = stream_arn(engine.call, "things")
    engine.rotate_shards("things")
    engine.rotate_shards("things")
    engine.trim(later(0.5))
    assert len(shards(engine.call, arn)) == 3
    engine.trim(later())
    (shard,) = shards(engine.call, arn)
    assert "ParentShardId" in shard  # its parent is not listed any more, as on AWS
    put(engine, "k3")
    assert keys(engine) == ["k3"]


def test_a_closed_stream_is_forgotten_and_its_log_deleted(engine: Engine, path: Path) -> None:
    disabled = {"StreamEnabled": False}
    engine.call("UpdateTable", {"TableName": "things", "StreamSpecification": disabled})
    put(engine, "k3")
    engine.trim(later(0.5))
    assert keys(engine) == ["k0", "k1", "k2"]
    assert engine.trim(later()) == 3
    assert engine.call("ListStreams", {"TableName": "things"}) == {"Streams": []}
    assert LOG not in trees(path)
    assert engine.check()
    engine.call("UpdateTable", {"TableName": "things", "StreamSpecification": enabled()})
    put(engine, "k4")
    assert keys(engine) == ["k4"]


def test_a_deleted_tables_log_is_deleted(engine: Engine, path: Path) -> None:
    engine.call("DeleteTable", {"TableName": "things"})
    assert LOG in trees(path)
    engine.trim(later())
    assert LOG not in trees(path)
    assert engine.call("ListStreams") == {"Streams": []}


def test_recovery_keeps_changes_that_the_stream_no_longer_has(engine: Engine) -> None:
    def keep(tx: WriteTransaction) -> None:
        catalog = engine._writer_catalog
        (log,) = catalog.logs.values()
        catalog.save_log(tx, replace(log, recovery_seconds=5 * DAY))

    engine._store.write(keep)
    assert engine.trim(later()) == 3
    assert keys(engine) == []
    points = engine._store.read(lambda snapshot: read_trim_points(snapshot, LogTree(3)))
    assert (points.deleted, points.horizon) == (0, 3)
    assert engine.check()
    assert engine.trim(later(5)) == 0
    points = engine._store.read(lambda snapshot: read_trim_points(snapshot, LogTree(3)))
    assert (points.deleted, points.horizon) == (3, 3)
    assert engine._store.read(lambda snapshot: read_last_number(snapshot, LogTree(3))) == 3


def test_the_number_of_shards_can_be_chosen(tmp_path: Path) -> None:
    with Engine(tmp_path / "many.db", stream_shards=4) as engine:
        engine.call("CreateTable", table_request("things", "pk:S", StreamSpecification=enabled()))
        arn = stream_arn(engine.call, "things")
        assert len(shards(engine.call, arn)) == 4
        for round_ in range(3):
            for number in range(40):
                put(engine, f"k{number}", n=round_)
        by_shard = [
            read_stream_of(engine, arn, shard["ShardId"]) for shard in shards(engine.call, arn)
        ]
        assert all(by_shard)
        owner: dict[str, int] = {}
        for index, found in enumerate(by_shard):
            values = [(record["Keys"]["pk"]["S"], record["NewImage"]["n"]["N"]) for record in found]
            for key, _ in values:
                assert owner.setdefault(key, index) == index  # all changes of a key in one shard
            for key in {key for key, _ in values}:
                assert [n for k, n in values if k == key] == ["0", "1", "2"]
        assert len(owner) == 40


def read_stream_of(engine: Engine, arn: str, shard: str) -> list[dict[str, Any]]:
    start = iterator(engine.call, arn, shard)
    page = engine.call("GetRecords", {"ShardIterator": start})
    return [record["dynamodb"] for record in page["Records"]]


def test_a_wrong_number_of_shards_is_refused() -> None:
    with pytest.raises(ValueError, match="stream_shards must be from 1 to 1000, not 0"):
        Engine(":memory:", stream_shards=0)


def test_a_sandbox_undoes_records(engine: Engine) -> None:
    with engine.sandbox():
        put(engine, "k3")
        engine.rotate_shards("things")
        assert keys(engine) == ["k0", "k1", "k2", "k3"]
    assert keys(engine) == ["k0", "k1", "k2"]
    put(engine, "k4")
    assert keys(engine) == ["k0", "k1", "k2", "k4"]
    assert engine.check()


def test_a_sandbox_undoes_the_time_of_readers(engine: Engine) -> None:
    arn = stream_arn(engine.call, "things")
    before = {"ShardIterator": iterator(engine.call, arn)}
    with engine.sandbox():
        engine.trim(time.time() + 25 * 60 * 60)
        with pytest.raises(ExpiredIteratorException):
            engine.call("GetRecords", before)
    assert len(engine.call("GetRecords", before)["Records"]) == 3
    engine.trim(time.time() + 16 * 60)
    with pytest.raises(ExpiredIteratorException):
        engine.call("GetRecords", before)
