"""Promise: a killed repair leaves no file under the name of the new file, or a complete one; and
the next repair is not disturbed by what it left.

Method: a file with a damaged row is repaired in a child process, which is killed with SIGKILL at a
random moment. If the new file exists, it holds every readable item, and `check()` is clean.
Then the repair runs again, and does the same; no partial file remains.

Limits: as those of `kill`.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import apsw

from tablewright.engine import Engine
from tests.durability.opener import table
from torture.kill import Victims, victims
from torture.run import Part, Round
from torture.work import OTHER, observe, problems


def play(attack: Round) -> None:
    damaged = attack.folder / "new.db.damaged"
    count = attack.size(1000, 200)
    make_damaged(damaged, count)
    file = attack.folder / "new.db"
    with victims() as workers:
        repair(attack, workers, file, count)  # the first one also waits for the imports
        file.unlink()
        longest = repair(attack, workers, file, count)
        file.unlink()
        for _ in range(attack.size(12, 8)):
            kill_repair(attack, workers, file, count, longest)


def make_damaged(file: Path, count: int) -> None:
    """Write a file with `count` items and one damaged row."""
    with Engine(file, durability="normal") as engine:
        engine.call("CreateTable", table(OTHER))
        for first in range(0, count, 25):
            writes = [
                {"PutRequest": {"Item": {"pk": {"S": str(n)}, "text": {"S": "x" * 500}}}}
                for n in range(first, first + 25)
            ]
            engine.call("BatchWriteItem", {"RequestItems": {OTHER: writes}})
        tree = engine._writer_catalog.tables[OTHER].tree
    connection = apsw.Connection(str(file))
    changed = f"UPDATE {tree.name} SET size = size + 1 WHERE key = (SELECT min(key) FROM "
    connection.execute(f"{changed}{tree.name})")
    connection.close()


def kill_repair(attack: Round, workers: Victims, file: Path, count: int, longest: float) -> None:
    delay = attack.chance.random() * longest
    _, code = workers.kill("repair", file, 0, after=0, delay=delay)
    attack.require(code in (0, -signal.SIGKILL), f"a repair ended with {code}")
    attack.count("kills", int(code != 0))
    if file.exists():
        attack.count("complete")
        require_complete(attack, file, count)
        file.unlink()
    repair(attack, workers, file, count)
    left = [path.name for path in file.parent.iterdir() if ".partial" in path.name]
    attack.require(not left, f"files are left: {', '.join(left)}")
    file.unlink()


def repair(attack: Round, workers: Victims, file: Path, count: int) -> float:
    """Run a repair to its end, and return its seconds."""
    started = time.monotonic()
    _, code = workers.kill("repair", file, 0, after=0, delay=-1)
    seconds = time.monotonic() - started
    attack.require(code == 0, f"a repair after a killed one ended with {code}")
    require_complete(attack, file, count)
    return seconds


def require_complete(attack: Round, file: Path, count: int) -> None:
    with Engine(file) as engine:
        attack.require(OTHER in observe(engine), "a repaired file lacks a table")
        _, items = observe(engine)[OTHER]
        wrong = problems(engine)
    attack.require(len(items) == count - 1, f"a repaired file has {len(items)} of {count - 1}")
    attack.require(not wrong, f"a repaired file has problems: {wrong}")


PART = Part(
    "repairs",
    "A killed repair leaves a complete file or none",
    "SIGKILL at random moments of a repair, then the repair again",
    20,
    play,
)
