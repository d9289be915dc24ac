"""Tables: what is at the target, and the table of the design that is missing there."""

from __future__ import annotations

from tablewright.publish.html.element import Markup, element
from tablewright.studio.markup.parts import NOTHING, data_table, heading, note, scroll
from tablewright.studio.target.inventory import FoundTable, format_size, overview
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace

STREAMS = {
    "NEW_AND_OLD_IMAGES": "new and old images",
    "NEW_IMAGE": "new images",
    "OLD_IMAGE": "old images",
    "KEYS_ONLY": "keys only",
}


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Show the tables of the target."""
    after = request.query.get("after")
    found = overview(workspace, after)
    content = [
        heading(
            "Tables",
            "What is on the target, with a design or without.",
            _actions(workspace, found.tables),
        ),
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
    load = element("a", "Load sample data", class_="btn go", href="/sample")
    return element("div", load, class_="row")


def _notice(workspace: Workspace, tables: list[FoundTable]) -> Markup:
    missing = [table.name for table in tables if table.description is None]
    if not tables:
        text = "The target has no tables."
        return note(text, "warn")
    if missing and not workspace.is_writable:
        names = ", ".join(missing)
        return note(
            f"The target does not have {names}, and it is read-only: start the studio with --write "
            "to create what is missing.",
            "warn",
        )
    return NOTHING


def _list(
    workspace: Workspace, tables: list[FoundTable], after: str, following: str | None
) -> Markup:
    columns = ("Table", "Design", "Items", "Size", "Key", "Indexes", "TTL", "Stream", "Billing")
    rows = [_row(workspace, each) for each in tables]
    listed = data_table("Tables", columns, rows, numbers=("Items", "Size"), class_="tbls")
    existing = sum(table.description is not None for table in tables)
    count = f"{existing}{' on this page' if after or following else ''} on "
    header = element(
        "header", element("h2", "Tables"), element("p", count, element("b", workspace.target_name))
    )
    return element(
        "section",
        header,
        scroll("Tables", listed),
        _pager(after, following),
        class_="panel",
        aria_label="Tables",
    )


def _row(workspace: Workspace, found: FoundTable) -> Markup:
    link = element(
        "a",
        element("b", found.name),
        class_="mono",
        href=url("/tables/{}", found.name),
    )
    table = found.description
    if table is None:
        return element(
            "tr", element("td", link), _design_cell(workspace, found),
            element("td", "it does not exist at this target", class_="muted", colspan="7"),
        )  # fmt: skip
    status = NOTHING if table.state.status == "ACTIVE" else status_tag(table.state.status)
    count = len(table.indexes)
    return element(
        "tr",
        element("td", link, " ", status),
        _design_cell(workspace, found),
        element("td", f"{found.items:,}", class_="num"),
        element("td", format_size(table.state.size), class_="num"),
        element("td", ", ".join(table.keys.names), class_="mono"),
        element("td", str(count) if count else faint("none")),
        element("td", element("code", table.ttl) if table.ttl else faint("off")),
        element("td", STREAMS.get(table.stream, table.stream) if table.stream else faint("off")),
        element("td", table.capacity_text),
    )


def _design_cell(workspace: Workspace, table: FoundTable) -> Markup:
    if table.declared is None or workspace.design is None:
        return element("td", faint("none"))
    return element(
        "td", element("a", workspace.design.name, href="/design"), " ", design_tag(table)
    )


def design_tag(table: FoundTable) -> Markup:
    """Return whether a table of the design is as declared."""
    if table.description is None:
        return element("span", "missing", class_="tag bad")
    if table.description.state.status != "ACTIVE":
        return element("span", "not compared yet", class_="tag")
    count = len(table.differences)
    if not count:
        return element("span", "matches", class_="tag good")
    return element("span", f"{count} difference{'s'[: count - 1]}", class_="tag warn")


def status_tag(status: str) -> Markup:
    """Return the status of a table or an index."""
    kind = "tag good" if status == "ACTIVE" else "tag warn"
    return element("span", status.lower(), class_=kind)


def faint(text: str) -> Markup:
    return element("span", text, class_="faint")


def _pager(after: str, following: str | None) -> Markup:
    if not after and following is None:
        return NOTHING
    links = []
    if after:
        links.append(element("a", "First page", class_="btn sm", href="/tables"))
    if following is not None:
        href = url("/tables", after=following)
        links.append(element("a", "Next page", class_="btn sm", href=href, rel="next"))
    return element("div", element("span", links, class_="end"), class_="pager")


ROUTES = {("GET", "/tables"): show}
