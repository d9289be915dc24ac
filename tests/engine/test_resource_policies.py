from __future__ import annotations

import json
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import AccessDeniedException
from tablewright.policy import Principal
from tests.engine.database import Database, Json, item, table_request

ANN = "arn:aws:iam::123456789012:user/ann"
NOT_FOUND = "Resource-based policy not found for the provided ResourceArn: "
INVALID = "One or more parameter values were invalid: "


def arn(table: str) -> str:
    return f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"


def policy(table: str, effect: str = "Allow", **elements: Any) -> str:
    statement = {
        "Effect": effect,
        "Principal": {"AWS": ANN},
        "Action": "dynamodb:GetItem",
        "Resource": arn(table),
        **elements,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_a_policy_is_stored_and_returned_with_its_revision(db: Database, table: str) -> None:
    text = policy(table)
    answer = db.call("PutResourcePolicy", {"ResourceArn": arn(table), "Policy": text})
    assert answer["RevisionId"].isdigit()
    found = db.call("GetResourcePolicy", {"ResourceArn": arn(table)})
    assert found == {"Policy": text, "RevisionId": answer["RevisionId"]}


def test_a_table_can_be_created_with_a_policy(db: Database) -> None:
    name = db.new_name()
    db.call("CreateTable", table_request(name, ResourcePolicy=policy(name)))
    assert db.call("GetResourcePolicy", {"ResourceArn": arn(name)})["Policy"] == policy(name)


def test_an_equal_policy_keeps_its_revision_and_another_gets_a_new_one(
    db: Database, table: str
) -> None:
    request = {"ResourceArn": arn(table), "Policy": policy(table)}
    first = db.call("PutResourcePolicy", request)
    again = db.call(
        "PutResourcePolicy", request | {"Policy": json.dumps(json.loads(policy(table)), indent=1)}
    )
    other = db.call("PutResourcePolicy", request | {"Policy": policy(table, "Deny")})
    assert first == again
    assert int(other["RevisionId"]) > int(first["RevisionId"])


def test_a_policy_is_deleted(db: Database, table: str) -> None:
    put = db.call("PutResourcePolicy", {"ResourceArn": arn(table), "Policy": policy(table)})
    assert db.call("DeleteResourcePolicy", {"ResourceArn": arn(table)}) == put
    assert db.call("DeleteResourcePolicy", {"ResourceArn": arn(table)}) == {}
    db.fails(
        "GetResourcePolicy",
        {"ResourceArn": arn(table)},
        "PolicyNotFoundException",
        NOT_FOUND + arn(table),
    )


@pytest.mark.parametrize("operation", ["PutResourcePolicy", "DeleteResourcePolicy"])
def test_another_revision_than_the_expected_one_is_refused(
    db: Database, table: str, operation: str
) -> None:
    request: Json = {"ResourceArn": arn(table), "ExpectedRevisionId": "17"}
    if operation == "PutResourcePolicy":
        request["Policy"] = policy(table, "Deny")
    put = db.call("PutResourcePolicy", {"ResourceArn": arn(table), "Policy": policy(table)})
    db.fails(
        operation,
        request,
        "PolicyNotFoundException",
        NOT_FOUND + "Requested update for policy with revision id 17, but the policy associated "
        f"to target table {table} has revision id {put['RevisionId']}.",
    )
    db.call(operation, request | {"ExpectedRevisionId": put["RevisionId"]})


def test_no_policy_can_be_expected(db: Database, table: str) -> None:
    request = {
        "ResourceArn": arn(table),
        "Policy": policy(table),
        "ExpectedRevisionId": "NO_POLICY",
    }
    put = db.call("PutResourcePolicy", request)
    db.fails(
        "PutResourcePolicy",
        request,
        "PolicyNotFoundException",
        f"{NOT_FOUND}Requested policy update expecting none to be present for table {table}, "
        f"but a policy exists with revision id {put['RevisionId']}.",
    )


def test_a_stream_has_a_policy_of_its_own(db: Database) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    table = db.table(StreamSpecification=stream)
    found = db.call("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
    text = policy(table, Resource=found)
    db.call("PutResourcePolicy", {"ResourceArn": found, "Policy": text})
    assert db.call("GetResourcePolicy", {"ResourceArn": found})["Policy"] == text
    with pytest.raises(Exception, match="PolicyNotFoundException"):
        db.call("GetResourcePolicy", {"ResourceArn": arn(table)})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("shop", "ARNs must start with 'arn:': shop"),
        (
            arn("shop") + "/index/by-status",
            "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {arn('shop')}/index/by-status",
        ),
        (
            arn("shop") + "/backup/01",
            f"Provided Arn is not a DynamoDB resource arn: {arn('shop')}/backup/01",
        ),
    ],
)
def test_only_tables_and_streams_have_policies(db: Database, given: str, message: str) -> None:
    db.refuses("GetResourcePolicy", {"ResourceArn": given}, INVALID + message)


