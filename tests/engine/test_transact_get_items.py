from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item

ITEMS = [item(pk="a", sk=str(number), n=number, m={"x": number}) for number in range(3)]


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=ITEMS)


def get(table: str, key: Json, **more: Any) -> Json:
    return {"Get": {"TableName": table, "Key": key, **more}}


def request(*gets: Json) -> Json:
    return {"TransactItems": list(gets)}


def key(number: int) -> Json:
    return item(pk="a", sk=str(number))


def test_items_come_in_the_order_of_the_request(db: Database, full: str) -> None:
    asked = request(get(full, key(2)), get(full, key(0)))
    assert db.call("TransactGetItems", asked) == {
        "Responses": [{"Item": ITEMS[2]}, {"Item": ITEMS[0]}]
    }


def test_an_item_that_is_not_there_is_an_empty_response(db: Database, full: str) -> None:
    asked = request(get(full, key(7)), get(full, key(0)))
    assert db.call("TransactGetItems", asked) == {"Responses": [{}, {"Item": ITEMS[0]}]}


def test_several_tables_may_be_read(db: Database, full: str) -> None:
    other = db.table("pk:N", items=[item(pk=1)])
    asked = request(get(other, item(pk=1)), get(full, key(0)))
    assert db.call("TransactGetItems", asked) == {
        "Responses": [{"Item": item(pk=1)}, {"Item": ITEMS[0]}]
    }


def test_each_item_has_its_projection(db: Database, full: str) -> None:
    asked = request(
        get(full, key(0), ProjectionExpression="m.x"),
        get(
            full,
            key(1),
            ProjectionExpression="#n",
            ExpressionAttributeNames={"#n": "n"},
        ),
        get(full, key(2), ProjectionExpression="nope"),
    )
    assert db.call("TransactGetItems", asked)["Responses"] == [
        {"Item": item(m={"x": 0})},
        {"Item": item(n=1)},
        {"Item": {}},
    ]


def test_a_hundred_items_are_allowed(db: Database, full: str) -> None:
    asked = request(*(get(full, key(number)) for number in range(100)))
    assert len(db.call("TransactGetItems", asked)["Responses"]) == 100


def test_one_item_cannot_be_read_twice(db: Database, full: str) -> None:
    asked = request(get(full, key(0)), get(full, key(0), ProjectionExpression="n"))
    message = "Transaction request cannot include multiple operations on one item"
    db.refuses("TransactGetItems", asked, message)


def test_the_first_key_that_does_not_match_is_reported_alone(db: Database, full: str) -> None:
    details = db.fails(
        "TransactGetItems",
        request(get(full, item(pk="a")), get(full, item(pk="b"))),
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[ValidationError, None]",
    )
    assert len(details["CancellationReasons"]) == 2


@pytest.mark.parametrize("wrong", [item(pk="a"), item(pk="a", sk=1)], ids=["half", "type"])
def test_a_key_that_does_not_match_cancels(db: Database, full: str, wrong: Json) -> None:
    details = db.fails(
        "TransactGetItems",
        request(get(full, key(0)), get(full, wrong)),
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ValidationError]",
    )
    assert details["CancellationReasons"] == [
        {"Code": "None"},
        {
            "Code": "ValidationError",
            "Message": "The provided key element does not match the schema",
        },
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"ProjectionExpression": "a,"},
            'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
            id="syntax",
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
    ],
)
def test_a_wrong_projection_is_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    db.refuses("TransactGetItems", request(get("missing", key(0), **more)), message)


def test_more_than_a_hundred_items_are_refused(db: Database) -> None:
    with pytest.raises(Refused) as refused:
        db.call("TransactGetItems", request(*(get("missing", key(0)) for _ in range(101))))
    assert refused.value.message.endswith(
        "]' at 'transactItems' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    )
