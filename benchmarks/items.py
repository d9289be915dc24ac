"""The sample: an order of 15 attributes and about 700 bytes, in a table with three GSIs.

Item `n` of a table of `count` items is in a partition of 20 items, in the table and in
`by_product`; the other indexes have a few large partitions. All values are computed from `n`, so
items need not be stored; numbers from `count` on are new items.
"""

from __future__ import annotations

from typing import Any

from tablewright.values import Item

TABLE = "orders"
PARTITION = 20  # items
STATES = ("PLACED", "PAID", "PACKED", "SHIPPED", "DONE")

KEYS = ("PK", "SK")
INDEX = "by_product"
INDEXES = {
    INDEX: ("GSI1PK", "GSI1SK"),
    "by_status": ("GSI2PK", "GSI2SK"),
    "by_day": ("GSI3PK", "GSI3SK"),
}


def _key_schema(names: tuple[str, str]) -> list[dict[str, str]]:
    kinds = zip(names, ("HASH", "RANGE"), strict=True)
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds]


CREATE: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"}
        for names in (KEYS, *INDEXES.values())
        for name in names
    ],
    "KeySchema": _key_schema(KEYS),
    "GlobalSecondaryIndexes": [
        {
            "IndexName": index,
            "KeySchema": _key_schema(names),
            "Projection": {"ProjectionType": "ALL"},
        }
        for index, names in INDEXES.items()
    ],
}


def item(n: int, count: int) -> Item:
    """Return item `n` of a table of `count` items."""
    customer = n // PARTITION
    order = f"ORDER#2026-{n % 12 + 1:02}-{n % 28 + 1:02}#{n:08}"
    return {
        "PK": {"S": f"CUSTOMER#{customer:07}"},
        "SK": {"S": order},
        "GSI1PK": {"S": product(n, count)},
        "GSI1SK": {"S": order},
        "GSI2PK": {"S": f"STATUS#{STATES[n % 5]}"},
        "GSI2SK": {"S": order},
        "GSI3PK": {"S": f"DAY#{n % 365:03}"},
        "GSI3SK": {"S": order},
        "entityType": {"S": "Order"},
        "amount": {"N": f"{n % 9000 + 100}.95"},
        "version": {"N": str(n % 7 + 1)},
        "gift": {"BOOL": n % 2 == 0},
        "tags": {"SS": ["express", "fragile", "insured"]},
        "address": {
            "M": {
                "street": {"S": f"{n % 300} Harbour Road"},
                "city": {"S": "Hamburg"},
                "zip": {"S": "20457"},
            }
        },
        "note": {
            "S": "Please ring twice and leave it with the neighbour on the second floor. " * 2
        },
    }


def product(n: int, count: int) -> str:
    """Return the partition of item `n` in `by_product`; each has 20 items."""
    return f"PRODUCT#{n % max(1, count // PARTITION):07}"


def key(n: int) -> Item:
    whole = item(n, 1)
    return {name: whole[name] for name in KEYS}


def get_request(n: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": key(n)}


def put_request(n: int, count: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Item": item(n, count)}


def query_request(n: int) -> dict[str, Any]:
    """Return a query for the 20 items in the partition of item `n`."""
    return {
        "TableName": TABLE,
        "KeyConditionExpression": "PK = :partition",
        "ExpressionAttributeValues": {":partition": key(n)["PK"]},
    }


def index_query_request(n: int, count: int) -> dict[str, Any]:
    """Return a query for the 20 items in the partition of item `n` in `by_product`."""
    return {
        "TableName": TABLE,
        "IndexName": INDEX,
        "KeyConditionExpression": "GSI1PK = :partition",
        "ExpressionAttributeValues": {":partition": {"S": product(n, count)}},
    }
