"""DeleteTable: remove a table with its items and indexes, unless it is protected."""

from __future__ import annotations

from typing import Any

from tablewright.engine.describe import describe
from tablewright.engine.step import Write, Writing
from tablewright.errors import ValidationException
from tablewright.wire.requests import DeleteTable


def delete_table(request: DeleteTable) -> Write:
    def run(writing: Writing) -> dict[str, Any]:
        table = writing.known_table(request.table_name)
        if table.schema.deletion_protected:
            raise ValidationException(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        description = describe(table, writing.tx, status="DELETING")
        writing.catalog.remove(writing.tx, table.name)
        for tree in (table.tree, *(index.tree for index in table.indexes)):
            writing.tx.drop_tree(tree)
        return {"TableDescription": description}

    return Write(run)
