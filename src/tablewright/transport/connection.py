"""Connections to an endpoint: one request at a time, blocking or in an event loop.

Invariants:
- A connection that failed is not used again, because the next bytes on it may belong to an earlier
  request. The caller closes it after any exception from `exchange`, including cancellation.
- A response is accepted only if it is complete and its checksum matches, and, with status 200, only
  if it looks like JSON: a proxy may have responded instead of DynamoDB.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
import sys
import time
import zlib
from typing import NamedTuple, Self, cast

import httptools

from tablewright.errors import TablewrightError

#: Bytes to read at once. (Larger buffers are mapped and unmapped for each read.)
CHUNK = 64 * 1024


class ResponseLost(TablewrightError):
    """A request was sent, and no valid response arrived: the request may have been applied."""


class Address(NamedTuple):
    """Where to connect, and the timeouts."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    connect_seconds: float
    #: From the first byte of a request to the last byte of its response.
    response_seconds: float

    @property
    def connect_timeout_message(self) -> str:
        return f"no connection within {self.connect_seconds:g} s"


def has_no_input(file: int) -> bool:
    """Whether an idle connection has received neither bytes nor its end."""
    if sys.platform == "win32":
        return not select.select([file], [], [], 0)[0]
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return not poll.poll(0)


class BlockingConnection:
    """A connection that blocks the calling thread."""

    __slots__ = ("_seconds", "_socket")

    def __init__(self, connected: socket.socket, seconds: float) -> None:
        self._socket = connected
        self._seconds = seconds

    @classmethod
    def open(cls, to: Address) -> Self:
        try:
            connected = socket.create_connection((to.host, to.port), to.connect_seconds)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if to.tls is not None:  # it closes the socket if the handshake fails
                connected = to.tls.wrap_socket(connected, server_hostname=to.host)
        except TimeoutError:
            raise TimeoutError(to.connect_timeout_message) from None
        connected.settimeout(to.response_seconds)
        return cls(connected, to.response_seconds)

    def is_usable(self) -> bool:
        return has_no_input(self._socket.fileno())

    def exchange(self, message: bytes, seconds: float) -> HttpResponse:
        """Send a request and return its response; raises ResponseLost."""
        if seconds != self._seconds:
            self._socket.settimeout(seconds)
            self._seconds = seconds
        response = HttpResponse()
        deadline = time.monotonic() + self._seconds
        try:
            self._socket.sendall(message)
            response.feed(self._socket.recv(CHUNK))
            if not response.is_complete:
                self._receive_rest(response, deadline)
        except TimeoutError:
            raise ResponseLost(f"no response within {self._seconds:g} s") from None
        except (OSError, ResponseDamaged) as error:
            raise ResponseLost(str(error)) from error
        return response

    def _receive_rest(self, response: HttpResponse, deadline: float) -> None:
        while not response.is_complete:  # each read may take the remaining time
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            response.feed(self._socket.recv(CHUNK))
        self._socket.settimeout(self._seconds)

    def close(self) -> None:
        self._socket.close()


class AsyncConnection(asyncio.Protocol):
    """A connection in an event loop."""

    _transport: asyncio.Transport
    _response: HttpResponse
    #: Done when the response is complete, with the error if it is damaged.
    _received: asyncio.Future[Exception | None]

    @classmethod
    async def open(cls, to: Address) -> AsyncConnection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(to.connect_seconds):
                _, connection = await loop.create_connection(cls, to.host, to.port, ssl=to.tls)
        except TimeoutError:
            raise TimeoutError(to.connect_timeout_message) from None
        return connection

    def is_usable(self) -> bool:
        if self._transport.is_closing():
            return False
        return has_no_input(self._transport.get_extra_info("socket").fileno())

    async def exchange(self, message: bytes, seconds: float) -> HttpResponse:
        """Send a request and return its response; raises ResponseLost."""
        self._response = response = HttpResponse()
        self._received = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        try:
            async with asyncio.timeout(seconds):
                error = await self._received
        except TimeoutError:
            raise ResponseLost(f"no response within {seconds:g} s") from None
        if error is not None:
            raise ResponseLost(str(error)) from error
        return response

    def close(self) -> None:
        self._transport.abort()

    # -- called by the event loop ------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # asyncio sets TCP_NODELAY
        self._received = asyncio.get_running_loop().create_future()
        self._received.set_result(None)  # no request is pending

    def data_received(self, data: bytes) -> None:
        if self._received.done():  # no request is pending
            self._transport.abort()
            return
        try:
            self._response.feed(data)
        except ResponseDamaged as error:
            self._received.set_result(error)
        else:
            if self._response.is_complete:
                self._received.set_result(None)

    def eof_received(self) -> None:
        self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._received.done():
            self._received.set_result(exc or ResponseDamaged("the connection was closed"))


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
