"""HTTP/1.1 without sockets: the bytes of a request, and an answer from bytes.

DynamoDB's protocol is one verb, one path and a handful of headers; httptools parses the answers.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import httptools

from tablewright.errors import TablewrightError


class Damaged(TablewrightError):
    """An answer that is not HTTP, or not what was sent: its checksum differs."""


def request(headers: Mapping[str, str], body: bytes) -> bytes:
    """The bytes of a request."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST / HTTP/1.1\r\n{lines}content-length: {len(body)}\r\n\r\n"
    return head.encode("latin-1") + body


class Answer:
    """An answer, as far as it has come."""

    __slots__ = ("_body", "_parser", "complete", "headers", "started")

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}
        self.started = False
        self.complete = False

    def feed(self, data: bytes) -> None:
        """Take bytes in; a `Damaged` if they are not HTTP."""
        self.started = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise Damaged(f"the answer is not HTTP: {error}") from None

    @property
    def status(self) -> int:
        status: int = self._parser.get_status_code()
        return status

    @property
    def keeps_alive(self) -> bool:
        alive: bool = self._parser.should_keep_alive()
        return alive

    def body(self) -> bytes:
        """The body, if it is what the endpoint sent."""
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        told = self.headers.get(b"x-amz-crc32")
        if told is not None and told.isdigit() and zlib.crc32(body) != int(told):
            raise Damaged("the answer's checksum is not the one that it was sent with")
        return body

    # -- what httptools calls ----------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self.complete = True
