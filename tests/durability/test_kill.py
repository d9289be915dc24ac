"""A killed writer loses nothing that it acknowledged, and leaves every index in step."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tests.durability.orders import NAME, TABLE, Item, contents
from tests.durability.writer import THREADS
from tests.server.http import Client

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ROUNDS = 8


@contextmanager
def child(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A Python program of ours in a process of its own; killed at the end if it still runs."""
    command = [sys.executable, "-m", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until_killed(
    process: subprocess.Popen[str], writes: int
) -> tuple[list[dict[str, Any]], dict[int, dict[str, Item | None]]]:
    """Let it do that many writes, kill it, and read what it said: changes done, and those begun."""
    done: list[dict[str, Any]] = []
    begun: dict[int, dict[str, Item | None]] = {}
    assert process.stdout is not None
    for line in process.stdout:
        if not line.endswith("\n"):
            break  # it was killed while it spoke
        said = json.loads(line)
        if "will" in said:
            begun[said["thread"]] = said["will"]
        else:
            done.append(begun.pop(said["thread"]))
        if len(done) == writes:
            process.send_signal(signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    return done, begun


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_a_writer_killed_again_and_again_loses_nothing(tmp_path: Path, durability: Any) -> None:
    file = tmp_path / "orders.db"
    with Engine(file, durability=durability) as engine:
        engine.call("CreateTable", TABLE)
    state: dict[str, Item] = {}
    chance = random.Random(durability)
    for turn in range(ROUNDS):
        with child("tests.durability.writer", file, durability, str(turn)) as process:
            done, begun = read_until_killed(process, chance.randint(1, 150))
        for change in done:
            apply(state, change)
        with Engine(file, durability=durability) as engine:
            report = engine.check()
            assert report, report.problems[:5]
            found = contents(engine)
        for number in range(THREADS):
            mine = partition(state, number)
            both = dict(mine)
            apply(both, begun.get(number, {}))
            # What was begun is in the file as a whole, or not at all.
            assert partition(found, number) in (mine, both)
        state = found
    assert state


def apply(state: dict[str, Item], change: dict[str, Item | None]) -> None:
    for name, item in change.items():
        if item is None:
            state.pop(name, None)
        else:
            state[name] = item


def partition(state: dict[str, Item], number: int) -> dict[str, Item]:
    return {name: item for name, item in state.items() if name.startswith(f"p{number}/")}


@contextmanager
def served(file: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with child("tablewright", "serve", "--port", "0", file) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


def write_until_gone(
    url: str, writer: int, acknowledged: list[str], enough: threading.Event
) -> None:
    try:
        with Client(url) as client:
            for turn in range(1_000_000):
                item = {
                    "pk": {"S": f"w{writer}"},
                    "sk": {"S": str(turn)},
                    "status": {"S": "open"},
                    "total": {"N": str(turn % 7)},
                }
                if client.call("PutItem", {"TableName": NAME, "Item": item}).status == 200:
                    acknowledged.append(f"w{writer}/{turn}")
                if len(acknowledged) >= 400:
                    enough.set()
    except (OSError, EOFError):
        pass  # the server is gone


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_stopped_under_load_loses_nothing(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "orders.db"
    acknowledged: list[str] = []
    enough = threading.Event()
    with served(file) as (process, url):
        with Client(url) as client:
            assert client.call("CreateTable", TABLE).status == 200
        writers = [
            threading.Thread(target=write_until_gone, args=(url, writer, acknowledged, enough))
            for writer in range(6)
        ]
        for writer in writers:
            writer.start()
        assert enough.wait(60)
        process.send_signal(number)
        code = process.wait(30)
        for writer in writers:
            writer.join(30)
            assert not writer.is_alive()
    assert code == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    with Engine(file) as engine:
        report = engine.check()
        assert report, report.problems[:5]
        assert set(acknowledged) <= contents(engine).keys()


def test_a_file_can_be_written_while_its_last_writer_was_killed(tmp_path: Path) -> None:
    """A dead process holds no lock."""
    file = tmp_path / "orders.db"
    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
        with child("tests.durability.writer", file, "full", "1") as process:
            read_until_killed(process, 5)
        item = {"pk": {"S": "mine"}, "sk": {"S": "1"}}
        engine.call("PutItem", {"TableName": NAME, "Item": item})
        assert contents(engine)["mine/1"] == item
        assert engine.check()
