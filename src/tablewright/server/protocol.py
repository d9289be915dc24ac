"""The HTTP/1.1 protocol of one connection.

A connection is in one state (`State`), and `NEXT` has the only transitions there are:

    READY       reading; no request is in work
    WORKING     a request is with the dispatcher
    ADMITTING   the body of a request is large and waits for memory; nothing is read
    BLOCKED     the client does not take its responses; nothing is read
    LINGERING   the last response is being sent; what arrives is discarded
    CLOSED      nothing is sent and nothing is read

Invariants:
- One request of a connection is in work at a time; responses are sent in the order of the requests.
  What arrives in the meantime (pipelined requests) waits in the connection's queue; while something
  waits, nothing more is read.
- Whatever a client sends, it gets a response or the connection is closed, and others are served.
- A closed connection holds no memory of the budget and no buffer.

The order of the checks is DynamoDB's, after two of our own:

    1. the Host names this server                    421 MisdirectedRequest
    2. the Origin, if there is one, is allowed       403 CrossOriginRequest
    3. the body is at most 16 MB                     413 RequestEntityTooLargeException, then close
    4. the method is POST (GET: a health text)       404 <UnknownOperationException/>
    5. a body is declared as one of the JSON types   404 <UnknownOperationException/>
    6. a body is JSON                                400 SerializationException
    7. the target is an operation                    400 UnknownOperationException
    8. the sender may enter (`Access`)               400 MissingAuthenticationTokenException, …
    9. there is a body                               400 SerializationException
   10. the operation's own checks

Of a large request the sender is checked first, then a thread parses and checks the body.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeAlias

import msgspec

from tablewright.engine import OPERATIONS, Engine, Step
from tablewright.errors import (
    DynamoDBError,
    InternalServerError,
    RequestEntityTooLargeException,
    SerializationException,
    ServiceUnavailable,
    UnknownOperationException,
)
from tablewright.server.answers import AMZ_JSON, CONTINUE, JSON, TEXT, Answers
from tablewright.server.authorization import Access
from tablewright.server.budget import Budget, Reservation
from tablewright.server.credentials_file import User
from tablewright.server.failures import UNEXPECTED
from tablewright.server.hosts import Hosts, preflight
from tablewright.server.incoming import BODY, HEAD, NOTHING, Incoming, Refusal
from tablewright.server.limits import LARGE_BODY, MAX_BODY, SMALL_BODY, Limits
from tablewright.server.telemetry import Exchange, Telemetry
from tablewright.wire.body import collector_paused, decode

log = logging.getLogger("tablewright.server")

OPERATION_OF: dict[bytes | None, str] = {
    f"DynamoDB_20120810.{operation}".encode(): operation for operation in OPERATIONS
}
HEALTHY = b"healthy: dynamodb.us-east-1.amazonaws.com "  # with DynamoDB's own space at the end
UNKNOWN = b"<UnknownOperationException/>\n"
OVERLOADED = "The server has no memory left for large requests. Try again."

#: What a request in the queue costs beside its own bytes: a tuple, a dictionary, a few objects.
QUEUED_OVERHEAD = 1024


#: What is kept of a request in the queue: method, url, headers, body, keep-alive.
Request: TypeAlias = tuple[bytes, bytes, Mapping[bytes, bytes], bytes, bool]


class State(enum.IntEnum):
    """What a connection does; see the module's docstring."""

    READY = 0
    WORKING = 1
    ADMITTING = 2
    BLOCKED = 3
    LINGERING = 4
    CLOSED = 5


READY, WORKING, ADMITTING, BLOCKED, LINGERING, CLOSED = State

NEXT: dict[State, frozenset[State]] = {
    READY: frozenset({WORKING, ADMITTING, BLOCKED, LINGERING, CLOSED}),
    WORKING: frozenset({READY, CLOSED}),
    ADMITTING: frozenset({READY, CLOSED}),
    BLOCKED: frozenset({READY, LINGERING, CLOSED}),
    LINGERING: frozenset({CLOSED}),
    CLOSED: frozenset({CLOSED}),
}


