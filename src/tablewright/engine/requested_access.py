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

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct

from tablewright.encoding.numbers import normalise_number
from tablewright.engine.describe import stream_arn, table_arn
from tablewright.engine.expressions import (
    read_action,
    read_condition,
    read_projection,
    read_query,
    read_scan,
    read_update,
)
from tablewright.engine.keys import Keys
from tablewright.engine.shard_iterators import parse_iterator
from tablewright.engine.statements.access import StatementAccess
from tablewright.engine.streams import parse_stream_arn
from tablewright.errors import ValidationException
from tablewright.expression import (
    CompiledCondition,
    CompiledKeyCondition,
    CompiledProjection,
    CompiledUpdate,
)
from tablewright.expression.legacy import LegacyKeyCondition
from tablewright.policy.keys import (
    ENCLOSING_OPERATION,
    REQUEST_TAG,
    RETURN_CAPACITY,
    RETURN_VALUES,
    SELECT,
    TAG_KEYS,
)
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value
from tablewright.wire import backups, exports, requests, streams
from tablewright.wire.members import Structure
from tablewright.wire.statements import (
    BatchExecuteStatementInput,
    ExecuteStatementInput,
    ExecuteTransactionInput,
    ParameterizedStatement,
)

#: Reads the partition key values of a request, given the keys of its table or index.
PartitionReader: TypeAlias = Callable[[Keys], list[tuple[str, ...]]]


class RequestedAccess(Struct):
    """One access that a request needs, without the parts that depend on its table."""

    action: str
    table: str | None = None  # a name or an ARN; None: the request needs no table
    index: str | None = None
    items: Sequence[Item] = ()  # the items, or the keys, that the request names
    partitions: PartitionReader | None = None  # of a request that selects by a key condition
    attributes: Callable[[], Iterable[str]] | None = None
    is_full_scan: Callable[[Keys], bool] | None = None  # None: the action has no such key
    keys: dict[str, tuple[str, ...]] = {}  # all other condition keys
    resource: str = "*"  # used if `table` is None

    @property
    def has_partitions(self) -> bool:
        return bool(self.items) or self.partitions is not None

    def read_partitions(self, keys: Keys) -> list[tuple[str, ...]]:
        """Return the partition key values of the request as text; mistyped ones are left out."""
        if self.partitions is not None:
            return self.partitions(keys)
        return format_keys(self.items, keys.schema.partition)


def add_value(keys: dict[str, tuple[str, ...]], key: str, value: str) -> None:
    """Add a value to a condition key: tags that differ only in case share one key."""
    keys[key] = (*keys.get(key, ()), value)


# -- the values of partition keys


def format_keys(items: Iterable[Item], attributes: Sequence[KeyAttribute]) -> list[tuple[str, ...]]:
    """Return the values of key attributes as text; items without all of them are left out."""
    found = []
    for item in items:
        values = [
            _format_key_value(attribute, item.get(attribute.name)) for attribute in attributes
        ]
        present = tuple([value for value in values if value is not None])
        if len(present) == len(attributes):
            found.append(present)
    return found


def _partitions_of_query(request: requests.QueryInput, keys: Keys) -> list[tuple[str, ...]]:
    """Return the partition key values of a key condition."""
    condition, _, _ = read_query(request)
    try:
        selected = condition.select(keys.partition_names, keys.sort_names, keys.types)
    except ValidationException:  # the operation raises it if the request is allowed
        return []
    return format_keys(
        (dict(zip(keys.partition_names, selected.partition, strict=True)),), keys.schema.partition
    )


def _format_key_value(attribute: KeyAttribute, value: Value | None) -> str | None:
    """Return the value of a key attribute as text; None if it is missing or mistyped."""
    content: str | None = None if value is None else value.get(attribute.type)
    if content is not None and attribute.type == "N":
        return normalise_number(content)
    return content  # `wire` has converted base64 to its canonical form


# -- attributes


