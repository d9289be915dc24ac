"""The workload: a table with one GSI, its items, and the requests of each operation.

Item `n` is in a partition of 20 items, in the table and in the index. The table begins with items
of 300 bytes; puts, transactions and batches write items of about 1 KB. Requests of one round never
touch the same item twice at the same time, so that no implementation has to refuse one. Rounds have
different numbers: each writes new items.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from tablewright.transport.remote import Remote

TABLE, INDEX = "orders", "by_product"
PARTITION = 20
#: The number of requests that are prepared for a round; then they are repeated.
PREPARED = 2000
#: Writes of new items begin here.
NEW = 10_000_000
TEXT = "Please ring twice and leave it with the neighbour on the second floor. "

CREATE: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": INDEX,
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


def key(n: int) -> dict[str, Any]:
    return {"PK": {"S": f"CUSTOMER#{n // PARTITION:07}"}, "SK": {"S": f"ORDER#{n:09}"}}


def item(n: int, size: int = 1000) -> dict[str, Any]:
    """Return item `n`; its attributes have about `size` bytes."""
    text = TEXT * (size // len(TEXT) + 1)
    return {
        **key(n),
        "GSI1PK": {"S": f"PRODUCT#{n // PARTITION:07}"},
        "GSI1SK": {"S": f"ORDER#{n:09}"},
        "status": {"S": "PAID"},
        "amount": {"N": f"{n % 9000 + 100}.95"},
        "version": {"N": "1"},
        "note": {"S": text[: max(1, size - 160)]},
    }


def create_table(remote: Remote) -> None:
    """Create the table and wait until it is active."""
    named = {"TableName": TABLE}
    remote.send("CreateTable", CREATE)
    while b'"TableStatus":"ACTIVE"' not in _compact(remote.send("DescribeTable", named).body):
        time.sleep(0.05)


def load_items(remote: Remote, count: int, size: int, most_seconds: float) -> int:
    """Put items into the table with batches of 25; return their number.

    It is smaller than `count` if `most_seconds` have passed.
    """
    deadline = time.perf_counter() + most_seconds
    for first in range(0, count, 25):
        if time.perf_counter() > deadline:
            return first
        puts = [
            {"PutRequest": {"Item": item(n, size)}} for n in range(first, min(first + 25, count))
        ]
        remote.send("BatchWriteItem", {"RequestItems": {TABLE: puts}})
    return count


def _compact(body: bytes) -> bytes:
    return body.replace(b" ", b"")


Requests = list[tuple[str, dict[str, Any]]]


def gets(count: int, _: int) -> Requests:
    return [("GetItem", {"TableName": TABLE, "Key": key(n)}) for n in _drawn(count)]


def puts(_: int, round_: int) -> Requests:
    first = NEW + round_ * PREPARED
    return [
        ("PutItem", {"TableName": TABLE, "Item": item(n)}) for n in range(first, first + PREPARED)
    ]


def updates(count: int, _: int) -> Requests:
    return [
        (
            "UpdateItem",
            {
                "TableName": TABLE,
                "Key": key(n),
                "UpdateExpression": "SET #s = :s ADD version :one",
                "ConditionExpression": "attribute_exists(PK) AND version >= :one",
                "ExpressionAttributeNames": {"#s": "status"},
                "ExpressionAttributeValues": {":s": {"S": "SHIPPED"}, ":one": {"N": "1"}},
            },
        )
        for n in _drawn(count)
    ]


def queries(count: int, _: int) -> Requests:
    return [("Query", _query(n, "PK", "CUSTOMER")) for n in _drawn(count)]


def index_queries(count: int, _: int) -> Requests:
    return [
        ("Query", {**_query(n, "GSI1PK", "PRODUCT"), "IndexName": INDEX}) for n in _drawn(count)
    ]


def _query(n: int, name: str, prefix: str) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "KeyConditionExpression": f"{name} = :p",
        "ExpressionAttributeValues": {":p": {"S": f"{prefix}#{n // PARTITION:07}"}},
    }


def transactions(_: int, round_: int) -> Requests:
    first = 2 * NEW + round_ * PREPARED * 5
    return [
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {
                        "Put": {
                            "TableName": TABLE,
                            "Item": item(n),
                            "ConditionExpression": "attribute_not_exists(PK)",
                        }
                    }
                    for n in range(start, start + 5)
                ]
            },
        )
        for start in range(first, first + PREPARED * 5, 5)
    ]


def batches(_: int, round_: int) -> Requests:
    first = 4 * NEW + round_ * 10_000
    return [
        (
            "BatchWriteItem",
            {
                "RequestItems": {
                    TABLE: [{"PutRequest": {"Item": item(n)}} for n in range(start, start + 25)]
                }
            },
        )
        for start in range(first, first + 10_000, 25)
    ]


def scans(_: int, __: int) -> Requests:
    return [("Scan", {"TableName": TABLE, "Limit": 100})]


#: The requests of each operation, for the number of items in the table and that of the round.
OPERATIONS: dict[str, Callable[[int, int], Requests]] = {
    "get": gets,
    "put 1 KB": puts,
    "update": updates,
    "query of 20": queries,
    "GSI query of 20": index_queries,
    "transaction of 5": transactions,
    "batch of 25": batches,
    "scan page": scans,
}
#: Their requests are sent once: a second one would fail its condition.
ONCE = ("transaction of 5",)


def _drawn(count: int) -> list[int]:
    """Return numbers of different items, in a random order that is the same in every run."""
    return random.Random(7).sample(range(count), min(PREPARED, count))