class Dispatcher(Protocol):
    """What a connection asks of the server it belongs to."""

    engine: Engine
    answers: Answers
    access: Access
    hosts: Hosts
    limits: Limits
    budget: Budget
    telemetry: Telemetry | None
    stopping: bool

    def opened(self, connection: Connection) -> None: ...
    def closed(self, connection: Connection) -> None: ...
    def submit(self, connection: Connection, step: Step) -> None:
        """Run a step, then call `connection.done`."""
        ...

    def prepare(self, connection: Connection, prepare: Callable[[], Step]) -> None:
        """Call `prepare` in a thread, then submit its step, or call `connection.done`."""
        ...


class Connection(asyncio.Protocol):
    """One client, from its first byte to its last."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._answers = dispatcher.answers
        self._engine = dispatcher.engine
        self._access = dispatcher.access
        self._limits = dispatcher.limits
        self._transport: asyncio.Transport
        self._state = READY
        self._incoming = Incoming(dispatcher.limits, self._handle)
        # What waits until the request in work is answered: further requests, a refusal that ends
        # the connection, None where the client has ended it.
        self._queue: deque[Request | Refusal | None] = deque()
        self._reservation: Reservation | None = None  # for the body under way or in work
        self._parked = 0  # bytes of the budget for the queue or for responses not taken
        # How to answer the request in work.
        self._content_type = AMZ_JSON
        self._keep_alive = True
        self._more_headers = b""
        self._exchange: Exchange | None = None
        self._telemetry = dispatcher.telemetry
        # The Host header that was found to be allowed last.
        self._host: bytes | None = None
        # The timer's: what it saw at its last look that made a difference, and when.
        self._mark: tuple[State, int, int] = (READY, -1, -1)
        self._since = 0.0
        self._amount = 0

    # --- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport  # with TCP_NODELAY, which asyncio sets
        self._since = asyncio.get_running_loop().time()
        self._dispatcher.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter(CLOSED)
        self._queue.clear()
        self._incoming.close()
        self._release()
        self._unpark()
        self._dispatcher.closed(self)

    def data_received(self, data: bytes) -> None:
        incoming = self._incoming
        try:
            incoming.feed(data)
        except Refusal as refusal:
            self._refuse(refusal)
            return
        if incoming.phase is not NOTHING or self._queue:
            if self._state is READY:
                self._admit_body()
            elif self._state is WORKING or self._state is BLOCKED:
                self._park(len(data) + len(self._queue) * QUEUED_OVERHEAD)

    def eof_received(self) -> bool:
        self._incoming.end()
        if self._state is WORKING or self._queue:
            # The client has only finished sending: it still gets its responses. TLS cannot do that.
            self._queue.append(None)
            return self._transport.can_write_eof()
        return False

    def pause_writing(self) -> None:
        if self._state is READY:
            self._enter(BLOCKED)
            self._transport.pause_reading()
            self._park(self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        if self._state is BLOCKED:
            self._enter(READY)
            self._continue()

    # --- called by the server ------------------------------------------------------------------

    def done(self, result: bytes | DynamoDBError) -> None:
        """The step of this connection was carried out, durably if it was a write, or refused."""
        if self._state is CLOSED:
            return
        self._enter(READY)
        if isinstance(result, DynamoDBError):
            self._send_fault(result)
        else:
            self._send(200, result)
        if self._state is READY and (
            self._queue or self._parked or self._incoming.phase or self._dispatcher.stopping
        ):
            self._continue()

    def finish(self) -> None:
        """Close, unless a request is under way: then its response closes."""
        if self.is_idle:
            self._close()

    def abort(self) -> None:
        """Close at once, whatever is under way."""
        self._transport.abort()

    @property
    def is_idle(self) -> bool:
        """Between two requests: closing it loses nothing."""
        return self._state is READY and self._incoming.phase is NOTHING and not self._queue

    @property
    def idle_since(self) -> float:
        return self._since

    def check_time(self, now: float) -> None:
        """End what has taken too long. The server calls this every `Limits.tick_seconds`."""
        limits, state, phase = self._limits, self._state, self._incoming.phase
        mark = (state, phase, self._incoming.count)
        if mark != self._mark:
            self._mark, self._since = mark, now
            self._amount = self._progress()
            return
        elapsed = now - self._since
        if state is READY:
            if phase is NOTHING:
                if elapsed > limits.idle_seconds:
                    self._close()
            elif phase is HEAD:
                if elapsed > limits.head_seconds:
                    self._refuse(Refusal.text(408, "The header took too long"))
            elif elapsed > limits.body_seconds:
                self._require_progress(now, limits.body_progress)
        elif state is ADMITTING:
            if elapsed > limits.admission_seconds:
                self._enter(READY)
                self._refuse(Refusal.fault(ServiceUnavailable(OVERLOADED)))
        elif state is BLOCKED:
            if elapsed > limits.send_seconds:
                self._require_progress(now, 1)
        elif state is LINGERING:
            if self._transport.get_write_buffer_size():
                if elapsed > limits.send_seconds:
                    self._require_progress(now, 1)
            elif elapsed > limits.linger_seconds:
                self.abort()

    def _progress(self) -> int:
        """What grows while the client sends its body or takes its response."""
        if self._state is READY:
            return self._incoming.body_received
        return -self._transport.get_write_buffer_size()

    def _require_progress(self, now: float, least: int) -> None:
        amount = self._progress()
        if amount - self._amount >= least:
            self._since, self._amount = now, amount
        elif self._state is READY:
            self._refuse(Refusal.text(408, "The body took too long"))
        else:
            self.abort()

    # --- one request ---------------------------------------------------------------------------

    def _handle(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
        keep_alive: bool,
    ) -> None:
        """In READY: answer a request, or submit its step. Else it waits for its turn."""
        if self._state is not READY:
            if self._state < LINGERING:
                self._queue.append((method, bytes(url), dict(headers), bytes(body), keep_alive))
            return
        self._keep_alive = keep_alive
        content_type = headers.get(b"content-type", b"")
        if content_type == AMZ_JSON:
            self._content_type = AMZ_JSON
        else:
            content_type = content_type.partition(b";")[0].strip().lower()
            self._content_type = JSON if content_type == JSON else AMZ_JSON
        target = headers.get(b"x-amz-target")
        operation = OPERATION_OF.get(target)
        if self._telemetry is not None:
            self._exchange = self._telemetry.begin(operation, len(body))
        try:
            if headers.get(b"host") != self._host or b"origin" in headers:
                self._check_sender(headers)
            if method != b"POST" or (content_type != self._content_type and body):
                self._send_other(method, headers)
                return
            if len(body) > LARGE_BODY:
                caller = self._access.authenticate(method, url, headers, body)
                self._enter(WORKING)
                prepare = partial(self._prepare_large, operation, bytes(body), caller)
                self._dispatcher.prepare(self, prepare)
                return
            request = parse(body) if body else None
            if operation is None:
                raise UnknownOperationException
            caller = self._access.authenticate(method, url, headers, body)
            if not body:
                raise SerializationException
            step = self._prepare(operation, request, caller)
        except DynamoDBError as fault:
            self._send_fault(fault)
        except Exception:
            log.exception("%s failed", (target or b"a request").decode("latin-1"))
            self._send_fault(InternalServerError(UNEXPECTED))
        else:
            self._enter(WORKING)
            self._dispatcher.submit(self, step)

    def _prepare(self, operation: str, request: object, caller: User | None) -> Step:
        if self._exchange is not None:
            self._exchange.identify(request, caller)
        policy = None if caller is None else caller.principal
        return self._engine.prepare(operation, request, policy=policy)

    def _prepare_large(self, operation: str | None, body: bytes, caller: User | None) -> Step:
        """Parse and prepare a large request, in a thread: others do not wait for it."""
        with collector_paused():
            request = parse(body)
            try:
                if operation is None:
                    raise UnknownOperationException
                return self._prepare(operation, request, caller)
            except DynamoDBError as fault:
                # Its frames hold the request, which would be freed on the event loop.
                fault.__traceback__ = fault.__context__ = None
                raise
            finally:
                del request

    def _check_sender(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise unless Host and Origin are allowed."""
        host = headers.get(b"host")
        own_address = self._transport.get_extra_info("sockname")[0]
        self._dispatcher.hosts.check_host(host, own_address)
        self._host = host
        origin = headers.get(b"origin")
        if origin is not None:
            self._more_headers = self._dispatcher.hosts.check_origin(origin)

    def _send(self, status: int, body: bytes, code: str = "") -> None:
        keep_alive = self._keep_alive
        if self._dispatcher.stopping and not self._queue:
            keep_alive = False
        more = self._more_headers
        answer = self._answers.answer(status, self._content_type, keep_alive, body, more)
        if more:
            self._more_headers = b""
        if self._exchange is not None:
            self._exchange.end(status, code, len(body), self._answers.last_id)
            self._exchange = None
        if self._reservation is not None:  # the request's own: the next is made in READY
            self._release()
        self._transport.write(answer)
        if not keep_alive:
            self._close()

    def _send_fault(self, fault: DynamoDBError) -> None:
        self._send(fault.status, msgspec.json.encode(fault.body()), fault.code)

    def _send_other(self, method: bytes, headers: Mapping[bytes, bytes]) -> None:
        """Answer a request that is no operation: a health check, a preflight, or unknown."""
        self._content_type = TEXT
        if method == b"GET":
            self._send(200, HEALTHY)
        elif method == b"HEAD":
            self._keep_alive = False  # the answer's length is that of a body which is not sent
            self._send(200, b"")
        elif method == b"OPTIONS" and self._more_headers:
            self._more_headers += preflight(headers)
            self._send(200, b"")
        else:
            self._send(404, UNKNOWN)

    # --- between requests ----------------------------------------------------------------------

    def _enter(self, state: State) -> None:
        assert state in NEXT[self._state], f"{self._state.name} -> {state.name}"
        self._state = state

    def _continue(self) -> None:
        """In READY: handle what waits; if that leaves nothing under way, read again."""
        while self._queue:
            entry = self._queue.popleft()
            if entry is None:
                self._close()
            elif isinstance(entry, Refusal):
                self._part(entry)
            else:
                self._handle(*entry)
            if self._state is not READY:
                return
        if self._incoming.phase is NOTHING and self._dispatcher.stopping:
            self._close()
        else:
            self._unpark()
            self._admit_body()

    def _admit_body(self) -> None:
        """In READY: read on, unless the body under way is large and has no memory yet."""
        incoming = self._incoming
        if incoming.phase is BODY:
            if self._reservation is None and incoming.expected > SMALL_BODY:
                budget = self._dispatcher.budget
                self._reservation, granted = budget.reserve(incoming.expected, self._admitted)
                if not granted:
                    self._enter(ADMITTING)
                    self._transport.pause_reading()
                    return
            if incoming.expects_continue:
                incoming.expects_continue = False
                self._transport.write(CONTINUE)
        if self._state is READY:
            self._transport.resume_reading()

    def _admitted(self) -> None:
        """The budget has granted what the body needs."""
        if self._state is ADMITTING:
            self._enter(READY)
            self._admit_body()

    def _park(self, size: int) -> None:
        """Stop reading, and count what is kept until reading continues."""
        self._transport.pause_reading()
        if self._dispatcher.budget.take(size):
            self._parked += size
        else:
            self.abort()

    def _unpark(self) -> None:
        if self._parked:
            size, self._parked = self._parked, 0
            self._dispatcher.budget.give_back(size)

    def _release(self) -> None:
        if self._reservation is not None:
            reservation, self._reservation = self._reservation, None
            reservation.release()

    def _refuse(self, refusal: Refusal) -> None:
        """Send a last response when its turn comes, and end the connection."""
        self._incoming.end()
        if self._state is READY and not self._queue:
            self._part(refusal)
        elif self._state < LINGERING:
            self._queue.append(refusal)
            self._transport.pause_reading()

    def _part(self, refusal: Refusal) -> None:
        """Send a last response, then discard what the client still sends, for a while."""
        self._release()
        self._enter(LINGERING)
        if self._telemetry is not None:
            self._telemetry.begin(None, 0).end(refusal.status, refusal.code, len(refusal.body), "")
        self._transport.write(
            self._answers.answer(refusal.status, refusal.content_type, False, refusal.body)
        )
        if self._transport.can_write_eof():
            with suppress(OSError):  # the client has gone; the event loop finds out next
                self._transport.write_eof()
            self._transport.resume_reading()
        else:  # TLS
            self._transport.close()

    def _close(self) -> None:
        """Close once everything that was written has been sent."""
        self._incoming.end()
        self._queue.clear()
        if self._state is not LINGERING:
            self._enter(LINGERING)
        self._transport.close()


def parse(body: bytes | bytearray) -> Any:
    """The JSON of a body. DynamoDB says no more than that it could not read it."""
    if len(body) > MAX_BODY:
        raise RequestEntityTooLargeException
    try:
        return decode(body)
    except (ValueError, RecursionError):
        raise SerializationException from None
