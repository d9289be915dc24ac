"""The design: key map, diagram, findings, documents; its patterns with their costs."""

from __future__ import annotations

from pathlib import Path

from tablewright.errors import InvalidValue, TablewrightError
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element, join
from tablewright.presentation.erd import RELATION_COLUMNS, Erd, erd
from tablewright.presentation.erd_svg import erd_svg
from tablewright.presentation.values import plural
from tablewright.publish.advice import Finding
from tablewright.publish.advice.finding import Severity
from tablewright.studio.derived import BY_NAME, DOCUMENTS, GeneratedDocument
from tablewright.studio.markup import parts
from tablewright.studio.markup.key_map import key_map
from tablewright.studio.markup.parts import button_link, panel
from tablewright.studio.markup.pattern_matrix import calls_in, pattern_matrix
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse, url
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design

SECTIONS = (("Keys and entities", "/design"), ("Access patterns", "/design/patterns"))
#: The sign of each severity, and its class.
SIGNS: dict[Severity, tuple[str, str]] = {
    "error": ("✕", "del"),
    "warning": ("!", "mod"),
    "note": ("i", ""),
}


def show(workspace: Workspace, _: WebRequest) -> WebPage:
    """Show the key map, the entities, the findings and the documents."""
    design = shown_design(workspace)
    content = [_head(design, "/design")]
    for number, table in enumerate(table.__table__ for table in design.tables):
        content += [key_map(table), _diagram(table, number)]
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
    costs = workspace.analysis.costs(calls)
    matrix = pattern_matrix(design, costs)
    content = [_head(design, "/design/patterns"), problem, matrix]
    return WebPage(f"Access patterns of {design.name}", content, "Design")


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


def _diagram(table: TableMap, number: int) -> Markup:
    found = erd(table.entities)
    title = f"Entities of the table {table.name}"
    return panel(
        "Entities",
        parts.scroll(title, erd_svg(found, title, f"erd{number}"), "body diagram"),
        _relations(found, table),
        about=element("code", table.name),
        label=title,
    )


def _relations(found: Erd, table: TableMap) -> Markup:
    """Return the relations of a diagram as a table, for those who cannot see it."""
    if not found.relations:
        return parts.NOTHING
    entities = {entity.name: entity for entity in table.entities}

    def shown(name: str) -> Markup:
        entity = entities.get(name)
        return parts.chip(entity) if entity is not None else element("code", name)

    rows = [
        [shown(source), shown(target), count, element("code", label)]
        for source, target, count, label in found.relation_rows()
    ]
    caption = f"Relations of the table {table.name}"
    drawn = parts.scroll(caption, parts.data_table(caption, RELATION_COLUMNS, rows), "flat")
    return parts.details("The same as a table", drawn, class_="body")


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
        "No two keys can be equal, and no id can run into another; "
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
