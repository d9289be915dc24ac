"""The operations: each converts a request into a step, in a module of its own.

`OPERATIONS` lists them, each with the shape of its request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablewright.engine.operations.account import describe_endpoints, describe_limits
from tablewright.engine.operations.backups import (
    create_backup,
    delete_backup,
    describe_backup,
    list_backups,
)
from tablewright.engine.operations.batch_get_item import batch_get_item
from tablewright.engine.operations.batch_write_item import batch_write_item
from tablewright.engine.operations.continuous_backups import (
    describe_continuous_backups,
    update_continuous_backups,
)
from tablewright.engine.operations.contributor_insights import (
    describe_contributor_insights,
    list_contributor_insights,
    update_contributor_insights,
)
from tablewright.engine.operations.create_table import create_table
from tablewright.engine.operations.deferred import (
    batch_execute_statement,
    describe_export,
    describe_import,
    execute_statement,
    execute_transaction,
    export_table_to_point_in_time,
    import_table,
    list_exports,
    list_imports,
)
from tablewright.engine.operations.delete_item import delete_item
from tablewright.engine.operations.delete_table import delete_table
from tablewright.engine.operations.describe_stream import describe_stream
from tablewright.engine.operations.describe_table import describe_table
from tablewright.engine.operations.get_item import get_item
from tablewright.engine.operations.get_records import get_records
from tablewright.engine.operations.get_shard_iterator import get_shard_iterator
from tablewright.engine.operations.global_tables import (
    find_no_global_table,
    list_global_tables,
    refuse_replicas,
)
from tablewright.engine.operations.kinesis_destinations import (
    describe_kinesis_streaming_destination,
    disable_kinesis_streaming_destination,
    enable_kinesis_streaming_destination,
    update_kinesis_streaming_destination,
)
from tablewright.engine.operations.list_streams import list_streams
from tablewright.engine.operations.list_tables import list_tables
from tablewright.engine.operations.put_item import put_item
from tablewright.engine.operations.query import query
from tablewright.engine.operations.resource_policies import (
    delete_resource_policy,
    get_resource_policy,
    put_resource_policy,
)
from tablewright.engine.operations.restore_table import (
    restore_table_from_backup,
    restore_table_to_point_in_time,
)
from tablewright.engine.operations.scan import scan
from tablewright.engine.operations.tags import (
    list_tags_of_resource,
    tag_resource,
    untag_resource,
)
from tablewright.engine.operations.time_to_live import describe_time_to_live, update_time_to_live
from tablewright.engine.operations.transact_get_items import transact_get_items
from tablewright.engine.operations.transact_write_items import transact_write_items
from tablewright.engine.operations.update_item import update_item
from tablewright.engine.operations.update_table import update_table
from tablewright.engine.step import Step
from tablewright.errors import UnknownOperationException
from tablewright.hints import did_you_mean
from tablewright.wire import backups, exports, requests, statements, streams, table_settings
from tablewright.wire.members import Structure

LIST_OF_OPERATIONS = "`tablewright help operations` lists the implemented operations"

#: By name: the shape of the request, and the function that converts it into a step.
OPERATIONS: dict[str, tuple[type[Structure], Callable[[Any], Step]]] = {
    "BatchExecuteStatement": (statements.BatchExecuteStatementInput, batch_execute_statement),
    "BatchGetItem": (requests.BatchGetItemInput, batch_get_item),
    "BatchWriteItem": (requests.BatchWriteItemInput, batch_write_item),
    "CreateGlobalTable": (table_settings.CreateGlobalTableInput, refuse_replicas),
    "CreateBackup": (backups.CreateBackupInput, create_backup),
    "CreateTable": (requests.CreateTableInput, create_table),
    "DeleteBackup": (backups.DeleteBackupInput, delete_backup),
    "DeleteItem": (requests.DeleteItemInput, delete_item),
    "DeleteResourcePolicy": (table_settings.DeleteResourcePolicyInput, delete_resource_policy),
    "DeleteTable": (requests.DeleteTableInput, delete_table),
    "DescribeContributorInsights": (
        table_settings.DescribeContributorInsightsInput,
        describe_contributor_insights,
    ),
    "DescribeBackup": (backups.DescribeBackupInput, describe_backup),
    "DescribeContinuousBackups": (
        backups.DescribeContinuousBackupsInput,
        describe_continuous_backups,
    ),
    "DescribeEndpoints": (requests.DescribeEndpointsRequest, describe_endpoints),
    "DescribeGlobalTable": (table_settings.DescribeGlobalTableInput, find_no_global_table),
    "DescribeGlobalTableSettings": (
        table_settings.DescribeGlobalTableSettingsInput,
        find_no_global_table,
    ),
    "DescribeKinesisStreamingDestination": (
        table_settings.DescribeKinesisStreamingDestinationInput,
        describe_kinesis_streaming_destination,
    ),
    "DescribeExport": (exports.DescribeExportInput, describe_export),
    "DescribeImport": (exports.DescribeImportInput, describe_import),
    "DescribeLimits": (requests.DescribeLimitsInput, describe_limits),
    "DescribeStream": (streams.DescribeStreamInput, describe_stream),
    "DescribeTable": (requests.DescribeTableInput, describe_table),
    "DescribeTableReplicaAutoScaling": (
        table_settings.DescribeTableReplicaAutoScalingInput,
        refuse_replicas,
    ),
    "DescribeTimeToLive": (requests.DescribeTimeToLiveInput, describe_time_to_live),
    "DisableKinesisStreamingDestination": (
        table_settings.KinesisStreamingDestinationInput,
        disable_kinesis_streaming_destination,
    ),
    "EnableKinesisStreamingDestination": (
        table_settings.KinesisStreamingDestinationInput,
        enable_kinesis_streaming_destination,
    ),
    "ExecuteStatement": (statements.ExecuteStatementInput, execute_statement),
    "ExecuteTransaction": (statements.ExecuteTransactionInput, execute_transaction),
    "ExportTableToPointInTime": (
        exports.ExportTableToPointInTimeInput,
        export_table_to_point_in_time,
    ),
    "GetItem": (requests.GetItemInput, get_item),
    "GetResourcePolicy": (table_settings.GetResourcePolicyInput, get_resource_policy),
    "ListContributorInsights": (
        table_settings.ListContributorInsightsInput,
        list_contributor_insights,
    ),
    "ListGlobalTables": (table_settings.ListGlobalTablesInput, list_global_tables),
    "GetRecords": (streams.GetRecordsInput, get_records),
    "GetShardIterator": (streams.GetShardIteratorInput, get_shard_iterator),
    "ImportTable": (exports.ImportTableInput, import_table),
    "ListBackups": (backups.ListBackupsInput, list_backups),
    "ListStreams": (streams.ListStreamsInput, list_streams),
    "ListExports": (exports.ListExportsInput, list_exports),
    "ListImports": (exports.ListImportsInput, list_imports),
    "ListTables": (requests.ListTablesInput, list_tables),
    "ListTagsOfResource": (requests.ListTagsOfResourceInput, list_tags_of_resource),
    "PutItem": (requests.PutItemInput, put_item),
    "PutResourcePolicy": (table_settings.PutResourcePolicyInput, put_resource_policy),
    "Query": (requests.QueryInput, query),
    "RestoreTableFromBackup": (
        backups.RestoreTableFromBackupInput,
        restore_table_from_backup,
    ),
    "RestoreTableToPointInTime": (
        backups.RestoreTableToPointInTimeInput,
        restore_table_to_point_in_time,
    ),
    "Scan": (requests.ScanInput, scan),
    "TagResource": (requests.TagResourceInput, tag_resource),
    "TransactGetItems": (requests.TransactGetItemsInput, transact_get_items),
    "TransactWriteItems": (requests.TransactWriteItemsInput, transact_write_items),
    "UntagResource": (requests.UntagResourceInput, untag_resource),
    "UpdateContinuousBackups": (
        backups.UpdateContinuousBackupsInput,
        update_continuous_backups,
    ),
    "UpdateContributorInsights": (
        table_settings.UpdateContributorInsightsInput,
        update_contributor_insights,
    ),
    "UpdateGlobalTable": (table_settings.UpdateGlobalTableInput, refuse_replicas),
    "UpdateGlobalTableSettings": (
        table_settings.UpdateGlobalTableSettingsInput,
        find_no_global_table,
    ),
    "UpdateItem": (requests.UpdateItemInput, update_item),
    "UpdateKinesisStreamingDestination": (
        table_settings.UpdateKinesisStreamingDestinationInput,
        update_kinesis_streaming_destination,
    ),
    "UpdateTable": (requests.UpdateTableInput, update_table),
    "UpdateTableReplicaAutoScaling": (
        table_settings.UpdateTableReplicaAutoScalingInput,
        refuse_replicas,
    ),
    "UpdateTimeToLive": (requests.UpdateTimeToLiveInput, update_time_to_live),
}


def unknown_operation(name: str) -> UnknownOperationException:
    """Return the error for an operation that does not exist or is not implemented."""
    hint = did_you_mean(name, OPERATIONS, cutoff=0.8) or "."
    return UnknownOperationException(f"unknown operation {name!r}{hint} {LIST_OF_OPERATIONS}")
