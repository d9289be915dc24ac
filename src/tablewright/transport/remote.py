"""The remote transport: AWS DynamoDB, or any endpoint that speaks its protocol.

    send ──▶ body, signed ──▶ a pooled connection ──▶ answer, checked
             ▲                                        │
             └── again: throttled, 5xx, lost, skewed ─┘   retry.py says whether and when

Connections are kept alive and pooled; one is used by one request at a time, and never again after
it has failed. One that was closed while it lay idle is replaced before anything is sent on it: so
each attempt sends the request at most once. What became of an attempt without an answer is not
known; lost.py tells what that means for a write.

A transport may be used by many threads and in several event loops; a forked process opens
connections of its own.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections import deque
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tablewright.errors import (
    EndpointFailed,
    Fault,
    InvalidValue,
    StoreClosed,
    UnknownOperationException,
    Unsupported,
)
from tablewright.transport import lost, retry
from tablewright.transport.connection import Address, AsyncConnection, Connection, Lost
from tablewright.transport.credentials import (
    aws_credentials,
    default_region,
    endpoint_credentials,
)
from tablewright.transport.faults import GaveUp, fault_from
from tablewright.transport.message import Answer, Damaged, excerpt
from tablewright.transport.sigv4 import Credentials, Signer

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
#: Connections that are kept, at most. Threads beyond that get new ones, tasks of a loop wait.
POOL = 64

_encode = msgspec.json.Encoder().encode

#: Where the regions are that are not at amazonaws.com, by the beginning of their names.
_DOMAINS = {
    "cn-": "amazonaws.com.cn",
    "eu-isoe-": "cloud.adc-e.uk",
    "eusc-": "amazonaws.eu",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "us-isof-": "csp.hci.ic.gov",
}


class Retried(bytes):
    """An answer that took more than one attempt."""

    attempts: int = 1


class _Asked:
    """A request on its way: what was tried, and what came of it."""

    __slots__ = ("attempt", "body", "lost", "operation", "pause", "request", "spent")

    def __init__(self, operation: str, request: dict[str, Any]) -> None:
        self.operation = operation
        self.request = request
        self.body = _encode(lost.with_token(operation, request))
        self.attempt = 1
        #: An attempt changed something, or not: nobody answered.
        self.lost = False
        #: Seconds before the next attempt, and what it took of the quota.
        self.pause = 0.0
        self.spent = 0


class _Pool:
    """The connections of one event loop."""

    def __init__(self) -> None:
        self.idle: list[AsyncConnection] = []
        self.slots = asyncio.Semaphore(POOL)


class Remote:
    """Requests to an endpoint over HTTP, both ways.

    An attempt may take `connect_seconds`, where it needs a connection, and `answer_seconds`.
    """

    def __init__(
        self,
        url: str,
        *,
        region: str,
        credentials: Callable[[], Credentials],
        attempts: int = retry.ATTEMPTS,
        connect_seconds: float = CONNECT_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        host, port, authority, is_https = _parsed(url)
        self.url = url
        self.attempts = attempts
        tls = None
        if is_https:  # the system's authorities, or SSL_CERT_FILE, or AWS_CA_BUNDLE
            tls = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)
        self._address = Address(host, port, tls, connect_seconds, answer_seconds)
        self._credentials = credentials
        self._signer = Signer(authority, region)
        self._skew = 0.0
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._quota = retry.Quota()
        # No lock: deques are safe in threads, and a lock might be held by nobody after a fork.
        self._idle: deque[Connection] = deque()
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}

    @classmethod
    def aws(cls, region: str) -> Remote:
        """AWS DynamoDB in a region, with the credentials of the AWS chain."""
        domains = (name for start, name in _DOMAINS.items() if region.startswith(start))
        url = f"https://dynamodb.{region}.{next(domains, 'amazonaws.com')}"
        return cls(url, region=region, credentials=aws_credentials())

    @classmethod
    def endpoint(cls, url: str) -> Remote:
        """Any compatible endpoint."""
        return cls(url, region=default_region(), credentials=endpoint_credentials())

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"

    # -- one request, in as many attempts as it takes ----------------------------------------

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        asked = _Asked(operation, request)
        while True:
            body = self._judge(asked, self._try(asked))
            if body is not None:
                return body
            time.sleep(asked.pause)

    async def send_async(self, operation: str, request: dict[str, Any]) -> bytes:
        asked = _Asked(operation, request)
        while True:
            body = self._judge(asked, await self._try_async(asked))
            if body is not None:
                return body
            await asyncio.sleep(asked.pause)

    def _message(self, asked: _Asked) -> bytes:
        if self._closed:
            raise StoreClosed(self.url)
        if self._process != os.getpid():
            self._leave_parents()
        now = int(time.time() + self._skew)
        return self._signer.request(self._credentials(), asked.operation, asked.body, now)

    def _judge(self, asked: _Asked, came: Answer | Exception) -> bytes | None:
        """The body of a good answer; None to try again; raises what no attempt mends."""
        if isinstance(came, Answer):
            if came.status == 200:
                return self._succeeded(asked, came.body)
            return self._refused(asked, came)
        if isinstance(came, ssl.SSLCertVerificationError):
            raise EndpointFailed(
                f"{self.url}: its certificate is not trusted: {came.verify_message}; set "
                "AWS_CA_BUNDLE or SSL_CERT_FILE to a file of certificates to trust"
            ) from came
        asked.lost |= isinstance(came, Lost)
        self._again(asked, came)
        return None

    def _succeeded(self, asked: _Asked, body: bytes) -> bytes:
        self._quota.give(asked.spent or retry.REWARD)
        if asked.attempt == 1:
            return body
        retried = Retried(body)
        retried.attempts = asked.attempt
        return retried

    def _refused(self, asked: _Asked, answer: Answer) -> bytes | None:
        fault = fault_from(answer.body)
        if isinstance(fault, UnknownOperationException):
            raise Unsupported(asked.operation, self.url) from fault
        status, code = answer.status, "" if fault is None else fault.code
        reason = fault or Damaged(f"HTTP {status}, and not of DynamoDB: {excerpt(answer.body)}")
        throttled = retry.is_throttled(code, status)
        skewed = fault is not None and retry.is_skewed(fault) and self._learn_skew(answer)
        if throttled or skewed or retry.is_transient(code, status):
            asked.lost |= status >= 500
            wished = answer.headers.get(b"x-amz-retry-after", b"")
            self._again(asked, reason, throttled=throttled, wished=wished)
            return None
        if fault is None:
            raise EndpointFailed(f"{self.url}: {asked.operation}: {reason}")
        if asked.lost and not lost.is_settled(asked.operation):
            if lost.is_done(asked.operation, asked.request, fault):
                return self._succeeded(asked, b"{}")
            fault.add_note(lost.MAY_BE_DONE)
        raise fault

    def _learn_skew(self, answer: Answer) -> bool:
        """Set our clock by the endpoint's, if it tells its time."""
        try:
            told = parsedate_to_datetime(answer.headers.get(b"date", b"").decode("latin-1"))
            self._skew = told.timestamp() - time.time()
        except ValueError:
            return False
        return True

    def _again(
        self, asked: _Asked, reason: Exception, *, throttled: bool = False, wished: bytes = b""
    ) -> None:
        """Prepare the next attempt, after the milliseconds that are wished; raises if it was the
        last."""
        cost = retry.COST_THROTTLED if throttled else retry.COST
        if asked.attempt >= self.attempts or not self._quota.take(cost):
            raise self._gave_up(asked, reason) from reason
        seconds = int(wished) / 1000 if wished.isdigit() else 0.0
        asked.pause = retry.pause(asked.attempt, throttled=throttled, wished=seconds)
        asked.spent = cost
        asked.attempt += 1

    def _gave_up(self, asked: _Asked, reason: Exception) -> GaveUp:
        times = "once" if asked.attempt == 1 else f"{asked.attempt} times"
        text = f"{self.url}: {asked.operation} failed {times}; the last time: "
        text += f"{reason.code}: {reason.message}" if isinstance(reason, Fault) else str(reason)
        if asked.attempt < self.attempts:
            text += "; there are no more retries while so much fails"
        if asked.lost and lost.writes(asked.operation):
            text += "; it may have been done"
        return GaveUp(text, asked.attempt, getattr(reason, "code", ""))

    # -- waiting for each answer -------------------------------------------------------------

    def _try(self, asked: _Asked) -> Answer | Exception:
        """One attempt; an exception that is given, not raised, may be tried again."""
        message = self._message(asked)
        try:
            connection = self._connection()
        except OSError as error:
            return error
        try:
            answer = connection.exchange(message)
        except Lost as error:
            connection.close()
            return error
        except BaseException:
            connection.close()
            raise
        if answer.keeps_alive:
            self._idle.append(connection)
            if self._closed or len(self._idle) > POOL:
                self._trim()
        else:
            connection.close()
        return answer

    def _connection(self) -> Connection:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took it
                break
            if connection.is_usable():
                return connection
            connection.close()
        return Connection.open(self._address)

    def _trim(self) -> None:
        """Close what is too much; all of it, if this is closed."""
        most = 0 if self._closed else POOL
        while len(self._idle) > most:
            try:
                self._idle.popleft().close()
            except IndexError:  # another thread took it
                return

    def _leave_parents(self) -> None:
        """In a forked process: the connections are the parent's; closing ours leaves them open."""
        for connection in self._idle:
            connection.close()
        self._begin()

    def close(self) -> None:
        """Close the connections; those in use, when their answers have come."""
        self._closed = True
        self._trim()

    # -- in an event loop --------------------------------------------------------------------

    async def _try_async(self, asked: _Asked) -> Answer | Exception:
        pool = self._pool()
        async with pool.slots:
            message = self._message(asked)
            try:
                connection = await self._connection_async(pool)
            except OSError as error:
                return error
            try:
                answer = await connection.exchange(message, self._address.answer_seconds)
            except Lost as error:
                connection.close()
                return error
            except BaseException:  # cancelled: the answer may still come, and nobody wants it
                connection.close()
                raise
            if answer.keeps_alive and not self._closed:
                pool.idle.append(connection)
            else:
                connection.close()
            return answer

    def _pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            for other in list(self._pools):
                if other.is_closed():
                    self._pools.pop(other, None)
            pool = self._pools[loop] = _Pool()
        return pool

    async def _connection_async(self, pool: _Pool) -> AsyncConnection:
        while pool.idle:
            connection = pool.idle.pop()
            if connection.is_usable():
                return connection
            connection.close()
        return await AsyncConnection.open(self._address)

    async def close_async(self) -> None:
        """Close the connections of this event loop, and those that are waited for."""
        self.close()
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            for connection in pool.idle:
                connection.close()
            await asyncio.sleep(0)  # the loop closes them in its next turn


def _parsed(url: str) -> tuple[str, int, str, bool]:
    """Host and port to connect to, the host as a header has it, and whether it is https."""
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError as error:
        raise InvalidValue(f"{url!r} is not the URL of an endpoint: {error}") from None
    more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in ("http", "https") or not host or more:
        raise InvalidValue(f"{url!r} is not the URL of an endpoint, such as http://host:8000")
    is_https = parts.scheme == "https"
    return host, port or (443 if is_https else 80), parts.netloc, is_https
