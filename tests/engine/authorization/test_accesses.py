"""Which accesses each operation needs."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.engine.access.authorization import resolve_access
from tablewright.engine.access.requested_access import requested_accesses
from tablewright.engine.change_log.streams import ShardIterator
from tablewright.engine.operations import find_operation
from tablewright.errors import AccessDeniedException
from tablewright.policy import Principal
from tablewright.policy.condition import DYNAMODB_KEYS, PARTITION_KEYS
from tablewright.wire.operations import OPERATIONS
from tablewright.wire.read import read
from tests.engine.authorization.principals import ARN, KEY, Json, principal, statement
from tests.engine.database import item, table_request, values

STREAM = f"{ARN}/stream/2026"
ALL_KEYS = frozenset(
    (*DYNAMODB_KEYS, "aws:tagkeys", "aws:requesttag/team", "aws:resourcetag/stage")
)


def accesses(
    engine: Engine, operation: str, request: Json
) -> list[tuple[str, str, dict[str, list[str]]]]:
    """The action, the resource and all condition keys of each access of a request.

    ReturnConsumedCapacity and the resource's tags have tests of their own.
    """
    typed = read(find_operation(operation)[0], request)
    find_operation(operation)[1](typed)  # what the operation would refuse is no case
    found = []
    for requested in requested_accesses(operation, typed):
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


KINESIS = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
TABLE_POLICY = '{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}}'


def plain(
    operation: str, request: Json, resource: str = "table"
) -> tuple[str, Json, list[tuple[str, str, dict[str, list[str]]]]]:
    """A request whose access has the name of the operation and no condition keys."""
    return operation, request, [(operation, resource, {})]


BACKUP = f"{ARN}/backup/1-a"

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
                "arn:aws:dynamodb:us-east-1:123456789012:table/other",
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
            "ExclusiveStartKey": KEY | item(status="PAID"),
        },
        [
            (
                "Query",
                "/index/by-status",
                {
                    "leadingkeys": ["PAID"],
                    "attributes": ["pk", "sk", "status"],
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
        {
            "TableName": "shop",
            "ScanFilter": {"f": {"ComparisonOperator": "NULL"}},
            "ExclusiveStartKey": KEY,
        },
        [("Scan", "table", {"attributes": ["f", "pk", "sk"], "select": ["ALL_ATTRIBUTES"]})],
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
    ("ListTables", {}, [("ListTables", "arn:aws:dynamodb:us-east-1:123456789012:table/*", {})]),
    (
        "ListStreams",
        {},
        [("ListStreams", "arn:aws:dynamodb:us-east-1:123456789012:table/*/stream/*", {})],
    ),
    ("ListStreams", {"TableName": "shop"}, [("ListStreams", "/stream/*", {})]),
    ("DescribeStream", {"StreamArn": STREAM}, [("DescribeStream", "/stream/2026", {})]),
    (
        "GetShardIterator",
        {"StreamArn": STREAM, "ShardId": "shardId-1" * 4, "ShardIteratorType": "LATEST"},
        [("GetShardIterator", "/stream/2026", {})],
    ),
    (
        "GetRecords",
        {"ShardIterator": ShardIterator(STREAM, "shardId-1", 0, 0).encode()},
        [("GetRecords", "/stream/2026", {})],
    ),
    (
        "CreateBackup",
        {"TableName": "shop", "BackupName": "before"},
        [("CreateBackup", "table", {})],
    ),
    ("DescribeBackup", {"BackupArn": BACKUP}, [("DescribeBackup", "/backup/1-a", {})]),
    ("DeleteBackup", {"BackupArn": BACKUP}, [("DeleteBackup", "/backup/1-a", {})]),
    ("ListBackups", {"TableName": "shop"}, [("ListBackups", "*", {})]),
    (
        "RestoreTableFromBackup",
        {"BackupArn": BACKUP, "TargetTableName": "shop"},
        [
            ("RestoreTableFromBackup", "/backup/1-a", {}),
            ("RestoreTableFromBackup", "table", {}),
        ],
    ),
    (
        "RestoreTableToPointInTime",
        {"SourceTableName": "shop", "TargetTableName": "new", "UseLatestRestorableTime": True},
        [
            ("RestoreTableToPointInTime", "table", {}),
            ("RestoreTableToPointInTime", f"{ARN.removesuffix('shop')}new", {}),
        ],
    ),
    (
        "DescribeContinuousBackups",
        {"TableName": "shop"},
        [("DescribeContinuousBackups", "table", {})],
    ),
    (
        "UpdateContinuousBackups",
        {
            "TableName": "shop",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
        [("UpdateContinuousBackups", "table", {})],
    ),
    (
        "ExportTableToPointInTime",
        {"TableArn": ARN, "S3Bucket": "exports"},
        [("ExportTableToPointInTime", "table", {})],
    ),
    ("DescribeExport", {"ExportArn": f"{ARN}/export/1"}, [("DescribeExport", "/export/1", {})]),
    ("ListExports", {"TableArn": ARN}, [("ListExports", "*", {})]),
    (
        "ImportTable",
        {
            "S3BucketSource": {"S3Bucket": "imports"},
            "InputFormat": "CSV",
            "TableCreationParameters": table_request("shop"),
        },
        [("ImportTable", "table", {})],
    ),
    ("DescribeImport", {"ImportArn": f"{ARN}/import/1"}, [("DescribeImport", "/import/1", {})]),
    ("ListImports", {"TableArn": ARN}, [("ListImports", "*", {})]),
    ("DescribeLimits", {}, [("DescribeLimits", "*", {})]),
    ("DescribeEndpoints", {}, [("DescribeEndpoints", "*", {})]),
    plain("ListContributorInsights", {}, "*"),
    plain("ListGlobalTables", {}, "*"),
    plain("PutResourcePolicy", {"ResourceArn": ARN, "Policy": TABLE_POLICY}),
    plain("GetResourcePolicy", {"ResourceArn": ARN}),
    plain("GetResourcePolicy", {"ResourceArn": f"{ARN}/stream/1"}, "/stream/1"),
    plain("DeleteResourcePolicy", {"ResourceArn": ARN}),
    plain(
        "UpdateContributorInsights", {"TableName": "shop", "ContributorInsightsAction": "ENABLE"}
    ),
    plain("DescribeContributorInsights", {"TableName": "shop"}),
    plain(
        "DescribeContributorInsights",
        {"TableName": "shop", "IndexName": "by-status"},
        "/index/by-status",
    ),
    plain("EnableKinesisStreamingDestination", {"TableName": "shop", "StreamArn": KINESIS}),
    plain("DisableKinesisStreamingDestination", {"TableName": "shop", "StreamArn": KINESIS}),
    plain(
        "UpdateKinesisStreamingDestination",
        {
            "TableName": "shop",
            "StreamArn": KINESIS,
            "UpdateKinesisStreamingConfiguration": {
                "ApproximateCreationDateTimePrecision": "MICROSECOND"
            },
        },
    ),
    plain("DescribeKinesisStreamingDestination", {"TableName": "shop"}),
    plain("DescribeTableReplicaAutoScaling", {"TableName": "shop"}),
    plain("UpdateTableReplicaAutoScaling", {"TableName": "shop"}),
    plain("CreateGlobalTable", {"GlobalTableName": "shop", "ReplicationGroup": []}),
    plain("UpdateGlobalTable", {"GlobalTableName": "shop", "ReplicaUpdates": []}),
    plain("DescribeGlobalTable", {"GlobalTableName": "shop"}),
    plain("DescribeGlobalTableSettings", {"GlobalTableName": "shop"}),
    plain("UpdateGlobalTableSettings", {"GlobalTableName": "shop"}),
    (
        "ExecuteStatement",
        {"Statement": "SELECT a.b FROM shop WHERE pk IN ['a', 'b'] AND c = 1"},
        [
            (
                "PartiQLSelect",
                "table",
                {
                    "select": ["SPECIFIC_ATTRIBUTES"],
                    "leadingkeys": ["a", "b"],
                    "attributes": ["a", "c", "pk"],
                    "fulltablescan": ["false"],
                },
            )
        ],
    ),
    (
        "ExecuteStatement",
        {"Statement": 'SELECT * FROM "shop"."by-status" WHERE pk = ?', "Parameters": [{"S": "a"}]},
        [
            (
                "PartiQLSelect",
                "/index/by-status",
                {
                    "select": ["ALL_PROJECTED_ATTRIBUTES"],
                    "attributes": ["pk"],
                    "fulltablescan": ["true"],
                },
            )
        ],
    ),
    (
        "ExecuteStatement",
        {"Statement": "INSERT INTO shop VALUE {'pk': 'a', 'sk': '2', 'x': 1}"},
        [
            (
                "PartiQLInsert",
                "table",
                {
                    "returnvalues": ["NONE"],
                    "leadingkeys": ["a"],
                    "attributes": ["pk", "sk", "x"],
                },
            )
        ],
    ),
    (
        "ExecuteStatement",
        {
            "Statement": "UPDATE shop SET x.y = z REMOVE v WHERE pk = 'a' AND sk = '1' AND w > 1 "
            "RETURNING MODIFIED NEW *",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        [
            (
                "PartiQLUpdate",
                "table",
                {
                    "returnvalues": ["UPDATED_NEW", "ALL_OLD"],
                    "leadingkeys": ["a"],
                    "attributes": ["pk", "sk", "v", "w", "x", "z"],
                },
            )
        ],
    ),
    (
        "ExecuteStatement",
        {"Statement": "DELETE FROM shop WHERE pk = 'a' AND sk = '1' RETURNING ALL OLD *"},
        [
            (
                "PartiQLDelete",
                "table",
                {
                    "returnvalues": ["ALL_OLD"],
                    "leadingkeys": ["a"],
                    "attributes": ["pk", "sk"],
                },
            )
        ],
    ),
    (
        "BatchExecuteStatement",
        {
            "Statements": [
                {"Statement": "INSERT INTO shop VALUE {'pk': 'b', 'sk': '2'}"},
                {"Statement": "not a statement"},
                {"Statement": "DELETE FROM shop WHERE pk = 'c' AND sk = '1'"},
            ]
        },
        [
            (
                action,
                "table",
                {
                    "returnvalues": ["NONE"],
                    "enclosingoperation": ["BatchExecuteStatement"],
                    "leadingkeys": [key],
                    "attributes": ["pk", "sk"],
                },
            )
            for action, key in (("PartiQLInsert", "b"), ("PartiQLDelete", "c"))
        ],
    ),
    (
        "ExecuteTransaction",
        {
            "TransactStatements": [
                {"Statement": "EXISTS(SELECT * FROM shop WHERE pk = 'a' AND sk = '1' AND x = 1)"},
                {"Statement": "UPDATE shop SET x = 1 WHERE pk = 'b' AND sk = '1'"},
            ]
        },
        [
            (
                "PartiQLSelect",
                "table",
                {
                    "select": ["ALL_ATTRIBUTES"],
                    "enclosingoperation": ["ExecuteTransaction"],
                    "leadingkeys": ["a"],
                    "attributes": ["pk", "sk", "x"],
                    "fulltablescan": ["false"],
                },
            ),
            (
                "PartiQLUpdate",
                "table",
                {
                    "returnvalues": ["NONE"],
                    "enclosingoperation": ["ExecuteTransaction"],
                    "leadingkeys": ["b"],
                    "attributes": ["pk", "sk", "x"],
                },
            ),
        ],
    ),
    (
        "ExecuteStatement",
        {"Statement": "DELETE FROM shop WHERE pk = 'a'"},
        [("PartiQLDelete", "table", {"returnvalues": ["NONE"], "attributes": ["pk"]})],
    ),
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
    assert OPERATIONS.keys() == {operation for operation, _, _ in CASES}


#: A batch of statements has an error in each response instead (`test_statements`).
@pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - {"BatchExecuteStatement"}))
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
    typed = read(find_operation("Query")[0], request)
    (requested,) = requested_accesses("Query", typed)
    keys = resolve_access(requested, engine._writer_catalog.tables, lambda *_: ALL_KEYS).keys
    assert [keys.get(name) for name in PARTITION_KEYS] == [("a",), ("1",), None, None]
    assert keys["dynamodb:leadingkeys"] == ("a",)
    (requested,) = requested_accesses(
        "GetItem", read(find_operation("GetItem")[0], {"TableName": "shop", "Key": KEY})
    )
    keys = resolve_access(requested, engine._writer_catalog.tables, lambda *_: ALL_KEYS).keys
    assert [keys.get(name) for name in PARTITION_KEYS] == [("a",), None, None, None]


def test_only_keys_that_a_policy_looks_at_are_computed(engine: Engine) -> None:
    typed = read(find_operation("GetItem")[0], {"TableName": "shop", "Key": KEY})
    (requested,) = requested_accesses("GetItem", typed)
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
