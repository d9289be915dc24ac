"""The HTTP/1.1 protocol of one connection.

Laws:
- One request of a connection is in work at a time; answers go out in the order of the requests.
  What arrives meanwhile (pipelined requests) waits in the connection's queue, and while something
  waits, or the client does not take its answers, nothing more is read.
- A request that is one is handed to the desk as a step. The desk does all steps of one turn of the
  event loop together and then calls `done`.
- Whatever a client sends, the connection gives an answer or closes, and the server goes on.

The order of the checks is DynamoDB's:

    1. the body is at most 16 MB                     413 RequestEntityTooLargeException, then close
    2. the method is POST (GET: a health text)       404 <UnknownOperationException/>
    3. a body is declared as one of the JSON types   404 <UnknownOperationException/>
    4. a body is JSON                                400 SerializationException
    5. the target is an operation                    400 UnknownOperationException
    6. the access object accepts the request          400 MissingAuthenticationTokenException, …
    7. there is a body                               400 SerializationException
    8. the operation's own checks

Speed: the parser calls `on_url`, `on_header` and `on_body` many times for each request, so those
are methods of built-in containers; only `on_headers_complete` and `on_message_complete` are Python.
Headers are looked up in botocore's spelling first. Of 6.8 µs a request this saves 1.5.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import httptools
import msgspec

from tablewright.engine import OPERATIONS, Engine, Step
from tablewright.errors import (
    DynamoDBError,
    InternalServerError,
    RequestEntityTooLargeException,
    SerializationException,
    UnknownOperationException,
)
from tablewright.server.answers import AMZ_JSON, CONTINUE, JSON, TEXT, Answers
from tablewright.server.authorization import Access, OpenAccess

log = logging.getLogger("tablewright.server")

MAX_BODY = 16 * 1024 * 1024
MAX_HEAD = 64 * 1024
#: How long a refused client may go on sending before the connection is cut. Closing at once would
#: reset the connection, and the client might never see the answer.
LINGER_SECONDS = 2.0

OPERATION_OF: dict[bytes | None, str] = {
    f"DynamoDB_20120810.{operation}".encode(): operation for operation in OPERATIONS
}
HEALTHY = b"healthy: dynamodb.us-east-1.amazonaws.com "  # with DynamoDB's own space at the end
UNKNOWN = b"<UnknownOperationException/>\n"
UNEXPECTED = "The request processing has failed because of an unknown error, exception or failure."

OPEN_ACCESS = OpenAccess()

decode = msgspec.json.Decoder().decode

#: What is kept of a request until its turn comes: method, url, headers, body, keep-alive.
Request: TypeAlias = tuple[bytes, bytes, Mapping[bytes, bytes], bytes, bool]


class Desk(Protocol):
    """What a connection asks of the server it belongs to."""

    engine: Engine
    answers: Answers
    stopping: bool

    def opened(self, connection: Connection) -> None: ...
    def closed(self, connection: Connection) -> None: ...
    def submit(self, connection: Connection, step: Step) -> None: ...


class Connection(asyncio.Protocol):
    """One client, from its first byte to its last."""

    def __init__(self, desk: Desk, access: Access = OPEN_ACCESS) -> None:
        self._desk = desk
        self._access = access
        self._answers = desk.answers
        self._engine = desk.engine
        self._transport: asyncio.Transport
        # The message under way. The parser itself fills these three.
        self._url = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()
        self.on_url = self._url.extend
        self.on_header = self._headers.__setitem__
        self.on_body = self._body.extend
        self._parser = httptools.HttpRequestParser(self)
        self._head_done = False
        self._head_checked = False
        self._head_size = 0
        self._continue_due = False
        # The requests received and not yet in work. `bytes` is a last answer, before closing.
        self._waiting: deque[Request | bytes] = deque()
        self._busy = False  # a step of this connection is with the desk
        self._stuck = False  # the client does not take its answers
        self._refusing = False  # nothing that still arrives is looked at
        self._ended = False  # the client will send nothing more
        # How to answer the request in work.
        self._content_type = AMZ_JSON
        self._keep_alive = True
        self._linger: asyncio.TimerHandle | None = None

    # --- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport  # with TCP_NODELAY, which asyncio sets
        self._desk.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._refusing = True
        self._waiting.clear()
        if self._linger is not None:
            self._linger.cancel()
        self._desk.closed(self)

    def data_received(self, data: bytes) -> None:
        if self._refusing:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._pass_over_upgrade(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError:
            self._refuse(self._answers.answer(400, TEXT, False, b"Bad Request\n"))
            return
        if self._headers or self._url:
            self._check_unfinished(len(data))

    def eof_received(self) -> bool:
        # A client that has only finished sending still gets its answers.
        self._ended = True
        return self._busy or bool(self._waiting)

    def pause_writing(self) -> None:
        self._stuck = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._stuck = False
        self._go_on()

    # --- called by the parser ------------------------------------------------------------------

    def on_headers_complete(self) -> None:
        self._head_done = True

    def on_message_complete(self) -> None:
        url, headers, body, parser = self._url, self._headers, self._body, self._parser
        if parser.should_upgrade():
            return  # the parser stops here, and `_pass_over_upgrade` comes next
        method, keep_alive = parser.get_method(), parser.should_keep_alive()
        if self._refusing:
            pass
        elif self._busy or self._stuck or self._waiting:
            self._waiting.append((method, bytes(url), headers.copy(), bytes(body), keep_alive))
            self._transport.pause_reading()
        else:
            self._handle(method, url, headers, body, keep_alive)
        url.clear()
        headers.clear()
        body.clear()
        self._head_done = self._head_checked = self._continue_due = False
        self._head_size = 0

    # --- called by the server ------------------------------------------------------------------

    def done(self, result: bytes | DynamoDBError) -> None:
        """What this connection asked for was done, durably if it was a write, or refused."""
        self._busy = False
        if self._transport.is_closing():
            return
        if isinstance(result, DynamoDBError):
            self._send_fault(result)
        else:
            self._send(200, result)
        self._go_on()

    def finish(self) -> None:
        """Close, unless a request is under way: then its answer closes."""
        if not (self._busy or self._waiting or self._headers or self._url):
            self._refusing = True
            self._transport.close()

    def abort(self) -> None:
        """Close at once, whatever is under way."""
        self._transport.abort()

    # --- one request ---------------------------------------------------------------------------

    def _handle(
        self,
        method: bytes,
        url: bytes | bytearray,
        headers: Mapping[bytes, bytes],
        body: bytes | bytearray,
        keep_alive: bool,
    ) -> None:
        self._keep_alive = keep_alive
        target = headers.get(b"X-Amz-Target")
        content_type = headers.get(b"Content-Type")
        if target is None or content_type is None:
            headers = titled(headers)
            target = headers.get(b"X-Amz-Target")
            content_type = headers.get(b"Content-Type", b"")
        if content_type != AMZ_JSON or method != b"POST":
            content_type = content_type.partition(b";")[0].strip().lower()
            if method != b"POST" or (body and content_type not in (AMZ_JSON, JSON)):
                self._send_other(method)
                return
            self._content_type = AMZ_JSON if content_type == AMZ_JSON else JSON
        else:
            self._content_type = AMZ_JSON

        try:
            request = parse(body) if body else None
            operation = OPERATION_OF.get(target)
            if operation is None:
                raise UnknownOperationException
            self._access.authenticate(method, url, headers, body)
            if not body:
                raise SerializationException
            step = self._engine.prepare(operation, request)
        except DynamoDBError as fault:
            self._send_fault(fault)
        except Exception:
            log.exception("%s failed", (target or b"a request").decode("latin-1"))
            self._send_fault(InternalServerError(UNEXPECTED))
        else:
            self._busy = True
            self._desk.submit(self, step)

    def _send(self, status: int, body: bytes) -> None:
        keep_alive = self._keep_alive
        if self._desk.stopping and not self._waiting:
            keep_alive = False
        self._transport.write(self._answers.answer(status, self._content_type, keep_alive, body))
        if not keep_alive:
            self._refusing = True
            self._waiting.clear()
            self._transport.close()

    def _send_fault(self, fault: DynamoDBError) -> None:
        self._send(fault.status, msgspec.json.encode(fault.body()))

    def _send_other(self, method: bytes) -> None:
        """Answer a request that is no operation: a health check, or something unknown."""
        self._content_type = TEXT
        if method == b"GET":
            self._send(200, HEALTHY)
        elif method == b"HEAD":
            self._keep_alive = False  # the answer's length is that of a body which is not sent
            self._send(200, b"")
        else:
            self._send(404, UNKNOWN)

    # --- between requests ----------------------------------------------------------------------

    def _go_on(self) -> None:
        """Take up what waits; then, with nothing under way, read again."""
        while self._waiting and not (self._busy or self._stuck):
            entry = self._waiting.popleft()
            if isinstance(entry, bytes):
                self._part(entry)
            else:
                self._handle(*entry)
        if self._busy or self._waiting or self._stuck or self._refusing:
            return
        if self._ended:
            self._transport.close()
        elif self._desk.stopping:
            self.finish()
        else:
            if self._continue_due:
                self._continue_due = False
                self._transport.write(CONTINUE)
            self._transport.resume_reading()

    def _check_unfinished(self, size: int) -> None:
        """Look at a message of which a part has arrived: is it too large, does it wait for us?"""
        if not self._head_done:
            # The first piece may begin with other requests, so it does not count.
            self._head_size = self._head_size + size if self._head_size else 1
            if self._head_size > MAX_HEAD:
                self._refuse(self._answers.answer(431, TEXT, False, b"The header is too large\n"))
            return
        length = len(self._body)
        if not self._head_checked:
            self._head_checked = True
            headers = titled(self._headers)
            length = int(headers.get(b"Content-Length", b"0"))
            if headers.get(b"Expect", b"").lower() == b"100-continue" and length <= MAX_BODY:
                if self._busy or self._waiting or self._stuck:
                    self._continue_due = True  # an answer must go out before it
                else:
                    self._transport.write(CONTINUE)
        if length > MAX_BODY:
            fault = RequestEntityTooLargeException()
            body = msgspec.json.encode(fault.body())
            self._refuse(self._answers.answer(fault.status, AMZ_JSON, False, body))

    def _pass_over_upgrade(self, rest: bytes) -> None:
        """Read a request that offers another protocol as if it did not.

        Java's client offers HTTP/2 in its first request. The parser takes what follows the header
        for the other protocol, so it gets the header again, without the offer.
        """
        method = self._parser.get_method()
        lines = [b"%b %b HTTP/1.1" % (method, bytes(self._url))]
        lines += [
            b"%b: %b" % (name, value)
            for name, value in self._headers.items()
            if name.title() not in (b"Connection", b"Upgrade")
        ]
        self._url.clear()
        self._headers.clear()
        self._head_done = False
        self._parser = httptools.HttpRequestParser(self)
        if method == b"CONNECT":  # which is nothing but an upgrade
            self._refuse(self._answers.answer(400, TEXT, False, b"Bad Request\n"))
        else:
            self.data_received(b"\r\n".join(lines) + b"\r\n\r\n" + rest)

    def _refuse(self, answer: bytes) -> None:
        """Give a last answer when its turn comes, and close."""
        self._refusing = True
        if self._busy or self._waiting or self._stuck:
            self._waiting.append(answer)
            self._transport.pause_reading()
        else:
            self._part(answer)

    def _part(self, answer: bytes) -> None:
        """Send a last answer, then let what the client still sends run out, for a while."""
        self._transport.write(answer)
        self._transport.write_eof()
        self._transport.resume_reading()
        loop = asyncio.get_running_loop()
        self._linger = loop.call_later(LINGER_SECONDS, self._transport.abort)


def titled(headers: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The headers with their names spelled as botocore spells them: `X-Amz-Target`."""
    return {name.title(): value for name, value in headers.items()}


def parse(body: bytes | bytearray) -> Any:
    """The JSON of a body. DynamoDB says no more than that it could not read it."""
    if len(body) > MAX_BODY:
        raise RequestEntityTooLargeException
    try:
        return decode(body)
    except (ValueError, RecursionError):
        raise SerializationException from None
