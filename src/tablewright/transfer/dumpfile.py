"""Dump files: lines of items (`wire.lines`), in the format of DynamoDB's export to S3.

Files are plain or gzip: writers decide by the file name, readers by the content. The manifest
`orders.json.gz.manifest` has the definition of the table and the checksum of `orders.json.gz`. A
file without a manifest, such as a data file of an export to S3, can be read too.

Invariants:
- Any file is read in bounded memory. An invalid line is refused with its number.
- Nothing outside the folder is read or written: table names are checked; symbolic links are not
  followed when a file is created, and not out of a folder when files are read.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tablewright.engine.rows import ItemRow
from tablewright.errors import TransferRefused
from tablewright.table_description import TableDescription
from tablewright.transfer.comparison import Checksum
from tablewright.transfer.definition import read_request
from tablewright.transfer.endpoints import check_table_name
from tablewright.whole_file import open_private, rename_whole, replace_whole
from tablewright.wire.lines import DAMAGED_GZIP, InvalidLine, compressing, parse_line, read_lines

#: The source of lines: a file, or standard input.
DumpData: TypeAlias = Path | io.BufferedReader

FORMAT = 1
DATA_SUFFIXES = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".gz")
GZIP_MAGIC = b"\x1f\x8b"

MAX_MANIFEST = 1024 * 1024

_encode = msgspec.json.Encoder().encode


class _StoredTable(Struct):
    request: dict[str, Any]
    ttl: str | None = None


class _StoredManifest(Struct):
    """A manifest as it is in its file."""

    format: int
    table: _StoredTable
    count: Annotated[int, Meta(ge=0)]
    checksum: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]


class Manifest(Struct):
    """The table of a dump file, and the checksum of its items."""

    table: TableDescription
    total: Checksum


class Dump(Struct):
    """The data of one table: one file, or several in an export to S3."""

    table: str
    files: list[DumpData]
    manifest: Manifest | None = None


# -- writing ---------------------------------------------------------------------------------


@contextmanager
def open_compressed(data: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Yield a writer to `data`, compressed with gzip if the name ends with .gz."""
    if not name.endswith(".gz"):
        yield data
        return
    with compressing(data) as packed:
        yield packed


def create_file(path: Path) -> IO[bytes]:
    """Create a file, readable by its owner only, and open it. Replaces a file or a link."""
    path.unlink(missing_ok=True)
    return open_private(path, "xb")


def manifest_path(file: Path) -> Path:
    return file.with_name(file.name + ".manifest")


def publish(part: Path, file: Path, definition: TableDescription, total: Checksum) -> None:
    """Rename a complete file to its final name, and write its manifest.

    If the process is killed in between, the file has no manifest, never the manifest of another.
    """
    table = _StoredTable(definition.to_create_table(), definition.ttl)
    manifest = _StoredManifest(FORMAT, table, total.count, str(total))
    manifest_path(file).unlink(missing_ok=True)
    rename_whole(part, file)
    text = msgspec.json.format(_encode(manifest)) + b"\n"
    replace_whole(manifest_path(file), text, private=True)


# -- reading ---------------------------------------------------------------------------------


def read_rows(data: DumpData) -> Iterator[ItemRow]:
    """Yield the items of a file, checked and normalised.

    Raise TransferRefused, with the line, if one is invalid.
    """
    number = 0
    try:
        with ExitStack() as stack:
            for line in read_lines(_open_lines(data, stack)):
                number += 1
                if line != b"\n" and not line.isspace():
                    item, size = parse_line(line)
                    yield ItemRow(item, size)
    except InvalidLine as error:
        raise TransferRefused(f"{display_name(data)}, line {number}: {error}") from None
    except DAMAGED_GZIP as error:
        raise TransferRefused(
            f"{display_name(data)}: the gzip data is truncated or damaged after line {number}: "
            f"{error}"
        ) from None


def _open_lines(data: DumpData, stack: ExitStack) -> gzip.GzipFile | io.BufferedReader:
    raw = stack.enter_context(data.open("rb")) if isinstance(data, Path) else data
    if raw.peek(2)[:2] == GZIP_MAGIC:
        return stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
    return raw


def display_name(data: DumpData) -> str:
    """Return the name of a source of lines for messages."""
    return str(data) if isinstance(data, Path) else "standard input"


def read_manifest(file: Path) -> Manifest | None:
    """Read the manifest of a file; None if it does not exist."""
    beside = manifest_path(file)
    with suppress(FileNotFoundError):
        try:
            with beside.open("rb") as opened:
                found = opened.read(MAX_MANIFEST + 1)
            if len(found) > MAX_MANIFEST:
                raise TransferRefused(f"{beside}: larger than {MAX_MANIFEST} bytes")
            manifest = msgspec.json.decode(found, type=_StoredManifest)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise TransferRefused(f"{beside}: not the manifest of a dump: {error}") from None
        if manifest.format != FORMAT:
            raise TransferRefused(
                f"{beside}: a manifest of format {manifest.format}; this version reads {FORMAT}"
            )
        table = read_request(manifest.table.request, manifest.table.ttl, str(beside))
        return Manifest(table, Checksum(manifest.count, int(manifest.checksum, 16)))
    return None


def find_dumps(path: Path, table: str | None) -> list[Dump]:
    """Find the dumps at a path: a file, a folder of dumps, or a folder of an export to S3.

    In a folder of dumps, `table` selects one of them; otherwise it is the table to load into.
    """
    if path.is_file():
        manifest = read_manifest(path)
        return [Dump(_table_name(path, table, manifest), [path], manifest)]
    if not path.is_dir():
        raise TransferRefused(f"{path}: no such file or folder")
    manifests = sorted(path.glob("*.manifest"))
    if not manifests:
        return [Dump(_table_name(path, table, None), _find_exported_files(path))]
    dumps = []
    for beside in manifests:
        file = beside.with_suffix("")
        _refuse_links_outside(path, beside, file)
        manifest = read_manifest(file)
        if not file.is_file() or manifest is None:
            raise TransferRefused(f"{file}: missing, but its manifest {beside.name} exists")
        dumps.append(Dump(manifest.table.name, [file], manifest))
    if table is None:
        return dumps
    if table not in [dump.table for dump in dumps]:
        existing = ", ".join(dump.table for dump in dumps)
        raise TransferRefused(f"{path} has no dump of a table {table!r}; it has {existing}")
    return [dump for dump in dumps if dump.table == table]


def _table_name(path: Path, table: str | None, manifest: Manifest | None) -> str:
    if table is not None:
        return check_table_name(table)
    if manifest is None:
        raise TransferRefused(f"{path} has no manifest that names its table; use --table NAME")
    return manifest.table.name


def _find_exported_files(folder: Path) -> list[DumpData]:
    """Return the data files in a folder of DynamoDB's export to S3."""
    if (folder / "manifest-summary.json").is_file():
        folder /= "data"
    names = sorted(folder.iterdir()) if folder.is_dir() else []
    files: list[DumpData] = [
        file for file in names if file.is_file() and file.name.endswith(DATA_SUFFIXES)
    ]
    _refuse_links_outside(folder, *names)
    if not files:
        raise TransferRefused(
            f"{folder}: the folder has no data files ({', '.join(DATA_SUFFIXES)})"
        )
    return files


def _refuse_links_outside(folder: Path, *files: Path) -> None:
    """Refuse symbolic links out of a folder, because its origin is not trusted."""
    for file in files:
        if file.is_symlink() and not file.resolve().is_relative_to(folder.resolve()):
            raise TransferRefused(
                f"{file}: a link to {file.resolve()}, outside of the folder; use that path instead"
            )
