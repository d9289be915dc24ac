"""Exports: the items of a table, an index or a statement as a file, page by page.

    lines   one item on each line, as in DynamoDB's export to S3; `tablewright load` reads it
    csv     one row for each item; for spreadsheets

Invariants:
- One page of items is in memory, however many there are.
- Nothing is lost: an attribute that has no column is in the last column, `other attributes`.
- A text that a spreadsheet would take for a formula begins with an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tablewright.presentation.values import content
from tablewright.studio.web.http import WebResponse
from tablewright.studio.workspace import Workspace
from tablewright.values import Item, Value

#: The items of a request.
PAGE = 1000
FORMATS = ("json", "csv")
OTHERS = "other attributes"
#: What begins a formula. Numbers are no texts, so "-1" stays as it is.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_encode = msgspec.json.Encoder().encode


def scan_pages(workspace: Workspace, table: str, index: str | None = None) -> Iterator[list[Item]]:
    """Yield all items of a table or an index, page by page."""
    request: dict[str, Any] = {"TableName": table, "Limit": PAGE}
    if index is not None:
        request["IndexName"] = index
    while True:
        answer = workspace.send("Scan", **request)
        yield answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def export_response(
    name: str, kind: str, pages: Iterable[list[Item]], columns: Sequence[str] = ()
) -> WebResponse:
    """Return a file to download; its columns begin with these ones."""
    stem = "".join(each if each.isascii() and each.isalnum() else "_" for each in name)
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{kind}"'}
    if kind == "csv":
        type_, stream = "text/csv; charset=utf-8", csv_rows(pages, columns)
    else:
        type_, stream = "application/x-ndjson", json_lines(pages)
    return WebResponse(type=type_, headers=headers, stream=lambda: stream)


def json_lines(pages: Iterable[list[Item]]) -> Iterator[bytes]:
    """Yield a line for each item."""
    for page in pages:
        yield b"".join(_encode({"Item": item}) + b"\n" for item in page)


def csv_rows(pages: Iterable[list[Item]], columns: Sequence[str] = ()) -> Iterator[bytes]:
    """Yield a row for each item, below the names of the columns.

    The columns are the given ones and the attributes of the first page.
    """
    names: list[str] = []
    for page in pages:
        text = io.StringIO(newline="")
        write = csv.writer(text).writerow
        if not names:
            names = list(dict.fromkeys([*columns, *(name for item in page for name in item)]))
            write([*map(_safe, names), OTHERS])
        for item in page:
            others = {name: value for name, value in item.items() if name not in names}
            write([*(_cell(item.get(name)) for name in names),
                   _encode(others).decode() if others else ""])  # fmt: skip
        yield text.getvalue().encode()


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return content(value) if "N" in value else _safe(content(value))


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
