"""Requests that are wrong in form, and the proof that a refused request changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.database import Database, Json, OverHttp, Refused, item, values

KEY = item(pk="a", sk="1")


# -- what is not JSON, or not an object


@pytest.mark.parametrize("body", [b"{", b"nope", b'{"TableName": }', b'{"a": 1} x', b"\xff"])
def test_a_body_that_is_not_json(db: Database, body: bytes) -> None:
    """In process a request is not text, so there is nothing to test there."""
    if isinstance(db, OverHttp):
        with pytest.raises(Refused) as refused:
            db.post_bytes("ListTables", body)
        assert (refused.value.code, refused.value.message) == ("SerializationException", "")


@pytest.mark.parametrize("body", [[], "text", 1, True, None], ids=repr)
def test_a_body_that_is_not_an_object(db: Database, body: Any) -> None:
    with pytest.raises(Refused) as refused:
        db.post("ListTables", body)
    assert refused.value.code == "SerializationException"


def test_unknown_members_are_ignored(db: Database, table: str) -> None:
    db.post("PutItem", {"TableName": table, "Item": KEY, "Nope": 1})
    assert db.items(table) == [KEY]


def test_null_members_are_absent(db: Database, table: str) -> None:
    request = {"TableName": table, "Item": KEY, "ConditionExpression": None, "ReturnValues": None}
    assert db.post("PutItem", request) == {}


# -- JSON of the wrong type

STRUCTURE = "Start of structure or map found where not expected"
TYPES = "com.amazonaws.dynamodb.v20120810"


@pytest.mark.parametrize(
    ("operation", "member", "given", "message"),
    [
        ("GetItem", "TableName", 1, "NUMBER_VALUE cannot be converted to String"),
        ("GetItem", "TableName", 1.5, "DECIMAL_VALUE cannot be converted to String"),
        ("GetItem", "TableName", True, "TRUE_VALUE cannot be converted to String"),
        ("GetItem", "TableName", False, "FALSE_VALUE cannot be converted to String"),
        ("GetItem", "TableName", [], "Unrecognized collection type class java.lang.String"),
        ("GetItem", "TableName", {}, STRUCTURE),
        ("GetItem", "ConsistentRead", "true", "Unexpected token received from parser"),
        ("GetItem", "ConsistentRead", 1, "NUMBER_VALUE cannot be converted to Boolean"),
        ("GetItem", "ConsistentRead", 1.5, "DECIMAL_VALUE cannot be converted to Boolean"),
        ("GetItem", "ConsistentRead", [], "Unrecognized collection type class java.lang.Boolean"),
        ("GetItem", "ConsistentRead", {}, STRUCTURE),
        ("Scan", "Limit", "1", "STRING_VALUE cannot be converted to Integer"),
        ("Scan", "Limit", True, "TRUE_VALUE cannot be converted to Integer"),
        ("Scan", "Limit", [], "Unrecognized collection type class java.lang.Integer"),
        ("Scan", "Limit", {}, STRUCTURE),
        ("GetItem", "Key", "x", "Unexpected field type"),
        ("GetItem", "Key", 1, "Unexpected field type"),
        (
            "GetItem",
            "Key",
            [],
            f"Unrecognized collection type java.util.Map<java.lang.String, {TYPES}.AttributeValue>",
        ),
        (
            "GetItem",
            "ExpressionAttributeNames",
            [],
            "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
        ),
        ("GetItem", "AttributesToGet", "x", "Unexpected field type"),
        ("GetItem", "AttributesToGet", {}, STRUCTURE),
        ("PutItem", "Item", {"a": "x"}, "Unexpected value type in payload"),
        (
            "PutItem",
            "Item",
            {"a": []},
            f"Unrecognized collection type class {TYPES}.AttributeValue",
        ),
        ("PutItem", "Item", {"a": {"S": 1}}, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", "Item", {"a": {"N": 1}}, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", "Item", {"a": {"N": 1.5}}, "DECIMAL_VALUE cannot be converted to String"),
        ("PutItem", "Item", {"a": {"BOOL": "true"}}, "Unexpected token received from parser"),
        ("PutItem", "Item", {"a": {"SS": "x"}}, "Unexpected field type"),
        ("PutItem", "Item", {"a": {"SS": [1]}}, "NUMBER_VALUE cannot be converted to String"),
        ("PutItem", "Item", {"a": {"L": {}}}, STRUCTURE),
        ("PutItem", "Item", {"a": {"L": ["x"]}}, "Unexpected value type in payload"),
        ("PutItem", "Item", {"a": {"M": "x"}}, "Unexpected field type"),
        (
            "PutItem",
            "Item",
            {"a": {"B": "abc"}},
            "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
        ),
    ],
)
def test_json_of_the_wrong_type(
    db: Database, operation: str, member: str, given: Any, message: str
) -> None:
    request = {"TableName": "missing", "Key": KEY, "Item": KEY, member: given}
    db.fails(operation, request, "SerializationException", message, raw=True)


def test_the_fraction_of_an_integer_is_dropped(db: Database, table: str) -> None:
    db.put(table, KEY)
    db.put(table, KEY | item(sk="2"))
    assert db.post("Scan", {"TableName": table, "Limit": 1.9})["Count"] == 1


def test_binary_that_is_not_base64(db: Database, table: str) -> None:
    with pytest.raises(Refused) as refused:
        db.post("PutItem", {"TableName": table, "Item": KEY | {"v": {"B": "!!!!"}}})
    assert refused.value.code == "SerializationException"


def test_types_are_checked_before_constraints(db: Database) -> None:
    request = {"TableName": "", "Limit": "x"}
    message = "STRING_VALUE cannot be converted to Integer"
    db.fails("Scan", request, "SerializationException", message, raw=True)


# -- a refused request changes nothing

STORED = [
    item(pk="a", sk="1", g="x", n=5, l="l", s="text"),
    item(pk="a", sk="2", g="x", n=6),
    item(pk="b", sk="1", n=7),
]
BAD_WRITES: list[Any] = [
    pytest.param("PutItem", {"Item": item(pk="a")}, id="put without a key"),
    pytest.param("PutItem", {"Item": KEY | item(g=1)}, id="put with a wrong index key"),
    pytest.param("PutItem", {"Item": KEY | item(g="")}, id="put with an empty index key"),
    pytest.param("PutItem", {"Item": KEY | {"v": {"N": "x"}}}, id="put of no number"),
    pytest.param("PutItem", {"Item": KEY | item(v="x" * 410_000)}, id="put too large"),
    pytest.param(
        "PutItem",
        {"Item": KEY, "ConditionExpression": "attribute_not_exists(pk)"},
        id="put under a condition",
    ),
    pytest.param("PutItem", {"Item": KEY, "ReturnValues": "ALL_NEW"}, id="put returning the new"),
    pytest.param("PutItem", {"Item": KEY, "ReturnValues": 1}, id="put of the wrong type"),
    pytest.param("DeleteItem", {"Key": item(pk="a")}, id="delete by half a key"),
    pytest.param(
        "DeleteItem",
        {"Key": KEY, "ConditionExpression": "attribute_not_exists(pk)"},
        id="delete under a condition",
    ),
    pytest.param("DeleteItem", {"Key": KEY, "ConditionExpression": "("}, id="delete, syntax"),
    pytest.param("UpdateItem", {"Key": KEY, "UpdateExpression": "SET"}, id="update, syntax"),
    pytest.param("UpdateItem", {"Key": KEY, "UpdateExpression": "SET a = b"}, id="update, missing"),
    pytest.param("UpdateItem", {"Key": KEY, "UpdateExpression": "REMOVE pk"}, id="update a key"),
    pytest.param(
        "UpdateItem",
        {
            "Key": KEY,
            "UpdateExpression": "SET s = :s, g = :n",
            "ExpressionAttributeValues": values(s="new", n=1),
        },
        id="update of an index key's type",
    ),
    pytest.param(
        "UpdateItem",
        {
            "Key": KEY,
            "UpdateExpression": "SET s = :s ADD s2 :n, s :n",
            "ExpressionAttributeValues": values(s="new", n=1),
        },
        id="update, overlap",
    ),
    pytest.param(
        "UpdateItem",
        {
            "Key": KEY,
            "UpdateExpression": "SET n = :n ADD s :n",
            "ExpressionAttributeValues": values(n=1),
        },
        id="update, half of it wrong",
    ),
    pytest.param(
        "UpdateItem",
        {"Key": item(pk="new", sk="1"), "UpdateExpression": "SET a.b = n"},
        id="update of a new item",
    ),
]


@pytest.fixture
def full(db: Database) -> str:
    return db.table(
        local={"local": ("pk:S / l:S", "ALL")}, glob={"glob": ("g:S / n:N", "ALL")}, items=STORED
    )


def state(db: Database, table: str) -> Any:
    """Everything in the table and its indexes, and how many rows the engine has in all."""
    report = db.check()
    assert report.problems == []
    return [db.items(table, index) for index in (None, "local", "glob")], report.rows


@pytest.mark.parametrize(("operation", "request_"), BAD_WRITES)
def test_a_refused_write_changes_nothing(
    db: Database, full: str, operation: str, request_: Json
) -> None:
    before = state(db, full)
    with pytest.raises(Refused):
        db.post(operation, {"TableName": full} | request_)
    assert state(db, full) == before


@pytest.mark.parametrize(("operation", "request_"), BAD_WRITES)
def test_a_refused_write_of_a_transaction_undoes_the_others(
    db: Database, full: str, operation: str, request_: Json
) -> None:
    action = {"TableName": full} | {
        name: value for name, value in request_.items() if name != "ReturnValues"
    }
    if "ReturnValues" in request_:
        action["ConditionExpression"] = "attribute_not_exists(pk)"
    actions = [
        {"Put": {"TableName": full, "Item": item(pk="z", sk="1", g="x", n=1, l="l")}},
        {operation.removesuffix("Item"): action},
        {"Delete": {"TableName": full, "Key": item(pk="b", sk="1")}},
    ]
    before = state(db, full)
    with pytest.raises(Refused):
        db.post("TransactWriteItems", {"TransactItems": actions})
    assert state(db, full) == before


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"BillingMode": "FREE"},
        {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "nope"}}]},
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "local"}}]},
        {"DeletionProtectionEnabled": True, "BillingMode": "PROVISIONED"},
    ],
    ids=["nothing", "enum", "throughput", "no index", "local index", "half of it wrong"],
)
def test_a_refused_update_of_a_table_changes_nothing(db: Database, full: str, change: Json) -> None:
    described = db.call("DescribeTable", {"TableName": full})
    before = state(db, full)
    with pytest.raises(Refused):
        db.call("UpdateTable", {"TableName": full} | change)
    assert db.call("DescribeTable", {"TableName": full}) == described
    assert state(db, full) == before


# -- what only Python can say

LONE = "\ud800"  # half of a character


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("PutItem", {"Item": item(pk=LONE, sk="1")}),
        ("PutItem", {"Item": KEY | item(text=LONE)}),
        ("PutItem", {"Item": KEY | {LONE: {"S": "x"}}}),
        ("PutItem", {"Item": KEY | item(deep=[{"a": {LONE: 1}}, {LONE}])}),
        ("BatchWriteItem", {"RequestItems": {"TABLE": [{"PutRequest": {"Item": item(pk=LONE)}}]}}),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "TABLE", "Item": KEY | item(text=LONE)}}]},
        ),
        (
            "UpdateItem",
            {
                "Key": KEY,
                "UpdateExpression": "SET a = :v",
                "ExpressionAttributeValues": values(v=LONE),
            },
        ),
        (
            "Query",
            {
                "KeyConditionExpression": "pk = :v",
                "ExpressionAttributeValues": values(v=LONE),
            },
        ),
    ],
)
def test_half_a_character_is_no_text(db: Database, table: str, operation: str, more: Json) -> None:
    request = json.loads(json.dumps({"TableName": table} | more).replace("TABLE", table))
    with pytest.raises(Refused) as refused:
        db.post(operation, request)
    assert refused.value.code == "SerializationException"
    assert db.items(table) == []


@pytest.mark.parametrize("limit", [float("inf"), float("-inf"), float("nan")], ids=str)
def test_an_integer_is_finite(db: Database, table: str, limit: float) -> None:
    with pytest.raises(Refused) as refused:
        db.post("Scan", {"TableName": table, "Limit": limit})
    assert refused.value.code == "SerializationException"
