"""Reading a table: Scan, in segments that are read side by side, a page at a time.

Reads are consistent: what was acknowledged before the transfer began is in it.

Invariant: what an endpoint answers is checked. Items are items, with the JSON types that their tags
demand; keys to resume from do not repeat, and pages are not empty without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablewright.errors import DynamoDBError, TransferRefused
from tablewright.transfer.asking import ask
from tablewright.transfer.checksum import Sum
from tablewright.transfer.crew import together
from tablewright.transfer.definition import shortened
from tablewright.transport import Transport
from tablewright.values import Item
from tablewright.wire.values import read_values

SEGMENTS = 8
#: DynamoDB may give an empty page that is not the last; an endpoint that gives this many is broken.
MAX_EMPTY_PAGES = 1000


def pages(
    transport: Transport, table: str, segment: int, segments: int, start: Item | None = None
) -> Iterator[list[Item]]:
    """The items of one segment behind `start`, as pages of up to a megabyte."""
    request: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    if segments > 1:  # else a plain scan: not every endpoint has others
        request |= {"Segment": segment, "TotalSegments": segments}
    seen = _Seen()
    empty = 0
    while True:
        if start is not None:
            request = {**request, "ExclusiveStartKey": start}
        answer = ask(transport, "Scan", request)
        items = _checked_items(table, answer.get("Items"))
        empty = 0 if items else empty + 1
        if items:
            yield items
        start = answer.get("LastEvaluatedKey")
        if start is None:
            return
        if empty == MAX_EMPTY_PAGES:
            raise TransferRefused(f"the Scan of {table!r} gave {empty} empty pages in a row")
        if seen.before(start):
            raise TransferRefused(
                f"the Scan of {table!r} does not end: it came again to the key {shortened(start)}"
            )


class _Seen:
    """Finds a cycle in a sequence of any length, and holds one key of it (Brent's algorithm)."""

    def __init__(self) -> None:
        self._kept: Item | None = None
        self._steps = 0
        self._most = 1

    def before(self, key: Item) -> bool:
        if key == self._kept:
            return True
        self._steps += 1
        if self._steps == self._most:
            self._kept = key
            self._steps = 0
            self._most *= 2
        return False


def _checked_items(table: str, items: object) -> list[Item]:
    try:
        if isinstance(items, list) and all(type(item) is dict for item in items):
            return [read_values(item) for item in items]
        what = shortened(items)
    except DynamoDBError as fault:
        what = fault.message
    raise TransferRefused(f"the Scan of {table!r} gave something that is not items: {what}")


def sums(transport: Transport, table: str, segments: int) -> Iterator[Sum]:
    """The sums of every page of a table."""
    return together(
        [
            (Sum.of(page) for page in pages(transport, table, segment, segments))
            for segment in range(segments)
        ]
    )
