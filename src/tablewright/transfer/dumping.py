"""Dump tables to files. The segments of a table are read concurrently and written to one file.

A file or a folder has the suffix `.part` until it is complete. A file is read back and compared
with the items that were read from the table.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from msgspec import Raw

from tablewright.errors import TransferRefused
from tablewright.transfer import dumpfile
from tablewright.transfer.comparison import Checksum, Event, Progress, TableComparison
from tablewright.transfer.definition import read_definition, require_description
from tablewright.transfer.endpoints import select_tables
from tablewright.transfer.rows import choose_requests, read_pages
from tablewright.transfer.sending import run_in_threads
from tablewright.transport import Transport
from tablewright.whole_file import rename_whole
from tablewright.wire.lines import encode_lines

#: Between two reports of the progress.
ROWS_AT_ONCE = 1000
#: Matches the names of files that a killed dump leaves in its folder.
_LEFT = re.compile(r".+\.json\.gz(\.part|\.manifest)?|\..+\.[0-9a-f]{8}\.partial").fullmatch


def dump_all(
    source: Transport,
    folder: Path,
    *,
    table: str | None = None,
    segments: int | None = None,
    where: str = "the source",
) -> Iterator[Event]:
    """Dump every table, or one, to files in a folder, which must be empty or new."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TransferRefused(f"{folder}: exists and is not an empty folder; choose another one")
    names = select_tables(source, where, table)
    with _locked_folder(folder.with_name(folder.name + ".part")) as part:
        for name in names:
            file = part / f"{name}.json.gz"
            if file.exists():  # names that differ only in case, on a file system that ignores case
                raise TransferRefused(f"{folder / file.name}: two tables have this file name")
            yield from _dump_file(source, name, file, segments)
        rename_whole(part, folder)


@contextmanager
def _locked_folder(part: Path) -> Iterator[Path]:
    """Create an empty folder, lock it, and remove it at the end, unless it is renamed.

    Raises `TransferRefused` if it contains anything that no killed dump leaves.
    """
    part.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(part, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TransferRefused(f"{part}: another dump is running; wait until it ends") from None
        left = list(part.iterdir())  # by a killed dump
        for path in left:
            if path.is_dir() or not _LEFT(path.name):
                raise TransferRefused(
                    f"{path}: no dump has written this, and {part} would be removed; move it away, "
                    "or choose another folder for the dump"
                )
        try:
            for path in left:
                path.unlink()
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)
    finally:
        os.close(descriptor)


def dump(
    source: Transport,
    data: Path | IO[bytes],
    *,
    table: str | None = None,
    segments: int | None = None,
    where: str = "the source",
) -> Iterator[Event]:
    """Dump one table to a file with a manifest, or to a stream without one.

    If `table` is None, the source must have exactly one table.
    """
    names = select_tables(source, where, table)
    if len(names) > 1:
        raise TransferRefused(
            f"{where} has {len(names)} tables: use --table, or a folder to dump all of them"
        )
    (name,) = names
    if isinstance(data, Path):
        yield from _dump_file(source, name, data, segments)
    else:
        total = yield from _write_items(source, name, data, segments)
        data.flush()
        yield TableComparison(name, {"source": total})


def _dump_file(source: Transport, name: str, file: Path, segments: int | None) -> Iterator[Event]:
    definition = read_definition(source, require_description(source, name))
    part = file.with_name(file.name + ".part")
    try:
        with dumpfile.create_file(part) as raw:
            with dumpfile.open_compressed(raw, file.name) as packed:
                total = yield from _write_items(source, name, packed, segments)
            raw.flush()
            os.fsync(raw.fileno())
        found = yield from _read_back(name, part, total.count)
        dumpfile.publish(part, file, definition, total)
    finally:
        part.unlink(missing_ok=True)
    yield TableComparison(name, {"source": total, "file": found})


def _write_items(
    source: Transport, name: str, out: IO[bytes], segments: int | None
) -> Generator[Progress, None, Checksum]:
    count = segments or choose_requests(source)
    expected = require_description(source, name).state.items
    yield Progress(name, "dumped", 0, expected)

    def worker(segment: int) -> Iterator[tuple[Checksum, bytes]]:
        for page in read_pages(source, name, segment, count):
            yield Checksum.of_rows(page), encode_lines(Raw(row.body) for row in page)

    total = Checksum()
    for part, lines in run_in_threads([worker(segment) for segment in range(count)]):
        out.write(lines)
        total += part
        yield Progress(name, "dumped", total.count, expected)
    return total


def _read_back(name: str, file: Path, expected: int) -> Generator[Progress, None, Checksum]:
    total = Checksum()
    rows = dumpfile.read_rows(file)
    while part := list(islice(rows, ROWS_AT_ONCE)):
        total += Checksum.of_rows(part)
        yield Progress(name, "compared: file", total.count, expected)
    return total
