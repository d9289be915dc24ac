"""Members that are missing or break a constraint are all reported, in one fault."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.engine.operations import find_operation
from tablewright.errors import ValidationException
from tablewright.wire.read import read

NULL = "Value null at '{}' failed to satisfy constraint: Member must not be null"
WORDS = "Value '{}' at '{}' failed to satisfy constraint: Member must satisfy enum value set: [{}]"
LEAST = (
    "Value '{}' at '{}' failed to satisfy constraint: "
    "Member must have length greater than or equal to {}"
)
MOST = (
    "Value '{}' at '{}' failed to satisfy constraint: "
    "Member must have length less than or equal to {}"
)
ABOVE = (
    "Value '{}' at '{}' failed to satisfy constraint: "
    "Member must have value greater than or equal to {}"
)
BELOW = (
    "Value '{}' at '{}' failed to satisfy constraint: "
    "Member must have value less than or equal to {}"
)
PATTERN = (
    "Value '{}' at '{}' failed to satisfy constraint: "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
)
#: These have neither the value nor the name in the usual spelling.
QUERY_LIMIT = (
    "Value at 'Limit' failed to satisfy constraint: "
    "Member must have value greater than or equal to 1"
)
KEYS_LEAST = (
    "Value at 'RequestItems.table.member.Keys' failed to satisfy constraint: "
    "Member must have length greater than or equal to 1"
)
KEYS_MOST = (
    "Value at 'RequestItems.table.member.Keys' failed to satisfy constraint: "
    "Member must have length less than or equal to 100"
)

KEY = {"a": {"S": "b"}}
GET = {"TableName": "table", "Key": KEY}
QUERY = {"TableName": "table"}
HASH = {"AttributeName": "a", "KeyType": "HASH"}
CREATE = {
    "TableName": "table",
    "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
    "KeySchema": [HASH],
}
INDEX = {"IndexName": "index", "KeySchema": [HASH], "Projection": {"ProjectionType": "ALL"}}

#: Operation, request, and what is wrong with it.
CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    # what is missing
    ("GetItem", {}, [NULL.format("tableName"), NULL.format("key")]),
    ("GetItem", {"TableName": "table"}, [NULL.format("key")]),
    ("GetItem", {"Key": KEY, "TableName": None}, [NULL.format("tableName")]),
    ("PutItem", {"TableName": "table"}, [NULL.format("item")]),
    ("UpdateItem", {"TableName": "table"}, [NULL.format("key")]),
    ("DeleteItem", {"TableName": "table"}, [NULL.format("key")]),
    ("Query", {}, [NULL.format("tableName")]),
    ("Scan", {}, [NULL.format("tableName")]),
    ("TransactGetItems", {}, [NULL.format("transactItems")]),
    ("TransactWriteItems", {}, [NULL.format("transactItems")]),
    ("TagResource", {"ResourceArn": "arn"}, [NULL.format("tags")]),
    ("UntagResource", {"ResourceArn": "arn"}, [NULL.format("tagKeys")]),
    ("UpdateTimeToLive", {"TableName": "table"}, [NULL.format("timeToLiveSpecification")]),
    # what is missing further in
    (
        "BatchGetItem",
        {"RequestItems": {"table": {}}},
        [NULL.format("requestItems.table.member.keys")],
    ),
    (
        "BatchWriteItem",
        {"RequestItems": {"table": [{"PutRequest": {}}]}},
        [NULL.format("requestItems.table.member.1.member.putRequest.item")],
    ),
    (
        "BatchWriteItem",
        {"RequestItems": {"table": [{"PutRequest": {"Item": KEY}}, {"DeleteRequest": {}}]}},
        [NULL.format("requestItems.table.member.2.member.deleteRequest.key")],
    ),
    (
        "TransactGetItems",
        {"TransactItems": [{}]},
        [NULL.format("transactItems.1.member.get")],
    ),
    (
        "TransactWriteItems",
        {"TransactItems": [{"Update": {"TableName": "table", "Key": KEY}}]},
        [NULL.format("transactItems.1.member.update.updateExpression")],
    ),
    (
        "TransactWriteItems",
        {"TransactItems": [{"ConditionCheck": {"TableName": "table", "Key": KEY}}]},
        [NULL.format("transactItems.1.member.conditionCheck.conditionExpression")],
    ),
    (
        "CreateTable",
        {**CREATE, "ProvisionedThroughput": {"ReadCapacityUnits": 1}},
        [NULL.format("provisionedThroughput.writeCapacityUnits")],
    ),
    (
        "CreateTable",
        {**CREATE, "GlobalSecondaryIndexes": [{**INDEX, "Projection": None}]},
        [NULL.format("globalSecondaryIndexes.1.member.projection")],
    ),
    (
        "Query",
        {**QUERY, "KeyConditions": {"a": {}}},
        [NULL.format("keyConditions.a.member.comparisonOperator")],
    ),
    # words
    (
        "GetItem",
        {**GET, "ReturnConsumedCapacity": "ALL"},
        [WORDS.format("ALL", "returnConsumedCapacity", "INDEXES, TOTAL, NONE")],
    ),
    (
        "PutItem",
        {"TableName": "table", "Item": KEY, "ReturnValues": "none"},
        [WORDS.format("none", "returnValues", "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW")],
    ),
    (
        "PutItem",
        {"TableName": "table", "Item": KEY, "ReturnItemCollectionMetrics": "X"},
        [WORDS.format("X", "returnItemCollectionMetrics", "SIZE, NONE")],
    ),
    (
        "Query",
        {**QUERY, "Select": "ALL"},
        [
            WORDS.format(
                "ALL",
                "select",
                "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES",
            )
        ],
    ),
    (
        "CreateTable",
        {**CREATE, "KeySchema": [{**HASH, "KeyType": "X"}]},
        [WORDS.format("X", "keySchema.1.member.keyType", "HASH, RANGE")],
    ),
    (
        "CreateTable",
        {**CREATE, "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "X"}]},
        [WORDS.format("X", "attributeDefinitions.1.member.attributeType", "B, N, S")],
    ),
    (
        "CreateTable",
        {**CREATE, "BillingMode": "FREE"},
        [WORDS.format("FREE", "billingMode", "PROVISIONED, PAY_PER_REQUEST")],
    ),
    (
        "CreateTable",
        {**CREATE, "TableClass": "X"},
        [WORDS.format("X", "tableClass", "STANDARD, STANDARD_INFREQUENT_ACCESS")],
    ),
    # lengths
    ("GetItem", {**GET, "TableName": ""}, [LEAST.format("", "tableName", 1)]),
    ("GetItem", {**GET, "TableName": "ab"}, [LEAST.format("ab", "tableName", 3)]),
    ("GetItem", {**GET, "TableName": "a" * 256}, [MOST.format("a" * 256, "tableName", 255)]),
    ("GetItem", {**GET, "TableName": "a" * 1025}, [MOST.format("a" * 1025, "tableName", 1024)]),
    (
        "TransactGetItems",
        {"TransactItems": [{"Get": {**GET, "TableName": "ab"}}]},
        [LEAST.format("ab", "transactItems.1.member.get.tableName", 3)],
    ),
    ("BatchGetItem", {"RequestItems": {"table": {"Keys": []}}}, [KEYS_LEAST]),
    ("BatchGetItem", {"RequestItems": {"table": {"Keys": [KEY] * 101}}}, [KEYS_MOST]),
    ("Query", {**QUERY, "IndexName": "ab"}, [LEAST.format("ab", "indexName", 3)]),
    ("Query", {**QUERY, "IndexName": "a" * 256}, [MOST.format("a" * 256, "indexName", 255)]),
    ("GetItem", {**GET, "AttributesToGet": []}, [LEAST.format("[]", "attributesToGet", 1)]),
    ("CreateTable", {**CREATE, "KeySchema": []}, [LEAST.format("[]", "keySchema", 1)]),
    (
        "CreateTable",
        {**CREATE, "KeySchema": [HASH] * 3},
        [
            MOST.format(
                "[" + ", ".join(["KeySchemaElement(attributeName=a, keyType=HASH)"] * 3) + "]",
                "keySchema",
                2,
            )
        ],
    ),
    (
        "TransactGetItems",
        {"TransactItems": []},
        [LEAST.format("[]", "transactItems", 1)],
    ),
    (
        "TransactWriteItems",
        {"TransactItems": [{}], "ClientRequestToken": "x" * 37},
        [MOST.format("x" * 37, "clientRequestToken", 36)],
    ),
    (
        "UpdateTimeToLive",
        {
            "TableName": "table",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": ""},
        },
        [LEAST.format("", "timeToLiveSpecification.attributeName", 1)],
    ),
    # ranges
    ("Query", {**QUERY, "Limit": 0}, [QUERY_LIMIT]),
    ("Query", {**QUERY, "Limit": -1}, [QUERY_LIMIT]),
    ("Scan", {**QUERY, "Limit": 0}, [ABOVE.format(0, "limit", 1)]),
    ("ListTables", {"Limit": 101}, [BELOW.format(101, "limit", 100)]),
    ("Scan", {**QUERY, "Segment": -1}, [ABOVE.format(-1, "segment", 0)]),
    ("Scan", {**QUERY, "Segment": 1000000}, [BELOW.format(1000000, "segment", 999999)]),
    ("Scan", {**QUERY, "TotalSegments": 0}, [ABOVE.format(0, "totalSegments", 1)]),
    (
        "Scan",
        {**QUERY, "TotalSegments": 1000001},
        [BELOW.format(1000001, "totalSegments", 1000000)],
    ),
    # patterns
    ("Query", {**QUERY, "IndexName": "a b"}, [PATTERN.format("a b", "indexName")]),
    (
        "ListTables",
        {"ExclusiveStartTableName": "a;b"},
        [PATTERN.format("a;b", "exclusiveStartTableName")],
    ),
]


@pytest.mark.parametrize(("operation", "request_body", "errors"), CASES)
def test_every_broken_constraint_is_reported(
    operation: str, request_body: dict[str, Any], errors: list[str]
) -> None:
    with pytest.raises(ValidationException) as refused:
        read(find_operation(operation)[0], request_body)
    plural = "s" if len(errors) > 1 else ""
    message = f"{len(errors)} validation error{plural} detected: {'; '.join(errors)}"
    assert refused.value.old_message == message


def test_several_broken_constraints_are_reported_in_one_fault() -> None:
    with pytest.raises(ValidationException) as refused:
        read(
            find_operation("Query")[0], {"IndexName": "a b", "ConditionalOperator": "x", "Limit": 0}
        )
    count, errors = refused.value.old_message.split(" validation errors detected: ")
    assert count == "4"
    assert set(errors.split("; ")) == {
        NULL.format("tableName"),
        PATTERN.format("a b", "indexName"),
        WORDS.format("x", "conditionalOperator", "OR, AND"),
        QUERY_LIMIT,
    }


TABLE_OPERATIONS = [
    "CreateTable",
    "DeleteTable",
    "DescribeTable",
    "DescribeTimeToLive",
    "UpdateTable",
    "UpdateTimeToLive",
]


@pytest.mark.parametrize("operation", TABLE_OPERATIONS)
def test_a_table_operation_demands_a_name_before_all_else(operation: str) -> None:
    with pytest.raises(ValidationException) as refused:
        read(find_operation(operation)[0], {})
    assert refused.value.old_message == (
        "The parameter 'TableName' is required but was not present in the request"
    )


@pytest.mark.parametrize("operation", TABLE_OPERATIONS)
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", LEAST.format("", "tableName", 1)),
        ("ab", LEAST.format("ab", "tableName", 3)),
        ("a" * 256, MOST.format("a" * 256, "tableName", 255)),
        ("a b", PATTERN.format("a b", "tableName")),
    ],
    ids=["empty", "short", "long", "characters"],
)
def test_an_invalid_table_name_is_reported_alone(operation: str, name: str, problem: str) -> None:
    with pytest.raises(ValidationException) as refused:
        read(find_operation(operation)[0], {"BillingMode": "X", "TableName": name})
    assert refused.value.old_message == f"1 validation error detected: {problem}"


def test_an_invalid_table_name_of_an_item_operation_is_reported_alone() -> None:
    request = {"ReturnValues": "X", "TableName": "ab", "Item": KEY}
    with pytest.raises(ValidationException) as refused:
        read(find_operation("PutItem")[0], request)
    problem = LEAST.format("ab", "tableName", 3)
    assert refused.value.old_message == f"1 validation error detected: {problem}"


ARN = "arn:aws:dynamodb:us-east-1:123456789012:"


@pytest.mark.parametrize(
    ("arn", "problem"),
    [
        ("arn:aws:dynamodb", "Valid ARN format is"),
        (ARN, "Valid ARN format is"),
        (ARN + "table", "Valid ARN format is"),
        (ARN + "stream/orders", "Invalid resource type"),
        (ARN + "table/", "Table name of ARN must have length greater than or equal to 3"),
        (ARN + "table/ab", "Table name of ARN must have length greater than or equal to 3"),
        (ARN + "table/" + "a" * 256, "Valid ARN format is"),
        (ARN + "table/orders/index/by_status", "Valid ARN format is"),
        (ARN + "table/a b c", "Valid ARN format is"),
    ],
)
@pytest.mark.parametrize("operation", ["GetItem", "DescribeTable"])
def test_a_malformed_arn_is_refused(operation: str, arn: str, problem: str) -> None:
    with pytest.raises(ValidationException) as refused:
        read(find_operation(operation)[0], {"TableName": arn, "Key": KEY})
    start = f"1 validation error detected: Value '{arn}' at 'tableName' failed to satisfy"
    assert refused.value.old_message.startswith(f"{start} constraint: {problem}")


@pytest.mark.parametrize("region", ["us-east-1:123456789012", "eu-west-1:123456789012", ":"])
def test_the_arn_of_a_table_is_accepted(region: str) -> None:
    arn = f"arn:aws:dynamodb:{region}:table/orders"
    request: Any = read(find_operation("GetItem")[0], {"TableName": arn, "Key": KEY})
    assert request.table_name == arn
