"""Tables: those of the target, those of the design that are missing there, and the sample data.

GET  /tables           the tables of the target, page by page
GET  /sample           what loading the sample data of the design will do
POST /sample           loads it
GET  /tables/{table}   one table: how it differs from its design, its indexes, its export

The page of a missing table of the design shows the request that creates it; its form sends it. The
page of a table without a design shows entities and attributes that are inferred from a sample, and
a module to save. The sample is read when a page needs it; at an endpoint, only on request.
"""

from __future__ import annotations

from tablewright.capacity import read_units
from tablewright.errors import TablewrightError
from tablewright.model.databases.provision import Provision, definition
from tablewright.presentation.element import Child, Markup, element
from tablewright.presentation.kinds import stored_names
from tablewright.presentation.style import chip
from tablewright.presentation.values import plural, size_text
from tablewright.studio.items.exporting import FORMATS, export_response, scan_pages
from tablewright.studio.markup import parts
from tablewright.studio.markup.form_parts import confirm_target
from tablewright.studio.markup.parts import NOTHING, button_link, faint, heading, note, panel
from tablewright.studio.target.inferring import DESIGN_SAMPLE, PAGE_SAMPLE, infer_table
from tablewright.studio.target.inventory import (
    FoundTable,
    find_table,
    format_created,
    format_keys,
    format_projection,
    overview,
)
from tablewright.studio.web.frame import MissingPage, WebPage
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse, redirect, url
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tablewright.verify import Design
from tablewright.verify.seeding import load_into

