"""Find: search items by id, unique value or key.

GET  /find?q=…     one item: redirects to its page; several: lists them; none: shows what was tried
POST /find/scan    reads a table for a text, step by step; see `items.scanning`

A link never scans: it shows what a Scan would cost, and waits for its button.
"""

from __future__ import annotations

from tablewright.capacity import read_units
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element
from tablewright.presentation.keys import key_token, read_key_token
from tablewright.presentation.kinds import filter_name, kind_of
from tablewright.presentation.style import chip
from tablewright.presentation.values import plural, size_text
from tablewright.studio.items.finding import MAX_TRIES, Hit, Search, Try, search
from tablewright.studio.items.reading import RequestMeter
from tablewright.studio.items.scanning import ScanStep, scan_for
from tablewright.studio.markup import parts
from tablewright.studio.markup.item_parts import condition_url, item_url, key_lines, kind_chip
from tablewright.studio.markup.parts import NOTHING, aside, faint, heading
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import WebRequest, WebResponse, redirect, url
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item

#: The maximum number of tables to search at a target without a design.
MAX_TABLES = 10
#: The maximum number of items of a Scan that are shown at once.
MAX_HITS = 50


def show(workspace: Workspace, request: WebRequest) -> WebPage | WebResponse:
    """Redirect to the only item that a text finds, list several, or show what was tried."""
    text = request.query.get("q").strip()
    if not text:
        return WebPage("Find", [heading("Find"), _help()], "")
    tables = _tables(workspace)
    meter = RequestMeter(workspace.send)
    found = search(meter, tables, text)
    if found.only is not None:
        description, item = found.only
        return redirect(item_url(description, item))
    if found.hits:
        title = f"{text}: {len(found.items) or len(found.collections)} found"
        lists = [_items(workspace, found), _collections(workspace, found)]
    else:
        title = f"No key or unique value is {text}"
        lists = [_help(), _needed(workspace), _offers([each for each, _ in tables.values()], text)]
    left = f"; {found.left_out} more were not tried" if found.left_out else ""
    line = f"{meter.show()}; at most {MAX_TRIES} lookups, never a Scan{left}."
    content = [heading(title, element("span", line)), *lists, _tried(found)]
    return WebPage(f"Find {text}", content, "", 200 if found.hits else 404)


def _tables(workspace: Workspace) -> dict[str, tuple[TableDescription, TableMap | None]]:
    """Return the tables to search: those of the design, or the first ones of the target."""
    names = list(workspace.maps) or workspace.table_names()[:MAX_TABLES]
    described = {name: workspace.describe(name) for name in names}
    return {
        name: (description, workspace.maps.get(name))
        for name, description in described.items()
        if description is not None
    }


def _help() -> Markup:
    return parts.note(
        "Type the id of an item, one of its unique values, or its key. If the key of an item has "
        "several ids, type all of them, separated by spaces."
    )


def _items(workspace: Workspace, found: Search) -> Markup:
    lines = [_item(workspace, tried, item) for tried, item in found.items]
    return _list("Items", lines)


def _item(workspace: Workspace, tried: Try, item: Item) -> list[Markup]:
    description = tried.description
    known = workspace.maps.get(description.name)
    kind = kind_of(known, item)
    keys, href = key_lines(description.base, kind, item), item_url(description, item)
    link = element("a.kl.keys-2", keys, href=href, data_row="")
    shown = kind_chip(kind) if known is not None else NOTHING
    return [shown, link, _what(workspace, tried)]


def _collections(workspace: Workspace, found: Search) -> Markup:
    return _list("In other keys", [_collection(workspace, hit) for hit in found.collections])


def _collection(workspace: Workspace, hit: Hit) -> list[Markup]:
    tried = hit.tried
    known = workspace.maps.get(tried.description.name)
    kinds = {filter_name(kind_of(known, item)): kind_of(known, item) for item in hit.found.items}
    chips = [kind_chip(kind) for kind in kinds.values()] if known is not None else []
    text = f"{hit.found.count} item{'s' * (hit.found.count != '1')}"
    href = condition_url(tried.description, tried.collection, tried.condition)
    link = element("a", text, href=href, data_row="")
    return [*chips, link, element("code.key.wrap", tried.show()), _what(workspace, tried)]


def _what(workspace: Workspace, tried: Try) -> Markup:
    """Return what the text was searched as; with several tables, also the table."""
    table = f" in {tried.description.name}" if len(workspace.maps) > 1 else ""
    return aside(f"{tried.what}{table}")


def _list(title: str, lines: list[list[Markup]]) -> Markup:
    return parts.panel(title, parts.listed(lines, "body rel hits")) if lines else NOTHING


