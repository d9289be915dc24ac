"""Rows: read the items of a table page by page, and write them in batches.

    an endpoint                  Scan, BatchWriteItem              25 items in a request
    an engine in this process    its stored rows (`engine.bulk`)   1,000 items in a transaction

A row is an item in normalised form. Those of an endpoint are checked here; an engine has checked
its rows when it stored them, and they have checksums. Reads are consistent: a transfer includes all
writes that were acknowledged before it started.

Invariant: responses are checked. Items have the JSON types of their tags, a LastEvaluatedKey does
not repeat, and the number of consecutive empty pages is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeGuard, TypeVar

from msgspec import Struct

from tablewright.engine.bulk import open_batch, read_index_rows, read_rows
from tablewright.engine.rows import ItemRow
from tablewright.errors import DynamoDBError, TransferRefused
from tablewright.limits import MAX_BATCH_WRITES
from tablewright.transfer.endpoints import shorten
from tablewright.transfer.sending import send_request, wait_for_capacity
from tablewright.transport import Transport
from tablewright.transport.targets import Local
from tablewright.values import Item
from tablewright.wire.values import read_values, read_whole_item

#: The number of concurrent requests to an endpoint.
DEFAULT_REQUESTS = 8

#: The size of a batch as JSON, which may be several times the size of its items. Half of DynamoDB's
#: limit of 16 MB.
MAX_BATCH_BYTES = 8 * 1024 * 1024
#: The same for an engine, which sorts a batch by key: the more rows it sorts at once, the fewer
#: pages of the file they change. About 40,000 items of 300 bytes.
MAX_SORTED_BYTES = 32 * 1024 * 1024
#: The bytes that a row takes in memory in addition to its JSON.
ROW_OVERHEAD = 300
#: DynamoDB may return an empty page before the last; an endpoint that returns more than this is
#: broken.
MAX_EMPTY_PAGES = 1000

T = TypeVar("T")


def is_engine(transport: Transport) -> TypeGuard[Local]:
    """Return whether the rows of an engine in this process can be used, without any policy."""
    return type(transport) is Local and transport.policy is None


def choose_requests(*transports: Transport) -> int:
    """Return how many requests to send at the same time, unless the user decides it.

    One thread is enough for engines in this process: they do not wait for a network.
    """
    return 1 if all(map(is_engine, transports)) else DEFAULT_REQUESTS


# -- reading -------------------------------------------------------------------------------------


def read_pages(
    source: Transport, table: str, segment: int, segments: int, start: Item | None = None
) -> Iterator[list[ItemRow]]:
    """Yield the pages of a segment, after the key `start`."""
    if not is_engine(source):
        yield from _scan(source, _segment_request(table, segment, segments), _read_row, start)
        return
    while True:
        rows, start = source.engine.run_long(
            partial(read_rows, table_name=table, segment=segment, segments=segments, start=start)
        )
        if rows:
            yield rows
        if start is None:
            return


def read_index_pages(transport: Transport, table: str, index: str) -> Iterator[list[ItemRow]]:
    """Yield the pages of an index; at an endpoint, the latest writes may be missing."""
    if not is_engine(transport):
        yield from _scan(transport, {"TableName": table, "IndexName": index}, _read_row)
        return
    last: bytes | None = b""
    while last is not None:
        read = partial(read_index_rows, table_name=table, index_name=index, after=last)
        rows, last = transport.engine.run_long(read)
        yield rows


def scan_pages(
    transport: Transport, table: str, segment: int = 0, segments: int = 1, limit: int | None = None
) -> Iterator[list[Item]]:
    """Yield the pages of a segment as items, of up to 1 MB and `limit` items."""
    request = _segment_request(table, segment, segments)
    if limit is not None:
        request["Limit"] = limit
    return _scan(transport, request, read_values)


def _segment_request(table: str, segment: int, segments: int) -> dict[str, Any]:
    request: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    if segments > 1:  # else a plain Scan: some endpoints have no parallel Scan
        request |= {"Segment": segment, "TotalSegments": segments}
    return request


def _scan(
    transport: Transport,
    request: dict[str, Any],
    read: Callable[[dict[str, Any]], T],
    start: Item | None = None,
) -> Iterator[list[T]]:
    table = request["TableName"]
    keys = _CycleDetector()
    empty = 0
    while True:
        if start is not None:
            request = {**request, "ExclusiveStartKey": start}
        response = send_request(transport, "Scan", request)
        items = _read_items(table, response.get("Items"), read)
        empty = 0 if items else empty + 1
        if items:
            yield items
        start = response.get("LastEvaluatedKey")
        if start is None:
            return
        if empty == MAX_EMPTY_PAGES:
            raise TransferRefused(f"the Scan of {table!r} returned {empty} empty pages in a row")
        if keys.is_repeated(start):
            raise TransferRefused(
                f"the Scan of {table!r} does not end: it returned the key {shorten(start)} again"
            )


def _read_items(table: str, items: object, read: Callable[[dict[str, Any]], T]) -> list[T]:
    try:
        if isinstance(items, list) and all(type(item) is dict for item in items):
            return [read(item) for item in items]
        what = shorten(items)
    except DynamoDBError as fault:
        what = fault.message
    raise TransferRefused(f"the Scan of {table!r} returned invalid items: {what}")


def _read_row(item: dict[str, Any]) -> ItemRow:
    return ItemRow(*read_whole_item(item))


class _CycleDetector:
    """Detects a cycle in a sequence of keys; stores one key (Brent's algorithm)."""

    def __init__(self) -> None:
        self._stored: Item | None = None
        self._steps = 0
        self._max_steps = 1

    def is_repeated(self, key: Item) -> bool:
        if key == self._stored:
            return True
        self._steps += 1
        if self._steps == self._max_steps:
            self._stored = key
            self._steps = 0
            self._max_steps *= 2
        return False


# -- writing -------------------------------------------------------------------------------------


class RowRefused(Exception):
    """A row is not valid in the table of the target. `position` is its number, from 0."""

    def __init__(self, position: int, row: ItemRow, fault: DynamoDBError) -> None:
        super().__init__(fault.message)
        self.position = position
        self.row = row
        self.fault = fault


class TransferBatch(Struct):
    """Rows that are written at once."""

    count: int
    last: ItemRow
    write: Callable[[], None]


def split_batches(
    target: Transport, table: str, rows: Iterable[ItemRow]
) -> Iterator[TransferBatch]:
    """Split rows into batches of the size that the target takes at once.

    Raise `RowRefused` if the target is an engine and its table cannot have a row.
    """
    max_rows, max_bytes = MAX_BATCH_WRITES, MAX_BATCH_BYTES
    if is_engine(target):
        max_rows = max_bytes = MAX_SORTED_BYTES
    add, write = _open_batch(target, table)
    count = size = 0
    last = ItemRow()
    for position, row in enumerate(rows):
        length = len(row.body) + ROW_OVERHEAD
        if count and (count == max_rows or size + length > max_bytes):
            yield TransferBatch(count, last, write)
            add, write = _open_batch(target, table)
            count = size = 0
        try:
            add(row)
        except DynamoDBError as fault:
            raise RowRefused(position, row, fault) from None
        last = row
        count += 1
        size += length
    if count:
        yield TransferBatch(count, last, write)


def _open_batch(
    target: Transport, table: str
) -> tuple[Callable[[ItemRow], None], Callable[[], None]]:
    """Return the functions that add a row to a new batch, and that write the batch."""
    if is_engine(target):
        batch = target.engine.run_long(partial(open_batch, table_name=table))
        return batch.add, partial(target.engine.run_long, batch.write)
    rows: list[ItemRow] = []
    return rows.append, lambda: _write_batch(target, table, rows)


def _write_batch(transport: Transport, table: str, rows: list[ItemRow]) -> None:
    """Write rows with BatchWriteItem; retry until none is unprocessed."""
    remaining = [{"PutRequest": {"Item": row.item}} for row in rows]
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
