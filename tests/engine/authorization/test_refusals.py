"""What a refusal reveals, and when a policy is evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import (
    AccessDeniedException,
    DynamoDBError,
    ResourceNotFoundException,
    ValidationException,
)
from tablewright.policy import Principal
from tests.engine.authorization.principals import ARN, KEY, principal, scoped, statement
from tests.engine.database import item, table_request
from tests.engine.streaming import enabled, iterator, stream_arn

# -- what is revealed, and when --------------------------------------------------------------------


def test_a_policy_does_not_change_the_item_count_of_an_answer(engine: Engine) -> None:
    everything = Principal(
        "ann", {"Statement": {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}}
    )
    name = engine.call("ListTables")["TableNames"][0]
    counted = engine.call("DescribeTable", {"TableName": name})["Table"]["ItemCount"]
    request = {"TableName": name, "DeletionProtectionEnabled": False}
    answer = engine.call("UpdateTable", request, policy=everything)
    assert answer["TableDescription"]["ItemCount"] == counted > 0


def test_a_refusal_does_not_say_whether_a_table_exists(engine: Engine) -> None:
    messages = []
    for name in ("shop", "none"):
        with pytest.raises(AccessDeniedException) as denied:
            engine.call("GetItem", {"TableName": name, "Key": KEY}, policy=Principal("ann"))
        messages.append(denied.value.message.replace(name, "TABLE"))
    assert messages[0] == messages[1]


def test_a_policy_allows_the_streams_of_one_table(engine: Engine) -> None:
    """The example of AWS's guide: the streams of a table, but not the table."""
    actions = [
        f"dynamodb:{name}Stream{plural}" for name, plural in (("Describe", ""), ("List", "s"))
    ]
    actions += ["dynamodb:GetRecords", "dynamodb:GetShardIterator"]
    only = principal(statement(actions, Resource=f"{ARN}/stream/*"))

    def call(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return engine.call(operation, request, policy=only)

    engine.call("UpdateTable", {"TableName": "shop", "StreamSpecification": enabled()})
    engine.call("CreateTable", table_request("other", StreamSpecification=enabled()))
    start = iterator(call, stream_arn(engine.call, "shop"))
    assert call("GetRecords", {"ShardIterator": start})["Records"] == []
    assert len(call("ListStreams", {"TableName": "shop"})["Streams"]) == 1
    foreign = iterator(engine.call, stream_arn(engine.call, "other"))
    for operation, request in (
        ("GetRecords", {"ShardIterator": foreign}),
        ("ListStreams", {}),
        ("ListStreams", {"TableName": "other"}),
        ("DescribeTable", {"TableName": "shop"}),
    ):
        with pytest.raises(AccessDeniedException):
            call(operation, request)


def test_a_key_of_the_wrong_shape_is_refused_before_it_is_explained(engine: Engine) -> None:
    request = {"TableName": "shop", "Key": item(other="a")}
    with pytest.raises(AccessDeniedException):
        engine.call("GetItem", request, policy=Principal("ann"))
    with pytest.raises(ValidationException, match="does not match the schema"):
        engine.call("GetItem", request, policy=principal(statement()))


def test_a_request_that_no_table_could_allow_is_explained_before_it_is_refused(
    engine: Engine,
) -> None:
    with pytest.raises(ValidationException):
        engine.call("GetItem", {"TableName": "shop"}, policy=Principal("ann"))


def test_a_missing_table_is_reported_to_those_who_may_use_it(engine: Engine) -> None:
    with pytest.raises(ResourceNotFoundException):
        engine.call("GetItem", {"TableName": "none", "Key": KEY}, policy=principal(statement()))


def test_a_transaction_is_refused_whole_if_one_member_is(engine: Engine) -> None:
    ann = principal(statement("dynamodb:PutItem"))
    put = {"Put": {"TableName": "shop", "Item": item(pk="new", sk="1")}}
    delete = {"Delete": {"TableName": "shop", "Key": KEY}}
    with pytest.raises(AccessDeniedException, match="dynamodb:DeleteItem on resource"):
        engine.call("TransactWriteItems", {"TransactItems": [put, delete]}, policy=ann)
    found = engine.call("GetItem", {"TableName": "shop", "Key": item(pk="new", sk="1")})
    assert "Item" not in found
    engine.call("TransactWriteItems", {"TransactItems": [put]}, policy=ann)


def test_a_transaction_may_be_allowed_where_single_writes_are_not(engine: Engine) -> None:
    condition = {"ForAnyValue:StringEquals": {"dynamodb:EnclosingOperation": "TransactWriteItems"}}
    ann = principal(statement(["dynamodb:PutItem"], Condition=condition))
    put = {"TableName": "shop", "Item": item(pk="new", sk="1")}
    engine.call("TransactWriteItems", {"TransactItems": [{"Put": put}]}, policy=ann)
    with pytest.raises(AccessDeniedException):
        engine.call("PutItem", put, policy=ann)


# -- what is true when the request runs ------------------------------------------------------------


def test_tags_of_a_table_decide_as_they_are_now(engine: Engine) -> None:
    condition = {"StringEquals": {"aws:ResourceTag/stage": "test"}}
    ann = principal(statement(Condition=condition))
    get = {"TableName": "shop", "Key": KEY}
    engine.call("GetItem", get, policy=ann)
    tags = [{"Key": "stage", "Value": "live"}]
    engine.call("TagResource", {"ResourceArn": ARN, "Tags": tags})
    for operation, request in (("GetItem", get), ("DeleteItem", get)):
        with pytest.raises(AccessDeniedException):
            engine.call(operation, request, policy=ann)


def test_a_table_that_another_engine_made_again_is_checked_by_its_new_key(tmp_path: Path) -> None:
    ann = scoped("mine")
    request = {"TableName": "shop", "Key": item(a="mine", b="yours")}
    with Engine(tmp_path / "x.db") as engine, Engine(tmp_path / "x.db") as other:
        other.call("CreateTable", table_request("shop", "a:S / b:S"))
        engine.call("GetItem", request, policy=ann)
        other.call("DeleteTable", {"TableName": "shop"})
        other.call("CreateTable", table_request("shop", "b:S / a:S"))
        for operation in ("GetItem", "DeleteItem"):
            with pytest.raises(AccessDeniedException):
                engine.call(operation, request, policy=ann)


def test_a_table_that_another_engine_made_is_known_to_the_check(tmp_path: Path) -> None:
    with Engine(tmp_path / "x.db") as engine, Engine(tmp_path / "x.db") as other:
        other.call("CreateTable", table_request("shop"))
        get = {"TableName": "shop", "Key": item(pk="a", sk="1")}
        assert engine.call("GetItem", get, policy=scoped("a")) == {}


def test_steps_of_several_callers_run_together_and_each_by_its_own_policy(engine: Engine) -> None:
    requests = [{"TableName": "shop", "Key": item(pk=key, sk="1")} for key in "ab"]
    reads = [engine.prepare("GetItem", request, scoped("a")) for request in requests]
    first, second = engine.read_all(reads)  # type: ignore[arg-type]
    assert isinstance(first, bytes)
    assert isinstance(second, AccessDeniedException)
    writes = [engine.prepare("DeleteItem", request, scoped("a")) for request in requests]
    first, second = engine.write_all(writes)  # type: ignore[arg-type]
    assert not isinstance(first, DynamoDBError)
    assert isinstance(second, AccessDeniedException)
    assert [found["pk"] for found in engine.call("Scan", {"TableName": "shop"})["Items"]] == [
        {"S": "b"}
    ]
