from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, table_request

NAMES = sorted([f"name-{number:03}" for number in range(105)] + ["Upper", "a.b", "a_b"])


@pytest.fixture(scope="module", autouse=True)
def _tables(db: Database) -> None:
    for name in NAMES:
        db.engine.call("CreateTable", table_request(name))


def test_names_come_in_order_a_hundred_at_a_time(db: Database) -> None:
    answer = db.call("ListTables")
    assert answer == {"TableNames": NAMES[:100], "LastEvaluatedTableName": NAMES[99]}


def test_the_rest_comes_next(db: Database) -> None:
    answer = db.call("ListTables", {"ExclusiveStartTableName": NAMES[99]})
    assert answer == {"TableNames": NAMES[100:]}


def test_a_limit(db: Database) -> None:
    answer = db.call("ListTables", {"Limit": 3})
    assert answer == {"TableNames": NAMES[:3], "LastEvaluatedTableName": NAMES[2]}


def test_a_limit_that_is_just_enough_leaves_nothing(db: Database) -> None:
    request = {"Limit": 8, "ExclusiveStartTableName": NAMES[99]}
    assert db.call("ListTables", request) == {"TableNames": NAMES[100:]}


def test_a_start_name_need_not_be_a_table(db: Database) -> None:
    request = {"ExclusiveStartTableName": "name-050x", "Limit": 1}
    assert db.call("ListTables", request)["TableNames"] == ["name-051"]


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (
            {"Limit": 0},
            "Value '0' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
        (
            {"Limit": 101},
            "Value '101' at 'limit' failed to satisfy constraint: "
            "Member must have value less than or equal to 100",
        ),
        (
            {"ExclusiveStartTableName": "a/b"},
            "Value 'a/b' at 'exclusiveStartTableName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        ),
        (
            {"ExclusiveStartTableName": "ab"},
            "Value 'ab' at 'exclusiveStartTableName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 3",
        ),
    ],
)
def test_what_the_model_demands(db: Database, request_: Json, problem: str) -> None:
    db.refuses("ListTables", request_, f"1 validation error detected: {problem}")
