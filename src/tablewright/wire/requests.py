"""The requests: every operation's input, with the constraints DynamoDB's service model states.

Shapes have the names of DynamoDB's service model, which appear in its messages; members have ours.
A member's name on the wire is its field's name in PascalCase, or the one given with `field`. A
field without a default is required. What an operation checks beyond this is in its own file.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NewType

from msgspec import Struct, field

from tablewright.limits import (
    MAX_ATTRIBUTE_NAME_SIZE,
    MAX_BATCH_GET_KEYS,
    MAX_BATCH_WRITES,
    MAX_INCLUDED_ATTRIBUTES,
    MAX_INDEX_KEY_ATTRIBUTES,
    MAX_KEY_ATTRIBUTE_NAME_LENGTH,
    MAX_LISTED_TABLES,
    MAX_NAME_LENGTH,
    MAX_TRANSACTION_ACTIONS,
    MIN_NAME_LENGTH,
)
from tablewright.values import Item, Value
from tablewright.wire.constraints import (
    NAME_PATTERN,
    Between,
    Length,
    LengthOfEach,
    Like,
    Matching,
    Named,
    OneOf,
)

TableName = Annotated[str, Length(1, 1024), Named()]
IndexName = Annotated[str, Length(MIN_NAME_LENGTH, MAX_NAME_LENGTH), Matching(NAME_PATTERN)]
AttributeName = Annotated[str, Length(0, MAX_ATTRIBUTE_NAME_SIZE)]
KeyAttributeName = Annotated[str, Length(1, MAX_KEY_ATTRIBUTE_NAME_LENGTH)]
ResourceArn = Annotated[str, Length(1, 1283)]
Long = NewType("Long", int)  # as a Java type of its own, it is named in faults
Units = Annotated[Long, Between(1)]

BillingMode = Annotated[str, OneOf(("PROVISIONED", "PAY_PER_REQUEST"))]
KeyType = Annotated[str, OneOf(("HASH", "RANGE"))]
ScalarType = Annotated[str, OneOf(("B", "N", "S"))]
ProjectionType = Annotated[str, OneOf(("ALL", "INCLUDE", "KEYS_ONLY"))]
TableClass = Annotated[str, OneOf(("STANDARD", "STANDARD_INFREQUENT_ACCESS"))]
SseType = Annotated[str, OneOf(("AES256", "KMS"))]
StreamView = Annotated[str, OneOf(("NEW_AND_OLD_IMAGES", "OLD_IMAGE", "KEYS_ONLY", "NEW_IMAGE"))]
ConditionalOperator = Annotated[str, OneOf(("OR", "AND"))]
ComparisonOperator = Annotated[
    str,
    OneOf(
        (
            "IN",
            "NULL",
            "BETWEEN",
            "LT",
            "NOT_CONTAINS",
            "EQ",
            "GT",
            "NOT_NULL",
            "NE",
            "LE",
            "BEGINS_WITH",
            "GE",
            "CONTAINS",
        )
    ),
]
AttributeAction = Annotated[str, OneOf(("ADD", "DELETE", "PUT"))]
ReturnValues = Annotated[str, OneOf(("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"))]
ReturnOnFailure = Annotated[str, OneOf(("ALL_OLD", "NONE"))]
ReturnCapacity = Annotated[str, OneOf(("INDEXES", "TOTAL", "NONE"))]
ReturnMetrics = Annotated[str, OneOf(("SIZE", "NONE"))]
Select = Annotated[
    str,
    OneOf(("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")),
]
Names = dict[str, str]
# DynamoDB's service model has no limit for these lists and maps, and what it checks afterwards
# allows far less: 50 tags, 25 indexes, 300 operators and 100 values of IN in an expression. Without
# a limit, a request could spend seconds on entries that are refused afterwards.
Some = Length(0, 10_000)
AttributeNames = Annotated[list[AttributeName], Length(1, 100_000)]


class Shape(Struct, rename="pascal", gc=False):
    """A structure of the service model. No request refers to itself, so the collector may rest."""

    def given(self) -> dict[str, Any]:
        """The members that are there, by their names on the wire."""
        members = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        return {
            name: value
            for name, attribute in members
            if (value := getattr(self, attribute)) is not None
        }


class TableRequest(Shape, kw_only=True):
    """A request about a table itself. Its name is looked at before all constraints."""

    table_name: str = ""


# -- tables -----------------------------------------------------------------------------------


class AttributeDefinition(Shape):
    attribute_name: KeyAttributeName
    attribute_type: ScalarType


class KeySchemaElement(Shape):
    attribute_name: KeyAttributeName
    key_type: KeyType


TableKeys = Annotated[list[KeySchemaElement], Length(1, 2)]
IndexKeys = Annotated[list[KeySchemaElement], Length(1, 2 * MAX_INDEX_KEY_ATTRIBUTES)]


class Projection(Shape):
    projection_type: ProjectionType | None = None
    non_key_attributes: (
        Annotated[list[KeyAttributeName], Length(1, MAX_INCLUDED_ATTRIBUTES)] | None
    ) = None


class ProvisionedThroughput(Shape):
    read: Units = field(name="ReadCapacityUnits")
    write: Units = field(name="WriteCapacityUnits")


class OnDemandThroughput(Shape):
    read: Long | None = field(name="MaxReadRequestUnits", default=None)
    write: Long | None = field(name="MaxWriteRequestUnits", default=None)


class LocalSecondaryIndex(Shape):
    index_name: IndexName
    key_schema: IndexKeys
    projection: Projection


class GlobalSecondaryIndex(LocalSecondaryIndex):
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None


class CreateGlobalSecondaryIndexAction(GlobalSecondaryIndex):
    pass


class UpdateGlobalSecondaryIndexAction(Shape):
    index_name: IndexName
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None


class DeleteGlobalSecondaryIndexAction(Shape):
    index_name: IndexName


class GlobalSecondaryIndexUpdate(Shape):
    update: UpdateGlobalSecondaryIndexAction | None = None
    create: CreateGlobalSecondaryIndexAction | None = None
    delete: DeleteGlobalSecondaryIndexAction | None = None


class StreamSpecification(Shape):
    stream_enabled: bool
    stream_view_type: StreamView | None = None


class SSESpecification(Shape):
    enabled: bool | None = None
    sse_type: SseType | None = field(name="SSEType", default=None)
    key_id: str | None = field(name="KMSMasterKeyId", default=None)


class Tag(Shape):
    key: Annotated[str, Length(1, 128)]
    value: Annotated[str, Length(0, 256)]


class CreateTable(TableRequest, kw_only=True):
    attribute_definitions: Annotated[list[AttributeDefinition], Some]
    key_schema: TableKeys
    local_indexes: Annotated[list[LocalSecondaryIndex], Some] | None = field(
        name="LocalSecondaryIndexes", default=None
    )
    global_indexes: Annotated[list[GlobalSecondaryIndex], Some] | None = field(
        name="GlobalSecondaryIndexes", default=None
    )
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = field(name="SSESpecification", default=None)
    tags: Annotated[list[Tag], Some] | None = None
    table_class: TableClass | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None


class UpdateTable(TableRequest, kw_only=True):
    attribute_definitions: Annotated[list[AttributeDefinition], Some] | None = None
    billing_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    global_index_updates: Annotated[list[GlobalSecondaryIndexUpdate], Some] | None = field(
        name="GlobalSecondaryIndexUpdates", default=None
    )
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = field(name="SSESpecification", default=None)
    table_class: TableClass | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None


class DescribeTable(TableRequest, kw_only=True):
    pass


class DeleteTable(TableRequest, kw_only=True):
    pass


class ListTables(Shape):
    start_name: (
        Annotated[str, Length(MIN_NAME_LENGTH, MAX_NAME_LENGTH), Matching(NAME_PATTERN)] | None
    ) = field(name="ExclusiveStartTableName", default=None)
    limit: Annotated[int, Between(1, MAX_LISTED_TABLES)] | None = None


class TimeToLiveSpecification(Shape):
    enabled: bool
    attribute_name: KeyAttributeName


class UpdateTimeToLive(TableRequest, kw_only=True):
    specification: TimeToLiveSpecification = field(name="TimeToLiveSpecification")


class DescribeTimeToLive(TableRequest, kw_only=True):
    pass


class TagResource(Shape):
    resource_arn: ResourceArn
    tags: Annotated[list[Tag], Some]


class UntagResource(Shape):
    resource_arn: ResourceArn
    tag_keys: Annotated[list[Annotated[str, Length(1, 128)]], Some]


class ListTagsOfResource(Shape):
    resource_arn: ResourceArn
    next_token: str | None = None


class DescribeLimits(Shape):
    pass


class DescribeEndpoints(Shape):
    pass


# -- items ------------------------------------------------------------------------------------


class ExpectedAttributeValue(Shape):
    value: Value | None = None
    exists: bool | None = None
    comparison_operator: ComparisonOperator | None = None
    attribute_value_list: Annotated[list[Value], Some] | None = None


class Condition(Shape, kw_only=True):
    attribute_value_list: Annotated[list[Value], Some] | None = None
    comparison_operator: ComparisonOperator


class AttributeValueUpdate(Shape):
    value: Value | None = None
    action: AttributeAction | None = None


Legacy = dict[str, dict[str, Any]]
Expected = Annotated[Legacy, Like(Annotated[dict[AttributeName, ExpectedAttributeValue], Some])]
LegacyConditions = Annotated[Legacy, Like(Annotated[dict[AttributeName, Condition], Some])]
LegacyUpdates = Annotated[Legacy, Like(Annotated[dict[AttributeName, AttributeValueUpdate], Some])]


class Conditional(Shape):
    """What PutItem, UpdateItem and DeleteItem have in common."""

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


class PutItem(Conditional, kw_only=True):
    item: Item


class DeleteItem(Conditional, kw_only=True):
    key: Item


class UpdateItem(Conditional, kw_only=True):
    key: Item
    attribute_updates: LegacyUpdates | None = None
    update: str | None = field(name="UpdateExpression", default=None)


class GetItem(Shape):
    table_name: TableName
    key: Item
    attributes_to_get: AttributeNames | None = None
    consistent: bool | None = field(name="ConsistentRead", default=None)
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)


class Paged(Shape):
    """What Query and Scan have in common."""

    table_name: TableName
    index_name: IndexName | None = None
    select: Select | None = None
    attributes_to_get: AttributeNames | None = None
    limit: Annotated[int, Between(1)] | None = None
    consistent: bool | None = field(name="ConsistentRead", default=None)
    conditional_operator: ConditionalOperator | None = None
    start_key: Item | None = field(name="ExclusiveStartKey", default=None)
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    filter: str | None = field(name="FilterExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)
    values: Item | None = field(name="ExpressionAttributeValues", default=None)


class Query(Paged):
    key_conditions: LegacyConditions | None = None
    query_filter: LegacyConditions | None = None
    forward: bool | None = field(name="ScanIndexForward", default=None)
    key_condition: str | None = field(name="KeyConditionExpression", default=None)


class Scan(Paged):
    scan_filter: LegacyConditions | None = None
    total_segments: Annotated[int, Between(1, 1_000_000)] | None = None
    segment: Annotated[int, Between(0, 999_999)] | None = None


class KeysAndAttributes(Shape, omit_defaults=True):
    keys: Annotated[list[Item], Length(1, MAX_BATCH_GET_KEYS)]
    attributes_to_get: AttributeNames | None = None
    consistent: bool | None = field(name="ConsistentRead", default=None)
    projection: str | None = field(name="ProjectionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)


class BatchGetItem(Shape):
    tables: Annotated[dict[TableName, KeysAndAttributes], Length(1, MAX_BATCH_GET_KEYS)] = field(
        name="RequestItems"
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)


class PutRequest(Shape):
    item: Item


class DeleteRequest(Shape):
    key: Item


class WriteRequest(Shape):
    put: PutRequest | None = field(name="PutRequest", default=None)
    delete: DeleteRequest | None = field(name="DeleteRequest", default=None)


class BatchWriteItem(Shape):
    tables: Annotated[
        dict[TableName, list[WriteRequest]],
        Length(0, MAX_BATCH_WRITES),
        LengthOfEach(1, MAX_BATCH_WRITES),
    ] = field(name="RequestItems", default_factory=dict)
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    return_metrics: ReturnMetrics | None = field(name="ReturnItemCollectionMetrics", default=None)


class Action(Shape):
    """What the four actions of a transaction have in common, but for the condition."""

    table_name: TableName
    names: Names | None = field(name="ExpressionAttributeNames", default=None)
    values: Item | None = field(name="ExpressionAttributeValues", default=None)
    return_on_failure: ReturnOnFailure | None = field(
        name="ReturnValuesOnConditionCheckFailure", default=None
    )


class Put(Action, kw_only=True):
    condition: str | None = field(name="ConditionExpression", default=None)
    item: Item


class Delete(Action, kw_only=True):
    condition: str | None = field(name="ConditionExpression", default=None)
    key: Item


class Update(Action, kw_only=True):
    condition: str | None = field(name="ConditionExpression", default=None)
    key: Item
    update: str = field(name="UpdateExpression")


class ConditionCheck(Action, kw_only=True):
    key: Item
    condition: str = field(name="ConditionExpression")


AnyAction = Put | Delete | Update | ConditionCheck


class TransactWriteItem(Shape):
    check: ConditionCheck | None = field(name="ConditionCheck", default=None)
    put: Put | None = None
    delete: Delete | None = None
    update: Update | None = None


class TransactWriteItems(Shape):
    actions: Annotated[list[TransactWriteItem], Length(1, MAX_TRANSACTION_ACTIONS)] = field(
        name="TransactItems"
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
    return_metrics: ReturnMetrics | None = field(name="ReturnItemCollectionMetrics", default=None)
    token: Annotated[str, Length(1, 36)] | None = field(name="ClientRequestToken", default=None)


class Get(Shape):
    attributes_to_get: ClassVar[None] = None  # transactions came after the legacy parameters

    key: Item
    table_name: TableName
    projection: str | None = field(name="ProjectionExpression", default=None)
    names: Names | None = field(name="ExpressionAttributeNames", default=None)


class TransactGetItem(Shape):
    get: Get


class TransactGetItems(Shape):
    actions: Annotated[list[TransactGetItem], Length(1, MAX_TRANSACTION_ACTIONS)] = field(
        name="TransactItems"
    )
    return_capacity: ReturnCapacity | None = field(name="ReturnConsumedCapacity", default=None)
