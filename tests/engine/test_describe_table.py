from __future__ import annotations

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


def test_times_do_not_change(db: Database, table: str) -> None:
    first = db.call("DescribeTable", {"TableName": table})["Table"]
    db.put(table, item(pk="a", sk="1"))
    second = db.call("DescribeTable", {"TableName": table})["Table"]
    assert first["CreationDateTime"] == second["CreationDateTime"]
    assert first["TableId"] == second["TableId"]
