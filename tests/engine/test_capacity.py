from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")


def sized(size: int, **attributes: Any) -> Json:
    """An item of exactly this many bytes."""
    one = KEY | item(**attributes)
    used = sum(len(name) + len(next(iter(value.values()))) for name, value in one.items())
    return one | item(v="x" * (size - used - 1))


def units(db: Database, operation: str, request: Json) -> Any:
    """CapacityUnits, as TOTAL tells them; the answer must not tell anything else."""
    consumed = db.call(operation, request | {"ReturnConsumedCapacity": "TOTAL"})["ConsumedCapacity"]
    assert consumed.keys() == {"TableName", "CapacityUnits"}
    return consumed["CapacityUnits"]


@pytest.fixture
def indexed(db: Database) -> str:
    return db.table(
        local={"local": ("pk:S / l:S", "KEYS_ONLY")},
        glob={"all": ("g:S", "ALL"), "keys": ("g:S", "KEYS_ONLY"), "some": ("g:S", ["w"])},
    )


def arms(consumed: Json) -> Json:
    """What INDEXES tells, in short: the units of the table and of each index."""
    told = {"table": consumed["Table"]["CapacityUnits"]}
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        for name, one in consumed.get(member, {}).items():
            told[name] = one["CapacityUnits"]
    assert consumed["CapacityUnits"] == sum(told.values())
    return told


# -- reading


@pytest.mark.parametrize(
    ("size", "eventual"),
    [(None, 0.5), (100, 0.5), (4096, 0.5), (4097, 1.0), (8192, 1.0), (8193, 1.5)],
)
@pytest.mark.parametrize("consistent", [False, True], ids=["eventual", "consistent"])
def test_get_item(
    db: Database, table: str, size: int | None, eventual: float, consistent: bool
) -> None:
    if size:
        db.put(table, sized(size))
    request = {"TableName": table, "Key": KEY, "ConsistentRead": consistent}
    assert units(db, "GetItem", request) == eventual * (2 if consistent else 1)


def test_a_projection_is_not_cheaper(db: Database, table: str) -> None:
    db.put(table, sized(9000))
    request = {"TableName": table, "Key": KEY, "ProjectionExpression": "pk"}
    assert units(db, "GetItem", request) == 1.5


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([], 0.5, id="nothing"),
        pytest.param([100] * 3, 0.5, id="small items together"),
        pytest.param([2048, 2048], 0.5, id="exactly 4 KB"),
        pytest.param([2048, 2049], 1.0, id="more than 4 KB"),
        pytest.param([5000, 5000, 5000], 2.0, id="rounded once"),
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize("consistent", [False, True], ids=["eventual", "consistent"])
def test_query_and_scan_add_up_sizes_first(
    db: Database, table: str, operation: str, sizes: list[int], expected: float, consistent: bool
) -> None:
    for number, size in enumerate(sizes):
        db.put(table, sized(size) | item(sk=str(number)))
    request: Json = {"TableName": table, "ConsistentRead": consistent}
    if operation == "Query":
        request |= {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values(p="a")}
    assert units(db, operation, request) == expected * (2 if consistent else 1)


def test_what_a_filter_drops_is_read(db: Database, table: str) -> None:
    db.put(table, sized(9000))
    request = {"TableName": table, "FilterExpression": "attribute_exists(nope)", "Select": "COUNT"}
    assert units(db, "Scan", request) == 1.5


def test_a_query_of_an_index_is_charged_to_the_index(db: Database, indexed: str) -> None:
    db.put(indexed, sized(9000, g="x"))
    for index, expected in {"all": 1.5, "keys": 0.5}.items():
        request = {
            "TableName": indexed,
            "IndexName": index,
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": values(g="x"),
            "ReturnConsumedCapacity": "INDEXES",
        }
        assert arms(db.call("Query", request)["ConsumedCapacity"]) == {"table": 0, index: expected}


