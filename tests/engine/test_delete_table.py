from __future__ import annotations

import pytest

from tests.engine.database import Database, item, table_request


def test_the_answer_describes_a_table_that_is_going(db: Database, table: str) -> None:
    described = db.call("DeleteTable", {"TableName": table})["TableDescription"]
    assert (described["TableName"], described["TableStatus"]) == (table, "DELETING")


def test_the_description_is_short(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")}, local={"loc": ("pk:S / l:S", "ALL")})
    before = db.call("DescribeTable", {"TableName": table})["Table"]
    described = db.call("DeleteTable", {"TableName": table})["TableDescription"]
    assert described.keys() == {
        "TableName",
        "TableStatus",
        "ProvisionedThroughput",
        "TableSizeBytes",
        "ItemCount",
        "TableArn",
        "TableId",
        "BillingModeSummary",
        "DeletionProtectionEnabled",
    }
    assert described["TableId"] == before["TableId"]


def test_a_deleted_table_is_gone(db: Database, table: str) -> None:
    db.call("DeleteTable", {"TableName": table})
    assert table not in db.call("ListTables")["TableNames"]
    db.fails(
        "GetItem",
        {"TableName": table, "Key": item(pk="a", sk="1")},
        "ResourceNotFoundException",
        "Requested resource not found",
    )


def test_a_table_made_again_is_empty(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")}, items=[item(pk="a", sk="1", g="x")])
    db.call("DeleteTable", {"TableName": table})
    db.call("CreateTable", table_request(table, glob={"glob": ("g:S", "ALL")}))
    assert (db.items(table), db.items(table, "glob")) == ([], [])


def test_a_table_made_again_may_have_other_keys(db: Database, table: str) -> None:
    db.call("DeleteTable", {"TableName": table})
    db.call("CreateTable", table_request(table, "id:N"))
    db.call("PutItem", {"TableName": table, "Item": item(id=1)})
    assert db.items(table) == [item(id=1)]


def test_other_tables_stay(db: Database, table: str) -> None:
    other = db.table(items=[item(pk="a", sk="1")])
    db.call("DeleteTable", {"TableName": table})
    assert db.items(other) == [item(pk="a", sk="1")]


def test_a_protected_table_stays(db: Database) -> None:
    table = db.table(DeletionProtectionEnabled=True, items=[item(pk="a", sk="1")])
    db.refuses(
        "DeleteTable",
        {"TableName": table},
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first.",
    )
    assert db.items(table) == [item(pk="a", sk="1")]


def test_a_table_no_longer_protected_can_go(db: Database) -> None:
    table = db.table(DeletionProtectionEnabled=True)
    db.call("UpdateTable", {"TableName": table, "DeletionProtectionEnabled": False})
    db.call("DeleteTable", {"TableName": table})
    assert table not in db.call("ListTables")["TableNames"]


@pytest.mark.parametrize("operation", ["DeleteTable", "DescribeTable", "DescribeTimeToLive"])
def test_a_table_must_be_named(db: Database, operation: str) -> None:
    message = "The parameter 'TableName' is required but was not present in the request"
    db.refuses(operation, {}, message, raw=True)


def test_the_answer_counts_the_items_that_go(db: Database) -> None:
    table = db.table(items=[item(pk="a", sk=str(number)) for number in range(3)])
    described = db.call("DeleteTable", {"TableName": table})["TableDescription"]
    assert described["ItemCount"] == 3
