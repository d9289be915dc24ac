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
from tablewright.engine.step import Read, Reading, Step, Write, Writing, table_name
from tablewright.engine.table import Table
from tablewright.engine.touches import TOUCHES, Partitions, Touch, add_value
from tablewright.policy import Access, Principal
from tablewright.policy.keys import ATTRIBUTES, LEADING_KEYS, PARTITION_KEYS, RESOURCE_TAG

Tables: TypeAlias = Mapping[str, Table]

_KEY_VALUES = frozenset((LEADING_KEYS, *PARTITION_KEYS))


def authorize(step: Step, operation: str, request: Any, principal: Principal) -> Step:
    """The step, which checks first whether the principal's policies allow the request.

    It raises AccessDeniedException when it runs.
    """

    def check(tables: Tables) -> None:
        for touch in TOUCHES[operation](request):
            principal.require(access_of(touch, tables, principal.keys_for))

    if isinstance(step, Write):
        write = step.run

        def checked_write(writing: Writing) -> Any:
            check(writing.catalog.tables)  # a writer's catalog is exact
            return write(writing)

        return Write(checked_write, step.counted)
    read = step.run

    def checked_read(reading: Reading) -> Any:
        # A readers' catalog may be old. Old keys are noticed, because a table or an index with
        # others has another tree; old tags are not.
        if principal.looks_at_resource_tags:
            reading.catalog.refresh(reading.snapshot)
        while True:
            tables = reading.catalog.tables
            check(tables)
            answer = read(reading)
            if reading.catalog.tables is tables:
                return answer

    return Read(checked_read, step.costly)


def access_of(
    touch: Touch, tables: Tables, keys_for: Callable[[str, str], frozenset[str]]
) -> Access:
    """The access that a touch means, with the condition keys that decide about it."""
    action = f"dynamodb:{touch.action}"
    resource = touch.resource
    name = ""
    if touch.table is not None:
        name = table_name(touch.table)
        resource = table_arn(name)
        if touch.index is not None:
            resource = f"{resource}/index/{touch.index}"
    wanted = keys_for(action, resource)
    keys = _keys(touch, tables.get(name), wanted) if wanted else {}
    return Access(action, resource, keys)


def _keys(touch: Touch, table: Table | None, wanted: frozenset[str]) -> dict[str, tuple[str, ...]]:
    keys = dict(touch.keys)
    if touch.attributes is not None and ATTRIBUTES in wanted:
        keys[ATTRIBUTES] = tuple(sorted(set(touch.attributes())))
    if table is not None:
        if touch.partitions is not None and not wanted.isdisjoint(_KEY_VALUES):
            keys |= _partition_keys(touch.partitions, _keys_of(table, touch.index))
        for tag, value in table.schema.tags:
            add_value(keys, RESOURCE_TAG + tag.lower(), value)
    return keys


def _keys_of(table: Table, index: str | None) -> Keys | None:
    if index is None:
        return table.keys
    found = table.by_name.get(index)
    return found.keys if found else None


def _partition_keys(partitions: Partitions, keys: Keys | None) -> dict[str, tuple[str, ...]]:
    """LeadingKeys and its companions; nothing where the operation will refuse the keys anyway."""
    found = partitions(keys) if keys else []
    parts = {
        name: tuple(dict.fromkeys(values))
        for name, values in zip(PARTITION_KEYS, zip(*found, strict=True), strict=False)
    }
    if found:
        parts[LEADING_KEYS] = parts[PARTITION_KEYS[0]]
    return parts
