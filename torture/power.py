"""Promise: a power loss loses no acknowledged write (durability "full"), or only the latest ones,
each as a whole (durability "normal"); the file opens again, and every table agrees with its
indexes.

Method: random work runs on a disk that records every write, truncation, sync, creation and
deletion of a file. At random points of the record the power fails: synced data remains, and of the
other data a random subset of sectors of 512 bytes. Space that was never written reads as zeros
or as garbage. The shared memory file is missing, as it was, or garbage. The engine then opens what
is left. Under "full" the file must hold the state after the last acknowledged step, or after the
one that was begun. Under "normal" it may hold any state since the last sync of the log.

Limits: one process and one thread do the work. Creations and deletions of files reach the disk in
their order, as on a journalling file system; a sync of a new log or journal makes the earlier ones
durable. A write does not damage bytes outside of its own range, which SQLite assumes too. A disk
that lies about syncs is outside the promise.
"""

from __future__ import annotations

import random
from pathlib import Path

from tablewright.engine import Engine
from tablewright.storage import Durability
from tests.durability.orders import NAME
from torture.disk import Change, installed, mapped
from torture.run import Part, Round
from torture.work import State, Step, Work, Worker, difference, is_result, observe, problems

SECTOR = 512


class Inode:
    """The durable bytes of a file, and its pending changes."""

    def __init__(self) -> None:
        self.durable = bytearray()
        self.pending: list[Change] = []

    def sync(self) -> None:
        for change in self.pending:
            write(self.durable, change.offset, change.data, change.kind)
        self.pending.clear()

    def after_crash(self, chance: random.Random) -> bytes:
        """Return the durable bytes with a random part of the pending changes."""
        kept = chance.choice((0.0, 0.05, 0.5, 0.95, 1.0))
        whole = chance.random() < 0.3  # writes are kept or lost as a whole
        fill = chance.choice((b"\0", b"\xa5"))
        image = bytearray(self.durable)
        for change in self.pending:
            if change.kind == "truncate" or whole:
                if chance.random() < kept:
                    write(image, change.offset, change.data, change.kind, fill)
                continue
            start = change.offset
            end = start + len(change.data)
            while start < end:
                stop = min(end, (start // SECTOR + 1) * SECTOR)
                if chance.random() < kept:
                    piece = change.data[start - change.offset : stop - change.offset]
                    write(image, start, piece, "write", fill)
                start = stop
        return bytes(image)


def write(
    image: bytearray, offset: int, data: bytes, kind: str = "write", fill: bytes = b"\0"
) -> None:
    if kind == "truncate":
        del image[offset:]
        return
    if len(image) < offset:
        image.extend(fill * (offset - len(image)))
    image[offset : offset + len(data)] = data


class Platter:
    """The files of a disk, up to some point of its record."""

    def __init__(self) -> None:
        self._named: dict[str, Inode] = {}  # as processes see it
        self._durable: dict[str, Inode] = {}
        self._pending: list[dict[str, Inode]] = []  # the directory after each change of it

    def apply(self, change: Change) -> None:
        if change.kind == "create":
            self._rename({**self._named, change.name: Inode()})
        elif change.kind == "delete":
            self._rename({n: node for n, node in self._named.items() if n != change.name})
        elif change.kind == "sync":
            self._named[change.name].sync()
        elif change.name in self._named:
            self._named[change.name].pending.append(change)
        if change.directory:
            self._durable = self._named
            self._pending.clear()

    def _rename(self, named: dict[str, Inode]) -> None:
        self._named = named
        self._pending.append(named)

    def crash(self, chance: random.Random, folder: Path) -> None:
        """Write the remaining files into a folder."""
        directory = chance.choice([self._durable, *self._pending])
        for name, inode in directory.items():
            (folder / Path(name).name).write_bytes(inode.after_crash(chance))


def play(attack: Round) -> None:
    """Record random work, then let the power fail at random points of the record."""
    chance = attack.chance
    count = attack.size(60, 30)
    durability: Durability = "full" if chance.random() < 0.7 else "normal"
    log: list[Change] = []
    path = attack.folder / "power.db"
    work = Work(chance, {})
    states: list[State] = [{}]
    steps: list[Step] = []
    with installed(log):
        worker = Worker(path, durability)
        for _ in range(count):
            step = work.next()
            log.append(Change("begin", ""))
            worker.do(step)
            log.append(Change("acknowledge", ""))
            states.append(step.after)
            steps.append(step)
        attack.require(not mapped(path), "the database file is mapped: the disk is by-passed")
        worker.engine.close()
    attack.count("writes", len(log) - 2 * count)
    points = sorted(chance.sample(range(1, len(log) + 1), attack.size(25, 10)))
    platter = Platter()
    begun = acknowledged = synced = 0
    for at, change in enumerate(log, 1):
        if change.kind == "begin":
            begun += 1
        elif change.kind == "acknowledge":
            acknowledged += 1
        else:
            platter.apply(change)
        if change.kind == "sync" and change.name.endswith("-wal"):
            synced = acknowledged
        if at in points:
            folder = attack.folder / f"crash-{at}"
            folder.mkdir()
            platter.crash(chance, folder)
            leave_shared_memory(chance, folder / "power.db-shm")
            first = acknowledged if durability == "full" else synced
            allowed = [
                (states[n], steps[n] if n < begun else None) for n in range(first, begun + 1)
            ]
            judge(attack, folder / "power.db", allowed, f"durability {durability}, change {at}")
            attack.count("power losses")


def leave_shared_memory(chance: random.Random, path: Path) -> None:
    if chance.random() < 0.5:
        path.write_bytes(chance.randbytes(chance.choice((1, 136, 32768))))


def judge(attack: Round, path: Path, allowed: list[tuple[State, Step | None]], where: str) -> None:
    """Open a remaining file: it must be valid, have an allowed state, and be writable."""
    with Engine(path, durability="normal") as engine:
        found = observe(engine)
        wrong = problems(engine)
        attack.require(not wrong, "check() finds problems", f"{where}: {wrong}")
        attack.require(
            any(is_result(found, before, step) for before, step in allowed),
            "the file holds neither what was acknowledged nor what was begun",
            f"{where}: {difference(found, allowed[0][0])}",
        )
        if NAME in found:
            item = {"pk": {"S": "after"}, "sk": {"S": "crash"}}
            engine.call("PutItem", {"TableName": NAME, "Item": item})
            attack.require(not problems(engine), "a write afterwards leaves problems", where)


PART = Part(
    "power",
    "A power loss loses no acknowledged write",
    "a VFS that drops and tears unsynced writes at sectors",
    45,
    play,
)
