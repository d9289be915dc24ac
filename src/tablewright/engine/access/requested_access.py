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

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias, cast

from msgspec import Struct

from tablewright.encoding.numbers import normalise_number
from tablewright.engine.change_log.streams import parse_iterator, parse_stream_arn
from tablewright.engine.expressions import (
    read_action,
    read_condition,
    read_projection,
    read_query,
    read_scan,
    read_update,
)
from tablewright.engine.tables.describe import stream_arn, table_arn
from tablewright.engine.tables.table import Keys
from tablewright.errors import ValidationException
from tablewright.expression import CompiledUpdate
from tablewright.policy.condition import (
    ENCLOSING_OPERATION,
    REQUEST_TAG,
    RETURN_CAPACITY,
    RETURN_VALUES,
    SELECT,
    TAG_KEYS,
)
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value
from tablewright.wire import requests
from tablewright.wire.operations import OPERATIONS, STATEMENT, Operation, touches
from tablewright.wire.partiql import ExecuteStatementInput
from tablewright.wire.touches import Named, Touch

#: The values of condition keys, by key.
ConditionKeys: TypeAlias = dict[str, tuple[str, ...]]
#: Parts of requests that have neither expressions nor other parameters.
_WITHOUT_PARAMETERS = (requests.PutRequest, requests.DeleteRequest)
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
    keys: ConditionKeys = {}  # all other condition keys
    resource: str = "*"  # used if `table` is None

    @property
    def has_partitions(self) -> bool:
        return bool(self.items) or self.partitions is not None

    def read_partitions(self, keys: Keys) -> list[tuple[str, ...]]:
        """Return the partition key values of the request as text; mistyped ones are left out."""
        if self.partitions is not None:
            return self.partitions(keys)
        return format_keys(self.items, keys.schema.partition)


