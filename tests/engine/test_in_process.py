"""What is for people who call the engine in process: hints, refusals, its life."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine
from tablewright.errors import (
    CannotOpen,
    SerializationException,
    StoreClosed,
    TablewrightError,
    UnknownOperationException,
)
from tablewright.server import serving
from tests.engine.database import item, table_request, values


@pytest.fixture
def engine() -> Engine:
    return Engine(":memory:")


@pytest.mark.parametrize(
    ("operation", "hint"),
    [
        ("PutItme", "unknown operation 'PutItme'; did you mean 'PutItem'?"),
        ("put_item", "unknown operation 'put_item'; did you mean 'PutItem'?"),
        ("SearchVectors", "unknown operation 'SearchVectors'."),
    ],
)
def test_an_unknown_operation_is_told_what_was_meant(
    engine: Engine, operation: str, hint: str
) -> None:
    with pytest.raises(UnknownOperationException) as caught:
        engine.call(operation)
    listed = "`tablewright help operations` lists the implemented operations"
    assert str(caught.value) == caught.value.body()["message"] == f"{hint} {listed}"


def test_a_misspelt_member_is_refused_before_anything_is_done(engine: Engine) -> None:
    """DynamoDB would pass over it, and write without the condition."""
    request = {"TableName": "shop", "Item": {}, "ConditionExpresion": "attribute_not_exists(PK)"}
    with pytest.raises(TypeError, match="has no member 'ConditionExpresion'; did you mean 'Cond"):
        engine.call("PutItem", request)


def test_a_member_that_is_like_no_other_is_passed_over(engine: Engine) -> None:
    assert engine.call("ListTables", {"Colour": "red"}) == {"TableNames": []}


@pytest.mark.parametrize("value", [datetime.now(UTC), object(), b"x", {"a"}, ("a",)])
def test_a_value_that_json_does_not_have_is_a_type_error(engine: Engine, value: Any) -> None:
    with pytest.raises(TypeError, match="not a JSON value"):
        engine.call("PutItem", {"TableName": "shop", "Item": {"a": {"S": value}}})


def test_bytes_are_told_how_binaries_look_in_json(engine: Engine) -> None:
    with pytest.raises(TypeError, match="base64 string"):
        engine.call("PutItem", {"TableName": "shop", "Item": {"a": {"B": b"x"}}})


def test_a_request_is_a_map(engine: Engine) -> None:
    request: Any = []
    with pytest.raises(SerializationException):
        engine.call("PutItem", request)


@pytest.mark.parametrize("path", [None, 5, b"shop.db"])
def test_a_path_is_a_text_or_a_path(path: Any) -> None:
    with pytest.raises(TypeError):
        Engine(path)


@pytest.mark.parametrize(
    ("place", "reason"), [(".", "is a directory"), ("nowhere/shop.db", "does not exist")]
)
def test_a_file_that_cannot_be_opened_is_told_why(tmp_path: Path, place: str, reason: str) -> None:
    with pytest.raises(CannotOpen, match=reason):
        Engine(tmp_path / place)


def test_a_closed_engine_says_so(engine: Engine) -> None:
    engine.close()
    engine.close()
    for operation in ("ListTables", "TagResource"):
        request = {"ResourceArn": "arn:aws:dynamodb:x:y:table/shop", "Tags": [{}]}
        with pytest.raises(TablewrightError):
            engine.call(operation, request if operation == "TagResource" else {})
    with pytest.raises(StoreClosed, match=":memory: has been closed"):
        engine.call("ListTables")


def test_an_engine_shows_what_it_is(engine: Engine) -> None:
    assert repr(engine) == "Engine(':memory:', durability='full')"


def test_serving_takes_an_engine() -> None:
    wrong: Any = "shop.db"
    with pytest.raises(TypeError, match=r"takes an Engine, got 'shop\.db'"), serving(wrong):
        pass


LONE = "\ud800"
KEY = item(pk="a", sk="1")
BAD_KEY = item(pk=LONE, sk="1")
SET = {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": values(v="x")}
BY_LONE = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": LONE}]}}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"TableName": "tab", "Key": BAD_KEY}),
        ("DeleteItem", {"TableName": "tab", "Key": BAD_KEY}),
        ("UpdateItem", {"TableName": "tab", "Key": BAD_KEY} | SET),
        (
            "UpdateItem",
            {"TableName": "tab", "Key": KEY, "ExpressionAttributeNames": {"#n": LONE}}
            | SET
            | {"UpdateExpression": "SET #n = :v"},
        ),
        (
            "UpdateItem",
            {"TableName": "tab", "Key": KEY, "AttributeUpdates": {"a": {"Value": {"S": LONE}}}},
        ),
        (
            "UpdateItem",
            {"TableName": "tab", "Key": KEY, "AttributeUpdates": {LONE: {"Value": {"S": "x"}}}},
        ),
        ("Query", {"TableName": "tab", "KeyConditions": BY_LONE}),
        ("Scan", {"TableName": "tab", "ExclusiveStartKey": BAD_KEY}),
        ("BatchWriteItem", {"RequestItems": {"tab": [{"DeleteRequest": {"Key": BAD_KEY}}]}}),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Delete": {"TableName": "tab", "Key": BAD_KEY}}]},
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Update": {"TableName": "tab", "Key": BAD_KEY} | SET}]},
        ),
        (
            "TransactWriteItems",
            {
                "TransactItems": [{"Put": {"TableName": "tab", "Item": KEY}}],
                "ClientRequestToken": LONE,
            },
        ),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "tab", "Key": BAD_KEY}}]}),
        (
            "UpdateTimeToLive",
            {
                "TableName": "tab",
                "TimeToLiveSpecification": {"Enabled": True, "AttributeName": LONE},
            },
        ),
        ("CreateTable", table_request("surrogate", f"{LONE}:S")),
    ],
)
def test_half_a_character_is_no_text(operation: str, request_: dict[str, Any]) -> None:
    with Engine(":memory:") as engine:
        engine.call("CreateTable", table_request("tab"))
        with pytest.raises(SerializationException):
            engine.call(operation, request_)
        assert engine.call("Scan", {"TableName": "tab"})["Count"] == 0
