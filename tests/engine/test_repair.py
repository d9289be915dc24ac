"""Repair saves what is readable of a damaged file, and names what is lost."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest

from tablewright.engine import Engine
from tablewright.engine.repair import repair
from tablewright.errors import CannotOpen
from tests.engine.database import item, table_request

TABLE, ALL_INDEX, KEYS_INDEX = "tree$2", "tree$3", "tree$4"
HAS = "CAST(body AS TEXT) LIKE '%{}%'"
INDEXES = {"all": ("g:S", "ALL"), "keys": ("h:S", "KEYS_ONLY")}


def make_file(path: Path, count: int, **attributes: str) -> dict[str, str]:
    """A file with one table; the notes of its items, by key."""
    notes = {f"k{number:04}": f"note {number} " + "x" * 300 for number in range(count)}
    path.write_bytes(content(tuple(notes.items()), **attributes))
    return notes


@cache
def content(notes: tuple[tuple[str, str], ...], **attributes: str) -> bytes:
    """The bytes of such a file, made once for all tests that damage one."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "things.db")
        fill(path, notes, **attributes)
        return path.read_bytes()


def fill(path: Path, notes: Iterable[tuple[str, str]], **attributes: str) -> None:
    with Engine(path, durability="normal") as engine:
        engine.call("CreateTable", table_request("things", glob=INDEXES))
        for key, note in notes:
            thing = item(pk=key, sk="1", note=note, **attributes)
            engine.call("PutItem", {"TableName": "things", "Item": thing})


def damage(path: Path, statement: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement)


def notes_in(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with Engine(path) as engine:
        assert engine.check()
        request: dict[str, Any] = {"TableName": "things"}
        while True:
            page = engine.call("Scan", request)
            found |= {thing["pk"]["S"]: thing["note"]["S"] for thing in page["Items"]}
            if "LastEvaluatedKey" not in page:
                return found
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def test_a_whole_file_is_copied_as_it_is(tmp_path: Path) -> None:
    notes = make_file(tmp_path / "old.db", 30, g="red", h="1")
    report = repair(tmp_path / "old.db", tmp_path / "new.db")
    assert report
    assert [(table.name, table.items) for table in report.tables] == [("things", 30)]
    assert notes_in(tmp_path / "new.db") == notes


def test_a_damaged_row_is_saved_from_an_index_that_has_it_all(tmp_path: Path) -> None:
    notes = make_file(tmp_path / "old.db", 10, g="red")
    damage(tmp_path / "old.db", f"UPDATE {TABLE} SET body = x'00'")
    report = repair(tmp_path / "old.db", tmp_path / "new.db")
    (table,) = report.tables
    assert (table.items, table.from_indexes, table.lost) == (10, 10, [])
    assert notes_in(tmp_path / "new.db") == notes


def test_a_damaged_row_that_no_index_has_is_lost_and_named(tmp_path: Path) -> None:
    make_file(tmp_path / "old.db", 3, h="1")
    damage(
        tmp_path / "old.db", f"UPDATE {TABLE} SET size = 1 WHERE CAST(body AS TEXT) LIKE '%k0001%'"
    )
    report = repair(tmp_path / "old.db", tmp_path / "new.db")
    assert not report
    (table,) = report.tables
    assert (table.items, table.lost) == (2, ['pk="k0001", sk="1"'])


def test_a_row_that_is_gone_is_named_by_an_index(tmp_path: Path) -> None:
    make_file(tmp_path / "old.db", 3, h="1")
    damage(tmp_path / "old.db", f"DELETE FROM {TABLE} WHERE {HAS.format('k0002')}")
    (table,) = repair(tmp_path / "old.db", tmp_path / "new.db").tables
    assert (table.items, table.lost) == (2, ['pk="k0002", sk="1"'])


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 11))]
)
def test_pages_that_are_overwritten_lose_only_what_was_in_them(tmp_path: Path, seed: int) -> None:
    """What is saved is as it was; what is lost was in a page that was overwritten."""
    path = tmp_path / "old.db"
    notes = make_file(path, 400)
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    pages = len(content) // 8192
    for page in chance.sample(range(4, pages), 2):  # behind the schema and the catalog
        content[page * 8192 : (page + 1) * 8192] = chance.randbytes(8192)
    path.write_bytes(content)
    before = bytes(content)
    report = repair(path, tmp_path / "new.db")
    saved = notes_in(tmp_path / "new.db")
    assert saved.items() <= notes.items()
    if len(saved) < len(notes):
        assert not report
    assert path.read_bytes() == before


