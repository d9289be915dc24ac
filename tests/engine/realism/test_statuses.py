from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import (
    DynamoDBError,
    LimitExceededException,
    ResourceInUseException,
    ResourceNotFoundException,
    ValidationException,
)
from tablewright.server import serving
from tests.engine.database import Json, definitions, index_request, item, table_request, values
from tests.engine.realism.clock import Clock, realistic
from tests.server.http import sdk_client

KEY = item(pk="a", sk="1")


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    """An engine with the ACTIVE table `shop`."""
    with realistic(clock) as engine:
        engine.call("CreateTable", table_request("shop"))
        clock.move(10)
        yield engine


def describe(engine: Engine, name: str = "shop") -> Any:
    return engine.call("DescribeTable", {"TableName": name})["Table"]


def create_index(engine: Engine, name: str = "glob") -> None:
    engine.call(
        "UpdateTable",
        {
            "TableName": "shop",
            "AttributeDefinitions": definitions("g:S"),
            "GlobalSecondaryIndexUpdates": [{"Create": index_request(name, "g:S")}],
        },
    )


def fails(engine: Engine, operation: str, request: Json, kind: type[DynamoDBError]) -> str:
    with pytest.raises(kind) as refused:
        engine.call(operation, request)
    return refused.value.message


def test_a_new_table_is_creating_and_then_active(clock: Clock) -> None:
    with realistic(clock) as engine:
        engine.call("CreateTable", table_request("shop", glob={"glob": ("g:S", "ALL")}))
        found = describe(engine)
        assert found["TableStatus"] == "CREATING"
        assert found["GlobalSecondaryIndexes"][0]["IndexStatus"] == "CREATING"
        request = {"TableName": "shop", "Key": KEY}
        message = "Requested resource not found"
        assert fails(engine, "GetItem", request, ResourceNotFoundException) == message
        batch = {"RequestItems": {"shop": {"Keys": [KEY]}}}
        assert fails(engine, "BatchGetItem", batch, ResourceNotFoundException) == message
        select = {"Statement": "SELECT * FROM shop WHERE pk = 'a'"}
        assert fails(engine, "ExecuteStatement", select, ResourceNotFoundException) == message
        clock.move(10)
        assert describe(engine)["TableStatus"] == "ACTIVE"
        assert engine.call("GetItem", request) == {}


@pytest.mark.parametrize(
    ("operation", "members"),
    [("UpdateTable", {"DeletionProtectionEnabled": True}), ("DeleteTable", {})],
)
def test_a_table_that_is_created_cannot_be_changed(
    clock: Clock, operation: str, members: Json
) -> None:
    with realistic(clock) as engine:
        engine.call("CreateTable", table_request("shop"))
        assert fails(
            engine, operation, {"TableName": "shop", **members}, ResourceInUseException
        ) == ("Attempt to change a resource which is still in use: Table is being created: shop")


def test_settings_of_a_table_that_is_created(clock: Clock) -> None:
    with realistic(clock) as engine:
        engine.call("CreateTable", table_request("shop"))
        named = {"TableName": "shop"}
        assert fails(engine, "DescribeTimeToLive", named, ValidationException) == (
            "Cannot describe time to live while table is in CREATING state: "
            "Current table state is CREATING"
        )
        enable = named | {"ContributorInsightsAction": "ENABLE"}
        assert "TableStatus must be ACTIVE" in fails(
            engine, "UpdateContributorInsights", enable, ValidationException
        )


def test_an_updated_table_is_updating(engine: Engine, clock: Clock) -> None:
    update = {"TableName": "shop", "TableClass": "STANDARD_INFREQUENT_ACCESS"}
    engine.call("UpdateTable", update)
    assert describe(engine)["TableStatus"] == "UPDATING"
    assert engine.call("GetItem", {"TableName": "shop", "Key": KEY}) == {}
    message = "Attempt to change a resource which is still in use: Table is being updated: shop"
    again = {"TableName": "shop", "TableClass": "STANDARD"}
    assert fails(engine, "UpdateTable", again, ResourceInUseException) == message
    assert fails(engine, "DeleteTable", {"TableName": "shop"}, ResourceInUseException) == message
    clock.move(10)
    assert describe(engine)["TableStatus"] == "ACTIVE"
    engine.call("UpdateTable", again)


