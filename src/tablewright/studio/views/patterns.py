"""Patterns: each one a typed form; reads run, writes show a preview before they are applied.

    GET   /patterns                      the list
    GET   /patterns/{label}              the form of a pattern
    GET   /patterns/{label}?id=C1        the result of a read, with the requests that it made
    POST  /patterns/{label}              the preview of a write
    POST  /patterns/{label}/write        the write, if it is still what the preview has shown

The URL of a result is the form that was submitted, so it can be kept as a bookmark. `~after` is
the cursor of a page and `~before` are those of the pages before it; `~tenant` restricts the
database to one tenant.
"""

from __future__ import annotations

from urllib.parse import urlencode

from tablewright.errors import TablewrightError, WriteRejected
from tablewright.model.pattern import AccessPattern
from tablewright.plan.inspection import entities_of
from tablewright.plan.reads.page import Page
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio.markup import preview_parts
from tablewright.studio.markup.parts import NOTHING, content, heading, note
from tablewright.studio.markup.result_parts import plain_text, result_tree
from tablewright.studio.markup.run_parts import key_conditions, measured, requests_made
from tablewright.studio.patterns.running import Ran, run
from tablewright.studio.patterns.shapes import shape_of
from tablewright.studio.views.pattern_form import AFTER, PREVIEW, PatternForm, described
from tablewright.studio.views.pattern_list import overview, pattern_list
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import Fields, WebRequest
from tablewright.studio.web.problems import missing_page
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.applying import ApplyOutcome, apply
from tablewright.studio.writes.preview import Preview, preview

BEFORE = "~before"
#: The name of a parameter that is compared with what is stored begins like this.
EXPECTED = "expected_"
#: How many pages back the links lead.
KEPT_PAGES = 20


