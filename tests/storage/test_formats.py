"""Formats: a file of an earlier format is upgraded when it is opened, at once or not at all."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tablewright.engine import Engine
from tablewright.engine.repair import repair
from tablewright.errors import CannotOpen, StoreFailed
from tablewright.storage import file
from tablewright.storage.tree import TAG_BITS, UNTAGGED, row_checksum
from tests.engine.database import item, table_request
from tests.engine.streaming import read_stream

REQUEST = {"TableName": "things", "Key": item(pk="a", sk="1")}


def make_format_1(path: Path) -> None:
    """What the first version of the package wrote: the same rows, without checksums."""
    make_format_3(path)
    with closing(sqlite3.connect(path)) as connection:
        for tree in _trees(connection):
            connection.execute(f"ALTER TABLE {tree} DROP COLUMN checksum")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()


def make_format_3(path: Path) -> None:
    """The same rows, with checksums that do not cover the tree."""
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("things", glob={"by_colour": ("g:S", "ALL")}))
        thing = item(pk="a", sk="1", g="red")
        engine.call("PutItem", {"TableName": "things", "Item": thing})
    downgrade(path)


def downgrade(path: Path) -> None:
    """Make a file what the last version with format 3 would have written."""
    with closing(sqlite3.connect(path)) as connection:
        for tree in _trees(connection):
            connection.execute(f"UPDATE {tree} SET checksum = checksum & {UNTAGGED}")
        connection.execute("DROP TABLE tags$")
        connection.execute("DROP TABLE logs$")
        connection.execute("PRAGMA user_version = 3")
        connection.commit()


def _trees(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'tree$*'")
    return [name for (name,) in found.fetchall()]


def tags(path: Path, tree: str) -> set[int]:
    """The tags of the rows of a tree."""
    with closing(sqlite3.connect(path)) as connection:
        return {tag for (tag,) in connection.execute(f"SELECT checksum >> {TAG_BITS} FROM {tree}")}


def test_a_file_of_format_1_is_upgraded_and_keeps_its_rows(tmp_path: Path) -> None:
    make_format_1(tmp_path / "old.db")
    with Engine(tmp_path / "old.db") as engine:
        assert engine.call("GetItem", REQUEST)["Item"] == item(pk="a", sk="1", g="red")
        engine.call("PutItem", {"TableName": "things", "Item": item(pk="b", sk="1", g="red")})
        assert engine.check()
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (file.FORMAT,)
        rows = connection.execute("SELECT size, body, checksum FROM tree$2").fetchall()
        assert [checksum & UNTAGGED for *_, checksum in rows] == [
            row_checksum(body, size) for size, body, _ in rows
        ]


def test_rows_of_format_3_keep_their_checksum_until_they_are_written_again(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_format_3(path)
    with Engine(path) as engine:
        assert engine.call("GetItem", REQUEST)["Item"] == item(pk="a", sk="1", g="red")
        assert engine.check()
    assert tags(path, "tree$2") == {0}
    with Engine(path) as engine:
        thing = item(pk="a", sk="1", g="blue")
        engine.call("PutItem", {"TableName": "things", "Item": thing})
        assert engine.check()
    assert tags(path, "tree$2") == {3}


def test_compact_gives_rows_of_format_3_the_tags_of_their_trees(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_format_3(path)
    with Engine(path) as engine:
        engine.compact()
        assert engine.check()
        assert engine.call("GetItem", REQUEST)["Item"] == item(pk="a", sk="1", g="red")
    assert [tags(path, f"tree${number}") for number in (0, 2, 3)] == [{1}, {3}, {4}]
    with closing(sqlite3.connect(path)) as connection:
        assert not connection.execute("SELECT * FROM tags$").fetchall()


def test_compact_does_not_hide_damage(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_format_3(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE tree$2 SET checksum = checksum + 1")
        connection.commit()
    with Engine(path) as engine:
        engine.compact()
        assert not engine.check()


def test_a_new_tree_of_an_upgraded_file_has_only_rows_with_its_tag(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_format_3(path)
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("new"))
        engine.call("PutItem", {"TableName": "new", "Item": item(pk="a", sk="1")})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE tree$4 SET checksum = checksum & {UNTAGGED}")
        connection.commit()
    with Engine(path) as engine, pytest.raises(StoreFailed, match="its checksum is wrong"):
        engine.call("GetItem", {"TableName": "new", "Key": item(pk="a", sk="1")})


def test_a_file_of_format_3_is_repaired(tmp_path: Path) -> None:
    make_format_3(tmp_path / "old.db")
    report = repair(tmp_path / "old.db", tmp_path / "new.db")
    assert report
    assert [table.items for table in report.tables] == [1]
    assert tags(tmp_path / "new.db", "tree$2") == {3}


def test_a_file_of_format_2_keeps_its_tables_and_starts_its_streams(tmp_path: Path) -> None:
    """Format 2 stored the setting of a stream, but no changes."""
    path = tmp_path / "old.db"
    setting = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    label = "2026-01-15T10:00:00.000"
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("things"))
        engine.call("CreateTable", table_request("watched", StreamSpecification=setting))
    downgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE tree$4")
        connection.execute("DELETE FROM tree$0 WHERE key >= x'fe' AND key < x'ff'")
        (body,) = connection.execute(
            "SELECT body FROM tree$0 WHERE key = CAST('watched' AS BLOB)"
        ).fetchone()
        schema = json.loads(body)
        del schema["log"]
        schema["stream"] = {"view": "NEW_IMAGE", "label": label}
        body = json.dumps(schema).encode()
        connection.execute(
            "UPDATE tree$0 SET body = ?, checksum = ? WHERE key = CAST('watched' AS BLOB)",
            (body, row_checksum(body, 0)),
        )
        connection.execute("PRAGMA user_version = 2")
        connection.commit()
    with Engine(path) as engine:
        described = engine.call("DescribeTable", {"TableName": "watched"})["Table"]
        assert described["StreamSpecification"] == setting
        assert described["LatestStreamLabel"] == label
        engine.call("PutItem", {"TableName": "watched", "Item": item(pk="a", sk="1")})
        engine.call("PutItem", {"TableName": "things", "Item": item(pk="a", sk="1")})
        (record,) = read_stream(engine.call, described["LatestStreamArn"])
        assert record["dynamodb"]["NewImage"] == item(pk="a", sk="1")
        assert engine.check()


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    make_format_1(path)

    def fail(connection: apsw.Connection) -> None:
        upgrade(connection)
        raise KeyboardInterrupt

    upgrade = file._add_checksums
    monkeypatch.setattr(file, "_add_checksums", fail)
    with pytest.raises(KeyboardInterrupt):
        Engine(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert len(connection.execute("SELECT * FROM tree$2").fetchone()) == 3
    monkeypatch.undo()
    with Engine(path) as engine:
        assert engine.check()


def test_a_newer_format_is_refused_with_the_fix(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    Engine(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(CannotOpen, match=r"new\.db: has format 99, .* upgrade Tablewright"):
        Engine(path)


def test_a_new_file_and_its_log_are_for_their_owner_only(tmp_path: Path) -> None:
    with Engine(tmp_path / "private.db") as engine:
        engine.call("CreateTable", table_request("things"))
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["private.db", "private.db-wal", "private.db-shm"], 0o600)


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o640)
    Engine(path).close()
    assert path.stat().st_mode & 0o777 == 0o640
