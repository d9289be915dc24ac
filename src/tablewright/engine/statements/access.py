"""The access that a statement needs: its IAM action, table, index, key values and attributes.

The partition key values, and whether the statement is a full scan, depend on the keys of the table
or index, so they are functions of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tablewright.engine.access.requested_access import (
    ConditionKeys,
    RequestedAccess,
    effective_return_values,
    effective_select,
    format_keys,
)
from tablewright.engine.statements.prepared import (
    PreparedStatement,
    key_values,
    prepare_statement,
    returned_values,
)
from tablewright.engine.statements.where import find_branches, find_key
from tablewright.engine.tables.table import Keys
from tablewright.errors import ValidationException
from tablewright.partiql import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    SelectStatement,
    UpdateStatement,
)
from tablewright.policy.condition import RETURN_VALUES, SELECT
from tablewright.values import Item, Value
from tablewright.wire.partiql import ParameterizedStatement

_ACTIONS: dict[type, str] = {
    SelectStatement: "PartiQLSelect",
    ExistsStatement: "PartiQLSelect",
    InsertStatement: "PartiQLInsert",
    UpdateStatement: "PartiQLUpdate",
    DeleteStatement: "PartiQLDelete",
}


def statement_access(request: ParameterizedStatement, keys: ConditionKeys) -> RequestedAccess:
    """Return the access of one statement; `keys` are the condition keys of its request."""
    prepared = prepare_statement(request.text)
    statement = prepared.statement
    index = prepared.index_name
    action = _ACTIONS[type(statement)]
    is_select = action == "PartiQLSelect"
    own: ConditionKeys
    if is_select:
        own = {SELECT: effective_select(prepared.projection is not None, index is not None)}
    else:
        returning = (
            returned_values(statement)
            if isinstance(statement, UpdateStatement | DeleteStatement)
            else None
        )
        own = {RETURN_VALUES: effective_return_values(returning, request.return_on_failure)}
    values = prepared.bind(request.parameters)
    find_items = partial(_find_items, prepared, values)
    return RequestedAccess(
        action,
        prepared.table_name,
        index,
        partitions=lambda found: format_keys(find_items(found), found.schema.partition),
        attributes=partial(_attribute_names, prepared, values),
        is_full_scan=(lambda found: not find_items(found)) if is_select else None,
        keys=own | keys,
    )


def _attribute_names(prepared: PreparedStatement, values: Mapping[str, Value]) -> set[str]:
    """Return the top-level attributes that a statement names."""
    if isinstance(prepared.statement, InsertStatement):
        return set(_inserted(prepared.statement, values))
    parts = (prepared.where, prepared.update, prepared.projection)
    return {name for part in parts if part is not None for name in part.names}


def _find_items(prepared: PreparedStatement, values: Mapping[str, Value], keys: Keys) -> list[Item]:
    """Return the key attributes that a statement determines, for each partition."""
    statement = prepared.statement
    if isinstance(statement, InsertStatement):
        return [_inserted(statement, values)]
    where = prepared.where.tree if prepared.where else None
    try:
        if isinstance(statement, UpdateStatement | DeleteStatement):
            key, _ = find_key(where, keys.names)
            return [key_values(key, values)]
        branches = find_branches(where, keys.partition_names, keys.sort_names)
    except ValidationException:  # the operation raises it if the statement is allowed
        return []
    partition = len(keys.partition_names)
    return [key_values(branch.key[:partition], values) for branch in branches]


def _inserted(statement: InsertStatement, values: Mapping[str, Value]) -> Item:
    item: Item = values[statement.item.name]["M"]
    return item
