"""RestoreTableFromBackup and RestoreTableToPointInTime: create a table from an earlier state.

The table can be used when the call returns. The response has the status CREATING, as in DynamoDB;
the next DescribeTable returns ACTIVE.

Order of checks, as far as it is known: the request; the source; the target; the time; the
overrides.
"""

from __future__ import annotations

import time
from typing import Any

from tablewright.engine.backups import BACKUPS, restore_backup
from tablewright.engine.describe import describe, table_arn
from tablewright.engine.recovery import restorable_times, restore_to_time
from tablewright.engine.restoring import (
    build_restored_schema,
    check_overrides,
    require_no_building_index,
)
from tablewright.engine.step import WriteContext, WriteStep
from tablewright.errors import InvalidRestoreTimeException, TableAlreadyExistsException, invalid
from tablewright.schema import RestoreOrigin
from tablewright.wire.backups import RestoreTableFromBackupInput, RestoreTableToPointInTimeInput


def restore_table_from_backup(request: RestoreTableFromBackupInput) -> WriteStep:
    check_overrides(request)

    def run(context: WriteContext) -> dict[str, Any]:
        backup = BACKUPS.require(context.tx, request.backup_arn)
        _require_new_table(context, request.target_name)
        origin = RestoreOrigin(table_arn(backup.table.name), time.time(), backup.arn)
        schema = build_restored_schema(request, backup.table, origin)
        restore_backup(context.catalog, context.tx, backup, schema)
        return _describe_restored(context, schema.name)

    return WriteStep(run)


def restore_table_to_point_in_time(request: RestoreTableToPointInTimeInput) -> WriteStep:
    source_name = request.source_name or request.source_arn
    # AWS's messages are not known for certain.
    if source_name is None or (request.source_name and request.source_arn):
        raise invalid("Exactly one of SourceTableName and SourceTableArn must be specified")
    if bool(request.use_latest_time) == (request.restore_time is not None):
        raise invalid(
            "Exactly one of UseLatestRestorableTime and RestoreDateTime must be specified"
        )
    check_overrides(request)

    def run(context: WriteContext) -> dict[str, Any]:
        source = context.find_table_for_backup(source_name)
        _require_new_table(context, request.target_name)
        earliest, latest = restorable_times(source.schema, context.streams.now())
        moment = latest if request.restore_time is None else request.restore_time
        if not earliest <= moment <= latest:
            raise InvalidRestoreTimeException(
                "An invalid restore time was specified. RestoreDateTime must be between "
                "EarliestRestorableDateTime and LatestRestorableDateTime."
            )
        require_no_building_index(source.schema)
        origin = RestoreOrigin(table_arn(source.name), moment)
        schema = build_restored_schema(request, source.schema, origin)
        restore_to_time(context.catalog, context.tx, source, schema, moment)
        return _describe_restored(context, schema.name)

    return WriteStep(run)


def _require_new_table(context: WriteContext, name: str) -> None:
    if name in context.catalog.tables:
        raise TableAlreadyExistsException(f"Table already exists: {name}")


def _describe_restored(context: WriteContext, name: str) -> dict[str, Any]:
    table = context.catalog.tables[name]
    return {"TableDescription": describe(table, context.count, status="CREATING")}
