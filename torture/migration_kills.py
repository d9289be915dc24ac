"""Promise: as `migrations`, with real processes on one file: executors are killed with `kill -9`.

Method: a process of programs writes things through patterns, while an executor migrates the file.
The executor kills itself before or after a random request, and the next one continues; at the end
the migration is completed or undone, and everything is read and compared as in `migrations`.

A program tells the parent what it is about to write, and when that is acknowledged. A lock file
stands for the deployment: a program holds it, shared, from `connect` to the end of a call, and an
executor holds it alone while it records a phase that some programs may not see.
"""

from __future__ import annotations

import fcntl
import os
import random
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tablewright.engine import Engine
from tablewright.errors import MigrationBusy, TablewrightError, UniqueNotReady
from tablewright.plan.migration.migrate import Baseline
from torture.migration_designs import Pair
from torture.migrations import (
    Command,
    Name,
    World,
    all_pairs,
    finish,
)
from torture.run import Broken, Part, Round

#: Exit codes of an executor: it has ended, or another one holds the lease.
DONE, BUSY, FAILED = 0, 3, 4
CALLS = 25
ATTEMPTS = 8


@contextmanager
def lock(path: Path, kind: int) -> Iterator[None]:
    """Hold a lock file; a process that is killed releases it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


def fork(work: Callable[[], int]) -> int:
    """Run a function in a child process, and return its id."""
    child = os.fork()
    if child:
        return child
    code = FAILED
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    os._exit(code)


class Deployment:
    """The file of one run, and the processes that use it."""

    def __init__(self, world: World, file: Path) -> None:
        self.world = world
        self.file = file
        self.lock = file.with_suffix(".lock")

    def execute(self, command: Command, stop_at: int) -> int:
        """Run a command in this process; kill it at a request, if that is at least 1."""
        world, sent = self.world, 0
        world.engine = Engine(self.file, durability="normal")
        inner = world.send

        def send(operation: str, body: dict[str, Any]) -> bytes:
            nonlocal sent
            sent += 1
            if 2 * sent == stop_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if world.changes_phase(operation, body):
                with lock(self.lock, fcntl.LOCK_EX):
                    answer = inner(operation, body)
            else:
                answer = inner(operation, body)
            if 2 * sent + 1 == stop_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        world.send = send  # type: ignore[method-assign]  # in this process only
        name: Name = "old" if command == "rollback" else "new"
        try:
            world.run(world.plan(command, world.sides[name]), name)
        except MigrationBusy:
            return BUSY
        return DONE

    def write(self, pipe: int, name: Name) -> int:
        """Make calls of a program, and report each before and after it."""
        world = self.world
        world.engine = Engine(self.file, durability="normal")
        for _ in range(CALLS):
            tid = world.chance.choice(world.ids)
            options = world.stored[tid]
            with lock(self.lock, fcntl.LOCK_SH):
                is_ended = world.remaining not in (None, name) and not world.is_open()
                is_known = world.sides[name].knows(tid)
                context = world.connect(name) if is_known and not is_ended else None
                if context is None:
                    continue
                if len(options) > 1:
                    world.read(name, tid, context)
                    continue
                plan, after = world._write(world.sides[name], tid, options[0])
                os.write(pipe, msgspec.json.encode([tid, options[0], after]) + b"\n")
                try:
                    world.run(plan, name, context)
                except UniqueNotReady:
                    os.write(pipe, b"0\n")
                    continue
                world.stored[tid] = [after]
                os.write(pipe, b"1\n")
        return DONE


def play_run(attack: Round, pair: Pair, seed: int) -> None:
    """Migrate one file, with executors that are killed."""
    chance = random.Random(seed)
    file = attack.folder / f"{seed}.db"
    world = World(attack, pair, chance, file)
    world.is_shared = True
    world.program_seconds = 0.0  # the lock stands for that
    try:
        world.make_table("old")
        world.fill()
        world.run(Baseline(world.version(pair.old)), "old")
        deployment = Deployment(world, file)
        commands: tuple[Command, ...] = ("apply", chance.choice(("rollback", "complete")))
        carry_out(attack, deployment, commands[0])
        world.remaining = "old" if commands[1] == "rollback" else "new"
        carry_out(attack, deployment, commands[1])
        finish(world, world.remaining)
    finally:
        world.engine.close()
    attack.count("runs")


def carry_out(attack: Round, deployment: Deployment, command: Command) -> None:
    """Run executors beside programs of both versions, until one has ended."""
    world, chance = deployment.world, deployment.world.chance
    for attempt in range(ATTEMPTS):
        world.engine.close()
        stop_at = chance.randint(2, 90) if attempt < ATTEMPTS - 1 else 0
        name: Name = chance.choice(("old", "new"))
        receiving, sending = os.pipe()
        world.chance = random.Random(chance.random())
        program = fork(lambda pipe=sending, name=name: deployment.write(pipe, name))  # type: ignore[misc]
        executor = fork(lambda at=stop_at: deployment.execute(command, at))  # type: ignore[misc]
        os.close(sending)
        code = os.waitstatus_to_exitcode(os.waitpid(executor, 0)[1])
        if chance.random() < 0.3:
            os.kill(program, signal.SIGKILL)
        with os.fdopen(receiving, "rb") as pipe:
            note_writes(world, name, pipe.read().splitlines())
        ended = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
        world.chance = chance
        world.engine = Engine(deployment.file, durability="normal")
        attack.require(ended in (DONE, -signal.SIGKILL), f"{world.pair.name}: a program fails")
        attack.require(code in (DONE, BUSY, -signal.SIGKILL), f"{world.pair.name}: {command} fails")
        attack.count("executors")
        attack.count("kills", code == -signal.SIGKILL)
        world.check()
        if code == DONE or (not world.is_open() and command != "apply"):
            return
    raise Broken(f"{command} does not end", world.pair.name)


def note_writes(world: World, name: Name, lines: list[bytes]) -> None:
    """Read what a program has reported: a write before it is sent, and then its outcome."""
    told = [msgspec.json.decode(line) for line in lines]
    for at in range(0, len(told), 2):
        (tid, before, after), outcome = told[at], told[at + 1] if at + 1 < len(told) else None
        if outcome != 0:  # acknowledged, or the program was killed
            world.note_event(name, tid, before, after, is_certain=outcome == 1)
        if outcome == 1:
            world.attack.count("acknowledged writes")
            world.stored[tid] = [after]
        elif outcome is None:
            world.stored[tid] = [before, after]
        else:
            world.stored[tid] = [before]


def play(attack: Round) -> None:
    """Make one run of every pair."""
    for at, pair in enumerate(all_pairs()):
        seed = attack.seed * 1_000_003 + at
        if attack.seconds < 0 or at >= attack.size(len(all_pairs()), 4):
            return
        try:
            play_run(attack, pair, seed)
        except Broken as broken:
            attack.expect(False, str(broken), f"run {seed}: {broken.detail}")
        except TablewrightError as error:
            attack.expect(False, f"{pair.name}: {type(error).__name__}: {error}", f"run {seed}")


PART = Part(
    "migration-kills",
    "A killed migration loses, doubles and hides nothing",
    "executors killed with SIGKILL beside programs in other processes",
    40,
    play,
)