def requested_accesses(operation: str, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses that a request needs."""
    row = OPERATIONS[operation]
    if row.touched is None:
        return _table_accesses(row, request)
    accesses = _statement_accesses if row.access is STATEMENT else _item_accesses
    return accesses(row, request)


# -- tables, backups, exports, imports and streams


def _table_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the access of a request to each resource that it is about."""
    for about in operation.about:
        name: Any = attrgetter(about.name)(request) if about.name else None
        resource: str
        match about.kind:
            case "account":
                resource = "*"
            case "tables":
                resource = table_arn("*")
            case "streams":
                resource = stream_arn(name or "*", "*")
            case "stream":
                resource = stream_arn(*parse_stream_arn(name))
            case "iterator":
                resource = stream_arn(*parse_stream_arn(parse_iterator(name).arn))
            case "arn":
                resource = name
            case "table or stream" if "/stream/" in name:
                resource = name
            case _:
                if name is not None:
                    index = getattr(request, "index_name", None)
                    yield RequestedAccess(operation.name, name, index, keys=_tag_keys(request))
                continue
        yield RequestedAccess(operation.name, resource=resource)


def _tag_keys(request: Any) -> ConditionKeys:
    """Return the condition keys of the tags that a request adds or removes."""
    keys: ConditionKeys = {}
    for tag in getattr(request, "tags", None) or ():
        add_value(keys, TAG_KEYS, tag.key)
        add_value(keys, REQUEST_TAG + tag.key.lower(), tag.value)
    for name in getattr(request, "tag_keys", ()):
        add_value(keys, TAG_KEYS, name)
    return keys


# -- items


def _item_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses of a request for items: one for each item, or each table of a batch."""
    keys: ConditionKeys = {RETURN_CAPACITY: (request.return_capacity or "NONE",)}
    if operation.is_transaction:
        keys[ENCLOSING_OPERATION] = (operation.name,)
    touched = touches(operation.name, request)
    if operation.is_batch:
        for _, of_table in groupby(touched, lambda touch: touch.table):
            yield _access(operation.name, [*of_table], keys)
    else:
        for touch in touched:
            action = f"{touch.kind}Item" if operation.is_transaction else operation.name
            yield _access(action, [touch], keys)


def _access(action: str, touched: list[Touch], keys: ConditionKeys) -> RequestedAccess:
    """Return the access of touches of one table, which have the same parameters."""
    first = touched[0]
    part = first.part
    if first.access == "read":
        keys = {SELECT: _select_of(first), **keys}
    elif not isinstance(first.part, _WITHOUT_PARAMETERS):
        stated = getattr(part, "return_values", None)
        keys = {RETURN_VALUES: effective_return_values(stated, part.return_on_failure), **keys}
    items = [touch.what.item for touch in touched if isinstance(touch.what, Named)]
    return RequestedAccess(
        action,
        first.table,
        first.index,
        items,
        partial(_partitions_of_query, part) if first.kind == "Query" else None,
        partial(_attribute_names, items, part),
        keys=keys,
    )


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


def _attribute_names(items: Iterable[Item], part: Any) -> Iterator[str]:
    """Yield the top-level attributes of items, and those that a part of a request uses."""
    for item in items:
        yield from item
    yield from getattr(part, "start_key", None) or ()
    for expression in _expressions(part):
        if isinstance(expression, CompiledUpdate):
            yield from expression.referenced_names
        elif expression is not None:
            yield from expression.names


def _expressions(part: Any) -> Iterable[Any]:
    """Return the compiled expressions of a part of a request."""
    match part:
        case requests.QueryInput():
            return read_query(part)
        case requests.ScanInput():
            return read_scan(part)
        case requests.UpdateItemInput():
            return read_update(part)
        case requests.PutItemInput() | requests.DeleteItemInput():
            return (read_condition(part),)
        case requests.TransactAction():
            return read_action(cast(requests.AnyTransactAction, part))
    return () if isinstance(part, _WITHOUT_PARAMETERS) else (read_projection(part),)


def _select_of(touch: Touch) -> tuple[str, ...]:
    """Return the Select of a read, or the equivalent of its other parameters."""
    part = touch.part
    stated: str | None = None if isinstance(touch.what, Named) else part.select
    if stated is not None:
        return (stated,)
    has_projection = part.projection is not None or bool(part.attributes_to_get)
    return effective_select(has_projection, touch.index is not None)


def effective_select(has_projection: bool, has_index: bool) -> tuple[str, ...]:
    """Return the Select that a read without one has."""
    if has_projection:
        return ("SPECIFIC_ATTRIBUTES",)
    return ("ALL_PROJECTED_ATTRIBUTES" if has_index else "ALL_ATTRIBUTES",)


def effective_return_values(*members: str | None) -> tuple[str, ...]:
    """Return the ReturnValues of a write, including those for failed conditions, or NONE."""
    if not any(members):
        return ("NONE",)
    return tuple(dict.fromkeys(one for one in members if one not in (None, "NONE"))) or ("NONE",)


# -- statements


def _statement_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses of a request with statements."""
    from tablewright.engine.statements.access import statement_access  # with the first statement

    keys: ConditionKeys = {RETURN_CAPACITY: (request.return_capacity or "NONE",)}
    if isinstance(request, ExecuteStatementInput):
        yield statement_access(request, keys)
        return
    keys[ENCLOSING_OPERATION] = (operation.name,)
    for statement in request.statements:
        try:
            access = statement_access(statement, keys)
        except ValidationException:  # a batch reports it in the response of the statement
            continue
        yield access


# -- values of condition keys


def add_value(keys: ConditionKeys, key: str, value: str) -> None:
    """Add a value to a condition key: tags that differ only in case share one key."""
    keys[key] = (*keys.get(key, ()), value)


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


def _format_key_value(attribute: KeyAttribute, value: Value | None) -> str | None:
    """Return the value of a key attribute as text; None if it is missing or mistyped."""
    content: str | None = None if value is None else value.get(attribute.type)
    if content is not None and attribute.type == "N":
        return normalise_number(content)
    return content  # `wire` has converted base64 to its canonical form