@pytest.mark.parametrize("missing", [100, 7300, 8192, 80_000])
def test_a_truncated_file_is_read_as_far_as_possible(tmp_path: Path, missing: int) -> None:
    """SQLite fills a partial page with zeros, which can hide rows without an error."""
    path = tmp_path / "old.db"
    notes = make_file(path, 400)
    path.write_bytes(path.read_bytes()[:-missing])
    report = repair(path, tmp_path / "new.db")
    saved = notes_in(tmp_path / "new.db")
    assert saved.items() <= notes.items()
    assert bool(report) == (saved == notes)


def test_what_is_intact_in_a_truncated_file_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    notes = make_file(path, 20)
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("other"))
        thing = item(pk="a", sk="1", note="x" * 300_000)
        engine.call("PutItem", {"TableName": "other", "Item": thing})
    path.write_bytes(path.read_bytes()[: -8192 * 4])
    with pytest.raises(CannotOpen, match="`tablewright repair` saves what is readable"):
        Engine(path)
    assert not repair(path, tmp_path / "new.db")
    assert notes_in(tmp_path / "new.db") == notes


def test_a_directory_is_not_a_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="is a directory"):
        repair(tmp_path, tmp_path / "new.db")


def test_a_log_that_is_not_folded_in_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("things"))
        engine.call("PutItem", {"TableName": "things", "Item": item(pk="a", sk="1", note="x")})
        for suffix in ("", "-wal"):
            (tmp_path / f"copy.db{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    assert repair(tmp_path / "copy.db", tmp_path / "new.db")
    assert notes_in(tmp_path / "new.db") == {"a": "x"}


@pytest.mark.parametrize(
    "statement", ["UPDATE tree$0 SET body = 'x' WHERE key = 'things'", "DROP TABLE tree$0"]
)
def test_a_lost_catalog_is_reported(tmp_path: Path, statement: str) -> None:
    make_file(tmp_path / "old.db", 1)
    damage(tmp_path / "old.db", statement.replace("'things'", "x'" + b"things".hex() + "'"))
    report = repair(tmp_path / "old.db", tmp_path / "new.db")
    assert not report
    assert report.problems == ["part of the catalog cannot be read; some tables may be missing"]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    make_file(tmp_path / "old.db", 1)
    (tmp_path / "new.db").write_text("mine")
    with pytest.raises(CannotOpen, match="the file exists"):
        repair(tmp_path / "old.db", tmp_path / "new.db")
    assert (tmp_path / "new.db").read_text() == "mine"


def test_a_repaired_file_never_gets_the_log_of_another_file(tmp_path: Path) -> None:
    make_file(tmp_path / "old.db", 1)
    (tmp_path / "new.db-wal").write_text("mine")
    with pytest.raises(CannotOpen, match=r"new\.db-wal: is the log of another file.*move it away"):
        repair(tmp_path / "old.db", tmp_path / "new.db")
    assert (tmp_path / "new.db-wal").read_text() == "mine"
    assert not (tmp_path / "new.db").exists()


def test_a_repair_never_removes_its_source(tmp_path: Path) -> None:
    notes = make_file(tmp_path / "new.db.partial", 1)
    with pytest.raises(CannotOpen, match=r"new\.db\.partial first, which is the file to read"):
        repair(tmp_path / "new.db.partial", tmp_path / "new.db")
    assert notes_in(tmp_path / "new.db.partial") == notes


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\x00" + bytes(5000)])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "old.db").write_bytes(content)
    with pytest.raises(CannotOpen):
        repair(tmp_path / "old.db", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
