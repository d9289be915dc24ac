"""Touches: what each request means to do, in IAM's terms, as far as that needs no table.

`TOUCHES` has one row for each operation. It turns the typed request into touches: an action, the
table or index it is about, and the condition keys that DynamoDB gives for this action.

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
    CreateTable, TagResource            the same name               table           T, RequestTag
    UntagResource                       the same name               table           T
    other operations on a table         the same name               table
    ListTables                          ListTables                  table/*
    DescribeLimits, DescribeEndpoints   the same name               *

    L LeadingKeys and the partition key values   A Attributes   S Select   R ReturnValues
    C ReturnConsumedCapacity   E EnclosingOperation   T TagKeys

What the documentation of AWS leaves open is decided here so that less is allowed:
- Select and ReturnValues have their effective values where the request has none: a GetItem without
  a projection is ALL_ATTRIBUTES. A ReturnValuesOnConditionCheckFailure counts as ReturnValues.
- A number in LeadingKeys is in canonical form (`7`, never `7.0`), a binary is base64.
- With several partition key attributes LeadingKeys holds the first. A key with one attribute has
  FirstPartitionKeyValues as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct

from tablewright.encoding.numbers import read_number
from tablewright.engine.describe import table_arn
from tablewright.engine.expressions import (
    read_action,
    read_condition,
    read_projection,
    read_query,
    read_scan,
    read_update,
)
from tablewright.engine.keys import Keys
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
from tablewright.wire import requests
from tablewright.wire.members import Structure

#: Finds the partition key values in a request, by the key of the table or index it is about.
Partitions: TypeAlias = Callable[[Keys], list[tuple[str, ...]]]


class Touch(Struct):
    """One access that a request means, without what its table decides."""

    action: str
    table: str | None = None  # a name or an ARN; None: the request is about no table
    index: str | None = None
    partitions: Partitions | None = None
    attributes: Callable[[], Iterable[str]] | None = None
    keys: dict[str, tuple[str, ...]] = {}  # all others
    resource: str = "*"  # where there is no table


def add_value(keys: dict[str, tuple[str, ...]], key: str, value: str) -> None:
    """Add a value to a key: two tags that differ in case are one condition key."""
    keys[key] = (*keys.get(key, ()), value)


# -- the values of partition keys


def _in_items(items: Iterable[Item], keys: Keys) -> list[tuple[str, ...]]:
    """Of items, or of their keys."""
    found = []
    for item in items:
        attributes = keys.schema.partition
        values = [_shown(attribute, item.get(attribute.name)) for attribute in attributes]
        present = tuple([value for value in values if value is not None])
        if len(present) == len(attributes):
            found.append(present)
    return found


def _in_query(request: requests.QueryInput, keys: Keys) -> list[tuple[str, ...]]:
    """Of a key condition."""
    condition, _, _ = read_query(request)
    try:
        selected = condition.select(keys.partition_names, keys.sort_names, keys.types)
    except ValidationException:  # the operation raises it, if the request is allowed at all
        return []
    return _in_items((dict(zip(keys.partition_names, selected.partition, strict=True)),), keys)


def _shown(attribute: KeyAttribute, value: Value | None) -> str | None:
    """The value of a key attribute as text; None if it is missing or of another type."""
    content: str | None = None if value is None else value.get(attribute.type)
    if content is not None and attribute.type == "N":
        return read_number(content)
    return content  # `wire` has spelt base64 in its one canonical form


# -- attributes


def _named(
    *sources: Iterable[str]
    | CompiledCondition
    | CompiledProjection
    | CompiledKeyCondition
    | LegacyKeyCondition
    | CompiledUpdate
    | None,
) -> Iterator[str]:
    """The top-level attributes that parts of a request name."""
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


def _select(request: Any) -> tuple[str, ...]:
    """What a read returns: its Select, or what it amounts to."""
    stated: str | None = getattr(request, "select", None)
    if stated is not None:
        return (stated,)
    if request.projection is not None or request.attributes_to_get:
        return ("SPECIFIC_ATTRIBUTES",)
    indexed = getattr(request, "index_name", None) is not None
    return ("ALL_PROJECTED_ATTRIBUTES" if indexed else "ALL_ATTRIBUTES",)


def _returned(*members: str | None) -> tuple[str, ...]:
    """What a write returns of the item: NONE, or what ReturnValues and its companion ask for."""
    return tuple(dict.fromkeys(one for one in members if one not in (None, "NONE"))) or ("NONE",)


def _capacity(request: Any) -> tuple[str, ...]:
    return (request.return_capacity or "NONE",)


# -- rows


def _get_item(request: requests.GetItemInput) -> Iterator[Touch]:
    yield _get(request, {RETURN_CAPACITY: _capacity(request)})


def _transact_get_items(request: requests.TransactGetItemsInput) -> Iterator[Touch]:
    enclosing = {
        ENCLOSING_OPERATION: ("TransactGetItems",),
        RETURN_CAPACITY: _capacity(request),
    }
    for action in request.actions:
        yield _get(action.get, enclosing)


def _get(
    request: requests.GetItemInput | requests.TransactGet, keys: dict[str, tuple[str, ...]]
) -> Touch:
    return Touch(
        "GetItem",
        request.table_name,
        partitions=partial(_in_items, (request.key,)),
        attributes=lambda: _named(request.key, read_projection(request)),
        keys={SELECT: _select(request), **keys},
    )


def _batch_get_item(request: requests.BatchGetItemInput) -> Iterator[Touch]:
    for name, wanted in request.tables.items():
        yield Touch(
            "BatchGetItem",
            name,
            partitions=partial(_in_items, wanted.keys),
            attributes=partial(_batch_get_attributes, wanted),
            keys={SELECT: _select(wanted), RETURN_CAPACITY: _capacity(request)},
        )


def _batch_get_attributes(wanted: requests.KeysAndAttributes) -> Iterator[str]:
    return _named(*wanted.keys, read_projection(wanted))


def _query(request: requests.QueryInput) -> Iterator[Touch]:
    yield Touch(
        "Query",
        request.table_name,
        request.index_name,
        partitions=partial(_in_query, request),
        attributes=lambda: _named(*read_query(request), request.start_key),
        keys={SELECT: _select(request), RETURN_CAPACITY: _capacity(request)},
    )


def _scan(request: requests.ScanInput) -> Iterator[Touch]:
    yield Touch(
        "Scan",
        request.table_name,
        request.index_name,
        attributes=lambda: _named(*read_scan(request), request.start_key),
        keys={SELECT: _select(request), RETURN_CAPACITY: _capacity(request)},
    )


def _write(action: str, request: Any) -> Iterator[Touch]:
    """PutItem, UpdateItem and DeleteItem."""
    item = request.item if isinstance(request, requests.PutItemInput) else request.key
    yield Touch(
        action,
        request.table_name,
        partitions=partial(_in_items, (item,)),
        attributes=lambda: _named(item, *_expressions(request)),
        keys={
            RETURN_VALUES: _returned(request.return_values, request.return_on_failure),
            RETURN_CAPACITY: _capacity(request),
        },
    )


def _expressions(
    request: requests.PutItemInput | requests.UpdateItemInput | requests.DeleteItemInput,
) -> tuple[CompiledUpdate | CompiledCondition | None, ...]:
    if isinstance(request, requests.UpdateItemInput):
        return read_update(request)
    return (read_condition(request),)


def _batch_write_item(request: requests.BatchWriteItemInput) -> Iterator[Touch]:
    for name, writes in request.tables.items():
        items = [write.put.item for write in writes if write.put]
        items += [write.delete.key for write in writes if write.delete]
        yield Touch(
            "BatchWriteItem",
            name,
            partitions=partial(_in_items, items),
            attributes=partial(_named, *items),
            keys={RETURN_CAPACITY: _capacity(request)},
        )


_MEMBER_ACTIONS: dict[type[requests.TransactAction], str] = {
    requests.TransactPut: "PutItem",
    requests.TransactUpdate: "UpdateItem",
    requests.TransactDelete: "DeleteItem",
    requests.TransactConditionCheck: "ConditionCheckItem",
}


def _transact_write_items(request: requests.TransactWriteItemsInput) -> Iterator[Touch]:
    for entry in request.actions:
        for action in (entry.check, entry.put, entry.delete, entry.update):
            if action is None:
                continue
            item = action.item if isinstance(action, requests.TransactPut) else action.key
            yield Touch(
                _MEMBER_ACTIONS[type(action)],
                action.table_name,
                partitions=partial(_in_items, (item,)),
                attributes=partial(_member_attributes, item, action),
                keys={
                    RETURN_VALUES: _returned(action.return_on_failure),
                    RETURN_CAPACITY: _capacity(request),
                    ENCLOSING_OPERATION: ("TransactWriteItems",),
                },
            )


def _member_attributes(item: Item, action: requests.AnyTransactAction) -> Iterator[str]:
    return _named(item, *read_action(action))


def _on_table(action: str, request: requests.TableInput) -> Iterator[Touch]:
    yield Touch(action, request.table_name)


def _create_table(request: requests.CreateTableInput) -> Iterator[Touch]:
    yield Touch("CreateTable", request.table_name, keys=_tag_keys(request.tags or ()))


def _tag_resource(request: requests.TagResourceInput) -> Iterator[Touch]:
    yield Touch("TagResource", request.resource_arn, keys=_tag_keys(request.tags))


def _untag_resource(request: requests.UntagResourceInput) -> Iterator[Touch]:
    yield Touch("UntagResource", request.resource_arn, keys={TAG_KEYS: tuple(request.tag_keys)})


def _list_tags(request: requests.ListTagsOfResourceInput) -> Iterator[Touch]:
    yield Touch("ListTagsOfResource", request.resource_arn)


def _tag_keys(tags: Iterable[requests.Tag]) -> dict[str, tuple[str, ...]]:
    keys: dict[str, tuple[str, ...]] = {}
    for tag in tags:
        add_value(keys, TAG_KEYS, tag.key)
        add_value(keys, REQUEST_TAG + tag.key.lower(), tag.value)
    return keys


def _on_nothing(action: str, resource: str, request: Structure) -> Iterator[Touch]:
    yield Touch(action, resource=resource)


#: For each operation what it touches.
TOUCHES: dict[str, Callable[[Any], Iterator[Touch]]] = {
    "BatchGetItem": _batch_get_item,
    "BatchWriteItem": _batch_write_item,
    "CreateTable": _create_table,
    "DeleteItem": partial(_write, "DeleteItem"),
    "DeleteTable": partial(_on_table, "DeleteTable"),
    "DescribeEndpoints": partial(_on_nothing, "DescribeEndpoints", "*"),
    "DescribeLimits": partial(_on_nothing, "DescribeLimits", "*"),
    "DescribeTable": partial(_on_table, "DescribeTable"),
    "DescribeTimeToLive": partial(_on_table, "DescribeTimeToLive"),
    "GetItem": _get_item,
    # IAM names all tables as its resource: `table/*` allows it, `table/shop-*` does not.
    "ListTables": partial(_on_nothing, "ListTables", table_arn("*")),
    "ListTagsOfResource": _list_tags,
    "PutItem": partial(_write, "PutItem"),
    "Query": _query,
    "Scan": _scan,
    "TagResource": _tag_resource,
    "TransactGetItems": _transact_get_items,
    "TransactWriteItems": _transact_write_items,
    "UntagResource": _untag_resource,
    "UpdateItem": partial(_write, "UpdateItem"),
    "UpdateTable": partial(_on_table, "UpdateTable"),
    "UpdateTimeToLive": partial(_on_table, "UpdateTimeToLive"),
}
