"""The server of the studio: it listens on loopback and answers each request with a view.

A view is a function `(workspace, request, *parts) -> WebPage | WebResponse`; `parts` are those of
the path that stand for `{}` in the route. Each module of views lists its routes.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import unquote
from weakref import WeakSet

from msgspec.structs import replace

from tablewright.errors import TablewrightError
from tablewright.server.limits import Limits
from tablewright.studio.markup.form_parts import TARGET
from tablewright.studio.views import (
    console,
    design,
    evolve,
    find,
    item,
    item_edit,
    item_value,
    items,
    live,
    patterns,
    tables,
)
from tablewright.studio.web import frame
from tablewright.studio.web.access import HEADERS, AccessRules
from tablewright.studio.web.frame import (
    WebPage,
    form_elsewhere_page,
    framed,
    missing_page,
    problem_page,
    unexpected_page,
)
from tablewright.studio.web.http import BrowserConnection, WebRequest, WebResponse
from tablewright.studio.workspace import Workspace

log = logging.getLogger("tablewright.studio")

HOST = "127.0.0.1"
HOST_V6 = "::1"
#: Requests that are answered at the same time, live views included.
THREADS = 16
NO_IPV6 = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


# --- routes -------------------------------------------------------------------------------------


View = Callable[..., WebPage | WebResponse]

MODULES = (
    frame,
    design,
    find,
    item,
    item_value,
    item_edit,
    console,
    live,
    items,
    patterns,
    tables,
    evolve,
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


# --- the server ---------------------------------------------------------------------------------


class StudioServer:
    """Serves a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    async def start(
        self, port: int = 0, name: str | None = None, on_use: Callable[[str], None] = lambda _: None
    ) -> str:
        """Listen and return the link for the first visit. Raises OSError if the port is in use.

        `name` is the host name in the link; None chooses a random one. `on_use` is called with the
        next link when a link was used.
        """
        self._connections = WeakSet[BrowserConnection]()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="studio")
        limits = Limits()
        sockets = listen(port)
        self._access = AccessRules(sockets[0].getsockname()[1], name, on_use)
        loop = asyncio.get_running_loop()
        self._servers = [
            await loop.create_server(lambda: self._connect(limits), sock=each) for each in sockets
        ]
        return self._access.link

    def _connect(self, limits: Limits) -> BrowserConnection:
        connection = BrowserConnection(self.answer, self._threads, limits)
        self._connections.add(connection)
        return connection

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def answer(self, request: WebRequest) -> WebResponse:
        """Answer a request; every response has the security headers."""
        response = self._access.check(request) or self._run(request)
        headers = {"Cache-Control": "no-store", **HEADERS, **response.headers}
        return replace(response, headers=headers)

    def _run(self, request: WebRequest) -> WebResponse:
        found = find_view(request)
        if found is None:
            accepted = methods(request.path)
            if accepted:
                page = self._framed(form_elsewhere_page(request))
                return replace(page, headers={"Allow": ", ".join(accepted)})
            return self._framed(missing_page(request))
        view, parts = found
        try:
            if request.method == "POST" and self.workspace.is_locked:
                self.workspace.unlock(request.form.get(TARGET))
            answer = view(self.workspace, request, *parts)
        except TablewrightError as error:
            answer = problem_page(error, request, self.workspace)
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            answer = unexpected_page()
        return answer if isinstance(answer, WebResponse) else self._framed(answer)

    def _framed(self, page: WebPage) -> WebResponse:
        return WebResponse(body=framed(page, self.workspace), status=page.status)


def listen(port: int) -> list[socket.socket]:
    """Listen on a port of both loopback addresses; 0 chooses a free port.

    Browsers try ::1 first for a name below localhost. If another program had this port there, it
    would get the link and the cookie.
    """
    first = socket.create_server((HOST, port))
    try:
        return [
            first,
            socket.create_server((HOST_V6, first.getsockname()[1]), family=socket.AF_INET6),
        ]
    except OSError as error:
        if error.errno in NO_IPV6:
            return [first]
        first.close()
        if port == 0 and error.errno == errno.EADDRINUSE:
            return listen(0)
        raise


@contextmanager
def serving_studio(workspace: Workspace) -> Iterator[str]:
    """Serve a workspace in a thread while the block runs; the value is the link."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="studio")
    thread.start()
    server = StudioServer(workspace)
    try:
        yield asyncio.run_coroutine_threadsafe(server.start(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