def test_what_a_local_index_fetches_is_charged_to_the_table(db: Database, indexed: str) -> None:
    for number in range(3):
        db.put(indexed, sized(5000, l="x") | item(sk=str(number)))
    request = {
        "TableName": indexed,
        "IndexName": "local",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="a"),
        "Select": "ALL_ATTRIBUTES",
        "ReturnConsumedCapacity": "INDEXES",
    }
    consumed = db.call("Query", request)["ConsumedCapacity"]
    assert arms(consumed) == {"table": 3.0, "local": 0.5}


def test_local_and_global_indexes_are_reported_apart(db: Database, indexed: str) -> None:
    request = {
        "TableName": indexed,
        "Item": KEY | item(l="x", g="y"),
        "ReturnConsumedCapacity": "INDEXES",
    }
    consumed = db.call("PutItem", request)["ConsumedCapacity"]
    assert consumed["LocalSecondaryIndexes"].keys() == {"local"}
    assert consumed["GlobalSecondaryIndexes"].keys() == {"all", "keys", "some"}


def test_batch_get_item_rounds_each_item(db: Database) -> None:
    table, other = db.table(items=[sized(100), sized(5000) | item(sk="2")]), db.table()
    request = {
        "RequestItems": {
            table: {"Keys": [KEY, KEY | item(sk="2"), KEY | item(sk="nope")]},
            other: {"Keys": [KEY], "ConsistentRead": True},
        },
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert db.call("BatchGetItem", request)["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 2.0},
        {"TableName": other, "CapacityUnits": 1.0},
    ]


# -- writing


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, 100, 1.0, id="small"),
        pytest.param(None, 1024, 1.0, id="1 KB"),
        pytest.param(None, 1025, 2.0, id="more than 1 KB"),
        pytest.param(3000, 100, 3.0, id="smaller than before"),
        pytest.param(100, 3000, 3.0, id="larger than before"),
    ],
)
def test_put_item(db: Database, table: str, old: int | None, new: int, expected: float) -> None:
    if old:
        db.put(table, sized(old))
    assert units(db, "PutItem", {"TableName": table, "Item": sized(new)}) == expected


@pytest.mark.parametrize(("size", "expected"), [(None, 1.0), (100, 1.0), (3000, 3.0)])
def test_delete_item(db: Database, table: str, size: int | None, expected: float) -> None:
    if size:
        db.put(table, sized(size))
    assert units(db, "DeleteItem", {"TableName": table, "Key": KEY}) == expected


@pytest.mark.parametrize(("size", "expected"), [(None, 1.0), (100, 1.0), (3000, 3.0)])
def test_an_update_is_charged_for_the_whole_item(
    db: Database, table: str, size: int | None, expected: float
) -> None:
    if size:
        db.put(table, sized(size))
    request = {
        "TableName": table,
        "Key": KEY,
        "UpdateExpression": "SET q = :q",
        "ExpressionAttributeValues": values(q=1),
    }
    assert units(db, "UpdateItem", request) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, sized(3000), {"table": 3}, id="in no index"),
        pytest.param(
            None, sized(3000, g="x"), {"table": 3, "all": 3, "keys": 1, "some": 1}, id="entered"
        ),
        pytest.param(
            sized(3000, g="x"), sized(3000), {"table": 3, "all": 3, "keys": 1, "some": 1}, id="left"
        ),
        pytest.param(sized(3000, g="x"), sized(3000, g="x"), {"table": 3}, id="nothing changed"),
        pytest.param(
            sized(3000, g="x"),
            sized(1500, g="x"),
            {"table": 3, "all": 3},
            id="what one index holds changed",
        ),
        pytest.param(
            sized(3000, g="x", w="1"),
            sized(3000, g="x", w="2"),
            {"table": 3, "all": 3, "some": 1},
            id="what two indexes hold changed",
        ),
        pytest.param(
            sized(3000, g="x"),
            sized(1500, g="y"),
            {"table": 3, "all": 5, "keys": 2, "some": 2},
            id="moved",
        ),
        pytest.param(None, sized(100, l="x"), {"table": 1, "local": 1}, id="a local index"),
    ],
)
def test_indexes_are_charged_for_what_changes_in_them(
    db: Database, indexed: str, old: Json | None, new: Json, expected: Json
) -> None:
    if old:
        db.put(indexed, old)
    request = {"TableName": indexed, "Item": new, "ReturnConsumedCapacity": "INDEXES"}
    assert arms(db.call("PutItem", request)["ConsumedCapacity"]) == expected


