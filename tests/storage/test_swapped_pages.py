"""Swapped pages: a row that SQLite finds in the tree of another table is damaged, never an item."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from typer.testing import CliRunner

from tablewright.cli.all_commands import app
from tablewright.engine import Engine
from tablewright.engine.repair import repair
from tablewright.errors import StoreFailed
from tests.engine.database import item, table_request

KEY = item(pk="a", sk="1")
READS: dict[str, dict[str, Any]] = {
    "GetItem": {"Key": KEY},
    "Scan": {},
    "Query": {
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "a"}},
    },
    "PutItem": {"Item": KEY, "ReturnValues": "ALL_OLD"},
}


def swap_pages(path: Path, trees: tuple[str, str]) -> None:
    """Exchange the pages of two small trees in a file, as a disk that mixes up sectors does."""
    with closing(apsw.Connection(str(path))) as connection:
        size = connection.pragma("page_size")
        roots = "SELECT rootpage - 1 FROM sqlite_schema WHERE name IN (?, ?)"
        (one,), (two,) = connection.execute(roots, trees)
    content = bytearray(path.read_bytes())
    places = slice(one * size, (one + 1) * size), slice(two * size, (two + 1) * size)
    content[places[0]], content[places[1]] = content[places[1]], content[places[0]]
    path.write_bytes(content)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file in which two tables of the same structure have exchanged their pages."""
    path = tmp_path / "things.db"
    with Engine(path) as engine:
        for name in ("mine", "yours"):
            engine.call("CreateTable", table_request(name))
            engine.call("PutItem", {"TableName": name, "Item": KEY | item(of=name)})
    swap_pages(path, ("tree$2", "tree$3"))
    return path


@pytest.mark.parametrize("operation", READS)
def test_the_item_of_another_table_is_never_returned(path: Path, operation: str) -> None:
    with Engine(path) as engine, pytest.raises(StoreFailed, match=r"table mine: the row of pk="):
        engine.call(operation, {"TableName": "mine", **READS[operation]})


def test_check_file_reports_the_rows(path: Path) -> None:
    result = CliRunner().invoke(app, ["check-file", str(path)])
    assert result.exit_code == 1
    for name in ("mine", "yours"):
        assert (
            f'{name}: the row of pk="a", sk="1" is damaged: its checksum is wrong' in result.stdout
        )


def test_repair_does_not_save_them_in_the_wrong_table(path: Path, tmp_path: Path) -> None:
    report = repair(path, tmp_path / "saved.db")
    assert [(table.items, table.lost) for table in report.tables] == [(0, ['pk="a", sk="1"'])] * 2


def test_a_backup_of_the_table_does_not_hide_them(path: Path) -> None:
    with Engine(path) as engine:
        backup = engine.call("CreateBackup", {"TableName": "mine", "BackupName": "copy"})
        arn = backup["BackupDetails"]["BackupArn"]
        restored = {"TargetTableName": "restored", "BackupArn": arn}
        engine.call("RestoreTableFromBackup", restored)
        with pytest.raises(StoreFailed, match="table restored: the row"):
            engine.call("GetItem", {"TableName": "restored", "Key": KEY})


def test_a_table_whose_trees_were_renamed_keeps_its_rows(tmp_path: Path) -> None:
    """A deleted table with point-in-time recovery becomes a backup, without copying its rows."""
    with Engine(tmp_path / "things.db") as engine:
        engine.call("CreateTable", table_request("things"))
        setting = {"PointInTimeRecoveryEnabled": True}
        request = {"TableName": "things", "PointInTimeRecoverySpecification": setting}
        engine.call("UpdateContinuousBackups", request)
        engine.call("PutItem", {"TableName": "things", "Item": KEY})
        engine.call("DeleteTable", {"TableName": "things"})
        assert engine.check()
        (backup,) = engine.call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
        request = {"TargetTableName": "restored", "BackupArn": backup["BackupArn"]}
        engine.call("RestoreTableFromBackup", request)
        assert engine.call("GetItem", {"TableName": "restored", "Key": KEY})["Item"] == KEY
        engine.compact()
        assert engine.check()
        engine.call("DeleteBackup", {"BackupArn": backup["BackupArn"]})
        assert engine.check()
