"""The console: statements of PartiQL, explained before they run.

    GET  /console?statement=…           explains it
    GET  /console?statement=…&run=1     a SELECT: explains it and shows a page of its items; a Scan
                                        of much data asks first. Another one: shows its preview
    POST /console                       runs a statement that writes, as its preview showed it
    GET  /console/complete              what the word at the cursor can become
    GET  /console/export                all items of a SELECT as a file

The history is kept by the browser (`console.js`); the studio does not store statements.
"""

from __future__ import annotations

from functools import partial

import msgspec

from tablewright.errors import DynamoDBError, EndpointUnavailable, TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.partiql.completion import Names, complete
from tablewright.partiql.printing import format_name
from tablewright.publish.html.element import Markup, element
from tablewright.studio.exporting import FORMATS, export_response
from tablewright.studio.frame import Page, static_url
from tablewright.studio.http import Request, Response, redirect
from tablewright.studio.inventory import format_size
from tablewright.studio.item_parts import key_url
from tablewright.studio.parts import NOTHING, chip, content, heading, note, scroll, stored_key
from tablewright.studio.statements import (
    CONFIRM_BYTES,
    ItemChanged,
    ResultPage,
    StatementPlan,
    WritePreview,
    plan,
    preview,
    read_page,
    read_pages,
    write,
)
from tablewright.studio.url import url
from tablewright.studio.workspace import Workspace
from tablewright.values import Item

#: DynamoDB's limit for the text of a statement.
MAX_STATEMENT = 8192
MAX_COMPLETIONS = 12
#: How much of a value a cell shows.
CELL = 120
JSON = "application/json"
NOT_IN_STEP = (
    "PartiQL writes attributes as they are. It does not change the keys of indexes, versions, "
    "unique values and histories, as writes of the design do."
)


def show(workspace: Workspace, request: Request) -> Page:
    """Explain a statement, and run it if it only reads."""
    text = request.query.get("statement").strip()
    if not text:
        return _page(workspace, _example(workspace), [_explain_empty(), _result_empty()])
    try:
        found = plan(workspace, text)
        parts = [_explain(found), *_answer(workspace, request, text, found)]
    except EndpointUnavailable:
        raise
    except TablewrightError as error:
        return _page(workspace, text, [_failed(error)], kind="failed", status=400)
    return _page(workspace, text, parts, kind=found.explanation.operation)


def _answer(
    workspace: Workspace, request: Request, text: str, found: StatementPlan
) -> list[Markup]:
    query = request.query
    if "run" not in query:
        return [_result_empty()]
    if not found.is_read:
        workspace.require_writable(found.explanation.operation)
        return [_preview(workspace, text, preview(workspace, text))]
    if found.needs_confirmation and query.get("confirm") != "scan":
        return [_confirm_scan(text, found)]
    page = read_page(workspace, text, found.page, query.get("after"))
    known = workspace.map_of(found.explanation.table)
    return [_result(text, found, page, known, query.get("confirm"))]


def run(workspace: Workspace, request: Request) -> Page:
    """Run a statement that writes; show a new preview if its item has changed."""
    workspace.require_writable("a statement that writes")
    form = request.form
    text = form.get("statement").strip()
    try:
        found = plan(workspace, text)
        if found.is_read:
            raise TablewrightError("a SELECT is run with Run; it needs no confirmation")
        try:
            done, units = write(workspace, text, form.get("seen"))
        except ItemChanged as error:
            parts = [note(str(error), "warn"), _preview(workspace, text, preview(workspace, text))]
            return _page(workspace, text, [_explain(found), *parts], status=409)
    except EndpointUnavailable:
        raise
    except TablewrightError as error:
        return _page(workspace, text, [_failed(error)], kind="failed", status=400)
    parts = [_explain(found), _done(done, units)]
    return _page(workspace, text, parts, kind=found.explanation.operation)


def export(workspace: Workspace, request: Request) -> Page | Response:
    """Send all items of a SELECT as a file."""
    text, kind = request.query.get("statement").strip(), request.query.get("format", "json")
    found = plan(workspace, text)
    if not found.is_read or kind not in FORMATS:
        raise TablewrightError("only the items of a SELECT can be exported, as json or csv")
    if found.needs_confirmation and request.query.get("confirm") != "scan":
        return redirect(url("/console", statement=text, run=1))  # asks
    return export_response("result", kind, read_pages(workspace, text))


