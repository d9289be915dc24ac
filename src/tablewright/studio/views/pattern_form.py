"""The list of patterns, and the form of one: its inputs, their key conditions, and its code.

The views in `patterns` add results and previews. The names of inputs that are no parameters begin
with `~`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.model.databases.database import Database
from tablewright.model.pattern import AccessPattern
from tablewright.model.tenancy import Tenancy
from tablewright.plan.plan import Plan
from tablewright.plan.reads.include import PAGED
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.studio.markup import parts
from tablewright.studio.markup.form_parts import FormState, confirm_target, form_fields
from tablewright.studio.markup.parts import NOTHING, note
from tablewright.studio.markup.result_parts import code_tabs
from tablewright.studio.patterns.form_values import Submitted, first_values, offers, read_form
from tablewright.studio.patterns.forms import Field, call, fields_of
from tablewright.studio.patterns.partiql_code import keys_in, partiql_code
from tablewright.studio.patterns.programs import boto3_code, cli_code, python_code
from tablewright.studio.patterns.running import shape_of
from tablewright.studio.web.http import Fields, url
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design
from tablewright.verify.design import describe_failure
from tablewright.wire.operations import READS

#: Short names of operations in the list.
_SHORT = {
    "TransactWriteItems": "Transact",
    "PutItem": "Put",
    "UpdateItem": "Update",
    "DeleteItem": "Delete",
    "BatchWriteItem": "Batch",
}
RUN, AFTER, TENANT, PREVIEW = "~run", "~after", "~tenant", "~preview"


class AskedPattern(Struct, frozen=True):
    """What identifies a preview: the pattern, the inputs of its form, and their values."""

    label: str
    pairs: frozenset[tuple[str, str]]
    values: dict[str, Any]

    def is_same(self, other: object) -> bool:
        """Return whether both ask for the same; generated defaults may differ."""
        return (
            isinstance(other, AskedPattern)
            and self.label == other.label
            and (self.pairs == other.pairs or self.values == other.values)
        )


class PatternForm:
    """The page of one pattern with the given inputs; None for the initial values."""

    def __init__(self, workspace: Workspace, pattern: AccessPattern, given: Fields | None) -> None:
        assert workspace.design is not None
        self.workspace = workspace
        self.pattern = pattern
        self.fields: tuple[Field, ...] = fields_of(pattern)
        self.given = given or Fields(first_values(workspace.design, pattern))
        self.offers = offers(workspace.design, pattern)
        #: The stored values for fields such as `expected_version`.
        self.remarks: dict[str, Markup] = {}

    # --- the parts of the page -------------------------------------------------------------------

    def form(self, problems: dict[str, str] | None = None) -> Markup:
        """Return the form, with its problems."""
        return self.article(self.inputs(problems or {}))

    def article(self, *content: Child, units: str = "") -> Markup:
        name, about = self.pattern.name, self.pattern.doc.partition("\n")[0]
        header = element(
            "header",
            element("h2.mono", name),
            operation_badge(self.pattern),
            element("p", about),
            parts.aside(parts.tag(units)) if units else NOTHING,
        )
        return element("article.panel", header, *content, aria_label=name)

    def inputs(
        self, problems: dict[str, str], token: str = "", button: str = "", *, is_open: bool = True
    ) -> Markup:
        state = FormState(self.given, problems, self.offers, self.remarks)
        whole = problems.get("")
        target = url("/patterns/{}", self.pattern.label)
        keys = element("kbd", "Ctrl ↵")
        if not shape_of(self.pattern).is_write:
            kept = parts.hidden(RUN, "1")
            shown = [parts.button(["Run ", keys], "go", id="run")]
            sent = parts.swap("#pattern", hx_get=target)
        else:
            kept = parts.hidden(PREVIEW, token) if token else NOTHING
            again = "Preview again" if token or not is_open else "Preview"
            shown = [parts.button(again, "" if button else "go", id="run")]
            if button:
                write = f"{target}/write"
                swap = parts.swap("#pattern", push=False, hx_post=write)
                text, kind = (
                    [f"{button}{self.workspace.place} ", keys],
                    self.workspace.button_kind(),
                )
                shown.append(parts.button(text, kind, id="write", formaction=write, **swap))
            sent = {"method": "post", **parts.swap("#pattern", push=False, hx_post=target)}
        return element(
            "form.body",
            kept,
            note(whole, "bad") if whole else NOTHING,
            form_fields(self.fields, state),
            self._tenant(),
            confirm_target(self.workspace) if button else NOTHING,
            element("div.row", shown),
            action=target,
            **sent,
        )

    def _tenant(self) -> Markup:
        """Return the field of the tenant, if the design has tenants."""
        tenancy = _tenancy(self.workspace)
        if tenancy is None:
            return NOTHING
        label = element("label", "run for one tenant: ", tenancy.tenant, for_="tenant")
        box = element("input.mono", id="tenant", name=TENANT, autocomplete="off",
                      value=self.given.get(TENANT), aria_describedby="tenant-h")  # fmt: skip
        hint = element("span.hint", "empty: without restriction", id="tenant-h")
        return element("div.field.tenant", label, box, hint)

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
            return (plan.after(after) if after and isinstance(plan, PAGED) else plan), {}
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
        """Return the call of the pattern as code to copy."""
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
        """Return whether the form has values that the library would set."""
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


def described(error: TablewrightError) -> str:
    return f"{type(error).__name__}: {error}"


# --- the list -----------------------------------------------------------------------------------


def pattern_list(design: Design, current: str, wanted: str) -> Markup:
    """Return the patterns beside the form of one, if they contain what is wanted."""
    found = [each for each in design.patterns if _matches(each, wanted)]
    reads = [each for each in found if not shape_of(each).is_write]
    writes = [each for each in found if shape_of(each).is_write]
    lists = [_group("Reads", reads, current), _group("Writes", writes, current)]
    form = _filter(design, wanted, url("/patterns/{}", current))
    listed = element("div.plist", lists if found else _NONE, id="plist")
    return element("aside.panel", form, listed, aria_label="Patterns")


_NONE = element("p.body.muted", "No pattern has this name.")


def _filter(design: Design, wanted: str, page: str) -> Markup:
    """Return the input that filters the patterns of a page while one types."""
    swap = parts.swap("#plist", push=False, hx_get=page, hx_trigger="input delay:150ms")
    box = element(
        "input.mono", id="pf", name="filter", type="search", value=wanted,
        placeholder=f"Filter {len(design.patterns)} patterns", autocomplete="off", **swap,
    )  # fmt: skip
    label = element("label.vh", "Filter patterns", for_="pf")
    return element("form.body.pf", label, box, action="/patterns")


def _matches(pattern: AccessPattern, wanted: str) -> bool:
    text = f"{pattern.label} {pattern.doc} {shape_of(pattern).operation}".lower()
    return all(word in text for word in wanted.lower().split())


def _group(title: str, found: list[AccessPattern], current: str) -> Markup:
    """Return the patterns, by their modules if they are of several."""
    if not found:
        return NOTHING
    modules = dict.fromkeys(each.function.__module__ for each in found)
    lists = []
    for module in modules:
        if len(modules) > 1:
            lists.append(element("h3", module.rpartition(".")[2]))
        own = [each for each in found if each.function.__module__ == module]
        lists.append(parts.listed(_link(each, current) for each in own))
    return join([element("h2", f"{title} · {len(found)}"), *lists])


def _link(pattern: AccessPattern, current: str) -> Markup:
    return element(
        "a",
        element("span", breakable(pattern.name)),
        operation_badge(pattern, is_short=True),
        href=url("/patterns/{}", pattern.label),
        aria_current="page" if pattern.label == current else None,
    )


def breakable(name: str) -> Markup:
    """Return a name that may be broken after each underscore."""
    pieces = name.split("_")
    return join([each + "_" * (n < len(pieces) - 1) for n, each in enumerate(pieces)],
                element("wbr"))  # fmt: skip


def operation_badge(pattern: AccessPattern, *, is_short: bool = False) -> Markup:
    """Return the operation of a pattern."""
    shape = shape_of(pattern)
    names = shape.operation.split(" + ")
    if is_short:
        wanted = [name for name in names if (name not in READS) == shape.is_write]
        names = [_SHORT.get(name, name) for name in wanted[:1]]
    return element("span", " + ".join(names), class_="op w" if shape.is_write else "op")


def overview(design: Design, wanted: str) -> Markup:
    """Return what each wanted pattern does, for the page without a chosen one."""
    rows = []
    for each in design.patterns:
        if _matches(each, wanted):
            href = url("/patterns/{}", each.label)
            link = element("a.mono", breakable(each.name), href=href)
            about, index = each.doc.partition("\n")[0], shape_of(each).index or ""
            rows.append([link, about, operation_badge(each), index])
    caption, columns = "Access patterns", ("Pattern", "What it does", "Operation", "Index")
    table = parts.data_table(caption, columns, rows, kinds={"Index": "mono"})
    listed = element("div", parts.scroll(caption, table, "flat") if rows else _NONE, id="plist")
    return parts.region(caption, _filter(design, wanted, "/patterns"), listed)
