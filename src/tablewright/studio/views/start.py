"""The start page, and the static files."""

from __future__ import annotations

from contextlib import suppress

from tablewright.errors import TablewrightError
from tablewright.studio.web.frame import WebPage, connection_state, static_file
from tablewright.studio.web.http import TEXT, WebRequest, WebResponse, redirect
from tablewright.studio.workspace import Workspace

TYPES = {
    "style.css": "text/css; charset=utf-8",
    "diagram.css": "text/css; charset=utf-8",
    "studio.js": "text/javascript; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def show(workspace: Workspace, _: WebRequest) -> WebResponse:
    """Lead to the design, or to the tables of a target without one."""
    return redirect("/tables" if workspace.design is None else "/design")


def static(_: Workspace, __: WebRequest, name: str) -> WebPage | WebResponse:
    """Return a static file; its URL changes with its content."""
    if name not in TYPES:
        return WebResponse(status=404, type=TEXT, body=b"Not found\n")
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return WebResponse(body=static_file(name), type=TYPES[name], headers=headers)


def connection(workspace: Workspace, _: WebRequest) -> WebResponse:
    """Ask the target whether it answers, and return the banner of the page."""
    with suppress(TablewrightError):
        workspace.send("ListTables", Limit=1)
    return WebResponse(body=connection_state(workspace))


ROUTES = {
    ("GET", "/"): show,
    ("GET", "/connection"): connection,
    ("GET", "/static/{}"): static,
}
