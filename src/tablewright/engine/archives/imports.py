"""Imports: the records of imports from S3, and the items in the files that they read.

The rows of an import are written to trees that belong to no table. When all files have been read,
the trees become those of the new table. So other requests never see a part of the items. If the
process is killed before, there is no table, and `records` deletes the rows.

Files in DynamoDB JSON have one item per line, CSV files a header and one item per row: key
attributes have the type of their definition, all other attributes are strings, also empty ones.
(What AWS does with empty values is not known for certain.)
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct

from tablewright.engine.archives.records import FolderTask, RecordKind
from tablewright.engine.tables.describe import table_arn
from tablewright.errors import DynamoDBError, ImportNotFoundException
from tablewright.schema import TableSchema
from tablewright.values import Item
from tablewright.wire.lines import DAMAGED_GZIP, MAX_LINE, InvalidLine, parse_line, read_lines
from tablewright.wire.values import read_values


class Import(FolderTask, frozen=True, kw_only=True):
    """An import of a table."""

    #: The new table; until the import is completed, its trees belong to the import.
    table: TableSchema
    #: The members of the request, as JSON.
    request: dict[str, Any]
    errors: int = 0
    processed_size: int = 0
    processed: int = 0
    imported: int = 0

    @property
    def arn(self) -> str:
        return f"{table_arn(self.table.name)}/import/{self.id}"


IMPORTS = RecordKind("import", Import, ImportNotFoundException)


class FileFormat(Struct, frozen=True):
    """How the files of an import are read."""

    is_csv: bool
    is_compressed: bool
    delimiter: str = ","
    #: None: the first line of each file.
    header: tuple[str, ...] | None = None
    #: The types of key attributes in CSV files.
    key_types: Mapping[str, str] = {}


class ReadItem(Struct):
    """An item of a file, or the reason why a line is not an item; and the bytes that were read."""

    item: Item | None
    problem: str
    size: int


def read_file(file: Path, file_format: FileFormat) -> Iterator[ReadItem]:
    """Yield the items of a file. Damage is one more problem, and ends the file."""
    read = _read_csv if file_format.is_csv else _read_json
    number = 0
    try:
        with ExitStack() as stack:
            data = stack.enter_context(file.open("rb"))
            lines: gzip.GzipFile | io.BufferedReader = data
            if file_format.is_compressed:
                lines = stack.enter_context(gzip.GzipFile(fileobj=data, mode="rb"))
            for found in read(_check_lengths(read_lines(lines)), file_format):
                number += 1
                yield found
    except DAMAGED_GZIP as error:
        yield ReadItem(None, f"the gzip data is damaged after item {number}: {error}", 0)
    except (InvalidLine, UnicodeDecodeError, csv.Error) as error:
        yield ReadItem(None, f"the file cannot be read after item {number}: {error}", 0)


def _read_json(lines: Iterable[bytes], _: FileFormat) -> Iterator[ReadItem]:
    for line in lines:
        if line.isspace():
            continue
        try:
            yield ReadItem(parse_line(line)[0], "", len(line))
        except InvalidLine as error:
            yield ReadItem(None, str(error), len(line))


def _read_csv(lines: Iterable[bytes], file_format: FileFormat) -> Iterator[ReadItem]:
    reader = csv.reader(map(bytes.decode, lines), delimiter=file_format.delimiter, strict=True)
    header = file_format.header
    for row in reader:
        if header is None:
            header = tuple(row)
            if len(set(header)) < len(header) or "" in header:
                raise InvalidLine("the header has an empty or a duplicate name")
        elif row:
            size = sum(map(len, row)) + len(row)
            try:
                yield ReadItem(_build_item(header, row, file_format.key_types), "", size)
            except InvalidLine as error:
                yield ReadItem(None, str(error), size)


def _check_lengths(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        if len(line) > MAX_LINE:
            raise InvalidLine("a line is longer than any item")
        yield line


def _build_item(header: Sequence[str], row: Sequence[str], key_types: Mapping[str, str]) -> Item:
    if len(row) != len(header):
        raise InvalidLine(f"a row with {len(row)} values; the header has {len(header)} names")
    values = {
        name: {key_types.get(name, "S"): value} for name, value in zip(header, row, strict=True)
    }
    try:
        return read_values(values)
    except DynamoDBError as error:
        raise InvalidLine(error.message) from None
