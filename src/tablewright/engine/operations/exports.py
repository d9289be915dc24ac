"""ExportTableToPointInTime, DescribeExport and ListExports.

An export is complete when the call returns. The response has the status IN_PROGRESS, as on AWS; the
next DescribeExport returns COMPLETED, or FAILED with the reason.

Order of checks, as far as it is known: the request; the folder; the table; recovery; the times.

On AWS an incremental export has at least 15 minutes. Here it may be shorter, so that tests need not
wait.
"""

from __future__ import annotations

import os
import uuid
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from tablewright.engine.archives.exports import (
    EXPORTS,
    Export,
    encode_changes,
    encode_items,
    top_folder,
    write_export,
)
from tablewright.engine.archives.object_folder import ObjectFolder
from tablewright.engine.archives.records import SANDBOX_ENDED, FolderTask, end_abandoned, run_task
from tablewright.engine.change_log.recovery import read_items_at, read_net_changes, restorable_times
from tablewright.engine.step import (
    LongContext,
    LongStep,
    ReadContext,
    WriteContext,
    name_in_arn,
    reads,
    table_name,
)
from tablewright.engine.tables.describe import present, round_timestamp, table_arn, take_page
from tablewright.errors import (
    DynamoDBError,
    ExportConflictException,
    InvalidExportTimeException,
    TablewrightError,
    ValidationException,
    invalid,
)
from tablewright.wire.archives import (
    DescribeExportInput,
    ExportTableToPointInTimeInput,
    ListExportsInput,
)

MAX_LISTED_EXPORTS = 25
MAX_INCREMENT = 24 * 60 * 60


def export_table_to_point_in_time(request: ExportTableToPointInTimeInput) -> LongStep:
    _check_request(request)

    def run(context: LongContext) -> dict[str, Any]:
        folder = context.require_folder()
        folder.require_usable(request.bucket, top_folder(request.prefix))
        work = partial(_export, context, folder)
        return {
            "ExportDescription": _describe(run_task(context, partial(_begin, request), work, _save))
        }

    return LongStep(run)


@reads
def describe_export(request: DescribeExportInput, context: ReadContext) -> dict[str, Any]:
    return {"ExportDescription": _describe(EXPORTS.require(context.snapshot, request.export_arn))}


@reads
def list_exports(request: ListExportsInput, context: ReadContext) -> dict[str, Any]:
    name = None if request.table_arn is None else table_name(request.table_arn)
    found = [
        export
        for export in EXPORTS.read_all(context.snapshot)
        if (name is None or export.table == name) and export.id > (request.next_token or "")
    ]
    page, following = take_page(
        found, request.limit or MAX_LISTED_EXPORTS, NextToken=attrgetter("id")
    )
    return {"ExportSummaries": [_summarise(export) for export in page], **following}


def _check_request(request: ExportTableToPointInTimeInput) -> None:
    """Check the request; AWS's messages are not known for certain."""
    if request.format == "ION":
        raise ValidationException("ExportFormat ION is not supported here; use DYNAMODB_JSON")
    if request.filter is not None:
        raise ValidationException(
            "FilterSpecification is not supported here; export all items and filter them"
        )
    incremental = request.incremental
    if request.export_type != "INCREMENTAL_EXPORT":
        if incremental is not None:
            raise invalid("IncrementalExportSpecification requires ExportType INCREMENTAL_EXPORT")
        return
    if request.export_time is not None:
        raise invalid("ExportTime cannot be specified for an incremental export")
    if incremental is None or incremental.from_time is None:
        raise invalid("ExportFromTime is required for an incremental export")
    if incremental.to_time is not None:
        _check_increment(incremental.from_time, incremental.to_time)


def _check_increment(start: float, end: float) -> None:
    if not 0 < end - start <= MAX_INCREMENT:
        raise invalid("ExportToTime must be after ExportFromTime, and at most 24 hours after it")


