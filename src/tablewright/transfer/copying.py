"""Copy tables. Each segment of a table is read and written by its own thread.

    segment 0   page ─▶ batch, batch, batch ─▶ page …      after each batch, the state records
    segment 1   page ─▶ batch, …                           its last key

A copy between files has one segment, which is written in the order of its keys.

At the end, both tables and the indexes of the target are read completely and compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tablewright.engine.rows import ItemRow
from tablewright.errors import TransferRefused
from tablewright.table_description import TableDescription
from tablewright.transfer.comparison import (
    Event,
    Progress,
    TableComparison,
    checksum_table,
    checksum_table_and_indexes,
)
from tablewright.transfer.definition import read_definition, require_description
from tablewright.transfer.endpoints import select_tables, shorten
from tablewright.transfer.rows import (
    RowRefused,
    choose_requests,
    is_engine,
    read_pages,
    split_batches,
)
from tablewright.transfer.sending import run_in_threads
from tablewright.transfer.state import TableProgress, TransferState
from tablewright.transfer.target_table import TargetTable, refuse_items
from tablewright.transport import Transport
from tablewright.values import Item


class _BatchWritten(Struct):
    """A written batch of a segment, and its last key; without a key, the end of the segment."""

    segment: int
    items: int = 0
    last: Item | None = None


def copy(
    source: Transport,
    target: Transport,
    *,
    table: str | None = None,
    state: TransferState | None = None,
    segments: int | None = None,
    names: tuple[str, str] = ("the source", "the target"),
    overwrite: bool = False,
    without_indexes: bool = False,
) -> Iterator[Event]:
    """Copy one table or all tables; `without_indexes` leaves out their global indexes.

    Tables that are missing at the target are created. Existing tables must have the same keys,
    indexes, TTL and stream, or `TableMismatch` is raised, and no items, or `TargetHasItems` is
    raised unless `overwrite` is set; nothing is written then. With the state of an earlier run, the
    copy resumes with the segments of that run.
    """
    state = state or TransferState(None)
    segments = segments or choose_requests(source, target)
    tasks = []
    for name in select_tables(source, names[0], table):
        described = require_description(source, name)
        definition = read_definition(source, described)
        if without_indexes:
            definition = definition.without_global_indexes()
        tasks.append((described, TargetTable.check(target, names[1], name, definition, state)))
    if not overwrite:
        refuse_items(names[1], [target_table for _, target_table in tasks], state)
    for described, target_table in tasks:
        yield from _copy_table(source, described, target_table, state, segments)
    state.remove()


def _copy_table(
    source: Transport,
    described: TableDescription,
    target_table: TargetTable,
    state: TransferState,
    segments: int,
) -> Iterator[Event]:
    name, target, expected = described.name, target_table.transport, described.state.items
    progress = target_table.prepare(state, described.state.id, segments)
    yield Progress(name, "copied", progress.items, expected)
    try:
        for written in run_in_threads(_segment_workers(source, target, name, progress)):
            part = progress.parts[written.segment]
            part.items += written.items
            part.last = written.last
            part.is_done = written.last is None
            state.save(now=False)
            yield Progress(name, "copied", progress.items, expected)
    except RowRefused as refused:
        raise TransferRefused(
            f"table {name!r} of the target cannot have the item {shorten(refused.row.item)}: "
            f"{refused.fault.message}"
        ) from refused.fault
    finally:
        state.save()
    count = len(progress.parts)
    source_checksum = yield from checksum_table(source, name, count, "compared: source")
    target_checksum, indexes = yield from checksum_table_and_indexes(
        target, name, count, "compared: target"
    )
    target_table.finish(progress)
    yield TableComparison(name, {"source": source_checksum, "target": target_checksum}, indexes)


def _segment_workers(
    source: Transport, target: Transport, name: str, progress: TableProgress
) -> list[Iterator[_BatchWritten]]:
    keys = require_description(target, name).keys.names
    count = len(progress.parts)

    def worker(segment: int, start: Item | None) -> Iterator[_BatchWritten]:
        for page in read_pages(source, name, segment, count, start):
            if not is_engine(source):
                _require_keys(name, keys, page)
            for batch in split_batches(target, name, page):
                batch.write()
                last = {key: batch.last.item[key] for key in keys}
                yield _BatchWritten(segment, batch.count, last)
        yield _BatchWritten(segment)

    parts = enumerate(progress.parts)
    return [worker(segment, part.last) for segment, part in parts if not part.is_done]


def _require_keys(name: str, keys: tuple[str, ...], page: list[ItemRow]) -> None:
    for row in page:
        if not row.item.keys() >= set(keys):
            raise TransferRefused(
                f"the Scan of {name!r} returned an item without the key {', '.join(keys)}: "
                f"{shorten(row.item)}"
            )
