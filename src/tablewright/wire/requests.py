"""The requests: every operation's input, with the constraints DynamoDB's service model states.

Structures have the names of DynamoDB's service model, which appear in its messages. If another
class already has DynamoDB's name, the structure has a prefix; `model_name` is DynamoDB's name.
Members have our names: a member's name on the wire is its field's name in PascalCase, or the one
given with `field`. A field without a default is required. Further checks are in the module of
the operation.
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
    Capped,
    ComparisonOperator,
    ConditionalOperator,
    EchoedWhole,
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
    RewordedReturnValues,
    ScalarType,
    Select,
    SseType,
    StreamView,
    Structure,
    TableClass,
    TableName,
    TableNames,
    Unechoed,
    Unsupported,
    optional,
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


class RequestedProjection(Structure):
    model_name = "Projection"

    projection_type: ProjectionType | None = None
    non_key_attributes: (
        Annotated[list[KeyAttributeName], Length(1, MAX_INCLUDED_ATTRIBUTES)] | None
    ) = None


class ProvisionedThroughput(Structure):
    read: CapacityUnits = field(name="ReadCapacityUnits")
    write: CapacityUnits = field(name="WriteCapacityUnits")


class OnDemandThroughput(Structure):
    read: Long | None = optional("MaxReadRequestUnits")
    write: Long | None = optional("MaxWriteRequestUnits")


class RequestedWarmThroughput(Structure):
    model_name = "WarmThroughput"

    read: Long | None = optional("ReadUnitsPerSecond")
    write: Long | None = optional("WriteUnitsPerSecond")


class LocalSecondaryIndex(Structure):
    index_name: IndexName
    key_schema: IndexKeys
    projection: RequestedProjection


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
    sse_type: SseType | None = optional("SSEType")
    key_id: str | None = optional("KMSMasterKeyId")


class Tag(Structure):
    key: Annotated[str, Length(1, 128)]
    value: Annotated[str, Length(0, 256)]


class CreateTableInput(TableInput, kw_only=True):
    reported_order = ("globalSecondaryIndexes", "localSecondaryIndexes")

    attribute_definitions: Capped[AttributeDefinition]
    key_schema: TableKeys
    local_indexes: Capped[LocalSecondaryIndex] | None = optional("LocalSecondaryIndexes")
    global_indexes: Capped[GlobalSecondaryIndex] | None = optional("GlobalSecondaryIndexes")
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = optional("SSESpecification")
    tags: Capped[Tag] | None = None
    table_class: TableClass | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: RequestedWarmThroughput | None = None
    resource_policy: str | None = None
    # Members of features that this engine does not have; the operation refuses them.
    global_table_source: TableName | None = optional("GlobalTableSourceArn")
    vector_indexes: Capped[Unsupported] | None = None


class UpdateTableInput(TableInput, kw_only=True):
    attribute_definitions: Capped[AttributeDefinition] | None = None
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    global_index_updates: Capped[GlobalSecondaryIndexUpdate] | None = optional(
        "GlobalSecondaryIndexUpdates"
    )
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = optional("SSESpecification")
    table_class: TableClass | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: RequestedWarmThroughput | None = None
    # Members of features that this engine does not have; the operation refuses them.
    replica_updates: Annotated[list[Unsupported], Length(1, 10_000)] | None = None
    witness_updates: Annotated[list[Unsupported], Length(1, 1)] | None = optional(
        "GlobalTableWitnessUpdates"
    )
    multi_region_consistency: MultiRegionConsistency | None = None
    vector_index_updates: Capped[Unsupported] | None = None


class DescribeTableInput(TableInput, kw_only=True):
    pass


class DeleteTableInput(TableInput, kw_only=True):
    pass


class ListTablesInput(Structure):
    start_name: Name | None = optional("ExclusiveStartTableName")
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
    tags: Capped[Tag]


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
    attribute_value_list: Capped[Value] | None = None


class LegacyCondition(Structure, kw_only=True):
    model_name = "Condition"

    attribute_value_list: Capped[Value] | None = None
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
    condition: str | None = optional("ConditionExpression")
    names: Names | None = optional("ExpressionAttributeNames")
    values: Item | None = optional("ExpressionAttributeValues")
    return_values: ReturnValues | None = None
    return_on_failure: ReturnOnFailure | None = optional("ReturnValuesOnConditionCheckFailure")
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
    return_metrics: ReturnMetrics | None = optional("ReturnItemCollectionMetrics")


class PutItemInput(WriteItemInput, kw_only=True):
    item: Item


class DeleteItemInput(WriteItemInput, kw_only=True):
    key: Item
    return_values: RewordedReturnValues | None = None


class UpdateItemInput(WriteItemInput, kw_only=True):
    reported_order = (
        "returnConsumedCapacity",
        "tableName",
        "returnValues",
        "conditionalOperator",
        "key",
    )

    key: Item
    return_values: RewordedReturnValues | None = None
    attribute_updates: LegacyUpdates | None = None
    update: str | None = optional("UpdateExpression")


class GetItemInput(Structure):
    table_name: TableName
    key: Item
    attributes_to_get: AttributeNames | None = None
    consistent: bool | None = optional("ConsistentRead")
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
    projection: str | None = optional("ProjectionExpression")
    names: Names | None = optional("ExpressionAttributeNames")


class PagedInput(Structure):
    """The members that Query and Scan share."""

    table_name: TableName
    index_name: IndexName | None = None
    select: Select | None = None
    attributes_to_get: AttributeNames | None = None
    limit: Annotated[int, NumberRange(1)] | None = None
    consistent: bool | None = optional("ConsistentRead")
    conditional_operator: ConditionalOperator | None = None
    start_key: Item | None = optional("ExclusiveStartKey")
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
    projection: str | None = optional("ProjectionExpression")
    filter: str | None = optional("FilterExpression")
    names: Names | None = optional("ExpressionAttributeNames")
    values: Item | None = optional("ExpressionAttributeValues")


class QueryInput(PagedInput):
    limit: Annotated[int, NumberRange(1), Unechoed()] | None = None
    key_conditions: LegacyConditions | None = None
    query_filter: LegacyConditions | None = None
    forward: bool | None = optional("ScanIndexForward")
    key_condition: str | None = optional("KeyConditionExpression")


class ScanInput(PagedInput):
    scan_filter: LegacyConditions | None = None
    total_segments: Annotated[int, NumberRange(1, 1_000_000)] | None = None
    segment: Annotated[int, NumberRange(0, 999_999)] | None = None


class KeysAndAttributes(Structure, omit_defaults=True):
    keys: Annotated[list[Item], Length(1, MAX_BATCH_GET_KEYS), Unechoed()]
    attributes_to_get: AttributeNames | None = None
    consistent: bool | None = optional("ConsistentRead")
    projection: str | None = optional("ProjectionExpression")
    names: Names | None = optional("ExpressionAttributeNames")


class BatchGetItemInput(Structure):
    reported_order = ("requestItems", "returnConsumedCapacity")

    tables: Annotated[
        dict[str, KeysAndAttributes],
        Length(0, MAX_BATCH_GET_KEYS),
        TableNames(as_json=True, gives_way=False),
    ] = field(name="RequestItems", default_factory=dict)
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")


class PutRequest(Structure):
    item: Item


class DeleteRequest(Structure):
    key: Item


class WriteRequest(Structure, omit_defaults=True):
    put: PutRequest | None = optional("PutRequest")
    delete: DeleteRequest | None = optional("DeleteRequest")


class BatchWriteItemInput(Structure):
    tables: Annotated[
        dict[str, list[WriteRequest]],
        Length(0, MAX_BATCH_WRITES),
        TableNames(as_json=False, gives_way=True),
        LengthOfEach(1, MAX_BATCH_WRITES),
    ] = field(name="RequestItems", default_factory=dict)
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
    return_metrics: ReturnMetrics | None = optional("ReturnItemCollectionMetrics")


class TransactAction(Structure):
    """The members that all actions of TransactWriteItems share."""

    table_name: TableName
    names: Names | None = optional("ExpressionAttributeNames")
    values: Item | None = optional("ExpressionAttributeValues")
    return_on_failure: ReturnOnFailure | None = optional("ReturnValuesOnConditionCheckFailure")


class TransactPut(TransactAction, kw_only=True):
    model_name = "Put"

    condition: str | None = optional("ConditionExpression")
    item: Item


class TransactDelete(TransactAction, kw_only=True):
    model_name = "Delete"

    condition: str | None = optional("ConditionExpression")
    key: Item


class TransactUpdate(TransactAction, kw_only=True):
    model_name = "Update"

    condition: str | None = optional("ConditionExpression")
    key: Item
    update: str = field(name="UpdateExpression")


class TransactConditionCheck(TransactAction, kw_only=True):
    model_name = "ConditionCheck"

    key: Item
    condition: str = field(name="ConditionExpression")


AnyTransactAction = TransactPut | TransactDelete | TransactUpdate | TransactConditionCheck


class TransactWriteItem(Structure):
    check: TransactConditionCheck | None = optional("ConditionCheck")
    put: TransactPut | None = None
    delete: TransactDelete | None = None
    update: TransactUpdate | None = None


class TransactWriteItemsInput(Structure):
    actions: Annotated[
        list[TransactWriteItem], Length(1, MAX_TRANSACTION_ACTIONS), EchoedWhole()
    ] = field(name="TransactItems")
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
    return_metrics: ReturnMetrics | None = optional("ReturnItemCollectionMetrics")
    token: Annotated[str, Length(1, 36)] | None = optional("ClientRequestToken")


class TransactGetEntry(Structure):
    model_name = "Get"
    attributes_to_get: ClassVar[None] = None  # transactions have no legacy parameters

    key: Item
    table_name: TableName
    projection: str | None = optional("ProjectionExpression")
    names: Names | None = optional("ExpressionAttributeNames")


class TransactGetItem(Structure):
    get: TransactGetEntry


class TransactGetItemsInput(Structure):
    actions: Annotated[list[TransactGetItem], Length(1, MAX_TRANSACTION_ACTIONS), EchoedWhole()] = (
        field(name="TransactItems")
    )
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
