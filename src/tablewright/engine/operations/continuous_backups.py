"""DescribeContinuousBackups and UpdateContinuousBackups: point-in-time recovery of a table.

As on AWS, continuous backups are always ENABLED, and point-in-time recovery is DISABLED at first.
"""

from __future__ import annotations

from typing import Any

from tablewright.engine.recovery import restorable_times, set_recovery
from tablewright.engine.step import ReadContext, WriteContext, WriteStep, reads
from tablewright.errors import invalid
from tablewright.limits import MAX_RECOVERY_DAYS
from tablewright.schema import TableSchema
from tablewright.wire.exports import DescribeContinuousBackupsInput, UpdateContinuousBackupsInput


@reads
def describe_continuous_backups(
    request: DescribeContinuousBackupsInput, context: ReadContext
) -> dict[str, Any]:
    schema = context.find_table_for_backup(request.table_name).schema
    return _describe(schema, context.streams.now())


def update_continuous_backups(request: UpdateContinuousBackupsInput) -> WriteStep:
    wanted = request.recovery
    if wanted.days is not None and not wanted.enabled:  # AWS's message is not known for certain
        raise invalid(
            "RecoveryPeriodInDays cannot be specified when PointInTimeRecoveryEnabled is false"
        )

    def run(context: WriteContext) -> dict[str, Any]:
        schema = context.find_table_for_backup(request.table_name).schema
        days = 0
        if wanted.enabled:
            days = wanted.days or (schema.recovery.days if schema.recovery else MAX_RECOVERY_DAYS)
        now = context.streams.now()
        if days != (schema.recovery.days if schema.recovery else 0):
            schema = set_recovery(context.catalog, context.tx, schema, days, now)
        return _describe(schema, now)

    return WriteStep(run)


def _describe(schema: TableSchema, now: float) -> dict[str, Any]:
    recovery: dict[str, Any] = {"PointInTimeRecoveryStatus": "DISABLED"}
    if schema.recovery is not None:
        earliest, latest = restorable_times(schema, now)
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": schema.recovery.days,
            "EarliestRestorableDateTime": earliest,
            "LatestRestorableDateTime": max(earliest, int(latest)),
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": recovery,
        }
    }