def _attribute_names(
    *sources: Iterable[str]
    | CompiledCondition
    | CompiledProjection
    | CompiledKeyCondition
    | LegacyKeyCondition
    | CompiledUpdate
    | None,
) -> Iterator[str]:
    """Yield the top-level attributes that parts of a request use."""
    for source in sources:
        if isinstance(source, CompiledUpdate):
            yield from source.referenced_names
        elif isinstance(
            source,
            (CompiledCondition, CompiledProjection, CompiledKeyCondition, LegacyKeyCondition),
        ):
            yield from source.names
        elif source is not None:
            yield from source


# -- single values


def _effective_select(request: Any) -> tuple[str, ...]:
    """Return the Select of a read, or the equivalent of its other parameters."""
    stated: str | None = getattr(request, "select", None)
    if stated is not None:
        return (stated,)
    return _select_of(
        bool(request.projection is not None or request.attributes_to_get),
        getattr(request, "index_name", None) is not None,
    )


def _select_of(has_projection: bool, has_index: bool) -> tuple[str, ...]:
    if has_projection:
        return ("SPECIFIC_ATTRIBUTES",)
    return ("ALL_PROJECTED_ATTRIBUTES" if has_index else "ALL_ATTRIBUTES",)


def _effective_return_values(*members: str | None) -> tuple[str, ...]:
    """Return the ReturnValues of a write, including those for failed conditions, or NONE."""
    return tuple(dict.fromkeys(one for one in members if one not in (None, "NONE"))) or ("NONE",)


def _effective_capacity(request: Any) -> tuple[str, ...]:
    return (request.return_capacity or "NONE",)


# -- rows


def _get_item(request: requests.GetItemInput) -> Iterator[RequestedAccess]:
    yield _get(request, {RETURN_CAPACITY: _effective_capacity(request)})


def _transact_get_items(request: requests.TransactGetItemsInput) -> Iterator[RequestedAccess]:
    enclosing = {
        ENCLOSING_OPERATION: ("TransactGetItems",),
        RETURN_CAPACITY: _effective_capacity(request),
    }
    for action in request.actions:
        yield _get(action.get, enclosing)


def _get(
    request: requests.GetItemInput | requests.TransactGetEntry, keys: dict[str, tuple[str, ...]]
) -> RequestedAccess:
    return RequestedAccess(
        "GetItem",
        request.table_name,
        items=(request.key,),
        attributes=lambda: _attribute_names(request.key, read_projection(request)),
        keys={SELECT: _effective_select(request), **keys},
    )


def _batch_get_item(request: requests.BatchGetItemInput) -> Iterator[RequestedAccess]:
    for name, wanted in request.tables.items():
        yield RequestedAccess(
            "BatchGetItem",
            name,
            items=wanted.keys,
            attributes=partial(_batch_get_attributes, wanted),
            keys={SELECT: _effective_select(wanted), RETURN_CAPACITY: _effective_capacity(request)},
        )


def _batch_get_attributes(wanted: requests.KeysAndAttributes) -> Iterator[str]:
    return _attribute_names(*wanted.keys, read_projection(wanted))


