"""Writing a table: BatchWriteItem, until nothing is left unprocessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tablewright.limits import MAX_BATCH_WRITES
from tablewright.transfer.asking import ask, wait_for_capacity
from tablewright.transport import Transport
from tablewright.values import Item

#: Half of DynamoDB's limit of 16 MB. As JSON an item may be several times its size, so the bytes
#: of the JSON are counted.
MAX_BATCH_BYTES = 8 * 1024 * 1024

_encode = msgspec.json.Encoder().encode


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Split items into batches that fit into one request.

    >>> [len(batch) for batch in batches({"k": {"N": str(n)}} for n in range(60))]
    [25, 25, 10]
    """
    batch: list[Item] = []
    size = 0
    for item in items:
        length = len(_encode(item))
        if batch and (len(batch) == MAX_BATCH_WRITES or size + length > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch


def write(transport: Transport, table: str, batch: list[Item]) -> None:
    """Put every item of a batch. Returns when all of them are written."""
    left = [{"PutRequest": {"Item": item}} for item in batch]
    failures = 0
    while True:
        answer = ask(transport, "BatchWriteItem", {"RequestItems": {table: left}})
        unprocessed = answer.get("UnprocessedItems", {}).get(table, [])
        if not unprocessed:
            return
        # Progress resets the backoff, but there is a delay: a part of the batch was throttled.
        failures = 1 if len(unprocessed) < len(left) else failures + 1
        left = unprocessed
        wait_for_capacity("BatchWriteItem", failures)
