"""Many open one new file at the same moment; some are killed as they do. It is whole for all."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import apsw
import pytest

from tablewright.engine import Engine
from tests.durability.opener import open_and_create, tables
from tests.durability.test_kill import ROOT, child

pytestmark = pytest.mark.slow

ROUNDS = 40
THREADS = 8
PROCESSES = 4

#: What may be at the path of a "new" file.
BEFORE: list[Callable[[Path], None]] = [lambda path: None, Path.touch]
NAMES = ["no file", "an empty file"]


@pytest.mark.parametrize("before", BEFORE, ids=NAMES)
def test_threads_that_open_one_new_file_at_once_all_succeed(
    tmp_path: Path, before: Callable[[Path], None]
) -> None:
    barrier = threading.Barrier(THREADS)

    def open_at_once(path: Path, number: int) -> list[str]:
        barrier.wait(30)
        return open_and_create(path, f"table{number}")

    with ThreadPoolExecutor(THREADS) as pool:
        for turn in range(ROUNDS):
            path = tmp_path / f"{turn}.db"
            before(path)
            seen = list(pool.map(open_at_once, [path] * THREADS, range(THREADS)))
            check(path, [f"table{number}" for number in range(THREADS)], seen)


@pytest.mark.parametrize("before", BEFORE, ids=NAMES)
def test_processes_that_open_one_new_file_at_once_all_succeed(
    tmp_path: Path, openers: list[subprocess.Popen[str]], before: Callable[[Path], None]
) -> None:
    for turn in range(ROUNDS):
        path = tmp_path / f"{turn}.db"
        before(path)
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write(f"{path}\n")
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.flush()
        answers = [answer_of(opener) for opener in openers]
        assert not [answer["error"] for answer in answers if "error" in answer]
        names = [f"table{number}" for number in range(PROCESSES)]
        check(path, names, [answer["tables"] for answer in answers])


def check(path: Path, names: list[str], seen: list[list[str]]) -> None:
    """Each saw its own table, all tables are there, and the file is as files of ours are."""
    assert all(name in found for name, found in zip(names, seen, strict=True))
    with Engine(path) as engine:
        assert tables(engine) == names
        assert engine.check()
        assert engine._store._writer.pragma("journal_mode") == "wal"
        assert engine._store._writer.pragma("page_size") == 8192


def answer_of(opener: subprocess.Popen[str]) -> dict[str, list[str]]:
    assert opener.stdout is not None
    answer: dict[str, list[str]] = json.loads(opener.stdout.readline())
    return answer


@pytest.fixture
def openers(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that have come up, and wait for the paths of files to open."""
    with ExitStack() as stack:
        processes = []
        for number in range(PROCESSES):
            command = [sys.executable, "-m", "tests.durability.opener", f"table{number}"]
            process = stack.enter_context(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
                )
            )
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(f"{tmp_path / 'nowhere' / 'file.db'}\n")
            process.stdin.flush()
        assert all("error" in answer_of(process) for process in processes)
        yield processes


def test_a_process_killed_at_any_step_of_opening_leaves_a_file_that_opens(tmp_path: Path) -> None:
    with child("tests.durability.dying", tmp_path) as process:
        assert process.wait(120) == 0
    files = sorted(tmp_path.glob("*.db"), key=lambda path: int(path.stem))
    assert len(files) > 30  # so many steps there are at least: it did die on the way
    for path in files:
        names = [f"table{number}" for number in range(3)]
        with ThreadPoolExecutor(3) as pool:
            seen = list(pool.map(open_and_create, [path] * 3, names))
        check(path, names, seen)


def test_those_that_wait_for_a_new_file_get_it_when_its_maker_gives_up(tmp_path: Path) -> None:
    """The maker ends without a commit; what it has begun to write is not seen."""
    path = tmp_path / "new.db"
    names = ["one", "three", "two"]
    with ThreadPoolExecutor(3) as pool:
        with closing(apsw.Connection(str(path))) as maker:
            maker.execute("BEGIN EXCLUSIVE")
            waiting = [pool.submit(open_and_create, path, name) for name in names]
            maker.pragma("application_id", 42)
        check(path, names, [opening.result(60) for opening in waiting])