def _query(request: requests.QueryInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess(
        "Query",
        request.table_name,
        request.index_name,
        partitions=partial(_partitions_of_query, request),
        attributes=lambda: _attribute_names(*read_query(request), request.start_key),
        keys={SELECT: _effective_select(request), RETURN_CAPACITY: _effective_capacity(request)},
    )


def _scan(request: requests.ScanInput) -> Iterator[RequestedAccess]:
    yield RequestedAccess(
        "Scan",
        request.table_name,
        request.index_name,
        attributes=lambda: _attribute_names(*read_scan(request), request.start_key),
        keys={SELECT: _effective_select(request), RETURN_CAPACITY: _effective_capacity(request)},
    )


def _write(action: str, request: Any) -> Iterator[RequestedAccess]:
    """Yield the access of PutItem, UpdateItem or DeleteItem."""
    item = request.item if isinstance(request, requests.PutItemInput) else request.key
    yield RequestedAccess(
        action,
        request.table_name,
        items=(item,),
        attributes=lambda: _attribute_names(item, *_read_expressions(request)),
        keys={
            RETURN_VALUES: _effective_return_values(
                request.return_values, request.return_on_failure
            ),
            RETURN_CAPACITY: _effective_capacity(request),
        },
    )


def _read_expressions(
    request: requests.PutItemInput | requests.UpdateItemInput | requests.DeleteItemInput,
) -> tuple[CompiledUpdate | CompiledCondition | None, ...]:
    if isinstance(request, requests.UpdateItemInput):
        return read_update(request)
    return (read_condition(request),)


def _batch_write_item(request: requests.BatchWriteItemInput) -> Iterator[RequestedAccess]:
    for name, writes in request.tables.items():
        items: list[Item] = []
        for write in writes:
            items += [write.put.item] if write.put else []
            items += [write.delete.key] if write.delete else []
        yield RequestedAccess(
            "BatchWriteItem",
            name,
            items=items,
            attributes=partial(_attribute_names, *items),
            keys={RETURN_CAPACITY: _effective_capacity(request)},
        )


_TRANSACTION_ACTIONS: dict[type[requests.TransactAction], str] = {
    requests.TransactPut: "PutItem",
    requests.TransactUpdate: "UpdateItem",
    requests.TransactDelete: "DeleteItem",
    requests.TransactConditionCheck: "ConditionCheckItem",
}


def _transact_write_items(request: requests.TransactWriteItemsInput) -> Iterator[RequestedAccess]:
    for entry in request.actions:
        for action in (entry.check, entry.put, entry.delete, entry.update):
            if action is None:
                continue
            item = action.item if isinstance(action, requests.TransactPut) else action.key
            yield RequestedAccess(
                _TRANSACTION_ACTIONS[type(action)],
                action.table_name,
                items=(item,),
                attributes=partial(_action_attributes, item, action),
                keys={
                    RETURN_VALUES: _effective_return_values(action.return_on_failure),
                    RETURN_CAPACITY: _effective_capacity(request),
                    ENCLOSING_OPERATION: ("TransactWriteItems",),
                },
            )


def _action_attributes(item: Item, action: requests.AnyTransactAction) -> Iterator[str]:
    return _attribute_names(item, *read_action(action))


def _statement(
    request: ParameterizedStatement, keys: dict[str, tuple[str, ...]]
) -> RequestedAccess:
    """Return the access of one statement of PartiQL."""
    access = StatementAccess(request.text, request.parameters)
    own: dict[str, tuple[str, ...]]
    if access.is_select:
        own = {SELECT: _select_of(access.has_projection, access.index is not None)}
    else:
        own = {
            RETURN_VALUES: _effective_return_values(access.return_values, request.return_on_failure)
        }
    return RequestedAccess(
        access.action,
        access.table,
        access.index,
        partitions=lambda found: format_keys(access.items(found), found.schema.partition),
        attributes=access.attributes,
        is_full_scan=access.is_full_scan if access.is_select else None,
        keys=own | keys,
    )


def _execute_statement(request: ExecuteStatementInput) -> Iterator[RequestedAccess]:
    yield _statement(request, {RETURN_CAPACITY: _effective_capacity(request)})


def _execute_statements(
    operation: str, request: BatchExecuteStatementInput | ExecuteTransactionInput
) -> Iterator[RequestedAccess]:
    """Yield the accesses of BatchExecuteStatement or ExecuteTransaction."""
    keys = {
        ENCLOSING_OPERATION: (operation,),
        RETURN_CAPACITY: _effective_capacity(request),
    }
    for statement in request.statements:
        try:
            access = _statement(statement, keys)
        except ValidationException:  # a batch reports it in the response of the statement
            continue
        yield access


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
REQUESTED_ACCESSES: dict[str, Callable[[Any], Iterator[RequestedAccess]]] = {
    "BatchExecuteStatement": partial(_execute_statements, "BatchExecuteStatement"),
    "BatchGetItem": _batch_get_item,
    "BatchWriteItem": _batch_write_item,
    "CreateGlobalTable": partial(_global_table, "CreateGlobalTable"),
    "CreateBackup": partial(_table_request, "CreateBackup"),
    "CreateTable": _create_table,
    "DeleteBackup": partial(_record_request, "DeleteBackup"),
    "DeleteItem": partial(_write, "DeleteItem"),
    "DeleteResourcePolicy": partial(_policy_request, "DeleteResourcePolicy"),
    "DeleteTable": partial(_table_request, "DeleteTable"),
    "DescribeContributorInsights": partial(_index_request, "DescribeContributorInsights"),
    "DescribeBackup": partial(_record_request, "DescribeBackup"),
    "DescribeContinuousBackups": partial(_table_request, "DescribeContinuousBackups"),
    "DescribeEndpoints": partial(_account_request, "DescribeEndpoints", "*"),
    "DescribeGlobalTable": partial(_global_table, "DescribeGlobalTable"),
    "DescribeGlobalTableSettings": partial(_global_table, "DescribeGlobalTableSettings"),
    "DescribeKinesisStreamingDestination": partial(
        _table_request, "DescribeKinesisStreamingDestination"
    ),
    "DescribeExport": _describe_export,
    "DescribeImport": _describe_import,
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
    "ExecuteStatement": _execute_statement,
    "ExecuteTransaction": partial(_execute_statements, "ExecuteTransaction"),
    "ExportTableToPointInTime": _export_table,
    "GetItem": _get_item,
    "GetResourcePolicy": partial(_policy_request, "GetResourcePolicy"),
    "ListContributorInsights": partial(_account_request, "ListContributorInsights", "*"),
    "ListGlobalTables": partial(_account_request, "ListGlobalTables", "*"),
    "GetRecords": _get_records,
    "GetShardIterator": partial(_stream_request, "GetShardIterator"),
    "ImportTable": _import_table,
    "ListBackups": partial(_account_request, "ListBackups", "*"),
    "ListExports": partial(_account_request, "ListExports", "*"),
    "ListImports": partial(_account_request, "ListImports", "*"),
    "ListStreams": _list_streams,
    # Its resource in IAM is all tables: `table/*` allows it, `table/shop-*` does not.
    "ListTables": partial(_account_request, "ListTables", table_arn("*")),
    "ListTagsOfResource": _list_tags,
    "PutItem": partial(_write, "PutItem"),
    "PutResourcePolicy": partial(_policy_request, "PutResourcePolicy"),
    "Query": _query,
    "RestoreTableFromBackup": _restore_backup,
    "RestoreTableToPointInTime": _restore_to_time,
    "Scan": _scan,
    "TagResource": _tag_resource,
    "TransactGetItems": _transact_get_items,
    "TransactWriteItems": _transact_write_items,
    "UntagResource": _untag_resource,
    "UpdateContinuousBackups": partial(_table_request, "UpdateContinuousBackups"),
    "UpdateContributorInsights": partial(_index_request, "UpdateContributorInsights"),
    "UpdateGlobalTable": partial(_global_table, "UpdateGlobalTable"),
    "UpdateGlobalTableSettings": partial(_global_table, "UpdateGlobalTableSettings"),
    "UpdateItem": partial(_write, "UpdateItem"),
    "UpdateKinesisStreamingDestination": partial(
        _table_request, "UpdateKinesisStreamingDestination"
    ),
    "UpdateTable": partial(_table_request, "UpdateTable"),
    "UpdateTableReplicaAutoScaling": partial(_table_request, "UpdateTableReplicaAutoScaling"),
    "UpdateTimeToLive": partial(_table_request, "UpdateTimeToLive"),
}
