"""Requests for backups, points in time, exports to S3 and imports from S3.

`requests` describes the conventions.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from tablewright.limits import MAX_RECOVERY_DAYS
from tablewright.values import Item
from tablewright.wire.constraints import (
    CAPPED,
    BillingMode,
    EnumValues,
    Length,
    Name,
    Names,
    NumberRange,
    RegularExpression,
    Structure,
    TableName,
    Timestamp,
)
from tablewright.wire.requests import (
    AttributeDefinition,
    GlobalSecondaryIndex,
    LocalSecondaryIndex,
    OnDemandThroughput,
    ProvisionedThroughput,
    SSESpecification,
    TableKeys,
)

ClientToken = Annotated[str, RegularExpression(r"^[^\$]+$")]
Bucket = Annotated[str, Length(0, 255), RegularExpression(r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$")]
BucketOwner = Annotated[str, RegularExpression("[0-9]{12}")]
Prefix = Annotated[str, Length(0, 1024)]
Compression = Annotated[str, EnumValues(("GZIP", "ZSTD", "NONE"))]
ListImportsToken = Annotated[str, Length(112, 1024), RegularExpression("([0-9a-f]{16})+")]


class IncrementalExportSpecification(Structure):
    from_time: Timestamp | None = field(name="ExportFromTime", default=None)
    to_time: Timestamp | None = field(name="ExportToTime", default=None)
    view: Annotated[str, EnumValues(("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))] | None = field(
        name="ExportViewType", default=None
    )


class FilterSpecification(Structure):
    filter: str | None = field(name="FilterExpression", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    key_condition: str | None = field(name="KeyConditionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)
    values: Item | None = field(name="ExpressionAttributeValues", default=None)


class ExportTableToPointInTimeInput(Structure):
    table_arn: TableName
    bucket: Bucket = field(name="S3Bucket")
    export_time: Timestamp | None = None
    token: ClientToken | None = field(name="ClientToken", default=None)
    bucket_owner: BucketOwner | None = field(name="S3BucketOwner", default=None)
    prefix: Prefix | None = field(name="S3Prefix", default=None)
    sse_algorithm: Annotated[str, EnumValues(("AES256", "KMS"))] | None = field(
        name="S3SseAlgorithm", default=None
    )
    sse_key: Annotated[str, Length(1, 2048)] | None = field(name="S3SseKmsKeyId", default=None)
    format: Annotated[str, EnumValues(("DYNAMODB_JSON", "ION"))] | None = field(
        name="ExportFormat", default=None
    )
    export_type: Annotated[str, EnumValues(("FULL_EXPORT", "INCREMENTAL_EXPORT"))] | None = None
    incremental: IncrementalExportSpecification | None = field(
        name="IncrementalExportSpecification", default=None
    )
    filter: FilterSpecification | None = field(name="FilterSpecification", default=None)


class DescribeExportInput(Structure):
    export_arn: RecordArn


class ListExportsInput(Structure):
    table_arn: TableName | None = None
    limit: Annotated[int, NumberRange(1, 25)] | None = field(name="MaxResults", default=None)
    next_token: str | None = None


class S3BucketSource(Structure):
    bucket: Bucket = field(name="S3Bucket")
    bucket_owner: BucketOwner | None = field(name="S3BucketOwner", default=None)
    prefix: Prefix | None = field(name="S3KeyPrefix", default=None)


class CsvOptions(Structure):
    delimiter: Annotated[str, Length(1, 1), RegularExpression(r"[,;:|\t ]")] | None = None
    header_list: (
        Annotated[
            list[
                Annotated[
                    str, Length(1, 65536), RegularExpression(r"[\x20-\x21\x23-\x2B\x2D-\x7E]*")
                ]
            ],
            Length(1, 255),
        ]
        | None
    ) = None


class InputFormatOptions(Structure):
    csv: CsvOptions | None = None


class TableCreationParameters(Structure):
    table_name: Name
    attribute_definitions: Annotated[list[AttributeDefinition], CAPPED]
    key_schema: TableKeys
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    sse_specification: SSESpecification | None = field(name="SSESpecification", default=None)
    global_indexes: Annotated[list[GlobalSecondaryIndex], CAPPED] | None = field(
        name="GlobalSecondaryIndexes", default=None
    )


class ImportTableInput(Structure):
    source: S3BucketSource = field(name="S3BucketSource")
    format: Annotated[str, EnumValues(("DYNAMODB_JSON", "ION", "CSV"))] = field(name="InputFormat")
    table: TableCreationParameters = field(name="TableCreationParameters")
    token: ClientToken | None = field(name="ClientToken", default=None)
    format_options: InputFormatOptions | None = field(name="InputFormatOptions", default=None)
    compression: Compression | None = field(name="InputCompressionType", default=None)


class DescribeImportInput(Structure):
    import_arn: RecordArn


class ListImportsInput(Structure):
    table_arn: TableName | None = None
    limit: Annotated[int, NumberRange(1, 25)] | None = field(name="PageSize", default=None)
    next_token: ListImportsToken | None = None


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
