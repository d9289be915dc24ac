"""Promise: as `counters`, with real processes on one file, each with several threads, that are
killed with `kill -9`.

Method: processes write one file at the same time. Some of them kill themselves before or after a
random request. After all have ended, the counters are computed from the stored children.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

from tablewright import connect
from tablewright.engine import Engine
from tablewright.errors import DynamoDBError, TablewrightError
from tablewright.plans import reconcile
from tablewright.transport import Response, Transport
from torture.counters import Calls, Hub, Program
from torture.migration_kills import DONE, fork
from torture.run import Part, Round

PROCESSES, THREADS, CALLS = 3, 2, 25


class Killing:
    """A transport that kills its process before or after a request."""

    def __init__(self, inner: Transport, at: int, *, after: bool) -> None:
        self.inner = inner
        self._at = at
        self._after = after
        self._sent = 0

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self._sent += 1
        is_last = self._sent == self._at
        if is_last and not self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        response = self.inner.send(operation, request)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return response

    def close(self) -> None:
        self.inner.close()


def work(file: Path, seed: str) -> int:
    """Make calls in several threads; perhaps be killed at one of the requests."""
    chance = random.Random(seed)
    at = chance.randint(1, 150) if chance.random() < 0.6 else 0
    with connect(str(file), Hub) as opened:
        db = opened.through(Killing(opened.transport, at, after=chance.random() < 0.5))

        def client(number: int) -> None:
            calls = Calls(random.Random(f"{seed} {number}"))
            for _ in range(CALLS):
                call = calls.any()
                try:
                    found = db.run(call.plan)
                    if call.then is not None and found is not None:
                        db.run(call.then(found))
                except (TablewrightError, DynamoDBError):
                    pass

        threads = [threading.Thread(target=client, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return DONE


def whole(attack: Round, engine: Engine) -> Program:
    """Return a program without faults."""
    program = Program(attack, attack.chance, engine)
    program.faults = 0.0
    return program


def play(attack: Round) -> None:
    """Let processes write one file, several times."""
    file = attack.folder / "hub.db"
    with Engine(file, durability="normal") as engine:
        whole(attack, engine).begin()
    for number in range(attack.size(4, 2)):
        seeds = [f"{attack.seed} {number} {process}" for process in range(PROCESSES)]
        children = [fork(lambda seed=seed: work(file, seed)) for seed in seeds]  # type: ignore[misc]
        for child in children:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            attack.require(code in (DONE, -signal.SIGKILL), "a process fails")
            attack.count("processes")
            attack.count("kills", code == -signal.SIGKILL)
        with Engine(file, durability="normal") as engine:
            program = whole(attack, engine)
            model = program.check("processes at the same time")
            attack.count("items", len(program.items()))
            attack.require(not program.run_at_once(reconcile(Hub, dry_run=True)), "reconcile")
            attack.highest("stars", len(model.stars))


PART = Part(
    "counter-kills",
    "A counter is what it counts, whatever process is killed",
    "processes with threads on one file, killed with SIGKILL",
    30,
    play,
)
