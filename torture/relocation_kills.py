"""Promise: as `relocations`, with real processes on two files: executors are killed with `kill -9`.

Method: two processes of programs create, count and delete things, while executors move the table to
another file, back, and there again. An executor kills itself before or after a random request, and
the next one continues. At the end every thing is as the programs were told.

Time runs five times as fast for programs and executors: a program looks at the record every second,
and an executor waits three seconds until all have noticed.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tablewright import connect, create, migrations
from tablewright.errors import (
    Contention,
    DesignMismatch,
    EndpointUnavailable,
    MigrationBusy,
    TablewrightError,
)
from tablewright.plan.migration.admission import RECHECK_SECONDS
from tablewright.plan.migration.revision import PROGRAM_SECONDS
from tablewright.plan.relocation.between import run_between
from tablewright.plan.relocation.program import FollowedTables
from tablewright.transport.targets import open_target
from torture.migration_kills import BUSY, DONE, fork
from torture.relocations import COMMANDS, NAMES, Command, Thing, Things
from torture.run import Broken, Part, Round

SPEED = 5
#: What an executor waits: the tests of the package set PROGRAM_SECONDS to nothing.
WAITS = max(PROGRAM_SECONDS, 3 * RECHECK_SECONDS) / SPEED
#: The things of each program.
THINGS = [[f"{name}{number}" for number in range(5)] for name in "pq"]
ATTEMPTS = 12


class Files:
    """The two files of a run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.first, self.second = folder / f"{seed}a.db", folder / f"{seed}b.db"
        self.stop = folder / f"{seed}.stop"

    def write(self, pipe: int, things: list[str], seed: int) -> int:
        """Write things until the run ends; report each write before and after it."""
        chance = random.Random(seed)
        stored: dict[str, int | None] = dict.fromkeys(things)
        db = connect(self.first, Things, moves_to=self.second, durability="normal")
        transport: Any = db.transport
        transport._tables = FollowedTables(
            {Things.__table__: NAMES[0]}, lambda: SPEED * time.monotonic()
        )
        while not self.stop.exists():
            tid = chance.choice(things)
            before, thing = stored[tid], Thing.primary(tid)
            after = 0 if before is None else before + 1
            plan: Any = thing.update(Thing.count.increment(1))
            if before is None:
                plan = create(Thing(tid=tid, email=f"{tid}@x"))
            elif chance.random() < 0.1:
                plan, after = thing.delete(), -1
            os.write(pipe, msgspec.json.encode([tid, before, after]) + b"\n")
            try:
                db.run(plan)
            except (Contention, DesignMismatch, EndpointUnavailable):
                found = self._read(db, tid)
            else:
                found = None if after < 0 else after
            stored[tid] = found
            os.write(pipe, msgspec.json.encode([tid, found]) + b"\n")
            time.sleep(0.002)
        return DONE

    def _read(self, db: Any, tid: str) -> int | None:
        """Read what became of a write whose outcome is not known."""
        while True:
            try:
                found = db.run(Thing.primary(tid))
            except DesignMismatch:
                continue
            return None if found is None else int(found.count)

    def execute(self, command: Command, kill_at: int) -> int:
        """Run a command in this process; kill it at a request, if that is at least 1."""
        sent = 0
        move = migrations.Relocation(self.first, self.second, Things)
        targets = [open_target(each, durability="normal") for each in (self.first, self.second)]

        def sending(side: int) -> Callable[[str, dict[str, Any]], Any]:
            def send(operation: str, body: dict[str, Any]) -> Any:
                nonlocal sent
                sent += 1
                if 2 * sent == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                answer = targets[side].send(operation, body)
                if 2 * sent + 1 == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return answer

            return send

        steps = COMMANDS[command](move.places, program_seconds=WAITS).steps()
        try:
            run_between(steps, sending)
        except MigrationBusy:
            return BUSY
        return DONE


def play_run(attack: Round, seed: int) -> None:
    """Move one table there, perhaps back and there again, with executors that are killed."""
    chance = random.Random(seed)
    files = Files(attack.folder, seed)
    connect(files.first, Things, durability="normal").close()
    migrations.baseline(files.first, Things)
    programs: list[tuple[int, int]] = []
    for number, things in enumerate(THINGS):
        receiving, sending = os.pipe()
        os.set_blocking(receiving, False)
        program = fork(
            lambda pipe=sending, names=things, at=number: files.write(pipe, names, seed + at)  # type: ignore[misc]
        )
        os.close(sending)
        programs.append((program, receiving))
    reported: list[bytes] = [b"", b""]

    def drain() -> None:
        for at, (_, pipe) in enumerate(programs):
            while True:
                try:
                    text = os.read(pipe, 65536)
                except BlockingIOError:
                    break
                if not text:
                    break
                reported[at] += text

    more: list[list[Command]] = [[], ["rollback"], ["rollback", "apply"]]
    commands: list[Command] = ["apply", *chance.choice(more)]
    try:
        for command in commands:
            carry_out(attack, files, command, chance, drain)
    finally:
        files.stop.touch()
        for program, _ in programs:
            ended = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
            attack.expect(ended == DONE, "a program fails", f"run {seed}")
        drain()
        for _, pipe in programs:
            os.close(pipe)
    place = files.first if commands[-1] == "rollback" else files.second
    with connect(place, Things, durability="normal") as db:
        for text in reported:
            for tid, value in last_values(text).items():
                found = db.run(Thing.primary(tid))
                count = None if found is None else found.count
                attack.require(count == value, "a write was lost or doubled", f"{tid} {value}")
                attack.count("things compared")
            attack.count("acknowledged writes", text.count(b"\n") // 2)
    attack.count("runs")
    for each in attack.folder.glob(f"{seed}*"):
        each.unlink()


def last_values(text: bytes) -> dict[str, int | None]:
    """Return what a program was told last of each thing."""
    told = [msgspec.json.decode(line) for line in text.splitlines()]
    return {each[0]: each[1] for each in told if len(each) == 2}


def carry_out(
    attack: Round,
    files: Files,
    command: Command,
    chance: random.Random,
    drain: Callable[[], None],
) -> None:
    """Run executors until one has ended."""
    for attempt in range(ATTEMPTS):
        most = chance.choice((40, 150, 400))
        kill_at = chance.randint(2, most) if attempt < ATTEMPTS - 1 else 0
        executor = fork(lambda at=kill_at: files.execute(command, at))  # type: ignore[misc]
        while True:
            ended, status = os.waitpid(executor, os.WNOHANG)
            drain()
            if ended:
                break
            time.sleep(0.01)
        code = os.waitstatus_to_exitcode(status)
        attack.require(code in (DONE, BUSY, -signal.SIGKILL), f"{command} fails")
        attack.count("executors")
        attack.count("kills", code == -signal.SIGKILL)
        if code == DONE:
            return
    raise Broken(f"{command} does not end")


def play(attack: Round) -> None:
    """Move one table after the other until the time is over."""
    runs = attack.size(10**6, 1)
    for at in range(runs):
        if attack.seconds < 0:
            return
        seed = attack.seed * 1_000_003 + at
        try:
            play_run(attack, seed)
        except Broken as broken:
            attack.expect(False, str(broken), f"run {seed}: {broken.detail}")
        except TablewrightError as error:
            attack.expect(False, f"{type(error).__name__}: {error}", f"run {seed}")


PART = Part(
    "relocation-kills",
    "A killed move of a table loses, doubles and revives nothing",
    "executors killed with SIGKILL beside programs in other processes",
    40,
    play,
)
