"""The access of the operations on items, and of PartiQL statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from tablewright.engine.expressions import (
    read_action,
    read_condition,
    read_projection,
    read_query,
    read_scan,
    read_update,
)
from tablewright.engine.keys import Keys
from tablewright.engine.requested_access.access import RequestedAccess, format_keys
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
    RETURN_CAPACITY,
    RETURN_VALUES,
    SELECT,
)
from tablewright.values import Item
from tablewright.wire import requests
from tablewright.wire.statements import (
    BatchExecuteStatementInput,
    ExecuteStatementInput,
    ExecuteTransactionInput,
    ParameterizedStatement,
)

# -- the values of partition keys


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
    from tablewright.engine.statements.access import StatementAccess  # with the first statement

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


#: By operation: a function that yields the accesses of a request.
ITEM_ACCESSES: dict[str, Callable[[Any], Iterator[RequestedAccess]]] = {
    "BatchExecuteStatement": partial(_execute_statements, "BatchExecuteStatement"),
    "BatchGetItem": _batch_get_item,
    "BatchWriteItem": _batch_write_item,
    "DeleteItem": partial(_write, "DeleteItem"),
    "ExecuteStatement": _execute_statement,
    "ExecuteTransaction": partial(_execute_statements, "ExecuteTransaction"),
    "GetItem": _get_item,
    "PutItem": partial(_write, "PutItem"),
    "Query": _query,
    "Scan": _scan,
    "TransactGetItems": _transact_get_items,
    "TransactWriteItems": _transact_write_items,
    "UpdateItem": partial(_write, "UpdateItem"),
}
