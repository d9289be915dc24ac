"""Incoming: the requests in the bytes of one connection.

Invariants:
- Every buffer is bounded by `Limits`; what exceeds a limit, and what is not HTTP, raises `Refusal`,
  after which nothing more is parsed.
- A request has one meaning. A header that decides about its length, its sender or its operation is
  refused when it is repeated, whatever its spelling; trailers are read and ignored.
- An offer of another protocol (`Upgrade`) is ignored, and the request is read as if it had none.

Speed: the parser calls `on_url`, `on_header` and `on_body` many times for each request, so two of
them are methods of built-in containers and the third is a plain function. Lower-case names cost
0.3 µs of a request, and save the clients that do not send botocore's spelling 0.7.

Nothing here knows of sockets, operations or the engine.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Protocol

import httptools
import msgspec

from tablewright.errors import DynamoDBError, RequestEntityTooLargeException
from tablewright.server.answers import AMZ_JSON, TEXT
from tablewright.server.limits import MAX_BODY, Limits

#: Headers that a request may have once: two values would leave open which of them counts, and a
#: proxy in front of the server might decide otherwise.
SINGLE = frozenset(
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
    """A response that ends the connection, because what follows cannot be understood."""

    def __init__(self, status: int, content_type: bytes, body: bytes, code: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.content_type = content_type
        self.body = body
        self.code = code

    @classmethod
    def text(cls, status: int, message: str) -> Refusal:
        return cls(status, TEXT, message.encode() + b"\n")

    @classmethod
    def fault(cls, fault: DynamoDBError) -> Refusal:
        return cls(fault.status, AMZ_JSON, msgspec.json.encode(fault.body()), fault.code)


class Phase(enum.IntEnum):
    """How much of the next request has arrived."""

    NOTHING = 0
    HEAD = 1  # a part of its head
    BODY = 2  # its head, and perhaps a part of its body
    ENDED = 3  # nothing more is parsed


NOTHING, HEAD, BODY, ENDED = Phase


class Receiver(Protocol):
    """What takes the requests."""

    def __call__(
        self,
        method: bytes,
        url: bytearray,
        headers: dict[bytes, bytes],
        body: bytearray,
        keep_alive: bool,
    ) -> None:
        """Take a request. The containers are reused: copy what is needed later."""
        ...


class Incoming:
    """Feeds the parser, and hands each complete request to `receive`."""

    def __init__(self, limits: Limits, receive: Receiver) -> None:
        self.phase = NOTHING
        #: How many requests were complete.
        self.count = 0
        #: Of the request in phase BODY: the length of its body, or the largest that it may have.
        self.expected = 0
        #: The client waits for "100 Continue" before it sends the body.
        self.expects_continue = False
        self._max_head = limits.head_bytes
        self._max_headers = limits.header_count
        self._receive = receive
        self._url = bytearray()
        self._headers = headers = dict[bytes, bytes]()
        self._body = bytearray()
        self._head_size = 0
        self._header_count = 0  # different names in the head
        self._repeats = 0
        self._is_checked = False
        self._idle_bytes = 0  # received in phase BODY, without the body growing: trailers
        self._last_length = 0
        self._must_check_head = False  # it came in pieces, or may be too large

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
        """Parse what has arrived. Raises `Refusal` if it cannot be understood or is too large."""
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
            cause = error.__context__  # what was raised by a callback
            raise Refusal.text(400, "Bad Request") if cause is None else cause from None

    def end(self) -> None:
        """Parse nothing more."""
        self.phase = ENDED

    def close(self) -> None:
        """Release every buffer. They would otherwise live until the next collection of cycles."""
        self.phase = ENDED
        self._url.clear()
        self._headers.clear()
        self._body.clear()
        del self._parser, self.on_header, self._receive

    # --- called by the parser ------------------------------------------------------------------

    def on_headers_complete(self) -> None:
        self.phase = BODY
        self._header_count = count = len(self._headers)
        if count > self._max_headers or self._must_check_head:
            self._check_head(count)

    def on_message_complete(self) -> None:
        url, headers, body, parser = self._url, self._headers, self._body, self._parser
        if parser.should_upgrade():
            return  # the parser stops here, and `_ignore_upgrades` follows
        if len(headers) != self._header_count:
            for trailer in list(headers)[self._header_count :]:
                del headers[trailer]
        self.phase = NOTHING
        self.count += 1
        self._receive(parser.get_method(), url, headers, body, parser.should_keep_alive())
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
        if name in SINGLE:
            raise Refusal.text(400, f"The header {name.decode()} occurs twice")
        self._headers[name] += b"," + value
        self._repeats += 1
        self._must_check_head = True
        if self._repeats > self._max_headers:
            raise Refusal.text(431, "There are too many headers")

    def _check_head(self, count: int) -> None:
        if count + self._repeats > self._max_headers:
            raise Refusal.text(431, "There are too many headers")
        self._repeats = 0
        self._must_check_head = False
        size = sum(len(name) + len(value) + 4 for name, value in self._headers.items())
        if size + len(self._url) > self._max_head:
            raise Refusal.text(431, "The header is too large")

    def _check_unfinished(self, size: int) -> None:
        """Check a request of which a part has arrived."""
        if self.phase is not BODY:
            self.phase = HEAD
            self._must_check_head = True
            # The first piece may begin with other requests, so it does not count.
            self._head_size = self._head_size + size if self._head_size else 1
            if self._head_size > self._max_head:
                raise Refusal.text(431, "The header is too large")
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
                raise Refusal.text(431, "The trailers are too large")
        self._last_length = length
        if max(length, self.expected) > MAX_BODY:
            raise Refusal.fault(RequestEntityTooLargeException())

    def _expectation(self) -> bytes:
        return self._headers.get(b"expect", b"").lower()

    def _ignore_upgrades(self, rest: memoryview) -> None:
        """Read requests that offer another protocol as if they did not.

        Java's client offers HTTP/2 in its first request. The parser takes what follows the head for
        the other protocol, so a new parser gets the head again, without the offer. A loop, because
        what follows may be such a request too.
        """
        while True:
            method = self._parser.get_method()
            if method == b"CONNECT":  # which is nothing but an upgrade
                raise Refusal.text(400, "Bad Request")
            head = head_without_offer(method, self._url, self._headers)
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


def head_without_offer(method: bytes, url: bytearray, headers: Mapping[bytes, bytes]) -> bytes:
    lines = [b"%b %b HTTP/1.1" % (method, bytes(url))]
    lines += [
        b"%b: %b" % (name, value)
        for name, value in headers.items()
        if name not in (b"connection", b"upgrade")
    ]
    if b"close" in headers.get(b"connection", b"").lower():
        lines.append(b"connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"