def suggest(workspace: Workspace, request: Request) -> Response:
    """Return what the word at the cursor can become."""
    names = Names(
        workspace.table_names,
        partial(_index_names, workspace),
        partial(_attribute_names, workspace),
    )
    found = complete(request.query.get("before"), request.query.get("word"), names)
    return Response(body=msgspec.json.encode(found[:MAX_COMPLETIONS]), type=JSON)


def _index_names(workspace: Workspace, table: str) -> list[str]:
    found = workspace.describe(table) or {}
    return [
        index["IndexName"]
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in found.get(member, ())
    ]


def _attribute_names(workspace: Workspace, table: str) -> list[str]:
    """Return the attributes of the keys, and those of the entities."""
    found = workspace.describe(table) or {}
    keys = [each["AttributeName"] for each in found.get("AttributeDefinitions", ())]
    known = workspace.map_of(table)
    stored = (
        attribute.stored
        for entity in (known.entities if known is not None else ())
        for attribute in entity.attributes.values()
        if not attribute.is_key_only
    )
    return list(dict.fromkeys([*keys, *stored]))


# --- the page -----------------------------------------------------------------------------------


def _page(
    workspace: Workspace, text: str, answer: list[Markup], kind: str = "", status: int = 200
) -> Page:
    about = "PartiQL, explained before it runs. " + (
        "A statement that writes shows its item before and after, and runs when you confirm it."
        if workspace.is_writable
        else "Statements that write are off: this target is read-only."
    )
    found = element("div", answer, id="answer", data_kind=kind, aria_label="Answer")
    body = element("div", _editor(text), found, _history(), class_="console")
    said = element("p", class_="vh", id="said", aria_live="polite")
    script = element("script", src=static_url("console.js"), defer="")
    content = [heading("Console", about), body, said, script]
    return Page("Console", content, "Console", status=status)


def _example(workspace: Workspace) -> str:
    names = [*workspace.maps] or workspace.table_names()[:1]
    return f"SELECT * FROM {format_name(names[0])}" if names else ""


def _editor(text: str) -> Markup:
    area = element(
        "textarea",
        "\n" + text,  # HTML leaves out the first line break
        id="ps",
        name="statement",
        rows=max(text.count("\n") + 2, 6),
        maxlength=MAX_STATEMENT,
        spellcheck="false",
        autocapitalize="off",
        autocomplete="off",
        aria_describedby="hint",
    )
    label = element("label", "PartiQL statement", class_="vh", for_="ps")
    editor = element("div", element("div", label, area, class_="ed"), class_="editor")
    hint = element(
        "p",
        "Tab takes the first completion, Escape hides them; Ctrl and Enter run the statement.",
        id="hint",
        class_="vh",
    )
    buttons = element(
        "div",
        element("button", "Run ", element("kbd", "Ctrl ↵"), class_="btn go", type="submit",
                name="run", value="1"),
        element("button", "Explain", class_="btn", type="submit"),
        element("span", f"Scans of more than {format_size(CONFIRM_BYTES)} ask before they run.",
                class_="end"),
        class_="pager",
    )  # fmt: skip
    complete_row = element("div", class_="complete", id="complete", hidden="")
    form = element(
        "form", editor, hint, complete_row, buttons,
        action="/console", class_="col", id="console",
        hx_get="/console", hx_select="#answer", hx_target="#answer", hx_swap="outerHTML",
        hx_push_url="true",
    )  # fmt: skip
    return element("section", form, class_="panel statement", aria_label="Statement")


def _history() -> Markup:
    """Return the place of the history, which the browser keeps and fills."""
    header = element(
        "header",
        element("h2", "History"),
        element("p", "kept in this browser only"),
        element("span", element("button", "Clear", class_="btn sm", type="button"), class_="end"),
    )
    return element(
        "section", header, element("ul", class_="rel body"),
        class_="panel past", id="history", aria_label="History", hidden="",
    )  # fmt: skip


# --- what a statement will do -------------------------------------------------------------------


def _explain_empty() -> Markup:
    return _explain_panel(
        element("p", "Explain says what a statement will do, before it runs.", class_="muted")
    )


