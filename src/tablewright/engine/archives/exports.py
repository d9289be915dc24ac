"""Exports: the records of exports to S3, and the files that an export writes.

    PREFIX/AWSDynamoDB/ID/_started                  the export has begun
    PREFIX/AWSDynamoDB/ID/data/NAME.json.gz         the items of a full export, one per line
    PREFIX/AWSDynamoDB/data/NAME.json.gz            the changes of an incremental export
    PREFIX/AWSDynamoDB/ID/manifest-files.json       the data files, one per line
    PREFIX/AWSDynamoDB/ID/manifest-summary.json     written last
    PREFIX/AWSDynamoDB/ID/manifest-*.checksum       MD5 in base64

The formats are those of AWS, with one data file where AWS has one for each partition. This module
does not know requests.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import RawIOBase
from typing import IO, Any, cast

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tablewright.encoding.items import load
from tablewright.engine.archives.object_folder import ObjectFolder
from tablewright.engine.archives.records import FolderTask, RecordKind
from tablewright.engine.change_log.recovery import NetChange
from tablewright.engine.rows import ItemRow
from tablewright.engine.tables.describe import table_arn
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import ExportNotFoundException
from tablewright.wire.lines import compressing

_encode = msgspec.json.Encoder().encode


class Export(FolderTask, frozen=True, kw_only=True):
    """An export of a table."""

    table: str
    table_id: str
    bucket: str
    prefix: str | None
    #: The time of the items; of an incremental export, the end of the changes.
    time: float
    #: The start of the changes of an incremental export; None: a full export.
    from_time: float | None = None
    view: str | None = None
    sse_algorithm: str = "AES256"
    sse_key: str | None = None
    bucket_owner: str | None = None
    items: int = 0
    size: int = 0

    @property
    def arn(self) -> str:
        return f"{table_arn(self.table)}/export/{self.id}"

    @property
    def export_type(self) -> str:
        return "FULL_EXPORT" if self.from_time is None else "INCREMENTAL_EXPORT"

    @property
    def folder(self) -> str:
        """The keys of the manifests begin with this."""
        return f"{top_folder(self.prefix)}/{self.id}"

    @property
    def data_folder(self) -> str:
        """The keys of the data files begin with this; incremental exports share a folder."""
        return f"{self.folder if self.from_time is None else top_folder(self.prefix)}/data"

    @property
    def manifest_key(self) -> str:
        return f"{self.folder}/manifest-summary.json"


def top_folder(prefix: str | None) -> str:
    """Return what the keys of all exports with this prefix begin with."""
    return f"{prefix.removesuffix('/')}/AWSDynamoDB" if prefix else "AWSDynamoDB"


EXPORTS = RecordKind("export", Export, ExportNotFoundException)


def write_export(
    folder: ObjectFolder, export: Export, lines: Iterable[tuple[bytes, int]]
) -> Export:
    """Write the files of an export; `lines` has each line with the size of its items.

    Return the export with its counts; the caller sets its status.
    """
    with folder.create(export.bucket, f"{export.folder}/_started"):
        pass
    name = base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()
    key = f"{export.data_folder}/{name}.json.gz"
    items = size = 0
    with folder.create(export.bucket, key) as data:
        hashed = _HashedWriter(data)
        with compressing(cast("IO[bytes]", hashed)) as packed:
            for line, bytes_of_items in lines:
                packed.write(line)
                items += 1
                size += bytes_of_items
    file = {
        "itemCount": items,
        "md5Checksum": base64.b64encode(hashed.md5.digest()).decode(),
        "etag": f"{hashed.md5.hexdigest()}-1",
        "dataFileS3Key": key,
    }
    done = replace(export, items=items, size=size)
    files_key = f"{export.folder}/manifest-files.json"
    _write_manifest(folder, export.bucket, files_key, _encode(file) + b"\n")
    summary = _describe_summary(done, files_key)
    _write_manifest(folder, export.bucket, export.manifest_key, _encode(summary))
    return done


def encode_items(rows: Iterable[ItemRow]) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a full export."""
    for row in rows:
        yield b'{"Item":%b}\n' % row.body, row.size


def encode_changes(
    table: StoredTable, changes: Iterable[NetChange], view: str
) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of an incremental export: a deleted item has no NewImage."""
    for change in changes:
        image = change.new if change.new is not None else change.old
        assert image is not None
        item = load(image)
        line: dict[str, Any] = {
            "Metadata": {"WriteTimestampMicros": {"N": str(round(change.time * 1_000_000))}},
            "Keys": {name: item[name] for name in table.key_names},
        }
        if change.old is not None and view == "NEW_AND_OLD_IMAGES":
            line["OldImage"] = Raw(change.old)
        if change.new is not None:
            line["NewImage"] = Raw(change.new)
        yield _encode(line) + b"\n", len(image)


class _HashedWriter(RawIOBase):
    """Writes to a file and computes the MD5 that S3 shows; not for security."""

    def __init__(self, data: IO[bytes]) -> None:
        self._data = data
        self.md5 = hashlib.md5(usedforsecurity=False)

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.md5.update(content)
        return self._data.write(content)


def _write_manifest(folder: ObjectFolder, bucket: str, key: str, content: bytes) -> None:
    digest = hashlib.md5(content, usedforsecurity=False).digest()
    with folder.create(bucket, f"{key.removesuffix('.json')}.checksum") as checksum:
        checksum.write(base64.b64encode(digest))
    with folder.create(bucket, key) as manifest:
        manifest.write(content)


def _describe_summary(export: Export, files_key: str) -> dict[str, Any]:
    times = {"exportTime": _format_time(export.time)}
    if export.from_time is not None:
        times = {
            "exportFromTime": _format_time(export.from_time),
            "exportToTime": _format_time(export.time),
        }
    summary: dict[str, Any] = {
        "version": "2020-06-30" if export.from_time is None else "2023-08-01",
        "exportArn": export.arn,
        "startTime": _format_time(export.started),
        "endTime": _format_time(datetime.now(UTC).timestamp()),
        "tableArn": table_arn(export.table),
        "tableId": export.table_id,
        **times,
        "s3Bucket": export.bucket,
        "s3Prefix": export.prefix,
        "s3SseAlgorithm": export.sse_algorithm,
        "s3SseKmsKeyId": export.sse_key,
        "manifestFilesS3Key": files_key,
        "billedSizeBytes": export.size,
        "itemCount": export.items,
        "outputFormat": "DYNAMODB_JSON",
    }
    if export.view is not None:
        summary["outputView"] = export.view
        summary["exportType"] = export.export_type
    return summary


def _format_time(moment: float) -> str:
    """Format a time as in manifests.

    >>> _format_time(1604474914.028)
    '2020-11-04T07:28:34.028Z'
    """
    formatted = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
    return formatted.removesuffix("+00:00") + "Z"
