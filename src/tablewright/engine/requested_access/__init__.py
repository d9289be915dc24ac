"""Requested access: the access that each request needs, in IAM's terms, without its tables.

`requested_accesses` converts a typed request into requested accesses: an action, a table or index,
and the condition keys that DynamoDB defines for the action. The table of operations says what each
operation touches, or which resources it is about.

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
    other operations                    the same name               what they are about

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

from collections.abc import Iterator
from typing import Any

from tablewright.engine.requested_access.access import RequestedAccess, add_value, format_keys
from tablewright.engine.requested_access.items import item_accesses, statement_accesses
from tablewright.engine.requested_access.tables import table_accesses
from tablewright.wire.operations import OPERATIONS, STATEMENT

__all__ = ["RequestedAccess", "add_value", "format_keys", "requested_accesses"]


def requested_accesses(operation: str, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses that a request needs."""
    row = OPERATIONS[operation]
    if row.touched is None:
        return table_accesses(row, request)
    return (
        statement_accesses(row, request) if row.access is STATEMENT else item_accesses(row, request)
    )
