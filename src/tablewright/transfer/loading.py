"""Load dumps into tables. Files are read one after the other; threads write the batches.

A file is split into the same batches in every run. The state records the number of items in the
written batches up to the first gap. A later run reads these batches for the checksum, but does not
write them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tablewright.engine.rows import ItemRow
from tablewright.errors import DynamoDBError, TableNotFound, TransferRefused
from tablewright.transfer import dumpfile
from tablewright.transfer.comparison import (
    Checksum,
    Event,
    Progress,
    TableComparison,
    checksum_table_and_indexes,
    hash_item,
)
from tablewright.transfer.dumpfile import Dump, DumpData
from tablewright.transfer.rows import RowRefused, TransferBatch, choose_requests, split_batches
from tablewright.transfer.sending import ThreadSafeIterator, run_in_threads
from tablewright.transfer.state import PartProgress, TransferState
from tablewright.transfer.target_table import TargetTable, refuse_items
from tablewright.transport import Transport


class _Part(Struct):
    """The items of a file that are in one batch; `offset` is the number of items before them."""

    number: int
    offset: int
    checksum: Checksum

    @property
    def end(self) -> int:
        return self.offset + self.checksum.count


def load(
    dumps: list[Dump],
    target: Transport,
    *,
    state: TransferState | None = None,
    writers: int | None = None,
    where: str = "the target",
    overwrite: bool = False,
    without_indexes: bool = False,
) -> Iterator[Event]:
    """Load dumps into their tables; `without_indexes` leaves out their global indexes.

    A table that is missing at the target is created from the manifest, or refused without one. An
    existing table must have the definition of the manifest, or `TableMismatch` is raised, and no
    items, or `TargetHasItems` is raised unless `overwrite` is set; nothing is written then.
    """
    state = state or TransferState(None)
    writers = writers or choose_requests(target)
    tasks = [(dump, _check_target(dump, target, where, state, without_indexes)) for dump in dumps]
    if not overwrite:
        refuse_items(where, [target_table for _, target_table in tasks], state)
    for dump, target_table in tasks:
        yield from _load_table(dump, target_table, state, writers)
    state.remove()


def _check_target(
    dump: Dump, target: Transport, where: str, state: TransferState, without_indexes: bool
) -> TargetTable:
    definition = replace(dump.manifest.table, name=dump.table) if dump.manifest else None
    if definition is not None and without_indexes:
        definition = definition.without_global_indexes()
    target_table = TargetTable.check(target, where, dump.table, definition, state)
    if target_table.description is None and definition is None:
        raise TableNotFound(
            f"{where} has no table {dump.table!r}, and without a manifest it cannot be created; "
            "create it with `tablewright create-table`"
        )
    return target_table


def _load_table(
    dump: Dump, target_table: TargetTable, state: TransferState, writers: int
) -> Iterator[Event]:
    expected = dump.manifest.total.count if dump.manifest else None
    progress = target_table.prepare(state, _files_identity(dump.files), len(dump.files))
    if len(progress.parts) != len(dump.files):
        raise TransferRefused(
            f"{state.path}: the state of {len(progress.parts)} files, not {len(dump.files)}; "
            "remove it"
        )
    yield Progress(dump.table, "loaded", 0, expected)
    file_checksum = Checksum()
    try:
        for file, part in zip(dump.files, progress.parts, strict=True):
            for added in _load_file(file, part, target_table, writers):
                file_checksum += added
                state.save(now=False)
                yield Progress(dump.table, "loaded", file_checksum.count, expected)
    finally:
        state.save()
    found, indexes = yield from checksum_table_and_indexes(
        target_table.transport, dump.table, writers, "compared: target"
    )
    target_table.finish(progress)
    sides = {"manifest": dump.manifest.total} if dump.manifest else {}
    yield TableComparison(dump.table, {**sides, "file": file_checksum, "target": found}, indexes)


def _load_file(
    file: DumpData, part: PartProgress, target_table: TargetTable, writers: int
) -> Iterator[Checksum]:
    """Write the batches that are not written yet; yield the checksums of all, in any order."""
    source = ThreadSafeIterator(_split_file(file, target_table))
    written_before = part.items

    def worker() -> Iterator[_Part]:
        for found, batch in source:
            if found.end > written_before:
                _write_batch(file, found, batch)
            yield found

    written: dict[int, int] = {}
    next_number = 0
    for found in run_in_threads([worker() for _ in range(writers)]):
        written[found.number] = found.end
        while next_number in written:
            part.items = max(part.items, written.pop(next_number))
            next_number += 1
        yield found.checksum
    part.is_done = True


def _split_file(file: DumpData, target_table: TargetTable) -> Iterator[tuple[_Part, TransferBatch]]:
    hashes: list[int] = []

    def read_hashed_rows() -> Iterator[ItemRow]:
        for row in dumpfile.read_rows(file):
            hashes.append(hash_item(row.item))
            yield row

    offset = 0
    batches = split_batches(target_table.transport, target_table.name, read_hashed_rows())
    try:
        for number, batch in enumerate(batches):
            # The last hash may be that of the first item of the next batch.
            found = _Part(number, offset, Checksum.of_hashes(hashes[: batch.count]))
            del hashes[: batch.count]
            offset = found.end
            yield found, batch
    except RowRefused as refused:
        where = f"{dumpfile.display_name(file)}, item {refused.position + 1}"
        raise _refuse(where, refused.fault) from refused.fault


def _write_batch(file: DumpData, found: _Part, batch: TransferBatch) -> None:
    try:
        batch.write()
    except DynamoDBError as fault:
        where = f"{dumpfile.display_name(file)}, items {found.offset + 1} to {found.end}"
        raise _refuse(where, fault) from fault


def _refuse(where: str, fault: DynamoDBError) -> TransferRefused:
    return TransferRefused(f"{where}: {fault.code}: {fault.message}")


def _files_identity(files: list[DumpData]) -> str:
    """Return what distinguishes files from earlier files with the same names."""
    stats = [(file.name, file.stat()) for file in files if isinstance(file, Path)]
    return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)
