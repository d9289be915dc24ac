"""One table: its description, its design, its export; what creates it and fills it.

A table is created, and sample data is loaded, in two steps: a page says what will happen, and its
form does it.
"""

from __future__ import annotations

from collections import Counter

from tablewright.errors import TablewrightError
from tablewright.infer import SAMPLE_SIZE
from tablewright.model.provision import Provision, definition
from tablewright.plan.shape import read_units
from tablewright.publish.html.element import Markup, element
from tablewright.studio.exporting import FORMATS, export_response, scan_pages
from tablewright.studio.frame import Page
from tablewright.studio.http import TEXT, Request, Response, redirect
from tablewright.studio.inferring import PAGE_SAMPLE, Inference, infer_table
from tablewright.studio.inventory import TableFacts, find_table, format_size
from tablewright.studio.parts import NOTHING, chip, facts, heading, json_code, note, scroll
from tablewright.studio.problems import missing_page
from tablewright.studio.url import url
from tablewright.studio.views.tables import STREAMS, design_tag, faint, status_tag
from tablewright.studio.workspace import Workspace
from tablewright.verify.seeding import load_into

#: How much of an example value is shown.
EXAMPLE = 60


def show(workspace: Workspace, request: Request, name: str) -> Page:
    """Show a table."""
    table = find_table(workspace, name)
    if not table.exists:
        return _missing(workspace, table)
    content = [
        heading(name, _summary(table), _actions(workspace, table)),
        _design(workspace, table),
        _indexes(table),
        _export(table),
    ]
    if table.declared is None:
        found = workspace.inference(name, ask="infer" in request.query)
        content.append(_guess(workspace, found, name))
    return Page(name, content, "Tables")


def _summary(table: TableFacts) -> list[str]:
    return [
        f"{table.items:,} items, {format_size(table.size)}, as DescribeTable states; created "
        f"{table.created or 'at an unknown time'}."
    ]


def _actions(workspace: Workspace, table: TableFacts) -> Markup:
    links = [
        element("a", "Items", class_="btn go", href=url("/items/{}", table.name)),
        element("a", "Live", class_="btn", href=url("/live", table=table.name)),
    ]
    return element("div", links, class_="row")


def _design(workspace: Workspace, table: TableFacts) -> Markup:
    values = [
        ("status", table.status.lower()),
        ("items", f"{table.items:,}"),
        ("size", format_size(table.size)),
        ("key", table.keys),
        ("TTL", table.ttl or "off"),
        ("stream", STREAMS.get(table.stream, table.stream) if table.stream else "off"),
        ("billing", table.billing),
    ]
    rows = [element("div", facts(values), class_="body")]
    if table.declared is None:
        tag = element("span", "no design", class_="tag")
    else:
        tag = design_tag(table)
        if table.differences:
            lines = [element("li", line) for line in table.differences]
            text = f"The table differs from its declaration, {table.declared.owner}:"
            rows.append(
                element("div", element("div", element("p", text), element("ul", lines),
                                       class_="note warn block"), class_="body")
            )  # fmt: skip
    header = element("header", element("h2", "Table"), tag)
    return element("section", header, *rows, class_="panel", aria_label="Table")


def _indexes(table: TableFacts) -> Markup:
    if not table.indexes:
        return note("The table has no indexes.")
    names = ("Index", "Kind", "Key", "Projection", "Items", "Size", "State")
    columns = [
        element("th", name, scope="col", class_="num" if name in ("Items", "Size") else None)
        for name in names
    ]
    rows = [
        element(
            "tr",
            element("td", element("a", index.name, class_="mono",
                                  href=url("/items/{}", table.name, index=index.name))),
            element("td", index.kind),
            element("td", index.keys, class_="mono"),
            element("td", index.projection),
            element("td", f"{index.items:,}", class_="num"),
            element("td", format_size(index.size), class_="num"),
            element("td", status_tag(index.status)),
        )
        for index in table.indexes
    ]  # fmt: skip
    content = element(
        "table",
        element("caption", f"Indexes of {table.name}", class_="vh"),
        element("thead", element("tr", columns)),
        element("tbody", rows),
        class_="tbls",
    )
    header = element("header", element("h2", "Indexes"), element("p", str(len(rows))))
    return element(
        "section", header, scroll("Indexes", content), class_="panel", aria_label="Indexes"
    )


# --- export -------------------------------------------------------------------------------------


def _export(table: TableFacts) -> Markup:
    units = read_units(table.size, consistent=False)
    links = [
        element("a", label, class_="btn", download="",
                href=url("/tables/{}/export", table.name, format=kind))
        for kind, label in (("json", "JSON lines"), ("csv", "CSV"))
    ]  # fmt: skip
    text = (
        f"A Scan reads all items: about {units:,g} read units. JSON lines are in the format of "
        "DynamoDB's export to S3, which tablewright load reads. In CSV, a text that a "
        "spreadsheet would take for a formula begins with an apostrophe."
    )
    body = element("div", element("div", links, class_="row"), element("p", text, class_="hint"),
                   class_="body")  # fmt: skip
    header = element("header", element("h2", "Export"))
    return element("section", header, body, class_="panel", aria_label="Export")


