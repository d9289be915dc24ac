"""Scanning for a text: the items that have it anywhere, when no key and no unique value has it.

A Scan reads a whole table, so it runs only when a person has seen its price and pressed a button,
and in steps: a step ends when it has found something, or after STEP_SECONDS. The next step
continues where it has ended; without one, nothing more is read.

This module must not know HTML.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from tablewright.studio.items.reading import Send
from tablewright.values import Item, Value, tag_of

STEP_SECONDS = 0.5


class ScanStep(Struct, frozen=True):
    """What one step has read and found."""

    items: list[Item]
    read: int
    units: float
    #: The key after which the next step begins; None at the end of the table.
    next: Item | None


def scan_for(send: Send, table: str, text: str, start: Item | None = None) -> ScanStep:
    """Read a table until an item has a text as a word of one of its values."""
    is_word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)").search
    found: list[Item] = []
    read, units, ends = 0, 0.0, time.monotonic() + STEP_SECONDS
    while True:
        request: dict[str, Any] = {"TableName": table, "ReturnConsumedCapacity": "TOTAL"}
        if start is not None:
            request["ExclusiveStartKey"] = start
        answer = send("Scan", **request)
        read += answer["ScannedCount"]
        units += answer["ConsumedCapacity"]["CapacityUnits"]
        found += [item for item in answer["Items"] if any(map(is_word, _texts({"M": item})))]
        start = answer.get("LastEvaluatedKey")
        if start is None or found or time.monotonic() > ends:
            return ScanStep(found, read, units, start)


def _texts(value: Value) -> Iterator[str]:
    """Yield all texts and numbers in a value."""
    tag = tag_of(value)
    inner = value[tag]
    match tag:
        case "S" | "N":
            yield inner
        case "SS" | "NS":
            yield from inner
        case "L":
            for each in inner:
                yield from _texts(each)
        case "M":
            for each in inner.values():
                yield from _texts(each)
