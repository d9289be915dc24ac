"""Authorization: a step that first asks the caller's policies.

`touches` says what a request means to do. With the tables there are, each touch becomes an
`Access`: an action, a resource and condition keys, which the policies allow or deny.

Order: a request is parsed and checked as far as that needs no table; then this check; then the
operation looks for its table. So a caller without permission learns nothing about tables.

Invariants:
- The check and the operation see the same tables. It runs in the operation's snapshot or
  transaction, and again where the tables have changed meanwhile.
- Resources are named by what the operation will use: a TableName that is an ARN of another region
  or account is this engine's table, and is checked as such.
- The keys that need work are computed only where a statement about the access looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tablewright.engine.describe import table_arn
from tablewright.engine.keys import Keys
from tablewright.engine.requested_access import (
    REQUESTED_ACCESSES,
    PartitionReader,
    RequestedAccess,
    add_value,
)
from tablewright.engine.step import ReadContext, ReadStep, Step, WriteContext, WriteStep, table_name
from tablewright.engine.table import StoredTable
from tablewright.policy import AccessRequest, Principal
from tablewright.policy.keys import ATTRIBUTES, LEADING_KEYS, PARTITION_KEYS, RESOURCE_TAG

StoredTables: TypeAlias = Mapping[str, StoredTable]

_KEY_VALUES = frozenset((LEADING_KEYS, *PARTITION_KEYS))


def authorize(step: Step, operation: str, request: Any, principal: Principal) -> Step:
    """The step, which checks first whether the principal's policies allow the request.

    It raises AccessDeniedException when it runs.
    """

    def check(tables: StoredTables) -> None:
        for requested in REQUESTED_ACCESSES[operation](request):
            principal.require(resolve_access(requested, tables, principal.keys_for))

    if isinstance(step, WriteStep):
        write = step.run

        def checked_write(context: WriteContext) -> Any:
            check(context.catalog.tables)  # a writer's catalog is exact
            return write(context)

        return WriteStep(checked_write, step.counted_table)
    read = step.run

    def checked_read(context: ReadContext) -> Any:
        # A readers' catalog may be old. Old keys are noticed, because a table or an index with
        # others has another tree; old tags are not.
        if principal.uses_resource_tags:
            context.catalog.refresh(context.snapshot)
        while True:
            tables = context.catalog.tables
            check(tables)
            answer = read(context)
            if context.catalog.tables is tables:
                return answer

    return ReadStep(checked_read, step.is_costly)


def resolve_access(
    requested: RequestedAccess, tables: StoredTables, keys_for: Callable[[str, str], frozenset[str]]
) -> AccessRequest:
    """The access that a touch means, with the condition keys that decide about it."""
    action = f"dynamodb:{requested.action}"
    resource = requested.resource
    name = ""
    if requested.table is not None:
        name = table_name(requested.table)
        resource = table_arn(name)
        if requested.index is not None:
            resource = f"{resource}/index/{requested.index}"
    wanted = keys_for(action, resource)
    keys = _condition_keys(requested, tables.get(name), wanted) if wanted else {}
    return AccessRequest(action, resource, keys)


def _condition_keys(
    requested: RequestedAccess, table: StoredTable | None, wanted: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    keys = dict(requested.keys)
    if requested.attributes is not None and ATTRIBUTES in wanted:
        keys[ATTRIBUTES] = tuple(sorted(set(requested.attributes())))
    if table is not None:
        if requested.partitions is not None and not wanted.isdisjoint(_KEY_VALUES):
            keys |= _partition_key_values(requested.partitions, _find_keys(table, requested.index))
        for tag, value in table.schema.tags:
            add_value(keys, RESOURCE_TAG + tag.lower(), value)
    return keys


def _find_keys(table: StoredTable, index: str | None) -> Keys | None:
    if index is None:
        return table.keys
    found = table.indexes_by_name.get(index)
    return found.keys if found else None


def _partition_key_values(
    partitions: PartitionReader, keys: Keys | None
) -> dict[str, tuple[str, ...]]:
    """LeadingKeys and its companions; nothing where the operation will refuse the keys anyway."""
    found = partitions(keys) if keys else []
    parts = {
        name: tuple(dict.fromkeys(values))
        for name, values in zip(PARTITION_KEYS, zip(*found, strict=True), strict=False)
    }
    if found:
        parts[LEADING_KEYS] = parts[PARTITION_KEYS[0]]
    return parts
