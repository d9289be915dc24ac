"""The console: statements of PartiQL, explained before they run.

    GET  /console?statement=…           explains the statement
    GET  /console?statement=…&run=1     also shows a page of the items of a SELECT, or the preview
                                        of a write; a Scan of much data needs a confirmation
    POST /console                       runs a write that was previewed; the statement is quoted
                                        as in a URL, so that no character is changed
    GET  /console/complete              completions for the word at the cursor
    GET  /console/export                all items of a SELECT as a file

The history is kept by the browser (`console.js`); the studio does not store statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import quote, unquote

import msgspec

from tablewright.capacity import read_units
from tablewright.engine.statements.explain import StatementPlan
from tablewright.errors import DynamoDBError, EndpointUnavailable, TablewrightError
from tablewright.limits import MAX_STATEMENT_LENGTH
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.model.pattern import AccessPattern
from tablewright.partiql.completion import Names, complete
from tablewright.partiql.printing import format_name
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.keys import take_apart
from tablewright.presentation.kinds import stored_names
from tablewright.presentation.style import chip
from tablewright.presentation.values import content, plural, size_text
from tablewright.studio.items.exporting import FORMATS, export_response
from tablewright.studio.markup import parts, preview_parts
from tablewright.studio.markup.form_parts import confirm_target
from tablewright.studio.markup.item_parts import key_line, key_url
from tablewright.studio.markup.parts import (
    NOTHING,
    aside,
    button,
    faint,
    heading,
    note,
    panel,
    swap,
)
from tablewright.studio.target import statements
from tablewright.studio.target.statements import (
    CONFIRM_BYTES,
    ItemChanged,
    ResultPage,
    StatementPreview,
    estimate_units,
    needs_confirmation,
    page_size,
    similar_patterns,
)
from tablewright.studio.web.frame import WebPage, static_url
from tablewright.studio.web.http import FormRefused, WebRequest, WebResponse, redirect, url
from tablewright.studio.workspace import Workspace
from tablewright.values import Item

#: A statement that is quoted twice has up to 20 bytes for a character.
MAX_RUN_BYTES = 32 * MAX_STATEMENT_LENGTH
MAX_COMPLETIONS = 12
JSON = "application/json"


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Explain a statement, and run it if it only reads."""
    text = _statement(request.query.get("statement"))
    if not text:
        return _page(workspace, _example(workspace), [explain_nothing(), no_result()])
    try:
        found = statements.plan(workspace, text)
        explained = explain_panel(found, similar_patterns(workspace, text))
        shown = [explained, *_answer(workspace, request, text, found)]
    except EndpointUnavailable:
        raise
    except TablewrightError as error:
        return _failed(workspace, text, error)
    return _page(workspace, text, shown, kind=found.explanation.operation)


def _answer(
    workspace: Workspace, request: WebRequest, text: str, found: StatementPlan
) -> list[Markup]:
    query = request.query
    if "run" not in query:
        return [no_result()]
    if not found.is_read:
        if not workspace.is_writable:
            workspace.require_writable(found.explanation.operation)
        return [preview_panel(workspace, text, statements.preview(workspace, text))]
    if needs_confirmation(found) and query.get("confirm") != "scan":
        return [confirm_scan(text, found)]
    page = statements.read_page(workspace, text, page_size(found), query.get("after"))
    known = workspace.map_of(found.explanation.table)
    return [result_panel(text, found, page, known, query.get("confirm"))]


def _failed(workspace: Workspace, text: str, error: TablewrightError) -> WebPage:
    answer = [failure_panel(error)]
    return _page(workspace, text, answer, kind="failed", status=400)


def run(workspace: Workspace, request: WebRequest) -> WebPage:
    """Run a statement that writes; show a new preview if its item has changed."""
    workspace.require_writable("a statement that writes")
    if len(request.body) > MAX_RUN_BYTES:
        raise too_long()
    form = request.form
    text = _statement(unquote(form.get("statement")))
    try:
        found = statements.plan(workspace, text)
        if found.is_read:
            raise TablewrightError("a SELECT needs no confirmation; use Run")
        try:
            done, units = statements.write(workspace, text, form.get("seen"))
        except ItemChanged as error:
            again = preview_panel(workspace, text, statements.preview(workspace, text), str(error))
            return _page(workspace, text, [explain_panel(found), again], status=409)
    except EndpointUnavailable:
        raise
    except TablewrightError as error:
        return _failed(workspace, text, error)
    parts = [explain_panel(found), done_panel(done, units)]
    return _page(workspace, text, parts, kind=found.explanation.operation)


