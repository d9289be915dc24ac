"""Items: a table or an index as item collections, one page at a time, and a drawer for one item.

    /items                          the first table
    /items/{table}?index=…&pk=…&op=…&sk=…&sk2=…&entity=…&order=desc&cursor=…&back=…&item=…
    /items/{table}/export?…&format=json|csv&pages=one|all

`pk` and `sk` have one value for each key attribute. `cursor` is the key after which the page
starts; `back` are the cursors of the pages before it, for the link Previous. `item` is the key of
the item in the drawer. With `plan`, the page shows what it would read, and reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from tablewright.encoding.items import item_size
from tablewright.errors import InvalidValue
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.keys import key_token, read_key_token
from tablewright.presentation.kinds import kind_of
from tablewright.presentation.values import plural, size_text
from tablewright.studio.items.exporting import export_response
from tablewright.studio.items.reading import PAGE_SIZE, ItemPage, prepare
from tablewright.studio.markup import item_parts, parts
from tablewright.studio.markup.item_parts import items_url
from tablewright.studio.markup.parts import NOTHING, heading, note
from tablewright.studio.views.items_filter import (
    ItemsQuery,
    filter_form,
    planned_line,
    read_asked,
    read_asked_page,
    read_line,
)
from tablewright.studio.views.items_grid import grid
from tablewright.studio.views.tables import inferred_note
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, WebResponse, redirect, url
from tablewright.studio.workspace import Workspace
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item

#: The characters of all cursors before a page; older ones are dropped. A URL may have 16 KB.
MAX_BACK = 6000
#: The limits of an export; the page of a table exports all of it.
MAX_EXPORTED = 10_000
MAX_EXPORTED_BYTES = 64 << 20


def first(workspace: Workspace, _: WebRequest) -> WebPage | WebResponse:
    """Redirect to the items of the first table."""
    for name in (*workspace.maps, *workspace.table_names()):
        if workspace.describe(name) is not None:
            return redirect(url("/items/{}", name))
    text = "The target has no tables. The view Tables can create those of the design."
    return WebPage("Items", [heading("Items"), note(text)], "Items")


def show(workspace: Workspace, request: WebRequest, table: str) -> WebPage:
    """Show one page of the items of a table or of an index."""
    description = workspace.describe(table)
    if description is None:
        text = note([f"The target has no table {table}. ", element("a", "Tables", href="/tables")])
        return WebPage("Items", [heading("Items"), text], "Items", status=404)
    known = workspace.map_of(table)
    collection = description.find(request.query.get("index"))
    if collection is None:
        text = note(f"{table} has no index {request.query.get('index')}.", "warn")
        head = heading("Items", element("code", table), _switch(description, description.base))
        return WebPage("Items", [head, text], "Items", status=404)
    asked = read_asked(description, collection, request.query)
    head = heading("Items", _tables(workspace, table), _switch(description, collection))
    try:
        if "plan" in request.query:
            line = planned_line(asked, prepare(description, collection, asked.choice))
            return WebPage(f"{table} items", [head, filter_form(asked, known, line)], "Items")
        if not collection.is_ready:
            raise InvalidValue(f"{collection.name} is being built, so it cannot be read yet")
        reading, page = read_asked_page(workspace, asked, known)
    except InvalidValue as error:
        problem = note(str(error), "bad", id="line", role="alert")
        return WebPage("Items", [head, filter_form(asked, known, problem)], "Items", status=400)
    kinds = [kind_of(known, item) for item in page.items]
    unknown = 0 if known is None else sum([kind.is_unknown for kind in kinds])
    line = read_line(asked, reading, page, unknown)
    items = grid(asked, known, page, kinds)
    body = element(
        "div.cols.drawer",
        parts.region("Items", items, _pager(asked, page)),
        _drawer(workspace, asked.description, known, asked.item, close=asked.url()),
    )
    content = [head, inferred_note(workspace, table), filter_form(asked, known, line), body]
    return WebPage(f"{table} items", content, "Items")


def _tables(workspace: Workspace, current: str) -> Markup:
    """Return the name of the table, and links to the others of the design."""
    links = [
        element("a", name, href=url("/items/{}", name)) if name != current else element("b", name)
        for name in dict.fromkeys((current, *workspace.maps))
    ]
    return element("span.mono", join(links, " · "))


def _switch(description: TableDescription, current: IndexDescription) -> Markup:
    """Return the links to the table and its indexes, if it has any."""
    if not description.indexes:
        return NOTHING
    links = []
    for each in description.collections:
        here = "page" if each == current else None
        links.append(element("a", each.title, href=items_url(description, each), aria_current=here))
    return element("nav.seg", links, aria_label="Table or index")


def _pager(asked: ItemsQuery, page: ItemPage) -> Markup:
    partition = [each.name for each in asked.collection.keys.partition]
    partitions = len({repr([item[name] for name in partition]) for item in page.items})
    count = f"{plural(partitions, 'partition')}, {plural(len(page.items), 'item')}"
    keys = element("span.keys.faint", element("kbd", "j"), " ", element("kbd", "k"), " move  ",
                   element("kbd", "↵"), " open")  # fmt: skip
    links = [_exports(asked)]
    if asked.cursor:
        *before, cursor = asked.back or ("",)
        target = asked.url(cursor=cursor or None, back=tuple(before) or None)
        text = "Previous" if asked.back else "First page"
        links.append(parts.button_link(text, target, "sm", rel="prev"))
    if page.next is not None:
        target = asked.url(cursor=key_token(page.next), back=_chain(asked))
        links.append(parts.button_link(f"Next {PAGE_SIZE}", target, "sm", rel="next"))
    shown = [element("span", count), keys, parts.aside(links)]
    return element("div.pager", shown)


def _exports(asked: ItemsQuery) -> Markup:
    links = [
        parts.button_link(label, asked.export_url(form, pages), "sm")
        for label, form, pages in (
            ("JSON", "json", "one"),
            ("CSV", "csv", "one"),
            ("All as JSON", "json", "all"),
            ("All as CSV", "csv", "all"),
        )
    ]
    limit = f"All: at most {MAX_EXPORTED:,} items or {MAX_EXPORTED_BYTES >> 20} MB."
    summary = element("summary.btn.sm", "Export")
    menu = element("div.menu", links, element("p", limit))
    return element("details.export", summary, menu)


def _chain(asked: ItemsQuery) -> tuple[str, ...] | None:
    """Return the cursors of the pages before the next one; "" is the first page."""
    chain = (*asked.back, asked.cursor)
    while len(chain) > 1 and sum(map(len, chain)) > MAX_BACK:
        chain = chain[1:]
    return chain


# --- the drawer ---------------------------------------------------------------------------------


def _drawer(
    workspace: Workspace,
    description: TableDescription,
    known: TableMap | None,
    token: str,
    *,
    close: str,
) -> Markup:
    """Return the drawer with the item of a key; without a key, an empty one."""
    if not token:
        return element("aside.drawer-p", id="drawer", aria_label="Selected item")
    try:
        key = read_key_token(token, "the key in the URL is malformed; choose the item again")
    except InvalidValue as error:
        return _aside(close, [], [note(str(error), "bad")])
    found = workspace.send(
        "GetItem", TableName=description.name, Key=key, ReturnConsumedCapacity="TOTAL"
    )
    if "Item" not in found:
        text = "The item does not exist any more: it was deleted, or it expired."
        return _aside(close, [], [note(text, "warn")])
    item: Item = found["Item"]
    kind = kind_of(known, item)
    units = found.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
    facts = [
        f"{len(item)} attributes",
        size_text(item_size(item)),
        f"{units:g} read units",
    ]
    line = element("div.pager", [element("span", each) for each in facts])
    opened = parts.button_link("Open", item_parts.item_url(description, item), "sm")
    name = element("b.mono", description.name)
    chip = item_parts.kind_chip(kind) if known is not None else name
    tabs = {"DynamoDB JSON": parts.json_code(item)}
    if (typed := item_parts.typed_view(kind, item)) is not None:
        tabs["Typed"] = typed
    shown = [parts.tabs("form", tabs), _also(description, kind, item), line]
    return _aside(close, [chip, opened], shown)


def _aside(close: str, head: list[Markup], content: list[Markup]) -> Markup:
    swap = parts.swap("#drawer", hx_get=close)
    text = ["Close ", element("kbd", "Esc")]
    closing = parts.button_link(text, close, "sm", data_close="", **swap)
    header = element("header", head[:1], parts.aside(head[1:], closing))
    class_, label = "panel drawer-p wrapcode", "Selected item"
    return element("aside", header, content, id="drawer", class_=class_, aria_label=label)


def _also(description: TableDescription, kind: ItemKind, item: Item) -> Markup:
    """Return the links to the partitions of the item in the table and in the indexes."""
    lines = []
    for each in description.collections:
        if each.contains(item):
            names = [attribute.name for attribute in each.keys.partition]
            place = parts.aside("in ", item_parts.key_lines(each, kind, item, names))
            href = item_parts.partition_url(description, each, item)
            link = element("a.idx", each.title, href=href)
        else:
            place = parts.aside("not in this index")
            link = element("span.idx", each.title)
        lines.append([link, place])
    shown = [element("h2", "Its partitions"), parts.listed(lines, "rel")]
    return element("div.body.also.top-line", shown)


# --- export -------------------------------------------------------------------------------------


def export(workspace: Workspace, request: WebRequest, table: str) -> WebResponse:
    """Send the items of the page, or of all pages after it, as a file."""
    description = workspace.describe(table)
    collection = None if description is None else description.find(request.query.get("index"))
    if description is None or collection is None:
        return redirect(url("/items/{}", table))  # says what is missing
    asked, known = read_asked(description, collection, request.query), workspace.map_of(table)
    form = "csv" if request.query.get("format") == "csv" else "json"
    try:
        _, first_page = read_asked_page(workspace, asked, known)
    except InvalidValue:
        return redirect(asked.url())  # says what is wrong
    whole = request.query.get("pages") == "all"
    pages = _pages(workspace, asked, known, first_page) if whole else iter([first_page.items])
    name = f"{table}-{collection.title}"
    return export_response(name, form, pages, description.base.keys.names)


def _pages(
    workspace: Workspace, asked: ItemsQuery, known: TableMap | None, page: ItemPage
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
        following = replace(asked, cursor=key_token(page.next))
        _, page = read_asked_page(workspace, following, known)


ROUTES = {("GET", "/items"): first, ("GET", "/items/{}"): show, ("GET", "/items/{}/export"): export}
