"""Requests for backups and for points in time. See `requests` for the conventions."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from tablewright.limits import MAX_RECOVERY_DAYS
from tablewright.wire.constraints import EnumValues, Length, NumberRange
from tablewright.wire.members import (
    CAPPED,
    BillingMode,
    Name,
    Structure,
    TableName,
    Timestamp,
)
from tablewright.wire.requests import (
    GlobalSecondaryIndex,
    LocalSecondaryIndex,
    OnDemandThroughput,
    ProvisionedThroughput,
    SSESpecification,
)

RecordArn = Annotated[str, Length(37, 1024)]


class CreateBackupInput(Structure):
    table_name: TableName
    backup_name: Name


class DescribeBackupInput(Structure):
    backup_arn: RecordArn


class DeleteBackupInput(Structure):
    backup_arn: RecordArn


class ListBackupsInput(Structure):
    table_name: TableName | None = None
    limit: Annotated[int, NumberRange(1, 100)] | None = None
    from_time: Timestamp | None = field(name="TimeRangeLowerBound", default=None)
    to_time: Timestamp | None = field(name="TimeRangeUpperBound", default=None)
    start_arn: RecordArn | None = field(name="ExclusiveStartBackupArn", default=None)
    backup_type: Annotated[str, EnumValues(("USER", "SYSTEM", "AWS_BACKUP", "ALL"))] | None = None


class RestoreInput(Structure, kw_only=True):
    """The members that RestoreTableFromBackup and RestoreTableToPointInTime share."""

    target_name: Name = field(name="TargetTableName")
    billing_mode: BillingMode | None = field(name="BillingModeOverride", default=None)
    global_indexes: Annotated[list[GlobalSecondaryIndex], CAPPED] | None = field(
        name="GlobalSecondaryIndexOverride", default=None
    )
    local_indexes: Annotated[list[LocalSecondaryIndex], CAPPED] | None = field(
        name="LocalSecondaryIndexOverride", default=None
    )
    provisioned_throughput: ProvisionedThroughput | None = field(
        name="ProvisionedThroughputOverride", default=None
    )
    on_demand_throughput: OnDemandThroughput | None = field(
        name="OnDemandThroughputOverride", default=None
    )
    sse_specification: SSESpecification | None = field(
        name="SSESpecificationOverride", default=None
    )


class RestoreTableFromBackupInput(RestoreInput, kw_only=True):
    backup_arn: RecordArn


class RestoreTableToPointInTimeInput(RestoreInput, kw_only=True):
    source_arn: TableName | None = field(name="SourceTableArn", default=None)
    source_name: Name | None = field(name="SourceTableName", default=None)
    use_latest_time: bool | None = field(name="UseLatestRestorableTime", default=None)
    restore_time: Timestamp | None = field(name="RestoreDateTime", default=None)


class DescribeContinuousBackupsInput(Structure):
    table_name: TableName


class PointInTimeRecoverySpecification(Structure):
    enabled: bool = field(name="PointInTimeRecoveryEnabled")
    days: Annotated[int, NumberRange(1, MAX_RECOVERY_DAYS)] | None = field(
        name="RecoveryPeriodInDays", default=None
    )


class UpdateContinuousBackupsInput(Structure):
    table_name: TableName
    recovery: PointInTimeRecoverySpecification = field(name="PointInTimeRecoverySpecification")
