from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tablewright.engine import Engine
from tablewright.engine.realism import throttling
from tablewright.errors import (
    ConditionalCheckFailedException,
    ProvisionedThroughputExceededException,
    ThrottlingException,
    TransactionCanceledException,
)
from tablewright.server import serving
from tests.engine.authorization.principals import scoped
from tests.engine.database import Json, item, table_request, values
from tests.engine.realism.clock import Clock, realistic
from tests.server.http import sdk_client

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/shop"
TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with realistic(clock, control_seconds=0.0, lag_seconds=0.0, throttles=True) as engine:
        yield engine


def units(read: int, write: int) -> Json:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def create(engine: Engine, read: int = 5, write: int = 5, **members: Any) -> None:
    engine.call("CreateTable", table_request("shop", ProvisionedThroughput=units(read, write)))


def put(engine: Engine, sk: str = "1", **attributes: Any) -> Json:
    request = {"TableName": "shop", "Item": item(pk="a", sk=sk, **attributes)}
    return engine.call("PutItem", request)


def get(engine: Engine, **members: Any) -> Json:
    return engine.call("GetItem", {"TableName": "shop", "Key": item(pk="a", sk="1"), **members})


def test_writes_above_the_declared_throughput_are_throttled(engine: Engine, clock: Clock) -> None:
    create(engine, write=2)
    put(engine)
    put(engine)
    with pytest.raises(ProvisionedThroughputExceededException) as throttled:
        put(engine)
    assert throttled.value.message == TABLE
    assert throttled.value.body()["ThrottlingReasons"] == [
        {"reason": "TableWriteProvisionedThroughputExceeded", "resource": ARN}
    ]
    clock.move(0.5)
    put(engine)
    with pytest.raises(ProvisionedThroughputExceededException):
        put(engine)


def test_a_large_item_leaves_a_debt(engine: Engine, clock: Clock) -> None:
    create(engine, write=1)
    put(engine, data="x" * 4000)
    clock.move(3)
    with pytest.raises(ProvisionedThroughputExceededException):
        put(engine)
    clock.move(1)
    put(engine)


def test_a_write_whose_condition_is_false_costs_units(engine: Engine) -> None:
    create(engine, write=1)
    request = {"TableName": "shop", "Item": item(pk="a", sk="1")}
    with pytest.raises(ConditionalCheckFailedException):
        engine.call("PutItem", request | {"ConditionExpression": "attribute_exists(pk)"})
    with pytest.raises(ProvisionedThroughputExceededException):
        put(engine)


def test_unused_units_are_saved_for_five_minutes(engine: Engine, clock: Clock) -> None:
    create(engine, read=1)
    clock.move(1000)
    for _ in range(600):
        get(engine)
    with pytest.raises(ProvisionedThroughputExceededException):
        get(engine)


def test_a_consistent_read_needs_twice_the_units(engine: Engine) -> None:
    create(engine, read=1)
    get(engine)
    with pytest.raises(ProvisionedThroughputExceededException):
        get(engine, ConsistentRead=True)
    get(engine)


def test_reads_and_writes_have_units_of_their_own(engine: Engine) -> None:
    create(engine, read=1, write=1)
    put(engine)
    get(engine, ConsistentRead=True)


def test_a_new_throughput_is_effective(engine: Engine) -> None:
    create(engine, write=1)
    put(engine)
    engine.call("UpdateTable", {"TableName": "shop", "ProvisionedThroughput": units(5, 100)})
    for _ in range(50):
        put(engine)


