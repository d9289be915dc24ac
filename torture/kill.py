"""Promise: a process killed at any moment loses no acknowledged write, applies no transaction in
part, and leaves a file that opens again and whose indexes agree with their tables.

Method: a child process does random work and writes a line before and after each step to a pipe, so
that this process knows what was acknowledged; it kills the child with SIGKILL at a random moment.
Kinds of work:

    full, normal   puts, updates, deletes, batches, transactions, index builds and deletions, tables
                   created and deleted, expiry, checkpoints and reopening, with either durability
    bulk           the same with a second table of hundreds of items, so that kills hit index
                   builds, sweeps and deletions in the middle
    threads        three writing threads (the writer of the tests of durability)
    open           opening and closing, beginning with a file that does not exist
    copy           `tablewright copy` of a table into the file; run again, it completes

After each kill the file is opened: `check()` is clean and the file holds the state after the last
acknowledged step, or after the one that was begun. The next child continues on the same file.

Limits: a killed process leaves its writes to the operating system; `power` covers their loss.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tablewright.engine import Engine
from tests.durability.opener import table
from tests.durability.orders import TABLE, Item, contents
from tests.durability.test_kill import ROOT, apply, partition
from tests.durability.writer import THREADS
from torture.run import Part, Round
from torture.victim import BULK
from torture.work import OTHER, State, Work, difference, is_result, observe, problems

KINDS = ("full", "normal", "bulk", "threads", "open", "copy")


class Victims:
    """Forks workers, kills them, and returns the lines that they wrote."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def kill(
        self, kind: str, file: Path, seed: int, *, after: int, delay: float
    ) -> tuple[list[str], int]:
        """Start a worker and kill it `delay` seconds after its line number `after`.

        Returns its lines and its exit code. With a negative delay it is not killed.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        task = {"kind": kind, "file": str(file), "seed": seed}
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        lines: list[str] = []
        while True:
            if len(lines) == after and delay >= 0:
                time.sleep(delay)
                with suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(pid, signal.SIGKILL)
            line = self._process.stdout.readline()
            # The kill may have truncated the line before the last one.
            _, end, code = line.rpartition("end ")
            if end:
                return lines, int(code)
            if not line:
                raise EOFError("the parent of the killed processes has ended")
            lines.append(line)


@contextmanager
def victims() -> Iterator[Victims]:
    command = [sys.executable, "-m", "torture.victim"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            yield Victims(process)
        finally:
            process.kill()


def play(attack: Round) -> None:
    """Repeatedly kill workers of one kind (in a short round, of each kind) on one file."""
    with victims() as workers:
        for number in range(attack.size(1, len(KINDS))):
            kind = KINDS[(attack.seed + number) % len(KINDS)]
            file = attack.folder / f"{kind}.db"
            if kind == "copy":
                kill_copies(attack, workers, file)
            elif kind == "threads":
                kill_threads(attack, workers, file)
            else:
                kill_steps(attack, workers, kind, file)


def kill_steps(attack: Round, workers: Victims, kind: str, file: Path) -> None:
    chance = attack.chance
    state: State = {}
    for _ in range(attack.size(12, 2)):
        seed = chance.randrange(1 << 30)
        after = chance.randrange(attack.size(60, 15)) * (1 if kind == "open" else 2) + 1
        delay = chance.random() ** 3 * 0.03
        lines, code = workers.kill(kind, file, seed, after=after, delay=delay)
        attack.require(code == -signal.SIGKILL, f"{kind}: the worker ended with {code}")
        attack.count("kills")
        done, begun = lines.count("-\n"), lines.count("+\n")
        attack.count("acknowledged", done)
        work = Work(random.Random(seed), state, bulk=BULK if kind == "bulk" else 10)
        steps = [] if kind == "open" else [work.next() for _ in range(begun)]
        if steps:
            state = steps[done - 1].after if done else state
        with Engine(file) as engine:
            found = observe(engine)
            wrong = problems(engine)
        attack.require(not wrong, f"{kind}: check() finds problems", str(wrong))
        step = steps[done] if done < len(steps) else None
        what = step.operation if step else "no step"
        attack.require(
            is_result(found, state, step),
            f"{kind}: the file holds neither what was acknowledged nor what was begun",
            f"killed in {what}: {difference(found, state)}",
        )
        state = found


def kill_threads(attack: Round, workers: Victims, file: Path) -> None:
    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
    state: dict[str, Item] = {}
    for _ in range(attack.size(12, 2)):
        lines, code = workers.kill(
            "threads",
            file,
            attack.chance.randrange(1 << 30),
            after=attack.chance.randrange(attack.size(200, 50)),
            delay=attack.chance.random() * 0.01,
        )
        attack.require(code == -signal.SIGKILL, f"threads: the writer ended with {code}")
        attack.count("kills")
        begun: dict[int, dict[str, Item | None]] = {}
        for line in lines:
            said = json.loads(line)
            if "will" in said:
                begun[said["thread"]] = said["will"]
            else:
                apply(state, begun.pop(said["thread"]))
                attack.count("acknowledged")
        with Engine(file) as engine:
            wrong = problems(engine)
            found = contents(engine)
        attack.require(not wrong, f"threads: check() finds {wrong}")
        for number in range(THREADS):
            mine = partition(state, number)
            both = dict(mine)
            apply(both, begun.get(number, {}))
            attack.require(
                partition(found, number) in (mine, both),
                f"threads: partition {number} is neither as acknowledged nor as begun",
            )
        state = found


def kill_copies(attack: Round, workers: Victims, file: Path) -> None:
    with Engine(f"{file}.source", durability="normal") as source:
        source.call("CreateTable", table(OTHER))
        for start in range(0, attack.size(1500, 200), 25):
            writes = [
                {"PutRequest": {"Item": {"pk": {"S": str(n)}, "version": {"N": str(n)}}}}
                for n in range(start, start + 25)
            ]
            source.call("BatchWriteItem", {"RequestItems": {OTHER: writes}})
        wanted = observe(source)
    for _ in range(attack.size(6, 1)):
        delay = attack.chance.random() * 0.4
        _, code = workers.kill("copy", file, 0, after=0, delay=delay)
        attack.require(code in (0, -signal.SIGKILL), f"copy: ended with {code}")
        attack.count("kills", int(code != 0))
        with Engine(file) as engine:
            found = observe(engine)
            wrong = problems(engine)
        attack.require(not wrong, f"copy: check() finds {wrong}")
        for name, (_, items) in found.items():
            attack.require(
                items.items() <= wanted[name][1].items(), "copy: the target holds other items"
            )
    _, code = workers.kill("copy", file, 0, after=0, delay=-1)
    with Engine(file) as engine:
        found = observe(engine)
    attack.require(code == 0, f"copy: run again, it ends with {code}")
    attack.require(found == wanted, f"copy: run again, the target {difference(found, wanted)}")


PART = Part(
    "kill",
    "SIGKILL loses nothing acknowledged and tears nothing",
    "SIGKILL at random moments of every kind of work",
    60,
    play,
)
