"""Conditions and return values of the operations that write one item."""

from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")
OLD = KEY | item(v="old", n=1)
OTHER = item(pk="a", sk="2")
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")

#: Each operation, without its table and condition, and what it makes of the item `OLD`.
WRITES: dict[str, tuple[Json, list[Json]]] = {
    "PutItem": ({"Item": KEY | item(v="new")}, [KEY | item(v="new")]),
    "DeleteItem": ({"Key": KEY}, []),
    "UpdateItem": ({"Key": KEY, "UpdateExpression": "REMOVE n"}, [KEY | item(v="old")]),
}
writes = pytest.mark.parametrize("operation", WRITES)


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=[OLD, OTHER])


def request(operation: str, table: str, condition: str, given: Json | None) -> Json:
    made: Json = {"TableName": table, "ConditionExpression": condition} | WRITES[operation][0]
    if given:
        made["ExpressionAttributeValues"] = given
    return made


@writes
@pytest.mark.parametrize(
    ("condition", "given", "holds"),
    [
        ("attribute_exists(pk)", None, True),
        ("attribute_not_exists(pk)", None, False),
        ("v = :v", values(v="old"), True),
        ("v = :v", values(v="new"), False),
        ("n BETWEEN :a AND :b", values(a=0, b=1), True),
        ("v IN (:a, :b)", values(a="x", b="old"), True),
        ("begins_with(v, :v)", values(v="o"), True),
        ("contains(v, :v)", values(v="ld"), True),
        ("attribute_type(n, :t)", values(t="N"), True),
        ("size(v) > :n", values(n=3), False),
        ("NOT n < :n OR v = :v", values(n=1, v="x"), True),
        ("absent <> :v", values(v="x"), True),
        ("absent = :v", values(v="x"), False),
    ],
)
def test_a_condition_is_held_against_what_is_there(
    db: Database, full: str, operation: str, condition: str, given: Json | None, holds: bool
) -> None:
    asked = request(operation, full, condition, given)
    if holds:
        db.call(operation, asked)
    else:
        db.fails(operation, asked, *FAILED)
    assert db.items(full) == [*(WRITES[operation][1] if holds else [OLD]), OTHER]


@writes
@pytest.mark.parametrize("condition", ["attribute_exists(pk)", "v = :v", "NOT v <> :v"])
def test_a_condition_on_no_item_sees_no_attributes(
    db: Database, table: str, operation: str, condition: str
) -> None:
    given = values(v="new") if ":v" in condition else None
    db.fails(operation, request(operation, table, condition, given), *FAILED)
    assert db.items(table) == []


@writes
@pytest.mark.parametrize(
    ("wanted", "stored", "details"),
    [
        pytest.param("ALL_OLD", [OLD], {"Item": OLD}, id="wanted"),
        pytest.param("ALL_OLD", [], {}, id="wanted but not there"),
        pytest.param("NONE", [OLD], {}, id="not wanted"),
        pytest.param(None, [OLD], {}, id="not asked for"),
    ],
)
def test_a_failed_condition_shows_the_item_if_asked(
    db: Database, operation: str, wanted: str | None, stored: list[Json], details: Json
) -> None:
    table = db.table(items=stored)
    asked = request(operation, table, "v = :v", values(v="other"))
    if wanted:
        asked["ReturnValuesOnConditionCheckFailure"] = wanted
    assert db.fails(operation, asked, *FAILED) == details
    assert db.items(table) == stored


CHANGE = {
    "Key": KEY,
    "UpdateExpression": "SET v = :v ADD n :n",
    "ExpressionAttributeValues": values(v="new", n=1),
}


@pytest.mark.parametrize(
    ("operation", "more", "wanted", "attributes"),
    [
        ("PutItem", {"Item": KEY}, "ALL_OLD", OLD),
        ("PutItem", {"Item": item(pk="b", sk="1")}, "ALL_OLD", None),
        ("PutItem", {"Item": KEY}, "NONE", None),
        ("DeleteItem", {"Key": KEY}, "ALL_OLD", OLD),
        ("DeleteItem", {"Key": item(pk="b", sk="1")}, "ALL_OLD", None),
        ("DeleteItem", {"Key": KEY}, "NONE", None),
        ("UpdateItem", CHANGE, "NONE", None),
        ("UpdateItem", CHANGE, "ALL_OLD", OLD),
        ("UpdateItem", CHANGE, "ALL_NEW", KEY | item(n=2, v="new")),
        ("UpdateItem", CHANGE, "UPDATED_OLD", item(n=1, v="old")),
        ("UpdateItem", CHANGE, "UPDATED_NEW", item(n=2, v="new")),
    ],
)
def test_return_values(
    db: Database, full: str, operation: str, more: Json, wanted: str, attributes: Json | None
) -> None:
    answer = {} if attributes is None else {"Attributes": attributes}
    assert db.call(operation, {"TableName": full, "ReturnValues": wanted} | more) == answer


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_only_old_values_can_be_returned(
    db: Database, full: str, operation: str, wanted: str
) -> None:
    asked = {"TableName": full, "ReturnValues": wanted} | WRITES[operation][0]
    db.refuses_early(operation, asked, "ReturnValues can only be ALL_OLD or NONE")
    assert db.items(full) == [OLD, OTHER]
