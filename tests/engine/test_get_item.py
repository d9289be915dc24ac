from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item

ITEM = item(pk="a", sk="1", n=5, m={"x": 1, "y": {"z": "deep"}}, l=[1, "two", {"k": 3}], t="text")


@pytest.fixture
def full(db: Database, table: str) -> str:
    db.put(table, ITEM)
    return table


def test_an_item_comes_back_as_it_was_put(db: Database, full: str) -> None:
    answer = db.call("GetItem", {"TableName": full, "Key": item(pk="a", sk="1")})
    assert answer == {"Item": ITEM}


def test_no_item_is_an_empty_answer(db: Database, full: str) -> None:
    assert db.call("GetItem", {"TableName": full, "Key": item(pk="a", sk="2")}) == {}


def test_a_consistent_read_gives_the_same(db: Database, full: str) -> None:
    request = {"TableName": full, "Key": item(pk="a", sk="1"), "ConsistentRead": True}
    assert db.call("GetItem", request)["Item"] == ITEM


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"ProjectionExpression": ""},
            "Invalid ProjectionExpression: The expression can not be empty;",
            id="empty",
        ),
        pytest.param(
            {"ProjectionExpression": "a,"},
            'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
            id="syntax",
        ),
        pytest.param(
            {"ProjectionExpression": "name"},
            "Invalid ProjectionExpression: Attribute name is a reserved keyword; "
            "reserved keyword: name",
            id="reserved",
        ),
        pytest.param(
            {"ProjectionExpression": "#a"},
            "Invalid ProjectionExpression: An expression attribute name used in the document path "
            "is not defined; attribute name: #a",
            id="undefined",
        ),
        pytest.param(
            {"ProjectionExpression": "m, m.x"},
            "Invalid ProjectionExpression: Two document paths overlap with each other; must "
            "remove or rewrite one of these paths; path one: [m], path two: [m, x]",
            id="overlap",
        ),
        pytest.param(
            {"ProjectionExpression": "m.x, m[0]"},
            "Invalid ProjectionExpression: Two document paths conflict with each other; must "
            "remove or rewrite one of these paths; path one: [m, x], path two: [m, [0]]",
            id="conflict",
        ),
        pytest.param(
            {"ProjectionExpression": "a", "ExpressionAttributeNames": {"#b": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
            id="unused name",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#b": "b"}},
            "ExpressionAttributeNames can only be specified when using expressions",
            id="names without an expression",
        ),
        pytest.param(
            {"ProjectionExpression": "#b", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
            id="no names",
        ),
        pytest.param(
            {"ProjectionExpression": "b", "ExpressionAttributeNames": {"b": "b"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "b"',
            id="a name without its sign",
        ),
        pytest.param(
            {"ProjectionExpression": "#b", "ExpressionAttributeNames": {"#b": ""}},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #b",
            id="an empty name",
        ),
        pytest.param(
            {"ProjectionExpression": "a", "AttributesToGet": ["a"]},
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression}",
            id="mixed with legacy",
        ),
    ],
)
@pytest.mark.parametrize("name", ["full", "missing-table"])
def test_a_wrong_projection_is_refused_before_the_table_is_looked_for(
    db: Database, full: str, name: str, more: Json, message: str
) -> None:
    name = full if name == "full" else name
    db.refuses("GetItem", {"TableName": name, "Key": item(pk="a", sk="1"), **more}, message)


@pytest.mark.parametrize(
    ("keys", "key", "message"),
    [
        pytest.param(
            "pk:S / sk:S",
            item(pk="", sk="1"),
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
            id="empty partition key",
        ),
        pytest.param(
            "pk:S / sk:S",
            item(pk="a", sk=""),
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: sk",
            id="empty sort key",
        ),
        pytest.param(
            "pk:B",
            item(pk=b""),
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty binary value. Key: pk",
            id="empty binary key",
        ),
        pytest.param(
            "pk:S / sk:S",
            item(pk="a" * 2049, sk="1"),
            "One or more parameter values were invalid: "
            "Size of hashkey has exceeded the maximum size limit of2048 bytes",
            id="partition key too long",
        ),
        pytest.param(
            "pk:S / sk:S",
            item(pk="a", sk="é" * 513),
            "One or more parameter values were invalid: "
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
            id="sort key too long, in bytes",
        ),
    ],
)
def test_a_key_is_neither_empty_nor_too_long(
    db: Database, keys: str, key: Json, message: str
) -> None:
    db.refuses("GetItem", {"TableName": db.table(keys), "Key": key}, message)


def test_the_longest_keys_are_good(db: Database, table: str) -> None:
    longest = item(pk="é" * 1024, sk="s" * 1024)
    db.call("PutItem", {"TableName": table, "Item": longest})
    assert db.call("GetItem", {"TableName": table, "Key": longest}) == {"Item": longest}


def test_a_number_key_is_found_by_any_spelling(db: Database) -> None:
    table = db.table("pk:N", items=[item(pk=100)])
    request = {"TableName": table, "Key": {"pk": {"N": "1.00e2"}}}
    assert db.call("GetItem", request) == {"Item": item(pk=100)}


def test_bad_key_values_come_before_a_missing_table(db: Database) -> None:
    db.refuses(
        "GetItem",
        {"TableName": "missing", "Key": {"pk": {}}},
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
    )
