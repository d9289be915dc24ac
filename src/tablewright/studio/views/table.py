"""One table: its description, how it differs from its design, its export, and what it may be.

The page of a missing table of the design shows the request that creates it; its form sends it. Of a
table without a design, entities and attributes are inferred, and a module to save. A sample of a
table in this process is read when a page needs it; of an endpoint, on request.
"""

from __future__ import annotations

from tablewright.capacity import read_units
from tablewright.infer import SAMPLE_SIZE
from tablewright.model.databases.provision import Provision, definition
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.exporting import FORMATS, export_response, scan_pages
from tablewright.studio.items.kinds import stored_names
from tablewright.studio.markup import parts
from tablewright.studio.markup.parts import NOTHING, button_link, heading, note, panel
from tablewright.studio.target.inferring import PAGE_SAMPLE, infer_table
from tablewright.studio.target.inventory import (
    FoundTable,
    find_table,
    format_created,
    format_keys,
    format_projection,
)
from tablewright.studio.views.tables import STREAMS, design_tag, status_tag
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse, redirect, url
from tablewright.studio.web.problems import MissingPage
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription

#: How much of an example value is shown.
EXAMPLE = 60


def show(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show a table."""
    found = find_table(workspace, name)
    table = found.description
    if table is None:
        return _missing(workspace, found)
    content = [
        heading(name, _summary(table), _actions(table)),
        _design(found, table),
        _indexes(table),
        _export(table),
    ]
    if found.declared is None:
        content.append(_inferred(workspace, name, ask="infer" in request.query))
    return WebPage(name, content, "Tables")


def _summary(table: TableDescription) -> str:
    state = table.state
    return (
        f"{state.items or 0:,} items, {parts.size_text(state.size)}, as DescribeTable states; "
        f"created {format_created(state.created)}."
    )


def _actions(table: TableDescription) -> Markup:
    items = button_link("Items", url("/items/{}", table.name), "go")
    live = button_link("Live", url("/live", table=table.name))
    return element("div.row", items, live)


def _design(found: FoundTable, table: TableDescription) -> Markup:
    values = [
        ("status", table.state.status.lower()),
        ("items", f"{found.items:,}"),
        ("size", parts.size_text(table.state.size)),
        ("key", format_keys(table.keys)),
        ("TTL", table.ttl or "off"),
        ("stream", STREAMS.get(table.stream, table.stream) if table.stream else "off"),
        ("billing", table.capacity_text),
    ]
    rows = [element("div.body", parts.facts(values))]
    if found.declared is not None and found.differences:
        text = f"The table differs from its declaration, {found.declared.owner}:"
        differences = [element("p", text), parts.listed(found.differences)]
        rows.append(element("div.body", element("div.note.warn.block", differences)))
    about = parts.tag("no design") if found.declared is None else design_tag(found)
    return panel("Table", rows, about=about)


def _indexes(table: TableDescription) -> Markup:
    if not table.indexes:
        return note("The table has no indexes.")
    rows = [
        [
            element("a.mono", index.name,
                    href=url("/items/{}", table.name, index=index.name)),
            index.kind, format_keys(index.keys), format_projection(index.projection),
            f"{index.state.items or 0:,}", parts.size_text(index.state.size),
            status_tag(index.state.status),
        ]
        for index in table.indexes
    ]  # fmt: skip
    columns = ("Index", "Kind", "Key", "Projection", "Items", "Size", "State")
    kinds = {"Key": "mono", "Items": "num", "Size": "num"}
    caption = f"Indexes of {table.name}"
    content = parts.data_table(caption, columns, rows, kinds=kinds, class_="tbls")
    return panel("Indexes", parts.scroll("Indexes", content), about=element("p", str(len(rows))))


# --- export -------------------------------------------------------------------------------------


def _export(table: TableDescription) -> Markup:
    units = read_units(table.state.size, consistent=False)
    links = [
        button_link(label, url("/tables/{}/export", table.name, format=kind), download="")
        for kind, label in (("json", "JSON lines"), ("csv", "CSV"))
    ]
    text = (
        f"A Scan reads all items: about {units:,g} read units. JSON lines are in the format of "
        "DynamoDB's export to S3, which tablewright load reads. In CSV, a text that a "
        "spreadsheet would take for a formula begins with an apostrophe."
    )
    hint = element("p.hint", text)
    return panel("Export", element("div.body", element("div.row", links), hint))


def export(workspace: Workspace, request: WebRequest, name: str) -> WebResponse:
    """Send all items of a table or an index as a file."""
    table, kind = workspace.describe(name), request.query.get("format", "json")
    index = request.query.get("index") or None
    if table is None or kind not in FORMATS or table.find(index) is None:
        raise MissingPage
    columns = list(dict.fromkeys([*table.keys.names, *stored_names(workspace.maps.get(name))]))
    if kind == "csv" and index is not None:
        columns = []  # an index may contain some attributes only
    return export_response(index or name, kind, scan_pages(workspace, name, index), columns)


# --- a missing table ---------------------------------------------------------------------------


def _missing(workspace: Workspace, table: FoundTable) -> WebPage:
    if table.declared is None or workspace.design is None:
        text = f"{workspace.target_name} has no table of this name."
        return WebPage(table.name, [heading(table.name), note(text, "warn")], "Tables", status=404)
    text = f"The design {workspace.design.name} declares this table; the target does not have it."
    content = [heading(table.name, text)]
    if workspace.is_writable:
        content.append(_creation(table))
    else:
        content.append(
            note("The target is read-only: start the studio with --write to create it.", "warn")
        )
    return WebPage(table.name, content, "Tables", status=404)


def _creation(table: FoundTable) -> Markup:
    assert table.declared is not None
    hint = "It is billed on demand, and empty: nothing is charged until it is used."
    form = element(
        "form.body.row",
        parts.button("Create the table", "go", type="submit"),
        element("span.hint", hint),
        method="post",
        action=url("/tables/{}/create", table.name),
    )
    request = parts.json_code(
        definition(table.declared, table.name).to_create_table(), "CreateTable"
    )
    about = element("p", "The request to be sent")
    return panel("Create it", request, form, about=about, label="Create the table")


def create(workspace: Workspace, _: WebRequest, name: str) -> WebResponse:
    """Create a table of the design."""
    workspace.require_writable("CreateTable")
    declared = workspace.maps.get(name)
    if declared is None:
        raise MissingPage
    workspace.database().run(Provision(declared, create=True))
    return redirect(url("/tables/{}", name))


# --- a table without a design -------------------------------------------------------------------


def _inferred(workspace: Workspace, name: str, *, ask: bool) -> Markup:
    """Return what a sample of a table shows; of an endpoint, if it was asked for."""
    found = workspace.inference(name, ask=ask)
    if found is None and workspace.is_remote and not ask:
        return inferred_note(workspace, name)
    if found is None:
        return note("The table has no items, so nothing can be inferred of it.")
    rows = [
        [
            element("code", each.name),
            ", ".join(each.types),
            [f"{100 * each.count / found.count:.0f} % ", parts.bar(each.count / found.count)],
            each.example[:EXAMPLE] + "…" * (len(each.example) > EXAMPLE),
        ]
        for each in found.attributes
    ]
    columns = ("Attribute", "Type", "In items", "Example")
    kinds = {"Type": "mono", "In items": "num", "Example": "mono"}
    table = parts.data_table("Attributes found", columns, rows, kinds=kinds)
    text = (
        f"Inferred from {found.count:,} item{'s'[: found.count - 1]}"
        f"{' of a larger table' if found.count >= PAGE_SAMPLE else ''}; it is a guess."
    )
    link = button_link("Write a design for it", url("/tables/{}/design", name), "sm")
    if found.table is None:
        entities = note(f"Items are shown without entities: {found.problem}.", "warn")
    else:
        chips = [parts.chip(entity) for entity in found.table.entities]
        entities = element("p.swatches", "Entities: ", chips)
    return panel(
        "Inferred",
        element("div.body", entities),
        parts.scroll("Attributes found", table),
        about=[element("p", text), parts.aside(link)],
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


def show_inferred(workspace: Workspace, request: WebRequest, name: str) -> WebPage | WebResponse:
    """Show the inferred design of a table as a module."""
    is_known = name in workspace.maps
    found = None if is_known else infer_table(workspace.transport, name, SAMPLE_SIZE)
    if found is None:
        raise MissingPage
    if request.query.get("format") == "py":
        headers = {"Content-Disposition": 'attachment; filename="design.py"'}
        return WebResponse(body=found.source.encode(), type=TEXT, headers=headers)
    href = url("/tables/{}/design", name, format="py")
    save = element("div.row", button_link("Save design.py", href, "go", download=""))
    about = (
        f"Inferred from {found.count:,} items: a first version to correct. Save it, change it, and "
        "start tablewright studio design.py with the same target."
    )
    title = f"A design of {name}"
    code = element("pre", found.source, tabindex="0", aria_label="design.py code")
    return WebPage(title, [heading(title, about, save), parts.region("design.py", code)], "Tables")


ROUTES = {
    ("GET", "/tables/{}"): show,
    ("GET", "/tables/{}/export"): export,
    ("POST", "/tables/{}/create"): create,
    ("GET", "/tables/{}/design"): show_inferred,
}
