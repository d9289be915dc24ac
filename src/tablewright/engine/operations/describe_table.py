"""DescribeTable: everything about a table but its items."""

from __future__ import annotations

from typing import Any

from tablewright.engine.describe import describe
from tablewright.engine.step import Read, Reading
from tablewright.wire.requests import DescribeTableInput


def describe_table(request: DescribeTableInput) -> Read:
    def run(reading: Reading) -> dict[str, Any]:
        reading.catalog.refresh(reading.snapshot)
        return {"Table": describe(reading.known_table(request.table_name), reading.snapshot.count)}

    return Read(run, costly=True)  # it counts every item
