"""An old copy of the log beside a newer file is refused; the log of a killed process never is."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from typer.testing import CliRunner

from tablewright.cli.all_commands import app
from tablewright.engine import Engine
from tablewright.engine.repair import repair
from tablewright.errors import DamagedFile
from tablewright.storage import log, store
from tests.engine.database import item, table_request

KEY = item(pk="a", sk="1")


def put(engine: Engine, number: int) -> None:
    engine.call("PutItem", {"TableName": "things", "Item": KEY | {"n": {"N": str(number)}}})


def stored(engine: Engine) -> str:
    found: str = engine.call("GetItem", {"TableName": "things", "Key": KEY})["Item"]["n"]["N"]
    return found


def copy(path: Path, name: str) -> Path:
    """Copy a file with its log, as a killed process leaves them; return the copy."""
    target = path.with_name(name)
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", f"{target}{end}")
    return target


def with_log_of(path: Path, old: Path) -> Path:
    shutil.copyfile(f"{old}-wal", f"{path}-wal")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "things.db"
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("things"))
    return path


@pytest.fixture
def old(path: Path) -> Path:
    """An earlier state of `path`, whose log has 1; `path` is closed later, with 2."""
    with Engine(path) as engine:
        put(engine, 1)
        old = copy(path, "old.db")
        put(engine, 2)
    return old


def test_an_old_log_is_refused(path: Path, old: Path) -> None:
    with_log_of(path, old)
    with pytest.raises(DamagedFile, match=r"things\.db-wal is older than the file.* move .* away"):
        Engine(path)


def test_without_the_old_log_the_file_opens_as_it_was(path: Path, old: Path) -> None:
    with_log_of(path, old)
    with pytest.raises(DamagedFile):
        Engine(path)
    Path(f"{path}-wal").unlink()
    with Engine(path) as engine:
        assert stored(engine) == "2"


def test_the_log_is_accepted_by_its_own_file(old: Path) -> None:
    with Engine(old) as engine:
        assert stored(engine) == "1"


@pytest.mark.parametrize("sessions", [1, 3])
def test_logs_of_earlier_sessions_are_refused(path: Path, old: Path, sessions: int) -> None:
    for number in range(sessions):
        with Engine(path) as engine:
            put(engine, number)
    with pytest.raises(DamagedFile):
        Engine(with_log_of(path, old))


def test_the_log_of_a_killed_process_that_was_only_read_is_refused_later(path: Path) -> None:
    with Engine(path) as engine:
        put(engine, 1)
        killed = copy(path, "killed.db")
        log_of_killed = copy(path, "log_of_killed.db")
    with Engine(killed) as engine:
        assert stored(engine) == "1"
    with Engine(killed) as engine:
        put(engine, 2)
    with pytest.raises(DamagedFile):
        Engine(with_log_of(killed, log_of_killed))


def test_a_log_that_the_same_process_has_replaced_is_refused(path: Path) -> None:
    with Engine(path) as engine:
        for number in range(store.NOTE_CALLS):
            put(engine, number)
        old = copy(path, "old.db")
        engine._store.truncate_log()
        put(engine, 2)
        engine._store.truncate_log()
        newer = shutil.copyfile(path, path.with_name("newer.db"))
    with pytest.raises(DamagedFile):
        Engine(with_log_of(newer, old))


def test_a_log_from_before_compact_is_refused(path: Path) -> None:
    with Engine(path) as engine:
        put(engine, 1)
        old = copy(path, "old.db")
        engine.compact()
    with pytest.raises(DamagedFile):
        Engine(with_log_of(path, old))


def test_a_log_that_was_partly_moved_into_the_file_is_accepted(path: Path) -> None:
    with Engine(path) as engine:
        for number in range(2 * store.NOTE_CALLS):
            put(engine, number)
        last = number
        # A reader of an old state keeps SQLite from moving all of the log.
        with (
            closing(apsw.Connection(str(path))) as reader,
            closing(apsw.Connection(str(path))) as c,
        ):
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM tree$2").fetchall()
            put(engine, last + 1)
            c.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            killed = copy(path, "killed.db")
    assert log._read_stored(str(killed))
    with Engine(killed) as engine:
        assert stored(engine) == str(last + 1)


def test_check_file_and_repair_report_it(path: Path, old: Path) -> None:
    with_log_of(path, old)
    result = CliRunner().invoke(app, ["check-file", str(path)])
    assert result.exit_code == 1
    assert "is older than the file" in result.output
    with pytest.raises(DamagedFile, match="is older than the file"):
        repair(path, path.with_name("saved.db"))


def test_a_record_names_the_last_logs_only(path: Path) -> None:
    for number in range(5):
        with Engine(path) as engine:
            put(engine, number)
    assert len(log._split(log._read_stored(str(path)))) == 6


def test_a_damaged_record_proves_nothing(path: Path, old: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE logs$ SET record = zeroblob(20)")
    Engine(with_log_of(path, old)).close()


def test_reading_writes_no_record(path: Path, old: Path) -> None:
    before = log._read_stored(str(path))
    with Engine(path) as engine:
        assert stored(engine) == "2"
    assert log._read_stored(str(path)) == before
