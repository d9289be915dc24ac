"""JSON of a wrong type is a SerializationException, in the words of DynamoDB's parser."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.engine.operations import find_operation
from tablewright.errors import SerializationException
from tablewright.wire.read import read
from tablewright.wire.values import read_value

STRUCTURE = "Start of structure or map found where not expected"
SERVICE = "com.amazonaws.dynamodb.v20120810"
VALUES = f"java.util.Map<java.lang.String, {SERVICE}.AttributeValue>"

#: Operation, member, what is given, what is answered.
MEMBERS: list[tuple[str, str, Any, str]] = [
    # strings
    ("GetItem", "TableName", True, "TRUE_VALUE cannot be converted to String"),
    ("GetItem", "TableName", False, "FALSE_VALUE cannot be converted to String"),
    ("GetItem", "TableName", 1, "NUMBER_VALUE cannot be converted to String"),
    ("GetItem", "TableName", 1.5, "DECIMAL_VALUE cannot be converted to String"),
    ("GetItem", "TableName", [], "Unrecognized collection type class java.lang.String"),
    ("GetItem", "TableName", {}, STRUCTURE),
    ("CreateTable", "TableName", 1, "NUMBER_VALUE cannot be converted to String"),
    ("CreateTable", "BillingMode", 1, "NUMBER_VALUE cannot be converted to String"),
    ("PutItem", "ConditionExpression", {}, STRUCTURE),
    # integers
    ("Query", "Limit", "1", "STRING_VALUE cannot be converted to Integer"),
    ("Query", "Limit", True, "TRUE_VALUE cannot be converted to Integer"),
    ("Query", "Limit", [], "Unrecognized collection type class java.lang.Integer"),
    ("Query", "Limit", {}, STRUCTURE),
    ("Scan", "Segment", "0", "STRING_VALUE cannot be converted to Integer"),
    ("ListTables", "Limit", False, "FALSE_VALUE cannot be converted to Integer"),
    # booleans
    ("GetItem", "ConsistentRead", "true", "Unexpected token received from parser"),
    ("GetItem", "ConsistentRead", 1, "NUMBER_VALUE cannot be converted to Boolean"),
    ("GetItem", "ConsistentRead", 0.5, "DECIMAL_VALUE cannot be converted to Boolean"),
    ("GetItem", "ConsistentRead", [], "Unrecognized collection type class java.lang.Boolean"),
    ("GetItem", "ConsistentRead", {}, STRUCTURE),
    # maps
    ("GetItem", "Key", "a", "Unexpected field type"),
    ("GetItem", "Key", 1, "Unexpected field type"),
    ("GetItem", "Key", True, "Unexpected field type"),
    # values of maps
    ("GetItem", "Key", {"a": "b"}, "Unexpected value type in payload"),
    ("GetItem", "Key", {"a": 1}, "Unexpected value type in payload"),
    (
        "GetItem",
        "Key",
        {"a": []},
        f"Unrecognized collection type class {SERVICE}.AttributeValue",
    ),
    (
        "GetItem",
        "ExpressionAttributeNames",
        {"#a": 1},
        "NUMBER_VALUE cannot be converted to String",
    ),
    ("PutItem", "Expected", {"a": "b"}, "Unexpected value type in payload"),
    # lists
    ("CreateTable", "KeySchema", "a", "Unexpected field type"),
    ("CreateTable", "KeySchema", True, "Unexpected field type"),
    ("CreateTable", "KeySchema", {}, STRUCTURE),
    ("TransactWriteItems", "TransactItems", {}, STRUCTURE),
    # elements of lists
    ("CreateTable", "KeySchema", ["a"], "Unexpected value type in payload"),
    (
        "CreateTable",
        "KeySchema",
        [[]],
        f"Unrecognized collection type class {SERVICE}.KeySchemaElement",
    ),
    ("GetItem", "AttributesToGet", [1], "NUMBER_VALUE cannot be converted to String"),
    # structures
    (
        "CreateTable",
        "ProvisionedThroughput",
        [],
        f"Unrecognized collection type class {SERVICE}.ProvisionedThroughput",
    ),
    # maps by what they hold, long integers, structures by name
    (
        "CreateTable",
        "ProvisionedThroughput",
        {"ReadCapacityUnits": "1"},
        "STRING_VALUE cannot be converted to Long",
    ),
    (
        "CreateTable",
        "ProvisionedThroughput",
        {"ReadCapacityUnits": []},
        "Unrecognized collection type class java.lang.Long",
    ),
    ("GetItem", "Key", [], f"Unrecognized collection type {VALUES}"),
    ("PutItem", "Item", [], f"Unrecognized collection type {VALUES}"),
    (
        "PutItem",
        "Expected",
        [],
        "Unrecognized collection type "
        f"java.util.Map<java.lang.String, {SERVICE}.ExpectedAttributeValue>",
    ),
    (
        "UpdateItem",
        "AttributeUpdates",
        [],
        "Unrecognized collection type "
        f"java.util.Map<java.lang.String, {SERVICE}.AttributeValueUpdate>",
    ),
    (
        "Query",
        "KeyConditions",
        [],
        f"Unrecognized collection type java.util.Map<java.lang.String, {SERVICE}.Condition>",
    ),
    (
        "GetItem",
        "ExpressionAttributeNames",
        [],
        "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
    ),
    (
        "BatchGetItem",
        "RequestItems",
        [],
        "Unrecognized collection type "
        f"java.util.Map<java.lang.String, {SERVICE}.KeysAndAttributes>",
    ),
    (
        "BatchWriteItem",
        "RequestItems",
        [],
        "Unrecognized collection type "
        f"java.util.Map<java.lang.String, java.util.List<{SERVICE}.WriteRequest>>",
    ),
    ("CreateTable", "ProvisionedThroughput", "a", "Unexpected field type"),
    (
        "CreateTable",
        "SSESpecification",
        [],
        f"Unrecognized collection type class {SERVICE}.SSESpecification",
    ),
    (
        "CreateTable",
        "LocalSecondaryIndexes",
        [{"Projection": []}],
        f"Unrecognized collection type class {SERVICE}.Projection",
    ),
    (
        "CreateTable",
        "GlobalSecondaryIndexes",
        [[]],
        f"Unrecognized collection type class {SERVICE}.GlobalSecondaryIndex",
    ),
]


@pytest.mark.parametrize(("operation", "member", "given", "message"), MEMBERS)
def test_a_member_of_the_wrong_type_is_refused(
    operation: str, member: str, given: Any, message: str
) -> None:
    with pytest.raises(SerializationException) as refused:
        read(find_operation(operation)[0], {member: given})
    assert refused.value.message == message


#: What is inside a value, and what is answered.
CONTENTS: list[tuple[dict[str, Any], str]] = [
    ({"S": 1}, "NUMBER_VALUE cannot be converted to String"),
    ({"S": 1.5}, "DECIMAL_VALUE cannot be converted to String"),
    ({"S": True}, "TRUE_VALUE cannot be converted to String"),
    ({"S": []}, "Unrecognized collection type class java.lang.String"),
    ({"S": {}}, STRUCTURE),
    ({"N": 5}, "NUMBER_VALUE cannot be converted to String"),
    ({"N": False}, "FALSE_VALUE cannot be converted to String"),
    ({"B": 1}, "only base-64-encoded strings are convertible to bytes"),
    ({"B": True}, "only base-64-encoded strings are convertible to bytes"),
    ({"B": "YQ"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 2"),
    ({"B": "YQ=!"}, "Invalid Base64 character in the value"),
    ({"B": "\u00e9aaa"}, "Invalid Base64 character in the value"),
    ({"BOOL": "true"}, "Unexpected token received from parser"),
    ({"BOOL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
    ({"NULL": "true"}, "Unexpected token received from parser"),
    ({"NULL": []}, "Unrecognized collection type class java.lang.Boolean"),
    ({"SS": "a"}, "Unexpected field type"),
    ({"SS": {}}, STRUCTURE),
    ({"SS": [1]}, "NUMBER_VALUE cannot be converted to String"),
    ({"NS": [1]}, "NUMBER_VALUE cannot be converted to String"),
    ({"BS": [1]}, "only base-64-encoded strings are convertible to bytes"),
    ({"L": "a"}, "Unexpected field type"),
    ({"L": {}}, STRUCTURE),
    ({"L": ["a"]}, "Unexpected value type in payload"),
    ({"M": "a"}, "Unexpected field type"),
    ({"M": []}, f"Unrecognized collection type {VALUES}"),
    ({"M": {"a": "b"}}, "Unexpected value type in payload"),
    ({"L": [{"M": {"a": {"S": 1}}}]}, "NUMBER_VALUE cannot be converted to String"),
]


@pytest.mark.parametrize(("value", "message"), CONTENTS)
def test_a_value_with_contents_of_the_wrong_type_is_refused(
    value: dict[str, Any], message: str
) -> None:
    with pytest.raises(SerializationException) as refused:
        read_value(value)
    assert refused.value.message == message


@pytest.mark.parametrize(
    ("operation", "member", "value"),
    [
        ("PutItem", "Item", {"a": {"N": 1}}),
        ("GetItem", "Key", {"a": {"N": 1}}),
        ("Query", "ExpressionAttributeValues", {":a": {"N": 1}}),
        ("Scan", "ExclusiveStartKey", {"a": {"N": 1}}),
        ("PutItem", "Expected", {"a": {"Value": {"N": 1}}}),
        ("UpdateItem", "AttributeUpdates", {"a": {"Value": {"N": 1}}}),
        (
            "Query",
            "KeyConditions",
            {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": 1}]}},
        ),
        ("BatchGetItem", "RequestItems", {"t": {"Keys": [{"a": {"N": 1}}]}}),
        ("BatchWriteItem", "RequestItems", {"t": [{"PutRequest": {"Item": {"a": {"N": 1}}}}]}),
        ("TransactGetItems", "TransactItems", [{"Get": {"Key": {"a": {"N": 1}}}}]),
        ("TransactWriteItems", "TransactItems", [{"Put": {"Item": {"a": {"N": 1}}}}]),
    ],
)
def test_values_are_looked_into_wherever_they_are(operation: str, member: str, value: Any) -> None:
    with pytest.raises(SerializationException, match="NUMBER_VALUE cannot be converted to String"):
        read(find_operation(operation)[0], {member: value})


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"S": "a", "N": None}, {"S": "a"}),
        ({"S": "a", "X": 1}, {"S": "a"}),
        ({"X": 1}, {}),
        ({}, {}),
        ({"B": "YR=="}, {"B": "YQ=="}),  # two texts of the same bytes
        ({"BS": ["YR=="]}, {"BS": ["YQ=="]}),
    ],
)
def test_what_is_null_or_unknown_in_a_value_is_dropped(
    given: dict[str, Any], value: dict[str, Any]
) -> None:
    assert read_value(given) == value


@pytest.mark.parametrize("body", ["a", 1, True, []])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(SerializationException):
        read(find_operation("GetItem")[0], body)


def test_a_fraction_is_cut_off_an_integer() -> None:
    assert getattr(read(find_operation("ListTables")[0], {"Limit": 2.9}), "limit", None) == 2


def test_unknown_members_are_ignored() -> None:
    model = find_operation("ListTables")[0]
    assert read(model, {"Colour": {"what": ["ever"]}}) == read(model, {})


def test_a_null_is_an_absent_member() -> None:
    assert read(find_operation("ListTables")[0], {"Limit": None}) == read(
        find_operation("ListTables")[0], {}
    )


def test_a_wrong_type_wins_over_what_is_missing() -> None:
    with pytest.raises(SerializationException):
        read(find_operation("GetItem")[0], {"ConsistentRead": 1})