def _begin(
    request: ExportTableToPointInTimeInput, export_id: str, context: WriteContext
) -> tuple[Export, bool]:
    """Store the record of a new export, or return the one that has the same token."""
    now = context.streams.now()
    schema = context.find_table_for_backup(name_in_arn(request.table_arn)).schema
    earliest, latest = restorable_times(schema, now)
    start, end, view = None, request.export_time, None
    if request.incremental is not None:
        start, end = request.incremental.from_time, request.incremental.to_time
        view = request.incremental.view or "NEW_AND_OLD_IMAGES"
    wanted = Export(
        id=export_id,
        table=schema.name,
        table_id=schema.id,
        token=request.token or str(uuid.uuid4()),
        bucket=request.bucket,
        prefix=request.prefix,
        process=os.getpid(),
        started=now,
        time=latest if end is None else end,
        from_time=start,
        view=view,
        sse_algorithm=request.sse_algorithm or "AES256",
        sse_key=request.sse_key,
        bucket_owner=request.bucket_owner,
    )
    end_abandoned(context.catalog, context.tx, now)
    for export in EXPORTS.read_all(context.tx):
        if export.token == wanted.token:
            if not _is_same_request(export, wanted, ends_now=end is None):
                raise ExportConflictException(
                    f"The ClientToken {wanted.token} was used for another export: {export.arn}"
                )
            return export, False
    if wanted.from_time is not None:
        _check_increment(wanted.from_time, wanted.time)
    for moment in (wanted.time, wanted.from_time):
        if moment is not None and not earliest <= moment <= latest:
            raise InvalidExportTimeException(
                "The specified ExportTime is outside of the point in time recovery window."
            )
    EXPORTS.save(context.catalog, context.tx, wanted)
    return wanted, True


def _is_same_request(one: Export, other: Export, *, ends_now: bool) -> bool:
    """Return whether the parts of two exports that come from their requests are equal."""
    others = {"items", "size", *FolderTask.__struct_fields__} | ({"time"} if ends_now else set())
    names = [name for name in Export.__struct_fields__ if name not in others]
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _export(context: LongContext, folder: ObjectFolder, export: Export) -> Export:
    """Write the files of an export; return it with its outcome."""

    def write_files(reading: ReadContext) -> Export:
        table = reading.find_table_for_backup(export.table)
        catalog, snapshot = reading.catalog, reading.snapshot
        if export.from_time is None:
            lines = encode_items(read_items_at(catalog, snapshot, table, export.time))
        else:
            changes = read_net_changes(catalog, snapshot, table, export.from_time, export.time)
            lines = encode_changes(table, changes.values(), export.view or "NEW_IMAGE")
        return write_export(folder, export, lines)

    try:
        done = context.read(write_files)
    except (OSError, TablewrightError) as error:  # AWS's codes are not known for certain
        code = "S3AccessDenied" if isinstance(error, OSError) else "InternalServerError"
        if isinstance(error, DynamoDBError):
            code = error.code
        return export.fail(code, str(error))
    return replace(done, status="COMPLETED")


def _save(export: Export, context: WriteContext) -> None:
    """Store the outcome of an export, unless it was undone at the end of a sandbox."""
    EXPORTS.require(context.tx, export.arn, note=SANDBOX_ENDED)
    ended = replace(export, ended=context.streams.now())
    EXPORTS.save(context.catalog, context.tx, ended)


def _summarise(export: Export) -> dict[str, Any]:
    return {
        "ExportArn": export.arn,
        "ExportStatus": export.status,
        "ExportType": export.export_type,
    }


def _describe(export: Export) -> dict[str, Any]:
    is_complete, is_full = export.status == "COMPLETED", export.from_time is None
    increment = {
        "ExportFromTime": round_timestamp(export.from_time),
        "ExportToTime": round_timestamp(export.time),
        "ExportViewType": export.view,
    }
    return present(
        ExportArn=export.arn,
        ExportStatus=export.status,
        StartTime=round_timestamp(export.started),
        EndTime=round_timestamp(export.ended),
        ExportManifest=export.manifest_key if is_complete else None,
        TableArn=table_arn(export.table),
        TableId=export.table_id,
        ExportTime=round_timestamp(export.time) if is_full else None,
        ClientToken=export.token,
        S3Bucket=export.bucket,
        S3BucketOwner=export.bucket_owner,
        S3Prefix=export.prefix,
        S3SseAlgorithm=export.sse_algorithm,
        S3SseKmsKeyId=export.sse_key,
        FailureCode=export.failure_code,
        FailureMessage=export.failure,
        ExportFormat="DYNAMODB_JSON",
        BilledSizeBytes=export.size if is_complete else None,
        ItemCount=export.items if is_complete else None,
        ExportType=export.export_type,
        IncrementalExportSpecification=None if is_full else increment,
    )