def test_an_index_throttles_the_writes_of_its_table(engine: Engine) -> None:
    request = table_request(
        "shop", glob={"glob": ("g:S", "ALL")}, ProvisionedThroughput=units(9, 9)
    )
    request["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] = units(1, 1)
    engine.call("CreateTable", request)
    put(engine)
    put(engine, g="x")
    with pytest.raises(ProvisionedThroughputExceededException, match="one or more global"):
        put(engine)
    query = {
        "TableName": "shop",
        "IndexName": "glob",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": values(g="x"),
    }
    engine.call("Query", query)
    engine.call("Query", query)
    with pytest.raises(ProvisionedThroughputExceededException) as throttled:
        engine.call("Query", query)
    (reason,) = throttled.value.reasons
    assert reason == {
        "reason": "IndexReadProvisionedThroughputExceeded",
        "resource": ARN + "/index/glob",
    }


def test_a_hot_partition_key_is_throttled(
    engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(throttling.KEY_RATES, "Write", 3.0)
    engine.call("CreateTable", table_request("shop"))
    for number in range(3):
        put(engine, str(number))
    with pytest.raises(ThrottlingException) as throttled:
        put(engine, "4")
    assert throttled.value.message.startswith("Throughput exceeds the current capacity of your")
    assert throttled.value.body()["throttlingReasons"] == [
        {"reason": "TableWriteKeyRangeThroughputExceeded", "resource": ARN}
    ]
    engine.call("PutItem", {"TableName": "shop", "Item": item(pk="b", sk="1")})
    clock.move(1)
    put(engine, "4")


def test_the_limits_of_a_partition_key_are_those_of_aws() -> None:
    assert throttling.KEY_RATES == {"Read": 3000.0, "Write": 1000.0}


def test_the_maximum_of_an_on_demand_table(engine: Engine, clock: Clock) -> None:
    limits = {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 2}
    engine.call("CreateTable", table_request("shop", OnDemandThroughput=limits))
    clock.move(100)
    put(engine)
    put(engine)
    with pytest.raises(ThrottlingException) as throttled:
        put(engine)
    (reason,) = throttled.value.reasons
    assert reason["reason"] == "TableWriteMaxOnDemandThroughputExceeded"


def test_throttled_items_of_a_batch_are_unprocessed(engine: Engine, clock: Clock) -> None:
    create(engine, write=2, read=1)
    puts = [{"PutRequest": {"Item": item(pk="a", sk=str(number))}} for number in range(4)]
    deletes = [{"DeleteRequest": {"Key": item(pk="b", sk="1")}}]
    request = {"RequestItems": {"shop": [*deletes, *puts]}}
    answer = engine.call("BatchWriteItem", request)
    assert answer["UnprocessedItems"] == {"shop": puts[1:]}
    with pytest.raises(ProvisionedThroughputExceededException):
        engine.call("BatchWriteItem", {"RequestItems": answer["UnprocessedItems"]})
    keys = [item(pk="a", sk=str(number)) for number in range(3)]
    found = engine.call("BatchGetItem", {"RequestItems": {"shop": {"Keys": keys}}})
    assert found["UnprocessedKeys"] == {"shop": {"Keys": keys[2:]}}
    assert found["Responses"] == {"shop": keys[:1]}


def test_a_throttled_transaction_is_cancelled(engine: Engine) -> None:
    create(engine, write=2)
    actions = [{"Put": {"TableName": "shop", "Item": item(pk=name, sk="1")}} for name in ("a", "b")]
    with pytest.raises(TransactionCanceledException) as cancelled:
        engine.call("TransactWriteItems", {"TransactItems": actions})
    assert cancelled.value.reasons == [
        {"Code": "None"},
        {"Code": "ProvisionedThroughputExceeded", "Message": TABLE},
    ]
    assert engine.call("Scan", {"TableName": "shop"})["Count"] == 0


def test_statements_are_throttled(engine: Engine) -> None:
    create(engine, write=1, read=1)
    insert = {"Statement": "INSERT INTO shop VALUE {'pk': 'a', 'sk': '1'}"}
    select: Json = {"Statement": "SELECT * FROM shop WHERE pk = 'a'", "ConsistentRead": True}
    engine.call("ExecuteStatement", insert)
    with pytest.raises(ProvisionedThroughputExceededException):
        engine.call("ExecuteStatement", insert)
    assert engine.call("ExecuteStatement", select) == {"Items": [item(pk="a", sk="1")]}
    with pytest.raises(ProvisionedThroughputExceededException):
        engine.call("ExecuteStatement", select)
    both = [{"Statement": f"SELECT * FROM shop WHERE pk = '{name}' AND sk = '1'"} for name in "ab"]
    with pytest.raises(TransactionCanceledException, match="ProvisionedThroughputExceeded"):
        engine.call("ExecuteTransaction", {"TransactStatements": both})


def test_throttled_statements_of_a_batch_have_errors(engine: Engine, clock: Clock) -> None:
    create(engine, write=2)

    def insert(*names: str) -> list[Any]:
        texts = [f"INSERT INTO shop VALUE {{'pk': 'a', 'sk': '{name}'}}" for name in names]
        request = {"Statements": [{"Statement": text} for text in [*texts, "INSER"]]}
        answer = engine.call("BatchExecuteStatement", request)
        assert "ConsumedCapacity" not in answer
        return [one.get("Error", {}).get("Code") for one in answer["Responses"]]

    wrong = "ValidationError"
    throttled = "ProvisionedThroughputExceeded"
    assert insert("1", "2", "3") == [None, None, throttled, wrong]
    assert insert("4", "5") == [throttled, throttled, wrong]
    clock.now += 1
    assert insert("6") == [None, wrong]
    found = engine.call("Scan", {"TableName": "shop", "ConsistentRead": True})["Items"]
    assert {one["sk"]["S"] for one in found} == {"1", "2", "6"}


def test_statements_of_a_batch_can_be_throttled_and_denied(engine: Engine) -> None:
    create(engine, write=1)
    texts = [f"INSERT INTO shop VALUE {{'pk': '{pk}', 'sk': '1'}}" for pk in "baca"]
    texts[3] = texts[3].replace("'1'", "'2'")
    request = {"Statements": [{"Statement": text} for text in texts]}
    answer = engine.call("BatchExecuteStatement", request, policy=scoped("a"))
    codes = [one.get("Error", {}).get("Code") for one in answer["Responses"]]
    assert codes == ["AccessDenied", None, "AccessDenied", "ProvisionedThroughputExceeded"]
    found = engine.call("Scan", {"TableName": "shop"})["Items"]
    assert found == [item(pk="a", sk="1")]


def test_a_batch_of_statements_that_are_all_throttled(engine: Engine) -> None:
    create(engine, read=1)
    read = {"Statement": "SELECT * FROM shop WHERE pk='a' AND sk='1'", "ConsistentRead": True}
    request = {"Statements": [read], "ReturnConsumedCapacity": "TOTAL"}
    answer = engine.call("BatchExecuteStatement", request)
    assert answer["Responses"] == [{"TableName": "shop"}]
    assert answer["ConsumedCapacity"] == [{"TableName": "shop", "CapacityUnits": 1.0}]
    answer = engine.call("BatchExecuteStatement", request)
    error = {"Code": "ProvisionedThroughputExceeded", "Message": TABLE}
    assert answer == {"Responses": [{"Error": error}]}


@pytest.mark.parametrize("level", [None, "NONE", "TOTAL", "INDEXES"])
def test_consumed_capacity_is_what_the_client_asked_for(engine: Engine, level: str | None) -> None:
    create(engine)
    with Engine() as plain:
        plain.call("CreateTable", table_request("shop"))
        members = {} if level is None else {"ReturnConsumedCapacity": level}
        for operation, request in (
            ("PutItem", {"TableName": "shop", "Item": item(pk="a", sk="1")}),
            (
                "Query",
                {
                    "TableName": "shop",
                    "KeyConditionExpression": "pk = :p",
                    "ExpressionAttributeValues": values(p="a"),
                },
            ),
            ("BatchGetItem", {"RequestItems": {"shop": {"Keys": [item(pk="a", sk="1")]}}}),
        ):
            sent: Json = {**request, **members}
            assert engine.call(operation, sent) == plain.call(operation, sent)


def test_throttled_keys_are_counted(engine: Engine) -> None:
    create(engine, write=1)
    engine.call(
        "UpdateContributorInsights",
        {
            "TableName": "shop",
            "ContributorInsightsAction": "ENABLE",
            "ContributorInsightsMode": "THROTTLED_KEYS",
        },
    )
    put(engine)
    for _ in range(2):
        with pytest.raises(ProvisionedThroughputExceededException):
            put(engine, "7")
    found = engine.contributor_insights("shop")
    assert found.throttled_partition_keys == [(("a",), 2)]
    assert found.throttled_keys == [(("a", "7"), 2)]
    assert found.partition_keys == []


def test_a_missing_table_is_still_reported_as_missing(engine: Engine) -> None:
    with pytest.raises(Exception, match="Requested resource not found"):
        put(engine)


def test_boto3_sees_the_reasons(engine: Engine) -> None:
    create(engine, read=1)
    with serving(engine) as url:
        client = sdk_client(url, config=Config(retries={"total_max_attempts": 1}))
        read = {"TableName": "shop", "Key": item(pk="a", sk="1"), "ConsistentRead": True}
        client.get_item(**read)
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as throttled:
            client.get_item(**read)
        assert isinstance(throttled.value, ClientError)
        reasons = throttled.value.response["ThrottlingReasons"]
        assert reasons[0]["reason"] == "TableReadProvisionedThroughputExceeded"
        client.close()
