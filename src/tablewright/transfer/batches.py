"""Batches: write items with BatchWriteItem until none is unprocessed."""

from __future__ import annotations

from tablewright.transfer.sending import send_request, wait_for_capacity
from tablewright.transport import Transport
from tablewright.values import Item


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
