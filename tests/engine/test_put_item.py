from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item, values

OLD = item(pk="a", sk="1", v="old", n=1)
NEW = item(pk="a", sk="1", v="new")
KEY = item(pk="a", sk="1")
INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "


def test_a_new_item_is_stored(db: Database, table: str) -> None:
    assert db.call("PutItem", {"TableName": table, "Item": NEW}) == {}
    assert db.get(table, KEY) == NEW


def test_an_item_takes_the_place_of_the_one_with_its_key(db: Database, table: str) -> None:
    db.put(table, OLD)
    db.call("PutItem", {"TableName": table, "Item": NEW})
    assert db.items(table) == [NEW]


def test_items_with_other_keys_stay(db: Database, table: str) -> None:
    db.put(table, OLD)
    db.call("PutItem", {"TableName": table, "Item": item(pk="a", sk="2")})
    assert db.items(table) == [OLD, item(pk="a", sk="2")]


def test_an_item_of_keys_only_is_an_item(db: Database, table: str) -> None:
    db.call("PutItem", {"TableName": table, "Item": KEY})
    assert db.get(table, KEY) == KEY


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        pytest.param({}, INVALID + "Missing the key pk in the item", id="no keys"),
        pytest.param(item(pk="a"), INVALID + "Missing the key sk in the item", id="no sort key"),
        pytest.param(
            item(sk="a"), INVALID + "Missing the key pk in the item", id="no partition key"
        ),
        pytest.param(
            item(pk=1, sk="1"),
            INVALID + "Type mismatch for key pk expected: S actual: N",
            id="partition key of another type",
        ),
        pytest.param(
            item(pk="a", sk=b"1"),
            INVALID + "Type mismatch for key sk expected: S actual: B",
            id="sort key of another type",
        ),
        pytest.param(
            item(pk="a", sk={"x": 1}),
            INVALID + "Type mismatch for key sk expected: S actual: M",
            id="sort key that is a map",
        ),
        pytest.param(
            item(pk=None, sk=1),
            INVALID + "Type mismatch for key pk expected: S actual: NULL",
            id="partition key before sort key",
        ),
        pytest.param(
            item(pk="", sk="1"),
            NOT_VALID + "The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
            id="empty partition key",
        ),
        pytest.param(
            item(pk="a", sk=""),
            NOT_VALID + "The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: sk",
            id="empty sort key",
        ),
        pytest.param(
            item(pk="a" * 2049, sk="1"),
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
            id="partition key too long",
        ),
        pytest.param(
            item(pk="a", sk="s" * 1025),
            INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
            id="sort key too long",
        ),
    ],
)
def test_an_item_must_have_its_keys(
    db: Database, table: str, attributes: Json, message: str
) -> None:
    db.refuses("PutItem", {"TableName": table, "Item": attributes}, message)
    assert db.items(table) == []


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        pytest.param(
            item(g=1),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: glob",
            id="of another type",
        ),
        pytest.param(
            item(g=["a"]),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: L IndexName: glob",
            id="a list",
        ),
        pytest.param(
            item(g="a", h="1"),
            INVALID + "Type mismatch for Index Key h Expected: N Actual: S IndexName: glob",
            id="the sort key of another type",
        ),
        pytest.param(
            item(h="1"),
            INVALID + "Type mismatch for Index Key h Expected: N Actual: S IndexName: glob",
            id="even if the item would not be in the index",
        ),
        pytest.param(
            item(l=1),
            INVALID + "Type mismatch for Index Key l Expected: S Actual: N IndexName: local",
            id="of a local index",
        ),
        pytest.param(
            item(g=""),
            NOT_VALID + "A value specified for a secondary index key is not supported. "
            "The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: glob, IndexKey: g",
            id="empty",
        ),
        pytest.param(
            item(l=""),
            NOT_VALID + "A value specified for a secondary index key is not supported. "
            "The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: local, IndexKey: l",
            id="empty in a local index",
        ),
        pytest.param(
            item(g=1, l=1),
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: glob",
            id="the first index by name is reported",
        ),
    ],
)
def test_index_keys_that_are_there_must_be_good(
    db: Database, attributes: Json, message: str
) -> None:
    table = db.table(local={"local": ("pk:S / l:S", "ALL")}, glob={"glob": ("g:S / h:N", "ALL")})
    db.refuses("PutItem", {"TableName": table, "Item": KEY | attributes}, message)
    assert db.items(table) == []


def test_keys_of_the_table_are_checked_before_keys_of_an_index(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")})
    message = INVALID + "Missing the key sk in the item"
    db.refuses("PutItem", {"TableName": table, "Item": item(pk="a", g=1)}, message)


def test_the_largest_item_is_400_kb(db: Database, table: str) -> None:
    room = 400 * 1024 - len("pkask1v")
    largest = KEY | item(v="x" * room)
    db.call("PutItem", {"TableName": table, "Item": largest})
    assert db.get(table, KEY) == largest


def test_a_larger_item_is_refused(db: Database, table: str) -> None:
    too_large = KEY | item(v="x" * (400 * 1024 - len("pkask1v") + 1))
    message = "Item size has exceeded the maximum allowed size"
    db.refuses("PutItem", {"TableName": table, "Item": too_large}, message)
    assert db.items(table) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"ConditionExpression": "a ="},
            'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="',
            id="syntax",
        ),
        pytest.param(
            {"ConditionExpression": "a = :a"},
            "Invalid ConditionExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :a",
            id="undefined value",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
            id="names without an expression",
        ),
        pytest.param(
            {
                "ConditionExpression": "attribute_exists(a)",
                "ExpressionAttributeValues": values(b=1),
                "ExpressionAttributeNames": {"#b": "b"},
            },
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
            id="unused names before unused values",
        ),
        pytest.param(
            {
                "ConditionExpression": "attribute_exists(a)",
                "ExpressionAttributeValues": values(b=1),
            },
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}",
            id="unused values",
        ),
        pytest.param(
            {"ConditionExpression": "a = :a", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
            id="no values",
        ),
        pytest.param(
            {"ConditionExpression": "a = :a", "ExpressionAttributeValues": {"a": {"S": "x"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"',
            id="a value without its sign",
        ),
    ],
)
def test_a_wrong_condition_is_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    db.refuses_early("PutItem", {"TableName": "missing", "Item": KEY, **more}, message)


def test_a_condition_is_refused_before_the_keys(db: Database, table: str) -> None:
    db.refuses_early(
        "PutItem",
        {"TableName": table, "Item": {}, "ConditionExpression": ""},
        "Invalid ConditionExpression: The expression can not be empty;",
    )


def test_an_item_too_large_is_refused_before_the_table_is_looked_for(db: Database) -> None:
    db.refuses(
        "PutItem",
        {"TableName": "missing", "Item": item(v="x" * 410_000)},
        "Item size has exceeded the maximum allowed size",
    )
