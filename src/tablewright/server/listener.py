"""The listener: accepts sockets, up to the limit of the server.

Invariants:
- At the limit of connections, or without free file descriptors, nothing is accepted and no CPU time
  is used: new clients wait in the queue of the socket. The connection that has been idle longest is
  closed to make room.
- A lack of file descriptors is reported in one line. (asyncio's own server would report it a
  thousand times a second.)

It does not know what happens to an accepted socket (`handshakes`, `main_process`).
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from typing import Any

BACKLOG = 1024
#: The number of connections accepted in one iteration of the event loop.
MAX_ACCEPTED = 64
RETRY_SECONDS = 0.5
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
