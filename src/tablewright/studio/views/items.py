"""Items: a table or an index as item collections, one page at a time.

    /items                          the first table
    /items/{table}?index=…&pk=…&op=…&sk=…&sk2=…&entity=…&order=desc&cursor=…&back=…&item=…
    /items/{table}/export?…&format=json|csv&pages=one|all

`pk` and `sk` have one value for each key attribute. `cursor` is the key after which the page
starts; `back` are the cursors of the pages before it, so Previous needs nothing but the URL.
`item` is the key of the item in the drawer. With `plan` the page says what it would read, and reads
nothing.
"""

from __future__ import annotations

from tablewright.errors import InvalidValue
from tablewright.publish.html.element import Markup, element, join
from tablewright.studio.items.item_page import PAGE_SIZE, ItemPage, prepare
from tablewright.studio.items.key_values import encode_cursor
from tablewright.studio.markup.item_parts import items_url
from tablewright.studio.markup.parts import NOTHING, heading, note, panel
from tablewright.studio.views.inferred import inferred_note
from tablewright.studio.views.item_drawer import drawer
from tablewright.studio.views.items_asked import AskedItems, read_asked, read_asked_page
from tablewright.studio.views.items_export import MAX_EXPORTED, MAX_EXPORTED_BYTES
from tablewright.studio.views.items_filter import filter_form, planned_line, read_line
from tablewright.studio.views.items_grid import grid
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, WebResponse, redirect
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.table_description import IndexDescription, TableDescription

#: The characters of all cursors before a page; older ones are dropped. A URL may have 16 KB.
MAX_BACK = 6000


def first(workspace: Workspace, _: WebRequest) -> WebPage | WebResponse:
    """Lead to the items of the first table."""
    for name in (*workspace.maps, *workspace.table_names()):
        if workspace.describe(name) is not None:
            return redirect(url("/items/{}", name))
    text = "The target has no tables. The view Tables can create those of the design."
    return WebPage("Items", [heading("Items"), note(text)], "Items")


def show(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show one page of the items of a table or of an index."""
    layout = workspace.describe(table)
    if layout is None:
        text = note([f"The target has no table {table}. ", element("a", "Tables", href="/tables")])
        return WebPage("Items", [heading("Items"), text], "Items", status=404)
    known = workspace.map_of(table)
    collection = layout.find(request.query.get("index"))
    if collection is None:
        text = note(f"{table} has no index {request.query.get('index')}.", "warn")
        head = heading("Items", element("code", table), _switch(layout, layout.base))
        return WebPage("Items", [head, text], "Items", status=404)
    asked = read_asked(layout, collection, request.query)
    head = heading("Items", _tables(workspace, table), _switch(layout, collection))
    try:
        if "plan" in request.query:
            line = planned_line(asked, prepare(layout, collection, asked.choice))
            return WebPage(f"{table} items", [head, filter_form(asked, known, line)], "Items")
        if not collection.is_ready:
            raise InvalidValue(f"{collection.name} is being built, so it cannot be read yet")
        reading, page = read_asked_page(workspace, asked, known)
    except InvalidValue as error:
        problem = element("p", str(error), id="line", class_="note bad", role="alert")
        return WebPage("Items", [head, filter_form(asked, known, problem)], "Items", status=400)
    is_static = bool(workspace.static_views)  # then there is nothing to submit
    line = read_line(asked, reading, page, known)
    items = grid(layout, collection, known, page, lambda token: asked.url(item=token), asked.item)
    body = element(
        "div",
        panel("Items", items, _pager(asked, page, is_static=is_static)),
        drawer(workspace, asked.layout, known, asked.item, close=asked.url()),
        class_="cols drawer",
    )
    filtered = panel("What was read", line) if is_static else filter_form(asked, known, line)
    content = [head, inferred_note(workspace, table), filtered, body]
    return WebPage(f"{table} items", content, "Items")


def _tables(workspace: Workspace, current: str) -> Markup:
    """Return the name of the table, and links to the others of the design."""
    links = [
        element("a", name, href=url("/items/{}", name)) if name != current else element("b", name)
        for name in dict.fromkeys((current, *workspace.maps))
    ]
    return element("span", join(links, " · "), class_="mono")


def _switch(layout: TableDescription, current: IndexDescription) -> Markup:
    """Return the links to the table and its indexes."""
    links = [
        element(
            "a",
            each.title,
            href=items_url(layout, each),
            aria_current="page" if each == current else None,
        )
        for each in layout.collections
    ]
    return element("nav", links, class_="seg", aria_label="Table or index")


def _pager(asked: AskedItems, page: ItemPage, *, is_static: bool) -> Markup:
    partitions = len({repr(asked.collection.partition_of(item)) for item in page.items})
    count = (
        f"{partitions} partition{'s' * (partitions != 1)}, "
        f"{len(page.items)} item{'s' * (len(page.items) != 1)}"
    )
    keys = element("span", element("kbd", "j"), " ", element("kbd", "k"), " move  ",
                   element("kbd", "↵"), " open", class_="keys faint")  # fmt: skip
    previous = NOTHING
    if asked.cursor:
        *before, cursor = asked.back or ("",)
        target = asked.url(cursor=cursor or None, back=tuple(before) or None)
        previous = element(
            "a",
            "Previous" if asked.back else "First page",
            class_="btn sm",
            href=target,
            rel="prev",
        )
    following = NOTHING
    if page.next is not None:
        target = asked.url(cursor=encode_cursor(page.next), back=_chain(asked))
        following = element("a", f"Next {PAGE_SIZE}", class_="btn sm", href=target, rel="next")
    exports = NOTHING if is_static else _exports(asked)
    end = element("span", exports, previous, following, class_="end")
    hints = NOTHING if is_static else keys
    return element("div", element("span", count), hints, end, class_="pager")


def _exports(asked: AskedItems) -> Markup:
    links = [
        element("a", label, class_="btn sm", href=asked.export_url(form, pages))
        for label, form, pages in (
            ("JSON", "json", "one"),
            ("CSV", "csv", "one"),
            ("All as JSON", "json", "all"),
            ("All as CSV", "csv", "all"),
        )
    ]
    limit = f"All: at most {MAX_EXPORTED:,} items or {MAX_EXPORTED_BYTES >> 20} MB."
    summary = element("summary", "Export", class_="btn sm")
    return element("details", summary, element("div", links, element("p", limit), class_="menu"),
                   class_="export")  # fmt: skip


def _chain(asked: AskedItems) -> tuple[str, ...] | None:
    """Return the cursors of the pages before the next one; "" is the first page."""
    chain = (*asked.back, asked.cursor)
    while len(chain) > 1 and sum(map(len, chain)) > MAX_BACK:
        chain = chain[1:]
    return chain


ROUTES = {
    ("GET", "/items"): first,
    ("GET", "/items/{}"): show,
}
