"""One HTTP/1.1 connection: requests in, responses out.

Invariants:
- A connection is in one state, and changes it only as `states.NEXT` allows.
- At most one request of a connection is in work; responses are sent in the order of the requests.
  Requests that arrive in the meantime (pipelining) wait in the connection's queue. While one
  waits, nothing more is read.
- Whatever a client sends, it gets a response or the connection is closed, and other clients are
  served.
- A closed connection holds no memory of the budget and no buffer.

Its other half, the `Responder` (`responder`), checks and answers each request.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from tablewright.errors import (
    DynamoDBError,
)
from tablewright.server.limits import LARGE_BODY, SMALL_BODY
from tablewright.server.request_parser import BODY, NOTHING, Refusal, RequestParser
from tablewright.server.responder import Responder
from tablewright.server.responses import (
    CONTINUE,
    choose_encoding,
)
from tablewright.server.states import (
    ADMITTING,
    BLOCKED,
    CLOSED,
    LINGERING,
    READY,
    WORKING,
    Activity,
    ClientPace,
)

if TYPE_CHECKING:
    from tablewright.server.server import Server

log = logging.getLogger("tablewright.server")


#: The memory of a queued request in addition to its bytes: a tuple, a dictionary, a few objects.
QUEUED_OVERHEAD = 1024


class Connection(Responder, asyncio.Protocol):
    """A connection of one client."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self._parser = RequestParser(server.limits, self._handle)
        self._held_bytes = 0  # bytes of the budget for the queue or for unread responses
        self._pace = ClientPace(server.limits)

    # --- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # with TCP_NODELAY, which asyncio sets
        self._pace.since = asyncio.get_running_loop().time()
        self._server.connection_opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter(CLOSED)
        self._queue.clear()
        self._parser.close()
        self._release_reservation()
        self._release_held()
        self._server.connection_closed(self)

    def data_received(self, data: bytes) -> None:
        parser = self._parser
        try:
            parser.feed(data)
        except Refusal as refusal:
            self._refuse(refusal)
            return
        if parser.phase is not NOTHING or self._queue:
            if self._state is READY:
                self._admit_body()
            elif self._state is WORKING or self._state is BLOCKED:
                self._pause_reading(len(data) + len(self._queue) * QUEUED_OVERHEAD)

    def eof_received(self) -> bool:
        self._parser.end()
        if self._state is WORKING or self._queue:
            # The client has finished sending and still gets its responses. TLS cannot do that.
            self._queue.append(None)
            return self._transport.can_write_eof()
        return False

    def pause_writing(self) -> None:
        if self._state is READY:
            self._enter(BLOCKED)
            self._transport.pause_reading()
            self._pause_reading(self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        if self._state is BLOCKED:
            self._enter(READY)
            self._continue()

    # --- called by the server ------------------------------------------------------------------

    def complete(self, result: bytes | DynamoDBError, encoding: bytes | None = None) -> None:
        """Send the result of this connection's step. A write is durable by now.

        A thread compresses a large response, and then calls this again, with the `encoding`.
        """
        if self._state is CLOSED:
            return
        if (
            self._accepted is not None
            and encoding is None
            and isinstance(result, bytes)
            and len(result) > LARGE_BODY
        ):
            encoding = choose_encoding(self._accepted)
            if encoding is not None:
                self._server.compress_in_thread(self, result, encoding)
                return
        self._enter(READY)
        if isinstance(result, DynamoDBError):
            self._send_fault(result)
        else:
            self._send(200, result, encoding=encoding)
        if self._state is READY and (
            self._queue or self._held_bytes or self._parser.phase or self._server.is_stopping
        ):
            self._continue()

    def close_if_idle(self) -> None:
        """Close the connection if it is idle; otherwise its last response closes it."""
        if self.is_idle:
            self._close()

    def abort(self) -> None:
        """Close at once, without sending pending responses."""
        self._transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether the connection is between two requests, so that closing it loses nothing."""
        return self._state is READY and self._parser.phase is NOTHING and not self._queue

    @property
    def has_queue(self) -> bool:
        """Whether more requests have arrived than the one in work."""
        return bool(self._queue)

    @property
    def since(self) -> float:
        """When the connection began what it does."""
        return self._pace.since

    def is_overdue(self, now: float) -> bool:
        """Whether a request is so slow to arrive that another client may have the connection."""
        return not self._queue and self._pace.is_overdue(now, self._activity(), self._progress())

    def close_overdue(self) -> None:
        """Refuse the unfinished request, and close at once: another client waits."""
        self._send_last(Refusal.with_text(408, "The request took too long to arrive"))
        self._transport.close()

    def check_time(self, now: float) -> None:
        """Refuse or close a client that is too slow. Called every `Limits.tick_seconds`."""
        verdict = self._pace.check(now, self._activity(), self._progress())
        if isinstance(verdict, Refusal):
            if self._state is ADMITTING:
                self._enter(READY)
            self._refuse(verdict)
        elif verdict == "close":
            self._close()
        elif verdict == "abort":
            self.abort()

    def _activity(self) -> Activity:
        return self._state, self._parser.phase, self._parser.count

    def _progress(self) -> int:
        """Return a number that grows while the client sends its body or reads its response."""
        if self._state is READY:
            return self._parser.body_received
        return -self._transport.get_write_buffer_size()

    # --- between requests ----------------------------------------------------------------------

    def _continue(self) -> None:
        """In READY: handle the queue; when it is empty and the state is READY, read again."""
        while self._queue:
            if self._transport.is_closing():  # the client has disconnected: see `connection_lost`
                return
            entry = self._queue.popleft()
            if entry is None:
                self._close()
            elif isinstance(entry, Refusal):
                self._send_last(entry)
            else:
                self._handle(*entry)
            if self._state is not READY:
                return
        if self._parser.phase is NOTHING and self._server.is_stopping:
            self._close()
        else:
            self._release_held()
            self._admit_body()

    def _admit_body(self) -> None:
        """In READY: continue reading, or wait for memory if the body is large."""
        parser = self._parser
        if parser.phase is BODY:
            if self._reservation is None and parser.expected > SMALL_BODY:
                budget = self._server.budget
                self._reservation, granted = budget.reserve(parser.expected, self._on_admitted)
                if not granted:
                    self._enter(ADMITTING)
                    self._transport.pause_reading()
                    return
            if parser.expects_continue:
                parser.expects_continue = False
                self._transport.write(CONTINUE)
        if self._state is READY:
            self._transport.resume_reading()

    def _on_admitted(self) -> None:
        """Continue after the budget has granted the memory for the body."""
        if self._state is ADMITTING:
            self._enter(READY)
            self._admit_body()

    def _pause_reading(self, size: int) -> None:
        """Stop reading, and take the held bytes from the budget until reading continues."""
        self._transport.pause_reading()
        if self._server.budget.try_take(size):
            self._held_bytes += size
        else:
            self.abort()

    def _release_held(self) -> None:
        if self._held_bytes:
            size, self._held_bytes = self._held_bytes, 0
            self._server.budget.give_back(size)

    def _refuse(self, refusal: Refusal) -> None:
        """Send a last response after the pending ones, and end the connection."""
        self._parser.end()
        if self._state is READY and not self._queue:
            self._send_last(refusal)
        elif self._state < LINGERING:
            self._queue.append(refusal)
            self._transport.pause_reading()

    def _send_last(self, refusal: Refusal) -> None:
        """Send a last response, then discard received data for `Limits.linger_seconds`."""
        self._release_reservation()
        self._enter(LINGERING)
        if self._telemetry is not None:
            self._telemetry.begin(None, 0).end(refusal.status, refusal.code, len(refusal.body), "")
        self._transport.write(
            self._responses.build(refusal.status, refusal.content_type, False, refusal.body)
        )
        if self._transport.can_write_eof():
            with suppress(OSError):  # the client has disconnected; the event loop notices next
                self._transport.write_eof()
            self._transport.resume_reading()
        else:  # TLS
            self._transport.close()

    def _close(self) -> None:
        """Close after all written data has been sent."""
        self._parser.end()
        self._queue.clear()
        if self._state is not LINGERING:
            self._enter(LINGERING)
        self._transport.close()
