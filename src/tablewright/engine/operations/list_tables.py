"""ListTables: return the names of tables in order, up to 100 per page."""

from __future__ import annotations

from typing import Any

from tablewright.engine.describe import take_page
from tablewright.engine.step import ReadContext, reads
from tablewright.limits import MAX_LISTED_TABLES
from tablewright.wire.requests import ListTablesInput


@reads
def list_tables(request: ListTablesInput, context: ReadContext) -> dict[str, Any]:
    names = [name for name in sorted(context.catalog.tables) if name > (request.start_name or "")]
    page, following = take_page(
        names, request.limit or MAX_LISTED_TABLES, LastEvaluatedTableName=str
    )
    return {"TableNames": page, **following}
