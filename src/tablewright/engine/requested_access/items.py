"""The access of the operations on items, and of PartiQL statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import Any, cast

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
from tablewright.wire import requests
from tablewright.wire.operations import Operation, touches
from tablewright.wire.statements import ExecuteStatementInput, ParameterizedStatement
from tablewright.wire.touches import Named, Touch

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


# -- the operations


def item_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses of a request for items: one for each item, or each table of a batch."""
    keys: dict[str, tuple[str, ...]] = {RETURN_CAPACITY: (request.return_capacity or "NONE",)}
    if operation.is_transaction:
        keys[ENCLOSING_OPERATION] = (operation.name,)
    touched = touches(operation.name, request)
    if operation.is_batch:
        for table, group in groupby(touched, lambda touch: touch.table):
            yield _access(operation.name, table, list(group), keys)
    else:
        for touch in touched:
            action = f"{touch.kind}Item" if operation.is_transaction else operation.name
            yield _access(action, touch.table, [touch], keys)


def _access(
    action: str, table: str, touched: list[Touch], keys: dict[str, tuple[str, ...]]
) -> RequestedAccess:
    """Return the access of touches of one table, which have the same parameters."""
    part = touched[0].part
    own: dict[str, tuple[str, ...]] = {}
    if touched[0].access == "read":
        own = {SELECT: _effective_select(part)}
    elif not isinstance(part, requests.PutRequest | requests.DeleteRequest):
        stated = (getattr(part, "return_values", None), part.return_on_failure)
        own = {RETURN_VALUES: _effective_return_values(*stated)}
    items = [touch.what.item for touch in touched if isinstance(touch.what, Named)]
    return RequestedAccess(
        action,
        table,
        touched[0].index,
        items=items,
        partitions=partial(_partitions_of_query, part) if touched[0].kind == "Query" else None,
        attributes=lambda: _attribute_names(*items, *_expressions(part)),
        keys=own | keys,
    )


def _expressions(part: Any) -> Iterable[Any]:
    """Return the expressions of a part of a request, and the start key of a page."""
    match part:
        case requests.QueryInput():
            return (*read_query(part), part.start_key)
        case requests.ScanInput():
            return (*read_scan(part), part.start_key)
        case requests.UpdateItemInput():
            return read_update(part)
        case requests.PutItemInput() | requests.DeleteItemInput():
            return (read_condition(part),)
        case requests.TransactAction():
            return read_action(cast(requests.AnyTransactAction, part))
        case requests.PutRequest() | requests.DeleteRequest():
            return ()
    return (read_projection(part),)


# -- statements


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


def statement_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses of a request with statements."""
    keys: dict[str, tuple[str, ...]] = {RETURN_CAPACITY: (request.return_capacity or "NONE",)}
    if isinstance(request, ExecuteStatementInput):
        yield _statement(request, keys)
        return
    keys[ENCLOSING_OPERATION] = (operation.name,)
    for statement in request.statements:
        try:
            access = _statement(statement, keys)
        except ValidationException:  # a batch reports it in the response of the statement
            continue
        yield access
