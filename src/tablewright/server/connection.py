"""One HTTP/1.1 connection: requests in, responses out.

Invariants:
- A connection is in one state, and changes it only as `states.NEXT` allows.
- At most one request of a connection is in work; responses are sent in the order of the requests.
  Requests that arrive in the meantime (pipelining) wait in the connection's queue. While one
  waits, nothing more is read.
- Whatever a client sends, it gets a response or the connection is closed, and other clients are
  served.
- A closed connection holds no memory of the budget and no buffer.

The order of the checks is DynamoDB's, after two of our own:

    1. the Host names this server                    421 MisdirectedRequest
    2. the Origin, if there is one, is allowed       403 CrossOriginRequest
    3. the body is at most 16 MB                     413 RequestEntityTooLargeException, then close
    4. the method is POST (GET: a health text,       404 <UnknownOperationException/>
       for any path), and the path is /
    5. a body is declared as one of the JSON types   404 <UnknownOperationException/>
    6. a body is JSON                                400 SerializationException
    7. the target is an operation                    400 UnknownOperationException
    8. the sender is known (`Authenticator`)         400 MissingAuthenticationTokenException, …
    9. there is a body                               400 SerializationException
   10. the operation's own checks

For a large or compressed request the sender is checked first; then a thread decompresses, parses
and checks the body. Headers of more than 16 KB are refused with 400 and end the connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from tablewright.engine import Engine, Step
from tablewright.errors import (
    DynamoDBError,
    InternalServerError,
    SerializationException,
    ServiceUnavailable,
)
from tablewright.server.access.hosts import preflight_headers
from tablewright.server.failures import UNEXPECTED
from tablewright.server.limits import LARGE_BODY, MAX_BODY, SMALL_BODY, Reservation
from tablewright.server.preparation import (
    OPERATION_OF,
    expand,
    name_endpoint,
    parse_json,
    prepare,
    prepare_large,
    unknown_target,
)
from tablewright.server.request_parser import BODY, HEAD, NOTHING, Refusal, RequestParser
from tablewright.server.responses import (
    AMZ_JSON,
    CONTINUE,
    JSON,
    MIN_COMPRESSED,
    TEXT,
    TooLarge,
    choose_encoding,
    compress,
    is_supported,
)
from tablewright.server.states import (
    ADMITTING,
    BLOCKED,
    CLOSED,
    LINGERING,
    NEXT,
    READY,
    WORKING,
    ConnectionState,
)
from tablewright.sigv4 import is_root

if TYPE_CHECKING:
    from tablewright.server.access.credentials import Caller
    from tablewright.server.isolation import ScopedPreparer
    from tablewright.server.server import Server
    from tablewright.server.telemetry import Exchange

log = logging.getLogger("tablewright.server")

HEALTHY = b"healthy: %b "  # with DynamoDB's own space at the end
UNKNOWN = b"<UnknownOperationException/>\n"
OVERLOADED = "The server has no memory left for large requests. Try again."

#: The memory of a queued request in addition to its bytes: a tuple, a dictionary, a few objects.
QUEUED_OVERHEAD = 1024

#: A queued request: method, url, headers, body, keep-alive.
QueuedRequest: TypeAlias = tuple[bytes, bytes, Mapping[bytes, bytes], bytes, bool]


class Connection(asyncio.Protocol):
    """A connection of one client."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._responses = server.responses
        #: None if regions are isolated.
        self._engine = server.engine if isinstance(server.engine, Engine) else None
        self._authenticator = server.authenticator
        self._limits = server.limits
        self._transport: asyncio.Transport
        self._state = READY
        self._parser = RequestParser(server.limits, self._handle)
        # These wait until the request in work is answered: further requests, a refusal that ends
        # the connection, or None if the client has finished sending.
        self._queue: deque[QueuedRequest | Refusal | None] = deque()
        self._reservation: Reservation | None = None  # for the body that is received or in work
        self._held_bytes = 0  # bytes of the budget for the queue or for unread responses
        # How to respond to the request in work.
        self._content_type = AMZ_JSON
        self._keep_alive = True
        self._extra_headers = b""
        self._accepted: bytes | None = None  # the Accept-Encoding header
        self._exchange: Exchange | None = None
        self._telemetry = server.telemetry
        # The last Host header that was allowed.
        self._host: bytes | None = None
        # Used by `check_time`: the activity that it saw last, since when, and its progress.
        self._activity: tuple[ConnectionState, int, int] = (READY, -1, -1)
        self._since = 0.0
        self._last_progress = 0

    # --- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # with TCP_NODELAY, which asyncio sets
        self._since = asyncio.get_running_loop().time()
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
        return self._since

    def is_overdue(self, now: float) -> bool:
        """Whether a request is so slow to arrive that another client may have the connection."""
        parser = self._parser
        if self._state is not READY or parser.phase not in (HEAD, BODY) or self._queue:
            return False
        if self._activity != (self._state, parser.phase, parser.count):
            return False  # it has just begun
        if now - self._since <= self._limits.scarce_seconds:
            return False
        grown = self._progress() - self._last_progress
        return parser.phase is HEAD or grown < self._limits.body_progress

    def close_overdue(self) -> None:
        """Refuse the unfinished request, and close at once: another client waits."""
        self._send_last(Refusal.with_text(408, "The request took too long to arrive"))
        self._transport.close()

    def check_time(self, now: float) -> None:
        """Refuse or close a client that is too slow. Called every `Limits.tick_seconds`."""
        limits, state, phase = self._limits, self._state, self._parser.phase
        activity = (state, phase, self._parser.count)
        if activity != self._activity:
            self._activity, self._since = activity, now
            self._last_progress = self._progress()
            return
        elapsed = now - self._since
        if state is READY:
            if phase is NOTHING:
                if elapsed > limits.idle_seconds:
                    self._close()
            elif phase is HEAD:
                if elapsed > limits.head_seconds:
                    self._refuse(Refusal.with_text(408, "The headers took too long to arrive"))
            elif elapsed > limits.body_seconds:
                self._require_progress(now, limits.body_progress)
        elif state is ADMITTING:
            if elapsed > limits.admission_seconds:
                self._enter(READY)
                self._refuse(Refusal.with_fault(ServiceUnavailable(OVERLOADED)))
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
        """Return a number that grows while the client sends its body or reads its response."""
        if self._state is READY:
            return self._parser.body_received
        return -self._transport.get_write_buffer_size()

    def _require_progress(self, now: float, minimum: int) -> None:
        progress = self._progress()
        if progress - self._last_progress >= minimum:
            self._since, self._last_progress = now, progress
        elif self._state is READY:
            self._refuse(Refusal.with_text(408, "The body took too long to arrive"))
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
        """Respond to a request or submit its step; queue it if the state is not READY."""
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
        self._accepted = headers.get(b"accept-encoding")
        target = headers.get(b"x-amz-target")
        operation = OPERATION_OF.get(target)
        if self._telemetry is not None:
            self._exchange = self._telemetry.begin(operation, len(body))
        try:
            if headers.get(b"host") != self._host or b"origin" in headers:
                self._check_sender(headers)
            if (
                method != b"POST"
                or (url != b"/" and not is_root(url))
                or (content_type != self._content_type and body)
            ):
                self._send_other(method, headers)
                return
            if len(body) > LARGE_BODY or b"content-encoding" in headers:
                if operation is None:
                    raise unknown_target(target)
                caller = self._authenticator.authenticate(method, url, headers, body)
                engine = self._find_engine(url, headers, caller)
                self._prepare_large(engine, operation, headers, body, caller)
                return
            request = parse_json(body) if body else None
            if operation is None:
                raise unknown_target(target)
            caller = self._authenticator.authenticate(method, url, headers, body)
            if not body:
                raise SerializationException
            engine = self._engine or self._find_engine(url, headers, caller)
            step = prepare(engine, operation, request, caller, self._exchange)
        except DynamoDBError as fault:
            self._send_fault(fault)
        except Exception:
            log.exception("%s failed", (target or b"a request").decode("latin-1"))
            self._send_fault(InternalServerError(UNEXPECTED))
        else:
            self._submit(operation, step, headers)

    def _submit(self, operation: str, step: Step, headers: Mapping[bytes, bytes]) -> None:
        if operation == "DescribeEndpoints":
            step = name_endpoint(step, self._address(headers).decode("latin-1"))
        self._enter(WORKING)
        self._server.submit(self, step)

    def _prepare_large(
        self,
        engine: Engine | ScopedPreparer,
        operation: str,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
        caller: Caller | None,
    ) -> None:
        """Prepare a large or compressed body, in a thread unless it is small."""
        encoding = headers.get(b"content-encoding")
        if encoding is not None and not is_supported(encoding):
            encoding = None  # the body is not JSON
        if encoding is not None and len(body) <= SMALL_BODY:
            with suppress(TooLarge):
                request = parse_json(expand(body, encoding, SMALL_BODY))
                step = prepare(engine, operation, request, caller, self._exchange)
                self._submit(operation, step, headers)
                return
        if encoding is not None:
            self._reserve_expanded()
        self._enter(WORKING)
        self._server.prepare_in_thread(
            self,
            partial(
                prepare_large,
                engine,
                operation,
                bytes(body),
                caller,
                self._exchange,
                encoding,
            ),
        )

    def _reserve_expanded(self) -> None:
        """Reserve the memory for any decompressed body; raise if it is not available now."""
        budget = self._server.budget
        held = 0 if self._reservation is None else self._reservation.size
        self._release_reservation()
        reservation, granted = budget.reserve(min(MAX_BODY + held, budget.total), lambda: None)
        if not granted:
            reservation.release()
            raise ServiceUnavailable(OVERLOADED)
        self._reservation = reservation

    def _address(self, headers: Mapping[bytes, bytes]) -> bytes:
        """Return the address of this server: as the client names it, or else that of the socket."""
        host = headers.get(b"host")
        if host:
            return host
        name, port = self._transport.get_extra_info("sockname")[:2]
        return f"[{name}]:{port}".encode() if ":" in name else f"{name}:{port}".encode()

    def _find_engine(
        self, url: bytes | bytearray, headers: Mapping[bytes, bytes], caller: Caller | None
    ) -> Engine | ScopedPreparer:
        """Return the engine of a request: the only one, or that of its region and account."""
        engine = self._server.engine
        return engine if isinstance(engine, Engine) else engine.find(url, headers, caller)

    def _check_sender(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise `DynamoDBError` unless the Host and Origin headers are allowed."""
        host = headers.get(b"host")
        own_address = self._transport.get_extra_info("sockname")[0]
        self._server.hosts.check_host(host, own_address)
        self._host = host
        origin = headers.get(b"origin")
        if origin is not None:
            self._extra_headers = self._server.hosts.check_origin(origin)

    def _send(
        self, status: int, body: bytes, code: str = "", encoding: bytes | None = None
    ) -> None:
        """Send a response, compressed if the client asks for it; `encoding`: it is already."""
        if self._accepted is not None and encoding is None and len(body) >= MIN_COMPRESSED:
            encoding = choose_encoding(self._accepted)
            if encoding is not None:
                body = compress(body, encoding)
        if encoding is not None:
            self._extra_headers += b"Content-Encoding: %b\r\n" % encoding
        keep_alive = self._keep_alive
        if self._server.is_stopping and not self._queue:
            keep_alive = False
        extra = self._extra_headers
        response = self._responses.build(status, self._content_type, keep_alive, body, extra)
        if extra:
            self._extra_headers = b""
        if self._exchange is not None:
            self._exchange.end(status, code, len(body), self._responses.last_id)
            self._exchange = None
        if self._reservation is not None:  # of this request; the next one is made in READY
            self._release_reservation()
        self._transport.write(response)
        if not keep_alive:
            self._close()

    def _send_fault(self, fault: DynamoDBError) -> None:
        log.debug("%s: %r", fault.code, fault.message)
        self._send(fault.status, msgspec.json.encode(fault.body()), fault.code)

    def _send_other(self, method: bytes, headers: Mapping[bytes, bytes]) -> None:
        """Respond to a health check, a preflight, or a request that is not an operation."""
        self._content_type = TEXT
        if method == b"GET":
            self._send(200, HEALTHY % self._address(headers))
        elif method == b"HEAD":
            self._keep_alive = False  # Content-Length is the length of a body that is not sent
            self._send(200, b"")
        elif method == b"OPTIONS" and self._extra_headers:
            self._extra_headers += preflight_headers(headers)
            self._send(200, b"")
        else:
            self._send(404, UNKNOWN)

    # --- between requests ----------------------------------------------------------------------

    def _enter(self, state: ConnectionState) -> None:
        assert state in NEXT[self._state], f"{self._state.name} -> {state.name}"
        self._state = state

    def _continue(self) -> None:
        """In READY: handle the queue; when it is empty and the state is READY, read again."""
        while self._queue:
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

    def _release_reservation(self) -> None:
        if self._reservation is not None:
            reservation, self._reservation = self._reservation, None
            reservation.release()

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
