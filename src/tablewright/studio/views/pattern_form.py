"""The form of a pattern: its inputs, what they ask for, and the same as code.

Reads and writes of `patterns` add their results. The names of inputs that are no parameters begin
with `~`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.model.database import Database
from tablewright.model.pattern import AccessPattern
from tablewright.model.tenancy import Tenancy
from tablewright.plan.plan import Plan
from tablewright.plan.reads.query import Query
from tablewright.publish.html.element import Child, Markup, element
from tablewright.studio.markup.code_parts import code_tabs
from tablewright.studio.markup.form_parts import FormState, form_fields
from tablewright.studio.markup.parts import NOTHING, note
from tablewright.studio.patterns.code.partiql import keys_in, partiql_code
from tablewright.studio.patterns.code.python import python_code
from tablewright.studio.patterns.code.requests import boto3_code, cli_code
from tablewright.studio.patterns.form_values import Submitted, read_form
from tablewright.studio.patterns.forms import Field, call, fields_of
from tablewright.studio.patterns.offers import first_values, offers
from tablewright.studio.patterns.shapes import shape_of
from tablewright.studio.views.pattern_list import operation_badge
from tablewright.studio.web.http import Fields
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.verify.failure import describe_failure

RUN, AFTER, TENANT, PREVIEW = "~run", "~after", "~tenant", "~preview"


class AskedPattern(Struct, frozen=True):
    """What a preview belongs to: the pattern, the inputs of its form, and their values."""

    label: str
    pairs: frozenset[tuple[str, str]]
    values: dict[str, Any]

    def is_same(self, other: object) -> bool:
        """Whether both ask for the same; defaults may have other values each time."""
        return (
            isinstance(other, AskedPattern)
            and self.label == other.label
            and (self.pairs == other.pairs or self.values == other.values)
        )


class PatternForm:
    """The page of one pattern, for what was given; None: with the first values."""

    def __init__(self, workspace: Workspace, pattern: AccessPattern, given: Fields | None) -> None:
        assert workspace.design is not None
        self.workspace = workspace
        self.pattern = pattern
        self.fields: tuple[Field, ...] = fields_of(pattern)
        self.given = given or Fields(first_values(workspace.design, pattern))
        self.offers = offers(workspace.design, pattern)
        #: What is stored, for fields that expect it.
        self.remarks: dict[str, Markup] = {}

    # --- the parts of the page -------------------------------------------------------------------

    def form(self, problems: dict[str, str] | None = None) -> Markup:
        """Return the form alone, perhaps with what is wrong with it."""
        return self.article(self.inputs(problems or {}))

    def article(self, *content: Child, units: str = "") -> Markup:
        tag = element("span", element("span", units, class_="tag"), class_="end")
        header = element(
            "header",
            element("h2", self.pattern.name, class_="mono"),
            operation_badge(self.pattern),
            element("p", self.pattern.doc.partition("\n")[0]),
            tag if units else NOTHING,
        )
        return element("article", header, *content, class_="panel", aria_label=self.pattern.name)

    def inputs(
        self, problems: dict[str, str], token: str = "", button: str = "", *, is_open: bool = True
    ) -> Markup:
        state = FormState(self.given, problems, self.offers, self.remarks)
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

    def submitted(self) -> Submitted:
        return read_form(self.fields, self.given)

    def plan(self) -> tuple[Plan[Any] | None, dict[str, str]]:
        """Return the plan, or what is wrong with the form."""
        submitted = self.submitted()
        if submitted.problems:
            return None, submitted.problems
        try:
            plan: Plan[Any] = call(self.pattern, submitted.values)
            after = self.given.get(AFTER)
            return (plan.after(after) if after and isinstance(plan, Query) else plan), {}
        except TablewrightError as error:
            return None, {"": str(error)}
        except Exception as error:  # in the code of the pattern
            return None, {"": describe_failure(error)}

    def database(self) -> Database:
        database = self.workspace.database()
        tenant, tenancy = self.given.get(TENANT), _tenancy(self.workspace)
        if tenant and tenancy is not None:
            return database.for_tenant(**{tenancy.tenant: tenant})
        return database

    def code(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> Markup:
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
                    self.submitted().values,
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

    def asked(self) -> AskedPattern:
        return AskedPattern(
            self.pattern.label,
            frozenset(self.given.pairs),
            {TENANT: self.given.get(TENANT), **self.submitted().values},
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


def described(error: TablewrightError) -> str:
    return f"{type(error).__name__}: {error}"
