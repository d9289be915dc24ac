"""The listener: accepts connections, up to the limit of the server.

Invariants:
- At the limit of connections, or without free file descriptors, nothing is accepted and no CPU time
  is used: new clients wait in the queue of the socket. The connection that has been idle longest is
  closed to make room.
- A lack of file descriptors is reported in one line. (asyncio's own server would report it a
  thousand times a second.)
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

log = logging.getLogger("tablewright.server")

BACKLOG = 1024
#: The number of connections accepted in one iteration of the event loop.
MAX_ACCEPTED = 64
RETRY_SECONDS = 0.5
_NO_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Listener:
    """Listening sockets; each accepted connection gets a protocol from `factory`."""

    def __init__(
        self,
        factory: Callable[[], asyncio.Protocol],
        *,
        has_room: Callable[[Collection[asyncio.Protocol]], bool],
        make_room: Callable[[], None],
        report: Callable[[str], None],
        tls: ssl.SSLContext | None,
        handshake_seconds: float,
    ) -> None:
        """Create a listener; `start` begins to listen.

        `has_room(establishing)` returns whether one more connection is allowed beside the open ones
        and those in `establishing`. A connection can be in both for a moment: it counts once.
        `make_room` may close an idle connection. Call `resume` after a connection was closed.
        """
        self._factory = factory
        self._has_room = has_room
        self._make_room = make_room
        self._report = report
        self._tls = tls
        self._handshake_seconds = handshake_seconds if tls is not None else None
        self._sockets: list[socket.socket] = []
        self._establishing: dict[asyncio.Task[None], asyncio.Protocol] = {}
        self._retry: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int) -> str:
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
        return url_of(self._sockets[0], "http" if self._tls is None else "https")

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
        """Accept no more connections, and cancel those that are being established."""
        self._pause()
        for listening in self._sockets:
            listening.close()
        self._sockets.clear()
        for task in self._establishing:
            task.cancel()

    def resume(self) -> None:
        """Accept connections again if that was paused for lack of room."""
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
            if not self._has_room(self._establishing.values()):
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
            protocol = self._factory()
            task = self._loop.create_task(self._establish(accepted, protocol))
            self._establishing[task] = protocol
            task.add_done_callback(partial(self._established, accepted))
            if not self._has_room(self._establishing.values()):
                return  # if another client waits, the event loop calls this again

    def _established(self, accepted: socket.socket, task: asyncio.Task[None]) -> None:
        del self._establishing[task]
        if task.cancelled():
            accepted.close()

    def _wait_for_room(self) -> None:
        self._pause()
        self._retry = self._loop.call_later(RETRY_SECONDS, self._listen_again)
        self._make_room()

    async def _establish(self, accepted: socket.socket, protocol: asyncio.Protocol) -> None:
        try:
            await self._loop.connect_accepted_socket(
                lambda: protocol,
                accepted,
                ssl=self._tls,
                ssl_handshake_timeout=self._handshake_seconds,
            )
        except OSError as error:  # the TLS handshake failed, or the client disconnected
            log.debug("a connection failed: %s", error)
            accepted.close()


def url_of(listening: socket.socket, scheme: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
