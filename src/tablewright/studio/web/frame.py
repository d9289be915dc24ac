"""The frame: what surrounds the content of each page, its static files, and the start page.

Problems are pages, too: they say what happened, and what to do.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from urllib.parse import urlencode

from msgspec import Struct

from tablewright.errors import CannotOpen, DynamoDBError, EndpointUnavailable, TablewrightError
from tablewright.presentation.element import Child, Markup, element, join
from tablewright.presentation.style import rules
from tablewright.studio.markup.parts import NOTHING, note, swap
from tablewright.studio.web.http import TEXT, FormRefused, WebRequest, WebResponse, redirect
from tablewright.studio.workspace import ReadOnlyTarget, Workspace

#: The views: their name, URL and the letter after "g" that leads to them.
VIEWS = (
    ("Design", "/design", "d"),
    ("Patterns", "/patterns", "p"),
    ("Items", "/items", "i"),
    ("Console", "/console", "c"),
    ("Live", "/live", "l"),
    ("Tables", "/tables", "t"),
    ("Evolve", "/evolve", "e"),
)
#: How often a page asks whether the target answers.
ASK_AGAIN = "every 4s"
#: The settings of htmx. With a settle delay, an input that has the focus keeps its first value.
HTMX = '{"includeIndicatorCSS": false, "defaultSettleDelay": 0}'
#: The media types of the static files, by their suffixes.
TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
STATIC = (
    *("style.css", "diagram.css", "icon.svg"),
    *("studio.js", "console.js", "live.js", "htmx.min.js"),
)
#: The views that need a design.
DESIGN_VIEWS = frozenset({"Design", "Patterns", "Evolve"})


class WebPage(Struct, frozen=True):
    """The content of a page; `view` is the name of the view that it belongs to."""

    title: str
    content: Child
    view: str = ""
    status: int = 200


def framed(page: WebPage, workspace: Workspace) -> bytes:
    """Return a page with navigation, search, target and footer."""
    scripts = [
        element("script", src=static_url(name), defer="") for name in ("htmx.min.js", "studio.js")
    ]
    body = [
        element("a.skip", "Skip to content", href="#main"),
        element("header.top", _brand(), _views(page, workspace), _find(), _target(workspace)),
        connection(workspace),
        _ends(workspace.start_command),
        _waiting(workspace.named.name),
        element("main", page.content, id="main", tabindex="-1"),
        element("footer.foot", _names(workspace), _keys(workspace)),
    ]
    return document(f"{page.title} · Tablewright Studio", body, scripts)


def bare_page(title: str, content: Child, *head: Markup) -> bytes:
    """Return a page without navigation, for those who have no access."""
    return document(title, [element("main.alone", content, id="main")], [*head])


def document(title: str, body: list[Markup], head: list[Markup]) -> bytes:
    parts = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="htmx-config", content=HTMX),
        element("title", title),
        element("link", rel="icon", href=static_url("icon.svg"), type="image/svg+xml"),
        element("link", rel="stylesheet", href=static_url("style.css")),
        element("link", rel="stylesheet", href=static_url("diagram.css")),
        *head,
    ]
    html = element(
        "html", "\n", element("head", join(parts, "\n")), "\n", element("body", join(body, "\n")),
        lang="en",
    )  # fmt: skip
    return f"<!doctype html>\n{html}\n".encode()


@cache
def static_file(name: str) -> bytes:
    """Return a file of the folder `static`, or the style of diagrams."""
    if name == "diagram.css":
        return rules("diagram").encode()
    return (files("tablewright.studio") / "static" / name).read_bytes()


@cache
def static_url(name: str) -> str:
    """Return the URL of a static file, which changes with its content."""
    return f"/static/{name}?{sha256(static_file(name)).hexdigest()[:12]}"


@cache
def _brand() -> Markup:
    icon = element(
        "svg",
        element("rect.lg", x=1, y=1, width=20, height=20, rx=5),
        element("path.lw", d="M5 7h12M5 11h5M13 11h4M5 15h3M11 15h6"),
        viewBox="0 0 22 22",
        aria_hidden="true",
    )
    return element("a.brand", icon, "Tablewright ", element("span", "Studio"), href="/")


def _views(page: WebPage, workspace: Workspace) -> Markup:
    links = []
    for name, url, _ in shown_views(workspace):
        here = "page" if name == page.view else None
        links.append(element("li", element("a", name, href=url, aria_current=here)))
    return element("nav", element("ul", links), aria_label="Views")


def shown_views(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Return the views that a workspace has: their names, URLs and letters."""
    return [view for view in VIEWS if workspace.design is not None or view[0] not in DESIGN_VIEWS]


