"""The requests: every operation's input, with the constraints DynamoDB's service model states.

Structures have the names of DynamoDB's service model, which appear in its messages. A structure
whose name another class of the package has gets a prefix here; `model_name` is DynamoDB's name.
Members have our names: a member's name on the wire is its field's name in PascalCase, or the one
given with `field`. A field without a default is required. Further checks are in the
module of the operation.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import field

from tablewright.limits import (
    MAX_BATCH_GET_KEYS,
    MAX_BATCH_WRITES,
    MAX_INCLUDED_ATTRIBUTES,
    MAX_INDEX_KEY_ATTRIBUTES,
    MAX_LISTED_TABLES,
    MAX_TRANSACTION_ACTIONS,
)
from tablewright.values import Item, Value
from tablewright.wire.constraints import (
    CAPPED,
    AttributeAction,
    AttributeName,
    AttributeNames,
    BillingMode,
    CapacityUnits,
    ComparisonOperator,
    ConditionalOperator,
    IndexName,
    KeyAttributeName,
    KeyType,
    Length,
    LengthOfEach,
    Long,
    MultiRegionConsistency,
    Name,
    Names,
    NumberRange,
    ProjectionType,
    ReadAs,
    ResourceArn,
    ReturnCapacity,
    ReturnMetrics,
    ReturnOnFailure,
    ReturnValues,
    ScalarType,
    Select,
    SseType,
    StreamView,
    Structure,
    TableClass,
    TableName,
    Unechoed,
    Unsupported,
)

# -- tables -----------------------------------------------------------------------------------


class TableInput(Structure, kw_only=True):
    """A request about a table itself. DynamoDB reports a missing name in its own words."""

    table_name: TableName


class AttributeDefinition(Structure):
    attribute_name: KeyAttributeName
    attribute_type: ScalarType


class KeySchemaElement(Structure):
    attribute_name: KeyAttributeName
    key_type: KeyType


TableKeys = Annotated[list[KeySchemaElement], Length(1, 2)]
IndexKeys = Annotated[list[KeySchemaElement], Length(1, 2 * MAX_INDEX_KEY_ATTRIBUTES)]


class IndexProjection(Structure):
    model_name = "Projection"

    projection_type: ProjectionType | None = None
    non_key_attributes: (
        Annotated[list[KeyAttributeName], Length(1, MAX_INCLUDED_ATTRIBUTES)] | None
    ) = None


class ProvisionedThroughput(Structure):
    read: CapacityUnits = field(name="ReadCapacityUnits")
    write: CapacityUnits = field(name="WriteCapacityUnits")


class OnDemandThroughput(Structure):
    read: Long | None = field(name="MaxReadRequestUnits", default=None)
    write: Long | None = field(name="MaxWriteRequestUnits", default=None)


class RequestedWarmThroughput(Structure):
    model_name = "WarmThroughput"

    read: Long | None = field(name="ReadUnitsPerSecond", default=None)
    write: Long | None = field(name="WriteUnitsPerSecond", default=None)


class LocalSecondaryIndex(Structure):
    index_name: IndexName
    key_schema: IndexKeys
    projection: IndexProjection


class GlobalSecondaryIndex(LocalSecondaryIndex):
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: RequestedWarmThroughput | None = None


class CreateGlobalSecondaryIndexAction(GlobalSecondaryIndex):
    pass


class UpdateGlobalSecondaryIndexAction(Structure):
    index_name: IndexName
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: RequestedWarmThroughput | None = None


class DeleteGlobalSecondaryIndexAction(Structure):
    index_name: IndexName


class GlobalSecondaryIndexUpdate(Structure):
    update: UpdateGlobalSecondaryIndexAction | None = None
    create: CreateGlobalSecondaryIndexAction | None = None
    delete: DeleteGlobalSecondaryIndexAction | None = None


class StreamSpecification(Structure):
    stream_enabled: bool
    stream_view_type: StreamView | None = None


class SSESpecification(Structure):
    enabled: bool | None = None
    sse_type: SseType | None = field(name="SSEType", default=None)
    key_id: str | None = field(name="KMSMasterKeyId", default=None)


class Tag(Structure):
    key: Annotated[str, Length(1, 128)]
    value: Annotated[str, Length(0, 256)]


class CreateTableInput(TableInput, kw_only=True):
    attribute_definitions: Annotated[list[AttributeDefinition], CAPPED]
    key_schema: TableKeys
    local_indexes: Annotated[list[LocalSecondaryIndex], CAPPED] | None = field(
        name="LocalSecondaryIndexes", default=None
    )
    global_indexes: Annotated[list[GlobalSecondaryIndex], CAPPED] | None = field(
        name="GlobalSecondaryIndexes", default=None
    )
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = field(name="SSESpecification", default=None)
    tags: Annotated[list[Tag], CAPPED] | None = None
    table_class: TableClass | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: RequestedWarmThroughput | None = None
    resource_policy: str | None = None
    # Members of features that this engine does not have; the operation refuses them.
    global_table_source: TableName | None = field(name="GlobalTableSourceArn", default=None)
    vector_indexes: Annotated[list[Unsupported], CAPPED] | None = None


class UpdateTableInput(TableInput, kw_only=True):
    attribute_definitions: Annotated[list[AttributeDefinition], CAPPED] | None = None
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    global_index_updates: Annotated[list[GlobalSecondaryIndexUpdate], CAPPED] | None = field(
        name="GlobalSecondaryIndexUpdates", default=None
    )
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = field(name="SSESpecification", default=None)
    table_class: TableClass | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: RequestedWarmThroughput | None = None
    # Members of features that this engine does not have; the operation refuses them.
    replica_updates: Annotated[list[Unsupported], Length(1, 10_000)] | None = None
    witness_updates: Annotated[list[Unsupported], Length(1, 1)] | None = field(
        name="GlobalTableWitnessUpdates", default=None
    )
    multi_region_consistency: MultiRegionConsistency | None = None
    vector_index_updates: Annotated[list[Unsupported], CAPPED] | None = None


class DescribeTableInput(TableInput, kw_only=True):
    pass


class DeleteTableInput(TableInput, kw_only=True):
    pass


class ListTablesInput(Structure):
    start_name: Name | None = field(name="ExclusiveStartTableName", default=None)
    limit: Annotated[int, NumberRange(1, MAX_LISTED_TABLES)] | None = None


class TimeToLiveSpecification(Structure):
    enabled: bool
    attribute_name: KeyAttributeName


class UpdateTimeToLiveInput(TableInput, kw_only=True):
    specification: TimeToLiveSpecification = field(name="TimeToLiveSpecification")


class DescribeTimeToLiveInput(TableInput, kw_only=True):
    pass


class TagResourceInput(Structure):
    resource_arn: ResourceArn
    tags: Annotated[list[Tag], CAPPED]


class UntagResourceInput(Structure):
    resource_arn: ResourceArn
    tag_keys: Annotated[list[Annotated[str, Length(1, 128)]], CAPPED]


class ListTagsOfResourceInput(Structure):
    resource_arn: ResourceArn
    next_token: str | None = None


class DescribeLimitsInput(Structure):
    pass


class DescribeEndpointsRequest(Structure):
    pass


# -- items ------------------------------------------------------------------------------------


class ExpectedAttributeValue(Structure):
    value: Value | None = None
    exists: bool | None = None
    comparison_operator: ComparisonOperator | None = None
    attribute_value_list: Annotated[list[Value], CAPPED] | None = None


class LegacyCondition(Structure, kw_only=True):
    model_name = "Condition"

    attribute_value_list: Annotated[list[Value], CAPPED] | None = None
    comparison_operator: ComparisonOperator


class AttributeValueUpdate(Structure):
    value: Value | None = None
    action: AttributeAction | None = None


LegacyEntries = dict[str, dict[str, Any]]
Expected = Annotated[
    LegacyEntries, ReadAs(Annotated[dict[AttributeName, ExpectedAttributeValue], CAPPED])
]
LegacyConditions = Annotated[
    LegacyEntries, ReadAs(Annotated[dict[AttributeName, LegacyCondition], CAPPED])
]
LegacyUpdates = Annotated[
    LegacyEntries, ReadAs(Annotated[dict[AttributeName, AttributeValueUpdate], CAPPED])
]


class WriteItemInput(Structure):
    """The members that PutItem, UpdateItem and DeleteItem share."""

    table_name: TableName
    expected: Expected | None = None
    conditional_operator: ConditionalOperator | None = None
    condition: str | None = field(name="ConditionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)
    values: Item | None = field(name="ExpressionAttributeValues", default=None)
    return_values: ReturnValues | None = None
    return_on_failure: ReturnOnFailure | None = field(
        name="ReturnValuesOnConditionCheckFailure", default=None
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    return_metrics: ReturnMetrics | None = field(name="ReturnItemCollectionMetrics", default=None)


class PutItemInput(WriteItemInput, kw_only=True):
    item: Item


class DeleteItemInput(WriteItemInput, kw_only=True):
    key: Item


class UpdateItemInput(WriteItemInput, kw_only=True):
    key: Item
    attribute_updates: LegacyUpdates | None = None
    update: str | None = field(name="UpdateExpression", default=None)


class GetItemInput(Structure):
    table_name: TableName
    key: Item
    attributes_to_get: AttributeNames | None = None
    consistent: bool | None = field(name="ConsistentRead", default=None)
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)


class PagedInput(Structure):
    """The members that Query and Scan share."""

    table_name: TableName
    index_name: IndexName | None = None
    select: Select | None = None
    attributes_to_get: AttributeNames | None = None
    limit: Annotated[int, NumberRange(1)] | None = None
    consistent: bool | None = field(name="ConsistentRead", default=None)
    conditional_operator: ConditionalOperator | None = None
    start_key: Item | None = field(name="ExclusiveStartKey", default=None)
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    filter: str | None = field(name="FilterExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)
    values: Item | None = field(name="ExpressionAttributeValues", default=None)


class QueryInput(PagedInput):
    limit: Annotated[int, NumberRange(1), Unechoed()] | None = None
    key_conditions: LegacyConditions | None = None
    query_filter: LegacyConditions | None = None
    forward: bool | None = field(name="ScanIndexForward", default=None)
    key_condition: str | None = field(name="KeyConditionExpression", default=None)


class ScanInput(PagedInput):
    scan_filter: LegacyConditions | None = None
    total_segments: Annotated[int, NumberRange(1, 1_000_000)] | None = None
    segment: Annotated[int, NumberRange(0, 999_999)] | None = None


class KeysAndAttributes(Structure, omit_defaults=True):
    keys: Annotated[list[Item], Length(1, MAX_BATCH_GET_KEYS), Unechoed()]
    attributes_to_get: AttributeNames | None = None
    consistent: bool | None = field(name="ConsistentRead", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)


class BatchGetItemInput(Structure):
    tables: Annotated[dict[TableName, KeysAndAttributes], Length(0, MAX_BATCH_GET_KEYS)] = field(
        name="RequestItems", default_factory=dict
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)


class PutRequest(Structure):
    item: Item


class DeleteRequest(Structure):
    key: Item


class WriteRequest(Structure, omit_defaults=True):
    put: PutRequest | None = field(name="PutRequest", default=None)
    delete: DeleteRequest | None = field(name="DeleteRequest", default=None)


class BatchWriteItemInput(Structure):
    tables: Annotated[
        dict[TableName, list[WriteRequest]],
        Length(0, MAX_BATCH_WRITES),
        LengthOfEach(1, MAX_BATCH_WRITES),
    ] = field(name="RequestItems", default_factory=dict)
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    return_metrics: ReturnMetrics | None = field(name="ReturnItemCollectionMetrics", default=None)


class TransactAction(Structure):
    """The members that all actions of TransactWriteItems share."""

    table_name: TableName
    names: Names | None = field(name="ExpressionAttributeNames", default=None)
    values: Item | None = field(name="ExpressionAttributeValues", default=None)
    return_on_failure: ReturnOnFailure | None = field(
        name="ReturnValuesOnConditionCheckFailure", default=None
    )


class TransactPut(TransactAction, kw_only=True):
    model_name = "Put"

    condition: str | None = field(name="ConditionExpression", default=None)
    item: Item


class TransactDelete(TransactAction, kw_only=True):
    model_name = "Delete"

    condition: str | None = field(name="ConditionExpression", default=None)
    key: Item


class TransactUpdate(TransactAction, kw_only=True):
    model_name = "Update"

    condition: str | None = field(name="ConditionExpression", default=None)
    key: Item
    update: str = field(name="UpdateExpression")


class TransactConditionCheck(TransactAction, kw_only=True):
    model_name = "ConditionCheck"

    key: Item
    condition: str = field(name="ConditionExpression")


AnyTransactAction = TransactPut | TransactDelete | TransactUpdate | TransactConditionCheck


class TransactWriteItem(Structure):
    check: TransactConditionCheck | None = field(name="ConditionCheck", default=None)
    put: TransactPut | None = None
    delete: TransactDelete | None = None
    update: TransactUpdate | None = None


class TransactWriteItemsInput(Structure):
    actions: Annotated[list[TransactWriteItem], Length(1, MAX_TRANSACTION_ACTIONS)] = field(
        name="TransactItems"
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    return_metrics: ReturnMetrics | None = field(name="ReturnItemCollectionMetrics", default=None)
    token: Annotated[str, Length(1, 36)] | None = field(name="ClientRequestToken", default=None)


class TransactGetEntry(Structure):
    model_name = "Get"
    attributes_to_get: ClassVar[None] = None  # transactions have no legacy parameters

    key: Item
    table_name: TableName
    projection: str | None = field(name="ProjectionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)


class TransactGetItem(Structure):
    get: TransactGetEntry


class TransactGetItemsInput(Structure):
    actions: Annotated[list[TransactGetItem], Length(1, MAX_TRANSACTION_ACTIONS)] = field(
        name="TransactItems"
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
