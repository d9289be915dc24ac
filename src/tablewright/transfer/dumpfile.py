"""Dump files: items as DynamoDB's export to S3 writes them, one to a line.

    {"Item":{"PK":{"S":"CUST#C1"},"SK":{"S":"ORDER#O100"},"total":{"N":"42"}}}

Plain or gzip: written by the file's name, read by what is in it. Beside `orders.json.gz` lies
`orders.json.gz.manifest`, by which the table can be made and the file be checked. A file without
one, such as a data file of a real export, can be read too.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.encoding.items import normalise_item
from tablewright.errors import DynamoDBError, TransferRefused
from tablewright.transfer.checksum import Sum
from tablewright.transfer.definition import Definition
from tablewright.values import Item
from tablewright.wire.values import read_values

#: What is read: a file, or standard input.
Data: TypeAlias = Path | io.BufferedReader

FORMAT = 1
DATA = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".gz")
GZIP = b"\x1f\x8b"

_encode = msgspec.json.Encoder().encode


class _Line(Struct):
    item: dict[str, Any] = msgspec.field(name="Item")


_decode = msgspec.json.Decoder(_Line).decode


class Manifest(Struct):
    """What a dump file holds."""

    format: int
    table: Definition
    count: int
    checksum: str

    @property
    def sum(self) -> Sum:
        return Sum(self.count, int(self.checksum, 16))


class Dump(Struct):
    """The data of one table: usually one file, several in an export of S3's."""

    table: str
    files: list[Data]
    manifest: Manifest | None = None


# -- writing ---------------------------------------------------------------------------------


def spell(items: Iterable[Item]) -> bytes:
    """The lines of items."""
    return b"".join([b'{"Item":%b}\n' % _encode(item) for item in items])


@contextmanager
def compressed(data: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Write through gzip, if the name asks for it."""
    if not name.endswith(".gz"):
        yield data
        return
    # without a name and a time in it, the same items give the same bytes
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=data, mtime=0) as packed:
        yield packed  # type: ignore[misc]  # it has all that we use of a file


def manifest_file(file: Path) -> Path:
    return file.with_name(file.name + ".manifest")


def publish(part: Path, file: Path, definition: Definition, total: Sum) -> None:
    """Give a file that is whole its name, and its manifest.

    A kill in between leaves a file without manifest, never one with the manifest of another.
    """
    manifest = Manifest(FORMAT, definition, total.count, str(total))
    manifest_file(file).unlink(missing_ok=True)
    part.replace(file)
    beside = part.with_name(part.name + ".manifest")
    with beside.open("wb") as written:
        written.write(msgspec.json.format(_encode(manifest)) + b"\n")
        written.flush()
        os.fsync(written.fileno())
    beside.replace(manifest_file(file))


# -- reading ---------------------------------------------------------------------------------


def read(data: Data) -> Iterator[Item]:
    """The items of a file, checked; refused, with the line's number, where it is no such file."""
    number = 0
    try:
        with ExitStack() as stack:
            for line in _lines(data, stack):
                number += 1
                if not line.isspace():
                    yield normalise_item(read_values(_decode(line).item))
    except (msgspec.MsgspecError, UnicodeDecodeError, DynamoDBError) as error:
        what = error.message if isinstance(error, DynamoDBError) else str(error)
        raise TransferRefused(f"{shown(data)}, line {number}: {what}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TransferRefused(
            f"{shown(data)}: the gzip data are cut off or damaged after line {number}: {error}"
        ) from None


def _lines(data: Data, stack: ExitStack) -> Iterable[bytes]:
    raw = stack.enter_context(data.open("rb")) if isinstance(data, Path) else data
    if raw.peek(2)[:2] == GZIP:
        return stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
    return raw


def shown(data: Data) -> str:
    return str(data) if isinstance(data, Path) else "standard input"


def manifest_of(file: Path) -> Manifest | None:
    """The manifest beside a file; None if there is none."""
    beside = manifest_file(file)
    with suppress(FileNotFoundError):
        try:
            manifest = msgspec.json.decode(beside.read_bytes(), type=Manifest)
            int(manifest.checksum, 16)
            _ = manifest.table.name
        except (msgspec.MsgspecError, ValueError, KeyError):
            raise TransferRefused(f"{beside}: not the manifest of a dump") from None
        if manifest.format != FORMAT:
            raise TransferRefused(
                f"{beside}: a manifest of format {manifest.format}; this version reads {FORMAT}"
            )
        return manifest
    return None


def find(path: Path, table: str | None) -> list[Dump]:
    """The dumps that a path names: a file, a folder of dumps, or a folder of an export to S3.

    `table` chooses one of a folder's dumps; elsewhere it names the table to load into.
    """
    if path.is_file():
        manifest = manifest_of(path)
        return [Dump(_named(path, table, manifest), [path], manifest)]
    if not path.is_dir():
        raise TransferRefused(f"{path}: no such file or folder")
    manifests = sorted(path.glob("*.manifest"))
    if not manifests:
        return [Dump(_named(path, table, None), _exported(path))]
    dumps = []
    for beside in manifests:
        file = beside.with_suffix("")
        manifest = manifest_of(file)
        if not file.is_file() or manifest is None:
            raise TransferRefused(f"{file}: missing, and {beside.name} tells of it")
        dumps.append(Dump(manifest.table.name, [file], manifest))
    if table is None:
        return dumps
    if table not in [dump.table for dump in dumps]:
        there = ", ".join(dump.table for dump in dumps)
        raise TransferRefused(f"{path} has no dump of a table {table!r}; there are {there}")
    return [dump for dump in dumps if dump.table == table]


def _named(path: Path, table: str | None, manifest: Manifest | None) -> str:
    if table is not None:
        return table
    if manifest is None:
        raise TransferRefused(f"{path} has no manifest that names its table; give --table")
    return manifest.table.name


def _exported(folder: Path) -> list[Data]:
    """The data files of a folder that DynamoDB's export to S3 has written."""
    if (folder / "manifest-summary.json").is_file():
        folder /= "data"
    names = sorted(folder.iterdir()) if folder.is_dir() else []
    files: list[Data] = [file for file in names if file.is_file() and file.name.endswith(DATA)]
    if not files:
        raise TransferRefused(f"{folder}: no data files ({', '.join(DATA)}) in it")
    return files
