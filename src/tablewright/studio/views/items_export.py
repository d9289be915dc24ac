"""The export of the items view: the items of a page, or of all pages from it, as a file."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from tablewright.encoding.items import item_size
from tablewright.errors import InvalidValue
from tablewright.mapping.table import TableMap
from tablewright.studio.items.exporting import export_response
from tablewright.studio.items.item_page import ItemPage
from tablewright.studio.items.key_values import encode_cursor
from tablewright.studio.views.items_asked import AskedItems, read_asked, read_asked_page
from tablewright.studio.web.http import WebRequest, WebResponse, redirect
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.values import Item

#: The limits of an export; the page of a table exports all of it.
MAX_EXPORTED = 10_000
MAX_EXPORTED_BYTES = 64 << 20


def export(workspace: Workspace, request: WebRequest, table: str) -> WebResponse:
    """Send the items of the page, or of all pages after it, as a file."""
    layout = workspace.describe(table)
    collection = None if layout is None else layout.find(request.query.get("index"))
    if layout is None or collection is None:
        return redirect(url("/items/{}", table))  # says what is missing
    asked, known = read_asked(layout, collection, request.query), workspace.map_of(table)
    form = "csv" if request.query.get("format") == "csv" else "json"
    try:
        _, first_page = read_asked_page(workspace, asked, known)
    except InvalidValue:
        return redirect(asked.url())  # says what is wrong
    whole = request.query.get("pages") == "all"
    pages = _pages(workspace, asked, known, first_page) if whole else iter([first_page.items])
    name = f"{table}-{collection.title}"
    return export_response(name, form, pages, layout.base.keys.names)


def _pages(
    workspace: Workspace, asked: AskedItems, known: TableMap | None, page: ItemPage
) -> Iterator[list[Item]]:
    """Return the items of a page and of those after it, up to the limits of an export."""
    count = size = 0
    while True:
        items = page.items[: MAX_EXPORTED - count]
        count += len(items)
        size += sum(map(item_size, items))
        yield items
        if page.next is None or count >= MAX_EXPORTED or size >= MAX_EXPORTED_BYTES:
            return
        following = replace(asked, cursor=encode_cursor(page.next))
        _, page = read_asked_page(workspace, following, known)


ROUTES = {("GET", "/items/{}/export"): export}
