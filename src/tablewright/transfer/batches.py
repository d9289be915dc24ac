"""Writing a table: BatchWriteItem, until nothing is left unprocessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tablewright.transfer.asking import Patience, ask
from tablewright.transport import Transport
from tablewright.values import Item

#: What DynamoDB takes in one request: 25 items, 16 MB. Spelt in JSON an item may be several times
#: its size, so bytes are counted as they go over the wire.
BATCH = 25
BATCH_BYTES = 8 * 1024 * 1024

_encode = msgspec.json.Encoder().encode


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in batches of the size that one request takes.

    >>> [len(batch) for batch in batches({"k": {"N": str(n)}} for n in range(60))]
    [25, 25, 10]
    """
    batch: list[Item] = []
    size = 0
    for item in items:
        length = len(_encode(item))
        if batch and (len(batch) == BATCH or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch


def write(transport: Transport, table: str, batch: list[Item]) -> None:
    """Put every item of a batch. Returns when all of them are written."""
    patience = Patience("BatchWriteItem")
    left = [{"PutRequest": {"Item": item}} for item in batch]
    while True:
        answer = ask(transport, "BatchWriteItem", {"RequestItems": {table: left}})
        unprocessed = answer.get("UnprocessedItems", {}).get(table, [])
        if not unprocessed:
            return
        if len(unprocessed) < len(left):
            patience.reward()
        left = unprocessed
        patience.pause()
