"""Routes: which view answers a URL.

A view is a function `(workspace, request, *parts) -> WebPage | WebResponse`; `parts` are those of
the path that stand for `{}` in the route. Each module of views lists its routes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from tablewright.studio.views import (
    console,
    design,
    find,
    item,
    item_change,
    item_edit,
    items,
    live,
    patterns,
    table,
    tables,
)
from tablewright.studio.web import frame
from tablewright.studio.web.frame import WebPage
from tablewright.studio.web.http import WebRequest, WebResponse

View = Callable[..., WebPage | WebResponse]

MODULES = (
    *(frame, design, find, item, item_change, item_edit, console),
    *(live, items, patterns, table, tables),
)
_ROUTES: list[tuple[str, re.Pattern[str], View]] = [
    (method, re.compile(re.escape(route).replace(r"\{\}", "([^/]+)")), view)
    for module in MODULES
    for (method, route), view in module.ROUTES.items()
]


def find_view(request: WebRequest) -> tuple[View, list[str]] | None:
    """Return the view of a request and the parts of its path, or None."""
    method = "GET" if request.method == "HEAD" else request.method
    for view, accepted, parts in _matches(request.path):
        if accepted == method:
            return view, parts
    return None


def methods(path: str) -> list[str]:
    """Return the methods that a path accepts."""
    return sorted({accepted for _, accepted, _ in _matches(path)})


def _matches(path: str) -> Iterator[tuple[View, str, list[str]]]:
    for method, pattern, view in _ROUTES:
        if (found := pattern.fullmatch(path)) is not None:
            yield view, method, [unquote(part) for part in found.groups()]
