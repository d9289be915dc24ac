"""ListTables: return the names of tables in order, up to 100 per page."""

from __future__ import annotations

from typing import Any

from tablewright.engine.step import ReadContext, reads
from tablewright.limits import MAX_LISTED_TABLES
from tablewright.wire.requests import ListTablesInput


@reads
def list_tables(request: ListTablesInput, context: ReadContext) -> dict[str, Any]:
    limit = request.limit or MAX_LISTED_TABLES
    names = sorted(context.catalog.tables)
    if request.start_name is not None:
        names = [name for name in names if name > request.start_name]
    answer: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
