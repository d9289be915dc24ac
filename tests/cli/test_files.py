"""The commands for database files, run as a user runs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tablewright.cli.files import readable
from tablewright.engine import Engine
from tests.commands import mistake, run
from tests.engine.test_integrity import TABLE, damage, make_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "things.db"
    make_file(path)
    return path


def count(path: Path) -> int:
    with Engine(path) as engine:
        return int(engine.call("Scan", {"TableName": "things"})["Count"])


def test_a_backup_holds_what_was_acknowledged_and_is_checked(path: Path, tmp_path: Path) -> None:
    with Engine(path) as engine:  # which is in use, with a log that is not folded in
        engine.call(
            "PutItem", {"TableName": "things", "Item": {"pk": {"S": "c"}, "sk": {"S": "1"}}}
        )
        result = run("backup", path, tmp_path / "copy.db")
    assert (result.returncode, result.stderr) == (0, "")
    assert "copy.db: complete; all tables and indexes agree" in result.stdout
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert count(tmp_path / "copy.db") == 3
    assert [file.name for file in tmp_path.iterdir() if "partial" in file.name] == []


def test_a_backup_never_replaces_a_file(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("mine")
    result = run("backup", path, tmp_path / "copy.db")
    assert result.returncode == 2
    assert "copy.db: the file exists" in result.stderr
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_a_backup_into_no_folder_is_one_line(path: Path, tmp_path: Path) -> None:
    mistake("backup", path, tmp_path / "none" / "copy.db")


def test_a_backup_is_restored_to_where_the_file_was(path: Path, tmp_path: Path) -> None:
    run("backup", path, tmp_path / "copy.db")
    result = run("restore", tmp_path / "copy.db", path)
    assert result.returncode == 2
    assert "things.db exists; stop the processes that use it, then move it away" in result.stderr
    path.rename(tmp_path / "old.db")
    result = run("restore", tmp_path / "copy.db", path)
    assert result.returncode == 0
    assert count(path) == 2


def test_compacting_gives_space_back(path: Path) -> None:
    with Engine(path) as engine:
        for number in range(300):
            thing = {"pk": {"S": str(number)}, "sk": {"S": "1"}, "note": {"S": "x" * 4000}}
            engine.call("PutItem", {"TableName": "things", "Item": thing})
        for number in range(300):
            key = {"pk": {"S": str(number)}, "sk": {"S": "1"}}
            engine.call("DeleteItem", {"TableName": "things", "Key": key})
    before = path.stat().st_size
    result = run("compact", path)
    assert result.returncode == 0
    assert path.stat().st_size < before / 5
    assert count(path) == 2


def test_a_damaged_file_is_repaired_into_a_new_one(path: Path, tmp_path: Path) -> None:
    damage(path, f"UPDATE {TABLE} SET size = size + 1", fix_checksums=False)
    assert run("check-file", path).returncode == 1
    result = run("repair", path, tmp_path / "new.db")
    assert result.returncode == 0
    assert "new.db: all items were saved" in result.stdout
    assert run("check-file", tmp_path / "new.db").returncode == 0


def test_what_a_repair_cannot_save_is_listed(path: Path, tmp_path: Path) -> None:
    damage(path, f"DELETE FROM {TABLE} WHERE key = (SELECT min(key) FROM {TABLE})")
    damage(path, "UPDATE tree$3 SET body = x'00'", fix_checksums=False)
    result = run("repair", path, tmp_path / "new.db")
    assert result.returncode == 1
    assert 'lost: things: pk="' in result.stdout


@pytest.mark.parametrize("command", ["check-file", "backup", "restore", "compact", "repair"])
def test_a_file_that_is_not_there_is_one_line(command: str, tmp_path: Path) -> None:
    more = [tmp_path / "copy.db"] if command in ("backup", "restore", "repair") else []
    line = mistake(command, tmp_path / "none.db", *more)
    assert "none.db" in line
    assert "no such file" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write any file")
def test_read_only_files_are_checked_and_restored(path: Path, tmp_path: Path) -> None:
    folder = path.parent / "medium"
    folder.mkdir()
    path.rename(folder / path.name)
    file = folder / path.name
    file.chmod(0o400)
    folder.chmod(0o500)
    try:
        check = run("check-file", file)
        restored = run("restore", file, tmp_path / "restored.db")
    finally:
        folder.chmod(0o700)
    for result in (check, restored):
        assert result.returncode == 0
        assert f"{file}: it is read-only, so a copy of it is read" in result.stderr
    assert count(tmp_path / "restored.db") == 2
    assert {each.name for each in tmp_path.iterdir()} == {"medium", "restored.db"}


def test_a_copy_of_a_read_only_file_has_its_log(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(path) as engine:  # which is in use, with a log that is not folded in
        thing = {"pk": {"S": "c"}, "sk": {"S": "1"}}
        engine.call("PutItem", {"TableName": "things", "Item": thing})
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda *_: False)
            with readable(path, tmp_path) as copy:
                patch.undo()
                assert copy != path
                assert count(copy) == 3
    assert not copy.exists()
