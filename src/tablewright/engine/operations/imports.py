"""ImportTable, DescribeImport and ListImports.

An import is complete when the call returns, and the table exists then. The response has the status
IN_PROGRESS, as on AWS; the next DescribeImport returns COMPLETED, or FAILED with the reason.

Lines that are not items of the table are counted as errors, and the first ones are logged; the
others are imported. An item replaces an earlier one with the same key.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tablewright.engine.archives.imports import IMPORTS, FileFormat, Import, read_file
from tablewright.engine.archives.object_folder import NoSuchBucket, ObjectFolder
from tablewright.engine.archives.records import SANDBOX_ENDED, end_abandoned, run_task
from tablewright.engine.charge import Charge
from tablewright.engine.maintenance import MAX_STEP_BYTES, MAX_STEP_ROWS, delete_tree
from tablewright.engine.operations.create_table import build_schema
from tablewright.engine.operations.put_item import build_row
from tablewright.engine.rows import ItemRow, find_row, replace_item
from tablewright.engine.step import (
    LongContext,
    LongStep,
    ReadContext,
    WriteContext,
    reads,
    table_name,
)
from tablewright.engine.tables import definition
from tablewright.engine.tables.describe import present, round_timestamp, table_arn, take_page
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import (
    DynamoDBError,
    ImportConflictException,
    ImportNotFoundException,
    ResourceInUseException,
    TablewrightError,
    ValidationException,
    invalid,
)
from tablewright.schema import TableSchema
from tablewright.wire.archives import DescribeImportInput, ImportTableInput, ListImportsInput
from tablewright.wire.requests import CreateTableInput

MAX_LISTED_IMPORTS = 25
#: The errors of an import that are logged.
MAX_LOGGED_ERRORS = 10
#: The length of a NextToken, which is hexadecimal on AWS.
TOKEN_LENGTH = 112

log = logging.getLogger("tablewright.engine")


def import_table(request: ImportTableInput) -> LongStep:
    _check_request(request)
    schema = _build_schema(request)
    file_format = _build_format(request, schema)
    source = request.source

    def run(context: LongContext) -> dict[str, Any]:
        folder = context.require_folder()
        folder.require_usable(source.bucket, source.prefix or "")
        begin = partial(_begin, request, schema)
        begun = run_task(context, begin, partial(_import, context, folder, file_format), _end)
        return {"ImportTableDescription": _describe(begun)}

    return LongStep(run)


@reads
def describe_import(request: DescribeImportInput, context: ReadContext) -> dict[str, Any]:
    found = IMPORTS.require(context.snapshot, request.import_arn)
    return {"ImportTableDescription": _describe(found)}


@reads
def list_imports(request: ListImportsInput, context: ReadContext) -> dict[str, Any]:
    name = None if request.table_arn is None else table_name(request.table_arn)
    start = bytes.fromhex(request.next_token or "").rstrip(b"\x00").decode("utf-8", "replace")
    found = [
        one
        for one in IMPORTS.read_all(context.snapshot)
        if (name is None or one.table.name == name) and one.id > start
    ]
    page, following = take_page(found, request.limit or MAX_LISTED_IMPORTS, NextToken=_next_token)
    return {"ImportSummaryList": [_summarise(one) for one in page], **following}


def _next_token(last: Import) -> str:
    return last.id.encode().hex().ljust(TOKEN_LENGTH, "0")


def _check_request(request: ImportTableInput) -> None:
    """Check the request; AWS's messages are not known for certain."""
    definition.refuse_vector_indexes(request.table.vector_indexes)
    if request.format == "ION":
        raise ValidationException("InputFormat ION is not supported here; use DYNAMODB_JSON or CSV")
    if request.compression == "ZSTD":
        raise ValidationException(
            "InputCompressionType ZSTD is not supported here; use GZIP or NONE"
        )
    if request.format_options is not None and request.format != "CSV":
        raise invalid("InputFormatOptions can only be specified for InputFormat CSV")


def _build_schema(request: ImportTableInput) -> TableSchema:
    table = request.table
    return build_schema(
        CreateTableInput(
            table_name=table.table_name,
            attribute_definitions=table.attribute_definitions,
            key_schema=table.key_schema,
            global_indexes=table.global_indexes,
            billing_mode=table.billing_mode,
            provisioned_throughput=table.provisioned_throughput,
            on_demand_throughput=table.on_demand_throughput,
            sse_specification=table.sse_specification,
        )
    )


def _build_format(request: ImportTableInput, schema: TableSchema) -> FileFormat:
    options = request.format_options.csv if request.format_options else None
    return FileFormat(
        is_csv=request.format == "CSV",
        is_compressed=request.compression == "GZIP",
        delimiter=(options.delimiter if options else None) or ",",
        header=tuple(options.header_list) if options and options.header_list else None,
        key_types=schema.key_types,
    )


def _begin(
    request: ImportTableInput, schema: TableSchema, import_id: str, context: WriteContext
) -> tuple[Import, bool]:
    """Store the record of a new import, or return the one that has the same token."""
    members = _drop_missing(msgspec.to_builtins(request))
    token = request.token or str(uuid.uuid4())
    now = context.streams.now()
    end_abandoned(context.catalog, context.tx, now)
    for one in IMPORTS.read_all(context.tx):
        if one.token == token:
            if one.request != members:
                raise ImportConflictException(
                    f"The ClientToken {token} was used for another import: {one.arn}"
                )
            return one, False
    if schema.name in context.catalog.tables:
        raise ResourceInUseException(f"Table already exists: {schema.name}")
    table = context.catalog.add_trees(context.tx, schema)
    begun = Import(
        id=import_id, table=table, token=token, request=members, process=os.getpid(), started=now
    )
    IMPORTS.save(context.catalog, context.tx, begun)
    return begun, True