@cache
def _find() -> Markup:
    label = element("label.vh", "Find an id or unique value", for_="q")
    box = element("input", id="q", name="q", type="search", placeholder="Find an id",
                  autocomplete="off")  # fmt: skip
    key = element("kbd", "/", aria_hidden="true")
    return element("form.find", label, box, key, role="search", action="/find")


def _target(workspace: Workspace, **attributes: str) -> Markup:
    named = workspace.named
    mode, kind = ("read-write", named.kind) if workspace.is_writable else ("read-only", "ro")
    if workspace.is_locked:
        mode, kind = "locked", named.kind
    if workspace.problem:
        mode, kind = "not reachable", "lost"
    before = element("span", "production") if named.kind == "production" else NOTHING
    return element(
        "a",
        before,
        element("b", named.name),
        element("i", mode),
        class_=f"target {kind}",
        href="/tables",
        id="target",
        title=f"Target: {named.whole}",
        **attributes,
    )


def connection(workspace: Workspace) -> Markup:
    """Return the banner of a target that cannot be reached, or its empty place.

    It asks again by itself, while the rest of the page stays as it is.
    """
    content = [
        element("b", "The target cannot be reached."),
        element("span", workspace.problem),
        element("span.muted", "What is shown may be old. The page tries again by itself."),
    ]  # fmt: skip
    banner = element("div.banner", content) if workspace.problem else ""
    is_asked = workspace.is_remote or workspace.problem
    return element(
        "div",
        banner,
        id="lost",
        role="status",
        hx_get="/connection" if is_asked else None,
        hx_trigger=ASK_AGAIN if is_asked else None,
        hx_swap="outerMorph" if is_asked else None,
    )


@cache
def _ends(command: str) -> Markup:
    """Return the hidden bars for a studio that has ended, which `studio.js` shows."""
    stopped = [
        element("b", "The studio has stopped."),
        element("span", "Start it again in the terminal: ", element("code", command)),
        element("span.muted", "This page keeps what you typed."),
    ]
    restarted = [
        element("b", "The studio was started again."),
        element("span", "Open the link that the command has printed."),
    ]
    return join(
        element("div.banner", content, hidden="", role="alert", data_end=what)
        for what, content in (("stopped", stopped), ("restarted", restarted))
    )


@cache
def _waiting(name: str) -> Markup:
    """Return the hidden line about what a page waits for, which `studio.js` shows."""
    text = f"Waiting for {name} …"
    seconds = element("b", aria_hidden="true")
    return element("p.waiting", text, seconds, hidden="", id="waiting", role="status")


def beat(_: Workspace, __: WebRequest) -> WebResponse:
    """Answer a page that asks whether the studio still runs; no request is sent to the target."""
    return WebResponse(body=b"", type=TEXT)


def connection_state(workspace: Workspace) -> bytes:
    """Return the banner and the target, for a page that has both already."""
    return (connection(workspace) + _target(workspace, hx_swap_oob="true")).encode()


def _names(workspace: Workspace) -> list[Markup]:
    tables = [element("span", "table ", element("code", name)) for name in workspace.maps]
    if workspace.design is None:
        return tables
    return [element("span", "design ", element("b", workspace.design.name)), *tables]


def _keys(workspace: Workspace) -> list[Markup]:
    """Return the keys that lead to the search and to the views."""
    keys = [("/", "search"), *((f"g {letter}", name) for name, _, letter in shown_views(workspace))]
    shown = []
    for each, name in keys:
        pressed = join([element("kbd", key) for key in each.split()], " ")
        shown.append(element("span.keys", pressed, f" {name.lower()}"))
    return shown


