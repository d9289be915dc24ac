"""Sample data: a page says what loading it will do, and its form does it."""

from __future__ import annotations

from tablewright.errors import TablewrightError
from tablewright.publish.html.element import Markup, element
from tablewright.studio.markup.parts import NOTHING, data_table, heading, note, scroll
from tablewright.studio.target.inventory import find_table
from tablewright.studio.views.tables import faint
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest
from tablewright.studio.web.problems import missing_page
from tablewright.studio.web.url import url
from tablewright.studio.workspace import Workspace
from tablewright.verify.seeding import load_into


def show(workspace: Workspace, request: WebRequest) -> WebPage:
    """Say what loading the sample data will do, and offer it."""
    if workspace.design is None or workspace.design.sample is None:
        return missing_page(request)
    workspace.require_writable("Loading sample data")
    return _sample_page(workspace)


def _sample_page(workspace: Workspace, *problem: Markup) -> WebPage:
    tables = [find_table(workspace, name) for name in workspace.maps]
    filled = [table.name for table in tables if table.items]
    states = [
        element(
            "li",
            element("code", table.name), " ",
            faint("is created") if table.description is None
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
    return WebPage("Load sample data", content, "Tables", status=400 if problem else 200)


def load_sample(workspace: Workspace, request: WebRequest) -> WebPage:
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
        for entity, count in sorted(counts.items())
    ]
    columns = ("Table", "Entity", "Items")
    table = data_table("Loaded items", columns, rows, numbers=("Items",))
    total = sum(counts.total() for counts in loaded.values())
    content = [
        heading("Sample data", f"{total} items were loaded."),
        element("section", scroll("Loaded items", table), class_="panel", aria_label="Loaded"),
    ]
    return WebPage("Sample data", content, "Tables")


ROUTES = {("GET", "/sample"): show, ("POST", "/sample"): load_sample}
