"""Copying: every segment of a table is read and written by a thread of its own.

    segment 0   page ─▶ batch, batch, batch ─▶ page …      after each batch its last key is known
    segment 1   page ─▶ batch, …                           to be written, and goes into the state

At the end both sides are read again, whole, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tablewright.errors import TransferRefused
from tablewright.transfer.batches import batches, write
from tablewright.transfer.crew import together
from tablewright.transfer.definition import (
    Definition,
    chosen,
    defined,
    described,
    identity,
    shortened,
)
from tablewright.transfer.progress import Compared, Event, Progress
from tablewright.transfer.receiving import Receiver, summed
from tablewright.transfer.segments import SEGMENTS, pages
from tablewright.transfer.state import State, TableState
from tablewright.transport import Transport
from tablewright.values import Item


class _Written(Struct):
    """A batch of a segment is written, up to this key; or the segment has come to its end."""

    segment: int
    items: int = 0
    last: Item | None = None


class _Task(Struct):
    """A table to be copied."""

    definition: Definition
    source_id: str
    expected: int | None
    receiver: Receiver


def copy(
    source: Transport,
    target: Transport,
    *,
    table: str | None = None,
    state: State | None = None,
    segments: int = SEGMENTS,
    names: tuple[str, str] = ("the source", "the target"),
) -> Iterator[Event]:
    """Copy one table, or all of them.

    Tables that the target lacks are made; one that it has must have the same keys. With a state of
    an earlier run it continues from there, with the segments of that run.
    """
    state = state or State(None)
    tasks = [_task(source, target, name, names[1]) for name in chosen(source, names[0], table)]
    for task in tasks:
        yield from _copy_table(source, target, task, state, segments)
    state.remove()


def _task(source: Transport, target: Transport, name: str, where: str) -> _Task:
    description = described(source, name)
    definition = defined(source, description)
    receiver = Receiver.check(target, where, name, definition)
    return _Task(definition, identity(description), description.get("ItemCount"), receiver)


def _copy_table(
    source: Transport, target: Transport, task: _Task, state: State, segments: int
) -> Iterator[Event]:
    name = task.definition.name
    progress = task.receiver.begin(state, task.source_id, segments)
    yield Progress(name, "copied", progress.items, task.expected)
    try:
        for written in together(_workers(source, target, name, progress)):
            part = progress.parts[written.segment]
            part.items += written.items
            part.last = written.last
            part.done = written.last is None
            state.save(now=False)
            yield Progress(name, "copied", progress.items, task.expected)
    finally:
        state.save()
    count = len(progress.parts)
    before = yield from summed(source, name, count, "compared: source")
    after = yield from summed(target, name, count, "compared: target")
    task.receiver.end(progress)
    yield Compared(name, {"source": before, "target": after})


def _workers(
    source: Transport, target: Transport, name: str, progress: TableState
) -> list[Iterator[_Written]]:
    keys = [key["AttributeName"] for key in _key_schema(target, name)]
    count = len(progress.parts)

    def worker(segment: int, start: Item | None) -> Iterator[_Written]:
        for page in pages(source, name, segment, count, start):
            for item in page:
                if not item.keys() >= set(keys):
                    raise TransferRefused(
                        f"the Scan of {name!r} gave an item without the key {', '.join(keys)}: "
                        f"{shortened(item)}"
                    )
            for batch in batches(page):
                write(target, name, batch)
                last = {key: batch[-1][key] for key in keys}
                yield _Written(segment, len(batch), last)
        yield _Written(segment)

    parts = enumerate(progress.parts)
    return [worker(segment, part.last) for segment, part in parts if not part.done]


def _key_schema(target: Transport, name: str) -> list[dict[str, str]]:
    schema: list[dict[str, str]] = described(target, name)["KeySchema"]
    return schema
