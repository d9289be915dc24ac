"""Tables: what is at the target."""

from __future__ import annotations

from tablewright.publish.html.element import element
from tablewright.studio.frame import Page
from tablewright.studio.http import Request
from tablewright.studio.workspace import Workspace


def show(workspace: Workspace, _: Request) -> Page:
    """Show the tables of the target."""
    names = [element("li", element("code", name)) for name in workspace.table_names()]
    heading = element("div", element("h1", "Tables"), class_="head")
    return Page("Tables", [heading, element("ul", names)], "Tables")


ROUTES = {("GET", "/tables"): show}
