"""HTTP/1.1 without sockets: an answer from bytes.

DynamoDB's protocol is one verb, one path and a handful of headers; httptools parses the answers. An
answer is trusted once it is whole, has the checksum that it was sent with, and is JSON if it tells
of success: something between us and the endpoint may have answered instead.
"""

from __future__ import annotations

import zlib

import httptools

from tablewright.errors import TablewrightError


class Damaged(TablewrightError):
    """An answer that is not HTTP, not whole, or not what was sent."""


class Answer:
    """An answer, as far as it has come."""

    __slots__ = ("_parser", "_parts", "body", "complete", "headers", "keeps_alive", "status")

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}
        self.complete = False
        #: These are known once it is complete.
        self.status = 0
        self.body = b""
        self.keeps_alive = False

    def feed(self, data: bytes) -> None:
        """Take bytes in, none at the end of the connection; `Damaged` if they cannot be right."""
        if not data:
            self._end()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise Damaged(f"the answer is not HTTP: {error}") from None
        if self.complete:
            self._check()

    def _end(self) -> None:
        if not self.status and not self.headers:
            raise Damaged("the connection was closed without an answer")
        # Only a body without a length ends with the connection.
        if not self.status or {b"content-length", b"transfer-encoding"} & self.headers.keys():
            raise Damaged("the connection was cut in the middle of an answer")
        self.on_message_complete()
        self.keeps_alive = False
        self._check()

    def _check(self) -> None:
        self.body = body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        told = self.headers.get(b"x-amz-crc32")
        if told is not None and told.isdigit() and zlib.crc32(body) != int(told):
            raise Damaged("the answer's checksum is not the one that it was sent with")
        if self.status == 200 and not (body.startswith(b"{") and body.endswith(b"}")):
            raise Damaged(f"the answer is not DynamoDB's: {excerpt(body)}")

    # -- what httptools calls ----------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self.complete:
            raise Damaged("there are bytes after its end")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        # Asked later, the parser has forgotten the length and says no.
        self.keeps_alive = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self.complete = True


def excerpt(body: bytes) -> str:
    """The beginning of a body, to be shown."""
    return repr(body[:200].decode("latin-1"))
