"""Tables: what is at the target, and what of the design is missing there; its sample data.

GET  /tables     the tables of the target, page by page
GET  /sample     what loading the sample data of the design will do
POST /sample     loads it
"""

from __future__ import annotations

from tablewright.errors import TablewrightError
from tablewright.publish.html.element import Child, Markup, element
from tablewright.studio.markup import parts
from tablewright.studio.markup.parts import NOTHING, button_link, faint, heading, note, panel
from tablewright.studio.target.inventory import FoundTable, find_table, overview
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, url
from tablewright.studio.web.problems import MissingPage
from tablewright.studio.workspace import Workspace
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
    about = "What is on the target, with a design or without."
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
    about = element("p", count, element("b", workspace.target_name))
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
        parts.size_text(table.state.size),
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
    return parts.tag(parts.plural(len(table.differences), "difference"), "warn")


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
    """Return the design, which has sample data that may be loaded."""
    if workspace.design is None or workspace.design.sample is None:
        raise MissingPage
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
    load = parts.button("Load sample data", "go", type="submit", disabled=disabled)
    form = element("form.row", load, method="post", action="/sample")
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


ROUTES = {
    ("GET", "/tables"): show,
    ("GET", "/sample"): show_sample,
    ("POST", "/sample"): load_sample,
}
