"""Requests about settings of tables that have operations of their own.

    resource policies       PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy
    Contributor Insights    UpdateContributorInsights, DescribeContributorInsights, List...
    Kinesis destinations    Enable-, Disable-, Update-, DescribeKinesisStreamingDestination
    global tables           all of them are refused, or answer that there are none

`requests` describes the conventions.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from tablewright.wire.constraints import (
    Capped,
    EnumValues,
    IndexName,
    Length,
    Name,
    NumberRange,
    ResourceArn,
    Structure,
    TableName,
    Unsupported,
    optional,
)

RevisionId = Annotated[str, Length(1, 255)]
StreamArn = Annotated[str, Length(37, 1024)]
Precision = Annotated[str, EnumValues(("MICROSECOND", "MILLISECOND"))]
InsightsAction = Annotated[str, EnumValues(("ENABLE", "DISABLE"))]
InsightsMode = Annotated[str, EnumValues(("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"))]


class PutResourcePolicyInput(Structure):
    resource_arn: ResourceArn
    policy: str
    expected_revision_id: RevisionId | None = None
    confirm_remove_self_resource_access: bool | None = None


class GetResourcePolicyInput(Structure):
    resource_arn: ResourceArn


class DeleteResourcePolicyInput(Structure):
    resource_arn: ResourceArn
    expected_revision_id: RevisionId | None = None


class UpdateContributorInsightsInput(Structure):
    table_name: TableName
    action: InsightsAction = field(name="ContributorInsightsAction")
    index_name: IndexName | None = None
    mode: InsightsMode | None = optional("ContributorInsightsMode")


class DescribeContributorInsightsInput(Structure):
    table_name: TableName
    index_name: IndexName | None = None


class ListContributorInsightsInput(Structure):
    table_name: TableName | None = None
    next_token: str | None = None
    max_results: Annotated[int, NumberRange(0, 100)] | None = None


class EnableKinesisStreamingConfiguration(Structure):
    precision: Precision | None = optional("ApproximateCreationDateTimePrecision")


class UpdateKinesisStreamingConfiguration(EnableKinesisStreamingConfiguration):
    pass


class KinesisStreamingDestinationInput(Structure):
    """The request of EnableKinesisStreamingDestination and DisableKinesisStreamingDestination."""

    table_name: TableName
    stream_arn: StreamArn
    configuration: EnableKinesisStreamingConfiguration | None = optional(
        "EnableKinesisStreamingConfiguration"
    )


class UpdateKinesisStreamingDestinationInput(Structure):
    table_name: TableName
    stream_arn: StreamArn
    configuration: UpdateKinesisStreamingConfiguration | None = optional(
        "UpdateKinesisStreamingConfiguration"
    )


class DescribeKinesisStreamingDestinationInput(Structure):
    table_name: TableName


class CreateGlobalTableInput(Structure):
    global_table_name: Name
    replication_group: Capped[Unsupported]


class UpdateGlobalTableInput(Structure):
    global_table_name: Name
    replica_updates: Capped[Unsupported]


class DescribeGlobalTableInput(Structure):
    global_table_name: Name


class DescribeGlobalTableSettingsInput(Structure):
    global_table_name: Name


class UpdateGlobalTableSettingsInput(Structure):
    global_table_name: Name


class ListGlobalTablesInput(Structure):
    start_name: Name | None = optional("ExclusiveStartGlobalTableName")
    limit: Annotated[int, NumberRange(1)] | None = None
    region_name: str | None = None


class DescribeTableReplicaAutoScalingInput(Structure):
    table_name: TableName


class UpdateTableReplicaAutoScalingInput(Structure):
    table_name: TableName
