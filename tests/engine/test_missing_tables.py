"""Every operation on a table that does not exist is refused, in the words of its API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/missing"
TABLE = {"TableName": "missing"}
WHERE = "WHERE pk = 'a' AND sk = '1'"
#: A time to live, and backups at every second.
TTL = {"TimeToLiveSpecification": {"AttributeName": "until", "Enabled": True}}
BACKUPS = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}

ITEMS = ("ResourceNotFoundException", "Requested resource not found")
NAMED = (ITEMS[0], f"{ITEMS[1]}: Table: missing not found")
TAGGED = (ITEMS[0], f"{ITEMS[1]}: ResourcArn: {ARN} not found")
BACKED_UP = ("TableNotFoundException", "Table not found: missing")

CASES: list[tuple[str, Json, tuple[str, str]]] = [
    ("GetItem", {**TABLE, "Key": KEY}, ITEMS),
    ("PutItem", {**TABLE, "Item": KEY}, ITEMS),
    ("DeleteItem", {**TABLE, "Key": KEY}, ITEMS),
    (
        "UpdateItem",
        {
            **TABLE,
            "Key": KEY,
            "UpdateExpression": "SET q = :v",
            "ExpressionAttributeValues": values(v=1),
        },
        ITEMS,
    ),
    (
        "Query",
        {
            **TABLE,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": values(p="a"),
        },
        ITEMS,
    ),
    ("Scan", TABLE, ITEMS),
    ("BatchGetItem", {"RequestItems": {"missing": {"Keys": [KEY]}}}, ITEMS),
    ("BatchWriteItem", {"RequestItems": {"missing": [{"PutRequest": {"Item": KEY}}]}}, ITEMS),
    ("TransactGetItems", {"TransactItems": [{"Get": {**TABLE, "Key": KEY}}]}, ITEMS),
    ("TransactWriteItems", {"TransactItems": [{"Put": {**TABLE, "Item": KEY}}]}, ITEMS),
    ("ExecuteStatement", {"Statement": "SELECT * FROM absent"}, ITEMS),
    ("ExecuteStatement", {"Statement": "INSERT INTO absent VALUE {'pk': 'a'}"}, ITEMS),
    ("ExecuteStatement", {"Statement": f"UPDATE absent SET n = 1 {WHERE}"}, ITEMS),
    ("ExecuteStatement", {"Statement": f"DELETE FROM absent {WHERE}"}, ITEMS),
    ("DeleteTable", TABLE, NAMED),
    ("DescribeTable", TABLE, NAMED),
    ("UpdateTable", {**TABLE, "BillingMode": "PAY_PER_REQUEST"}, NAMED),
    ("DescribeTimeToLive", TABLE, NAMED),
    ("UpdateTimeToLive", TABLE | TTL, NAMED),
    ("DescribeKinesisStreamingDestination", TABLE, NAMED),
    ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "1"}]}, TAGGED),
    ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["a"]}, TAGGED),
    ("ListTagsOfResource", {"ResourceArn": ARN}, TAGGED),
    ("CreateBackup", {**TABLE, "BackupName": "one"}, BACKED_UP),
    ("DescribeContinuousBackups", TABLE, BACKED_UP),
    ("UpdateContinuousBackups", TABLE | BACKUPS, BACKED_UP),
    (
        "RestoreTableToPointInTime",
        {
            "SourceTableName": "missing",
            "TargetTableName": "more",
            "UseLatestRestorableTime": True,
        },
        BACKED_UP,
    ),
]


@pytest.mark.parametrize(("operation", "request_", "fault"), CASES)
def test_a_missing_table_is_not_found(
    db: Database, operation: str, request_: Any, fault: tuple[str, str]
) -> None:
    db.fails(operation, request_, *fault)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        (
            "BatchGetItem",
            lambda table: {"RequestItems": {name: {"Keys": [KEY]} for name in (table, "missing")}},
        ),
        (
            "BatchWriteItem",
            lambda table: {
                "RequestItems": {
                    name: [{"DeleteRequest": {"Key": KEY}}] for name in (table, "missing")
                }
            },
        ),
        (
            "TransactGetItems",
            lambda table: {
                "TransactItems": [
                    {"Get": {"TableName": name, "Key": KEY}} for name in (table, "missing")
                ]
            },
        ),
    ],
)
def test_one_missing_table_fails_the_request(db: Database, operation: str, request_: Any) -> None:
    full = db.table(items=[KEY])
    db.fails(operation, request_(full), *ITEMS)
    assert db.items(full) == [KEY]