def test_a_missing_table_or_stream_is_not_found(db: Database, table: str) -> None:
    code = "ResourceNotFoundException"
    message = "Requested resource not found: "
    for given, expected in (
        (arn("missing"), "Table: missing not found"),
        (arn(table) + "/stream/2026", f"Stream: 2026 not found for Table: {table}"),
    ):
        db.fails("GetResourcePolicy", {"ResourceArn": given}, code, message + expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Invalid policy document: the policy is not JSON"),
        ('{"Statement": []}', "Invalid policy document: Statement: must be one or more"),
        (policy("t", Principal="ann"), 'Statement[0].Principal: must be "*" or an object'),
        (policy("t", Principal={"AWS": "ann"}), "'ann' is not the ARN of a user"),
        (policy("t", Effect="Perhaps"), "Statement[0].Effect: must be 'Allow' or 'Deny'"),
        (" " * 20_481, "Maximum policy size of 20480 bytes exceeded"),
    ],
)
def test_a_wrong_policy_is_refused_with_the_reason(
    db: Database, table: str, text: str, message: str
) -> None:
    with pytest.raises(Exception) as refused:
        db.call("PutResourcePolicy", {"ResourceArn": arn(table), "Policy": text})
    assert INVALID in str(refused.value)
    assert message in str(refused.value)


# -- evaluation


def test_the_policy_of_a_stream_allows_reading_it(engine: Engine) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    engine.call("UpdateTable", {"TableName": "shop", "StreamSpecification": stream})
    found = engine.call("DescribeTable", {"TableName": "shop"})["Table"]["LatestStreamArn"]
    text = policy("shop", Action="dynamodb:DescribeStream", Resource=found)
    engine.call("PutResourcePolicy", {"ResourceArn": found, "Policy": text})
    request = {"StreamArn": found}
    answer = engine.call("DescribeStream", request, policy=Principal("ann"))
    assert answer["StreamDescription"]["StreamArn"] == found
    with pytest.raises(AccessDeniedException):
        engine.call("DescribeStream", request, policy=Principal("bob"))
    with pytest.raises(AccessDeniedException):
        read(engine, Principal("ann"))


READ_ONLY = {"Statement": {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}}


@pytest.fixture
def engine() -> Any:
    with Engine(":memory:") as engine:
        engine.call("CreateTable", table_request("shop"))
        yield engine


def attach(engine: Engine, text: str) -> None:
    engine.call("PutResourcePolicy", {"ResourceArn": arn("shop"), "Policy": text})


def read(engine: Engine, user: Principal) -> Json:
    return engine.call("GetItem", {"TableName": "shop", "Key": item(pk="a", sk="1")}, policy=user)


def test_the_policy_of_a_table_allows_a_user_without_policies(engine: Engine) -> None:
    with pytest.raises(AccessDeniedException):
        read(engine, Principal("ann"))
    attach(engine, policy("shop"))
    assert read(engine, Principal("ann")) == {}
    with pytest.raises(AccessDeniedException):
        read(engine, Principal("bob"))


@pytest.mark.parametrize(
    "named", [ANN, "*", "123456789012", "arn:aws:iam::123456789012:root", [ANN, "*"]]
)
def test_a_deny_in_the_policy_of_a_table_overrides_every_allow(engine: Engine, named: Any) -> None:
    assert read(engine, Principal("ann", READ_ONLY)) == {}
    attach(engine, policy("shop", "Deny", Principal={"AWS": named}))
    with pytest.raises(AccessDeniedException) as denied:
        read(engine, Principal("ann", READ_ONLY))
    assert denied.value.message.endswith("with an explicit deny in a resource-based policy")


def test_an_allow_for_an_account_leaves_the_decision_to_its_policies(engine: Engine) -> None:
    attach(engine, policy("shop", Principal={"AWS": "123456789012"}))
    with pytest.raises(AccessDeniedException):
        read(engine, Principal("ann"))
    assert read(engine, Principal("ann", READ_ONLY)) == {}


def test_not_principal_names_everyone_else(engine: Engine) -> None:
    text = json.loads(policy("shop", "Deny", NotPrincipal={"AWS": ANN}))
    del text["Statement"][0]["Principal"]
    attach(engine, json.dumps(text))
    assert read(engine, Principal("ann", READ_ONLY)) == {}
    with pytest.raises(AccessDeniedException):
        read(engine, Principal("bob", READ_ONLY))


def test_conditions_of_a_table_policy_see_the_request_and_the_user(engine: Engine) -> None:
    condition = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "${aws:PrincipalTag/owner}"}}
    attach(engine, policy("shop", Principal="*", Condition=condition))
    assert read(engine, Principal("ann", tags={"owner": "a"})) == {}
    with pytest.raises(AccessDeniedException):
        read(engine, Principal("ann", tags={"owner": "b"}))
