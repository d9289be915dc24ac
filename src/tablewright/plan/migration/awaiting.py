"""Awaiting: steps of a migration that a template does, and that an executor only waits for.

A table that belongs to a stack must not be changed by anything else: the next update of the stack
would undo it, or fail. So the executor polls the table until it is as the step makes it. It waits
as long as that takes, because a person may have to deploy the template.
"""

from __future__ import annotations

import msgspec

from tablewright.errors import MigrationRefused, TableNotFound
from tablewright.plan.migration.steps import MigrationStep, StepName
from tablewright.plan.plan import Request, Steps
from tablewright.table_description import TableDescription, read_ttl
from tablewright.transport.tables import describe_table, index_states

#: What each step that a template can do awaits, for people.
AWAITS: dict[StepName, str] = {
    "create-index": "the index {part}, until it is ACTIVE",
    "delete-index": "the deletion of the index {part}",
    "enable-stream": "the stream, with {part}",
    "disable-stream": "the end of the stream",
    "enable-ttl": "TTL by the attribute {part}",
    "disable-ttl": "the end of TTL",
}
#: The delays between two looks at the table, in seconds. An executor that reports nothing for
#: `LEASE_SECONDS` is taken for dead, so the longest is shorter.
FIRST_DELAY = 0.25
LONGEST_DELAY = 10.0


def awaited(step: MigrationStep) -> str:
    """Return what a step awaits from a template; "" if no template can do it."""
    return AWAITS[step.name].format(part=step.part) if step.name in AWAITS else ""


def is_reached(step: MigrationStep, name: str) -> Steps[bool]:
    """Return whether a table is as a step makes it.

    Raises MigrationRefused if the template has another stream or another TTL attribute.
    """
    found = yield from describe_table(name)
    if found is None:
        raise TableNotFound(f"the table {name!r} was deleted while it was being migrated")
    match step.name:
        case "create-index":
            return index_states(found).get(step.part) == "ACTIVE"
        case "delete-index":
            return step.part not in found.index_names
        case "enable-stream":
            return _is_enabled(found, "stream", found.stream, step.part)
        case "disable-stream":
            return found.stream is None
        case "enable-ttl" | "disable-ttl":
            answer = yield Request("DescribeTimeToLive", {"TableName": name})
            ttl = read_ttl(msgspec.json.decode(answer))
            return (
                ttl is None
                if step.name == "disable-ttl"
                else _is_enabled(found, "TTL", ttl, step.part)
            )
    return True


def _is_enabled(found: TableDescription, what: str, value: str | None, wanted: str) -> bool:
    if value not in (None, wanted):
        raise MigrationRefused(
            f"the table {found.name!r} has the {what} {value}, and the design declares {wanted}; "
            "correct the template, or the design"
        )
    return value is not None
