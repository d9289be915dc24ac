"""The operations: each converts a request into a step, in a module of its own.

`OPERATIONS` lists them. `find_operation` imports an operation with its first request: most programs
use few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from tablewright.engine.step import Step
from tablewright.errors import UnknownOperationException
from tablewright.hints import did_you_mean
from tablewright.wire.members import Structure

#: The shape of a request, and the function that converts it into a step.
Operation: TypeAlias = tuple[type[Structure], Callable[[Any], Step]]

LIST_OF_OPERATIONS = "`tablewright help operations` lists the implemented operations"

#: By name: the shape in a module of `wire`, and the function in a module here.
OPERATIONS: dict[str, tuple[str, str]] = {
    "BatchExecuteStatement": (
        "statements.BatchExecuteStatementInput",
        "batch_execute_statement.batch_execute_statement",
    ),
    "BatchGetItem": ("requests.BatchGetItemInput", "batch_get_item.batch_get_item"),
    "BatchWriteItem": ("requests.BatchWriteItemInput", "batch_write_item.batch_write_item"),
    "CreateBackup": ("backups.CreateBackupInput", "backups.create_backup"),
    "CreateGlobalTable": ("table_settings.CreateGlobalTableInput", "global_tables.refuse_replicas"),
    "CreateTable": ("requests.CreateTableInput", "create_table.create_table"),
    "DeleteBackup": ("backups.DeleteBackupInput", "backups.delete_backup"),
    "DeleteItem": ("requests.DeleteItemInput", "delete_item.delete_item"),
    "DeleteResourcePolicy": (
        "table_settings.DeleteResourcePolicyInput",
        "resource_policies.delete_resource_policy",
    ),
    "DeleteTable": ("requests.DeleteTableInput", "delete_table.delete_table"),
    "DescribeBackup": ("backups.DescribeBackupInput", "backups.describe_backup"),
    "DescribeContinuousBackups": (
        "backups.DescribeContinuousBackupsInput",
        "continuous_backups.describe_continuous_backups",
    ),
    "DescribeContributorInsights": (
        "table_settings.DescribeContributorInsightsInput",
        "contributor_insights.describe_contributor_insights",
    ),
    "DescribeEndpoints": ("requests.DescribeEndpointsRequest", "account.describe_endpoints"),
    "DescribeExport": ("exports.DescribeExportInput", "exports.describe_export"),
    "DescribeGlobalTable": (
        "table_settings.DescribeGlobalTableInput",
        "global_tables.find_no_global_table",
    ),
    "DescribeGlobalTableSettings": (
        "table_settings.DescribeGlobalTableSettingsInput",
        "global_tables.find_no_global_table",
    ),
    "DescribeImport": ("exports.DescribeImportInput", "imports.describe_import"),
    "DescribeKinesisStreamingDestination": (
        "table_settings.DescribeKinesisStreamingDestinationInput",
        "kinesis_destinations.describe_kinesis_streaming_destination",
    ),
    "DescribeLimits": ("requests.DescribeLimitsInput", "account.describe_limits"),
    "DescribeStream": ("streams.DescribeStreamInput", "describe_stream.describe_stream"),
    "DescribeTable": ("requests.DescribeTableInput", "describe_table.describe_table"),
    "DescribeTableReplicaAutoScaling": (
        "table_settings.DescribeTableReplicaAutoScalingInput",
        "global_tables.refuse_replicas",
    ),
    "DescribeTimeToLive": (
        "requests.DescribeTimeToLiveInput",
        "time_to_live.describe_time_to_live",
    ),
    "DisableKinesisStreamingDestination": (
        "table_settings.KinesisStreamingDestinationInput",
        "kinesis_destinations.disable_kinesis_streaming_destination",
    ),
    "EnableKinesisStreamingDestination": (
        "table_settings.KinesisStreamingDestinationInput",
        "kinesis_destinations.enable_kinesis_streaming_destination",
    ),
    "ExecuteStatement": ("statements.ExecuteStatementInput", "execute_statement.execute_statement"),
    "ExecuteTransaction": (
        "statements.ExecuteTransactionInput",
        "execute_transaction.execute_transaction",
    ),
    "ExportTableToPointInTime": (
        "exports.ExportTableToPointInTimeInput",
        "exports.export_table_to_point_in_time",
    ),
    "GetItem": ("requests.GetItemInput", "get_item.get_item"),
    "GetRecords": ("streams.GetRecordsInput", "get_records.get_records"),
    "GetResourcePolicy": (
        "table_settings.GetResourcePolicyInput",
        "resource_policies.get_resource_policy",
    ),
    "GetShardIterator": ("streams.GetShardIteratorInput", "get_shard_iterator.get_shard_iterator"),
    "ImportTable": ("exports.ImportTableInput", "imports.import_table"),
    "ListBackups": ("backups.ListBackupsInput", "backups.list_backups"),
    "ListContributorInsights": (
        "table_settings.ListContributorInsightsInput",
        "contributor_insights.list_contributor_insights",
    ),
    "ListExports": ("exports.ListExportsInput", "exports.list_exports"),
    "ListGlobalTables": (
        "table_settings.ListGlobalTablesInput",
        "global_tables.list_global_tables",
    ),
    "ListImports": ("exports.ListImportsInput", "imports.list_imports"),
    "ListStreams": ("streams.ListStreamsInput", "list_streams.list_streams"),
    "ListTables": ("requests.ListTablesInput", "list_tables.list_tables"),
    "ListTagsOfResource": ("requests.ListTagsOfResourceInput", "tags.list_tags_of_resource"),
    "PutItem": ("requests.PutItemInput", "put_item.put_item"),
    "PutResourcePolicy": (
        "table_settings.PutResourcePolicyInput",
        "resource_policies.put_resource_policy",
    ),
    "Query": ("requests.QueryInput", "query.query"),
    "RestoreTableFromBackup": (
        "backups.RestoreTableFromBackupInput",
        "restore_table.restore_table_from_backup",
    ),
    "RestoreTableToPointInTime": (
        "backups.RestoreTableToPointInTimeInput",
        "restore_table.restore_table_to_point_in_time",
    ),
    "Scan": ("requests.ScanInput", "scan.scan"),
    "TagResource": ("requests.TagResourceInput", "tags.tag_resource"),
    "TransactGetItems": ("requests.TransactGetItemsInput", "transact_get_items.transact_get_items"),
    "TransactWriteItems": (
        "requests.TransactWriteItemsInput",
        "transact_write_items.transact_write_items",
    ),
    "UntagResource": ("requests.UntagResourceInput", "tags.untag_resource"),
    "UpdateContinuousBackups": (
        "backups.UpdateContinuousBackupsInput",
        "continuous_backups.update_continuous_backups",
    ),
    "UpdateContributorInsights": (
        "table_settings.UpdateContributorInsightsInput",
        "contributor_insights.update_contributor_insights",
    ),
    "UpdateGlobalTable": ("table_settings.UpdateGlobalTableInput", "global_tables.refuse_replicas"),
    "UpdateGlobalTableSettings": (
        "table_settings.UpdateGlobalTableSettingsInput",
        "global_tables.find_no_global_table",
    ),
    "UpdateItem": ("requests.UpdateItemInput", "update_item.update_item"),
    "UpdateKinesisStreamingDestination": (
        "table_settings.UpdateKinesisStreamingDestinationInput",
        "kinesis_destinations.update_kinesis_streaming_destination",
    ),
    "UpdateTable": ("requests.UpdateTableInput", "update_table.update_table"),
    "UpdateTableReplicaAutoScaling": (
        "table_settings.UpdateTableReplicaAutoScalingInput",
        "global_tables.refuse_replicas",
    ),
    "UpdateTimeToLive": ("requests.UpdateTimeToLiveInput", "time_to_live.update_time_to_live"),
}


class _Imported(dict[str, Operation]):
    """The operations that have been used, so that each is imported once."""

    def __missing__(self, name: str) -> Operation:
        shape, function = OPERATIONS[name]
        operation = _import(f"tablewright.wire.{shape}"), _import(f"{__name__}.{function}")
        self[name] = operation
        return operation


def _import(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


#: Return an operation by its name; raise a KeyError if there is none.
find_operation: Callable[[str], Operation] = _Imported().__getitem__


def unknown_operation(name: str) -> UnknownOperationException:
    """Return the error for an operation that does not exist or is not implemented."""
    hint = did_you_mean(name, OPERATIONS, cutoff=0.8) or "."
    return UnknownOperationException(f"unknown operation {name!r}{hint} {LIST_OF_OPERATIONS}")
