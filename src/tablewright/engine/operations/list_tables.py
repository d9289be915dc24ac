"""ListTables: return the names of tables in order, up to 100 per page."""

from __future__ import annotations

from typing import Any

from tablewright.engine.step import ReadContext, ReadStep
from tablewright.limits import MAX_LISTED_TABLES
from tablewright.wire.requests import ListTablesInput


def list_tables(request: ListTablesInput) -> ReadStep:
    limit = request.limit or MAX_LISTED_TABLES

    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        names = sorted(context.catalog.tables)
        if request.start_name is not None:
            names = [name for name in names if name > request.start_name]
        answer: dict[str, Any] = {"TableNames": names[:limit]}
        if len(names) > limit:
            answer["LastEvaluatedTableName"] = names[limit - 1]
        return answer

    return ReadStep(run)
