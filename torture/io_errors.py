"""Promise: when the disk fails a call, the engine raises a clear error, loses no acknowledged
write, and works again when the disk works again.

Method: random work runs on a disk that fails the n-th call of one kind (open, read, write, sync,
truncate, delete, size, lock, access) once, for a number of calls, or until it is repaired: with an
I/O error, with a full disk, or after a part of a write. Every error must be a TablewrightError.
After the repair the next write succeeds, in the same engine or after it is opened again; the file
holds everything acknowledged and, of steps that failed, the whole or nothing; `check()` is clean.

Limits: errors of the shared memory file are not injected, and reads never return wrong bytes.
"""

from __future__ import annotations

import random

import apsw

from tablewright.engine import Engine
from tablewright.errors import TablewrightError
from tests.durability.orders import NAME
from torture.disk import installed
from torture.run import Broken, Part, Round
from torture.work import State, Step, Work, Worker, difference, is_result, observe, problems

#: The errors of SQLite's that each kind of call may fail with. 0 is a part of a write, then FULL.
ERRORS = {
    "open": (apsw.SQLITE_CANTOPEN, apsw.SQLITE_IOERR),
    "read": (apsw.SQLITE_IOERR_READ,),
    "write": (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_FULL, 0),
    "sync": (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_FULL),
    "truncate": (apsw.SQLITE_IOERR_TRUNCATE,),
    "delete": (apsw.SQLITE_IOERR_DELETE,),
    "size": (apsw.SQLITE_IOERR_FSTAT,),
    "lock": (apsw.SQLITE_IOERR_LOCK,),
    "access": (apsw.SQLITE_IOERR_ACCESS,),
}


class Faults:
    """Decides which calls fail, and with which error."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.injected = 0
        self.arm()

    def arm(self) -> None:
        """Choose the next fault."""
        chance = self._chance
        self.kind = chance.choice(sorted(ERRORS))
        self.error = chance.choice(ERRORS[self.kind])
        self._after = int(10 ** (chance.random() * 2))  # early calls more often: 1 to 100
        self._times = chance.choice((1, 1, 3, 1_000_000))
        self._bytes = chance.randrange(1, 9000)

    def __call__(self, kind: str, name: str) -> int | None:
        if kind != self.kind or not self._times:
            return None
        if self._after > 0:
            self._after -= 1
            return None
        self._times -= 1
        self.injected += 1
        if self.error == 0:
            return self._bytes
        raise apsw.exception_for(self.error)

    def repair(self) -> None:
        self._times = 0

    def __str__(self) -> str:
        names = {**apsw.mapping_result_codes, **apsw.mapping_extended_result_codes}
        return f"{self.kind} fails with {names[self.error] if self.error else 'a short write'}"


def play(attack: Round) -> None:
    """Do random work on a failing disk, repair the disk, and check the file."""
    faults = Faults(attack.chance)
    path = attack.folder / "faults.db"
    work = Work(attack.chance, {})
    before: State = {}
    with installed(hook=faults):
        worker: Worker | None = None
        for number in range(attack.size(40, 20)):
            if number % 10 == 9:
                faults.arm()
            step = work.next()
            try:
                if worker is not None and step.operation == "reopen":
                    close(worker, faults)
                    worker = None
                worker = worker or Worker(path)
                if step.operation != "reopen":
                    worker.do(step)
                attack.count("acknowledged")
                before = step.after
            except TablewrightError:
                attack.count("errors raised")
                faults.repair()
                worker, before = recover(attack, worker, faults, before, step)
                work.state = before
                faults.arm()
            except apsw.Error as error:
                # This part runs the checkpoint, not the engine.
                own = step.operation == "checkpoint"
                attack.require(own, f"{faults}: {step.operation} raises {foreign(error)}")
            except Exception as error:
                raise Broken(f"{faults}: {step.operation} raises {foreign(error)}") from error
        attack.count("injected", faults.injected)
        faults.repair()
        if worker is not None:
            worker.engine.close()
    with Engine(path) as engine:
        attack.require(not problems(engine), "check() finds problems", str(faults))
        found = observe(engine)
        attack.require(
            found == before,
            "acknowledged writes are lost",
            f"{faults}: {difference(found, before)}",
        )


def close(worker: Worker, faults: Faults) -> None:
    """Close an engine. SQLite ignores errors of the disk here, but a Python VFS raises them."""
    try:
        worker.engine.close()
    except apsw.Error:
        faults.repair()
        worker.engine.close()


def foreign(error: Exception) -> str:
    return f"{type(error).__module__}.{type(error).__name__}: {error}"


def recover(
    attack: Round, worker: Worker | None, faults: Faults, before: State, step: Step
) -> tuple[Worker, State]:
    """Return a worker that can write again, the same or a new one, and the content of the file."""
    if worker is not None:
        try:
            return worker, judged(attack, worker, faults, before, step)
        except TablewrightError:
            attack.count("reopened")
            close(worker, faults)
    worker = Worker(attack.folder / "faults.db")
    return worker, judged(attack, worker, faults, before, step)


def judged(attack: Round, worker: Worker, faults: Faults, before: State, step: Step) -> State:
    """Return the content of the file after a failed step; check that it is allowed."""
    found = observe(worker.engine)
    attack.require(
        is_result(found, before, step),
        "a failed step is neither done nor undone",
        f"{faults} in {step.operation}: {difference(found, before)}",
    )
    if NAME in found:
        key = {"pk": {"S": "p9"}, "sk": {"S": "after"}}
        worker.engine.call("PutItem", {"TableName": NAME, "Item": key})
        worker.engine.call("DeleteItem", {"TableName": NAME, "Key": key})
    return found


PART = Part(
    "io-errors",
    "A failing disk gives clear errors; nothing acknowledged is lost",
    "a VFS that fails the n-th call of a kind",
    40,
    play,
)
