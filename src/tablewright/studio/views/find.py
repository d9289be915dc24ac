"""Find: search items by id, unique value or key.

/find?q=…     one item: redirects to its page; several: lists them; none: shows what was tried
"""

from __future__ import annotations

from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element
from tablewright.presentation.kinds import filter_name, kind_of
from tablewright.presentation.style import chip
from tablewright.studio.items.finding import MAX_TRIES, Hit, Search, Try, search
from tablewright.studio.items.reading import RequestMeter
from tablewright.studio.markup import parts
from tablewright.studio.markup.item_parts import condition_url, item_url, key_lines, kind_chip
from tablewright.studio.markup.parts import NOTHING, aside, heading
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, WebResponse, redirect
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item

#: The maximum number of tables to search at a target without a design.
MAX_TABLES = 10


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
        lists = [_help(), _needed(workspace)]
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


ROUTES = {("GET", "/find"): show}
