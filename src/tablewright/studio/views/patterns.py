"""Patterns: each one a typed form; reads run, writes show a preview before they are applied.

    GET   /patterns                      the list
    GET   /patterns/{label}              the form of a pattern
    GET   /patterns/{label}?id=C1        the result of a read, with the requests that it made
    POST  /patterns/{label}              the preview of a write
    POST  /patterns/{label}/write        the write, if nothing has changed since the preview

The URL of a result is the form that was submitted, so it can be kept as a bookmark. `~after` is
the cursor of a page and `~before` are those of the pages before it; `~tenant` restricts the
database to one tenant.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tablewright.errors import TablewrightError, WriteRejected
from tablewright.model.pattern import AccessPattern
from tablewright.plan.inspection import entities_of
from tablewright.plan.reads.page import Page
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.results import as_json, json_text
from tablewright.presentation.values import content, plural
from tablewright.studio.markup import preview_parts
from tablewright.studio.markup.parts import NOTHING, button_link, heading, note
from tablewright.studio.markup.preview_parts import not_written
from tablewright.studio.markup.result_parts import (
    key_conditions,
    measured,
    requests_made,
    result_tree,
)
from tablewright.studio.patterns.running import Ran, run, shape_of
from tablewright.studio.views.design import shown_design
from tablewright.studio.views.pattern_form import (
    AFTER,
    PREVIEW,
    PatternForm,
    described,
    overview,
    pattern_list,
)
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import WebRequest, url
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.applying import ApplyOutcome, apply
from tablewright.studio.writes.preview import Preview, preview

ABOUT = (
    "Every access pattern of the design as a form. Writes show what they will do before they do it."
)
BEFORE = "~before"
#: The beginning of the names of parameters that are compared with stored values.
EXPECTED = "expected_"
#: The maximum number of earlier pages that a URL contains.
KEPT_PAGES = 20


def show_list(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the list of patterns."""
    listed = overview(shown_design(workspace), request.query.get("filter"))
    return WebPage("Patterns", [heading("Patterns", ABOUT), listed], "Patterns")


