from __future__ import annotations

import pytest

from tests.engine.database import Database, definitions, item


def test_a_table_is_described_as_it_was_made(db: Database) -> None:
    table = db.table("pk:S / sk:N", glob={"glob": ("g:B", "ALL")})
    described = db.call("DescribeTable", {"TableName": table})["Table"]
    assert described["TableName"] == table
    assert described["TableStatus"] == "ACTIVE"
    assert sorted(described["AttributeDefinitions"], key=str) == sorted(
        definitions("pk:S sk:N g:B"), key=str
    )
    assert described["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"


def test_items_and_bytes_are_counted(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "KEYS_ONLY")})
    db.put(table, item(pk="a", sk="1", v="four"))
    db.put(table, item(pk="a", sk="2", g="x", v="four"))
    described = db.call("DescribeTable", {"TableName": table})["Table"]
    first = len("pkask1vfour")
    second = len("pkask2gxvfour")
    assert (described["ItemCount"], described["TableSizeBytes"]) == (2, first + second)
    (index,) = described["GlobalSecondaryIndexes"]
    assert (index["ItemCount"], index["IndexSizeBytes"]) == (1, len("pkask2gx"))


def test_a_table_can_be_named_by_its_arn(db: Database, table: str) -> None:
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}"
    assert db.call("DescribeTable", {"TableName": arn})["Table"]["TableName"] == table


def test_times_do_not_change(db: Database, table: str) -> None:
    first = db.call("DescribeTable", {"TableName": table})["Table"]
    db.put(table, item(pk="a", sk="1"))
    second = db.call("DescribeTable", {"TableName": table})["Table"]
    assert first["CreationDateTime"] == second["CreationDateTime"]
    assert first["TableId"] == second["TableId"]


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
        "DescribeTable",
        {"TableName": name},
        f"1 validation error detected: Value '{name}' at 'tableName' failed to satisfy "
        f"constraint: Member must have length {bound}",
    )
