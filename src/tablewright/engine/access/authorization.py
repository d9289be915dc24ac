"""Authorization: check the policies of the caller and of the table before a step runs.

`requested_access` lists the accesses that a request needs. With the catalog, each requested access
becomes an `AccessRequest`: an action, a resource and condition keys, which the policies
allow or deny.

Order: first all checks of the request that need no table; then this check; then the operation looks
up its table. So a caller without permission learns nothing about tables.

Invariants:
- The check and the operation see the same tables: the check runs in the snapshot or transaction of
  the operation, and again if the tables have changed in between. So a policy applies to the next
  request of every process that has the file open.
- A resource has the name that the operation uses: a TableName that is an ARN of another region
  means the table of this engine, and is checked as that table.
- A condition key that is expensive to compute is computed only if a statement reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec.structs import replace

from tablewright.engine.access.account_scope import AccountScope
from tablewright.engine.access.requested_access import (
    RequestedAccess,
    add_value,
    requested_accesses,
)
from tablewright.engine.step import (
    LongContext,
    LongStep,
    ReadContext,
    ReadStep,
    Step,
    WriteContext,
    WriteStep,
    table_name,
    wrap,
)
from tablewright.engine.tables.describe import table_arn
from tablewright.engine.tables.table import Keys, StoredTable
from tablewright.errors import AccessDeniedException, DynamoDBError
from tablewright.policy import AccessRequest, Principal, ResourcePolicy, parse_resource_policy
from tablewright.policy.condition import (
    ATTRIBUTES,
    FULL_TABLE_SCAN,
    LEADING_KEYS,
    PARTITION_KEYS,
    RESOURCE_TAG,
)
from tablewright.wire.operations import READS
from tablewright.wire.partiql import BatchExecuteStatementInput, BatchExecuteStatementOutput

StoredTables: TypeAlias = Mapping[str, StoredTable]

#: Policies are parsed once; a file has few of them.
_parse_policy = lru_cache(256)(parse_resource_policy)
_KEY_VALUES = frozenset((LEADING_KEYS, *PARTITION_KEYS))


def authorize(
    step: Step,
    operation: str,
    request: Any,
    principal: Principal,
    scope: AccountScope | None = None,
) -> Step:
    """Return a step that checks the principal's policies and then runs `step`.

    It raises AccessDeniedException if they do not allow the request. Policies are about resources
    with the region and the account of the engine's `scope`.
    """

    def check(tables: StoredTables) -> None:
        require_access(operation, request, principal, tables, scope)

    if isinstance(step, WriteStep):

        def checked_write(run: Any, context: WriteContext) -> Any:
            check(context.catalog.tables)  # the writer's catalog is always current
            return run(context)

        return wrap(step, checked_write)
    if isinstance(step, LongStep):

        def checked_work(run: Any, context: LongContext) -> Any:
            context.read(lambda reading: check(reading.catalog.tables))
            return run(context)

        return wrap(step, checked_work)
    # After reading rows SQLite knows whether another connection has committed: asking for it takes
    # 0.1 µs, reading the catalog's generation 2.6 µs (a GetItem takes 24 µs here).
    reads_rows = operation in READS

    def checked_read(read: Any, context: ReadContext) -> Any:
        # The readers' catalog can be out of date. Old keys are detected, because a table or index
        # with other keys has another tree; old policies and tags are not.
        if not reads_rows:
            context.catalog.refresh(context.snapshot)
        while True:
            tables = context.catalog.tables
            check(tables)
            answer = read(context)
            if reads_rows:
                context.catalog.refresh_after_read(context.snapshot)
            if context.catalog.tables is tables:
                return answer

    return wrap(step, checked_read)


def require_access(
    operation: str,
    request: Any,
    principal: Principal,
    tables: StoredTables,
    scope: AccountScope | None,
) -> None:
    """Raise AccessDeniedException unless the policies allow the request."""
    for requested in requested_accesses(operation, request):
        attached = find_policy(requested, tables)
        access = resolve_access(requested, tables, principal.keys_for, attached, scope)
        principal.require(access, attached)


def find_policy(requested: RequestedAccess, tables: StoredTables) -> ResourcePolicy | None:
    """Return the policy of the requested table or stream; an index has that of its table."""
    name = requested.table
    stream = None
    if name is None and "/stream/" in requested.resource:
        name = requested.resource
        stream = name.rpartition("/stream/")[2]
    table = tables.get(table_name(name)) if name is not None else None
    if table is None or not table.schema.policies:
        return None
    texts = [attached.text for attached in table.schema.policies if attached.stream == stream]
    return _parse_policy(texts[0]) if texts else None


def resolve_access(
    requested: RequestedAccess,
    tables: StoredTables,
    keys_for: Callable[[str, str], frozenset[str]],
    attached: ResourcePolicy | None = None,
    scope: AccountScope | None = None,
) -> AccessRequest:
    """Resolve a requested access, with the condition keys that the decision depends on."""
    action = f"dynamodb:{requested.action}"
    resource = requested.resource
    name = ""
    if requested.table is not None:
        name = table_name(requested.table)
        resource = table_arn(name)
        if requested.index is not None:
            resource = f"{resource}/index/{requested.index}"
    if scope is not None:
        resource = scope.show(resource)
    wanted = keys_for(action, resource)
    if attached is not None:
        wanted |= attached.keys
    keys = _condition_keys(requested, tables.get(name), wanted) if wanted else {}
    return AccessRequest(action, resource, keys)


def _condition_keys(
    requested: RequestedAccess, table: StoredTable | None, wanted: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    keys = dict(requested.keys)
    if requested.attributes is not None and ATTRIBUTES in wanted:
        keys[ATTRIBUTES] = tuple(sorted(set(requested.attributes())))
    if table is not None:
        if requested.has_partitions and not wanted.isdisjoint(_KEY_VALUES):
            keys |= _partition_key_values(requested, find_keys(table, requested.index))
        if requested.is_full_scan is not None and FULL_TABLE_SCAN in wanted:
            source_keys = find_keys(table, requested.index)
            is_scan = source_keys is not None and requested.is_full_scan(source_keys)
            keys[FULL_TABLE_SCAN] = ("true" if is_scan else "false",)
        for tag, value in table.schema.tags:
            add_value(keys, RESOURCE_TAG + tag.lower(), value)
    return keys


def find_keys(table: StoredTable, index: str | None) -> Keys | None:
    """Return the keys of a table or of one of its indexes; None if the index is missing."""
    if index is None:
        return table.keys
    found = table.indexes_by_name.get(index)
    return found.keys if found else None


def _partition_key_values(
    requested: RequestedAccess, keys: Keys | None
) -> dict[str, tuple[str, ...]]:
    """Return LeadingKeys and its variants; nothing if the operation will reject the keys."""
    found = requested.read_partitions(keys) if keys else []
    if not found:
        return {}
    if len(found) == 1 == len(found[0]):  # the usual request, in a quarter of the time
        return dict.fromkeys((PARTITION_KEYS[0], LEADING_KEYS), found[0])
    parts = {
        name: tuple(dict.fromkeys(values))
        for name, values in zip(PARTITION_KEYS, zip(*found, strict=True), strict=False)
    }
    parts[LEADING_KEYS] = parts[PARTITION_KEYS[0]]
    return parts


# -- BatchExecuteStatement: a statement that is not allowed has an error of its own


def authorize_batch(
    step: Step,
    prepare: Callable[[object], Step],
    body: Any,
    request: Any,
    principal: Principal,
    scope: AccountScope | None = None,
) -> Step:
    """Return a step that runs the allowed statements of a batch.

    The responses are in the order of the request, with the errors of the other statements.
    `step` runs the whole batch; `prepare` returns the step of a batch with fewer statements, from
    JSON such as `body`, which is the JSON of the request.
    """
    assert isinstance(request, BatchExecuteStatementInput)

    def run(context: ReadContext) -> Any:
        denied = _find_denied(request, principal, context.catalog.tables, scope)
        return run_allowed(context, denied) if denied else _run(step, context)

    def run_allowed(context: ReadContext, denied: dict[int, DynamoDBError]) -> Any:
        statements = enumerate(body["Statements"])
        allowed = [statement for number, statement in statements if number not in denied]
        answer = BatchExecuteStatementOutput(responses=[])
        if allowed:
            answer = _run(prepare(body | {"Statements": allowed}), context)
        from tablewright.engine.operations.statements import merge_errors  # with statements only

        return merge_errors(answer, denied)

    if isinstance(step, WriteStep):
        return WriteStep(run)

    def read(context: ReadContext) -> Any:
        context.catalog.refresh(context.snapshot)  # old tags and policies are not detected
        while True:
            tables = context.catalog.tables
            answer = run(context)
            if context.catalog.tables is tables:
                return answer

    return ReadStep(read)


def _run(step: Step, context: Any) -> BatchExecuteStatementOutput:
    assert isinstance(step, ReadStep | WriteStep)
    answer: BatchExecuteStatementOutput = step.run(context)
    return answer


def _find_denied(
    request: BatchExecuteStatementInput,
    principal: Principal,
    tables: StoredTables,
    scope: AccountScope | None,
) -> dict[int, DynamoDBError]:
    """Return the faults of the statements that the policies do not allow, by their numbers."""
    denied: dict[int, DynamoDBError] = {}
    for number, statement in enumerate(request.statements):
        one = replace(request, statements=[statement])
        try:
            require_access("BatchExecuteStatement", one, principal, tables, scope)
        except AccessDeniedException as fault:
            denied[number] = fault
    return denied
