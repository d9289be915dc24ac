"""Every operation that reads items returns the attributes that its projection names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")
ITEM = KEY | item(n=5, m={"x": 1, "y": {"z": "deep"}}, l=[1, "two", {"k": 3}], t="text")
ODD = item(**{"a.b": 1, "select": 2})

#: How each operation reads the item with a projection, and where its answer has the item.
OPERATIONS: dict[str, tuple[Callable[[str, Json], Json], Callable[[str, Json], Json]]] = {
    "GetItem": (
        lambda table, projection: {"TableName": table, "Key": KEY, **projection},
        lambda table, answer: answer["Item"],
    ),
    "Query": (
        lambda table, projection: {
            "TableName": table,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": values(p="a"),
            **projection,
        },
        lambda table, answer: answer["Items"][0],
    ),
    "Scan": (
        lambda table, projection: {"TableName": table, **projection},
        lambda table, answer: answer["Items"][0],
    ),
    "BatchGetItem": (
        lambda table, projection: {"RequestItems": {table: {"Keys": [KEY], **projection}}},
        lambda table, answer: answer["Responses"][table][0],
    ),
    "TransactGetItems": (
        lambda table, projection: {
            "TransactItems": [{"Get": {"TableName": table, "Key": KEY, **projection}}]
        },
        lambda table, answer: answer["Responses"][0]["Item"],
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("projection", "found"),
    [
        pytest.param("n", item(n=5), id="one attribute"),
        pytest.param("n, pk", item(n=5, pk="a"), id="a key attribute"),
        pytest.param("nope", {}, id="nothing there: an item without attributes"),
        pytest.param("n, nope", item(n=5), id="only some there"),
        pytest.param("m.x", item(m={"x": 1}), id="inside a map"),
        pytest.param("m.y.z", item(m={"y": {"z": "deep"}}), id="deep inside a map"),
        pytest.param("m.x, m.y", item(m={"x": 1, "y": {"z": "deep"}}), id="two parts of a map"),
        pytest.param("m.q", {}, id="a member that is not there"),
        pytest.param("l[1]", item(l=["two"]), id="an element of a list"),
        pytest.param("l[2], l[0]", item(l=[1, {"k": 3}]), id="elements in the list's order"),
        pytest.param("l[2].k", item(l=[{"k": 3}]), id="inside an element"),
        pytest.param("l[9]", {}, id="past the end"),
        pytest.param("t.x", {}, id="inside a string"),
    ],
)
def test_a_projection_gives_what_it_names(
    db: Database, operation: str, projection: str, found: Json
) -> None:
    full = db.table(items=[ITEM])
    request, item_of = OPERATIONS[operation]
    answer = db.call(operation, request(full, {"ProjectionExpression": projection}))
    assert item_of(full, answer) == found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_names_stand_for_attributes_of_any_name(db: Database, operation: str) -> None:
    full = db.table(items=[KEY | ODD])
    request, item_of = OPERATIONS[operation]
    projection = {
        "ProjectionExpression": "#dot, #word",
        "ExpressionAttributeNames": {"#dot": "a.b", "#word": "select"},
    }
    assert item_of(full, db.call(operation, request(full, projection))) == ODD
