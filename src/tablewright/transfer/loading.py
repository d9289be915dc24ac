"""Loading: one file is read, and its batches are written by several threads.

The batches of a file are the same in every run. Those that are written, from the first on without
a gap, are known to the state; a later run reads them too, for the checksum, but does not write
them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tablewright.errors import DynamoDBError, TableNotFound, TransferRefused
from tablewright.transfer import dumpfile
from tablewright.transfer.batches import batches, write
from tablewright.transfer.checksum import Sum
from tablewright.transfer.crew import Shared, together
from tablewright.transfer.dumpfile import Data, Dump
from tablewright.transfer.progress import Compared, Event, Progress
from tablewright.transfer.receiving import Receiver, summed
from tablewright.transfer.segments import SEGMENTS
from tablewright.transfer.state import Part, State
from tablewright.transport import Transport
from tablewright.values import Item


class _Batch(Struct):
    """Items of a file; `before` is how many come before them."""

    number: int
    before: int
    items: list[Item]


def load(
    dumps: list[Dump],
    target: Transport,
    *,
    state: State | None = None,
    writers: int = SEGMENTS,
    where: str = "the target",
) -> Iterator[Event]:
    """Load dumps into their tables.

    Tables that the target lacks are made as the manifest says, and without one refused; one that
    it has must have the same keys.
    """
    state = state or State(None)
    tasks = [(dump, _receiver(dump, target, where)) for dump in dumps]
    for dump, receiver in tasks:
        yield from _load_table(dump, receiver, state, writers)
    state.remove()


def _receiver(dump: Dump, target: Transport, where: str) -> Receiver:
    definition = dump.manifest.table.named(dump.table) if dump.manifest else None
    receiver = Receiver.check(target, where, dump.table, definition)
    if receiver.found is None and definition is None:
        raise TableNotFound(
            f"{where} has no table {dump.table!r}, and without a manifest it cannot be made"
        )
    return receiver


def _load_table(dump: Dump, receiver: Receiver, state: State, writers: int) -> Iterator[Event]:
    expected = dump.manifest.count if dump.manifest else None
    progress = receiver.begin(state, _identity(dump.files), len(dump.files))
    if len(progress.parts) != len(dump.files):
        raise TransferRefused(
            f"{state.path}: tells of {len(progress.parts)} files, not {len(dump.files)}; remove it"
        )
    yield Progress(dump.table, "loaded", 0, expected)
    read = Sum()
    try:
        for file, part in zip(dump.files, progress.parts, strict=True):
            loading = _load_file(file, part, receiver, writers)
            for added in loading:
                read += added
                state.save(now=False)
                yield Progress(dump.table, "loaded", read.count, expected)
    finally:
        state.save()
    found = yield from summed(receiver.transport, dump.table, writers, "compared: target")
    receiver.end(progress)
    sides = {"manifest": dump.manifest.sum} if dump.manifest else {}
    yield Compared(dump.table, {**sides, "file": read, "target": found})


def _load_file(file: Data, part: Part, receiver: Receiver, writers: int) -> Iterator[Sum]:
    """Write what is not written yet; gives the sum of every batch, in no order."""
    source = Shared(_numbered(file))
    known = part.items

    def worker() -> Iterator[tuple[_Batch, Sum]]:
        for batch in source:
            if batch.before + len(batch.items) > known:
                _write(file, receiver, batch)
            yield batch, Sum.of(batch.items)

    written: dict[int, int] = {}
    following = count = 0
    for batch, added in together([worker() for _ in range(writers)]):
        written[batch.number] = len(batch.items)
        while following in written:
            count += written.pop(following)
            following += 1
        part.items = max(part.items, count)
        yield added
    part.done = True


def _numbered(file: Data) -> Iterator[_Batch]:
    before = 0
    for number, items in enumerate(batches(dumpfile.read(file))):
        yield _Batch(number, before, items)
        before += len(items)


def _write(file: Data, receiver: Receiver, batch: _Batch) -> None:
    try:
        write(receiver.transport, receiver.name, batch.items)
    except DynamoDBError as fault:
        first, last = batch.before + 1, batch.before + len(batch.items)
        raise TransferRefused(
            f"{dumpfile.shown(file)}, items {first} to {last}: {fault.code}: {fault.message}"
        ) from fault


def _identity(files: list[Data]) -> str:
    """What tells files from others that had their names before."""
    stats = [(file.name, file.stat()) for file in files if isinstance(file, Path)]
    return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)