def export(workspace: Workspace, request: WebRequest) -> WebPage | WebResponse:
    """Send all items of a SELECT as a file."""
    text, kind = _statement(request.query.get("statement")), request.query.get("format", "json")
    found = statements.plan(workspace, text)
    if not found.is_read or kind not in FORMATS:
        raise TablewrightError("only the items of a SELECT can be exported, as json or csv")
    if needs_confirmation(found) and request.query.get("confirm") != "scan":
        return redirect(url("/console", statement=text, run=1))  # asks
    return export_response("result", kind, statements.read_pages(workspace, text))


def _statement(text: str) -> str:
    """Return a statement without the CR that browsers add to each line.

    Raises FormRefused for one that is longer than DynamoDB allows, before it is parsed or shown.
    """
    text = text.replace("\r\n", "\n").strip()
    if len(text) > MAX_STATEMENT_LENGTH:
        raise too_long()
    return text


def too_long() -> FormRefused:
    return FormRefused(
        413, f"The statement has more than {MAX_STATEMENT_LENGTH:,} characters. Shorten it."
    )


def suggest(workspace: Workspace, request: WebRequest) -> WebResponse:
    """Return completions for the word at the cursor."""
    names = Names(
        workspace.table_names,
        partial(_index_names, workspace),
        partial(_attribute_names, workspace),
    )
    found = complete(request.query.get("before"), request.query.get("word"), names)
    return WebResponse(body=msgspec.json.encode(found[:MAX_COMPLETIONS]), type=JSON)


def _index_names(workspace: Workspace, table: str) -> list[str]:
    found = workspace.describe(table)
    return [] if found is None else found.index_names


def _attribute_names(workspace: Workspace, table: str) -> list[str]:
    """Return the key attributes of a table, and the attributes of its entities."""
    found = workspace.describe(table)
    keys = [] if found is None else sorted(found.key_types)
    return list(dict.fromkeys([*keys, *stored_names(workspace.map_of(table))]))


# --- the page -----------------------------------------------------------------------------------


def _page(
    workspace: Workspace, text: str, answer: list[Markup], kind: str = "", status: int = 200
) -> WebPage:
    about = "PartiQL, explained before it runs. " + (
        "A statement that writes shows its item before and after, and runs when you confirm it."
        if workspace.is_writable
        else "Statements that write are off: this target is read-only."
    )
    found = element("div", answer, id="answer", data_kind=kind, aria_label="Answer")
    body = element("div.console", _editor(text), found, _history())
    said = element("p.vh", id="said", aria_live="polite")
    script = element("script", src=static_url("console.js"), defer="")
    content = [heading("Console", about), body, said, script]
    return WebPage("Console", content, "Console", status=status)


def _example(workspace: Workspace) -> str:
    names = [*workspace.maps] or workspace.table_names()[:1]
    return f"SELECT * FROM {format_name(names[0])}" if names else ""


def _editor(text: str) -> Markup:
    rows = max(text.count("\n") + 2, 6)
    area = element(
        "textarea", "\n" + text,  # HTML leaves out the first line break
        id="ps", name="statement", rows=rows, maxlength=MAX_STATEMENT_LENGTH, spellcheck="false",
        autocapitalize="off", autocomplete="off", aria_describedby="hint",
    )  # fmt: skip
    label = element("label.vh", "PartiQL statement", for_="ps")
    editor = element("div.editor", element("div.ed", label, area))
    text = "Tab takes the first completion, Escape hides them; Ctrl and Enter run the statement."
    hint = element("p.vh", text, id="hint")
    remark = f"Scans of more than {size_text(CONFIRM_BYTES)} ask before they run."
    run_it = ["Run ", element("kbd", "Ctrl ↵")]
    buttons = [
        button(run_it, "go", type="submit", name="run", value="1"),
        button("Explain", type="submit"),
        aside(remark),
    ]
    completions = element("div.complete", id="complete", hidden="")
    form = element(
        "form.col", editor, hint, completions, element("div.pager", buttons),
        action="/console", id="console", **swap("#answer", hx_get="/console"),
    )  # fmt: skip
    return element("section.panel.statement", form, aria_label="Statement")


