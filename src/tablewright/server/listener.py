"""The listener: accepts sockets, up to the limit of the server, and makes connections of them.

Invariants:
- At the limit of connections, or without free file descriptors, nothing is accepted and no CPU time
  is used: new clients wait in the queue of the socket. The connection that has been idle longest is
  closed to make room.
- A lack of file descriptors is reported in one line. (asyncio's own server would report it a
  thousand times a second.)
- An accepted socket becomes a connection, with TLS if the server has a certificate, or it is closed
  and `on_failed` is called (`Handshakes`). The main process passes it to a worker instead.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import socket
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

log = logging.getLogger("tablewright.server")

BACKLOG = 1024
#: The number of connections accepted in one iteration of the event loop.
MAX_ACCEPTED = 64
RETRY_SECONDS = 0.5
#: The part of a plain HTTP request that is read.
MAX_DROPPED = 64 * 1024
#: The beginning of a plain HTTP request.
_IS_METHOD = re.compile(rb"[A-Z]{3,7}( .*)?", re.DOTALL).fullmatch
_NO_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Listener:
    """Listening sockets; each accepted socket is passed to `adopt`."""

    def __init__(
        self,
        adopt: Callable[[socket.socket], None],
        *,
        has_room: Callable[[], bool],
        make_room: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        """Create a listener; `start` begins to listen.

        `has_room` returns whether one more connection is allowed. `make_room` may close an idle
        connection. Call `resume` after a connection was closed.
        """
        self._adopt = adopt
        self._has_room = has_room
        self._make_room = make_room
        self._report = report
        self._sockets: list[socket.socket] = []
        self._retry: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int, scheme: str) -> str:
        """Listen and return the URL. Raises `OSError` if the address cannot be used."""
        self._loop = asyncio.get_running_loop()
        found = await self._loop.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        try:
            for family, _, _, _, address in dict.fromkeys(found):
                self._listen(family, address)
                if port == 0:
                    break  # another address would get another free port
        except OSError:
            self.close()
            raise
        self._listen_again()
        return url_of(self._sockets[0], scheme)

    def _listen(self, family: socket.AddressFamily, address: tuple[Any, ...]) -> None:
        try:
            listening = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        except OSError as error:
            # "localhost" may name ::1 on a machine without IPv6.
            if self._sockets and error.errno == errno.EADDRNOTAVAIL:
                return
            raise
        listening.setblocking(False)
        self._sockets.append(listening)

    def close(self) -> None:
        """Accept no more connections."""
        self._pause()
        for listening in self._sockets:
            listening.close()
        self._sockets.clear()

    def resume(self) -> None:
        """Accept connections again, if there was no room for more."""
        if self._retry is not None:
            self._retry.cancel()
            self._listen_again()

    def _listen_again(self) -> None:
        self._retry = None
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    def _pause(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        for listening in self._sockets:
            self._loop.remove_reader(listening)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(MAX_ACCEPTED):
            if not self._has_room():
                self._wait_for_room()
                return
            try:
                accepted, _ = listening.accept()
            except OSError as error:
                if error.errno in _NO_RESOURCES:
                    self._report(f"cannot accept connections: {error.strerror}; waiting for room")
                    self._wait_for_room()
                return  # otherwise no client waits, or it has disconnected
            accepted.setblocking(False)
            self._adopt(accepted)
            if not self._has_room():
                return  # if another client waits, the event loop calls this again

    def _wait_for_room(self) -> None:
        self._pause()
        self._retry = self._loop.call_later(RETRY_SECONDS, self._listen_again)
        self._make_room()


def url_of(listening: socket.socket, scheme: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class Handshakes:
    """The connections that are being established; each gets a protocol from `factory`."""

    def __init__(
        self,
        factory: Callable[[], asyncio.Protocol],
        *,
        tls: ssl.SSLContext | None,
        seconds: float,
        on_failed: Callable[[], None] = lambda: None,
    ) -> None:
        self._factory = factory
        self._tls = tls
        self._seconds = seconds if tls is not None else None
        self._on_failed = on_failed
        #: The protocol of each, and when it began; the oldest one is first.
        self._tasks: dict[asyncio.Task[bool], tuple[asyncio.Protocol, float]] = {}

    @property
    def protocols(self) -> Collection[asyncio.Protocol]:
        """The protocols of these connections. One that is just established may still be here."""
        return [protocol for protocol, _ in self._tasks.values()]

    def adopt(self, accepted: socket.socket) -> None:
        """Make a connection of a socket that does not block."""
        protocol = self._factory()
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._establish(accepted, protocol))
        self._tasks[task] = protocol, loop.time()
        task.add_done_callback(partial(self._end, accepted))

    def cancel_older(self, moment: float) -> None:
        """Close the socket that is being established longest, if it began before a moment."""
        for task, (_, began) in self._tasks.items():
            if began < moment:
                task.cancel()
            return

    def cancel(self) -> None:
        """Close the sockets that are not established yet."""
        for task in self._tasks:
            task.cancel()

    async def _establish(self, accepted: socket.socket, protocol: asyncio.Protocol) -> bool:
        """Return whether it succeeded."""
        try:
            if self._tls is not None and not await self._begins_with_tls(accepted):
                await refuse_plain_http(accepted)
                return False
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol,
                accepted,
                ssl=self._tls,
                ssl_handshake_timeout=self._seconds,
            )
        except OSError as error:  # the TLS handshake failed, or the client disconnected
            log.debug("a connection failed: %s", error)
            return False
        return True

    async def _begins_with_tls(self, accepted: socket.socket) -> bool:
        """Wait for the first byte of a client, without reading it; raise OSError if it is late."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(accepted, readable.set)
        try:
            async with asyncio.timeout(self._seconds):
                await readable.wait()
        finally:
            loop.remove_reader(accepted)
        return not _IS_METHOD(accepted.recv(8, socket.MSG_PEEK))

    def _end(self, accepted: socket.socket, task: asyncio.Task[bool]) -> None:
        del self._tasks[task]
        if task.cancelled() or not task.result():
            accepted.close()
            self._on_failed()


async def refuse_plain_http(accepted: socket.socket) -> None:
    """Answer a request without TLS."""
    text = b"The plain HTTP request was sent to HTTPS port"
    head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(
        text
    )
    await asyncio.get_running_loop().sock_sendall(accepted, head + text)
    accepted.shutdown(socket.SHUT_WR)
    accepted.recv(MAX_DROPPED)  # unread data would reset the connection before the response
