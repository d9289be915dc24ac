"""Tables without a design, for tests of the studio."""

from __future__ import annotations

from typing import Any

from tablewright.engine import Engine

#: A table with a number and a binary as its key, a local index, and an index of four attributes.
KEYS = "keys"


def create_keys_table(engine: Engine) -> None:
    engine.call(
        "CreateTable",
        {
            "TableName": KEYS,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": tag}
                for name, tag in {
                    "id": "N",
                    "at": "B",
                    "rank": "N",
                    "a": "S",
                    "b": "N",
                    "c": "S",
                    "d": "B",
                }.items()
            ],
            "KeySchema": key_schema(["id"], ["at"]),
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "local",
                    "KeySchema": key_schema(["id"], ["rank"]),
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kept"]},
                }
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "wide",
                    "KeySchema": key_schema(["a", "b"], ["c", "d"]),
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
        },
    )


def key_schema(partition: list[str], sort: list[str]) -> list[dict[str, str]]:
    kinds: list[tuple[str, str]] = [(name, "HASH") for name in partition]
    kinds += [(name, "RANGE") for name in sort]
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds]


def put(engine: Engine, table: str, item: dict[str, Any]) -> None:
    engine.call("PutItem", {"TableName": table, "Item": item})
