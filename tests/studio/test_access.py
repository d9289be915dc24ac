"""Who may use a studio: Host, token, cookie, Origin; and the headers of every response."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

import pytest

from tablewright.studio.web.access import AccessRules
from tablewright.studio.web.http import Fields, WebRequest
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.studio.conftest import Browser


def test_the_link_works_once_and_leads_to_the_start_page(workspace: Workspace) -> None:
    with serving_studio(workspace) as link:
        browser = Browser(link)
        path = link.removeprefix(browser.origin)
        assert browser.get("/").status == 303
        assert browser.get("/", Cookie="x=1").status == 403
        assert browser.get(path, Cookie="x=1").status == 403  # it was used
        assert "url=/" in browser.get(path).text  # the same browser may open it again


def test_the_cookie_is_for_the_pages_of_the_studio_only(workspace: Workspace) -> None:
    with serving_studio(workspace) as link:
        browser = Browser.__new__(Browser)
        browser.host, browser.cookie = link.split("/")[2], ""
        cookie = browser.get(link.split(browser.host)[1]).headers["Set-Cookie"]
    assert re.fullmatch(
        r"tablewright_studio_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=/", cookie
    )


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "localhost:1",
        "",
        "127.0.0.1:80.",
        "127.0.0.1:{port}",
        "localhost:{port}",
        "[::1]:{port}",
        "[::1].evil.com",
        "127.0.0.1:80@evil.com",
        "{host}@evil.com",
        "{host}.evil.com",
        "x.{host}",
    ],
)
def test_another_host_is_refused_also_with_the_cookie(browser: Browser, host: str) -> None:
    port = browser.host.partition(":")[2]
    answer = browser.get("/tables", Host=host.format(host=browser.host, port=port))
    assert answer.status == 421
    assert browser.host not in answer.text  # a page of the other name could read it


def test_the_name_is_random_so_that_no_other_server_gets_the_cookie(workspace: Workspace) -> None:
    with serving_studio(workspace) as one, serving_studio(workspace) as other:
        names = {urlsplit(link).hostname or "" for link in (one, other)}
    assert len(names) == 2
    assert all(re.fullmatch(r"studio-[0-9a-f]{16}\.localhost", name) for name in names)


def test_a_chosen_name_is_the_only_one_that_is_accepted(workspace: Workspace) -> None:
    rules = AccessRules(80, "127.0.0.1")
    assert rules.link.startswith("http://127.0.0.1:80/?token=")
    query = Fields.parse(rules.link.partition("?")[2])
    for host, status in (("localhost:80", 421), ("127.0.0.1:80", 200)):
        request = WebRequest(method="GET", path="/", query=query, headers={"host": host})
        answer = rules.check(request)
        assert answer is not None
        assert answer.status == status


def test_no_other_program_can_listen_on_the_port_of_the_studio(browser: Browser) -> None:
    """Browsers try ::1 first: who listens there would get the link."""
    port = int(browser.host.partition(":")[2])
    for address, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
        with pytest.raises(OSError, match=r"in use|not supported|assign"):
            socket.create_server((address, port), family=family)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "same-origin", "Cookie": "tablewright_studio_1=x"},
    ],
)
def test_a_change_from_another_page_is_refused(browser: Browser, headers: dict[str, str]) -> None:
    assert browser.send("POST", "/tables", **headers).status == 403


def test_every_response_has_the_security_headers(browser: Browser) -> None:
    paths = ["/tables", "/nothing", "/static/style.css", "/static/nothing", "/"]
    for found in [
        *map(browser.get, paths),
        browser.get("/", Host="x"),
        browser.get("/", Cookie=""),
    ]:
        policy = found.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert found.headers["X-Content-Type-Options"] == "nosniff"
        assert found.headers["Referrer-Policy"] == "no-referrer"
        assert found.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_link_leads_to_the_studio_only(workspace: Workspace) -> None:
    with serving_studio(workspace) as link:
        browser = Browser(link)
        for path in ("//evil.example/", "///evil.example/", "/%2F/evil.example"):
            found = browser.get(f"{path}?token=x").text
            assert re.search(r"url=/(?![/\\])", found)


def test_pages_have_no_inline_script_or_style(browser: Browser) -> None:
    for path in ("/tables", "/nothing"):
        text = browser.get(path).text
        assert not re.search(r"<style|<script(?![^>]* src=)| style=| on\w+=", text)