def _history() -> Markup:
    """Return the empty panel of the history; `console.js` fills it."""
    clear = aside(button("Clear", "sm", type="button"))
    about = [element("p", "kept in this browser only"), clear]
    place = element("ul.rel.body")
    return panel("History", place, about=about, class_="past", id="history", hidden="")


#: The maximum number of characters in a cell, and of patterns that are named.
CELL = 120
MAX_PATTERNS = 4
NOT_IN_STEP = (
    "PartiQL changes only the attributes that the statement names. Unlike writes of the design, it "
    "does not update index keys, versions, unique values and histories."
)


# --- what a statement will do -------------------------------------------------------------------


def explain_nothing() -> Markup:
    return _explained(
        element("p.muted", "Explain shows what a statement will do, without running it.")
    )


def explain_panel(found: StatementPlan, patterns: Sequence[AccessPattern] = ()) -> Markup:
    """Return what a statement will do, and the patterns of the design that read with its key."""
    plan_ = found.explanation
    sign = parts.sign("!", "mod") if plan_.is_scan else parts.sign("✓", "add")
    source = plan_.table if plan_.index is None else f"{plan_.table}.{plan_.index}"
    does = [sign, element("b", plan_.operation), " on ", element("code", source)]
    verdict = element("div.row.verdict", does)
    rows = [("key", element("code", each)) for each in plan_.key_conditions]
    if plan_.is_scan:
        rows.append(("key", element("b", "none: everything is read")))
    if found.is_read:
        none = element("span.muted", "none: every item read is returned")
        rows.append(("filter", element("code", plan_.filter) if plan_.filter else none))
    elif plan_.filter is not None:
        rows.append(("condition", element("code", plan_.filter)))
    if plan_.order is not None:
        rows.append(("order", element("span", plan_.order)))
    size = f"{found.items:,} items, {size_text(found.size)}"
    rows += [
        ("reads from" if found.is_read else "table", element("span", size)),
        ("units", element("span", estimate_units(found), element("small", _remark(found)))),
    ]
    if patterns:
        links = [
            element("a.mono", each.name, href=url("/patterns/{}", each.label))
            for each in patterns[:MAX_PATTERNS]
        ]
        rows.append(("patterns", element("span", join(links, ", "))))
    return _explained(verdict, parts.definitions(rows))


def _remark(found: StatementPlan) -> str:
    if found.is_read and not found.explanation.is_scan:
        return f"estimate; a Scan takes {read_units(found.size, consistent=False):,g}"
    return "estimate"


def _explained(*shown: Markup) -> Markup:
    before = aside(parts.tag("before it runs"))
    return panel("Explain", element("div.body", *shown), about=before, class_="explain")


def failure_panel(error: TablewrightError) -> Markup:
    code = f"{error.code}: " if isinstance(error, DynamoDBError) else ""
    text = note(f"{code}{error}", "bad")
    return _answered("Not run", element("div.body", text, role="alert"))


def confirm_scan(text: str, found: StatementPlan) -> Markup:
    words = (
        f"This statement reads all of {found.explanation.table}, page by page: {found.items:,} "
        f"items, {size_text(found.size)}, {estimate_units(found)}. A page reads "
        f"{page_size(found):,} items. A condition on the partition key avoids it."
    )
    href = url("/console", statement=text, run=1, confirm="scan")
    link = element("p", parts.button_link("Run the scan", href, "bad"))
    return _answered("Not run yet", element("div.body.stack", note(words, "warn"), link))


# --- results ------------------------------------------------------------------------------------


def no_result() -> Markup:
    text = element("p.muted", "Run shows a page of the items.")
    return _answered("Result", element("div.body", text))


def _answered(title: str, *shown: Markup, about: Child = "") -> Markup:
    return panel(title, *shown, about=about, class_="result")