def test_indexes_count_in_the_total(db: Database, indexed: str) -> None:
    request = {"TableName": indexed, "Item": sized(3000, g="x", l="y")}
    assert units(db, "PutItem", request) == 9.0


def test_batch_write_item(db: Database, indexed: str) -> None:
    request = {
        "RequestItems": {
            indexed: [
                {"PutRequest": {"Item": sized(1500, g="x")}},
                {"DeleteRequest": {"Key": KEY | item(sk="2")}},
            ]
        },
        "ReturnConsumedCapacity": "INDEXES",
    }
    (consumed,) = db.call("BatchWriteItem", request)["ConsumedCapacity"]
    assert arms(consumed) == {"table": 3, "all": 2, "keys": 1, "some": 1}


# -- transactions: twice as much, and told by kind


def test_transact_get_items(db: Database, table: str) -> None:
    db.put(table, sized(5000))
    actions = [{"Get": {"TableName": table, "Key": KEY | item(sk=sk)}} for sk in ("1", "nope")]
    request = {"TransactItems": actions, "ReturnConsumedCapacity": "INDEXES"}
    assert db.call("TransactGetItems", request)["ConsumedCapacity"] == [
        {
            "TableName": table,
            "CapacityUnits": 6.0,
            "ReadCapacityUnits": 6.0,
            "Table": {"CapacityUnits": 6.0, "ReadCapacityUnits": 6.0},
        }
    ]


def test_transact_write_items(db: Database, indexed: str) -> None:
    action = {"Put": {"TableName": indexed, "Item": sized(1500, g="x")}}
    request = {"TransactItems": [action], "ReturnConsumedCapacity": "INDEXES"}
    (consumed,) = db.call("TransactWriteItems", request)["ConsumedCapacity"]
    assert consumed["WriteCapacityUnits"] == consumed["CapacityUnits"]
    assert consumed["Table"] == {"CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}
    assert arms(consumed) == {"table": 4, "all": 4, "keys": 2, "some": 2}


def test_a_condition_check_is_a_write(db: Database, table: str) -> None:
    db.put(table, sized(100))
    check = {"TableName": table, "Key": KEY, "ConditionExpression": "attribute_exists(pk)"}
    request = {"TransactItems": [{"ConditionCheck": check}], "ReturnConsumedCapacity": "TOTAL"}
    assert db.call("TransactWriteItems", request)["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    ]


def test_a_repeated_transaction_is_a_read(db: Database, table: str) -> None:
    request = {
        "TransactItems": [{"Put": {"TableName": table, "Item": sized(1500)}}],
        "ClientRequestToken": f"{table}-{type(db).__name__}"[:36],
        "ReturnConsumedCapacity": "TOTAL",
    }
    first, again = (db.call("TransactWriteItems", request)["ConsumedCapacity"] for _ in range(2))
    assert first == [{"TableName": table, "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}]
    assert again == [{"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]


# -- what is told


OPERATIONS: dict[str, Json] = {
    "GetItem": {"Key": KEY},
    "PutItem": {"Item": KEY},
    "UpdateItem": {"Key": KEY},
    "DeleteItem": {"Key": KEY},
    "Scan": {},
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("level", [None, "NONE"])
def test_nothing_is_told_unasked(
    db: Database, table: str, operation: str, level: str | None
) -> None:
    request = {"TableName": table} | OPERATIONS[operation]
    if level:
        request["ReturnConsumedCapacity"] = level
    assert "ConsumedCapacity" not in db.call(operation, request)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_indexes_tells_the_table_s_part(db: Database, table: str, operation: str) -> None:
    request = {"TableName": table, "ReturnConsumedCapacity": "INDEXES"} | OPERATIONS[operation]
    consumed = db.call(operation, request)["ConsumedCapacity"]
    assert consumed.keys() == {"TableName", "CapacityUnits", "Table"}
    assert consumed["Table"] == {"CapacityUnits": consumed["CapacityUnits"]}
