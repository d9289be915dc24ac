"""Names of tables."""

from __future__ import annotations

import pytest

from tests.engine.database import Database, table_request


@pytest.mark.parametrize("name", ["abc", "a.b-c_D9", "x" * 255])
def test_good_names(db: Database, name: str) -> None:
    created = db.call("CreateTable", table_request(name))["TableDescription"]
    assert created["TableName"] == name
    db.call("DeleteTable", {"TableName": name})


def test_a_name_of_wrong_characters_is_refused(db: Database) -> None:
    db.refuses(
        "CreateTable",
        table_request("a b c"),
        "1 validation error detected: Value 'a b c' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
    )


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("", "greater than or equal to 1"),
        ("ab", "greater than or equal to 3"),
        ("x" * 256, "less than or equal to 255"),
    ],
    ids=["empty", "short", "long"],
)
def test_a_name_of_wrong_length_is_refused(db: Database, name: str, bound: str) -> None:
    db.refuses(
        "CreateTable",
        table_request(name),
        f"1 validation error detected: Value '{name}' at 'tableName' failed to satisfy "
        f"constraint: Member must have length {bound}",
    )


def test_a_table_can_be_named_by_its_arn(db: Database) -> None:
    name = db.new_name()
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{name}"
    created = db.call("CreateTable", table_request(arn))["TableDescription"]
    assert (created["TableName"], created["TableArn"]) == (name, arn)


def test_a_table_needs_a_name(db: Database) -> None:
    request = table_request("")
    del request["TableName"]
    message = "The parameter 'TableName' is required but was not present in the request"
    db.refuses("CreateTable", request, message, raw=True)
