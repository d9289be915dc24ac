"""Items as files: JSON in DynamoDB's form, one item on each line, or CSV.

JSON is exact. CSV is for spreadsheets: a column for each attribute, lists and maps as JSON. A text
that a spreadsheet would run as a formula gets an apostrophe in front.

This module must not know requests or HTML.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import msgspec

from tablewright.studio.parts import content
from tablewright.values import Item, Value

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def json_lines(pages: Iterable[list[Item]]) -> Iterator[bytes]:
    """Return the pieces of a JSON array, one for each item, and b"" after each page."""
    separator = b"[\n"
    for items in pages:
        for item in items:
            yield separator + msgspec.json.encode(item)
            separator = b",\n"
        yield b""
    yield b"[]\n" if separator == b"[\n" else b"\n]\n"


def csv_lines(pages: Iterable[list[Item]], keys: Iterable[str]) -> Iterator[bytes]:
    """Return the pieces of a CSV file; the key attributes are its first columns.

    The columns are known when all items are, so the items are kept; until then b"" is returned for
    each page.
    """
    items: list[Item] = []
    names = dict.fromkeys(keys)
    for page in pages:
        items += page
        names.update(dict.fromkeys(name for item in page for name in item))
        yield b""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(names)
    for item in items:
        writer.writerow(_cell(item[name]) if name in item else "" for name in names)
    yield buffer.getvalue().encode()


def _cell(value: Value) -> str:
    text = content(value)
    return f"'{text}" if "S" in value and text.startswith(_FORMULA) else text