def _explain(found: StatementPlan) -> Markup:
    plan_ = found.explanation
    sign, kind = ("!", "mod") if plan_.is_scan else ("✓", "add")
    source = plan_.table if plan_.index is None else f"{plan_.table}.{plan_.index}"
    verdict = element(
        "div", element("span", sign, class_=f"sg {kind}", aria_hidden="true"),
        element("b", plan_.operation), " on ", element("code", source), class_="row verdict",
    )  # fmt: skip
    rows = [("key", element("code", each)) for each in plan_.key_conditions]
    if plan_.is_scan:
        rows.append(("key", element("b", "none: everything is read")))
    if found.is_read:
        none = element("span", "none: every item read is returned", class_="muted")
        rows.append(("filter", element("code", plan_.filter) if plan_.filter else none))
    elif plan_.filter is not None:
        rows.append(("condition", element("code", plan_.filter)))
    if plan_.order is not None:
        rows.append(("order", element("span", plan_.order)))
    size = f"{found.items:,} items, {format_size(found.size)}"
    rows += [
        ("reads from" if found.is_read else "table", element("span", size)),
        ("units", element("span", found.units, element("small", "estimate"))),
    ]
    listed = [each for name, value in rows for each in (element("dt", name), element("dd", value))]
    return _explain_panel(verdict, element("dl", listed, class_="dl"))


def _explain_panel(*content: Markup) -> Markup:
    tag = element("span", element("span", "before it runs", class_="tag"), class_="end")
    return element(
        "section", element("header", element("h2", "Explain"), tag),
        element("div", *content, class_="body"), class_="panel explain", aria_label="Explain",
    )  # fmt: skip


def _failed(error: TablewrightError) -> Markup:
    code = f"{error.code}: " if isinstance(error, DynamoDBError) else ""
    return _result_panel("Not run", [], element("div", note(f"{code}{error}", "bad"), class_="body",
                                                role="alert"))  # fmt: skip


def _confirm_scan(text: str, found: StatementPlan) -> Markup:
    words = (
        f"This statement reads all of {found.explanation.table}, page by page: {found.items:,} "
        f"items, {format_size(found.size)}, {found.units}. A page reads {found.page:,} items. A "
        "condition on the partition key avoids it."
    )
    link = element("a", "Run the scan", class_="btn bad",
                   href=url("/console", statement=text, run=1, confirm="scan"))  # fmt: skip
    body = element("div", note(words, "warn"), element("p", link), class_="body stack")
    return _result_panel("Not run yet", [], body)


# --- results ------------------------------------------------------------------------------------


def _result_empty() -> Markup:
    text = element("p", "Run shows a page of the items.", class_="muted")
    return _result_panel("Result", [], element("div", text, class_="body"))


def _result_panel(title: str, about: list[Markup], *content: Markup) -> Markup:
    return element(
        "section", element("header", element("h2", title), about), *content,
        class_="panel result", aria_label=title,
    )  # fmt: skip


def _result(
    text: str, found: StatementPlan, page: ResultPage, known: TableMap | None, confirm: str
) -> Markup:
    count = len(page.items)
    units = f"{page.units:g} read unit{'s' if page.units != 1 else ''}"
    summary = f"{count} item{'s' if count != 1 else ''}, {units}, {page.seconds * 1000:.1f} ms"
    links = [
        element("a", f"Export {kind.upper()}", class_="btn sm", download="",
                href=url("/console/export", statement=text, format=kind, confirm=confirm or None))
        for kind in FORMATS
    ]  # fmt: skip
    about = [element("p", summary, id="summary"), element("span", links, class_="end")]
    following = NOTHING
    if page.next_token is not None:
        href = url("/console", statement=text, run=1, confirm=confirm or None,
                   after=page.next_token)  # fmt: skip
        following = element(
            "div",
            element("span", f"There are more: a page reads {found.page:,} items."),
            element("span", element("a", "Next page", class_="btn sm", href=href, rel="next",
                                    hx_get=href, hx_select="#answer", hx_target="#answer",
                                    hx_swap="outerHTML", hx_push_url="true"), class_="end"),
            class_="pager",
        )  # fmt: skip
    if not page.items:
        text = "No item matches." if page.next_token is None else "None of this page matches."
        body = element("p", text, class_="empty")
    else:
        body = scroll("Items", _grid(page.items, found, known))
    return _result_panel("Result", about, body, following)


