"""DescribeTable: return the description of a table."""

from __future__ import annotations

from typing import Any

from tablewright.engine.describe import describe
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.wire.requests import DescribeTableInput


def describe_table(request: DescribeTableInput) -> ReadStep:
    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        table = context.find_table_for_control_plane(request.table_name)
        return {"Table": describe(table, context.count)}

    return ReadStep(run)