def export(workspace: Workspace, request: Request, name: str) -> Page | Response:
    """Send all items of a table or an index as a file."""
    table, kind = find_table(workspace, name), request.query.get("format", "json")
    index = request.query.get("index") or None
    is_known = index is None or index in [each.name for each in table.indexes]
    if not table.exists or kind not in FORMATS or not is_known:
        return missing_page(request)
    columns = table.key_names
    if table.declared is not None:
        stored = (
            attribute.stored
            for entity in table.declared.entities
            for attribute in entity.attributes.values()
            if not attribute.is_key_only
        )
        columns = list(dict.fromkeys([*columns, *stored]))
    if kind == "csv" and index is not None:
        columns = []  # an index may contain some attributes only
    return export_response(index or name, kind, scan_pages(workspace, name, index), columns)


# --- what can be inferred -----------------------------------------------------------------------


def _guess(workspace: Workspace, found: Inference | None, name: str) -> Markup:
    """Return what a sample of a table without a design shows."""
    if found is None and workspace.is_remote:
        return inferred_note(workspace, name)
    if found is None:
        return note("The table has no items, so nothing can be inferred of it.")
    rows = [
        element(
            "tr",
            element("td", element("code", each.name)),
            element("td", ", ".join(each.types), class_="mono"),
            element("td", _share(each.count, found.count), class_="num"),
            element("td", each.example[:EXAMPLE] + "…" * (len(each.example) > EXAMPLE),
                    class_="mono"),
        )
        for each in found.attributes
    ]  # fmt: skip
    columns = [
        element("th", name, scope="col", class_="num" if name == "In items" else None)
        for name in ("Attribute", "Type", "In items", "Example")
    ]
    table = element(
        "table",
        element("caption", "Attributes found", class_="vh"),
        element("thead", element("tr", columns)),
        element("tbody", rows),
    )
    text = (
        f"Inferred from {found.count:,} item{'s'[: found.count - 1]}"
        f"{' of a larger table' if found.count >= PAGE_SAMPLE else ''}; it is a guess."
    )
    link = element("a", "Write a design for it", class_="btn sm",
                   href=url("/tables/{}/design", name))  # fmt: skip
    header = element(
        "header", element("h2", "Inferred"), element("p", text), element("span", link, class_="end")
    )
    if found.table is None:
        entities = note(f"Items are shown without entities: {found.problem}.", "warn")
    else:
        chips = [chip(entity) for entity in found.table.entities]
        entities = element("p", "Entities: ", chips, class_="swatches")
    return element(
        "section",
        header,
        element("div", entities, class_="body"),
        scroll("Attributes found", table),
        class_="panel",
        aria_label="Inferred",
    )


def inferred_note(workspace: Workspace, name: str) -> Markup:
    """Return the remark of a page whose entities are inferred, or can be; else nothing."""
    if name in workspace.maps:
        return NOTHING
    found = workspace.inference(name)
    if found is not None and found.table is not None:
        link = element("a", "what was found", href=url("/tables/{}", name))
        text = f"The table has no design. Its entities are inferred from {found.count:,} items: "
        return note(element("span", text, link, "."))
    if found is None and workspace.is_remote:
        link = element("a", "infer its entities", href=url("/tables/{}", name, infer=1))
        text = f" from up to {PAGE_SAMPLE} items."
        return note(element("span", "The table has no design: ", link, text))
    return NOTHING


def _share(count: int, total: int) -> list[Markup | str]:
    bar = element(
        "svg",
        element("rect", width=72, height=6, rx=3),
        element("rect", width=72 * count / total, height=6, rx=3),
        class_="bar",
        viewBox="0 0 72 6",
        aria_hidden="true",
    )
    return [f"{100 * count / total:.0f} % ", bar]


def design(workspace: Workspace, request: Request, name: str) -> Page | Response:
    """Show the inferred design of a table as a module."""
    found = None
    if name not in workspace.maps:
        found = infer_table(workspace.transport, name, SAMPLE_SIZE)
    if found is None:
        return missing_page(request)
    if request.query.get("format") == "py":
        headers = {"Content-Disposition": 'attachment; filename="design.py"'}
        return Response(body=found.source.encode(), type=TEXT, headers=headers)
    save = element("a", "Save design.py", class_="btn go", download="",
                   href=url("/tables/{}/design", name, format="py"))  # fmt: skip
    about = (
        f"Inferred from {found.count:,} items: a first version to correct. Save it, change it, and "
        "start tablewright studio design.py with the same target."
    )
    code = element("pre", found.source, tabindex="0", aria_label="design.py code")
    content = [
        heading(f"A design of {name}", about, element("div", save, class_="row")),
        element("section", code, class_="panel", aria_label="design.py"),
    ]
    return Page(f"A design of {name}", content, "Tables")


