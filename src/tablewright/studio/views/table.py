"""One table: its description, how it differs from its design, and its export.

The page of a missing table of the design shows the request that creates it; its form sends it.
"""

from __future__ import annotations

from tablewright.capacity import read_units
from tablewright.model.provision import Provision
from tablewright.model.table_definition import definition
from tablewright.publish.html.element import Markup, element
from tablewright.studio.items.exporting import FORMATS, export_response, scan_pages
from tablewright.studio.markup.parts import data_table, facts, heading, json_code, note, scroll
from tablewright.studio.target.inventory import (
    FoundTable,
    find_table,
    format_created,
    format_keys,
    format_projection,
    format_size,
)
from tablewright.studio.views.inferred import inferred_panel
from tablewright.studio.views.tables import STREAMS, design_tag, status_tag
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, WebResponse, redirect
from tablewright.studio.web.problems import missing_page
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription


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
        content.append(inferred_panel(workspace, name, ask="infer" in request.query))
    return WebPage(name, content, "Tables")


def _summary(table: TableDescription) -> list[str]:
    state = table.state
    return [
        f"{state.items or 0:,} items, {format_size(state.size)}, as DescribeTable states; created "
        f"{format_created(state.created)}."
    ]


def _actions(table: TableDescription) -> Markup:
    links = [
        element("a", "Items", class_="btn go", href=url("/items/{}", table.name)),
        element("a", "Live", class_="btn", href=url("/live", table=table.name)),
    ]
    return element("div", links, class_="row")


def _design(found: FoundTable, table: TableDescription) -> Markup:
    values = [
        ("status", table.state.status.lower()),
        ("items", f"{found.items:,}"),
        ("size", format_size(table.state.size)),
        ("key", format_keys(table.keys)),
        ("TTL", table.ttl or "off"),
        ("stream", STREAMS.get(table.stream, table.stream) if table.stream else "off"),
        ("billing", table.capacity_text),
    ]
    rows = [element("div", facts(values), class_="body")]
    if found.declared is None:
        tag = element("span", "no design", class_="tag")
    else:
        tag = design_tag(found)
        if found.differences:
            lines = [element("li", line) for line in found.differences]
            text = f"The table differs from its declaration, {found.declared.owner}:"
            rows.append(
                element("div", element("div", element("p", text), element("ul", lines),
                                       class_="note warn block"), class_="body")
            )  # fmt: skip
    header = element("header", element("h2", "Table"), tag)
    return element("section", header, *rows, class_="panel", aria_label="Table")


def _indexes(table: TableDescription) -> Markup:
    if not table.indexes:
        return note("The table has no indexes.")
    rows = [
        element(
            "tr",
            element("td", element("a", index.name, class_="mono",
                                  href=url("/items/{}", table.name, index=index.name))),
            element("td", index.kind),
            element("td", format_keys(index.keys), class_="mono"),
            element("td", format_projection(index.projection)),
            element("td", f"{index.state.items or 0:,}", class_="num"),
            element("td", format_size(index.state.size), class_="num"),
            element("td", status_tag(index.state.status)),
        )
        for index in table.indexes
    ]  # fmt: skip
    columns = ("Index", "Kind", "Key", "Projection", "Items", "Size", "State")
    content = data_table(
        f"Indexes of {table.name}", columns, rows, numbers=("Items", "Size"), class_="tbls"
    )
    header = element("header", element("h2", "Indexes"), element("p", str(len(rows))))
    return element(
        "section", header, scroll("Indexes", content), class_="panel", aria_label="Indexes"
    )


# --- export -------------------------------------------------------------------------------------


def _export(table: TableDescription) -> Markup:
    units = read_units(table.state.size, consistent=False)
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


def export(workspace: Workspace, request: WebRequest, name: str) -> WebPage | WebResponse:
    """Send all items of a table or an index as a file."""
    table, kind = workspace.describe(name), request.query.get("format", "json")
    index = request.query.get("index") or None
    if table is None or kind not in FORMATS or table.find(index) is None:
        return missing_page(request)
    columns, declared = list(table.keys.names), workspace.maps.get(name)
    if declared is not None:
        stored = (
            attribute.stored
            for entity in declared.entities
            for attribute in entity.attributes.values()
            if not attribute.is_key_only
        )
        columns = list(dict.fromkeys([*columns, *stored]))
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
    request = definition(table.declared, table.name).to_create_table()
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


def create(workspace: Workspace, request: WebRequest, name: str) -> WebPage | WebResponse:
    """Create a table of the design."""
    workspace.require_writable("CreateTable")
    declared = workspace.maps.get(name)
    if declared is None:
        return missing_page(request)
    workspace.database().run(Provision(declared, create=True))
    return redirect(url("/tables/{}", name))


ROUTES = {
    ("GET", "/tables/{}"): show,
    ("GET", "/tables/{}/export"): export,
    ("POST", "/tables/{}/create"): create,
}
