"""The design: key map, diagram, findings, documents; its patterns with their costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tablewright.errors import InvalidValue, TablewrightError
from tablewright.mapping.table import TableMap
from tablewright.publish.advice import Finding
from tablewright.publish.advice.finding import Severity
from tablewright.publish.erd import RELATION_COLUMNS, Erd, erd
from tablewright.publish.html.element import Markup, element, join
from tablewright.publish.html.erd_svg import erd_svg
from tablewright.studio.design.documents import BY_NAME, DOCUMENTS
from tablewright.studio.markup import parts
from tablewright.studio.markup.key_map import key_map
from tablewright.studio.markup.pattern_matrix import calls_in, pattern_matrix
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse
from tablewright.studio.web.problems import missing_page
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design

SECTIONS = (("Keys and entities", "/design"), ("Access patterns", "/design/patterns"))
#: The sign of each severity, and its class.
SIGNS: dict[Severity, tuple[str, str]] = {
    "error": ("✕", "del"),
    "warning": ("!", "mod"),
    "note": ("i", ""),
}


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the key map, the entities, the findings and the documents."""
    design = workspace.design
    if design is None:
        return missing_page(request)
    content = [_head(design, "/design")]
    for number, table in enumerate(table.__table__ for table in design.tables):
        content += [key_map(table), _diagram(table, number)]
    below = element("div", _findings(workspace), _documents(design), class_="cols c21")
    return WebPage(design.name, [*content, below], "Design")


def show_patterns(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show every access pattern with its request, its units and its cost."""
    design = workspace.design
    if design is None:
        return missing_page(request)
    problem = parts.NOTHING
    try:
        calls = calls_in(request.query, design)
    except InvalidValue as error:
        calls, problem = None, parts.note(str(error), "bad")
    costs = workspace.analysis.costs(calls)
    matrix = pattern_matrix(design, costs, is_form=not workspace.static_views)
    return WebPage(
        f"Access patterns of {design.name}", [_head(design, "/design/patterns"), problem, matrix],
        "Design",
    )  # fmt: skip


def show_document(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show a generated document, with a link to download it."""
    design, document = workspace.design, BY_NAME.get(name)
    if design is None or document is None:
        return missing_page(request)
    try:
        text = document.write(design)
    except TablewrightError as error:
        return WebPage(
            document.title, [parts.heading(document.title), parts.note(str(error), "bad")]
        )
    file = document.file_name(design)
    download = element(
        "a",
        "Download",
        class_="btn",
        href=url("/design/documents/{}/{}", name, file),
        download=file,
    )
    code = element("pre", element("code", text), id="document", tabindex="0", aria_label=file)
    copy = element("button", "Copy", class_="btn", type="button", data_copy="#document")
    if workspace.static_views:
        copy = parts.NOTHING  # it needs a script
    heading = parts.heading(
        document.title, element("code", file), element("div", copy, " ", download, class_="row")
    )
    return WebPage(document.title, [heading, parts.panel(file, code)], "Design")


def download(
    workspace: Workspace, request: WebRequest, name: str, file: str
) -> WebPage | WebResponse:
    """Return a generated document as a file."""
    design, document = workspace.design, BY_NAME.get(name)
    if design is None or document is None or file != document.file_name(design):
        return missing_page(request)
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
    sub = element("nav", links, class_="sub", aria_label="Parts of the design")
    return join([parts.heading(design.name, about, shown), sub])


def _diagram(table: TableMap, number: int) -> Markup:
    found = erd(table.entities)
    title = f"Entities of the table {table.name}"
    return element(
        "section",
        element("header", element("h2", "Entities"), element("code", table.name)),
        parts.scroll(title, erd_svg(found, title, f"erd{number}"), "body diagram"),
        _relations(found, table),
        class_="panel",
        aria_label=title,
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
        element(
            "tr",
            element("td", shown(source)),
            element("td", shown(target)),
            element("td", count),
            element("td", element("code", label)),
        )
        for source, target, count, label in found.relation_rows()
    ]
    caption = f"Relations of the table {table.name}"
    drawn = parts.data_table(caption, RELATION_COLUMNS, rows)
    return element(
        "details",
        element("summary", "The same as a table"),
        parts.scroll(caption, drawn, "flat"),
        class_="body",
    )


def _findings(workspace: Workspace) -> Markup:
    try:
        findings = [each for each in workspace.analysis.findings() if not each.allowed]
        problem = parts.NOTHING
    except TablewrightError as error:
        findings, problem = [], parts.note(str(error), "bad")
    shown = [element("li", _finding(each)) for each in findings]
    shown.append(element("li", join(_proved(workspace))))
    return element(
        "section",
        element("header", element("h2", "Findings"), _counts(findings)),
        problem,
        element("ul", shown, class_="find-l body"),
        class_="panel",
        id="findings",
        aria_label="Findings",
    )


def _counts(findings: list[Finding]) -> Markup:
    to_look_at = sum(each.fails for each in findings)
    notes = len(findings) - to_look_at
    return join(
        element("span", text, class_=class_)
        for text, class_ in (
            (f"{to_look_at} to look at" if to_look_at else "", "tag warn"),
            (f"{notes} note{'' if notes == 1 else 's'}" if notes else "", "tag"),
        )
        if text
    )


def _finding(finding: Finding) -> Markup:
    sign, class_ = SIGNS[finding.severity]
    place = f"{Path(finding.place.file).name}:{finding.place.line}"
    return join(
        [
            element("span", sign, class_=f"sg {class_}".strip(), aria_hidden="true"),
            element(
                "div",
                element("h3", finding.subject, " ", element("code", finding.rule, class_="faint")),
                element("p", finding.reason),
                element("pre", finding.fix, tabindex="0", aria_label="The fix"),
                element("p", f"{finding.severity} at {place}", class_="faint"),
            ),
        ]
    )


def _proved(workspace: Workspace) -> Iterator[Markup]:
    """Yield what the import of the design has proved."""
    assert workspace.design is not None
    patterns = workspace.design.patterns
    without = sum(found.shape.operation != "Scan" for found in patterns)
    yield element("span", "✓", class_="sg add", aria_hidden="true")
    text = (
        "No two keys can be equal, and no id can run into another; "
        f"{without} of {len(patterns)} patterns need no Scan."
    )
    yield element("div", element("h3", "Proved at import"), element("p", text))


def _documents(design: Design) -> Markup:
    rows = [
        element(
            "li",
            element("a", each.title, href=url("/design/documents/{}", each.name)),
            element(
                "a",
                "Download",
                element("span", f" {each.title}", class_="vh"),
                class_="btn sm end",
                href=url("/design/documents/{}/{}", each.name, each.file_name(design)),
                download=each.file_name(design),
            ),
        )
        for each in DOCUMENTS
    ]
    return element(
        "section",
        element("header", element("h2", "Documents and templates")),
        element("ul", rows, class_="rel body"),
        class_="panel",
        id="documents",
        aria_label="Documents and templates",
    )


ROUTES = {
    ("GET", "/design"): show,
    ("GET", "/design/patterns"): show_patterns,
    ("GET", "/design/documents/{}"): show_document,
    ("GET", "/design/documents/{}/{}"): download,
}
