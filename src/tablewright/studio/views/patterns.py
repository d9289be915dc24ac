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

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.model.database import Database
from tablewright.model.pattern import AccessPattern
from tablewright.model.tenancy import Tenancy
from tablewright.plan.plan import Plan as AnyPlan
from tablewright.plan.reads.page import Page as ResultPage
from tablewright.plan.reads.query import Query
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio import preview_parts
from tablewright.studio.applying import Outcome, apply
from tablewright.studio.code.partiql import keys_in, partiql_code
from tablewright.studio.code.python import python_code
from tablewright.studio.code.requests import boto3_code, cli_code
from tablewright.studio.code_parts import code_tabs
from tablewright.studio.form_parts import FormState, form_fields
from tablewright.studio.form_values import Submitted, read_form
from tablewright.studio.forms import Field, call, fields_of
from tablewright.studio.frame import Page
from tablewright.studio.http import Fields, Request
from tablewright.studio.offers import first_values, offers
from tablewright.studio.parts import NOTHING, heading, note
from tablewright.studio.preview import Preview, preview
from tablewright.studio.problems import missing_page
from tablewright.studio.result_parts import result_tree
from tablewright.studio.run_parts import key_conditions, measured, requests_made
from tablewright.studio.running import Ran, run
from tablewright.studio.shapes import shape_of
from tablewright.studio.url import url
from tablewright.studio.views.pattern_list import operation_badge, pattern_list
from tablewright.studio.workspace import Workspace

RUN, AFTER, BEFORE, TENANT, PREVIEW = "~run", "~after", "~before", "~tenant", "~preview"
#: How many pages back the links lead.
KEPT_PAGES = 20


def show_list(workspace: Workspace, request: Request) -> Page:
    """Show the list of patterns."""
    design = workspace.design
    if design is None:
        return missing_page(request)
    about = note("Choose a pattern: its parameters become a form.")
    return _page(workspace, None, request.query.get("filter"), element("div", about))


def show(workspace: Workspace, request: Request, name: str) -> Page:
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


def show_preview(workspace: Workspace, request: Request, name: str) -> Page:
    """Show what a write would do."""
    pattern = find_pattern(workspace, name)
    if pattern is None or not shape_of(pattern).writes:
        return missing_page(request)
    page = _PatternPage(workspace, pattern, _without_token(request.form))
    return _page(workspace, pattern, "", page.preview())


def write(workspace: Workspace, request: Request, name: str) -> Page:
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


def _page(workspace: Workspace, pattern: AccessPattern | None, wanted: str, content: Child) -> Page:
    assert workspace.design is not None
    head = heading(
        "Patterns",
        "Every access pattern of the design as a form. Writes show what they will do before they "
        "do it.",
    )
    listed = pattern_list(workspace.design, "" if pattern is None else pattern.label, wanted)
    columns = element("div", listed, element("div", content, id="pattern"), class_="cols side")
    title = "Patterns" if pattern is None else pattern.name
    return Page(title, [head, columns], "Patterns")


class _Asked(Struct, frozen=True):
    """What a preview belongs to: the pattern, the inputs of its form, and their values."""

    label: str
    pairs: frozenset[tuple[str, str]]
    values: dict[str, Any]

    def is_same(self, other: object) -> bool:
        """Whether both ask for the same; defaults may have other values each time."""
        return (
            isinstance(other, _Asked)
            and self.label == other.label
            and (self.pairs == other.pairs or self.values == other.values)
        )


