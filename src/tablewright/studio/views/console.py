"""The console: statements of PartiQL, explained before they run.

    GET  /console?statement=…           explains it
    GET  /console?statement=…&run=1     a SELECT: explains it and shows a page of its items; a Scan
                                        of much data asks first. Another one: shows its preview
    POST /console                       runs a statement that writes, as its preview showed it; it
                                        is quoted as in a URL, so that no character is changed
    GET  /console/complete              what the word at the cursor can become
    GET  /console/export                all items of a SELECT as a file

The history is kept by the browser (`console.js`); the studio does not store statements.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

import msgspec

from tablewright.errors import EndpointUnavailable, TablewrightError
from tablewright.limits import MAX_STATEMENT_LENGTH
from tablewright.partiql.completion import Names, complete
from tablewright.partiql.printing import format_name
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.exporting import FORMATS, export_response
from tablewright.studio.items.kinds import stored_names
from tablewright.studio.markup.parts import aside, button, heading, panel, size_text, swap
from tablewright.studio.patterns.similar import similar_patterns
from tablewright.studio.target import statements
from tablewright.studio.target.statements import CONFIRM_BYTES, ItemChanged, StatementPlan
from tablewright.studio.views import console_answer
from tablewright.studio.views.console_answer import explain_panel, no_result, preview_panel
from tablewright.studio.web.frame import WebPage, static_url
from tablewright.studio.web.http import FormRefused, WebRequest, WebResponse, redirect, url
from tablewright.studio.workspace import Workspace

#: A statement that is quoted twice has up to 20 bytes for a character.
MAX_RUN_BYTES = 32 * MAX_STATEMENT_LENGTH
MAX_COMPLETIONS = 12
JSON = "application/json"


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Explain a statement, and run it if it only reads."""
    text = _statement(request.query.get("statement"))
    if not text:
        return _page(
            workspace, _example(workspace), [console_answer.explain_nothing(), no_result()]
        )
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
        workspace.require_writable(found.explanation.operation)
        return [preview_panel(workspace, text, statements.preview(workspace, text))]
    if found.needs_confirmation and query.get("confirm") != "scan":
        return [console_answer.confirm_scan(text, found)]
    page = statements.read_page(workspace, text, found.page, query.get("after"))
    known = workspace.map_of(found.explanation.table)
    return [console_answer.result_panel(text, found, page, known, query.get("confirm"))]


def _failed(workspace: Workspace, text: str, error: TablewrightError) -> WebPage:
    answer = [console_answer.failure_panel(error)]
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
            raise TablewrightError("a SELECT is run with Run; it needs no confirmation")
        try:
            done, units = statements.write(workspace, text, form.get("seen"))
        except ItemChanged as error:
            again = preview_panel(workspace, text, statements.preview(workspace, text), str(error))
            return _page(workspace, text, [explain_panel(found), again], status=409)
    except EndpointUnavailable:
        raise
    except TablewrightError as error:
        return _failed(workspace, text, error)
    parts = [explain_panel(found), console_answer.done_panel(done, units)]
    return _page(workspace, text, parts, kind=found.explanation.operation)


def export(workspace: Workspace, request: WebRequest) -> WebPage | WebResponse:
    """Send all items of a SELECT as a file."""
    text, kind = _statement(request.query.get("statement")), request.query.get("format", "json")
    found = statements.plan(workspace, text)
    if not found.is_read or kind not in FORMATS:
        raise TablewrightError("only the items of a SELECT can be exported, as json or csv")
    if found.needs_confirmation and request.query.get("confirm") != "scan":
        return redirect(url("/console", statement=text, run=1))  # asks
    return export_response("result", kind, statements.read_pages(workspace, text))


def _statement(text: str) -> str:
    """Return the text of a field: browsers end its lines with CR and LF.

    Raises FormRefused for one that DynamoDB would refuse, before it is parsed or shown.
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
    """Return what the word at the cursor can become."""
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
    """Return the attributes of the keys, and those of the entities."""
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
    """Return the place of the history, which the browser keeps and fills."""
    clear = aside(button("Clear", "sm", type="button"))
    about = [element("p", "kept in this browser only"), clear]
    place = element("ul.rel.body")
    return panel("History", place, about=about, class_="past", id="history", hidden="")


ROUTES = {
    ("GET", "/console"): show,
    ("POST", "/console"): run,
    ("GET", "/console/export"): export,
    ("GET", "/console/complete"): suggest,
}