def result_panel(
    text: str, found: StatementPlan, page: ResultPage, known: TableMap | None, confirm: str
) -> Markup:
    units, count = plural(page.units, "read unit"), plural(len(page.items), "item")
    summary = f"{count}, {units}, {page.seconds * 1000:.1f} ms"
    asked = {"statement": text, "confirm": confirm or None}
    links = []
    for kind in FORMATS:
        href = url("/console/export", **asked, format=kind)
        links.append(parts.button_link(f"Export {kind.upper()}", href, "sm", download=""))
    following = NOTHING
    if page.next_token is not None:
        href = url("/console", **asked, run=1, after=page.next_token)
        swap = parts.swap("#answer", hx_get=href)
        more = element("span", f"There are more: a page reads {page_size(found):,} items.")
        next_page = aside(parts.button_link("Next page", href, "sm", rel="next", **swap))
        following = element("div.pager", more, next_page)
    if not page.items:
        text = "No item matches." if page.next_token is None else "None of this page matches."
        body = element("p.empty", text)
    else:
        body = parts.scroll("Items", _grid(page.items, found, known))
    about = [element("p", summary, id="summary"), aside(links)]
    return _answered("Result", body, following, about=about)


def _grid(items: list[Item], found: StatementPlan, known: TableMap | None) -> Markup:
    present = dict.fromkeys(name for item in items for name in item)
    first = [name for name in found.key_names if name in present]
    names = [*first, *(name for name in present if name not in first)]
    numbers = {name for name in names if all("N" in item[name] for item in items if name in item)}
    rows = []
    for item in items:
        entity, shown = None, NOTHING
        if known is not None and _is_recognisable(item, found, known):
            entity = known.entity_of(item)
            shown = chip(entity)
        if first == list(found.key_names) and all(name in item for name in first):
            href = key_url(found.explanation.table, {name: item[name] for name in first})
            shown = element("a.kl", shown or "item", href=href)
        cells = [_cell(item, name, entity, name in numbers) for name in names]
        rows.append(element("tr", element("td", shown), cells))
    caption, kinds = "Items of the statement", dict.fromkeys(numbers, "num")
    return parts.data_table(caption, ["Entity", *names], rows, kinds=kinds, class_="plain")


def _is_recognisable(item: Item, found: StatementPlan, known: TableMap) -> bool:
    """Return whether an item has what identifies its entity: its type, or its whole key."""
    return known.type_attribute in item or all(name in item for name in found.key_names)


def _cell(item: Item, name: str, entity: EntityMap | None, is_number: bool) -> Markup:
    kind = "num mono" if is_number else "mono"
    if name not in item:
        return element("td", faint("absent"), class_=kind)
    keys = () if entity is None else (entity.primary, *entity.indexes)
    key = next((key for key in keys if name in key.templates), None)
    text = content(item[name])
    if key is not None and len(text) <= CELL:
        line = key_line(take_apart(item[name], key, name, entity), entity)
        return element("td", line, class_=kind)
    return element("td", text if len(text) <= CELL else f"{text[:CELL]}…", class_=kind)


# --- writes -------------------------------------------------------------------------------------


def preview_panel(
    workspace: Workspace, text: str, found: StatementPreview, remark: str = ""
) -> Markup:
    """Return what a write would do, and the form that runs it."""
    warnings = list(found.warnings)
    if found.touched.write.table in workspace.maps:
        warnings.insert(0, NOT_IN_STEP)
    shown = [note(remark, "warn") if remark else NOTHING]
    if found.found.error is None:
        title = element("b", "What it does not do")
        block = element("div.note.warn.block", title, parts.listed(warnings))
        shown.append(block if warnings else NOTHING)
    hint = "The item is read again first; if it has changed, a new preview appears."
    inputs = [
        parts.hidden("statement", quote(text)),
        parts.hidden("seen", found.seen),
        confirm_target(workspace),
        parts.button(f"Run it{workspace.place}", workspace.button_kind("bad"), type="submit"),
        element("span.hint", hint),
    ]
    form = element("form.pager", inputs, method="post", action="/console")
    return _answered(
        "Not run yet",
        preview_parts.verdict(found.found),
        *_changes(found),
        element("div.body.stack", shown),
        form if found.found.error is None else NOTHING,
    )


def done_panel(found: StatementPreview, units: float) -> Markup:
    about = element("p", plural(units, "write unit"), id="summary")
    return _answered("Done", *_changes(found), about=about)


def _changes(found: StatementPreview) -> list[Markup]:
    return [preview_parts.differences(found.found), preview_parts.touched(found.found)]


ROUTES = {
    ("GET", "/console"): show,
    ("POST", "/console"): run,
    ("GET", "/console/export"): export,
    ("GET", "/console/complete"): suggest,
}
