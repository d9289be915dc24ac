"""HTTP/1.1 responses, parsed from bytes without sockets.

DynamoDB's protocol is one verb, one path and a few headers; httptools parses the responses.

Invariants: a response is accepted only if it is complete and its checksum matches, and, with status
200, only if it looks like JSON: a proxy may have responded instead of DynamoDB.
"""

from __future__ import annotations

import zlib

import httptools

from tablewright.errors import TablewrightError


class ResponseDamaged(TablewrightError):
    """A response that is not HTTP, is incomplete, or was changed on the way."""


class HttpResponse:
    """A response, parsed as its bytes arrive."""

    __slots__ = ("_parser", "_parts", "body", "headers", "is_complete", "keeps_alive", "status")

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}
        self.is_complete = False
        #: Valid once the response is complete.
        self.status = 0
        self.body = b""
        self.keeps_alive = False

    def feed(self, data: bytes) -> None:
        """Parse received bytes; b"" means that the connection was closed.

        Raises ResponseDamaged if the bytes are not part of a valid response.
        """
        if not data:
            self._end()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise ResponseDamaged(f"the response is not HTTP: {error}") from None
        if self.is_complete:
            self._check()

    def _end(self) -> None:
        if not self.status and not self.headers:
            raise ResponseDamaged("the connection was closed without a response")
        # Only a body without a length ends with the connection.
        if not self.status or {b"content-length", b"transfer-encoding"} & self.headers.keys():
            raise ResponseDamaged("the connection was closed in the middle of a response")
        self.on_message_complete()
        self.keeps_alive = False
        self._check()

    def _check(self) -> None:
        self.body = body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        checksum = self.headers.get(b"x-amz-crc32")
        if checksum is not None and checksum.isdigit() and zlib.crc32(body) != int(checksum):
            raise ResponseDamaged("the response does not match its checksum, x-amz-crc32")
        if self.status == 200 and not (body.startswith(b"{") and body.endswith(b"}")):
            raise ResponseDamaged(f"the response is not DynamoDB's: {excerpt(body)}")

    # -- called by httptools -----------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise ResponseDamaged("there are bytes after the end of the response")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        # After the body, the parser has forgotten the length and returns False.
        self.keeps_alive = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self.is_complete = True


def excerpt(body: bytes) -> str:
    """Return the beginning of a body, for an error message."""
    return repr(body[:200].decode("latin-1"))
