"""`tablewright lock`: the file that states what a design stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run
from tests.evolve.designs import ADDED, RENAMED, design

LOCK = Path("tablewright.lock")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write({})
    return tmp_path


def write(changes: dict[str, str]) -> None:
    Path("shop.py").write_text(design(changes))


def test_the_file_is_written_once_and_then_unchanged() -> None:
    done = run("lock", "shop.py")
    assert (done.returncode, done.stdout) == (
        0,
        "tablewright.lock: written (1 table, 1 entity)\n",
    )
    before = LOCK.stat()
    assert run("lock", "shop.py").stdout == "tablewright.lock: unchanged\n"
    after = LOCK.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_the_file_does_not_depend_on_names_in_python() -> None:
    run("lock", "shop.py")
    write(
        {
            "class Order(Entity, table=Shop": 'class Bought(Entity, table=Shop, type_name="Order"',
            "    email: Attr[str] = attr()": '    mail: Attr[str] = attr(name="email")',
        }
    )
    assert run("lock", "--check", "shop.py").stdout == "tablewright.lock: up to date\n"


def test_a_changed_design_is_listed_and_written() -> None:
    run("lock", "shop.py")
    write(ADDED)
    done = run("lock", "shop.py")
    assert done.stdout == (
        "tablewright.lock: written (1 table, 1 entity)\n- Order.note: the attribute is new\n"
    )
    assert '"note"' in LOCK.read_text()


def test_check_writes_nothing_and_lists_the_changes() -> None:
    run("lock", "shop.py")
    before = LOCK.read_bytes()
    assert run("lock", "--check", "shop.py").returncode == 0
    write(RENAMED)
    done = run("lock", "shop.py", "--check")
    assert done.returncode == 1
    assert done.stderr == (
        "tablewright.lock: out of date; write it again: tablewright lock shop.py\n"
    )
    assert done.stdout == (
        "- Order.email: the required attribute is removed\n"
        "- Order.mail: the attribute is new and required\n"
    )
    assert LOCK.read_bytes() == before


def test_check_fails_without_a_file() -> None:
    done = run("lock", "--check", "shop.py")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tablewright.lock: missing; write it: tablewright lock shop.py\n"
    assert not LOCK.exists()


def test_another_file_can_be_named() -> None:
    assert run("lock", "shop.py", "-o", "other.lock").returncode == 0
    assert Path("other.lock").exists()
    assert not LOCK.exists()
    done = run("lock", "shop.py", "--check", "-o", "none.lock")
    assert done.stderr.endswith("write it: tablewright lock shop.py -o none.lock\n")


@pytest.mark.parametrize("check", [[], ["--check"]])
def test_a_file_that_is_no_lock_file_is_not_replaced(check: list[str]) -> None:
    Path("poetry.lock").write_text("[[package]]")
    done = run("lock", "shop.py", "-o", "poetry.lock", *check)
    assert (done.returncode, done.stdout) == (2, "")
    assert "poetry.lock is not a lock file" in done.stderr
    assert Path("poetry.lock").read_text() == "[[package]]"


def test_a_lock_file_of_a_newer_version_is_not_replaced() -> None:
    LOCK.write_text('{"format": 99, "tables": {}}')
    done = run("lock", "shop.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "use a newer version of Tablewright" in done.stderr
    assert "99" in LOCK.read_text()


def test_a_folder_that_does_not_exist_is_named() -> None:
    done = run("lock", "shop.py", "-o", "none/tablewright.lock")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none/tablewright.lock" in done.stderr


def test_the_help_says_that_no_table_is_locked() -> None:
    assert "It locks no table" in " ".join(run("lock", "--help").stdout.split())
