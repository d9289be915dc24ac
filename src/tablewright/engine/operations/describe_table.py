"""DescribeTable: return the description of a table."""

from __future__ import annotations

from typing import Any

from tablewright.engine.describe import describe
from tablewright.engine.step import ReadContext, reads
from tablewright.wire.requests import DescribeTableInput


@reads
def describe_table(request: DescribeTableInput, context: ReadContext) -> dict[str, Any]:
    table = context.find_table_for_control_plane(request.table_name)
    return {"Table": describe(table, context.count)}
