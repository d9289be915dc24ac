"""Requests for backups, points in time, exports to S3 and imports from S3.

`requests` describes the conventions.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from tablewright.limits import MAX_RECOVERY_DAYS
from tablewright.values import Item
from tablewright.wire.constraints import (
    BillingMode,
    Capped,
    EnumValues,
    Length,
    Name,
    Names,
    NumberRange,
    RegularExpression,
    Structure,
    TableName,
    Timestamp,
    Unsupported,
    optional,
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
    from_time: Timestamp | None = optional("ExportFromTime")
    to_time: Timestamp | None = optional("ExportToTime")
    view: Annotated[str, EnumValues(("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))] | None = optional(
        "ExportViewType"
    )


class FilterSpecification(Structure):
    filter: str | None = optional("FilterExpression")
    projection: str | None = optional("ProjectionExpression")
    key_condition: str | None = optional("KeyConditionExpression")
    names: Names | None = optional("ExpressionAttributeNames")
    values: Item | None = optional("ExpressionAttributeValues")


class ExportTableToPointInTimeInput(Structure):
    table_arn: TableName
    bucket: Bucket = field(name="S3Bucket")
    export_time: Timestamp | None = None
    token: ClientToken | None = optional("ClientToken")
    bucket_owner: BucketOwner | None = optional("S3BucketOwner")
    prefix: Prefix | None = optional("S3Prefix")
    sse_algorithm: Annotated[str, EnumValues(("AES256", "KMS"))] | None = optional("S3SseAlgorithm")
    sse_key: Annotated[str, Length(1, 2048)] | None = optional("S3SseKmsKeyId")
    format: Annotated[str, EnumValues(("DYNAMODB_JSON", "ION"))] | None = optional("ExportFormat")
    export_type: Annotated[str, EnumValues(("FULL_EXPORT", "INCREMENTAL_EXPORT"))] | None = None
    incremental: IncrementalExportSpecification | None = optional("IncrementalExportSpecification")
    filter: FilterSpecification | None = optional("FilterSpecification")


class DescribeExportInput(Structure):
    export_arn: RecordArn


class ListExportsInput(Structure):
    table_arn: TableName | None = None
    limit: Annotated[int, NumberRange(1, 25)] | None = optional("MaxResults")
    next_token: str | None = None


class S3BucketSource(Structure):
    bucket: Bucket = field(name="S3Bucket")
    bucket_owner: BucketOwner | None = optional("S3BucketOwner")
    prefix: Prefix | None = optional("S3KeyPrefix")


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
    attribute_definitions: Capped[AttributeDefinition]
    key_schema: TableKeys
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    sse_specification: SSESpecification | None = optional("SSESpecification")
    global_indexes: Capped[GlobalSecondaryIndex] | None = optional("GlobalSecondaryIndexes")
    # A member of a feature that this engine does not have; the operation refuses it.
    vector_indexes: Capped[Unsupported] | None = None


class ImportTableInput(Structure):
    source: S3BucketSource = field(name="S3BucketSource")
    format: Annotated[str, EnumValues(("DYNAMODB_JSON", "ION", "CSV"))] = field(name="InputFormat")
    table: TableCreationParameters = field(name="TableCreationParameters")
    token: ClientToken | None = optional("ClientToken")
    format_options: InputFormatOptions | None = optional("InputFormatOptions")
    compression: Compression | None = optional("InputCompressionType")


class DescribeImportInput(Structure):
    import_arn: RecordArn


class ListImportsInput(Structure):
    table_arn: TableName | None = None
    limit: Annotated[int, NumberRange(1, 25)] | None = optional("PageSize")
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
    from_time: Timestamp | None = optional("TimeRangeLowerBound")
    to_time: Timestamp | None = optional("TimeRangeUpperBound")
    start_arn: RecordArn | None = optional("ExclusiveStartBackupArn")
    backup_type: Annotated[str, EnumValues(("USER", "SYSTEM", "AWS_BACKUP", "ALL"))] | None = None


class RestoreInput(Structure, kw_only=True):
    """The members that RestoreTableFromBackup and RestoreTableToPointInTime share."""

    target_name: Name = field(name="TargetTableName")
    billing_mode: BillingMode | None = optional("BillingModeOverride")
    global_indexes: Capped[GlobalSecondaryIndex] | None = optional("GlobalSecondaryIndexOverride")
    local_indexes: Capped[LocalSecondaryIndex] | None = optional("LocalSecondaryIndexOverride")
    provisioned_throughput: ProvisionedThroughput | None = optional("ProvisionedThroughputOverride")
    on_demand_throughput: OnDemandThroughput | None = optional("OnDemandThroughputOverride")
    sse_specification: SSESpecification | None = optional("SSESpecificationOverride")
    # A member of a feature that this engine does not have; the operations refuse it.
    vector_indexes: Capped[Unsupported] | None = optional("VectorIndexOverride")


class RestoreTableFromBackupInput(RestoreInput, kw_only=True):
    backup_arn: RecordArn


class RestoreTableToPointInTimeInput(RestoreInput, kw_only=True):
    source_arn: TableName | None = optional("SourceTableArn")
    source_name: Name | None = optional("SourceTableName")
    use_latest_time: bool | None = optional("UseLatestRestorableTime")
    restore_time: Timestamp | None = optional("RestoreDateTime")


class DescribeContinuousBackupsInput(Structure):
    table_name: TableName


class PointInTimeRecoverySpecification(Structure):
    enabled: bool = field(name="PointInTimeRecoveryEnabled")
    days: Annotated[int, NumberRange(1, MAX_RECOVERY_DAYS)] | None = optional(
        "RecoveryPeriodInDays"
    )


class UpdateContinuousBackupsInput(Structure):
    table_name: TableName
    recovery: PointInTimeRecoverySpecification = field(name="PointInTimeRecoverySpecification")
