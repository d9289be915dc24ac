"""Cutting: switch all programs from the source to the destination, with a short pause of writes.

    guard     record `guarded`, open the gates; wait until every program has noticed
    close     record `closed`, close the gates        ┐
    drain     write markers, read the stream to them  │ writes of programs wait
    switch    record `away`, then `open`              ┘

If the stream is not read to its end within the pause that is allowed, the gates are opened again,
and the next attempt follows when nothing is left to read.
"""

from __future__ import annotations

import random

import msgspec

from tablewright.errors import MigrationRefused
from tablewright.mapping.item_kind import RECORD_NAME
from tablewright.plan.migration.revision import PROGRAM_SECONDS
from tablewright.plan.plan import Wait
from tablewright.plan.reads.several import item_identity
from tablewright.plan.relocation.between import BetweenSteps, at
from tablewright.plan.relocation.copying import Gap, RelocationWork
from tablewright.plan.relocation.place import (
    CLOSED,
    GATE,
    GATES,
    MOVE,
    OF_PLACE,
    OPEN,
    Phase,
    PlaceRecord,
    gate_key,
    marker_key,
    move_in,
    read_record,
)
from tablewright.values import Item, Value

#: How long writes may wait, in seconds.
PAUSE_SECONDS = 1.0
#: How often the cut-over is tried.
ATTEMPTS = 10
#: How many markers are written at once.
MARKERS = 8
#: The time between two attempts, in seconds.
RETRY_SECONDS = 2.0


def record_phase(work: RelocationWork, side: int, phase: Phase) -> BetweenSteps[None]:
    """Record what programs may do at one place."""
    other = work.progress.table if side == 0 else work.name(0)
    place = work.progress.place if side == 0 else work.progress.origin
    move = PlaceRecord(work.progress.id, phase, other, place)
    text: Value = {"S": msgspec.json.encode(move).decode()}
    yield from at(side, work.executors[side].record({MOVE: text}))


def read_move(work: RelocationWork, side: int) -> BetweenSteps[PlaceRecord | None]:
    """Return what the record of one place says."""
    record = yield from at(side, read_record(work.table, work.name(side)))
    return move_in(record, work.name(side))


def guard(work: RelocationWork, seconds: float | None) -> BetweenSteps[None]:
    """Let every write of a program check a gate; wait until all programs have noticed."""
    yield from set_gates(work, OPEN)
    yield from record_phase(work, work.source, "guarded")
    left = PROGRAM_SECONDS if seconds is None else seconds
    while left > 0:
        yield Wait(min(left, 1.0))
        left -= 1.0
        yield from work.catch_up()
        yield from work.save()


def set_gates(work: RelocationWork, state: str | None) -> BetweenSteps[None]:
    """Open or close the gates of the source, or remove them.

    One after the other: a transaction that conflicts with the writes of programs is sent again.
    """
    source = work.source
    for number in range(GATES):
        key = gate_key(work.table, number)
        if state is None:
            action = work.delete(source, key)
        else:
            action = work.put(source, _own_item(work, key, {GATE: {"S": state}}))
        yield from work.write_together(source, [action])


def _own_item(work: RelocationWork, key: Item, values: Item) -> Item:
    """Return an item of this package, which programs recognize as one of the library."""
    table = work.table
    kind: Item = {}
    if table.type_attribute is not None:
        kind = {table.type_attribute: table.type_value(RECORD_NAME)}
    return key | values | kind


def reopen(work: RelocationWork) -> BetweenSteps[None]:
    """Let the writes of programs continue at the source."""
    yield from set_gates(work, OPEN)
    yield from record_phase(work, work.source, "guarded")
    yield from remove_markers(work)


def cut_over(work: RelocationWork, pause_seconds: float) -> BetweenSteps[float]:
    """Switch all programs to the destination; return how long writes waited, in seconds."""
    found = yield from read_move(work, work.source)
    if found is not None and found.phase == "away":  # an executor was stopped before the last write
        yield from record_phase(work, work.target, "open")
        yield from _clean(work)
        return 0.0
    if found is None or found.phase != "guarded" or work.progress.markers:
        yield from reopen(work)
    for _ in range(ATTEMPTS):
        yield from work.catch_up()
        yield from work.save()
        begun = work.now()
        yield from record_phase(work, work.source, "closed")
        try:
            yield from set_gates(work, CLOSED)
            if (yield from _drain(work, begun + pause_seconds)):
                yield from work.require_stream()
                yield from _copy_record(work)
                yield from record_phase(work, work.source, "away")
                yield from record_phase(work, work.target, "open")
                paused = work.now() - begun
                yield from _clean(work)
                return paused
        except Gap:
            yield from reopen(work)
            raise
        yield from reopen(work)
        yield Wait(RETRY_SECONDS)
    raise MigrationRefused(
        f"the stream of the table {work.name(work.source)!r} was not read to its end within "
        f"{pause_seconds:g} seconds, {ATTEMPTS} times; programs use the table as before. Allow a "
        "longer pause (--pause), or run the command again at a time with fewer writes"
    )


def _drain(work: RelocationWork, end: float) -> BetweenSteps[bool]:
    """Read the stream until a marker was read from every shard; return False if it is too late."""
    identities: list[bytes] = []
    while True:
        tokens = [random.randrange(10**12) for _ in range(MARKERS)]
        yield from work.save(markers=(*work.progress.markers, *tokens))
        for token in tokens:
            key = marker_key(work.table, token)
            item = _own_item(work, key, {})
            yield from work.write_together(work.source, [work.put(work.source, item)])
            identities.append(item_identity(key))
        is_idle = False
        while not is_idle:
            is_idle = not (yield from work.follow_round())
            marked = set().union(*(work.marked.get(each, set()) for each in identities))
            if work.open_shards() <= marked:
                return True
            if work.now() > end:
                return False


def _copy_record(work: RelocationWork) -> BetweenSteps[None]:
    """Give the record of the destination what that of the source says about the design."""
    records: list[Item] = []
    for side in (work.source, work.target):
        record = yield from at(side, read_record(work.table, work.name(side)))
        records.append({name: v for name, v in record.items() if name not in OF_PLACE})
    ours, theirs = records
    keys = set(filter(None, work.table.attributes))
    changed: dict[str, Value | None] = {
        name: ours.get(name)
        for name in (ours.keys() | theirs.keys()) - keys
        if ours.get(name) != theirs.get(name)
    }
    if changed:
        yield from at(work.target, work.executors[work.target].record(changed))


def _clean(work: RelocationWork) -> BetweenSteps[None]:
    yield from set_gates(work, None)
    yield from remove_markers(work)


def remove_markers(work: RelocationWork) -> BetweenSteps[None]:
    """Delete the markers that this executor, or the one before it, has written."""
    keys = [marker_key(work.table, token) for token in work.progress.markers]
    for key in keys:
        yield from work.write_together(work.source, [work.delete(work.source, key)])
    if keys:
        yield from work.save(markers=())
