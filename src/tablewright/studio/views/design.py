"""The design: key map, diagram, findings, documents; its patterns with their costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tablewright.cost import CostReport, PatternCost, PatternUnits
from tablewright.cost.report import units_of
from tablewright.errors import InvalidValue, TablewrightError
from tablewright.model.pattern import AccessPattern
from tablewright.presentation.blocks import (
    Block,
    Cell,
    Chart,
    ErdDiagram,
    KeyMapDiagram,
    Links,
    StateDiagram,
)
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.erd import erd
from tablewright.presentation.html_document import chart_table, rendered
from tablewright.presentation.states import states_of
from tablewright.presentation.values import plural
from tablewright.publish import document, html_document
from tablewright.publish.advice import Finding
from tablewright.publish.advice.finding import Severity
from tablewright.publish.charts import PATTERN_HEADER, pattern_chart
from tablewright.publish.document import PATTERN_NOTE, json_document
from tablewright.publish.iam import AwsAccount, policies
from tablewright.publish.infrastructure import cdk, cloudformation, create_table_requests, terraform
from tablewright.publish.workbench import nosql_workbench
from tablewright.studio.markup import parts
from tablewright.studio.markup.parts import button_link, panel
from tablewright.studio.views.pattern_form import breakable
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import TEXT, Fields, WebRequest, WebResponse, url
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design

SECTIONS = (("Keys and entities", "/design"), ("Access patterns", "/design/patterns"))
LINKS = Links(
    entity=lambda entity: url("/items/{}", entity.table.name, entity=entity.name),
    pattern=lambda label: url("/patterns/{}", label),
)
#: The columns of the access patterns.
HEADER = (
    *("Pattern", "Entity", "Operation, Table/Index", "Key condition"),
    *("Units", "Why efficient", "Calls a second", "Cost a month"),
)
#: The sign of each severity, and its class.
SIGNS: dict[Severity, tuple[str, str]] = {
    "error": ("✕", "del"),
    "warning": ("!", "mod"),
    "note": ("i", ""),
}


class GeneratedDocument(Struct, frozen=True):
    """A file that is generated from a design."""

    name: str
    title: str
    #: What follows the name of the design in the name of the file.
    suffix: str
    #: Returns its text, or what it has as JSON.
    content: Callable[[Design], Any]

    def file_name(self, design: Design) -> str:
        return f"{design.name}{self.suffix}"

    def write(self, design: Design) -> str:
        """Return the text of the file."""
        found = self.content(design)
        return found if isinstance(found, str) else json_document(found)


def _policies(design: Design) -> Any:
    return policies(design, AwsAccount("*", "*", "aws"))


def _workbench(design: Design) -> Any:
    return nosql_workbench(design).model


DOCUMENTS = (
    GeneratedDocument("markdown", "Document (Markdown)", ".md", document),
    GeneratedDocument("html", "Document (one page)", ".html", html_document),
    GeneratedDocument("cloudformation", "CloudFormation", ".template.json", cloudformation),
    GeneratedDocument("cdk", "CDK (Python)", "_cdk.py", cdk),
    GeneratedDocument("terraform", "Terraform", ".tf", terraform),
    GeneratedDocument("boto3", "CreateTable (JSON)", ".create-table.json", create_table_requests),
    GeneratedDocument("iam", "IAM policies", ".policies.json", _policies),
    GeneratedDocument("nosql-workbench", "NoSQL Workbench", ".nosql-workbench.json", _workbench),
)
BY_NAME = {each.name: each for each in DOCUMENTS}


def show(workspace: Workspace, _: WebRequest) -> WebPage:
    """Show the key map, the entities, the findings and the documents."""
    design = shown_design(workspace)
    shown: dict[str, Block] = {}
    for table in (table.__table__ for table in design.tables):
        shown[f"Keys of {table.name}"] = KeyMapDiagram(table)
        shown[f"Entities of {table.name}"] = ErdDiagram(table.name, erd(table.entities))
        for states in (states for entity in table.entities for states in states_of(entity)):
            shown[states.title] = StateDiagram(states)
    drawn = rendered(list(shown.values()), LINKS)
    content = [_head(design, "/design")]
    content += [panel(title, each) for title, each in zip(shown, drawn, strict=True)]
    below = element("div.cols.c21", _findings(workspace, design), _documents(design))
    return WebPage(design.name, [*content, below], "Design")


def shown_design(workspace: Workspace) -> Design:
    """Return the design. Raises MissingPage if the studio has none."""
    if workspace.design is None:
        raise MissingPage
    return workspace.design


def show_patterns(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show every access pattern with its request, its units and its cost."""
    design = shown_design(workspace)
    problem = parts.NOTHING
    try:
        calls = calls_in(request.query, design)
    except InvalidValue as error:
        calls, problem = None, parts.note(str(error), "bad")
    matrix = _matrix(design, workspace.analysis.costs(calls))
    content = [_head(design, "/design/patterns"), problem, matrix]
    return WebPage(f"Access patterns of {design.name}", content, "Design")