def _grid(items: list[Item], found: StatementPlan, known: TableMap | None) -> Markup:
    present = dict.fromkeys(name for item in items for name in item)
    first = [name for name in found.key_names if name in present]
    names = [*first, *(name for name in present if name not in first)]
    numbers = {name for name in names if all("N" in item[name] for item in items if name in item)}
    columns = [
        element("th", name, scope="col", class_="num" if name in numbers else None)
        for name in names
    ]
    rows = []
    for item in items:
        entity, shown = None, NOTHING
        if known is not None and _tells(item, found, known):
            entity = known.entity_of(item)
            shown = chip(entity)
        cells = [_cell(item, name, entity, name in numbers) for name in names]
        if first == list(found.key_names) and all(name in item for name in first):
            href = key_url(found.explanation.table, {name: item[name] for name in first})
            shown = element("a", shown or "item", class_="kl", href=href)
        rows.append(element("tr", element("td", shown), cells))
    return element(
        "table",
        element("caption", "Items of the statement", class_="vh"),
        element("thead", element("tr", element("th", "Entity", scope="col"), columns)),
        element("tbody", rows),
        class_="plain",
    )


def _tells(item: Item, found: StatementPlan, known: TableMap) -> bool:
    """Return whether an item has what its entity is recognised by: its key, or its type."""
    return known.type_attribute in item or all(name in item for name in found.key_names)


def _cell(item: Item, name: str, entity: EntityMap | None, is_number: bool) -> Markup:
    kind = "num mono" if is_number else "mono"
    if name not in item:
        return element("td", element("span", "absent", class_="faint"), class_=kind)
    keys = () if entity is None else (entity.primary, *entity.indexes)
    key = next((key for key in keys if name in key.templates), None)
    text = content(item[name])
    if key is not None and len(text) <= CELL:
        return element("td", stored_key(item[name], key, name, entity), class_=kind)
    return element("td", text if len(text) <= CELL else f"{text[:CELL]}…", class_=kind)


# --- writes -------------------------------------------------------------------------------------


def _preview(workspace: Workspace, text: str, found: WritePreview) -> Markup:
    """Return the item before and after a write, and the form that runs it."""
    warnings = list(found.warnings)
    if found.table in workspace.maps:
        warnings.insert(0, NOT_IN_STEP)
    parts = [element("div", _differences(found))]
    if found.problem:
        parts.insert(0, note(found.problem, "bad"))
    if warnings:
        lines = element("ul", [element("li", line) for line in warnings])
        parts.append(
            element("div", element("b", "What it does not do"), lines, class_="note warn block")
        )
    form = element(
        "form",
        element("input", type="hidden", name="statement", value=text),
        element("input", type="hidden", name="seen", value=found.seen),
        element("button", "Run it", class_="btn bad", type="submit"),
        element("span", "The statement runs if the item is still what is shown here.",
                class_="hint"),
        method="post",
        action="/console",
        class_="pager",
    )  # fmt: skip
    about = [element("p", "nothing has been written")]
    return _result_panel("Preview", about, element("div", parts, class_="body stack"), form)


def _done(found: WritePreview, units: float) -> Markup:
    about = [element("p", f"{units:g} write unit{'s' if units != 1 else ''}", id="summary")]
    return _result_panel(
        "Done", about, element("div", element("div", _differences(found)), class_="body stack")
    )


def _differences(found: WritePreview) -> list[Markup]:
    key = ", ".join(f"{name} {content(value)}" for name, value in found.key.items())
    old, new = found.before or {}, found.after or {}
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    what = (
        "The item does not exist, and is created" if found.before is None and found.after
        else "The item is deleted" if found.before and found.after is None
        else "The item does not exist, so nothing happens" if not found.before
        else "The item changes" if names else "The item stays as it is"
    )  # fmt: skip
    title = element("p", f"{what}: ", element("code", key))
    if not names:
        return [title]
    rows = [
        element(
            "tr",
            element("td", element("code", name)),
            element("td", element("del", content(old[name])) if name in old else _absent()),
            element("td", element("ins", content(new[name])) if name in new else _absent()),
        )
        for name in names
    ]
    columns = [element("th", name, scope="col") for name in ("Attribute", "Before", "After")]
    table = element(
        "table",
        element("caption", "What changes", class_="vh"),
        element("thead", element("tr", columns)),
        element("tbody", rows),
        class_="diff",
    )
    return [title, scroll("What changes", table)]


def _absent() -> Markup:
    return element("span", "absent", class_="faint")


ROUTES = {
    ("GET", "/console"): show,
    ("POST", "/console"): run,
    ("GET", "/console/export"): export,
    ("GET", "/console/complete"): suggest,
}
