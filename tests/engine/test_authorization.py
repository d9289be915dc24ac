"""Which accesses each operation needs, and what a refusal reveals."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import OPERATIONS, Engine
from tablewright.engine.authorization import resolve_access
from tablewright.engine.requested_access import REQUESTED_ACCESSES
from tablewright.errors import (
    AccessDeniedException,
    ConditionalCheckFailedException,
    DynamoDBError,
    ResourceNotFoundException,
    ValidationException,
)
from tablewright.policy import Principal
from tablewright.policy.keys import DYNAMODB_KEYS, PARTITION_KEYS
from tablewright.wire.read import read
from tests.engine.database import item, table_request, values

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/shop"
KEY = item(pk="a", sk="1")
ALL_KEYS = frozenset(
    (*DYNAMODB_KEYS, "aws:tagkeys", "aws:requesttag/team", "aws:resourcetag/stage")
)
Json = dict[str, Any]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        request = table_request(
            "shop",
            local={"by-date": ("pk:S / date:S", "ALL")},
            glob={
                "by-status": ("status:S / sk:S", "ALL"),
                "by-number": ("number:N", "ALL"),
                "by-bytes": ("bytes:B", "ALL"),
                "by-parts": ("tenant:S region:N / date:S", "ALL"),
            },
            Tags=[{"Key": "stage", "Value": "test"}],
        )
        engine.call("CreateTable", request)
        engine.call("PutItem", {"TableName": "shop", "Item": item(pk="a", sk="1", secret="x")})
        engine.call("PutItem", {"TableName": "shop", "Item": item(pk="b", sk="1")})
        yield engine


def statement(action: str | list[str] = "dynamodb:*", **elements: Any) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", **elements}


def principal(*statements: Json, name: str = "ann", **tags: str) -> Principal:
    return Principal(name, {"Version": "2012-10-17", "Statement": list(statements)}, tags=tags)


def accesses(
    engine: Engine, operation: str, request: Json
) -> list[tuple[str, str, dict[str, list[str]]]]:
    """The action, the resource and all condition keys of each access of a request.

    ReturnConsumedCapacity and the resource's tags have tests of their own.
    """
    typed = read(OPERATIONS[operation][0], request)
    OPERATIONS[operation][1](typed)  # what the operation would refuse is no case
    found = []
    for requested in REQUESTED_ACCESSES[operation](typed):
        access = resolve_access(requested, engine._writer_catalog.tables, lambda *_: ALL_KEYS)
        keys = {
            name.partition(":")[2]: list(found)
            for name, found in access.keys.items()
            if name not in ("aws:resourcetag/stage", "dynamodb:returnconsumedcapacity")
            and name not in PARTITION_KEYS
        }
        assert access.action.startswith("dynamodb:")
        found.append((access.action[9:], access.resource.removeprefix(ARN) or "table", keys))
    return found


CASES: list[tuple[str, Json, list[tuple[str, str, dict[str, list[str]]]]]] = [
    (
        "GetItem",
        {"TableName": "shop", "Key": KEY},
        [
            (
                "GetItem",
                "table",
                {"leadingkeys": ["a"], "attributes": ["pk", "sk"], "select": ["ALL_ATTRIBUTES"]},
            )
        ],
    ),
    (
        "GetItem",
        {
            "TableName": "arn:aws:dynamodb:eu-west-1:123456789012:table/shop",
            "Key": KEY,
            "ProjectionExpression": "#n.b, c[0]",
            "ExpressionAttributeNames": {"#n": "a"},
        },
        [
            (
                "GetItem",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["a", "c", "pk", "sk"],
                    "select": ["SPECIFIC_ATTRIBUTES"],
                },
            )
        ],
    ),
    (
        "GetItem",
        {"TableName": "shop", "Key": KEY, "AttributesToGet": ["a.b"]},
        [
            (
                "GetItem",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["a.b", "pk", "sk"],
                    "select": ["SPECIFIC_ATTRIBUTES"],
                },
            )
        ],
    ),
    (
        "BatchGetItem",
        {
            "RequestItems": {
                "shop": {"Keys": [KEY, item(pk="b", sk="1")], "ProjectionExpression": "x"},
                "other": {"Keys": [KEY]},
            }
        },
        [
            (
                "BatchGetItem",
                "table",
                {
                    "leadingkeys": ["a", "b"],
                    "attributes": ["pk", "sk", "x"],
                    "select": ["SPECIFIC_ATTRIBUTES"],
                },
            ),
            (
                "BatchGetItem",
                "arn:aws:dynamodb:us-east-1:000000000000:table/other",
                {"attributes": ["pk", "sk"], "select": ["ALL_ATTRIBUTES"]},
            ),
        ],
    ),
    (
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "shop", "Key": KEY, "ProjectionExpression": "x"}},
                {"Get": {"TableName": "shop", "Key": item(pk="b", sk="1")}},
            ]
        },
        [
            (
                "GetItem",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["pk", "sk", "x"],
                    "select": ["SPECIFIC_ATTRIBUTES"],
                    "enclosingoperation": ["TransactGetItems"],
                },
            ),
            (
                "GetItem",
                "table",
                {
                    "leadingkeys": ["b"],
                    "attributes": ["pk", "sk"],
                    "select": ["ALL_ATTRIBUTES"],
                    "enclosingoperation": ["TransactGetItems"],
                },
            ),
        ],
    ),
    (
        "Query",
        {
            "TableName": "shop",
            "KeyConditionExpression": ":p = pk AND begins_with(sk, :s)",
            "FilterExpression": "size(f.g) > :n",
            "ProjectionExpression": "x",
            "ExpressionAttributeValues": values(p="a", s="1", n=0),
            "ExclusiveStartKey": KEY,
        },
        [
            (
                "Query",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["f", "pk", "sk", "x"],
                    "select": ["SPECIFIC_ATTRIBUTES"],
                },
            )
        ],
    ),
    (
        "Query",
        {
            "TableName": "shop",
            "KeyConditions": {
                "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]},
                "date": {"ComparisonOperator": "GT", "AttributeValueList": [{"S": "1"}]},
            },
            "QueryFilter": {"f": {"ComparisonOperator": "NOT_NULL"}},
            "IndexName": "by-date",
            "Select": "COUNT",
        },
        [
            (
                "Query",
                "/index/by-date",
                {"leadingkeys": ["a"], "attributes": ["date", "f", "pk"], "select": ["COUNT"]},
            )
        ],
    ),
    (
        "Query",
        {
            "TableName": "shop",
            "IndexName": "by-status",
            "KeyConditionExpression": "#s = :s",
            "ExpressionAttributeNames": {"#s": "status"},
            "ExpressionAttributeValues": values(s="PAID"),
        },
        [
            (
                "Query",
                "/index/by-status",
                {
                    "leadingkeys": ["PAID"],
                    "attributes": ["status"],
                    "select": ["ALL_PROJECTED_ATTRIBUTES"],
                },
            )
        ],
    ),
    (
        "Scan",
        {
            "TableName": "shop",
            "IndexName": "by-status",
            "FilterExpression": "a = :a OR b = :a",
            "ExpressionAttributeValues": values(a=1),
        },
        [
            (
                "Scan",
                "/index/by-status",
                {"attributes": ["a", "b"], "select": ["ALL_PROJECTED_ATTRIBUTES"]},
            )
        ],
    ),
    (
        "Scan",
        {"TableName": "shop", "ScanFilter": {"f": {"ComparisonOperator": "NULL"}}},
        [("Scan", "table", {"attributes": ["f"], "select": ["ALL_ATTRIBUTES"]})],
    ),
    (
        "PutItem",
        {
            "TableName": "shop",
            "Item": item(pk="a", sk="1", x=1),
            "ConditionExpression": "attribute_not_exists(c.d)",
        },
        [
            (
                "PutItem",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["c", "pk", "sk", "x"],
                    "returnvalues": ["NONE"],
                },
            )
        ],
    ),
    (
        "UpdateItem",
        {
            "TableName": "shop",
            "Key": KEY,
            "UpdateExpression": "SET x = y.z, v = if_not_exists(w, :n) + :n REMOVE r",
            "ConditionExpression": "c = :n",
            "ExpressionAttributeValues": values(n=1),
            "ReturnValues": "UPDATED_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        [
            (
                "UpdateItem",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["c", "pk", "r", "sk", "v", "w", "x", "y"],
                    "returnvalues": ["UPDATED_NEW", "ALL_OLD"],
                },
            )
        ],
    ),
    (
        "UpdateItem",
        {
            "TableName": "shop",
            "Key": KEY,
            "AttributeUpdates": {"x": {"Action": "DELETE"}},
            "Expected": {"c": {"Exists": False}},
        },
        [
            (
                "UpdateItem",
                "table",
                {
                    "leadingkeys": ["a"],
                    "attributes": ["c", "pk", "sk", "x"],
                    "returnvalues": ["NONE"],
                },
            )
        ],
    ),
    (
        "DeleteItem",
        {"TableName": "shop", "Key": KEY, "ReturnValues": "ALL_OLD"},
        [
            (
                "DeleteItem",
                "table",
                {"leadingkeys": ["a"], "attributes": ["pk", "sk"], "returnvalues": ["ALL_OLD"]},
            )
        ],
    ),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                "shop": [
                    {"PutRequest": {"Item": item(pk="a", sk="1", x=1)}},
                    {"DeleteRequest": {"Key": item(pk="b", sk="1")}},
                ]
            }
        },
        [
            (
                "BatchWriteItem",
                "table",
                {"leadingkeys": ["a", "b"], "attributes": ["pk", "sk", "x"]},
            )
        ],
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "shop", "Item": item(pk="a", sk="1", x=1)}},
                {
                    "Update": {
                        "TableName": "shop",
                        "Key": item(pk="b", sk="1"),
                        "UpdateExpression": "SET x = y",
                    }
                },
                {"Delete": {"TableName": "shop", "Key": item(pk="c", sk="1")}},
                {
                    "ConditionCheck": {
                        "TableName": "shop",
                        "Key": item(pk="d", sk="1"),
                        "ConditionExpression": "attribute_exists(z)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ]
        },
        [
            (
                action,
                "table",
                {
                    "leadingkeys": [leading],
                    "attributes": attributes,
                    "returnvalues": [returned],
                    "enclosingoperation": ["TransactWriteItems"],
                },
            )
            for action, leading, attributes, returned in (
                ("PutItem", "a", ["pk", "sk", "x"], "NONE"),
                ("UpdateItem", "b", ["pk", "sk", "x", "y"], "NONE"),
                ("DeleteItem", "c", ["pk", "sk"], "NONE"),
                ("ConditionCheckItem", "d", ["pk", "sk", "z"], "ALL_OLD"),
            )
        ],
    ),
    (
        "CreateTable",
        table_request("shop", Tags=[{"Key": "Team", "Value": "blue"}]),
        [("CreateTable", "table", {"tagkeys": ["Team"], "requesttag/team": ["blue"]})],
    ),
    (
        "UpdateTable",
        {"TableName": "shop", "DeletionProtectionEnabled": True},
        [("UpdateTable", "table", {})],
    ),
    ("DeleteTable", {"TableName": "shop"}, [("DeleteTable", "table", {})]),
    ("DescribeTable", {"TableName": "shop"}, [("DescribeTable", "table", {})]),
    ("DescribeTimeToLive", {"TableName": "shop"}, [("DescribeTimeToLive", "table", {})]),
    (
        "UpdateTimeToLive",
        {
            "TableName": "shop",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"},
        },
        [("UpdateTimeToLive", "table", {})],
    ),
    (
        "TagResource",
        {"ResourceArn": ARN, "Tags": [{"Key": "Team", "Value": "blue"}]},
        [("TagResource", "table", {"tagkeys": ["Team"], "requesttag/team": ["blue"]})],
    ),
    (
        "UntagResource",
        {"ResourceArn": ARN, "TagKeys": ["Team", "x"]},
        [("UntagResource", "table", {"tagkeys": ["Team", "x"]})],
    ),
    ("ListTagsOfResource", {"ResourceArn": ARN}, [("ListTagsOfResource", "table", {})]),
    ("ListTables", {}, [("ListTables", "arn:aws:dynamodb:us-east-1:000000000000:table/*", {})]),
    ("DescribeLimits", {}, [("DescribeLimits", "*", {})]),
    ("DescribeEndpoints", {}, [("DescribeEndpoints", "*", {})]),
]


@pytest.mark.parametrize(
    ("operation", "request_", "expected"),
    CASES,
    ids=[f"{number}-{operation}" for number, (operation, _, _) in enumerate(CASES)],
)
def test_an_operation_needs_exactly_these_accesses(
    engine: Engine, operation: str, request_: Json, expected: Any
) -> None:
    assert accesses(engine, operation, request_) == expected


def test_every_operation_has_a_row_and_a_case() -> None:
    assert (
        REQUESTED_ACCESSES.keys() == OPERATIONS.keys() == {operation for operation, _, _ in CASES}
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_refused_without_a_policy_that_allows_it(
    engine: Engine, operation: str
) -> None:
    request = next(request for name, request, _ in CASES if name == operation)
    before = engine.call("Scan", {"TableName": "shop"}), engine.call("ListTables")
    with pytest.raises(AccessDeniedException, match="because no identity-based policy allows"):
        engine.call(operation, request, policy=Principal("ann"))
    assert (engine.call("Scan", {"TableName": "shop"}), engine.call("ListTables")) == before


@pytest.mark.parametrize(
    ("index", "condition", "expected"),
    [
        ("by-number", ("#k = :v", "number", {"N": "07.0"}), {"leadingkeys": ["7"]}),
        ("by-number", ("#k = :v", "number", {"N": "1e2"}), {"leadingkeys": ["100"]}),
        ("by-bytes", ("#k = :v", "bytes", {"B": "aGk="}), {"leadingkeys": ["aGk="]}),
        ("by-bytes", ("#k = :v", "bytes", {"B": "aGl="}), {"leadingkeys": ["aGk="]}),
    ],
)
def test_numbers_are_canonical_and_binaries_base64_in_leading_keys(
    engine: Engine, index: str, condition: tuple[str, str, Json], expected: dict[str, list[str]]
) -> None:
    text, name, value = condition
    request = {
        "TableName": "shop",
        "IndexName": index,
        "KeyConditionExpression": text,
        "ExpressionAttributeNames": {"#k": name},
        "ExpressionAttributeValues": {":v": value},
    }
    ((_, _, keys),) = accesses(engine, "Query", request)
    assert keys["leadingkeys"] == expected["leadingkeys"]


def test_parts_of_a_partition_key_have_keys_of_their_own(engine: Engine) -> None:
    request = {
        "TableName": "shop",
        "IndexName": "by-parts",
        "KeyConditionExpression": "#r = :r AND tenant = :t",
        "ExpressionAttributeNames": {"#r": "region"},
        "ExpressionAttributeValues": values(t="a", r=1),
    }
    typed = read(OPERATIONS["Query"][0], request)
    (requested,) = REQUESTED_ACCESSES["Query"](typed)
    keys = resolve_access(requested, engine._writer_catalog.tables, lambda *_: ALL_KEYS).keys
    assert [keys.get(name) for name in PARTITION_KEYS] == [("a",), ("1",), None, None]
    assert keys["dynamodb:leadingkeys"] == ("a",)
    (requested,) = REQUESTED_ACCESSES["GetItem"](
        read(OPERATIONS["GetItem"][0], {"TableName": "shop", "Key": KEY})
    )
    keys = resolve_access(requested, engine._writer_catalog.tables, lambda *_: ALL_KEYS).keys
    assert [keys.get(name) for name in PARTITION_KEYS] == [("a",), None, None, None]


def test_only_keys_that_a_policy_looks_at_are_computed(engine: Engine) -> None:
    typed = read(OPERATIONS["GetItem"][0], {"TableName": "shop", "Key": KEY})
    (requested,) = REQUESTED_ACCESSES["GetItem"](typed)
    seen = []

    def keys_for(action: str, resource: str) -> frozenset[str]:
        seen.append((action, resource))
        return frozenset(["dynamodb:select"])

    keys = resolve_access(requested, engine._writer_catalog.tables, keys_for).keys
    assert seen == [("dynamodb:GetItem", ARN)]
    assert keys.keys().isdisjoint(["dynamodb:leadingkeys", "dynamodb:attributes"])


@pytest.mark.parametrize("wanted", ["TOTAL", "INDEXES", "NONE", None])
def test_the_consumed_capacity_that_is_asked_for_is_a_condition_key(
    engine: Engine, wanted: str | None
) -> None:
    condition = {"StringEquals": {"dynamodb:ReturnConsumedCapacity": wanted or "NONE"}}
    ann = principal(statement(Condition=condition))
    request: Json = {"TableName": "shop", "Key": KEY}
    if wanted:
        request["ReturnConsumedCapacity"] = wanted
    engine.call("GetItem", request, policy=ann)
    with pytest.raises(AccessDeniedException):
        engine.call(
            "GetItem",
            request | {"ReturnConsumedCapacity": "TOTAL" if wanted != "TOTAL" else "NONE"},
            policy=ann,
        )


# -- what is revealed, and when


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


# -- tenants


def scoped(value: str, *actions: str, operator: str = "StringEquals", **tags: str) -> Principal:
    condition = {
        f"ForAllValues:{operator}": {"dynamodb:LeadingKeys": value},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    allowed = [f"dynamodb:{action}" for action in actions] or "dynamodb:*"
    return principal(statement(allowed, Condition=condition), **tags)


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


# -- what is true when the request runs


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
        engine.call("GetItem", get, policy=scoped("a"))


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
