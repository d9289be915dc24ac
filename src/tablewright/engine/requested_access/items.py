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
from tablewright.expression import CompiledUpdate
from tablewright.policy.keys import (
    ENCLOSING_OPERATION,
    RETURN_CAPACITY,
    RETURN_VALUES,
    SELECT,
)
from tablewright.values import Item
from tablewright.wire import requests
from tablewright.wire.operations import Operation, touches
from tablewright.wire.statements import ExecuteStatementInput, ParameterizedStatement
from tablewright.wire.touches import Named, Touch

#: Parts of requests that have neither expressions nor other parameters.
_WITHOUT_PARAMETERS = (requests.PutRequest, requests.DeleteRequest)

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


# -- single values


def _effective_select(touch: Touch) -> tuple[str, ...]:
    """Return the Select of a read, or the equivalent of its other parameters."""
    part = touch.part
    stated: str | None = None if isinstance(touch.what, Named) else part.select
    if stated is not None:
        return (stated,)
    has_projection = part.projection is not None or bool(part.attributes_to_get)
    return _select_of(has_projection, touch.index is not None)


def _select_of(has_projection: bool, has_index: bool) -> tuple[str, ...]:
    if has_projection:
        return ("SPECIFIC_ATTRIBUTES",)
    return ("ALL_PROJECTED_ATTRIBUTES" if has_index else "ALL_ATTRIBUTES",)


def _effective_return_values(*members: str | None) -> tuple[str, ...]:
    """Return the ReturnValues of a write, including those for failed conditions, or NONE."""
    if not any(members):
        return ("NONE",)
    return tuple(dict.fromkeys(one for one in members if one not in (None, "NONE"))) or ("NONE",)


# -- the operations


def item_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the accesses of a request for items: one for each item, or each table of a batch."""
    keys: dict[str, tuple[str, ...]] = {RETURN_CAPACITY: (request.return_capacity or "NONE",)}
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


def _access(action: str, touched: list[Touch], keys: dict[str, tuple[str, ...]]) -> RequestedAccess:
    """Return the access of touches of one table, which have the same parameters."""
    first = touched[0]
    part = first.part
    if first.access == "read":
        keys = {SELECT: _effective_select(first), **keys}
    elif not isinstance(first.part, _WITHOUT_PARAMETERS):
        stated = getattr(part, "return_values", None)
        keys = {RETURN_VALUES: _effective_return_values(stated, part.return_on_failure), **keys}
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