STREAMS = {
    "NEW_AND_OLD_IMAGES": "new and old images",
    "NEW_IMAGE": "new images",
    "OLD_IMAGE": "old images",
    "KEYS_ONLY": "keys only",
}
COLUMNS = ("Table", "Design", "Items", "Size", "Key", "Indexes", "TTL", "Stream", "Billing")


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the tables of the target."""
    after = request.query.get("after")
    found = overview(workspace, after)
    about = "All tables of the target, with and without a design."
    content = [
        heading("Tables", about, _actions(workspace, found.tables)),
        _notice(workspace, found.tables),
        _list(workspace, found.tables, after, found.next),
    ]
    return WebPage("Tables", content, "Tables")


def _actions(workspace: Workspace, tables: list[FoundTable]) -> Markup:
    """Offer the sample data if no table of the design has items."""
    if not workspace.is_writable or workspace.design is None or workspace.design.sample is None:
        return NOTHING
    if any(table.items for table in tables if table.declared is not None):
        return NOTHING
    return element("div.row", button_link("Load sample data", "/sample", "go"))


def _notice(workspace: Workspace, tables: list[FoundTable]) -> Markup:
    missing = [table.name for table in tables if table.description is None]
    if not tables:
        return note("The target has no tables.", "warn")
    if missing and not workspace.is_writable:
        return note(
            f"The target does not have {', '.join(missing)}, and it is read-only: start the studio "
            "with --write to create what is missing.",
            "warn",
        )
    return NOTHING


def _list(
    workspace: Workspace, tables: list[FoundTable], after: str, following: str | None
) -> Markup:
    rows = [_row(workspace, each) for each in tables]
    kinds = {"Items": "num", "Size": "num", "Key": "mono"}
    listed = parts.data_table("Tables", COLUMNS, rows, kinds=kinds, class_="tbls")
    existing = sum(table.description is not None for table in tables)
    count = f"{existing}{' on this page' if after or following else ''} on "
    about = element("p", count, element("b", workspace.named.whole))
    return panel("Tables", parts.scroll("Tables", listed), _pager(after, following), about=about)


def _row(workspace: Workspace, found: FoundTable) -> Markup | list[Child]:
    name = element("b", found.name)
    link = element("a.mono", name, href=url("/tables/{}", found.name))
    if found.declared is None or workspace.design is None:
        design: Child = faint("none")
    else:
        design = [element("a", workspace.design.name, href="/design"), " ", design_tag(found)]
    table = found.description
    if table is None:
        missing = "it does not exist at this target"
        rest = element("td.muted", missing, colspan="7")
        return element("tr", element("td", link), element("td", design), rest)
    status = NOTHING if table.state.status == "ACTIVE" else status_tag(table.state.status)
    return [
        [link, " ", status],
        design,
        f"{found.items:,}",
        size_text(table.state.size),
        ", ".join(table.keys.names),
        str(len(table.indexes)) if table.indexes else faint("none"),
        element("code", table.ttl) if table.ttl else faint("off"),
        STREAMS.get(table.stream, table.stream) if table.stream else faint("off"),
        table.capacity_text,
    ]


def design_tag(table: FoundTable) -> Markup:
    """Return whether a table of the design is as declared."""
    if table.description is None:
        return parts.tag("missing", "bad")
    if table.description.state.status != "ACTIVE":
        return parts.tag("not compared yet")
    if not table.differences:
        return parts.tag("matches", "good")
    return parts.tag(plural(len(table.differences), "difference"), "warn")


def status_tag(status: str) -> Markup:
    """Return the status of a table or an index."""
    return parts.tag(status.lower(), "good" if status == "ACTIVE" else "warn")


def _pager(after: str, following: str | None) -> Markup:
    if not after and following is None:
        return NOTHING
    links = [button_link("First page", "/tables", "sm")] if after else []
    if following is not None:
        links.append(button_link("Next page", url("/tables", after=following), "sm", rel="next"))
    return element("div.pager", parts.aside(links))


# --- sample data --------------------------------------------------------------------------------


def show_sample(workspace: Workspace, _: WebRequest) -> WebPage:
    """Say what loading the sample data will do, and offer it."""
    return _sample_page(workspace, _sampled(workspace))


def _sampled(workspace: Workspace) -> Design:
    """Return the design. Raises MissingPage without sample data, and for a read-only target."""
    if workspace.design is None or workspace.design.sample is None:
        raise MissingPage
    if not workspace.is_writable:
        workspace.require_writable("Loading sample data")
    return workspace.design


def _sample_page(workspace: Workspace, design: Design, *problem: Markup) -> WebPage:
    tables = [find_table(workspace, name) for name in workspace.maps]
    filled = [table.name for table in tables if table.items]
    states = [
        [
            element("code", table.name), " ",
            faint("is created") if table.description is None
            else f"has {table.items:,} items" if table.items else faint("is empty"),
        ]
        for table in tables
    ]  # fmt: skip
    about = (
        f"The sample data of {design.name} is written to its tables. They must be empty or "
        "missing; missing ones are created. If it fails, everything is undone."
    )
    disabled = "" if filled else None
    text, kind = f"Load sample data{workspace.place}", workspace.button_kind()
    load = parts.button(text, kind, type="submit", disabled=disabled)
    form = element("form.row", confirm_target(workspace), load, method="post", action="/sample")
    content = [
        heading("Load sample data", about),
        *problem,
        note(f"Not empty: {', '.join(filled)}.", "warn") if filled else NOTHING,
        parts.region("Tables", parts.listed(states, "body rel"), element("div.pager", form)),
    ]
    return WebPage("Load sample data", content, "Tables", status=400 if problem else 200)


def load_sample(workspace: Workspace, _: WebRequest) -> WebPage:
    """Load the sample data of the design."""
    design = _sampled(workspace)
    try:
        workspace.require_writable("Loading sample data")
        loaded = load_into(design, workspace.transport)
    except TablewrightError as error:
        return _sample_page(workspace, design, note(str(error), "bad"))
    rows = [
        [
            element("a.mono", name, href=url("/items/{}", name)),
            entity or "sentinels of unique values",
            str(count),
        ]
        for name, counts in loaded.items()
        for entity, count in sorted(counts.items())
    ]
    columns = ("Table", "Entity", "Items")
    table = parts.data_table("Loaded items", columns, rows, kinds={"Items": "num"})
    total = sum(counts.total() for counts in loaded.values())
    content = [
        heading("Sample data", f"{total} items were loaded."),
        parts.region("Loaded", parts.scroll("Loaded items", table)),
    ]
    return WebPage("Sample data", content, "Tables")


#: How much of an example value is shown.
EXAMPLE = 60


def show_table(workspace: Workspace, request: WebRequest, name: str) -> WebPage:
    """Show a table."""
    found = find_table(workspace, name)
    table = found.description
    if table is None:
        return _missing(workspace, found)
    content = [
        heading(name, _summary(table), _table_links(table)),
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
        f"{state.items or 0:,} items, {size_text(state.size)}, as DescribeTable states; "
        f"created {format_created(state.created)}."
    )


def _table_links(table: TableDescription) -> Markup:
    items = button_link("Items", url("/items/{}", table.name), "go")
    live = button_link("Live", url("/live", table=table.name))
    return element("div.row", items, live)


def _design(found: FoundTable, table: TableDescription) -> Markup:
    values = [
        ("status", table.state.status.lower()),
        ("items", f"{found.items:,}"),
        ("size", size_text(table.state.size)),
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
            f"{index.state.items or 0:,}", size_text(index.state.size),
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
        text = f"{workspace.named.whole} has no table of this name."
        return WebPage(table.name, [heading(table.name), note(text, "warn")], "Tables", status=404)
    text = f"The design {workspace.design.name} declares this table; the target does not have it."
    content = [heading(table.name, text)]
    if workspace.is_writable:
        content.append(_creation(workspace, table))
    else:
        content.append(
            note("The target is read-only: start the studio with --write to create it.", "warn")
        )
    return WebPage(table.name, content, "Tables", status=404)


def _creation(workspace: Workspace, table: FoundTable) -> Markup:
    assert table.declared is not None
    hint = "It is billed on demand, and empty: nothing is charged until it is used."
    form = element(
        "form.body.row",
        confirm_target(workspace),
        parts.button(f"Create the table{workspace.place}", workspace.button_kind(), type="submit"),
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
    """Return what is inferred from a sample of a table; at an endpoint, only if `ask`."""
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
        chips = [chip(entity) for entity in found.table.entities]
        entities = element("p.swatches", "Entities: ", chips)
    return panel(
        "Inferred",
        element("div.body", entities),
        parts.scroll("Attributes found", table),
        about=[element("p", text), parts.aside(link)],
    )


def inferred_note(workspace: Workspace, name: str) -> Markup:
    """Return a note if the entities of a table are inferred, or can be; else nothing."""
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
    found = None if is_known else infer_table(workspace.transport, name, DESIGN_SAMPLE)
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
    ("GET", "/tables"): show,
    ("GET", "/sample"): show_sample,
    ("POST", "/sample"): load_sample,
    ("GET", "/tables/{}"): show_table,
    ("GET", "/tables/{}/export"): export,
    ("POST", "/tables/{}/create"): create,
    ("GET", "/tables/{}/design"): show_inferred,
}
