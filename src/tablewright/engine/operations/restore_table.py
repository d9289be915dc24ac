"""RestoreTableFromBackup: create a table from a backup.

The table can be used when the call returns. The response has the status CREATING, as in DynamoDB;
the next DescribeTable returns ACTIVE.

Order of checks, as far as it is known: the request; the backup; the target; the overrides.
"""

from __future__ import annotations

import time
from typing import Any

from tablewright.engine.backups import find_backup, restore_backup
from tablewright.engine.describe import describe, table_arn
from tablewright.engine.restoring import build_restored_schema, check_overrides
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.errors import TableAlreadyExistsException
from tablewright.schema import RestoreOrigin
from tablewright.wire.backups import RestoreTableFromBackupInput


def restore_table_from_backup(request: RestoreTableFromBackupInput) -> WriteStep:
    check_overrides(request)

    def run(context: WriteContext) -> dict[str, Any]:
        backup = find_backup(context.tx, request.backup_arn)
        require_new_table(context, request.target_name)
        origin = RestoreOrigin(table_arn(backup.table.name), time.time(), backup.arn)
        schema = build_restored_schema(request, backup.table, origin)
        restore_backup(context.catalog, context.tx, backup, schema)
        return describe_restored(context, schema.name)

    return WriteStep(run)


def require_new_table(context: WriteContext, name: str) -> None:
    if name in context.catalog.tables:
        raise TableAlreadyExistsException(f"Table already exists: {name}")


def describe_restored(context: WriteContext, name: str) -> dict[str, Any]:
    table = context.catalog.tables[name]
    return {"TableDescription": describe(table, context.count, status="CREATING")}