def _drop_missing(value: Any) -> Any:
    """Return JSON without members that are null."""
    if isinstance(value, dict):
        return {name: _drop_missing(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_drop_missing(inner) for inner in value]
    return value


def _import(
    context: LongContext, folder: ObjectFolder, file_format: FileFormat, begun: Import
) -> Import:
    """Import all files; return the import with its outcome. AWS's codes are not all known."""
    source = begun.request["S3BucketSource"]
    bucket, prefix = source["S3Bucket"], source.get("S3KeyPrefix", "")
    try:
        files = folder.find_objects(bucket, prefix)
        if not files:
            return begun.fail("S3NoSuchKey", f"No object in {bucket} has the prefix {prefix!r}")
        reader = _Reader(begun, file_format)
        for batch in reader.read_batches(files):
            context.write(partial(_put_rows, begun, reader.table, batch))
    except NoSuchBucket:
        return begun.fail("S3NoSuchBucket", f"The bucket {bucket} does not exist")
    except OSError as error:
        return begun.fail("S3AccessDenied", str(error))
    except TablewrightError as error:  # another process is writing, the disk is full, ...
        return begun.fail("InternalServerError", str(error))
    return replace(
        begun,
        status="COMPLETED",
        errors=reader.errors,
        processed_size=reader.size,
        processed=reader.imported + reader.errors,
        imported=reader.imported,
    )


class _Reader:
    """Reads the items of files in batches, and counts them."""

    def __init__(self, begun: Import, file_format: FileFormat) -> None:
        self.table = StoredTable(begun.table)
        self.imported = self.errors = self.size = 0
        self._arn = begun.arn
        self._format = file_format

    def read_batches(self, files: Sequence[Path]) -> Iterator[list[tuple[bytes, ItemRow]]]:
        """Yield the rows of all files, as many at once as one transaction should write."""
        batch: list[tuple[bytes, ItemRow]] = []
        size = 0
        for file in files:
            for row in self._read_rows(file):
                batch.append(row)
                size += row[1].size
                if len(batch) >= MAX_STEP_ROWS or size >= MAX_STEP_BYTES:
                    yield batch
                    batch, size = [], 0
        yield batch

    def _read_rows(self, file: Path) -> Iterator[tuple[bytes, ItemRow]]:
        for found in read_file(file, self._format):
            self.size += found.size
            if found.item is None:
                self._add_error(file, found.problem)
                continue
            try:
                row = build_row(found.item)
                key = self.table.check_item(row.item, row.size)
            except DynamoDBError as error:
                self._add_error(file, error.message)
                continue
            self.imported += 1
            yield key, row

    def _add_error(self, file: Path, problem: str) -> None:
        self.errors += 1
        if self.errors <= MAX_LOGGED_ERRORS:
            log.warning("%s: %s: %s", self._arn, file.name, problem)


def _put_rows(
    begun: Import, table: StoredTable, rows: Sequence[tuple[bytes, ItemRow]], context: WriteContext
) -> None:
    _require_in_progress(begun, context)
    for key, row in rows:
        old = find_row(context.tx, table.tree, key)
        replace_item(context.tx, table, key, old, row, Charge(table))


def _require_in_progress(one: Import, context: WriteContext) -> None:
    """Raise ImportNotFoundException if the import was undone at the end of a sandbox.

    Its trees may belong to another table then.
    """
    found = IMPORTS.require(context.tx, one.arn, note=SANDBOX_ENDED)
    if found.status != "IN_PROGRESS":
        raise ImportNotFoundException(f"Import not found: {one.arn}{SANDBOX_ENDED}")


def _end(done: Import, context: WriteContext) -> None:
    """Make the trees of a completed import a table; delete those of a failed one."""
    _require_in_progress(done, context)
    catalog, tx = context.catalog, context.tx
    if done.status == "COMPLETED" and done.table.name in catalog.tables:
        done = done.fail("ResourceInUse", f"Table already exists: {done.table.name}")
    if done.status == "COMPLETED":
        catalog.publish_table(tx, done.table)
    else:
        for tree in done.table.trees:
            delete_tree(catalog, tx, tree)
    IMPORTS.save(catalog, tx, replace(done, ended=context.streams.now()))


def _summarise(one: Import) -> dict[str, Any]:
    return present(
        ImportArn=one.arn,
        ImportStatus=one.status,
        TableArn=table_arn(one.table.name),
        S3BucketSource=one.request["S3BucketSource"],
        InputFormat=one.request["InputFormat"],
        StartTime=round_timestamp(one.started),
        EndTime=round_timestamp(one.ended),
    )


def _describe(one: Import) -> dict[str, Any]:
    has_ended = one.ended is not None
    return present(
        ImportArn=one.arn,
        ImportStatus=one.status,
        TableArn=table_arn(one.table.name),
        TableId=one.table.id,
        ClientToken=one.token,
        S3BucketSource=one.request["S3BucketSource"],
        ErrorCount=one.errors,
        InputFormat=one.request["InputFormat"],
        InputFormatOptions=one.request.get("InputFormatOptions"),
        InputCompressionType=one.request.get("InputCompressionType", "NONE"),
        TableCreationParameters=one.request["TableCreationParameters"],
        StartTime=round_timestamp(one.started),
        EndTime=round_timestamp(one.ended),
        ProcessedSizeBytes=one.processed_size if has_ended else None,
        ProcessedItemCount=one.processed if has_ended else None,
        ImportedItemCount=one.imported if has_ended else None,
        FailureCode=one.failure_code,
        FailureMessage=one.failure,
    )
