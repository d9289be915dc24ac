"""What a plan consumes on the engine, compared with the range that `explain` states."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from tablewright import explain
from tablewright.database import Database
from tablewright.observe import RequestEvent
from tablewright.plans import Plan

T = TypeVar("T")

READS = ("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems")


def run_within_range(
    db: Database, plan: Plan[T], items: int = 0, *, events: list[RequestEvent] | None = None
) -> T:
    """Run a plan, and check that its units are in the ranges of its shape, for so many items.

    Add each request to `events`.
    """
    units: dict[bool, float] = {True: 0, False: 0}

    def observe(event: RequestEvent) -> None:
        units[event.operation in READS] += event.units
        if events is not None:
            events.append(event)

    shape = explain(plan)
    observed: Any = Database(
        db._transport, msgspec.structs.replace(db._context, observe=observe), db._tables
    )
    result: T = observed.run(plan)
    reads, writes = shape.read_range.for_items(items), shape.write_range.for_items(items)
    assert units[True] in reads, f"{units[True]} read units: {shape}"
    assert units[False] in writes, f"{units[False]} write units: {shape}"
    return result
