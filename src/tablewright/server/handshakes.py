"""Handshakes: from an accepted socket to a connection, with TLS if the server has a certificate.

Invariant: a socket becomes a connection, or it is closed and `on_failed` is called.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

log = logging.getLogger("tablewright.server")


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

    def _end(self, accepted: socket.socket, task: asyncio.Task[bool]) -> None:
        del self._tasks[task]
        if task.cancelled() or not task.result():
            accepted.close()
            self._on_failed()
