"""The remote transport: AWS DynamoDB, or any endpoint that speaks its protocol.

    send ──▶ body, signed headers ──▶ a pooled connection ──▶ answer, checked
             ▲                                                │
             └── again: throttled, 5xx, cut, damaged, skewed ─┘   retry.py says whether and when

Connections are kept alive and pooled; one is used by one request at a time. A connection that was
cut may have carried its request through: so a transaction has a token, the same in every attempt,
by which it is done once; and a write under a condition cannot be done twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tablewright.errors import EndpointFailed, Fault, UnknownOperationException, Unsupported
from tablewright.transport import message, retry
from tablewright.transport.credentials import (
    aws_credentials,
    default_region,
    endpoint_credentials,
)
from tablewright.transport.faults import OtherFault, fault_from
from tablewright.transport.sigv4 import Credentials, Signer

TARGET = "DynamoDB_20120810."
CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
#: Connections that are kept, at most; more are made when they are needed.
POOL = 16
CHUNK = 256 * 1024

_encode = msgspec.json.Encoder().encode


class Retried(bytes):
    """An answer that took more than one attempt."""

    attempts: int = 1


class Remote:
    """Requests to an endpoint over HTTP, both ways."""

    def __init__(
        self,
        url: str,
        *,
        region: str,
        credentials: Callable[[], Credentials],
        attempts: int = retry.ATTEMPTS,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EndpointFailed(f"{url!r} is not the URL of an endpoint, such as http://host:8000")
        self.url = url
        self.host = parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.attempts = attempts
        self.connect_seconds = connect_seconds
        self.read_seconds = read_seconds
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._credentials = credentials
        self._signer = Signer(parts.netloc.rpartition("@")[2], region)
        self._skew = timedelta()
        self._quota = retry.Quota()
        self._idle: deque[socket.socket] = deque()
        self._idle_async: deque[_Stream] = deque()
        self._lock = threading.Lock()

    @classmethod
    def aws(cls, region: str) -> Remote:
        """AWS DynamoDB in a region, with the credentials of the AWS chain."""
        url = f"https://dynamodb.{region}.amazonaws.com"
        return cls(url, region=region, credentials=aws_credentials())

    @classmethod
    def endpoint(cls, url: str) -> Remote:
        """Any compatible endpoint."""
        return cls(url, region=default_region(), credentials=endpoint_credentials())

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"

    # -- one request, in as many attempts as it takes ----------------------------------------

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        body = _encode(with_token(operation, request))
        for attempt in range(1, self.attempts + 1):
            outcome = self._outcome(operation, self._try(operation, body))
            if isinstance(outcome, bytes):
                return self._succeeded(outcome, attempt)
            time.sleep(self._pause(operation, outcome, attempt))
        raise AssertionError("the last attempt gives an answer or raises")

    async def send_async(self, operation: str, request: dict[str, Any]) -> bytes:
        body = _encode(with_token(operation, request))
        for attempt in range(1, self.attempts + 1):
            outcome = self._outcome(operation, await self._try_async(operation, body))
            if isinstance(outcome, bytes):
                return self._succeeded(outcome, attempt)
            await asyncio.sleep(self._pause(operation, outcome, attempt))
        raise AssertionError("the last attempt gives an answer or raises")

    def _request(self, operation: str, body: bytes) -> bytes:
        now = datetime.now(UTC) + self._skew
        target = TARGET + operation
        return message.request(self._signer.headers(self._credentials(), target, body, now), body)

    def _outcome(self, operation: str, came: message.Answer | Exception) -> bytes | Exception:
        """The body of a good answer, or why to try again; raises what no retry mends."""
        if isinstance(came, Exception):
            return came
        try:
            body = came.body()
        except message.Damaged as damaged:
            return damaged
        if came.status == 200:
            return body
        fault = fault_from(came.status, body)
        if isinstance(fault, UnknownOperationException):
            raise Unsupported(operation, self.url) from fault
        if retry.is_skewed(fault):
            self._learn_skew(came)
            return fault
        if retry.is_retryable(fault, came.status):
            return fault
        raise fault

    def _learn_skew(self, answer: message.Answer) -> None:
        """Set our clock by the endpoint's."""
        with contextlib.suppress(ValueError):
            told = parsedate_to_datetime(answer.headers.get(b"date", b"").decode("latin-1"))
            self._skew = told - datetime.now(UTC)

    def _pause(self, operation: str, reason: Exception, attempt: int) -> float:
        """How long to wait before the next attempt; raises if there is none."""
        cost = retry.TIMEOUT_COST if isinstance(reason, TimeoutError) else retry.COST
        if attempt == self.attempts or not self._quota.take(cost):
            if isinstance(reason, Fault) and not isinstance(reason, OtherFault):
                raise reason
            why = str(reason) or type(reason).__name__
            raise EndpointFailed(
                f"{self.url}: {operation} failed {attempt} time{'s' * (attempt > 1)}; "
                f"the last time: {why}"
            ) from reason
        return retry.pause(attempt)

    def _succeeded(self, body: bytes, attempt: int) -> bytes:
        if attempt == 1:
            self._quota.give(1)
            return body
        self._quota.give(retry.COST)
        retried = Retried(body)
        retried.attempts = attempt
        return retried

    # -- waiting for each answer -------------------------------------------------------------

    def _try(self, operation: str, body: bytes) -> message.Answer | Exception:
        """One attempt; an exception that is given, not raised, may be tried again."""
        sent = self._request(operation, body)
        connection = None
        try:
            connection, fresh = self._connection()
            answer = _exchange(connection, sent)
            if answer is None and not fresh:  # it was closed while it lay idle
                connection.close()
                connection = self._connect()
                answer = _exchange(connection, sent)
            if answer is None:
                raise ConnectionError("the endpoint closed the connection without an answer")
        except (OSError, message.Damaged) as error:
            if connection is not None:
                connection.close()
            return error
        if answer.keeps_alive:
            self._keep(connection)
        else:
            connection.close()
        return answer

    def _connection(self) -> tuple[socket.socket, bool]:
        with self._lock:
            if self._idle:
                return self._idle.pop(), False
        return self._connect(), True

    def _connect(self) -> socket.socket:
        connection = socket.create_connection((self.host, self.port), self.connect_seconds)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_hostname=self.host)
        connection.settimeout(self.read_seconds)
        return connection

    def _keep(self, connection: socket.socket) -> None:
        with self._lock:
            if len(self._idle) < POOL:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    # -- in an event loop --------------------------------------------------------------------

    async def _try_async(self, operation: str, body: bytes) -> message.Answer | Exception:
        sent = self._request(operation, body)
        stream = None
        try:
            fresh = not self._idle_async
            stream = await self._open() if fresh else self._idle_async.pop()
            answer = await stream.exchange(sent, self.read_seconds)
            if answer is None and not fresh:
                stream.close()
                stream = await self._open()
                answer = await stream.exchange(sent, self.read_seconds)
            if answer is None:
                raise ConnectionError("the endpoint closed the connection without an answer")
        except (OSError, message.Damaged) as error:
            if stream is not None:
                stream.close()
            return error
        if answer.keeps_alive and len(self._idle_async) < POOL:
            self._idle_async.append(stream)
        else:
            stream.close()
        return answer

    async def _open(self) -> _Stream:
        async with asyncio.timeout(self.connect_seconds):
            reader, writer = await asyncio.open_connection(
                self.host, self.port, ssl=self._tls, limit=CHUNK
            )
        return _Stream(reader, writer)

    async def close_async(self) -> None:
        while self._idle_async:
            self._idle_async.pop().close()
        self.close()