# --- patterns and their costs -------------------------------------------------------------------


def _matrix(design: Design, report: CostReport | None) -> Markup:
    """Return the access patterns as in the document, with costs and with inputs for the calls.

    Without a report, the units are the estimates of `explain`.
    """
    costs = {} if report is None else {found.label: found for found in report.patterns}
    units: Mapping[str, PatternUnits] = costs or units_of(design, [])
    shown: list[Markup] = []
    for title, writes in (("Reads", False), ("Writes", True)):
        patterns = [each for each in design.patterns if each.shape.is_write == writes]
        if patterns:
            rows = [
                _row(each, dict(zip(PATTERN_HEADER, row, strict=True)), costs.get(each.label))
                for each, row in zip(patterns, pattern_chart(patterns, units).rows, strict=True)
            ]
            shown.append(chart_table(Chart(title, HEADER, rows, numbers=2), LINKS))
    scans = sum(found.shape.operation == "Scan" for found in design.patterns)
    what = "no Scan" if not scans else f"{scans} with a declared Scan"
    month = ""
    if report is not None and any(each.month is not None for each in report.patterns):
        month = f": ${report.on_demand_month:,.2f} a month"
    total = f"All {len(design.patterns)} patterns, {what}{month}"
    apply = parts.button("Compute costs", "go sm", type="submit")
    about = [element("p", _about(report)), parts.aside(apply)]
    content = panel("Access patterns", *shown, element("div.pager", total), about=about)
    return element("form", content, action="/design/patterns")


def _about(report: CostReport | None) -> str:
    if report is None:
        return (
            "The costs are estimated read and write units. They are not measured, because checks "
            "of the design fail: run tablewright verify."
        )
    prices = report.prices
    return f"{PATTERN_NOTE} Prices on demand: {prices.title}, {prices.on_demand.date}."


def _row(found: AccessPattern, cells: Mapping[str, Cell], cost: PatternCost | None) -> list[Cell]:
    """Return a row of the document's chart in fewer columns, with its calls and its cost."""
    link = element("a", element("code", breakable(found.name)), href=LINKS.pattern(found.label))
    notes, units = str(cells["Notes"]), str(cells["Cost"])
    short = units.partition(" (")[0]
    places = str(cells["Table/Index"]).split(", ")
    return [
        join([link, element("span.doc", str(cells["Access pattern"]))]),
        cells["Entity"],
        join([str(cells["Operation"]), *(element("span.doc", breakable(each)) for each in places)]),
        cells["Key condition"],
        element("span", short, title=units),
        f"{cells['Why efficient']}{notes and f'; {notes}'}",
        _calls(found, cost),
        _month(cost),
    ]


def _calls(found: AccessPattern, cost: PatternCost | None) -> Markup:
    rate = cost.rate if cost is not None else found.rate
    return element(
        "input.mono.num", name=found.label, value="" if rate is None else f"{rate:g}",
        inputmode="decimal", size=6, aria_label=f"Calls a second of {found.name}",
    )  # fmt: skip


def _month(cost: PatternCost | None) -> Markup:
    if cost is None or cost.month is None:
        return parts.faint("not known")
    return element("span", f"${cost.month:,.2f}")


def calls_in(query: Fields, design: Design) -> dict[str, float] | None:
    """Return the calls per second in a form, by pattern; None if it has no such fields.

    Raises InvalidValue for a value that is not a number of calls.
    """
    labels = {found.label for found in design.patterns}
    found = {name: value for name, value in query.pairs if name in labels}
    if not found:
        return None
    return {name: _rate(name, value) for name, value in found.items() if value.strip()}


