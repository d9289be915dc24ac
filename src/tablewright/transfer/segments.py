"""Segments: read a table with a parallel Scan, page by page.

Reads are consistent: a transfer includes all writes that were acknowledged before it started.

Invariant: responses are checked. Items have the JSON types of their tags, a LastEvaluatedKey does
not repeat, and the number of consecutive empty pages is limited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablewright.errors import DynamoDBError, TransferRefused
from tablewright.transfer.definition import shorten
from tablewright.transfer.sending import send_request
from tablewright.transport import Transport
from tablewright.values import Item
from tablewright.wire.values import read_values

#: DynamoDB may return an empty page before the last; an endpoint that returns more than this is
#: broken.
MAX_EMPTY_PAGES = 1000


def scan_pages(
    transport: Transport,
    table: str,
    segment: int,
    segments: int,
    start: Item | None = None,
    limit: int | None = None,
) -> Iterator[list[Item]]:
    """Yield the pages of a segment, of up to 1 MB and `limit` items, after the key `start`."""
    request: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    if segments > 1:  # else a plain Scan: some endpoints have no parallel Scan
        request |= {"Segment": segment, "TotalSegments": segments}
    if limit is not None:
        request["Limit"] = limit
    return _scan(transport, request, start)


def scan_index_pages(transport: Transport, table: str, index: str) -> Iterator[list[Item]]:
    """Yield the pages of an index. It may lack the latest writes: it is eventually consistent."""
    return _scan(transport, {"TableName": table, "IndexName": index})


def _scan(
    transport: Transport,
    request: dict[str, Any],
    start: Item | None = None,
) -> Iterator[list[Item]]:
    table = request["TableName"]
    keys = _CycleDetector()
    empty = 0
    while True:
        if start is not None:
            request = {**request, "ExclusiveStartKey": start}
        response = send_request(transport, "Scan", request)
        items = _check_items(table, response.get("Items"))
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


def _check_items(table: str, items: object) -> list[Item]:
    try:
        if isinstance(items, list) and all(type(item) is dict for item in items):
            return [read_values(item) for item in items]
        what = shorten(items)
    except DynamoDBError as fault:
        what = fault.message
    raise TransferRefused(f"the Scan of {table!r} returned invalid items: {what}")
