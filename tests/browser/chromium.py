"""Chromium under Playwright: how it is started, and what a page must not do.

Playwright's own browsers are not used: `make test-browser` installs Chromium from the packages of
the system. `CHROMIUM` names another executable.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    expect,
    sync_playwright,
)

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
#: A desktop, the same at 200 % zoom, and a phone.
WIDTHS = (1280, 640, 400)
HEIGHT = 800
#: How long a test waits for a state of a page; generous, for a machine with other work.
WAIT_MS = 30_000

#: A name that resolves to this machine, as after DNS rebinding; all other names are unknown.
REBOUND = "rebound.test"
_LOCAL = frozenset({"127.0.0.1", "localhost", "::1", REBOUND})
_FLAGS = [
    "--no-sandbox",  # Chromium does not start as root with it
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1,"
    "MAP * ~NOTFOUND,EXCLUDE localhost,EXCLUDE *.localhost,EXCLUDE 127.0.0.1",
]


@contextmanager
def launched() -> Iterator[Browser]:
    """Start Chromium; stop it at the end."""
    name = os.environ.get("CHROMIUM", "chromium")
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"the browser {name!r} is missing; `make test-browser` installs it")
    with sync_playwright() as playwright:
        expect.set_options(timeout=WAIT_MS)
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


def show(page: Page, scheme: Scheme, width: int) -> None:
    """Set the colour scheme and the width of a page."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": HEIGHT})


def watch(context: BrowserContext) -> list[str]:
    """Return a list that collects what goes wrong on the pages of a context from now on.

    These are errors and warnings on the console, exceptions, failed requests, dialogs, and requests
    to another host.
    """
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console: {message.text}")

    def on_request(request: Request) -> None:
        if not is_local(request.url):
            problems.append(f"request to another host: {request.url}")

    def on_failed_request(request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page was left
            problems.append(f"failed request: {request.url} ({request.failure})")

    def on_dialog(dialog: Dialog) -> None:
        problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    context.on("console", on_console)
    context.on("request", on_request)
    context.on("dialog", on_dialog)
    context.on("weberror", lambda error: problems.append(f"exception: {error.error}"))
    context.on("requestfailed", on_failed_request)
    return problems


def is_local(url: str) -> bool:
    """Return whether loading an address sends nothing to another machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ws", "wss"):
        return True
    return parts.hostname in _LOCAL or (parts.hostname or "").endswith(".localhost")