def _rate(name: str, value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = math.nan
    if not 0 <= rate < math.inf:
        raise InvalidValue(
            f"{name.rpartition('.')[2]}: {value!r} is not a number of calls; write 0 or more"
        )
    return rate


# --- documents ----------------------------------------------------------------------------------


def _document(workspace: Workspace, name: str) -> tuple[Design, GeneratedDocument, str]:
    """Return a document of the design, and the name of its file. Raises MissingPage."""
    design, document = shown_design(workspace), BY_NAME.get(name)
    if document is None:
        raise MissingPage
    return design, document, document.file_name(design)


def show_document(workspace: Workspace, _: WebRequest, name: str) -> WebPage:
    """Show a generated document, with a link to download it."""
    design, document, file = _document(workspace, name)
    try:
        text = document.write(design)
    except TablewrightError as error:
        content = [parts.heading(document.title), parts.note(str(error), "bad")]
        return WebPage(document.title, content)
    copy = parts.button("Copy", type="button", data_copy="#document")
    href = url("/design/documents/{}/{}", name, file)
    actions = element("div.row", copy, " ", button_link("Download", href, download=file))
    code = element("pre", element("code", text), id="document", tabindex="0", aria_label=file)
    heading = parts.heading(document.title, element("code", file), actions)
    return WebPage(document.title, [heading, parts.region(file, code)], "Design")


def download(workspace: Workspace, _: WebRequest, name: str, file: str) -> WebResponse:
    """Return a generated document as a file."""
    design, document, file_name = _document(workspace, name)
    if file != file_name:
        raise MissingPage
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return WebResponse(body=document.write(design).encode(), type=TEXT, headers=headers)


def _head(design: Design, current: str) -> Markup:
    tables = [table.__table__ for table in design.tables]
    counts = (
        ("tables", len(tables)),
        ("entities", sum(len(table.entities) for table in tables)),
        ("indexes", sum(len(table.indexes) for table in tables)),
        ("patterns", len(design.patterns)),
        ("scans", sum(found.shape.operation == "Scan" for found in design.patterns)),
    )
    shown = parts.facts(
        (name, f"{count:,}") for name, count in counts if name != "tables" or count > 1
    )
    first = design.doc.partition("\n")[0]
    about = first.partition(": ")[2] or first
    about = about[:1].upper() + about[1:]
    links = [
        element("a", title, href=link, class_="on" if link == current else None,
                aria_current="page" if link == current else None)
        for title, link in SECTIONS
    ]  # fmt: skip
    sub = element("nav.sub", links, aria_label="Parts of the design")
    return join([parts.heading(design.name, about, shown), sub])


def _findings(workspace: Workspace, design: Design) -> Markup:
    try:
        findings = [each for each in workspace.analysis.findings() if not each.allowed]
        problem = parts.NOTHING
    except TablewrightError as error:
        findings, problem = [], parts.note(str(error), "bad")
    lines = parts.listed([*map(_finding, findings), _proved(design)], "find-l body")
    return panel("Findings", problem, lines, about=_counts(findings), id="findings")


def _counts(findings: list[Finding]) -> Markup:
    to_look_at = sum(each.fails for each in findings)
    notes = len(findings) - to_look_at
    warning = parts.tag(f"{to_look_at} to look at", "warn") if to_look_at else parts.NOTHING
    return join([warning, parts.tag(plural(notes, "note")) if notes else parts.NOTHING])


def _finding(finding: Finding) -> Markup:
    place = f"{Path(finding.place.file).name}:{finding.place.line}"
    message = element(
        "div",
        element("h3", finding.subject, " ", element("code.faint", finding.rule)),
        element("p", finding.reason),
        element("pre", finding.fix, tabindex="0", aria_label="The fix"),
        element("p.faint", f"{finding.severity} at {place}"),
    )
    return join([parts.sign(*SIGNS[finding.severity]), message])


def _proved(design: Design) -> Markup:
    """Return what the import of the design has proved."""
    without = sum(found.shape.operation != "Scan" for found in design.patterns)
    text = (
        "No two keys can be equal, and an id is never taken for the beginning of another; "
        f"{without} of {len(design.patterns)} patterns need no Scan."
    )
    message = element("div", element("h3", "Proved at import"), element("p", text))
    return join([parts.sign("✓", "add"), message])


def _documents(design: Design) -> Markup:
    lines = []
    for each in DOCUMENTS:
        file = each.file_name(design)
        href = url("/design/documents/{}", each.name)
        save = ["Download", parts.spoken(f" {each.title}")]
        download = button_link(
            save, url("/design/documents/{}/{}", each.name, file), "sm end", download=file
        )
        lines.append([element("a", each.title, href=href), download])
    return panel("Documents and templates", parts.listed(lines, "rel body"), id="documents")


ROUTES = {
    ("GET", "/design"): show,
    ("GET", "/design/patterns"): show_patterns,
    ("GET", "/design/documents/{}"): show_document,
    ("GET", "/design/documents/{}/{}"): download,
}
