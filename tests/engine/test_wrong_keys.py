"""Every operation that takes keys refuses keys of another schema, and does nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")
STORED = KEY | item(v="old")

#: The request of each operation, made from a table and a key.
OPERATIONS: dict[str, Callable[[str, Json], Json]] = {
    "GetItem": lambda table, key: {"TableName": table, "Key": key},
    "DeleteItem": lambda table, key: {"TableName": table, "Key": key},
    "UpdateItem": lambda table, key: {
        "TableName": table,
        "Key": key,
        "UpdateExpression": "SET q = :v",
        "ExpressionAttributeValues": values(v=1),
    },
    "BatchGetItem": lambda table, key: {"RequestItems": {table: {"Keys": [KEY, key]}}},
    "BatchWriteItem": lambda table, key: {
        "RequestItems": {table: [{"DeleteRequest": {"Key": each}} for each in (KEY, key)]}
    },
}


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=[STORED])


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "key",
    [
        pytest.param({}, id="nothing"),
        pytest.param(item(pk="a"), id="no sort key"),
        pytest.param(STORED, id="more than the key"),
        pytest.param(item(pk="a", x="1"), id="another attribute"),
        pytest.param(item(pk=1, sk="1"), id="partition key of another type"),
        pytest.param(item(pk="a", sk=1), id="sort key that is a number"),
        pytest.param(item(pk="a", sk=b"1"), id="sort key that is binary"),
        pytest.param(item(pk=["a"], sk="1"), id="partition key that is a list"),
        pytest.param(item(pk={"a"}, sk="1"), id="partition key that is a set"),
    ],
)
def test_a_key_must_match_the_schema(db: Database, full: str, operation: str, key: Json) -> None:
    message = "The provided key element does not match the schema"
    db.refuses(operation, OPERATIONS[operation](full, key), message)
    assert db.items(full) == [STORED]


#: Transactions report other faults of keys as reasons of a cancellation, but refuse empty ones.
ACTIONS: dict[str, Callable[[str, Json], tuple[str, Json]]] = {
    "Get": lambda table, key: ("TransactGetItems", {"TableName": table, "Key": key}),
    "Put": lambda table, key: ("TransactWriteItems", {"TableName": table, "Item": key}),
    "Delete": lambda table, key: ("TransactWriteItems", {"TableName": table, "Key": key}),
}
EMPTY = item(pk="z", sk="")


def refuses_the_empty_key(db: Database, operation: str, request: Json) -> None:
    db.refuses(
        operation,
        request,
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        "cannot contain an empty string value. Key: sk",
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_empty_key_is_refused(db: Database, full: str, operation: str) -> None:
    refuses_the_empty_key(db, operation, OPERATIONS[operation](full, EMPTY))
    assert db.items(full) == [STORED]


@pytest.mark.parametrize("action", ACTIONS)
def test_an_empty_key_in_a_transaction_is_refused(db: Database, full: str, action: str) -> None:
    operation, first = ACTIONS[action](full, KEY)
    _, second = ACTIONS[action](full, EMPTY)
    refuses_the_empty_key(db, operation, {"TransactItems": [{action: first}, {action: second}]})
    assert db.items(full) == [STORED]
