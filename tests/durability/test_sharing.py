"""What one engine does to tables is seen by another on the same file that knew them before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import (
    AccessDeniedException,
    ResourceNotFoundException,
    ValidationException,
)
from tablewright.policy import Principal
from tests.durability.orders import everything
from tests.durability.test_kill import ROOT

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shared.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    """The engine that is watched; it has read and written the table, so it knows it."""
    with Engine(path) as engine:
        engine.call("CreateTable", table())
        engine.call("PutItem", {"TableName": "shared", "Item": ITEM})
        assert engine.call("GetItem", {"TableName": "shared", "Key": KEY}) == {"Item": ITEM}
        yield engine


@pytest.fixture(params=["engine", pytest.param("process", marks=pytest.mark.slow)])
def elsewhere(request: pytest.FixtureRequest, engine: Engine, path: Path) -> Iterator[Call]:
    """Does an operation in another engine on the same file: in this process, or in another."""
    if request.param == "engine":
        with Engine(path) as other:
            yield other.call
        return
    command = [sys.executable, "-m", "tests.durability.elsewhere", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:

        def call(operation: str, body: dict[str, Any]) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([operation, body]) + "\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())["answer"]
            return answer

        try:
            yield call
        finally:
            process.kill()


KEY: dict[str, Any] = {"pk": {"S": "a"}}
ITEM: dict[str, Any] = {**KEY, "colour": {"S": "red"}, "size": {"N": "1"}}


def table(name: str = "shared", key: str = "pk") -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
    }


def adding(attribute: str, kind: str = "S", name: str = "index") -> dict[str, Any]:
    """An UpdateTable that adds an index."""
    index = {
        "IndexName": name,
        "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    return {
        "TableName": "shared",
        "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": kind}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }


REMOVING = {
    "TableName": "shared",
    "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "index"}}],
}


def querying(attribute: str, value: dict[str, str]) -> dict[str, Any]:
    return {
        "TableName": "shared",
        "IndexName": "index",
        "KeyConditionExpression": "#k = :v",
        "ExpressionAttributeNames": {"#k": attribute},
        "ExpressionAttributeValues": {":v": value},
    }


def put(item: dict[str, Any], table: str = "shared") -> dict[str, Any]:
    return {"TableName": table, "Item": item}


RED = querying("colour", {"S": "red"})
BLUE: dict[str, Any] = {"pk": {"S": "b"}, "colour": {"S": "blue"}}


def test_an_item_written_elsewhere_is_read(engine: Engine, elsewhere: Call) -> None:
    elsewhere("PutItem", put(BLUE))
    assert engine.call("GetItem", {"TableName": "shared", "Key": {"pk": BLUE["pk"]}}) == {
        "Item": BLUE
    }


def test_a_table_created_elsewhere_is_written_and_read(engine: Engine, elsewhere: Call) -> None:
    elsewhere("CreateTable", table("other"))
    engine.call("PutItem", put(ITEM, "other"))
    assert engine.call("GetItem", {"TableName": "other", "Key": KEY}) == {"Item": ITEM}
    assert elsewhere("GetItem", {"TableName": "other", "Key": KEY}) == {"Item": ITEM}


def test_a_table_created_elsewhere_is_read_first(engine: Engine, elsewhere: Call) -> None:
    elsewhere("CreateTable", table("other"))
    elsewhere("PutItem", put(ITEM, "other"))
    assert everything(engine, "other") == [ITEM]


def test_a_table_created_elsewhere_is_listed_and_described(engine: Engine, elsewhere: Call) -> None:
    elsewhere("CreateTable", table("other"))
    assert engine.call("ListTables") == {"TableNames": ["other", "shared"]}
    found = engine.call("DescribeTable", {"TableName": "other"})
    assert found["Table"]["TableName"] == "other"


def test_a_table_deleted_elsewhere_is_gone(engine: Engine, elsewhere: Call) -> None:
    elsewhere("DeleteTable", {"TableName": "shared"})
    assert engine.call("ListTables") == {"TableNames": []}
    for operation, request in (
        ("GetItem", {"TableName": "shared", "Key": KEY}),
        ("Scan", {"TableName": "shared"}),
        ("PutItem", put(ITEM)),
        ("DescribeTable", {"TableName": "shared"}),
        ("DeleteTable", {"TableName": "shared"}),
    ):
        with pytest.raises(ResourceNotFoundException):
            engine.call(operation, request)


@pytest.mark.parametrize(
    ("operation", "request_body"),
    [
        ("GetItem", {"TableName": "shared", "Key": KEY}),
        ("Scan", {"TableName": "shared"}),
        ("BatchGetItem", {"RequestItems": {"shared": {"Keys": [KEY]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "shared", "Key": KEY}}]}),
        ("DescribeTable", {"TableName": "shared"}),
    ],
)
def test_each_read_finds_a_table_deleted_elsewhere_gone(
    engine: Engine, path: Path, operation: str, request_body: dict[str, Any]
) -> None:
    with Engine(path) as other:
        other.call("DeleteTable", {"TableName": "shared"})
    with pytest.raises(ResourceNotFoundException):
        engine.call(operation, request_body)


def test_a_table_deleted_and_created_again_elsewhere_is_empty(
    engine: Engine, elsewhere: Call
) -> None:
    elsewhere("DeleteTable", {"TableName": "shared"})
    elsewhere("CreateTable", table())
    assert engine.call("GetItem", {"TableName": "shared", "Key": KEY}) == {}
    engine.call("PutItem", put(BLUE))
    assert elsewhere("Scan", {"TableName": "shared"})["Items"] == [BLUE]


def test_a_table_created_again_elsewhere_with_another_key_is_written_by_it(
    engine: Engine, elsewhere: Call
) -> None:
    elsewhere("DeleteTable", {"TableName": "shared"})
    elsewhere("CreateTable", table(key="id"))
    item = {"id": {"S": "x"}}
    engine.call("PutItem", put(item))
    assert elsewhere("Scan", {"TableName": "shared"})["Items"] == [item]
    assert engine.check()


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", put(BLUE)),
    (
        "UpdateItem",
        {
            "TableName": "shared",
            "Key": {"pk": BLUE["pk"]},
            "UpdateExpression": "SET colour = :c",
            "ExpressionAttributeValues": {":c": {"S": "blue"}},
        },
    ),
    ("BatchWriteItem", {"RequestItems": {"shared": [{"PutRequest": {"Item": BLUE}}]}}),
    ("TransactWriteItems", {"TransactItems": [{"Put": put(BLUE)}]}),
]


@pytest.mark.parametrize(("operation", "request_body"), WRITES, ids=[w[0] for w in WRITES])
def test_an_index_added_elsewhere_is_kept_by_the_next_write(
    engine: Engine, elsewhere: Call, operation: str, request_body: dict[str, Any]
) -> None:
    elsewhere("UpdateTable", adding("colour"))
    engine.call(operation, request_body)
    assert elsewhere("Query", querying("colour", {"S": "blue"}))["Items"] == [BLUE]
    assert engine.check()


def test_an_index_added_elsewhere_forgets_what_is_deleted_here(
    engine: Engine, elsewhere: Call
) -> None:
    elsewhere("UpdateTable", adding("colour"))
    engine.call("DeleteItem", {"TableName": "shared", "Key": KEY})
    assert elsewhere("Query", RED)["Items"] == []
    assert engine.check()


def test_an_index_removed_elsewhere_is_gone(engine: Engine, elsewhere: Call) -> None:
    engine.call("UpdateTable", adding("colour"))
    assert engine.call("Query", RED)["Count"] == 1
    elsewhere("UpdateTable", REMOVING)
    with pytest.raises(ValidationException, match="does not have the specified index: index"):
        engine.call("Query", RED)
    engine.call("PutItem", put(BLUE))
    assert engine.check()


def test_a_key_type_demanded_elsewhere_is_demanded_here(engine: Engine, elsewhere: Call) -> None:
    elsewhere("UpdateTable", adding("colour"))
    with pytest.raises(ValidationException, match="Type mismatch for Index Key colour"):
        engine.call("PutItem", put({**KEY, "colour": {"N": "1"}}))


def test_a_protection_set_elsewhere_holds_here(engine: Engine, elsewhere: Call) -> None:
    elsewhere("UpdateTable", {"TableName": "shared", "DeletionProtectionEnabled": True})
    assert engine.call("DescribeTable", {"TableName": "shared"})["Table"][
        "DeletionProtectionEnabled"
    ]
    with pytest.raises(ValidationException, match="protected against deletion"):
        engine.call("DeleteTable", {"TableName": "shared"})


def test_a_time_to_live_set_elsewhere_is_swept_here(engine: Engine, elsewhere: Call) -> None:
    specification = {"Enabled": True, "AttributeName": "until"}
    elsewhere("UpdateTimeToLive", {"TableName": "shared", "TimeToLiveSpecification": specification})
    engine.call("PutItem", put({**BLUE, "until": {"N": "1000"}}))
    found = engine.call("DescribeTimeToLive", {"TableName": "shared"})
    assert found["TimeToLiveDescription"]["AttributeName"] == "until"
    assert engine.expire(now=1001) == 1
    assert elsewhere("Scan", {"TableName": "shared"})["Items"] == [ITEM]


def test_a_token_used_elsewhere_is_not_used_again(engine: Engine, elsewhere: Call) -> None:
    add = {
        "TableName": "shared",
        "Key": KEY,
        "UpdateExpression": "ADD #s :one",
        "ExpressionAttributeNames": {"#s": "size"},
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    request = {"TransactItems": [{"Update": add}], "ClientRequestToken": "once"}
    elsewhere("TransactWriteItems", request)
    engine.call("TransactWriteItems", request)
    found = engine.call("GetItem", {"TableName": "shared", "Key": KEY})
    assert found["Item"]["size"] == {"N": "2"}


def test_an_index_added_while_another_engine_writes_is_in_step(
    engine: Engine, elsewhere: Call
) -> None:
    for number in range(20):
        engine.call("PutItem", put({"pk": {"S": f"x{number}"}, "colour": {"S": "red"}}))
        if number == 10:
            elsewhere("UpdateTable", adding("colour"))
    assert elsewhere("Query", RED)["Count"] == 21
    assert engine.check()


def test_an_index_added_elsewhere_can_be_queried(engine: Engine, elsewhere: Call) -> None:
    elsewhere("UpdateTable", adding("colour"))
    assert engine.call("Query", RED)["Items"] == [ITEM]


def test_an_index_added_elsewhere_can_be_scanned(engine: Engine, elsewhere: Call) -> None:
    elsewhere("UpdateTable", adding("colour"))
    assert engine.call("Scan", {"TableName": "shared", "IndexName": "index"})["Items"] == [ITEM]


def test_an_index_replaced_elsewhere_has_its_new_key(engine: Engine, elsewhere: Call) -> None:
    engine.call("UpdateTable", adding("colour"))
    assert engine.call("Query", RED)["Count"] == 1
    elsewhere("UpdateTable", REMOVING)
    elsewhere("UpdateTable", adding("size", "N"))
    assert engine.call("Query", querying("size", {"N": "1"}))["Items"] == [ITEM]
    engine.call("PutItem", put({**BLUE, "size": {"N": "2"}}))
    assert elsewhere("Query", querying("size", {"N": "2"}))["Count"] == 1
    assert engine.check()


def test_tags_set_elsewhere_are_listed_here(engine: Engine, elsewhere: Call) -> None:
    arn = engine.call("DescribeTable", {"TableName": "shared"})["Table"]["TableArn"]
    tags = [{"Key": "team", "Value": "a"}]
    elsewhere("TagResource", {"ResourceArn": arn, "Tags": tags})
    assert engine.call("ListTagsOfResource", {"ResourceArn": arn})["Tags"] == tags


def test_a_table_created_again_elsewhere_with_another_key_is_read_by_it(
    engine: Engine, elsewhere: Call
) -> None:
    elsewhere("DeleteTable", {"TableName": "shared"})
    elsewhere("CreateTable", table(key="id"))
    item = {"id": {"S": "x"}, "pk": {"S": "a"}}
    elsewhere("PutItem", put(item))
    request = {"TableName": "shared", "Key": {"id": {"S": "x"}}}
    assert engine.call("GetItem", request) == {"Item": item}


ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/shared"
ANN = Principal("ann", {"Statement": {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}})
READS: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": "shared", "Key": KEY},
    "BatchGetItem": {"RequestItems": {"shared": {"Keys": [KEY]}}},
    "TransactGetItems": {"TransactItems": [{"Get": {"TableName": "shared", "Key": KEY}}]},
    "Query": {
        "TableName": "shared",
        "KeyConditionExpression": "pk = :v",
        "ExpressionAttributeValues": {":v": {"S": "missing"}},
    },
    "Scan": {"TableName": "shared"},
    "ExecuteStatement": {"Statement": "SELECT * FROM shared"},
    "DescribeTable": {"TableName": "shared"},
}


def denying() -> dict[str, Any]:
    """A PutResourcePolicy that denies a user everything."""
    statement = {"Effect": "Deny", "Principal": {"AWS": ANN.arn}, "Action": "dynamodb:*"}
    document = {"Version": "2012-10-17", "Statement": [{**statement, "Resource": ARN}]}
    return {"ResourceArn": ARN, "Policy": json.dumps(document)}


@pytest.mark.parametrize("operation", READS)
def test_a_policy_put_elsewhere_applies_to_the_next_read(
    engine: Engine, elsewhere: Call, operation: str
) -> None:
    request = READS[operation]
    engine.call(operation, request, policy=ANN)
    elsewhere("PutResourcePolicy", denying())
    with pytest.raises(AccessDeniedException):
        engine.call(operation, request, policy=ANN)
    elsewhere("DeleteResourcePolicy", {"ResourceArn": ARN})
    engine.call(operation, request, policy=ANN)


def test_a_policy_put_elsewhere_applies_to_reads_of_every_thread(
    engine: Engine, elsewhere: Call
) -> None:
    with ThreadPoolExecutor(1) as thread:
        read = partial(engine.call, "GetItem", READS["GetItem"], policy=ANN)
        read()
        thread.submit(read).result()
        elsewhere("PutResourcePolicy", denying())
        with pytest.raises(AccessDeniedException):
            thread.submit(read).result()
        with pytest.raises(AccessDeniedException):
            read()