# --- pages --------------------------------------------------------------------------------------


def start(workspace: Workspace, _: WebRequest) -> WebResponse:
    """Lead to the design, or to the tables of a target without one."""
    return redirect("/tables" if workspace.design is None else "/design")


def static(_: Workspace, __: WebRequest, name: str) -> WebResponse:
    """Return a static file; its URL changes with its content."""
    if name not in STATIC:
        return WebResponse(status=404, type=TEXT, body=b"Not found\n")
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    type_ = TYPES[name.rpartition(".")[2]]
    return WebResponse(body=static_file(name), type=type_, headers=headers)


def ask_target(workspace: Workspace, _: WebRequest) -> WebResponse:
    """Ask the target whether it answers, and return the banner of the page."""
    with suppress(TablewrightError):
        workspace.send("ListTables", Limit=1)
    return WebResponse(body=connection_state(workspace))


ROUTES = {
    ("GET", "/"): start,
    ("GET", "/beat"): beat,
    ("GET", "/connection"): ask_target,
    ("GET", "/static/{}"): static,
}


#: How often a page that could not reach the target tries again.
RETRY = "every 3s"


class MissingPage(TablewrightError):
    """A view has no page for this URL; `page` says more, if it is given."""

    def __init__(self, page: WebPage | None = None) -> None:
        super().__init__("there is no such page" if page is None else page.title)
        self.page = page


def problem_page(
    error: TablewrightError, request: WebRequest, workspace: Workspace
) -> WebPage | WebResponse:
    """Return the page of an error of the target or of the input."""
    if isinstance(error, (EndpointUnavailable, CannotOpen)):
        if "hx-request" in request.headers:
            return _keep_page(workspace)
        return _lost(request)
    if isinstance(error, MissingPage):
        return error.page or missing_page(request)
    if isinstance(error, ReadOnlyTarget):
        return WebPage("Read-only", _note("The target is read-only", str(error)), status=403)
    if isinstance(error, FormRefused):
        return WebPage("Refused", _note("The form was refused", str(error)), status=error.status)
    title = "The target refused the request" if isinstance(error, DynamoDBError) else "A problem"
    return WebPage("Problem", _note(title, str(error)), status=400)


def missing_page(request: WebRequest) -> WebPage:
    """Return the page for a URL that no view has."""
    text = f"The studio has no page {request.path}. Use the views above."
    return WebPage("Not found", _note("There is no such page", text), status=404)


def form_elsewhere_page(request: WebRequest) -> WebPage:
    """Return the page for the address of a form that is opened as a link, or reloaded."""
    path, query = request.path.rpartition("/")[0], urlencode(request.query.pairs)
    link = element("a", "Open the form.", href=f"{path}?{query}" if query else path)
    text = "Nothing was written by opening this link: it is where a form is sent to. "
    content = [element("div.head", element("h1", "Nothing was written")), note([text, link])]
    return WebPage("Nothing was written", content, status=405)


def unexpected_page() -> WebPage:
    """Return the page for a mistake of the studio itself."""
    text = "This is a mistake of the studio. The terminal shows the details; please report them."
    return WebPage("Error", _note("The page could not be made", text), status=500)


def _keep_page(workspace: Workspace) -> WebResponse:
    """Show the banner in the page that sent the request; the rest of it stays."""
    headers = {"HX-Retarget": "#lost", "HX-Reswap": "outerMorph", "HX-Reselect": "#lost"}
    return WebResponse(status=503, body=connection_state(workspace), headers=headers)


def _lost(request: WebRequest) -> WebPage:
    """Return a page that tries again by itself, if it shows something; the banner says why."""
    retry = request.method == "GET"
    text = "Nothing can be shown." if retry else "Go back and try again: nothing was confirmed."
    again = swap("#main", push=False, hx_get="", hx_trigger=RETRY) if retry else {}
    content = element("div", _note("Not connected", text, "bad"), **again)
    return WebPage("Not connected", content, status=503)


def _note(title: str, text: str, kind: str = "warn") -> Markup:
    heading = element("div.head", element("h1", title))
    return join([heading, note(text, kind, role="alert")])
