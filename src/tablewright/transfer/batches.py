"""Batches: split items into batches, and write them with BatchWriteItem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tablewright.limits import MAX_BATCH_WRITES
from tablewright.transfer.sending import send_request, wait_for_capacity
from tablewright.transport import Transport
from tablewright.values import Item

#: The size of a batch as JSON, which may be several times the size of its items. Half of DynamoDB's
#: limit of 16 MB.
MAX_BATCH_BYTES = 8 * 1024 * 1024

_encode = msgspec.json.Encoder().encode


def split_batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Split items into batches that fit into one request.

    >>> [len(batch) for batch in split_batches({"k": {"N": str(n)}} for n in range(60))]
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


def write_batch(transport: Transport, table: str, batch: list[Item]) -> None:
    """Write all items of a batch; retry until none is unprocessed."""
    remaining = [{"PutRequest": {"Item": item}} for item in batch]
    failures = 0
    while True:
        response = send_request(transport, "BatchWriteItem", {"RequestItems": {table: remaining}})
        unprocessed = response.get("UnprocessedItems", {}).get(table, [])
        if not unprocessed:
            return
        # Progress resets the backoff, but there is a delay: a part of the batch was throttled.
        failures = 1 if len(unprocessed) < len(remaining) else failures + 1
        remaining = unprocessed
        wait_for_capacity("BatchWriteItem", failures)