def show_list(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the list of patterns."""
    design = workspace.design
    if design is None:
        return missing_page(request)
    wanted = request.query.get("filter")
    return _page(workspace, None, wanted, overview(design, wanted))


def show(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show the form of a pattern; with arguments, run it if it reads."""
    pattern = find_pattern(workspace, name)
    if pattern is None:
        return missing_page(request)
    wanted = request.query.get("filter")
    given = Fields([(name, value) for name, value in request.query.pairs if name != "filter"])
    if not given.pairs:
        return _page(workspace, pattern, wanted, _PatternPage(workspace, pattern, None).form())
    page = _PatternPage(workspace, pattern, given)
    return _page(
        workspace, pattern, wanted, page.form() if shape_of(pattern).writes else page.result()
    )


def show_preview(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show what a write would do."""
    pattern = find_pattern(workspace, name)
    if pattern is None or not shape_of(pattern).writes:
        return missing_page(request)
    page = _PatternPage(workspace, pattern, _without_token(request.form))
    return _page(workspace, pattern, "", page.preview())


def write(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Apply a preview, or show a new one if something has changed."""
    pattern = find_pattern(workspace, name)
    if pattern is None or not shape_of(pattern).writes:
        return missing_page(request)
    page = _PatternPage(workspace, pattern, _without_token(request.form))
    return _page(workspace, pattern, "", page.write(request.form.get(PREVIEW)))


ROUTES = {
    ("GET", "/patterns"): show_list,
    ("GET", "/patterns/{}"): show,
    ("POST", "/patterns/{}"): show_preview,
    ("POST", "/patterns/{}/write"): write,
}


def find_pattern(workspace: Workspace, name: str) -> AccessPattern | None:
    """Return the pattern with a label, or the only one with a name."""
    patterns = [] if workspace.design is None else workspace.design.patterns
    for found in patterns:
        if found.label == name:
            return found
    named = [found for found in patterns if found.name == name]
    return named[0] if len(named) == 1 else None


def _without_token(form: Fields) -> Fields:
    return Fields([(name, value) for name, value in form.pairs if name != PREVIEW])


def _page(
    workspace: Workspace, pattern: AccessPattern | None, wanted: str, content: Child
) -> WebPage:
    assert workspace.design is not None
    head = heading(
        "Patterns",
        "Every access pattern of the design as a form. Writes show what they will do before they "
        "do it.",
    )
    listed = pattern_list(workspace.design, "" if pattern is None else pattern.label, wanted)
    columns = element("div", listed, element("div", content, id="pattern"), class_="cols side")
    title = "Patterns" if pattern is None else pattern.name
    return WebPage(title, [head, columns], "Patterns")


class _PatternPage(PatternForm):
    """The page of one pattern: its form, and the result or the preview."""

    # --- reads -----------------------------------------------------------------------------------

    def result(self) -> Markup:
        """Run a read, and return its result."""
        plan, problems = self.plan()
        if plan is None:
            return self.form(problems)
        try:
            ran = run(self.database(), plan)
        except TablewrightError as error:
            return self.form({"": described(error)})
        if ran.error is not None:
            return self.article(self.inputs({"": described(ran.error)}), measured(ran))
        entities = entities_of(plan)
        requests = [(each.operation, each.body) for each in ran.exchanges]
        shown = element(
            "section",
            element("h3", "Result", class_="sh"),
            result_tree(ran.result),
            self._pager(ran),
        )
        return self.article(
            self.inputs({}),
            key_conditions(ran.exchanges, entities),
            measured(ran),
            element("div", shown, requests_made(requests), class_="cols c11 stretch top-line gap0"),
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
        return element("nav", links, class_="pager body row", aria_label="Pages")

    def _page_link(self, text: str, after: list[tuple[str, str]], before: list[str]) -> Markup:
        kept = [pair for pair in self.given.pairs if pair[0] not in (AFTER, BEFORE)]
        pairs = [*kept, *after, *((BEFORE, each) for each in before)]
        href = f"{url('/patterns/{}', self.pattern.label)}?{urlencode(pairs)}"
        return element("a", text, class_="btn", href=href)

    # --- writes ----------------------------------------------------------------------------------

    def preview(self, notice: Markup = NOTHING) -> Markup:
        """Return the preview of a write."""
        plan, problems = self.plan()
        if plan is None:
            return join([notice, self.form(problems)])
        try:
            found = preview(self.database(), plan)
        except TablewrightError as error:
            return join([notice, self.form({"": described(error)})])
        self.remarks = self._stored(found)
        token, button = "", ""
        if found.error is None and not found.is_empty and self.workspace.is_writable:
            token = self.workspace.pending.add(found, self.asked())
            count = len(found.items)
            button = f"Write {count} item{'s' * (count != 1)}"
        return join([notice, self._previewed(found, self.inputs({}, token, button, is_open=False))])

    def _stored(self, found: Preview) -> dict[str, Markup]:
        """Return what is stored for each field like `expected_version`, to use it instead."""
        stored: dict[str, str] = {}
        if isinstance(found.error, WriteRejected) and found.error.current is not None:
            stored = {name: plain_text(each) for name, each in vars(found.error.current).items()}
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
        pairs = [pair for pair in self.given.pairs if pair[0] != field]
        href = f"{url('/patterns/{}', self.pattern.label)}?{urlencode([*pairs, (field, text)])}"
        is_same = self.given.get(field) == text
        link = NOTHING if is_same else element("a", "use it", href=href)
        return element("span", f"stored now: {text} ", link)

    def _previewed(self, found: Preview, form: Child) -> Markup:
        right = element(
            "div",
            preview_parts.verdict(found),
            element("div", preview_parts.not_atomic(found), class_="body")
            if not found.is_atomic
            else NOTHING,
            preview_parts.read_only(self.workspace.is_writable),
            preview_parts.differences(found),
            class_="pv",
            aria_live="polite",
        )
        return self.article(
            element("div", element("div", form), right, class_="cols split"),
            preview_parts.touched(found),
            self.code(found.requests),
            units=preview_parts.units_text(found),
        )

    def write(self, token: str) -> Markup:
        """Apply a preview, or return a new one that says why."""
        pending = self.workspace.pending.take(token)
        if pending is None:
            return self.preview(preview_parts.not_written("The preview is not known any more."))
        if not self.asked().is_same(pending.asked):
            return self.preview(
                preview_parts.not_written("The form is another one than that of the preview.")
            )
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
        done = element("div", remark, class_="body", role="status")
        shown = element("section", element("h3", "Result", class_="sh"), result_tree(found.result))
        return self.article(
            element(
                "div",
                element("div", self.inputs({}, is_open=False)),
                element("div", done, shown, class_="pv"),
                class_="cols split",
            ),
            preview_parts.touched(found),
            self.code(found.requests),
            units=preview_parts.units_text(found),
        )


def _outdated(outcome: ApplyOutcome) -> Markup:
    if not outcome.done:
        return preview_parts.not_written("The data has changed since the preview.")
    text = (
        f"The data has changed since the preview. {outcome.done} of {outcome.requests} requests "
        "were applied before; this is a preview of what the plan does now."
    )
    return element("div", note([element("b", "Written in part"), text], "warn"), role="alert")
