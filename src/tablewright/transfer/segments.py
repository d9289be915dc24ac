"""Reading a table: Scan, in segments that are read side by side, a page at a time.

Reads are consistent: what was acknowledged before the transfer began is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablewright.transfer.asking import ask
from tablewright.transfer.checksum import Sum
from tablewright.transfer.crew import together
from tablewright.transport import Transport
from tablewright.values import Item

SEGMENTS = 8


def pages(
    transport: Transport, table: str, segment: int, segments: int, start: Item | None = None
) -> Iterator[list[Item]]:
    """The items of one segment behind `start`, as pages of up to a megabyte."""
    request: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    if segments > 1:  # else a plain scan: not every endpoint has others
        request |= {"Segment": segment, "TotalSegments": segments}
    while True:
        if start is not None:
            request = {**request, "ExclusiveStartKey": start}
        page = ask(transport, "Scan", request)
        if page["Items"]:
            yield page["Items"]
        start = page.get("LastEvaluatedKey")
        if start is None:
            return


def sums(transport: Transport, table: str, segments: int) -> Iterator[Sum]:
    """The sums of every page of a table."""
    return together(
        [
            (Sum.of(page) for page in pages(transport, table, segment, segments))
            for segment in range(segments)
        ]
    )
