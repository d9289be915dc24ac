from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item

KEY = item(pk="a", sk="1")
GSI = {
    "IndexName": "glob",
    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
SCALARS = (
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
)


def definitions(*names: str) -> list[Json]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


@pytest.fixture
def table(db: Database) -> str:
    return db.table(GlobalSecondaryIndexes=[GSI], AttributeDefinitions=definitions("pk", "sk", "g"))


@pytest.mark.parametrize(
    ("path", "blamed"), [("pk.x", "Key: pk"), ("sk[0]", "Key: sk"), ("g.x", "IndexKey: g")]
)
@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"Key": KEY, "ProjectionExpression": "PATH"}),
        ("PutItem", {"Item": KEY, "ConditionExpression": "attribute_not_exists(PATH)"}),
        ("DeleteItem", {"Key": KEY, "ConditionExpression": "attribute_not_exists(PATH)"}),
        ("UpdateItem", {"Key": KEY, "UpdateExpression": "SET q = PATH"}),
        ("Scan", {"FilterExpression": "attribute_not_exists(PATH)"}),
        ("Scan", {"ProjectionExpression": "PATH"}),
        (
            "Query",
            {
                "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": {"S": "a"}},
                "FilterExpression": "attribute_not_exists(PATH)",
            },
        ),
    ],
)
def test_no_expression_looks_into_a_key(
    db: Database, table: str, operation: str, request_: Json, path: str, blamed: str
) -> None:
    asked = {
        name: value.replace("PATH", path) if isinstance(value, str) else value
        for name, value in request_.items()
    }
    db.refuses(operation, {"TableName": table, **asked}, SCALARS + blamed)
    assert db.items(table) == []


def test_nor_in_a_batch_or_a_transaction(db: Database, table: str) -> None:
    wanted = {"Keys": [KEY], "ProjectionExpression": "g.x"}
    db.refuses("BatchGetItem", {"RequestItems": {table: wanted}}, SCALARS + "IndexKey: g")
    get = {"TableName": table, "Key": KEY, "ProjectionExpression": "pk.x"}
    db.refuses("TransactGetItems", {"TransactItems": [{"Get": get}]}, SCALARS + "Key: pk")
    remove = {"TableName": table, "Key": KEY, "UpdateExpression": "REMOVE g.x"}
    db.refuses(
        "TransactWriteItems", {"TransactItems": [{"Update": remove}]}, SCALARS + "IndexKey: g"
    )


def test_changing_a_key_is_the_greater_mistake(db: Database, table: str) -> None:
    db.refuses(
        "UpdateItem",
        {"TableName": table, "Key": KEY, "UpdateExpression": "REMOVE pk.x"},
        "One or more parameter values were invalid: Cannot update attribute pk. "
        "This attribute is part of the key",
    )
