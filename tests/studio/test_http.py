"""Requests of any shape: a studio answers them or refuses them, and stays available."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tablewright.server.limits import Limits
from tablewright.studio.web.http import BrowserConnection, WebResponse
from tests.studio.conftest import Browser


def exchange(host: str, data: bytes) -> bytes:
    with socket.create_connection(
        ("127.0.0.1", int(host.partition(":")[2])), timeout=30
    ) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while piece := connection.recv(1 << 16):
            received += piece
    return received


@pytest.mark.parametrize(
    "request_line", [b"GET /%ff HTTP/1.1", b"GET /tables?" + b"a=1&" * 3000 + b" HTTP/1.1"]
)
def test_a_strange_url_is_answered(browser: Browser, request_line: bytes) -> None:
    head = f"Host: {browser.host}\r\nCookie: {browser.cookie}\r\n\r\n".encode()
    found = exchange(browser.host, request_line + b"\r\n" + head)
    assert found.split(b" ")[1] in (b"404", b"400")
    assert browser.get("/tables").status == 200


def test_what_is_not_http_is_refused(browser: Browser) -> None:
    assert exchange(browser.host, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_requests_of_one_connection_are_answered_in_order(browser: Browser) -> None:
    head = f" HTTP/1.1\r\nHost: {browser.host}\r\nCookie: {browser.cookie}\r\n".encode()
    paths = [b"/tables", b"/nothing", b"/static/icon.svg"] * 5
    requests = [b"GET " + path + head + b"\r\n" for path in paths]
    requests[-1] = requests[-1][:-2] + b"Connection: close\r\n\r\n"
    found = exchange(browser.host, b"".join(requests))
    statuses = [part[:3] for part in found.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"404", b"200"] * 5


def test_a_head_request_has_no_body(browser: Browser) -> None:
    found = browser.send("HEAD", "/tables")
    assert (found.status, found.text) == (200, "")
    assert int(found.headers["Content-Length"]) > 1000


def test_another_method_is_refused_with_the_allowed_ones(browser: Browser) -> None:
    found = browser.send("DELETE", "/tables", Sec_Fetch_Site="same-origin")
    assert (found.status, found.headers["Allow"]) == (405, "GET")


def test_a_response_that_fails_on_the_way_is_not_taken_for_a_whole_one() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"first\n"
        raise OSError("the target is gone")

    async def receive() -> bytes:
        with ThreadPoolExecutor(1) as threads:
            server = await asyncio.get_running_loop().create_server(
                lambda: BrowserConnection(lambda _: WebResponse(stream=pieces), threads, Limits()),
                "127.0.0.1",
                0,
            )
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            received = await reader.read()
            writer.close()
            server.close()
            return received

    head, _, body = asyncio.run(receive()).partition(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in head
    assert body == b"6\r\nfirst\n\r\n"  # without the last chunk, which is empty