def _needed(workspace: Workspace) -> Markup:
    """Return the entities whose key has several ids, with the names of these."""
    lines = []
    for known in workspace.maps.values():
        for entity in known.entities:
            names = list(dict.fromkeys(part.attribute for part in entity.primary.parameters))
            if len(names) > 1:
                words = element("code", " ".join(names))
                lines.append([chip(entity), element("span", "type"), words])
    return _list("Items with several ids", lines)


def _tried(found: Search) -> Markup:
    lines = [
        [
            element("span", f"{each.what} in {each.description.name}"),
            element("code.end.key.wrap", each.show()),
        ]
        for each in found.tried
    ]
    summary, shown = f"What was tried ({len(lines)})", parts.listed(lines, "body rel")
    return parts.region("What was tried", parts.details(summary, shown, is_open=not found.hits))


# --- a scan -------------------------------------------------------------------------------------


def scan(workspace: Workspace, request: WebRequest) -> WebPage:
    """Read the next part of a table for a text."""
    form = request.form
    text, description = form.get("q").strip(), workspace.describe(form.get("table"))
    if not text or description is None:
        raise MissingPage
    after = form.get("after")
    start = read_key_token(after, "the place to continue at is none of a Scan") if after else None
    step = scan_for(workspace.send, description.name, text, start)
    read = _count(form.get("read")) + step.read
    units = _count(form.get("units")) + step.units
    title = f"{text} in {description.name}"
    return WebPage(
        title, [heading(title), _scanned(workspace, description, text, step, read, units)]
    )


def _count(text: str) -> float:
    """Return a count that a form has carried on; 0 for what is none."""
    try:
        value = float(text)
    except ValueError:
        return 0
    return value if 0 < value < 1e15 else 0


def _offers(descriptions: list[TableDescription], text: str) -> Markup:
    """Return what a Scan of each table reads, and its button."""
    lines = []
    for each in descriptions:
        count, size = each.state.items or 0, each.state.size
        units = read_units(size, consistent=False)
        price = f"about {plural(count, 'item')}, {size_text(size)}: {plural(units, 'read unit')}"
        button = parts.button(f"Scan {each.name}", "sm", type="submit")
        lines.append([_scan_form(each, text, button, {}), aside(price)])
    about = f"{text} may be in another attribute. A Scan stops at the first items that have it."
    shown = [element("p.body.muted", about), parts.listed(lines, "body rel")]
    return parts.panel("Read the table", *shown, id="scan")


def _scan_form(
    description: TableDescription, text: str, button: Markup, kept: dict[str, str], **more: str
) -> Markup:
    fields = {"q": text, "table": description.name, **kept}
    hidden = [parts.hidden(name, value) for name, value in fields.items()]
    stop = parts.button_link("Stop", url("/find", q=text)) if more else NOTHING
    row = element("div.row", button, stop)
    sent = parts.swap("#scan", push=False, hx_post="/find/scan", **more)
    return element("form", hidden, row, method="post", action="/find/scan", **sent)


def _scanned(
    workspace: Workspace,
    description: TableDescription,
    text: str,
    step: ScanStep,
    read: float,
    units: float,
) -> Markup:
    """Return what a Scan has found so far, and how it continues."""
    known = workspace.maps.get(description.name)
    lines = []
    for item in step.items[:MAX_HITS]:
        kind = kind_of(known, item)
        keys, href = key_lines(description.base, kind, item), item_url(description, item)
        chip_ = kind_chip(kind) if known is not None else NOTHING
        lines.append([chip_, element("a.kl.keys-2", keys, href=href, data_row="")])
    if len(step.items) > MAX_HITS:
        lines.append([faint(f"and {len(step.items) - MAX_HITS} more in this part")])
    spent = f"{plural(read, 'item')} read, {plural(units, 'read unit')} spent"
    if step.next is None:
        state = f"{spent}: the whole table." if lines else f"No item has {text}. {spent}."
        rest = NOTHING
    else:
        total = max(description.state.items or 0, int(read))
        state = f"{spent}, of about {plural(total, 'item')}."
        kept = {"after": key_token(step.next), "read": f"{read:g}", "units": f"{units:g}"}
        button = parts.button("Continue", "" if lines else "go", type="submit")
        # It continues by itself only while there is nothing to see.
        more = {} if lines else {"hx_trigger": "load, submit"}
        rest = _scan_form(description, text, button, kept, **more)
    body = element("div.body", element("p", state, role="status"), rest)
    found = parts.listed(lines, "body rel hits") if lines else NOTHING
    return element("section.panel", found, body, id="scan", aria_label=f"Scan {description.name}")


ROUTES = {("GET", "/find"): show, ("POST", "/find/scan"): scan}
