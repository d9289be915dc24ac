"""ListTables: the names of tables, in order, up to 100 at a time."""

from __future__ import annotations

from typing import Any

from tablewright.engine.step import Read, Reading
from tablewright.limits import MAX_LISTED_TABLES
from tablewright.wire.requests import ListTablesInput


def list_tables(request: ListTablesInput) -> Read:
    most = request.limit or MAX_LISTED_TABLES

    def run(reading: Reading) -> dict[str, Any]:
        reading.catalog.refresh(reading.snapshot)
        names = sorted(reading.catalog.tables)
        if request.start_name is not None:
            names = [name for name in names if name > request.start_name]
        answer: dict[str, Any] = {"TableNames": names[:most]}
        if len(names) > most:
            answer["LastEvaluatedTableName"] = names[most - 1]
        return answer

    return Read(run)
