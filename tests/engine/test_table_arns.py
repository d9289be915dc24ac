"""Tables named by their ARNs, in every operation that names a table."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item, table_request, values

KEY = item(pk="a", sk="1")
STORED = KEY | item(v=1)


def arn_of(table: str) -> str:
    return f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"


@pytest.fixture
def full(db: Database) -> str:
    return db.table(local={"loc": ("pk:S / l:S", "ALL")}, items=[STORED])


@pytest.mark.parametrize(
    ("operation", "more", "found"),
    [
        ("GetItem", {"Key": KEY}, {"Item": STORED}),
        ("PutItem", {"Item": KEY, "ReturnValues": "ALL_OLD"}, {"Attributes": STORED}),
        ("DeleteItem", {"Key": KEY, "ReturnValues": "ALL_OLD"}, {"Attributes": STORED}),
        ("UpdateItem", {"Key": KEY, "ReturnValues": "ALL_NEW"}, {"Attributes": STORED}),
        ("Scan", {}, {"Items": [STORED]}),
        (
            "Query",
            {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a")},
            {"Items": [STORED]},
        ),
    ],
)
def test_an_item_operation(
    db: Database, full: str, operation: str, more: Json, found: Json
) -> None:
    """The capacity is reported for the ARN, as in DynamoDB."""
    request = {"TableName": arn_of(full), "ReturnConsumedCapacity": "TOTAL"} | more
    answer = db.call(operation, request)
    assert answer.items() >= found.items()
    assert answer["ConsumedCapacity"]["TableName"] == arn_of(full)


def test_batch_get_item(db: Database, full: str) -> None:
    arn = arn_of(full)
    request = {"RequestItems": {arn: {"Keys": [KEY]}}, "ReturnConsumedCapacity": "TOTAL"}
    answer = db.call("BatchGetItem", request)
    assert answer["Responses"] == {arn: [STORED]}
    assert [each["TableName"] for each in answer["ConsumedCapacity"]] == [arn]


def test_batch_write_item(db: Database, full: str) -> None:
    arn = arn_of(full)
    answer = db.call(
        "BatchWriteItem",
        {
            "RequestItems": {arn: [{"DeleteRequest": {"Key": KEY}}]},
            "ReturnConsumedCapacity": "TOTAL",
            "ReturnItemCollectionMetrics": "SIZE",
        },
    )
    assert [each["TableName"] for each in answer["ConsumedCapacity"]] == [arn]
    assert answer["ItemCollectionMetrics"].keys() == {arn}
    assert db.items(full) == []


def test_one_item_by_name_and_by_arn_is_a_duplicate(db: Database, full: str) -> None:
    delete = [{"DeleteRequest": {"Key": KEY}}]
    request = {"RequestItems": {full: delete, arn_of(full): delete}}
    message = "Provided list of item keys contains duplicates"
    db.refuses("BatchWriteItem", request, message)


def test_transactions(db: Database, full: str) -> None:
    arn = arn_of(full)
    get = {"Get": {"TableName": arn, "Key": KEY}}
    answer = db.call(
        "TransactGetItems", {"TransactItems": [get], "ReturnConsumedCapacity": "TOTAL"}
    )
    assert answer["Responses"] == [{"Item": STORED}]
    assert [each["TableName"] for each in answer["ConsumedCapacity"]] == [arn]
    actions: list[Any] = [
        {"Put": {"TableName": arn, "Item": item(pk="b", sk="1")}},
        {"Update": request_of(arn, "2") | {"UpdateExpression": "REMOVE v"}},
        {"Delete": request_of(arn, "1")},
        {"ConditionCheck": request_of(arn, "3") | {"ConditionExpression": "attribute_exists(pk)"}},
    ]
    db.put(full, item(pk="a", sk="3"))
    answer = db.call(
        "TransactWriteItems", {"TransactItems": actions, "ReturnConsumedCapacity": "TOTAL"}
    )
    assert [each["TableName"] for each in answer["ConsumedCapacity"]] == [arn]
    assert len(db.items(full)) == 2


def request_of(arn: str, sk: str) -> Json:
    return {"TableName": arn, "Key": item(pk="a", sk=sk)}


def test_a_table_is_created(db: Database) -> None:
    name = db.new_name()
    created = db.call("CreateTable", table_request(arn_of(name)))["TableDescription"]
    assert (created["TableName"], created["TableArn"]) == (name, arn_of(name))


def test_operations_on_the_table_itself(db: Database, full: str) -> None:
    arn = arn_of(full)
    protect = {"TableName": arn, "DeletionProtectionEnabled": False}
    assert db.call("UpdateTable", protect)["TableDescription"]["TableName"] == full
    ttl = {"TableName": arn, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}
    db.call("UpdateTimeToLive", ttl)
    found = db.call("DescribeTimeToLive", {"TableName": arn})["TimeToLiveDescription"]
    assert found["AttributeName"] == "t"
    assert db.call("DescribeTable", {"TableName": arn})["Table"]["TableName"] == full
    db.call("DeleteTable", {"TableName": arn})
    assert full not in db.call("ListTables")["TableNames"]


@pytest.mark.parametrize("operation", ["DeleteTable", "DescribeTable"])
@pytest.mark.parametrize("resource", ["backup/orders", "table/orders/index/by_status", "table/ab"])
def test_other_arns_are_refused(db: Database, operation: str, resource: str) -> None:
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:{resource}"
    with pytest.raises(Refused) as refused:
        db.call(operation, {"TableName": arn})
    assert refused.value.code == "ValidationException"
    start = f"1 validation error detected: Value '{arn}' at 'tableName' failed to satisfy"
    assert refused.value.message.startswith(start)
