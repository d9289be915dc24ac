from __future__ import annotations

import pytest

from tests.engine.database import Database, table_request

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
