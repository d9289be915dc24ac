"""Connections: one request at a time, blocking or in an event loop.

A connection that fails in any way is of no more use: the next answer on it may be to an earlier
request. Whoever gets an exception from `exchange`, a cancellation too, closes it.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
import sys
import time
from typing import NamedTuple, Self, cast

from tablewright.errors import TablewrightError
from tablewright.transport.message import Answer, Damaged

#: Read at once. (Larger buffers are mapped and unmapped for each read.)
CHUNK = 64 * 1024


class Lost(TablewrightError):
    """A request was sent, and no answer came that can be trusted: it may have been done."""


class Address(NamedTuple):
    """Where to connect, and how long to wait."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    connect_seconds: float
    #: From the first byte of a request to the last of its answer.
    answer_seconds: float

    @property
    def not_connected(self) -> str:
        return f"there was no connection within {self.connect_seconds:g} s"


def is_silent(file: int) -> bool:
    """Whether nothing has come on a connection that lies idle: not even its end."""
    if sys.platform == "win32":
        return not select.select([file], [], [], 0)[0]
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return not poll.poll(0)


class Connection:
    """A connection that is waited for."""

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
            raise TimeoutError(to.not_connected) from None
        connected.settimeout(to.answer_seconds)
        return cls(connected, to.answer_seconds)

    def is_usable(self) -> bool:
        return is_silent(self._socket.fileno())

    def exchange(self, sent: bytes) -> Answer:
        """Send a request, and give its answer."""
        answer = Answer()
        deadline = time.monotonic() + self._seconds
        try:
            self._socket.sendall(sent)
            answer.feed(self._socket.recv(CHUNK))
            if not answer.complete:
                self._receive_rest(answer, deadline)
        except TimeoutError:
            raise Lost(f"there was no answer within {self._seconds:g} s") from None
        except (OSError, Damaged) as error:
            raise Lost(str(error)) from error
        return answer

    def _receive_rest(self, answer: Answer, deadline: float) -> None:
        while not answer.complete:  # each read may take what is left of the time, and no more
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            answer.feed(self._socket.recv(CHUNK))
        self._socket.settimeout(self._seconds)

    def close(self) -> None:
        self._socket.close()


class AsyncConnection(asyncio.Protocol):
    """A connection in an event loop."""

    _transport: asyncio.Transport
    _answer: Answer
    _came: asyncio.Future[Exception | None]

    @classmethod
    async def open(cls, to: Address) -> AsyncConnection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(to.connect_seconds):
                _, connection = await loop.create_connection(cls, to.host, to.port, ssl=to.tls)
        except TimeoutError:
            raise TimeoutError(to.not_connected) from None
        return connection

    def is_usable(self) -> bool:
        if self._transport.is_closing():
            return False
        return is_silent(self._transport.get_extra_info("socket").fileno())

    async def exchange(self, sent: bytes, seconds: float) -> Answer:
        """Send a request, and give its answer."""
        self._answer = answer = Answer()
        self._came = asyncio.get_running_loop().create_future()
        self._transport.write(sent)
        try:
            async with asyncio.timeout(seconds):
                error = await self._came
        except TimeoutError:
            raise Lost(f"there was no answer within {seconds:g} s") from None
        if error is not None:
            raise Lost(str(error)) from error
        return answer

    def close(self) -> None:
        self._transport.abort()

    # -- what the event loop calls -----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # with TCP_NODELAY, as asyncio sets it
        self._came = asyncio.get_running_loop().create_future()
        self._came.set_result(None)  # nobody waits yet

    def data_received(self, data: bytes) -> None:
        if self._came.done():  # nobody asked
            self._transport.abort()
            return
        try:
            self._answer.feed(data)
        except Damaged as error:
            self._came.set_result(error)
        else:
            if self._answer.complete:
                self._came.set_result(None)

    def eof_received(self) -> None:
        self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._came.done():
            self._came.set_result(exc or Damaged("the connection was closed"))
