"""DescribeTable, ListTables and DeleteTable.

A table no longer exists when DeleteTable returns. The rows of a large table are deleted in the
background; a table with the same name can be created meanwhile. Its stream is closed and can be
read until its records are trimmed.
"""

from __future__ import annotations

import time
from typing import Any

from tablewright.engine.change_log.streams import close_streams
from tablewright.engine.maintenance import delete_tree
from tablewright.engine.step import ReadContext, WriteContext, reads, writes
from tablewright.engine.tables.describe import describe, describe_deleted, take_page
from tablewright.errors import ResourceInUseException, ValidationException
from tablewright.limits import MAX_LISTED_TABLES
from tablewright.wire.requests import DeleteTableInput, DescribeTableInput, ListTablesInput


@reads
def list_tables(request: ListTablesInput, context: ReadContext) -> dict[str, Any]:
    names = [name for name in sorted(context.catalog.tables) if name > (request.start_name or "")]
    page, following = take_page(
        names, request.limit or MAX_LISTED_TABLES, LastEvaluatedTableName=str
    )
    return {"TableNames": page, **following}


@reads
def describe_table(request: DescribeTableInput, context: ReadContext) -> dict[str, Any]:
    table = context.find_table_for_control_plane(request.table_name)
    return {"Table": describe(table, context.count)}


@writes
def delete_table(request: DeleteTableInput, context: WriteContext) -> dict[str, Any]:
    table = context.find_table_for_control_plane(request.table_name)
    if table.schema.deletion_protected:
        raise ValidationException(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    if table.schema.is_building_index:
        raise ResourceInUseException(
            "Attempt to change a resource which is still in use: "
            "Cannot delete table while indexes are being created, updated, or deleted."
        )
    description = describe_deleted(table, context.count)
    catalog, tx, schema, now = context.catalog, context.tx, table.schema, time.time()
    close_streams(catalog, tx, schema, now)
    if schema.recovery is not None:
        from tablewright.engine.archives.backups import keep_deleted_table  # few tables need it

        keep_deleted_table(catalog, tx, schema, context.count(table.tree), now)
    else:
        for tree in schema.trees:
            delete_tree(catalog, tx, tree)
    catalog.remove_table(tx, table.name)
    return {"TableDescription": description}