def show(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show the form of a pattern; with arguments, run it if it reads."""
    pattern = find_pattern(workspace, name)
    given = request.query.without("filter")
    page = _PatternPage(workspace, pattern, given if given.pairs else None)
    is_run = given.pairs and not shape_of(pattern).is_write
    shown = page.result() if is_run else page.form()
    return _page(workspace, pattern, request.query.get("filter"), shown)


def show_preview(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show what a write would do."""
    page = _writing(workspace, request, name)
    return _page(workspace, page.pattern, "", page.preview())


def write(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Apply a preview, or show a new one if something has changed."""
    page = _writing(workspace, request, name)
    return _page(workspace, page.pattern, "", page.write(request.form.get(PREVIEW)))


def _writing(workspace: Workspace, request: WebRequest, name: str) -> _PatternPage:
    """Return the page of a pattern that writes, for a submitted form without its token."""
    pattern = find_pattern(workspace, name)
    if not shape_of(pattern).is_write:
        raise MissingPage
    return _PatternPage(workspace, pattern, request.form.without(PREVIEW))


ROUTES = {
    ("GET", "/patterns"): show_list,
    ("GET", "/patterns/{}"): show,
    ("POST", "/patterns/{}"): show_preview,
    ("POST", "/patterns/{}/write"): write,
}


def find_pattern(workspace: Workspace, name: str) -> AccessPattern:
    """Return the pattern with a label, or the only one with a name. Raises MissingPage."""
    patterns = shown_design(workspace).patterns
    labelled = [found for found in patterns if found.label == name]
    named = labelled or [found for found in patterns if found.name == name]
    if len(named) != 1:
        raise MissingPage
    return named[0]


def _page(workspace: Workspace, pattern: AccessPattern, wanted: str, content: Child) -> WebPage:
    listed = pattern_list(shown_design(workspace), pattern.label, wanted)
    columns = element("div.cols.side", listed, element("div", content, id="pattern"))
    return WebPage(pattern.name, [heading("Patterns", ABOUT), columns], "Patterns")


class _PatternPage(PatternForm):
    """The page of one pattern: its form, and the result or the preview."""

    # --- reads -----------------------------------------------------------------------------------

    def result(self) -> Markup:
        """Run a read, and return its result."""
        plan, problems = self.plan()
        if plan is None:
            return self.form(problems)
        try:
            self.workspace.require_admitted(plan)
            ran = run(self.database(), plan)
        except TablewrightError as error:
            return self.form({"": described(error)})
        if ran.error is not None:
            return self.article(self.inputs({"": described(ran.error)}), measured(ran))
        entities = entities_of(plan)
        requests = [(each.operation, each.body) for each in ran.exchanges]
        columns = [_result(ran.result, self._pager(ran)), requests_made(requests)]
        return self.article(
            self.inputs({}),
            key_conditions(ran.exchanges, entities),
            measured(ran),
            element("div.cols.c11.stretch.top-line.gap0", columns),
            self.code(requests),
        )

    def _pager(self, ran: Ran) -> Markup:
        """Return the links to the pages before and after."""
        cursor = ran.result.next_cursor if isinstance(ran.result, Page) else None
        earlier, current = self.given.all(BEFORE), self.given.get(AFTER)
        if cursor is None and not current:
            return NOTHING
        links = []
        if current:
            back = [(AFTER, earlier[-1])] if earlier and earlier[-1] else []
            links.append(self._page_link("← previous", back, earlier[:-1]))
        if cursor is not None:
            following = [*earlier, current][-KEPT_PAGES:] if current or earlier else [""]
            links.append(self._page_link("next →", [(AFTER, cursor)], following))
        return element("nav.pager.body.row", links, aria_label="Pages")

    def _page_link(self, text: str, after: list[tuple[str, str]], before: list[str]) -> Markup:
        pairs = [*self.given.without(AFTER, BEFORE).pairs, *after]
        pairs += [(BEFORE, each) for each in before]
        return button_link(text, self._url(pairs))

    def _url(self, pairs: list[tuple[str, str]]) -> str:
        return f"{url('/patterns/{}', self.pattern.label)}?{urlencode(pairs)}"

    # --- writes ----------------------------------------------------------------------------------

    def preview(self, notice: Markup = NOTHING) -> Markup:
        """Return the preview of a write."""
        plan, problems = self.plan()
        if plan is None:
            return join([notice, self.form(problems)])
        try:
            self.workspace.require_admitted(plan)
            found = preview(self.database(), plan)
        except TablewrightError as error:
            return join([notice, self.form({"": described(error)})])
        self.remarks = self._stored(found)
        is_writable = self.workspace.is_writable
        token = self.workspace.pending.add(found, self.asked(), is_writable=is_writable)
        button = f"Write {plural(len(found.items), 'item')}" if token else ""
        form = self.inputs({}, token, button, is_open=False)
        aside = preview_parts.not_atomic(found)
        right = preview_parts.column(found, aside, is_writable=is_writable)
        return join([notice, self._touching(found, form, right)])

    def _stored(self, found: Preview) -> dict[str, Markup]:
        """Return the stored value for each field like `expected_version`, with a link to use it."""
        stored: dict[str, str] = {}
        if isinstance(found.error, WriteRejected) and found.error.current is not None:
            stored = {name: json_text(each) for name, each in as_json(found.error.current).items()}
        for check in found.checks:
            for clause in check.clauses:
                for name, value in clause.stored.items():
                    if value is not None:
                        stored[check.what.attribute(name)] = content(value)
        return {
            field: self._stored_remark(field, text)
            for name, text in stored.items()
            if (field := f"{EXPECTED}{name}") in self.pattern.parameters
        }

    def _stored_remark(self, field: str, text: str) -> Markup:
        href = self._url([*self.given.without(field).pairs, (field, text)])
        is_same = self.given.get(field) == text
        link = NOTHING if is_same else element("a", "use it", href=href)
        return element("span", f"stored now: {text} ", link)

    def _touching(self, found: Preview, form: Markup, right: Markup) -> Markup:
        """Return the page of a write: its form, what stands beside it, and what it touches."""
        return self.article(
            element("div.cols.split", element("div", form), right),
            preview_parts.touched(found),
            self.code(found.requests),
            units=preview_parts.units_text(found),
        )

    def write(self, token: str) -> Markup:
        """Apply a preview; if that fails, return a new one with the reason."""
        pending = self.workspace.pending.take(token)
        if pending is None:
            return self.preview(not_written("The preview is not known any more."))
        if not self.asked().is_same(pending.asked):
            return self.preview(not_written("The form is another one than that of the preview."))
        try:
            outcome = apply(pending.preview, self.workspace.transport)
        except TablewrightError as error:
            return self.preview(preview_parts.failed(error))
        if outcome.is_outdated:
            return self.preview(_outdated(outcome))
        return self._written(pending.preview, outcome)

    def _written(self, found: Preview, outcome: ApplyOutcome) -> Markup:
        expected = found.write_units
        units = "as previewed" if outcome.write_units == expected else f"{expected:g} previewed"
        text = f"{preview_parts.totals(found)}: {outcome.write_units:g} write units, {units}."
        remark = note([element("b", "Written"), element("span", text)], "good")
        done = element("div.body", remark, role="status")
        right = element("div.pv", done, _result(found.result))
        return self._touching(found, self.inputs({}, is_open=False), right)


def _result(result: Any, *below: Markup) -> Markup:
    return element("section", element("h3.sh", "Result"), result_tree(result), *below)


def _outdated(outcome: ApplyOutcome) -> Markup:
    if not outcome.done:
        return not_written("The data has changed since the preview.")
    text = (
        f"The data has changed since the preview. {outcome.done} of {outcome.requests} requests "
        "were applied before; this is a preview of what the plan does now."
    )
    return element("div", note([element("b", "Written in part"), text], "warn"), role="alert")
