"""Dump files: items as DynamoDB's export to S3 writes them, one to a line.

    {"Item":{"PK":{"S":"CUST#C1"},"SK":{"S":"ORDER#O100"},"total":{"N":"42"}}}

Plain or gzip: written by the file's name, read by what is in it. Beside `orders.json.gz` lies
`orders.json.gz.manifest`, by which the table can be made and the file be checked. A file without
one, such as a data file of a real export, can be read too.

Invariants:
- A file is read in bounded memory, whatever is in it: a line is no longer, and has no more values,
  than an item can have; gzip is unpacked as it is read. What is no item is refused with the number
  of its line.
- Nothing outside of the folder is read or written: names of tables come checked, symbolic links
  are not followed when a file is made, and not out of a folder that is read.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tablewright.encoding.items import item_size, normalise_item
from tablewright.errors import DynamoDBError, TransferRefused
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.private_file import open_private
from tablewright.transfer.checksum import Sum
from tablewright.transfer.definition import Definition, check_definition, checked_name
from tablewright.values import Item
from tablewright.wire.values import read_values

#: What is read: a file, or standard input.
Data: TypeAlias = Path | io.BufferedReader

FORMAT = 1
DATA = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".gz")
GZIP = b"\x1f\x8b"

#: The longest line that an item can be. The longest spelling for its size is that of a number such
#: as 1e-130: 133 characters and 4 of quotes and comma in a set, for 2 bytes of the item; so 400 KB
#: are up to 28 MB. (Empty strings in a list, 9 characters for a byte, are 4 MB.)
MAX_LINE = 32 * 1024 * 1024
#: For each byte of its size an item has at most two opening braces (a map in a list), one bracket
#: and four quotes (an empty string in a list); those in a text count for its size. Some more are
#: around it. Checked in long lines: decoding nothing but these takes 25 times a line's memory.
LONG_LINE = 1024 * 1024
MAX_MARKS = {
    b"{": 2 * MAX_ITEM_SIZE + 100,
    b"[": MAX_ITEM_SIZE + 100,
    b'"': 4 * MAX_ITEM_SIZE + 100,
}
MAX_BLANK_LINES = 10_000
MAX_MANIFEST = 1024 * 1024

_encode = msgspec.json.Encoder().encode


class _Line(Struct):
    item: dict[str, Any] = msgspec.field(name="Item")


_decode = msgspec.json.Decoder(_Line).decode


class Manifest(Struct):
    """What a dump file holds."""

    format: int
    table: Definition
    count: Annotated[int, Meta(ge=0)]
    checksum: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]

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


def new_file(path: Path) -> IO[bytes]:
    """Open a new file for writing, readable by its owner only. It replaces a file or a link."""
    path.unlink(missing_ok=True)
    return open_private(path, "xb")


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
    with new_file(beside) as written:
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
                if line != b"\n" and not line.isspace():
                    yield _item(line)
    except (
        msgspec.MsgspecError,
        UnicodeDecodeError,
        RecursionError,
        DynamoDBError,
        _NoItem,
    ) as error:
        what = error.message if isinstance(error, DynamoDBError) else str(error)
        raise TransferRefused(f"{shown(data)}, line {number}: {what}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TransferRefused(
            f"{shown(data)}: the gzip data are cut off or damaged after line {number}: {error}"
        ) from None


class _NoItem(Exception):
    """A line cannot be an item."""


def _item(line: bytes) -> Item:
    if len(line) > MAX_LINE:
        raise _NoItem(f"longer than {MAX_LINE} bytes, which no item can be")
    if len(line) > LONG_LINE and any(line.count(m) > most for m, most in MAX_MARKS.items()):
        raise _NoItem(f"more values than an item of {MAX_ITEM_SIZE} bytes can have")
    item = normalise_item(read_values(_decode(line).item))
    if len(line) > MAX_ITEM_SIZE and item_size(item) > MAX_ITEM_SIZE:
        raise _NoItem(f"an item of {item_size(item)} bytes; the limit is {MAX_ITEM_SIZE}")
    return item


def _lines(data: Data, stack: ExitStack) -> Iterator[bytes]:
    """The lines of a file; of one that is too long, only enough to see that."""
    raw = stack.enter_context(data.open("rb")) if isinstance(data, Path) else data
    lines: gzip.GzipFile | io.BufferedReader = raw
    if raw.peek(2)[:2] == GZIP:
        lines = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
    blank = 0
    while line := lines.readline(MAX_LINE + 1):
        yield line
        blank = blank + 1 if line == b"\n" else 0
        if blank > MAX_BLANK_LINES:
            raise _NoItem(f"more than {MAX_BLANK_LINES} empty lines in a row")


def shown(data: Data) -> str:
    return str(data) if isinstance(data, Path) else "standard input"


def manifest_of(file: Path) -> Manifest | None:
    """The manifest beside a file; None if there is none."""
    beside = manifest_file(file)
    with suppress(FileNotFoundError):
        try:
            with beside.open("rb") as opened:
                found = opened.read(MAX_MANIFEST + 1)
            if len(found) > MAX_MANIFEST:
                raise TransferRefused(f"{beside}: larger than {MAX_MANIFEST} bytes; no manifest is")
            manifest = msgspec.json.decode(found, type=Manifest)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise TransferRefused(f"{beside}: not the manifest of a dump: {error}") from None
        if manifest.format != FORMAT:
            raise TransferRefused(
                f"{beside}: a manifest of format {manifest.format}; this version reads {FORMAT}"
            )
        check_definition(manifest.table.request, str(beside))
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
        _refuse_leading_out(path, beside, file)
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
        return checked_name(table)
    if manifest is None:
        raise TransferRefused(f"{path} has no manifest that names its table; give --table")
    return manifest.table.name


def _exported(folder: Path) -> list[Data]:
    """The data files of a folder that DynamoDB's export to S3 has written."""
    if (folder / "manifest-summary.json").is_file():
        folder /= "data"
    names = sorted(folder.iterdir()) if folder.is_dir() else []
    files: list[Data] = [file for file in names if file.is_file() and file.name.endswith(DATA)]
    _refuse_leading_out(folder, *names)
    if not files:
        raise TransferRefused(f"{folder}: no data files ({', '.join(DATA)}) in it")
    return files


def _refuse_leading_out(folder: Path, *files: Path) -> None:
    """Refuse symbolic links out of a folder: it may have come from anywhere."""
    for file in files:
        if file.is_symlink() and not file.resolve().is_relative_to(folder.resolve()):
            raise TransferRefused(
                f"{file}: a link to {file.resolve()}, outside of the folder; give that file itself"
            )
