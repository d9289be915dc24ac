"""Dumping: the segments of a table are read side by side, and their items written to one file.

A file, or a folder of files, gets its name when it is whole; until then it ends in `.part`. It is
read back and compared with what was read from the table.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

from tablewright.errors import TransferRefused
from tablewright.transfer import dumpfile
from tablewright.transfer.batches import batches
from tablewright.transfer.checksum import Sum
from tablewright.transfer.crew import together
from tablewright.transfer.definition import chosen, defined, describe, described
from tablewright.transfer.progress import Compared, Event, Progress
from tablewright.transfer.segments import SEGMENTS, pages
from tablewright.transport import Transport


def dump_all(
    source: Transport,
    folder: Path,
    *,
    table: str | None = None,
    segments: int = SEGMENTS,
    where: str = "the source",
) -> Iterator[Event]:
    """Dump every table (or one) into a folder, which must be empty or new: a file for each."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TransferRefused(f"{folder}: exists and is not an empty folder")
    names = chosen(source, where, table)
    part = folder.with_name(folder.name + ".part")
    try:
        part.mkdir(parents=True)
    except FileExistsError:
        raise TransferRefused(
            f"{part}: left of a dump that was interrupted, or under way; remove it"
        ) from None
    try:
        for name in names:
            file = part / f"{name}.json.gz"
            if file.exists():  # names that differ in case alone, where files ignore that
                raise TransferRefused(f"{folder / file.name}: two tables have this file name")
            yield from _dump_file(source, name, file, segments)
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def dump(
    source: Transport,
    data: Path | IO[bytes],
    *,
    table: str | None = None,
    segments: int = SEGMENTS,
    where: str = "the source",
) -> Iterator[Event]:
    """Dump one table to a file with its manifest, or to a stream without.

    Without a name, the source must have one table only.
    """
    names = chosen(source, where, table)
    if len(names) > 1:
        raise TransferRefused(
            f"{where} has {len(names)} tables: give --table, or a folder to dump all of them"
        )
    (name,) = names
    if isinstance(data, Path):
        yield from _dump_file(source, name, data, segments)
    else:
        total = yield from _write(source, name, data, segments)
        data.flush()
        yield Compared(name, {"source": total})


def _dump_file(source: Transport, name: str, file: Path, segments: int) -> Iterator[Event]:
    definition = defined(source, described(source, name))
    part = file.with_name(file.name + ".part")
    try:
        with dumpfile.new_file(part) as raw:
            with dumpfile.compressed(raw, file.name) as packed:
                total = yield from _write(source, name, packed, segments)
            raw.flush()
            os.fsync(raw.fileno())
        found = yield from _read_back(name, part, total.count)
        dumpfile.publish(part, file, definition, total)
    finally:
        part.unlink(missing_ok=True)
    yield Compared(name, {"source": total, "file": found})


def _write(
    source: Transport, name: str, out: IO[bytes], segments: int
) -> Generator[Progress, None, Sum]:
    description = describe(source, name)
    expected = description.get("ItemCount") if description else None
    yield Progress(name, "dumped", 0, expected)

    def worker(segment: int) -> Iterator[tuple[Sum, bytes]]:
        for page in pages(source, name, segment, segments):
            yield Sum.of(page), dumpfile.spell(page)

    total = Sum()
    for part, lines in together([worker(segment) for segment in range(segments)]):
        out.write(lines)
        total += part
        yield Progress(name, "dumped", total.count, expected)
    return total


def _read_back(name: str, file: Path, expected: int) -> Generator[Progress, None, Sum]:
    total = Sum()
    for batch in batches(dumpfile.read(file)):
        total += Sum.of(batch)
        yield Progress(name, "compared: file", total.count, expected)
    return total