class _PatternPage:
    """The page of one pattern, for what was given; None: with the first values."""

    def __init__(self, workspace: Workspace, pattern: AccessPattern, given: Fields | None) -> None:
        assert workspace.design is not None
        self.workspace = workspace
        self.pattern = pattern
        self.fields: tuple[Field, ...] = fields_of(pattern)
        self.is_given = given is not None
        self.given = given or Fields(first_values(workspace.design, pattern))
        self.offers = offers(workspace.design, pattern)

    # --- the parts of the page -------------------------------------------------------------------

    def form(self, problems: dict[str, str] | None = None) -> Markup:
        """Return the form alone, perhaps with what is wrong with it."""
        return self._article(self._form(problems or {}))

    def _article(self, *content: Child, units: str = "") -> Markup:
        tag = element("span", element("span", units, class_="tag"), class_="end")
        header = element(
            "header",
            element("h2", self.pattern.name, class_="mono"),
            operation_badge(self.pattern),
            element("p", self.pattern.doc.partition("\n")[0]),
            tag if units else NOTHING,
        )
        return element("article", header, *content, class_="panel", aria_label=self.pattern.name)

    def _form(
        self, problems: dict[str, str], token: str = "", button: str = "", *, is_open: bool = True
    ) -> Markup:
        state = FormState(self.given, problems, self.offers)
        whole = problems.get("")
        content = [
            note(whole, "bad") if whole else NOTHING,
            form_fields(self.fields, state),
            self._tenant(),
        ]
        target = url("/patterns/{}", self.pattern.label)
        if not shape_of(self.pattern).writes:
            hidden = element("input", type="hidden", name=RUN, value="1")
            buttons = element("button", "Run ", element("kbd", "Ctrl ↵"), class_="btn go", id="run")
            return element(
                "form", hidden, content, element("div", buttons, class_="row"),
                class_="body", action=target, **_swap("get", target),
            )  # fmt: skip
        again = "Preview again" if token or not is_open else "Preview"
        shown = [element("button", again, class_="btn" if button else "btn go", id="run")]
        if button:
            write = f"{target}/write"
            keys = element("kbd", "Ctrl ↵")
            shown.append(
                element(
                    "button",
                    f"{button} ",
                    keys,
                    class_="btn go",
                    id="write",
                    formaction=write,
                    **_swap("post", write),
                )
            )
        kept = element("input", type="hidden", name=PREVIEW, value=token) if token else NOTHING
        return element(
            "form", kept, content, element("div", shown, class_="row"),
            class_="body", method="post", action=target, **_swap("post", target),
        )  # fmt: skip

    def _tenant(self) -> Markup:
        """Return the field of the tenant, if the design has tenants."""
        tenancy = _tenancy(self.workspace)
        if tenancy is None:
            return NOTHING
        return element(
            "div",
            element("label", "run for one tenant: ", tenancy.tenant, for_="tenant"),
            element("input", id="tenant", name=TENANT, class_="mono", autocomplete="off",
                    value=self.given.get(TENANT), aria_describedby="tenant-h"),
            element("span", "empty: without restriction", class_="hint", id="tenant-h"),
            class_="field tenant",
        )  # fmt: skip

    # --- what the form asks for ------------------------------------------------------------------

    def _submitted(self) -> Submitted:
        return read_form(self.fields, self.given)

    def _plan(self) -> tuple[AnyPlan[object] | None, dict[str, str]]:
        """Return the plan, or what is wrong with the form."""
        submitted = self._submitted()
        if submitted.problems:
            return None, submitted.problems
        try:
            plan: AnyPlan[object] = call(self.pattern, submitted.values)
            after = self.given.get(AFTER)
            return (plan.after(after) if after and isinstance(plan, Query) else plan), {}
        except TablewrightError as error:
            return None, {"": str(error)}

    def _database(self) -> Database:
        database = self.workspace.database()
        tenant, tenancy = self.given.get(TENANT), _tenancy(self.workspace)
        if tenant and tenancy is not None:
            return database.for_tenant(**{tenancy.tenant: tenant})
        return database

    def _code(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> Markup:
        """Return the same as code to copy."""
        workspace, tenancy = self.workspace, _tenancy(self.workspace)
        assert workspace.design is not None
        tenant = self.given.get(TENANT)
        return code_tabs(
            {
                "Python": python_code(
                    workspace.design,
                    workspace.target,
                    self.pattern,
                    self._submitted().values,
                    after=self.given.get(AFTER),
                    tenant=(tenancy.tenant, tenant) if tenant and tenancy else None,
                    with_times=self._has_times(self.fields),
                ),
                "boto3": boto3_code(requests, workspace.target),
                "AWS CLI": cli_code(requests, workspace.target),
                "PartiQL": partiql_code(requests, keys_in(workspace.maps)),
            }
        )

    def _has_times(self, fields: Sequence[Field]) -> bool:
        """Whether the form gives what the library would set."""
        return any(
            bool(field.is_stamp and self.given.get(field.name)) or self._has_times(field.fields)
            for field in fields
        )

    # --- reads -----------------------------------------------------------------------------------

    def result(self) -> Markup:
        """Run a read, and return its result."""
        plan, problems = self._plan()
        if plan is None:
            return self.form(problems)
        try:
            ran = run(self._database(), plan)
        except TablewrightError as error:
            return self.form({"": _described(error)})
        if ran.error is not None:
            return self._article(self._form({"": _described(ran.error)}), measured(ran))
        entities = plan._entities()
        requests = [(each.operation, each.body) for each in ran.exchanges]
        shown = element(
            "section",
            element("h3", "Result", class_="sh"),
            result_tree(ran.result),
            self._pager(ran),
        )
        return self._article(
            self._form({}),
            key_conditions(ran.exchanges, entities),
            measured(ran),
            element("div", shown, requests_made(requests), class_="cols c11 stretch top-line gap0"),
            self._code(requests),
        )

    def _pager(self, ran: Ran) -> Markup:
        """Return the links to the pages before and after."""
        cursor = ran.result.next_cursor if isinstance(ran.result, ResultPage) else None
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
        plan, problems = self._plan()
        if plan is None:
            return join([notice, self.form(problems)])
        try:
            found = preview(self._database(), plan)
        except TablewrightError as error:
            return join([notice, self.form({"": _described(error)})])
        token, button = "", ""
        if found.error is None and not found.is_empty and self.workspace.is_writable:
            token = self.workspace.pending.add(found, self._asked())
            count = len(found.items)
            button = f"Write {count} item{'s' * (count != 1)}"
        return join([notice, self._previewed(found, self._form({}, token, button, is_open=False))])

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
        return self._article(
            element("div", element("div", form), right, class_="cols split"),
            preview_parts.touched(found),
            self._code(found.requests),
            units=preview_parts.units_text(found),
        )

    def _asked(self) -> _Asked:
        return _Asked(
            self.pattern.label,
            frozenset(self.given.pairs),
            {TENANT: self.given.get(TENANT), **self._submitted().values},
        )

    def write(self, token: str) -> Markup:
        """Apply a preview, or return a new one that says why."""
        pending = self.workspace.pending.take(token)
        if pending is None:
            return self.preview(preview_parts.not_written("The preview is not known any more."))
        if not self._asked().is_same(pending.asked):
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

    def _written(self, found: Preview, outcome: Outcome) -> Markup:
        done = element(
            "div",
            note(
                [
                    element("b", "Written"),
                    element(
                        "span",
                        f"{preview_parts.totals(found)}: {outcome.write_units:g} write units, as "
                        "previewed.",
                    ),
                ],
                "good",
            ),
            class_="body",
            role="status",
        )
        shown = element("section", element("h3", "Result", class_="sh"), result_tree(found.result))
        return self._article(
            element(
                "div",
                element("div", self._form({}, is_open=False)),
                element("div", done, shown, class_="pv"),
                class_="cols split",
            ),
            preview_parts.touched(found),
            self._code(found.requests),
            units=preview_parts.units_text(found),
        )


def _tenancy(workspace: Workspace) -> Tenancy | None:
    found = [table.__tenancy__ for table in workspace.tables if table.__tenancy__ is not None]
    return found[0] if found else None


def _swap(method: str, target: str) -> dict[str, str]:
    """Return what lets htmx replace the pattern alone."""
    return {
        f"hx_{method}": target,
        "hx_select": "#pattern",
        "hx_target": "#pattern",
        "hx_swap": "outerHTML",
        **({"hx_push_url": "true"} if method == "get" else {}),
    }


def _described(error: TablewrightError) -> str:
    return f"{type(error).__name__}: {error}"


def _outdated(outcome: Outcome) -> Markup:
    if not outcome.done:
        return preview_parts.not_written("The data has changed since the preview.")
    text = (
        f"The data has changed since the preview. {outcome.done} of {outcome.requests} requests "
        "were applied before; this is a preview of what the plan does now."
    )
    return element("div", note([element("b", "Written in part"), text], "warn"), role="alert")
