"""The half of a connection that answers requests; `connection` is the half that reads and closes.

From one request to its step, and from the result of the step to a response. The order of the checks
is DynamoDB's, after two of our own:

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
from typing import TYPE_CHECKING, TypeAlias

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
from tablewright.server.request_parser import Refusal
from tablewright.server.responses import (
    AMZ_JSON,
    JSON,
    MIN_COMPRESSED,
    TEXT,
    RepeatedHeader,
    TooLarge,
    choose_encoding,
    compress,
    is_compressed,
)
from tablewright.server.states import (
    LINGERING,
    NEXT,
    OVERLOADED,
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

#: A queued request: method, url, headers, body, keep-alive.
QueuedRequest: TypeAlias = tuple[bytes, bytes, Mapping[bytes, bytes], bytes, bool]


class Responder:
    """Responds to the requests of a connection. Its only subclass is `Connection`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._responses = server.responses
        #: None if regions are isolated.
        self._engine = server.engine if isinstance(server.engine, Engine) else None
        self._authenticator = server.authenticator
        self._transport: asyncio.Transport
        self._state = READY
        # These wait until the request in work is answered: further requests, a refusal that ends
        # the connection, or None if the client has finished sending.
        self._queue: deque[QueuedRequest | Refusal | None] = deque()
        self._reservation: Reservation | None = None  # for the body that is received or in work
        # How to respond to the request in work.
        self._content_type = AMZ_JSON
        self._keep_alive = True
        self._extra_headers = b""
        self._accepted: bytes | None = None  # the Accept-Encoding header
        self._exchange: Exchange | None = None
        self._telemetry = server.telemetry
        # The last Host header that was allowed.
        self._host: bytes | None = None

    def _close(self) -> None:
        """Close the connection after all written data has been sent."""
        raise NotImplementedError

    def _enter(self, state: ConnectionState) -> None:
        assert state in NEXT[self._state], f"{self._state.name} -> {state.name}"
        self._state = state

    def _release_reservation(self) -> None:
        if self._reservation is not None:
            reservation, self._reservation = self._reservation, None
            reservation.release()

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
        accepted = headers.get(b"accept-encoding")
        # Of several headers DynamoDB reads the first; the signature covers all.
        self._accepted = accepted.first if isinstance(accepted, RepeatedHeader) else accepted
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
                self._send_other(method, url, headers)
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
        self._server.submit(self, step)  # type: ignore[arg-type]  # it is a Connection

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
        if encoding is not None and not is_compressed(encoding):
            encoding = None
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
            self,  # type: ignore[arg-type]  # it is a Connection
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

    def _send_other(
        self, method: bytes, url: bytes | bytearray, headers: Mapping[bytes, bytes]
    ) -> None:
        """Respond to a health check, a preflight, or a request that is not an operation."""
        self._content_type = TEXT
        if method == b"GET" and is_root(url):
            self._send(200, HEALTHY % self._address(headers))
        elif method == b"HEAD":
            self._keep_alive = False  # Content-Length is the length of a body that is not sent
            self._send(200, b"")
        elif method == b"OPTIONS" and self._extra_headers:
            self._extra_headers += preflight_headers(headers)
            self._send(200, b"")
        else:
            self._send(404, UNKNOWN)
