"""CreateBackup, DescribeBackup, ListBackups and DeleteBackup, and the settings of recovery.

A backup is AVAILABLE when CreateBackup returns. As on AWS, DeleteBackup returns the description
with the status DELETED, and afterwards the backup is not found.

DescribeContinuousBackups and UpdateContinuousBackups are about point-in-time recovery of a table.
As on AWS, continuous backups are always ENABLED, and point-in-time recovery is DISABLED at first.
"""

from __future__ import annotations

import time
from operator import attrgetter
from typing import Any

from tablewright.engine.archives import backups
from tablewright.engine.archives.backups import Backup
from tablewright.engine.change_log.recovery import restorable_times, set_recovery
from tablewright.engine.step import (
    ReadContext,
    ReadStep,
    WriteContext,
    WriteStep,
    reads,
    table_name,
    writes,
)
from tablewright.engine.tables.describe import (
    describe,
    present,
    round_timestamp,
    table_arn,
    take_page,
)
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import invalid
from tablewright.limits import MAX_RECOVERY_DAYS
from tablewright.schema import TableSchema
from tablewright.table_description import write_keys
from tablewright.wire.archives import (
    CreateBackupInput,
    DeleteBackupInput,
    DescribeBackupInput,
    DescribeContinuousBackupsInput,
    ListBackupsInput,
    UpdateContinuousBackupsInput,
)

MAX_LISTED_BACKUPS = 100


@writes
def create_backup(request: CreateBackupInput, context: WriteContext) -> dict[str, Any]:
    schema = context.find_table_for_backup(request.table_name).schema
    backups.require_no_building_index(schema)
    backup = backups.create_backup(
        context.catalog, context.tx, schema, request.backup_name, time.time()
    )
    return {"BackupDetails": _describe_details(backup, "AVAILABLE")}


@reads
def describe_backup(request: DescribeBackupInput, context: ReadContext) -> dict[str, Any]:
    backup = backups.BACKUPS.require(context.snapshot, request.backup_arn)
    return {"BackupDescription": _describe_backup(backup, "AVAILABLE")}


@writes
def delete_backup(request: DeleteBackupInput, context: WriteContext) -> dict[str, Any]:
    backup = backups.BACKUPS.require(context.tx, request.backup_arn)
    backups.delete_backup(context.catalog, context.tx, backup)
    return {"BackupDescription": _describe_backup(backup, "DELETED")}


def list_backups(request: ListBackupsInput) -> ReadStep:
    name = None if request.table_name is None else table_name(request.table_name)
    start_id = "" if request.start_arn is None else request.start_arn.rpartition("/")[2]

    def is_listed(backup: Backup) -> bool:
        return (
            (name is None or backup.table.name == name)
            and request.backup_type in (None, "ALL", backup.kind)
            and backup.id > start_id
            and (request.from_time is None or backup.created >= request.from_time)
            and (request.to_time is None or backup.created < request.to_time)
        )

    def run(context: ReadContext) -> dict[str, Any]:
        found = [one for one in backups.BACKUPS.read_all(context.snapshot) if is_listed(one)]
        limit = request.limit or MAX_LISTED_BACKUPS
        page, following = take_page(found, limit, LastEvaluatedBackupArn=attrgetter("arn"))
        return {"BackupSummaries": [_summarise(one) for one in page], **following}

    return ReadStep(run)


def _describe_details(backup: Backup, status: str) -> dict[str, Any]:
    return present(
        BackupArn=backup.arn,
        BackupName=backup.name,
        BackupSizeBytes=backup.size,
        BackupStatus=status,
        BackupType=backup.kind,
        BackupCreationDateTime=round_timestamp(backup.created),
        BackupExpiryDateTime=round_timestamp(backup.expires),
    )


def _summarise(backup: Backup) -> dict[str, Any]:
    return {
        "TableName": backup.table.name,
        "TableId": backup.table.id,
        "TableArn": table_arn(backup.table.name),
        **_describe_details(backup, "AVAILABLE"),
    }


def _describe_backup(backup: Backup, status: str) -> dict[str, Any]:
    schema = backup.table
    table = describe(StoredTable(schema), lambda _: (backup.items, backup.size))
    return {
        "BackupDetails": _describe_details(backup, status),
        "SourceTableDetails": present(
            TableName=schema.name,
            TableId=schema.id,
            TableArn=table_arn(schema.name),
            TableSizeBytes=backup.size,
            KeySchema=write_keys(schema.keys),
            TableCreationDateTime=round_timestamp(schema.created),
            ProvisionedThroughput=_describe_units(table),
            ItemCount=backup.items,
            BillingMode=schema.billing,
            OnDemandThroughput=table.get("OnDemandThroughput"),
        ),
        "SourceTableFeatureDetails": _describe_features(table, schema.ttl_attribute),
    }


def _describe_units(described: dict[str, Any]) -> dict[str, int] | None:
    units = described.get("ProvisionedThroughput")
    names = ("ReadCapacityUnits", "WriteCapacityUnits")
    return None if units is None else {member: units[member] for member in names}


def _describe_features(table: dict[str, Any], ttl_attribute: str | None) -> dict[str, Any]:
    """Return the SourceTableFeatureDetails of a table description."""
    ttl = {"TimeToLiveStatus": "ENABLED", "AttributeName": ttl_attribute}
    return present(
        LocalSecondaryIndexes=_describe_indexes(table.get("LocalSecondaryIndexes")),
        GlobalSecondaryIndexes=_describe_indexes(table.get("GlobalSecondaryIndexes")),
        StreamDescription=table.get("StreamSpecification"),
        TimeToLiveDescription=None if ttl_attribute is None else ttl,
        SSEDescription=table.get("SSEDescription"),
    )


def _describe_indexes(indexes: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    return indexes and [
        present(
            IndexName=index["IndexName"],
            KeySchema=index["KeySchema"],
            Projection=index["Projection"],
            ProvisionedThroughput=_describe_units(index),
            OnDemandThroughput=index.get("OnDemandThroughput"),
        )
        for index in indexes
    ]


# -- point-in-time recovery


@reads
def describe_continuous_backups(
    request: DescribeContinuousBackupsInput, context: ReadContext
) -> dict[str, Any]:
    schema = context.find_table_for_backup(request.table_name).schema
    return _describe_recovery(schema, context.streams.now())


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
        return _describe_recovery(schema, now)

    return WriteStep(run)


def _describe_recovery(schema: TableSchema, now: float) -> dict[str, Any]:
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