# --- what creates and fills tables --------------------------------------------------------------


def _missing(workspace: Workspace, table: TableFacts) -> Page:
    if table.declared is None or workspace.design is None:
        text = f"{workspace.target_name} has no table of this name."
        return Page(table.name, [heading(table.name), note(text, "warn")], "Tables", status=404)
    text = f"The design {workspace.design.name} declares this table; the target does not have it."
    content = [heading(table.name, text)]
    if workspace.is_writable:
        content.append(_creation(table))
    else:
        content.append(
            note("The target is read-only: start the studio with --write to create it.", "warn")
        )
    return Page(table.name, content, "Tables", status=404)


def _creation(table: TableFacts) -> Markup:
    assert table.declared is not None
    request = definition(table.declared, table.name)
    form = element(
        "form",
        element("button", "Create the table", class_="btn go", type="submit"),
        element("span", "It is billed on demand, and empty: nothing is charged until it is used.",
                class_="hint"),
        method="post",
        action=url("/tables/{}/create", table.name),
        class_="body row",
    )  # fmt: skip
    header = element("header", element("h2", "Create it"), element("p", "The request to be sent"))
    return element(
        "section", header, json_code(request, "CreateTable"), form,
        class_="panel", aria_label="Create the table",
    )  # fmt: skip


def create(workspace: Workspace, request: Request, name: str) -> Page | Response:
    """Create a table of the design."""
    workspace.require_writable("CreateTable")
    declared = workspace.maps.get(name)
    if declared is None:
        return missing_page(request)
    workspace.database().run(Provision(declared, create=True))
    return redirect(url("/tables/{}", name))


def sample(workspace: Workspace, request: Request) -> Page:
    """Say what loading the sample data will do, and offer it."""
    if workspace.design is None or workspace.design.sample is None:
        return missing_page(request)
    workspace.require_writable("Loading sample data")
    return _sample_page(workspace)


def _sample_page(workspace: Workspace, *problem: Markup) -> Page:
    tables = [find_table(workspace, name) for name in workspace.maps]
    filled = [table.name for table in tables if table.items]
    states = [
        element(
            "li",
            element("code", table.name), " ",
            faint("is created") if not table.exists
            else f"has {table.items:,} items" if table.items else faint("is empty"),
        )
        for table in tables
    ]  # fmt: skip
    assert workspace.design is not None
    about = (
        f"The sample data of {workspace.design.name} is written to its tables. They must be empty "
        "or missing; missing ones are created. If it fails, everything is undone."
    )
    button = element("button", "Load sample data", class_="btn go", type="submit",
                     disabled="" if filled else None)  # fmt: skip
    form = element("form", button, method="post", action="/sample", class_="row")
    reason = note(f"Not empty: {', '.join(filled)}.", "warn") if filled else NOTHING
    content = [
        heading("Load sample data", about),
        *problem,
        reason,
        element("section", element("ul", states, class_="body rel"),
                element("div", form, class_="pager"), class_="panel", aria_label="Tables"),
    ]  # fmt: skip
    return Page("Load sample data", content, "Tables", status=400 if problem else 200)


def load_sample(workspace: Workspace, request: Request) -> Page:
    """Load the sample data of the design."""
    if workspace.design is None or workspace.design.sample is None:
        return missing_page(request)
    workspace.require_writable("Loading sample data")
    try:
        loaded = load_into(workspace.design, workspace.transport)
    except TablewrightError as error:
        return _sample_page(workspace, note(str(error), "bad"))
    rows = [
        element(
            "tr",
            element("td", element("a", name, class_="mono", href=url("/items/{}", name))),
            element("td", entity or "sentinels of unique values"),
            element("td", str(count), class_="num"),
        )
        for name, counts in loaded.items()
        for entity, count in sorted(Counter(counts).items())
    ]
    columns = [
        element("th", name, scope="col", class_="num" if name == "Items" else None)
        for name in ("Table", "Entity", "Items")
    ]
    table = element(
        "table",
        element("caption", "Loaded items", class_="vh"),
        element("thead", element("tr", columns)),
        element("tbody", rows),
    )
    total = sum(counts.total() for counts in loaded.values())
    content = [
        heading("Sample data", f"{total} items were loaded."),
        element("section", scroll("Loaded items", table), class_="panel", aria_label="Loaded"),
    ]
    return Page("Sample data", content, "Tables")


ROUTES = {
    ("GET", "/tables/{}"): show,
    ("GET", "/tables/{}/export"): export,
    ("GET", "/tables/{}/design"): design,
    ("POST", "/tables/{}/create"): create,
    ("GET", "/sample"): sample,
    ("POST", "/sample"): load_sample,
}
