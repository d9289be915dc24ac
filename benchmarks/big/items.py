"""Sample items of 300 bytes, as DynamoDB counts them, and dump files of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.files import Track
from tablewright.encoding.keys import encode_component, partition
from tablewright.table_description import read_table
from tablewright.transfer.comparison import Checksum
from tablewright.transfer.dumpfile import create_file, open_compressed, publish
from tablewright.values import Item
from tablewright.wire.lines import encode_lines

TABLE = "orders"
PARTITION = 20  # items
AT_ONCE = 1000

INDEX = "by_product"
NOTE = "Please ring twice and leave it with the neighbour on the second floor. " * 2


def create_request(*, with_index: bool) -> dict[str, Any]:
    names = ("PK", "SK", "GSI1PK", "GSI1SK") if with_index else ("PK", "SK")
    request: dict[str, Any] = {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "KeySchema": _key_schema("PK", "SK"),
    }
    if with_index:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": INDEX,
                "KeySchema": _key_schema("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ]
    return request


def _key_schema(first: str, second: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": first, "KeyType": "HASH"},
        {"AttributeName": second, "KeyType": "RANGE"},
    ]


def item(n: int, version: int = 1) -> Item:
    """Return item `n`; its key does not depend on the version."""
    order = f"ORDER#{n:08}"
    return {
        "PK": {"S": _customer(n // PARTITION)},
        "SK": {"S": order},
        "GSI1PK": {"S": f"PRODUCT#{n * 7919 % 1_000_003:07}"},
        "GSI1SK": {"S": order},
        "entityType": {"S": "Order"},
        "amount": {"N": f"{n % 9000 + 100}.95"},
        "version": {"N": str(version)},
        "gift": {"BOOL": n % 2 == 0},
        "city": {"S": "Hamburg"},
        "street": {"S": f"{n % 300} Harbour Road West"},
        "note": {"S": NOTE},
    }


def key(n: int) -> Item:
    whole = item(n)
    return {"PK": whole["PK"], "SK": whole["SK"]}


def in_key_order(count: int) -> Iterator[int]:
    """Yield the numbers of `count` items in the order of their keys in a file."""
    partitions = range((count + PARTITION - 1) // PARTITION)
    for number in sorted(partitions, key=lambda n: partition(encode_component("S", _customer(n)))):
        yield from range(number * PARTITION, min((number + 1) * PARTITION, count))


def _customer(number: int) -> str:
    return f"CUSTOMER#{number:07}"


def write_dump(
    file: Path, numbers: Iterable[int], count: int, track: Track, *, with_index: bool
) -> None:
    """Write a dump with a manifest, as `tablewright dump` does."""
    total = Checksum()
    part = file.with_name(file.name + ".part")
    remaining = iter(numbers)
    with create_file(part) as raw, open_compressed(raw, file.name) as packed:
        for _ in track(f"make {count:,} items", range(0, count, AT_ONCE)):
            found = [item(n) for n in islice(remaining, AT_ONCE)]
            packed.write(encode_lines(found))
            total += Checksum.of(found)
    publish(part, file, read_table(create_request(with_index=with_index)), total)


def batch_request(numbers: Iterable[int], version: int) -> dict[str, Any]:
    """Return a BatchWriteItem request."""
    puts = [{"PutRequest": {"Item": item(n, version)}} for n in numbers]
    return {"RequestItems": {TABLE: puts}}


def put_request(n: int, version: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Item": item(n, version)}


def get_request(n: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": key(n)}


def query_request(n: int) -> dict[str, Any]:
    """Return a query for the 20 items in the partition of item `n`."""
    return {
        "TableName": TABLE,
        "KeyConditionExpression": "PK = :partition",
        "ExpressionAttributeValues": {":partition": key(n)["PK"]},
    }
