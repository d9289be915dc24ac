"""A table with a local and three global indexes, and helpers to fill and read it."""

from __future__ import annotations

from typing import Any

from tablewright.engine import Engine

Item = dict[str, Any]

NAME = "orders"
TABLE: dict[str, Any] = {
    "TableName": NAME,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "status", "AttributeType": "S"},
        {"AttributeName": "total", "AttributeType": "N"},
        {"AttributeName": "coupon", "AttributeType": "B"},
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by_total",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "total", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_status",
            "KeySchema": [
                {"AttributeName": "status", "KeyType": "HASH"},
                {"AttributeName": "total", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        },
        {
            "IndexName": "by_coupon",
            "KeySchema": [{"AttributeName": "coupon", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
        {
            "IndexName": "by_sort",
            "KeySchema": [
                {"AttributeName": "sk", "KeyType": "HASH"},
                {"AttributeName": "pk", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["version"]},
        },
    ],
}


def key(item: Item) -> Item:
    return {"pk": item["pk"], "sk": item["sk"]}


def name_of(item: Item) -> str:
    """The key of an item as one text."""
    return f"{item['pk']['S']}/{item['sk']['S']}"


def everything(engine: Engine, table: str = NAME) -> list[Item]:
    """All items of a table."""
    found: list[Item] = []
    request: dict[str, Any] = {"TableName": table}
    while True:
        page = engine.call("Scan", request)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            return found
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def contents(engine: Engine) -> dict[str, Item]:
    return {name_of(item): item for item in everything(engine)}
