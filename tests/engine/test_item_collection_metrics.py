"""Writes report the size of item collections, where a table has local indexes."""

from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item

KEY = item(pk="a", sk="1")
COLLECTION = {"ItemCollectionKey": item(pk="a"), "SizeEstimateRangeGB": [0.0, 1.0]}

#: Each write of one item, without the table.
ONE: list[tuple[str, Json]] = [
    ("PutItem", {"Item": KEY}),
    ("DeleteItem", {"Key": KEY}),
    ("UpdateItem", {"Key": KEY}),
]


@pytest.fixture
def local(db: Database) -> str:
    return db.table(local={"local": ("pk:S / l:S", "ALL")})


@pytest.mark.parametrize(("operation", "more"), ONE)
def test_a_write_of_one_item_reports_its_collection(
    db: Database, local: str, operation: str, more: Json
) -> None:
    request = {"TableName": local, "ReturnItemCollectionMetrics": "SIZE"} | more
    assert db.call(operation, request) == {"ItemCollectionMetrics": COLLECTION}


def test_writes_of_several_items_report_collections_by_table(db: Database, local: str) -> None:
    size = {"ReturnItemCollectionMetrics": "SIZE"}
    batch = {"RequestItems": {local: [{"PutRequest": {"Item": KEY}}]}} | size
    found = db.call("BatchWriteItem", batch)["ItemCollectionMetrics"]
    assert found == {local: [COLLECTION]}
    transaction = {"TransactItems": [{"Put": {"TableName": local, "Item": KEY}}]} | size
    found = db.call("TransactWriteItems", transaction)["ItemCollectionMetrics"]
    assert found == {local: [COLLECTION]}


@pytest.mark.parametrize(("operation", "more"), ONE)
def test_tables_without_local_indexes_have_no_collections(
    db: Database, table: str, operation: str, more: Json
) -> None:
    request = {"TableName": table, "ReturnItemCollectionMetrics": "SIZE"} | more
    assert db.call(operation, request) == {}
