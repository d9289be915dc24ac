"""Large requests. `tests/hostile` counts the work that they cause."""

from __future__ import annotations

import pytest

from tablewright.errors import MAX_ECHO_LENGTH
from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")
INVALID = "One or more parameter values were invalid: "


def test_a_long_number_with_a_letter_is_refused(db: Database, table: str) -> None:
    number = "1" * 50_000 + "x"
    db.refuses_early(
        "PutItem",
        {"TableName": table, "Item": KEY | {"n": {"N": number}}},
        f"The parameter cannot be converted to a numeric value: {number[:MAX_ECHO_LENGTH]}...",
    )


def test_many_members_are_deleted_from_a_large_set(db: Database) -> None:
    members = {f"{number:05}" for number in range(30_000)}
    others = {f"x{member}" for member in members}
    table = db.table(items=[KEY | item(s=members)])
    request = {
        "TableName": table,
        "Key": KEY,
        "UpdateExpression": "DELETE s :v",
        "ExpressionAttributeValues": values(v=others - {"x00000"} | {"00000"}),
    }
    db.call("UpdateItem", request)
    assert db.get(table, KEY) == KEY | item(s=members - {"00000"})


def test_a_name_given_twice_is_found_among_many(db: Database, table: str) -> None:
    names = [f"n{number}" for number in range(20_000)] + ["n19999"]
    db.refuses(
        "GetItem",
        {"TableName": table, "Key": KEY, "AttributesToGet": names},
        INVALID + "Duplicate value in attribute name: n19999",
    )


def test_names_have_at_most_2_mb(db: Database, table: str) -> None:
    names = {f"#n{number}": str(number).ljust(60_000, "y") for number in range(36)}
    request: Json = {
        "TableName": table,
        "Key": KEY,
        "ProjectionExpression": "#n0",
        "ExpressionAttributeNames": names,
    }
    db.refuses("GetItem", request, "ExpressionAttributeNames exceeds max size")


@pytest.mark.parametrize("count", [6, 8])
def test_values_have_at_most_2_mb(db: Database, table: str, count: int) -> None:
    given = values(**{f"v{number}": "x" * 300_000 for number in range(count)})
    request: Json = {
        "TableName": table,
        "FilterExpression": f"a IN ({', '.join(given)})",
        "ExpressionAttributeValues": given,
    }
    if count == 6:
        assert db.call("Scan", request)["Count"] == 0
    else:
        db.refuses("Scan", request, "ExpressionAttributeValues exceeds max size")