def with_token(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """A transaction has a token, so that an attempt that was repeated is done once."""
    if operation == "TransactWriteItems" and "ClientRequestToken" not in request:
        return {**request, "ClientRequestToken": str(uuid.uuid4())}
    return request


def _exchange(connection: socket.socket, sent: bytes) -> message.Answer | None:
    """The answer to a request; None if the connection was closed before any of it came."""
    answer = message.Answer()
    try:
        connection.sendall(sent)
        while not answer.complete:
            data = connection.recv(CHUNK)
            if not data:
                if answer.started:
                    raise ConnectionError("the connection was cut in the middle of an answer")
                return None
            answer.feed(data)
    except (BrokenPipeError, ConnectionResetError):
        if answer.started:
            raise
        return None
    return answer


class _Stream:
    """A connection in an event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def exchange(self, sent: bytes, seconds: float) -> message.Answer | None:
        answer = message.Answer()
        try:
            async with asyncio.timeout(seconds):
                self.writer.write(sent)
                await self.writer.drain()
                while not answer.complete:
                    data = await self.reader.read(CHUNK)
                    if not data:
                        if answer.started:
                            raise ConnectionError(
                                "the connection was cut in the middle of an answer"
                            )
                        return None
                    answer.feed(data)
        except (BrokenPipeError, ConnectionResetError):
            if answer.started:
                raise
            return None
        return answer

    def close(self) -> None:
        self.writer.close()
