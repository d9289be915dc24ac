"""The frame: what surrounds the content of each page."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from msgspec import Struct

from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.publish.html.style import rules
from tablewright.studio.workspace import Workspace

#: The views: their name, URL and the letter after "g" that leads to them.
VIEWS = (
    ("Design", "/design", "d"),
    ("Patterns", "/patterns", "p"),
    ("Items", "/items", "i"),
    ("Console", "/console", "c"),
    ("Live", "/live", "l"),
    ("Tables", "/tables", "t"),
)
#: How often a page asks whether the target answers.
ASK_AGAIN = "every 4s"
#: The settings of htmx. With a settle delay, an input that has the focus keeps its first value.
HTMX = '{"includeIndicatorCSS": false, "defaultSettleDelay": 0}'
#: The views that need a design.
DESIGN_VIEWS = frozenset({"Design", "Patterns"})


class WebPage(Struct, frozen=True):
    """The content of a page; `view` is the name of the view that it belongs to."""

    title: str
    content: Child
    view: str = ""
    status: int = 200


def framed(page: WebPage, workspace: Workspace) -> bytes:
    """Return a page with navigation, search, target and footer."""
    if workspace.static_views:
        return _static_page(page, workspace)
    body = [
        element("a", "Skip to content", class_="skip", href="#main"),
        element("header", _brand(), _views(page, workspace), _find(), _target(workspace),
                class_="top"),
        connection(workspace),
        element("main", page.content, id="main", tabindex="-1"),
        _footer(workspace),
    ]  # fmt: skip
    scripts = [_script("htmx.min.js"), _script("studio.js")]
    return document(f"{page.title} · Tablewright Studio", body, scripts)


def _static_page(page: WebPage, workspace: Workspace) -> bytes:
    """Return a page that needs no server: without search, target and scripts."""
    body = [
        element("a", "Skip to content", class_="skip", href="#main"),
        element("header", _brand(), _views(page, workspace), class_="top"),
        element("main", page.content, id="main", tabindex="-1"),
        element("footer", _names(workspace), class_="foot"),
    ]
    return document(f"{page.title} · Tablewright Studio", body, [])


def bare_page(title: str, content: Child, *head: Markup) -> bytes:
    """Return a page without navigation, for those who have no access."""
    return document(title, [element("main", content, id="main", class_="alone")], [*head])


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


def _script(name: str) -> Markup:
    return element("script", src=static_url(name), defer="")


def _brand() -> Markup:
    icon = element(
        "svg",
        element("rect", class_="lg", x=1, y=1, width=20, height=20, rx=5),
        element("path", class_="lw", d="M5 7h12M5 11h5M13 11h4M5 15h3M11 15h6"),
        viewBox="0 0 22 22",
        aria_hidden="true",
    )
    return element("a", icon, "Tablewright ", element("span", "Studio"), class_="brand", href="/")


def _views(page: WebPage, workspace: Workspace) -> Markup:
    links = [
        element(
            "li",
            element("a", name, href=url, aria_current="page" if name == page.view else None),
        )
        for name, url, _ in shown_views(workspace)
    ]
    return element("nav", element("ul", links), aria_label="Views")


def shown_views(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Return the views that a workspace has: their names, URLs and letters."""
    static = workspace.static_views
    return [
        view
        for view in VIEWS
        if (workspace.design is not None or view[0] not in DESIGN_VIEWS)
        and (not static or view[0] in static)
    ]


def _find() -> Markup:
    return element(
        "form",
        element("label", "Find an id or unique value", class_="vh", for_="q"),
        element(
            "input", id="q", name="q", type="search", placeholder="Find an id", autocomplete="off"
        ),
        element("kbd", "/", aria_hidden="true"),
        class_="find",
        role="search",
        action="/find",
    )


def _target(workspace: Workspace, **attributes: str) -> Markup:
    mode, kind = ("read-write", "") if workspace.is_writable else ("read-only", "ro")
    if workspace.problem:
        mode, kind = "not reachable", "lost"
    return element(
        "a",
        element("b", workspace.target_name),
        element("i", mode),
        class_=f"target {kind}".strip(),
        href="/tables",
        id="target",
        title=f"Target: {workspace.target_name}",
        **attributes,
    )


def connection(workspace: Workspace) -> Markup:
    """Return the banner of a target that cannot be reached, or its empty place.

    It asks again by itself, while the rest of the page stays as it is.
    """
    content = [
        element("b", "The target cannot be reached."),
        element("span", workspace.problem),
        element("span", "What is shown may be old. The page tries again by itself.",
                class_="muted"),
    ]  # fmt: skip
    banner = element("div", content, class_="banner") if workspace.problem else ""
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


def connection_state(workspace: Workspace) -> bytes:
    """Return the banner and the target, for a page that has both already."""
    return (connection(workspace) + _target(workspace, hx_swap_oob="true")).encode()


def _names(workspace: Workspace) -> list[Markup]:
    tables = [element("span", "table ", element("code", name)) for name in workspace.maps]
    if workspace.design is None:
        return tables
    return [element("span", "design ", element("b", workspace.design.name)), *tables]


def _footer(workspace: Workspace) -> Markup:
    keys = [
        element("span", element("kbd", "g"), " ", element("kbd", letter), " ", name.lower(),
                class_="keys")
        for name, _, letter in shown_views(workspace)
    ]  # fmt: skip
    search = element("span", element("kbd", "/"), " search", class_="keys")
    return element("footer", _names(workspace), search, keys, class_="foot")