def test_changes_of_protection_take_no_time(engine: Engine) -> None:
    engine.call("UpdateTable", {"TableName": "shop", "DeletionProtectionEnabled": True})
    assert describe(engine)["TableStatus"] == "ACTIVE"


def test_one_index_is_created_at_a_time(engine: Engine, clock: Clock) -> None:
    create_index(engine)
    found = describe(engine)
    assert found["TableStatus"] == "UPDATING"
    assert found["GlobalSecondaryIndexes"][0]["IndexStatus"] == "CREATING"
    assert found["GlobalSecondaryIndexes"][0]["Backfilling"] is False
    clock.move(10)
    found = describe(engine)
    assert found["TableStatus"] == "ACTIVE"
    assert found["GlobalSecondaryIndexes"][0]["Backfilling"] is True
    with pytest.raises(LimitExceededException, match="Only 1 online index can be created"):
        create_index(engine, "other")
    query = {
        "TableName": "shop",
        "IndexName": "glob",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": values(g="x"),
    }
    assert fails(engine, "Query", query, ValidationException) == (
        "Cannot read from backfilling global secondary index: glob"
    )
    clock.move(10)
    assert describe(engine)["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    assert engine.call("Query", query)["Count"] == 0
    create_index(engine, "other")


def test_a_deleted_index_is_deleting(engine: Engine, clock: Clock) -> None:
    create_index(engine)
    clock.move(20)
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "glob"}}]}
    engine.call("UpdateTable", {"TableName": "shop", **delete})
    (index,) = describe(engine)["GlobalSecondaryIndexes"]
    assert (index["IndexName"], index["IndexStatus"]) == ("glob", "DELETING")
    message = fails(engine, "DeleteTable", {"TableName": "shop"}, ResourceInUseException)
    assert message.endswith("while indexes are being created, updated, or deleted.")
    clock.move(20)
    assert "GlobalSecondaryIndexes" not in describe(engine)


def test_a_deleted_table_is_deleting_and_then_gone(engine: Engine, clock: Clock) -> None:
    engine.call("DeleteTable", {"TableName": "shop"})
    assert describe(engine)["TableStatus"] == "DELETING"
    assert engine.call("ListTables")["TableNames"] == ["shop"]
    request = {"TableName": "shop", "Key": KEY}
    fails(engine, "GetItem", request, ResourceNotFoundException)
    assert fails(engine, "CreateTable", table_request("shop"), ResourceInUseException) == (
        "Attempt to change a resource which is still in use: Table is being deleted: shop"
    )
    clock.move(10)
    fails(engine, "DescribeTable", {"TableName": "shop"}, ResourceNotFoundException)
    assert engine.call("ListTables")["TableNames"] == []
    engine.call("CreateTable", table_request("shop"))


def test_settings_are_enabling(engine: Engine, clock: Clock) -> None:
    stream = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
    named = {"TableName": "shop"}
    engine.call("EnableKinesisStreamingDestination", named | {"StreamArn": stream})
    engine.call("UpdateContributorInsights", named | {"ContributorInsightsAction": "ENABLE"})

    def statuses() -> tuple[str, str]:
        kinesis = engine.call("DescribeKinesisStreamingDestination", named)
        insights = engine.call("DescribeContributorInsights", named)
        (destination,) = kinesis["KinesisDataStreamDestinations"]
        return destination["DestinationStatus"], insights["ContributorInsightsStatus"]

    assert statuses() == ("ENABLING", "ENABLING")
    clock.move(10)
    assert statuses() == ("ACTIVE", "ENABLED")


class SteppingClock(Clock):
    """Moves by itself, as if every look took three seconds."""

    def __call__(self) -> float:
        self.now += 3
        return self.now


def test_the_waiters_of_boto3_wait() -> None:
    with realistic(SteppingClock()) as engine, serving(engine) as url:
        client = sdk_client(url)
        answer = client.create_table(**table_request("shop"))
        assert answer["TableDescription"]["TableStatus"] == "CREATING"
        config = {"Delay": 0, "MaxAttempts": 20}
        client.get_waiter("table_exists").wait(TableName="shop", WaiterConfig=config)
        client.delete_table(TableName="shop")
        assert client.describe_table(TableName="shop")["Table"]["TableStatus"] == "DELETING"
        client.get_waiter("table_not_exists").wait(TableName="shop", WaiterConfig=config)
        client.close()
