"""The access of the operations on tables, backups, exports, imports and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from tablewright.engine.describe import stream_arn, table_arn
from tablewright.engine.requested_access.access import RequestedAccess, add_value
from tablewright.engine.shard_iterators import parse_iterator
from tablewright.engine.streams import parse_stream_arn
from tablewright.policy.keys import REQUEST_TAG, TAG_KEYS
from tablewright.wire import backups, exports, requests, streams
from tablewright.wire.members import Structure


def _table_request(action: str, request: Any) -> Iterator[RequestedAccess]:
    yield RequestedAccess(action, request.table_name)


def _index_request(action: str, request: Any) -> Iterator[RequestedAccess]:
    yield RequestedAccess(action, request.table_name, request.index_name)


def _global_table(action: str, request: Any) -> Iterator[RequestedAccess]:
    yield RequestedAccess(action, request.global_table_name)


def _policy_request(action: str, request: Any) -> Iterator[RequestedAccess]:
    if "/stream/" in request.resource_arn:
        yield RequestedAccess(action, resource=request.resource_arn)
    else:
        yield RequestedAccess(action, request.resource_arn)


def _create_table(request: requests.CreateTableInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("CreateTable", request.table_name, keys=_tag_keys(request.tags or ()))


def _tag_resource(request: requests.TagResourceInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("TagResource", request.resource_arn, keys=_tag_keys(request.tags))


def _untag_resource(request: requests.UntagResourceInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess(
        "UntagResource", request.resource_arn, keys={TAG_KEYS: tuple(request.tag_keys)}
    )


def _list_tags(request: requests.ListTagsOfResourceInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("ListTagsOfResource", request.resource_arn)


def _tag_keys(tags: Iterable[requests.Tag]) -> dict[str, tuple[str, ...]]:
    keys: dict[str, tuple[str, ...]] = {}
    for tag in tags:
        add_value(keys, TAG_KEYS, tag.key)
        add_value(keys, REQUEST_TAG + tag.key.lower(), tag.value)
    return keys


def _record_request(action: str, request: backups.DescribeBackupInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess(action, resource=request.backup_arn)


def _describe_export(request: exports.DescribeExportInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("DescribeExport", resource=request.export_arn)


def _describe_import(request: exports.DescribeImportInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("DescribeImport", resource=request.import_arn)


def _export_table(request: exports.ExportTableToPointInTimeInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("ExportTableToPointInTime", request.table_arn)


def _import_table(request: exports.ImportTableInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("ImportTable", request.table.table_name)


def _restore_backup(request: backups.RestoreTableFromBackupInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess("RestoreTableFromBackup", resource=request.backup_arn)
    yield RequestedAccess("RestoreTableFromBackup", request.target_name)


def _restore_to_time(request: backups.RestoreTableToPointInTimeInput) -> Iterator[RequestedAccess]:
    for name in (request.source_name or request.source_arn, request.target_name):
        yield RequestedAccess("RestoreTableToPointInTime", name)


def _account_request(action: str, resource: str, request: Structure) -> Iterator[RequestedAccess]:
    yield RequestedAccess(action, resource=resource)


def _list_streams(request: streams.ListStreamsInput) -> Iterator[RequestedAccess]:
    # Its resource in IAM is all streams, or all streams of the table.
    yield RequestedAccess("ListStreams", resource=stream_arn(request.table_name or "*", "*"))


def _stream_request(
    action: str, request: streams.DescribeStreamInput | streams.GetShardIteratorInput
) -> Iterator[RequestedAccess]:
    yield _stream_access(action, request.stream_arn)


def _get_records(request: streams.GetRecordsInput) -> Iterator[RequestedAccess]:
    yield _stream_access("GetRecords", parse_iterator(request.shard_iterator).arn)


def _stream_access(action: str, arn: str) -> RequestedAccess:
    return RequestedAccess(action, resource=stream_arn(*parse_stream_arn(arn)))


#: By operation: a function that yields the accesses of a request.
TABLE_ACCESSES: dict[str, Callable[[Any], Iterator[RequestedAccess]]] = {
    "CreateBackup": partial(_table_request, "CreateBackup"),
    "CreateGlobalTable": partial(_global_table, "CreateGlobalTable"),
    "CreateTable": _create_table,
    "DeleteBackup": partial(_record_request, "DeleteBackup"),
    "DeleteResourcePolicy": partial(_policy_request, "DeleteResourcePolicy"),
    "DeleteTable": partial(_table_request, "DeleteTable"),
    "DescribeBackup": partial(_record_request, "DescribeBackup"),
    "DescribeContinuousBackups": partial(_table_request, "DescribeContinuousBackups"),
    "DescribeContributorInsights": partial(_index_request, "DescribeContributorInsights"),
    "DescribeEndpoints": partial(_account_request, "DescribeEndpoints", "*"),
    "DescribeExport": _describe_export,
    "DescribeGlobalTable": partial(_global_table, "DescribeGlobalTable"),
    "DescribeGlobalTableSettings": partial(_global_table, "DescribeGlobalTableSettings"),
    "DescribeImport": _describe_import,
    "DescribeKinesisStreamingDestination": partial(
        _table_request, "DescribeKinesisStreamingDestination"
    ),
    "DescribeLimits": partial(_account_request, "DescribeLimits", "*"),
    "DescribeStream": partial(_stream_request, "DescribeStream"),
    "DescribeTable": partial(_table_request, "DescribeTable"),
    "DescribeTableReplicaAutoScaling": partial(_table_request, "DescribeTableReplicaAutoScaling"),
    "DescribeTimeToLive": partial(_table_request, "DescribeTimeToLive"),
    "DisableKinesisStreamingDestination": partial(
        _table_request, "DisableKinesisStreamingDestination"
    ),
    "EnableKinesisStreamingDestination": partial(
        _table_request, "EnableKinesisStreamingDestination"
    ),
    "ExportTableToPointInTime": _export_table,
    "GetRecords": _get_records,
    "GetResourcePolicy": partial(_policy_request, "GetResourcePolicy"),
    "GetShardIterator": partial(_stream_request, "GetShardIterator"),
    "ImportTable": _import_table,
    "ListBackups": partial(_account_request, "ListBackups", "*"),
    "ListContributorInsights": partial(_account_request, "ListContributorInsights", "*"),
    "ListExports": partial(_account_request, "ListExports", "*"),
    "ListGlobalTables": partial(_account_request, "ListGlobalTables", "*"),
    "ListImports": partial(_account_request, "ListImports", "*"),
    "ListStreams": _list_streams,
    # Its resource in IAM is all tables: `table/*` allows it, `table/shop-*` does not.
    "ListTables": partial(_account_request, "ListTables", table_arn("*")),
    "ListTagsOfResource": _list_tags,
    "PutResourcePolicy": partial(_policy_request, "PutResourcePolicy"),
    "RestoreTableFromBackup": _restore_backup,
    "RestoreTableToPointInTime": _restore_to_time,
    "TagResource": _tag_resource,
    "UntagResource": _untag_resource,
    "UpdateContinuousBackups": partial(_table_request, "UpdateContinuousBackups"),
    "UpdateContributorInsights": partial(_index_request, "UpdateContributorInsights"),
    "UpdateGlobalTable": partial(_global_table, "UpdateGlobalTable"),
    "UpdateGlobalTableSettings": partial(_global_table, "UpdateGlobalTableSettings"),
    "UpdateKinesisStreamingDestination": partial(
        _table_request, "UpdateKinesisStreamingDestination"
    ),
    "UpdateTable": partial(_table_request, "UpdateTable"),
    "UpdateTableReplicaAutoScaling": partial(_table_request, "UpdateTableReplicaAutoScaling"),
    "UpdateTimeToLive": partial(_table_request, "UpdateTimeToLive"),
}
