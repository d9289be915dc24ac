"""Policies that limit a tenant to its own partitions, indexes and attributes."""

from __future__ import annotations

import base64

import pytest

from tablewright.engine import Engine
from tablewright.errors import AccessDeniedException, ConditionalCheckFailedException
from tests.engine.authorization.principals import ARN, KEY, Json, principal, scoped, statement
from tests.engine.database import item, table_request, values

HOSTILE = ["*", "?", "a*", "${aws:username}", "${*}", "#", "a#b", "A", "a", "aa", "å", "a\u030a"]


@pytest.mark.parametrize("operator", ["StringEquals", "StringLike"])
@pytest.mark.parametrize("tenant", HOSTILE)
def test_a_tenant_reaches_its_own_partition_alone(
    engine: Engine, tenant: str, operator: str
) -> None:
    ann = scoped("${aws:PrincipalTag/tenant}", operator=operator, tenant=tenant)
    for other in HOSTILE:
        key = item(pk=other, sk="1")
        requests: list[tuple[str, Json]] = [
            ("PutItem", {"TableName": "shop", "Item": key}),
            ("GetItem", {"TableName": "shop", "Key": key}),
            ("BatchGetItem", {"RequestItems": {"shop": {"Keys": [key]}}}),
            ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "shop", "Key": key}}]}),
            (
                "Query",
                {
                    "TableName": "shop",
                    "KeyConditionExpression": "pk = :p",
                    "ExpressionAttributeValues": values(p=other),
                },
            ),
            ("DeleteItem", {"TableName": "shop", "Key": key}),
        ]
        for operation, request in requests:
            if other == tenant:
                engine.call(operation, request, policy=ann)
            else:
                with pytest.raises(AccessDeniedException):
                    engine.call(operation, request, policy=ann)


def test_a_batch_with_one_foreign_key_is_refused(engine: Engine) -> None:
    ann = scoped("a")
    keys = [item(pk="a", sk="1"), item(pk="b", sk="1")]
    with pytest.raises(AccessDeniedException):
        engine.call("BatchGetItem", {"RequestItems": {"shop": {"Keys": keys}}}, policy=ann)
    writes = [{"DeleteRequest": {"Key": key}} for key in keys]
    with pytest.raises(AccessDeniedException):
        engine.call("BatchWriteItem", {"RequestItems": {"shop": writes}}, policy=ann)


def test_for_all_values_allows_what_has_no_leading_keys(engine: Engine) -> None:
    """The trap, as IAM has it: a Scan carries no LeadingKeys, so all of none of them match."""
    condition = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "a"}}
    open_door = principal(statement(Condition=condition))
    assert engine.call("Scan", {"TableName": "shop"}, policy=open_door)["Count"] == 2
    for operation in ("Scan", "DescribeTable", "DeleteTable"):
        with pytest.raises(AccessDeniedException):
            engine.call(operation, {"TableName": "shop"}, policy=scoped("a"))


def test_a_number_is_the_same_tenant_however_it_is_written(engine: Engine) -> None:
    engine.call("CreateTable", table_request("numbers", "pk:N"))
    seven = scoped("7")
    for written in ("7", "7.0", "07", "0.7e1"):
        engine.call(
            "GetItem", {"TableName": "numbers", "Key": {"pk": {"N": written}}}, policy=seven
        )
    with pytest.raises(AccessDeniedException):
        engine.call("GetItem", {"TableName": "numbers", "Key": {"pk": {"N": "70"}}}, policy=seven)


def test_a_binary_key_is_compared_as_base64(engine: Engine) -> None:
    engine.call("CreateTable", table_request("binaries", "pk:B"))
    content = base64.b64encode(b"hi").decode()
    key = {"TableName": "binaries", "Key": {"pk": {"B": content}}}
    engine.call("GetItem", key, policy=scoped(content))
    with pytest.raises(AccessDeniedException):
        engine.call("GetItem", key, policy=scoped("hi"))


def test_an_index_is_scoped_by_its_own_partition_key(engine: Engine) -> None:
    ann = scoped("a")
    query: Json = {
        "TableName": "shop",
        "IndexName": "by-status",
        "KeyConditionExpression": "#s = :v",
        "ExpressionAttributeNames": {"#s": "status"},
    }
    engine.call("Query", query | {"ExpressionAttributeValues": values(v="a")}, policy=ann)
    with pytest.raises(AccessDeniedException, match=r"table/shop/index/by-status because"):
        engine.call("Query", query | {"ExpressionAttributeValues": values(v="b")}, policy=ann)


def test_a_table_does_not_grant_its_indexes(engine: Engine) -> None:
    ann = principal(statement(Resource=ARN))
    engine.call("Scan", {"TableName": "shop"}, policy=ann)
    with pytest.raises(AccessDeniedException):
        engine.call("Scan", {"TableName": "shop", "IndexName": "by-status"}, policy=ann)


def test_an_attribute_that_is_not_granted_cannot_be_read_or_copied(engine: Engine) -> None:
    condition = {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk", "open"]},
        "StringEqualsIfExists": {
            "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
            "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
        },
    }
    ann = principal(statement(["dynamodb:GetItem", "dynamodb:UpdateItem"], Condition=condition))
    key: Json = {"TableName": "shop", "Key": KEY}
    updated = {**key, "UpdateExpression": "SET #o = :v", "ExpressionAttributeNames": {"#o": "open"}}
    one = values(v=1)
    engine.call("GetItem", key | {"AttributesToGet": ["open"]}, policy=ann)
    engine.call("UpdateItem", updated | {"ExpressionAttributeValues": one}, policy=ann)
    refused: list[tuple[str, Json]] = [
        ("GetItem", key),
        ("GetItem", key | {"ProjectionExpression": "secret"}),
        ("UpdateItem", updated | {"UpdateExpression": "SET #o = secret"}),
        ("UpdateItem", updated | {"ExpressionAttributeValues": one, "ReturnValues": "ALL_NEW"}),
        (
            "UpdateItem",
            updated
            | {"ExpressionAttributeValues": one, "ConditionExpression": "begins_with(secret, :v)"}
            | {"ExpressionAttributeValues": {":v": {"S": "x"}}},
        ),
        (
            "UpdateItem",
            updated
            | {
                "ExpressionAttributeValues": one,
                "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
        ),
    ]
    for operation, request in refused:
        with pytest.raises(AccessDeniedException):
            engine.call(operation, request, policy=ann)
    with pytest.raises(ConditionalCheckFailedException):
        engine.call(
            "UpdateItem",
            updated
            | {
                "ExpressionAttributeValues": one,
                "ConditionExpression": "attribute_not_exists(pk)",
            },
            policy=ann,
        )
