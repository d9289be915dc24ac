"""What the service model demands of each operation, before any table is looked for."""

from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, Refused, item, table_request, values

KEY = item(pk="a", sk="1")
NAMED: Json = {"TableName": "missing"}
PUT = {"Put": NAMED | {"Item": KEY}}


def broken(value: str | None, path: str, rule: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {rule}"


NULL = "Member must not be null"
SHORT = "Member must have length greater than or equal to 1"
SHORTER_THAN_3 = "Member must have length greater than or equal to 3"
PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
LONG = "Member must have length less than or equal to"
ENUM = "Member must satisfy enum value set:"

CASES: list[tuple[str, Json, str]] = [
    ("GetItem", {"Key": KEY}, broken(None, "tableName", NULL)),
    ("GetItem", NAMED, broken(None, "key", NULL)),
    ("PutItem", NAMED, broken(None, "item", NULL)),
    ("DeleteItem", NAMED, broken(None, "key", NULL)),
    ("UpdateItem", NAMED, broken(None, "key", NULL)),
    ("Query", {}, broken(None, "tableName", NULL)),
    ("Scan", {}, broken(None, "tableName", NULL)),
    ("GetItem", {"TableName": "a b", "Key": KEY}, broken("a b", "tableName", PATTERN)),
    *(
        (operation, request, broken(name, "tableName", rule))
        for name, rule in (
            ("", SHORT),
            ("ab", SHORTER_THAN_3),
            ("x" * 256, f"{LONG} 255"),
        )
        for operation, request in (
            ("CreateTable", table_request(name)),
            ("DescribeTable", {"TableName": name}),
        )
    ),
    ("CreateTable", table_request("a b c"), broken("a b c", "tableName", PATTERN)),
    (
        "PutItem",
        {**NAMED, "Item": KEY, "ReturnValues": "ALL"},
        broken("ALL", "returnValues", f"{ENUM} [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"),
    ),
    (
        "PutItem",
        {**NAMED, "Item": KEY, "ReturnConsumedCapacity": "ALL"},
        broken("ALL", "returnConsumedCapacity", f"{ENUM} [INDEXES, TOTAL, NONE]"),
    ),
    (
        "PutItem",
        {**NAMED, "Item": KEY, "ReturnItemCollectionMetrics": "ALL"},
        broken("ALL", "returnItemCollectionMetrics", f"{ENUM} [SIZE, NONE]"),
    ),
    (
        "PutItem",
        {**NAMED, "Item": KEY, "ReturnValuesOnConditionCheckFailure": "X"},
        broken("X", "returnValuesOnConditionCheckFailure", f"{ENUM} [ALL_OLD, NONE]"),
    ),
    (
        "Scan",
        {**NAMED, "Select": "ALL"},
        broken(
            "ALL",
            "select",
            f"{ENUM} [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ),
    ),
    ("Scan", {**NAMED, "IndexName": "ab"}, broken("ab", "indexName", SHORTER_THAN_3)),
    (
        "ListTables",
        {"Limit": 0},
        broken("0", "limit", "Member must have value greater than or equal to 1"),
    ),
    (
        "ListTables",
        {"Limit": 101},
        broken("101", "limit", "Member must have value less than or equal to 100"),
    ),
    (
        "ListTables",
        {"ExclusiveStartTableName": "a/b"},
        broken("a/b", "exclusiveStartTableName", PATTERN),
    ),
    (
        "ListTables",
        {"ExclusiveStartTableName": "ab"},
        broken("ab", "exclusiveStartTableName", SHORTER_THAN_3),
    ),
    (
        "UpdateTimeToLive",
        {**NAMED, "TimeToLiveSpecification": {"AttributeName": "", "Enabled": True}},
        broken("", "timeToLiveSpecification.attributeName", SHORT),
    ),
    (
        "UpdateTimeToLive",
        {**NAMED, "TimeToLiveSpecification": {"AttributeName": "a"}},
        broken(None, "timeToLiveSpecification.enabled", NULL),
    ),
    ("UpdateTimeToLive", NAMED, broken(None, "timeToLiveSpecification", NULL)),
    ("TransactGetItems", {"TransactItems": []}, broken("[]", "transactItems", SHORT)),
    (
        "TransactGetItems",
        {"TransactItems": [{}]},
        broken(None, "transactItems.1.member.get", NULL),
    ),
    (
        "TransactGetItems",
        {"TransactItems": [{"Get": NAMED}]},
        broken(None, "transactItems.1.member.get.key", NULL),
    ),
    ("TransactWriteItems", {"TransactItems": []}, broken("[]", "transactItems", SHORT)),
    ("TransactWriteItems", {}, broken(None, "transactItems", NULL)),
    (
        "TransactWriteItems",
        {"TransactItems": [{"Put": NAMED}]},
        broken(None, "transactItems.1.member.put.item", NULL),
    ),
    (
        "TransactWriteItems",
        {"TransactItems": [PUT, {"Update": {**NAMED, "Key": KEY}}]},
        broken(None, "transactItems.2.member.update.updateExpression", NULL),
    ),
    (
        "TransactWriteItems",
        {"TransactItems": [{"ConditionCheck": {**NAMED, "Key": KEY}}]},
        broken(None, "transactItems.1.member.conditionCheck.conditionExpression", NULL),
    ),
    (
        "TransactWriteItems",
        {"TransactItems": [PUT], "ClientRequestToken": "x" * 37},
        broken("x" * 37, "clientRequestToken", f"{LONG} 36"),
    ),
]


@pytest.mark.parametrize(("operation", "request_", "problem"), CASES)
def test_what_the_model_demands(db: Database, operation: str, request_: Json, problem: str) -> None:
    db.refuses(operation, request_, f"1 validation error detected: {problem}", raw=True)


def test_all_that_is_wrong_is_told_at_once(db: Database) -> None:
    with pytest.raises(Refused) as refused:
        db.post("GetItem", {"ReturnConsumedCapacity": "X", "AttributesToGet": []})
    start, _, problems = refused.value.message.partition(" validation errors detected: ")
    assert start == "4"
    assert sorted(problems.split("; ")) == sorted(
        [
            broken(None, "tableName", NULL),
            broken(None, "key", NULL),
            broken(
                "X",
                "returnConsumedCapacity",
                "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
            ),
            broken("[]", "attributesToGet", SHORT),
        ]
    )


def test_at_most_ten_problems_are_told(db: Database) -> None:
    bad = {"AttributeName": "a", "AttributeType": "X"}
    request = {
        "TableName": "missing",
        "AttributeDefinitions": [bad] * 12,
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    }
    with pytest.raises(Refused) as refused:
        db.post("CreateTable", request)
    assert refused.value.message.count("; ") == 9


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("PutItem", {"Item": KEY}),
        ("GetItem", {"Key": KEY}),
        ("Query", {"KeyConditionExpression": "k = :k", "ExpressionAttributeValues": values(k=1)}),
        ("Scan", {}),
    ],
)
def test_a_short_name_is_refused_before_the_table_is_looked_for(
    db: Database, operation: str, more: Json
) -> None:
    short = broken("ab", "tableName", "Member must have length greater than or equal to 3")
    message = f"1 validation error detected: {short}"
    db.refuses(operation, {"TableName": "ab"} | more, message)
