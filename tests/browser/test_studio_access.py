"""The access rules of a studio, as a browser applies them to its pages and to pages of others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.chromium import REBOUND
from tests.browser.studios import Studio


class Empty(BaseHTTPRequestHandler):
    """A page of another server, which keeps the cookies that it receives."""

    received: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.received.extend(self.headers.get_all("Cookie", []))
        body = b"<!doctype html><title>Other</title><link rel=icon href='data:,'>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""


@pytest.fixture
def other_port() -> Iterator[int]:
    """The port of a server on this machine that is not the studio."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_link_opens_the_studio_once(
    studio: Studio, page: Page, context: BrowserContext, problems: list[str]
) -> None:
    studio.enter(page)
    assert page.locator("h1").inner_text() == "Tables"
    context.clear_cookies()
    page.goto(studio.link)
    assert page.locator("h1").inner_text() == "The link is needed"
    assert problems == ["console: Failed to load resource: the server responded with a status of "
                        "403 (Forbidden)"]  # fmt: skip
    problems.clear()


def test_the_cookie_is_not_visible_to_scripts_and_not_sent_to_other_sites(
    studio: Studio, page: Page, context: BrowserContext
) -> None:
    studio.enter(page)
    (cookie,) = context.cookies()
    assert cookie["name"] == f"tablewright_studio_{studio.port}"
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert page.evaluate("document.cookie") == ""
    assert "token" not in page.evaluate("location.href + document.referrer")


def test_another_server_on_this_machine_does_not_receive_the_cookie(
    studio: Studio, page: Page, other_port: int
) -> None:
    studio.enter(page)
    Empty.received.clear()
    for host in ("127.0.0.1", "localhost", "other.localhost"):
        page.goto(f"http://{host}:{other_port}/")
        page.reload()  # also a page that is opened by hand gets no cookie
    assert Empty.received == []


def test_a_name_that_was_pointed_to_this_machine_is_refused(
    studio: Studio, page: Page, problems: list[str]
) -> None:
    studio.enter(page)
    found = page.goto(f"http://{REBOUND}:{studio.port}/tables")
    assert found is not None
    assert found.status == 421
    assert "printed" in page.locator("main").inner_text()
    problems.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", REBOUND, "the studio's"])
def test_a_page_of_another_server_reads_and_changes_nothing(
    studio: Studio, page: Page, other_port: int, problems: list[str], host: str
) -> None:
    """The browser has the cookie; another port of the same host is the same site for it."""
    studio.enter(page)
    name = urlsplit(studio.url).hostname if host == "the studio's" else host
    page.goto(f"http://{name}:{other_port}/")
    read = "url => fetch(url, {credentials: 'include'}).then(r => r.text(), () => 'blocked')"
    assert page.evaluate(read, f"{studio.url}/tables") == "blocked"
    frame = """url => new Promise(done => {
        const frame = document.createElement('iframe');
        frame.src = url;
        frame.onload = () => done(frame.contentDocument ? 'read' : 'blocked');
        document.body.append(frame);
    })"""
    assert page.evaluate(frame, f"{studio.url}/tables") == "blocked"
    with page.expect_navigation() as navigated:
        page.evaluate(
            """url => {
                const form = document.createElement('form');
                form.method = 'post';
                form.action = url;
                document.body.append(form);
                form.submit();
            }""",
            f"{studio.url}/tables",
        )
    answer = navigated.value
    assert answer.status == 403
    assert page.locator("h1").inner_text() in ("Another page", "The link is needed")
    problems.clear()


def test_the_browser_refuses_inline_scripts_styles_and_other_hosts(
    studio: Studio, page: Page, problems: list[str]
) -> None:
    studio.enter(page)
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="window.hit = 1">'
                + '<p id="probe" style="color: rgb(1, 2, 3)">x</p>');
            const script = document.createElement('script');
            script.textContent = 'window.hit = 2';
            document.body.append(script);
        }"""
    )
    elsewhere = "fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'blocked')"
    assert page.evaluate(elsewhere) == "blocked"
    assert page.evaluate("window.hit") is None
    color = "getComputedStyle(document.getElementById('probe')).color"
    assert page.evaluate(color) != "rgb(1, 2, 3)"
    policy = [each for each in problems if "Content Security Policy" in each]
    assert len(policy) >= 3
    problems.clear()
