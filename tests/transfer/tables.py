"""Tables to move, and ends to move them between."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tablewright.engine import Engine
from tablewright.transfer import Event, TableComparison
from tablewright.values import Item

PLAIN = {
    "TableName": "things",
    "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
RICH = {
    "TableName": "orders",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "B"},
        {"AttributeName": "SK", "AttributeType": "N"},
        {"AttributeName": "day", "AttributeType": "S"},
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by_day_here",
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "day", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_day",
            "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]},
            "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
        }
    ],
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
}


def thing(key: str, **more: Any) -> Item:
    return {"k": {"S": key}, **more}


def things(count: int) -> list[Item]:
    return [thing(f"k{number:06}", n={"N": str(number)}) for number in range(count)]


def fill(engine: Engine, table: dict[str, Any], items: Iterable[Item]) -> None:
    """Make a table, and put items into it."""
    engine.call("CreateTable", table)
    left = list(items)
    while left:
        batch, left = left[:25], left[25:]
        puts = [{"PutRequest": {"Item": item}} for item in batch]
        engine.call("BatchWriteItem", {"RequestItems": {table["TableName"]: puts}})


def held(engine: Engine, table: str = "things") -> list[Item]:
    """Every item of a table, in the engine's order."""
    items: list[Item] = []
    request: dict[str, Any] = {"TableName": table}
    while True:
        page = engine.call("Scan", request)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def stored_rows(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all trees except the catalog, with their keys, sizes, bodies and checksums."""
    connection = engine._store._writer
    trees = connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'tree$*'").fetchall()
    return {
        str(tree): list(connection.execute(f"SELECT * FROM {tree} ORDER BY key"))
        for (tree,) in trees
        if tree != "tree$0"
    }


def things_in(path: Path, count: int) -> Path:
    """A file with a table of so many things."""
    with Engine(path, durability="normal") as engine:
        fill(engine, PLAIN, things(count))
    return path


def compared(events: Iterable[Event]) -> dict[str, TableComparison]:
    """Run a transfer to its end: what it found out about each table."""
    return {event.table: event for event in events if isinstance(event, TableComparison)}
