"""Requested access: the access that each request needs, in IAM's terms, without its tables.

`REQUESTED_ACCESSES` has one row for each operation. It converts the typed request into requested
accesses: an action, a table or index, and the condition keys that DynamoDB defines for the action.

    operation                           action                      resource        keys
    GetItem                             GetItem                     table           L A S   C
    BatchGetItem, for each table        BatchGetItem                table           L A S   C
    TransactGetItems, for each member   GetItem                     table           L A S   C E
    Query                               Query                       table or index  L A S   C
    Scan                                Scan                        table or index    A S   C
    PutItem, UpdateItem, DeleteItem     the same name               table           L A   R C
    BatchWriteItem, for each table      BatchWriteItem              table           L A     C
    TransactWriteItems, for each member PutItem, UpdateItem,        table           L A   R C E
                                        DeleteItem, ConditionCheckItem
    ExecuteStatement                    PartiQLSelect               table or index  L A S   C   F
                                        PartiQLInsert, -Update,     table           L A   R C
                                        PartiQLDelete
    BatchExecuteStatement,              the same, for each          the same        and E
    ExecuteTransaction                  statement
    CreateTable, TagResource            the same name               table           T, RequestTag
    UntagResource                       the same name               table           T
    other operations on a table         the same name               table
    DescribeBackup, DeleteBackup,       the same name               backup, export or import
    DescribeExport, DescribeImport
    RestoreTableFromBackup              RestoreTableFromBackup      backup; new table
    RestoreTableToPointInTime           RestoreTableToPointInTime   table; new table
    ListTables                          ListTables                  table/*
    operations on a resource policy     the same name               table or stream
    operations on Contributor Insights  the same name               table or index
    ListStreams                         ListStreams                 table/*/stream/*
    DescribeStream, GetShardIterator,   the same name               table/NAME/stream/LABEL
    GetRecords
    ListBackups, ListExports,           the same name               *
    ListImports, ListGlobalTables,
    ListContributorInsights,
    DescribeLimits, DescribeEndpoints

    L LeadingKeys and the partition key values   A Attributes   S Select   R ReturnValues
    C ReturnConsumedCapacity   E EnclosingOperation   T TagKeys   F FullTableScan

Where the documentation of AWS is incomplete, the more restrictive choice is taken:
- If a request has no Select or ReturnValues, the effective value is used: a GetItem without a
  projection has ALL_ATTRIBUTES. ReturnValuesOnConditionCheckFailure counts as ReturnValues.
- A number in LeadingKeys is in canonical form (`7`, never `7.0`), a binary value is in base64.
- If a partition key has several attributes, LeadingKeys holds the first one. A partition key with
  one attribute has FirstPartitionKeyValues, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tablewright.engine.requested_access.access import RequestedAccess, add_value, format_keys
from tablewright.engine.requested_access.items import ITEM_ACCESSES
from tablewright.engine.requested_access.tables import TABLE_ACCESSES

__all__ = ["REQUESTED_ACCESSES", "RequestedAccess", "add_value", "format_keys"]

#: By operation: a function that yields the accesses of a request.
REQUESTED_ACCESSES: dict[str, Callable[[Any], Iterator[RequestedAccess]]] = {
    **ITEM_ACCESSES,
    **TABLE_ACCESSES,
}
