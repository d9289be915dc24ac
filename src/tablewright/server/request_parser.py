"""The request parser: from the bytes of one connection to requests.

Invariants:
- Every buffer is bounded by `Limits`. Data that exceeds a limit or is not HTTP raises `Refusal`;
  after it nothing more is parsed.
- A request has one meaning. A repeated header that determines the length, the sender or the
  operation is refused, in any spelling. Trailers are read and ignored.
- `Upgrade` headers are ignored.

Speed: httptools calls `on_url`, `on_header` and `on_body` many times for each request, so two of
them are methods of built-in containers and the third is a plain function. Lower-case names cost
0.3 µs for each request, and save 0.7 µs if the client does not use botocore's spelling.

Nothing here knows of sockets, operations or the engine.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Protocol

import httptools
import msgspec

from tablewright.errors import DynamoDBError, RequestEntityTooLargeException
from tablewright.server.limits import MAX_BODY, Limits
from tablewright.server.responses import AMZ_JSON, TEXT, RepeatedHeader

#: Headers that a request may have only once: with two values, a proxy in front of the server might
#: use the other one.
SINGLE_HEADERS = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"date",
        b"expect",
        b"host",
        b"origin",
        b"transfer-encoding",
        b"x-amz-content-sha256",
        b"x-amz-date",
        b"x-amz-security-token",
        b"x-amz-target",
    }
)


class Refusal(Exception):
    """A response that ends the connection, because the data after it cannot be parsed."""

    def __init__(self, status: int, content_type: bytes, body: bytes, code: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.content_type = content_type
        self.body = body
        self.code = code

    @classmethod
    def with_text(cls, status: int, message: str) -> Refusal:
        return cls(status, TEXT, message.encode() + b"\n")

    @classmethod
    def with_fault(cls, fault: DynamoDBError) -> Refusal:
        return cls(fault.status, AMZ_JSON, msgspec.json.encode(fault.body()), fault.code)


class Phase(enum.IntEnum):
    """How much of the next request has arrived."""

    NOTHING = 0
    HEAD = 1  # a part of its headers
    BODY = 2  # its headers, and perhaps a part of its body
    ENDED = 3  # nothing more is parsed


NOTHING, HEAD, BODY, ENDED = Phase


class RequestHandler(Protocol):
    """A function that takes the requests of a connection."""

    def __call__(
        self,
        method: bytes,
        url: bytearray,
        headers: dict[bytes, bytes],
        body: bytearray,
        keep_alive: bool,
    ) -> None:
        """Handle a request. The containers are reused: copy what is needed later."""
        ...


class RequestParser:
    """Parses received data, and calls `handle` with each complete request."""

    def __init__(self, limits: Limits, handle: RequestHandler) -> None:
        self.phase = NOTHING
        #: The number of complete requests.
        self.count = 0
        #: In phase BODY: the declared length of the body, or the maximum if it is chunked.
        self.expected = 0
        #: The client waits for "100 Continue" before it sends the body.
        self.expects_continue = False
        self._max_head = limits.head_bytes
        self._max_headers = limits.header_count
        self._handle = handle
        self._url = bytearray()
        self._headers = headers = dict[bytes, bytes]()
        self._body = bytearray()
        self._head_size = 0
        self._header_count = 0  # different names in the head
        self._repeats = 0
        self._is_checked = False
        self._idle_bytes = 0  # received in phase BODY while the body did not grow: trailers
        self._last_length = 0
        self._must_check_head = False  # it arrived in pieces, or may be too large

        def on_header(name: bytes, value: bytes) -> None:
            name = name.lower()
            if name in headers:
                self._add_repeated(name, value)
            else:
                headers[name] = value

        self.on_header = on_header
        self.on_url = self._url.extend
        self.on_body = self._body.extend
        self._parser = httptools.HttpRequestParser(self)

    @property
    def body_received(self) -> int:
        return len(self._body)

    def feed(self, data: bytes) -> None:
        """Parse received data. Raises `Refusal` if it is malformed or too large."""
        if self.phase is ENDED:
            return
        if len(data) > self._max_head:
            self._must_check_head = True
        try:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                self._ignore_upgrades(memoryview(data)[upgrade.args[0] :])
            if self._headers or self._url:
                self._check_unfinished(len(data))
        except Refusal:
            self.phase = ENDED
            raise
        except httptools.HttpParserError as error:
            self.phase = ENDED
            cause = error.__context__  # raised by a callback
            raise Refusal.with_text(400, "Bad Request") if cause is None else cause from None

    def end(self) -> None:
        """Parse nothing more."""
        self.phase = ENDED

    def close(self) -> None:
        """Release every buffer at once, without waiting for the garbage collector."""
        self.phase = ENDED
        self._url.clear()
        self._headers.clear()
        self._body.clear()
        del self._parser, self.on_header, self._handle

    # --- called by the parser ------------------------------------------------------------------

    def on_headers_complete(self) -> None:
        self.phase = BODY
        self._header_count = count = len(self._headers)
        if count > self._max_headers or self._must_check_head:
            self._check_head(count)

    def on_message_complete(self) -> None:
        url, headers, body, parser = self._url, self._headers, self._body, self._parser
        if parser.should_upgrade():
            return  # the parser stops here; `_ignore_upgrades` continues
        if len(headers) != self._header_count:
            for trailer in list(headers)[self._header_count :]:
                del headers[trailer]
        self.phase = NOTHING
        self.count += 1
        self._handle(parser.get_method(), url, headers, body, parser.should_keep_alive())
        url.clear()
        headers.clear()
        body.clear()
        if self._head_size or self._is_checked:
            self._head_size = self._last_length = self._idle_bytes = 0
            self._is_checked = self.expects_continue = False

    # --- checks --------------------------------------------------------------------------------

    def _add_repeated(self, name: bytes, value: bytes) -> None:
        if self.phase is BODY:  # a trailer
            return
        if name in SINGLE_HEADERS:
            raise Refusal.with_text(400, f"The header {name.decode()} occurs twice")
        known = self._headers[name]
        joined = self._headers[name] = RepeatedHeader(known + b"," + value)
        joined.first = known.first if isinstance(known, RepeatedHeader) else known
        self._repeats += 1
        self._must_check_head = True
        if self._repeats > self._max_headers:
            raise Refusal.with_text(400, f"The request has more than {self._max_headers} headers")

    def _check_head(self, count: int) -> None:
        if count + self._repeats > self._max_headers:
            raise Refusal.with_text(400, f"The request has more than {self._max_headers} headers")
        self._repeats = 0
        self._must_check_head = False
        size = sum(len(name) + len(value) + 4 for name, value in self._headers.items())
        if size + len(self._url) > self._max_head:
            raise Refusal.with_text(400, f"The headers are larger than {self._max_head} bytes")

    def _check_unfinished(self, size: int) -> None:
        """Check a request that has not arrived completely."""
        if self.phase is not BODY:
            self.phase = HEAD
            self._must_check_head = True
            # The first piece may begin with other requests, so it does not count.
            self._head_size = self._head_size + size if self._head_size else 1
            if self._head_size > self._max_head:
                raise Refusal.with_text(400, f"The headers are larger than {self._max_head} bytes")
            return
        length = len(self._body)
        if not self._is_checked:
            self._is_checked = True
            declared = self._headers.get(b"content-length")
            self.expected = MAX_BODY if declared is None else int(declared)
            self.expects_continue = self._expectation() == b"100-continue"
        elif length == self._last_length:
            self._idle_bytes += size
            if self._idle_bytes > self._max_head:
                raise Refusal.with_text(400, f"The trailers are larger than {self._max_head} bytes")
        self._last_length = length
        if max(length, self.expected) > MAX_BODY:
            raise Refusal.with_fault(RequestEntityTooLargeException())

    def _expectation(self) -> bytes:
        return self._headers.get(b"expect", b"").lower()

    def _ignore_upgrades(self, rest: memoryview) -> None:
        """Parse requests with an `Upgrade` header as if they had none.

        Java's client offers HTTP/2 in its first request. httptools does not parse the data after
        such headers, so a new parser gets the headers again, without `Upgrade`. In a loop, because
        the next request may have the header too.
        """
        while True:
            method = self._parser.get_method()
            if method == b"CONNECT":  # which is only an upgrade
                raise Refusal.with_text(400, "Bad Request")
            head = head_without_upgrade(method, self._url, self._headers)
            self._url.clear()
            self._headers.clear()
            self._body.clear()
            self.phase = NOTHING
            self._parser = httptools.HttpRequestParser(self)
            self._parser.feed_data(head)
            try:
                self._parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]


def head_without_upgrade(method: bytes, url: bytearray, headers: Mapping[bytes, bytes]) -> bytes:
    """Return the request line and headers without the offer of another protocol."""
    lines = [b"%b %b HTTP/1.1" % (method, bytes(url))]
    lines += [
        b"%b: %b" % (name, value)
        for name, value in headers.items()
        if name not in (b"connection", b"upgrade")
    ]
    if b"close" in headers.get(b"connection", b"").lower():
        lines.append(b"connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"
