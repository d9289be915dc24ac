"""The remote transport: AWS DynamoDB, or any endpoint with its protocol.

    send ──▶ body, signed ──▶ a pooled connection ──▶ response, checked
             ▲                                        │
             └─ retry: throttled, 5xx, lost, skewed ──┘   rules in retry.py

Connections are kept alive and pooled. A connection serves one request at a time, and is not used
again after a failure. A connection that was closed while idle is replaced before anything is sent
on it, so each attempt sends the request at most once. The outcome of an attempt without a response
is unknown; retry.py describes what that means for a write.

A transport may be used by many threads and in several event loops; a forked process opens its own
connections.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tablewright.backoff import Backoff
from tablewright.errors import (
    DynamoDBError,
    EndpointUnavailable,
    InvalidValue,
    StoreClosed,
    UnknownOperationException,
    UnsupportedOperation,
)
from tablewright.sigv4 import Signer, SigningCredentials
from tablewright.transport import retry
from tablewright.transport.call_limits import UNLIMITED, CallLimits
from tablewright.transport.connection import (
    Address,
    AsyncConnection,
    BlockingConnection,
    HttpResponse,
    ResponseDamaged,
    ResponseLost,
    excerpt,
)
from tablewright.transport.credentials import aws_credentials, default_region, endpoint_credentials
from tablewright.transport.transport import Response, RetriesExhausted, parse_fault
from tablewright.wire.operations import STREAM_OPERATIONS, may_change, target_of

CONNECT_SECONDS = 5.0
RESPONSE_SECONDS = 30.0
#: The idle connections to keep. With more threads than that, new connections are opened; the
#: tasks of an event loop wait.
MAX_POOLED = 64

_encode = msgspec.json.Encoder().encode

#: The domains of the regions that are not at amazonaws.com, by the prefix of their names.
_DOMAINS = {
    "cn-": "amazonaws.com.cn",
    "eu-isoe-": "cloud.adc-e.uk",
    "eusc-": "amazonaws.eu",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "us-isof-": "csp.hci.ic.gov",
}


class PendingRequest:
    """A request and the state of its attempts."""

    __slots__ = (
        *("attempt", "body", "cost", "delay", "limits"),
        *("maybe_applied", "operation", "request"),
    )

    def __init__(self, operation: str, request: dict[str, Any], limits: CallLimits) -> None:
        self.operation = operation
        self.limits = limits
        self.request = request
        self.body = _encode(retry.add_token(operation, request))
        #: The number of the current attempt.
        self.attempt = 1
        #: Whether an attempt got no response, and may have been applied.
        self.maybe_applied = False
        #: Seconds before the next attempt, and what that attempt cost of the quota.
        self.delay = 0.0
        self.cost = 0


class _Pool:
    """The connections of one event loop."""

    def __init__(self) -> None:
        self.idle: list[AsyncConnection] = []
        self.slots = asyncio.Semaphore(MAX_POOLED)


class Remote:
    """Sends requests to an endpoint over HTTP; a blocking and an async transport.

    An attempt takes at most `connect_seconds`, if it needs a new connection, plus
    `response_seconds`. `after_failure` and `after_throttling` set the delays between attempts, not
    their number. The limits of a call apply to all its attempts together.
    """

    #: Whether `send` takes the limits of a call.
    takes_limits = True

    def __init__(
        self,
        url: str,
        *,
        region: str,
        credentials: Callable[[], SigningCredentials],
        attempts: int = retry.MAX_ATTEMPTS,
        after_failure: Backoff = retry.AFTER_FAILURE,
        after_throttling: Backoff = retry.AFTER_THROTTLING,
        connect_seconds: float = CONNECT_SECONDS,
        response_seconds: float = RESPONSE_SECONDS,
    ) -> None:
        host, port, authority, is_https = _parse_url(url)
        self.url = url
        self._after_failure = msgspec.structs.replace(after_failure, attempts=attempts)
        self._after_throttling = msgspec.structs.replace(after_throttling, attempts=attempts)
        tls = None
        if is_https:  # trusts the system's authorities, or SSL_CERT_FILE, or AWS_CA_BUNDLE
            tls = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)
        self._address = Address(host, port, tls, connect_seconds, response_seconds)
        self._credentials = credentials
        self._signer = Signer(authority, region)
        #: Where the operations of streams are sent, if that is another host.
        self._streams_url = ""
        self._skew = 0.0
        self._is_closed = False
        self._start_process()

    def _start_process(self) -> None:
        self._process = os.getpid()
        self._quota = retry.RetryQuota()
        # No lock: deques are thread-safe, and a lock may stay locked for ever after a fork.
        self._idle: deque[BlockingConnection] = deque()
        self._pools: dict[asyncio.AbstractEventLoop, _Pool] = {}

    @classmethod
    def aws(cls, region: str) -> Remote:
        """Connect to AWS DynamoDB in a region, with the credentials of the AWS chain."""
        domains = (name for start, name in _DOMAINS.items() if region.startswith(start))
        host = f"dynamodb.{region}.{next(domains, 'amazonaws.com')}"
        remote = cls(f"https://{host}", region=region, credentials=aws_credentials())
        remote._streams_url = f"https://streams.{host}"
        return remote

    @classmethod
    def endpoint(cls, url: str) -> Remote:
        """Connect to any compatible endpoint."""
        return cls(url, region=default_region(), credentials=endpoint_credentials())

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"

    @cached_property
    def _streams(self) -> Remote:
        """The transport to DynamoDB Streams, which has a host of its own on AWS."""
        return Remote(self._streams_url, region=self._signer.region, credentials=self._credentials)

    # -- one request, and its attempts -------------------------------------------------------

    def send(
        self, operation: str, request: dict[str, Any], limits: CallLimits = UNLIMITED
    ) -> Response:
        if self._streams_url and operation in STREAM_OPERATIONS:
            return self._streams.send(operation, request, limits)
        limits.require(0, f"{self.url}: {operation} was not sent")
        pending = PendingRequest(operation, request, limits)
        while True:
            response = self._accept(pending, self._attempt(pending))
            if response is not None:
                return response
            time.sleep(pending.delay)

    async def send_async(
        self, operation: str, request: dict[str, Any], limits: CallLimits = UNLIMITED
    ) -> Response:
        if self._streams_url and operation in STREAM_OPERATIONS:
            return await self._streams.send_async(operation, request, limits)
        limits.require(0, f"{self.url}: {operation} was not sent")
        pending = PendingRequest(operation, request, limits)
        while True:
            response = self._accept(pending, await self._attempt_async(pending))
            if response is not None:
                return response
            await asyncio.sleep(pending.delay)

    def _sign(self, pending: PendingRequest) -> bytes:
        if self._is_closed:
            raise StoreClosed(self.url)
        if self._process != os.getpid():
            self._reset_after_fork()
        now = int(time.time() + self._skew)
        return self._signer.sign_request(
            self._credentials(), target_of(pending.operation), pending.body, now
        )

    def _accept(
        self, pending: PendingRequest, outcome: HttpResponse | Exception
    ) -> Response | None:
        """Return the response of a successful attempt; None to retry.

        Raises the fault or the error if a retry cannot help, or if it was the last attempt.
        """
        if isinstance(outcome, HttpResponse):
            if outcome.status == 200:
                return self._succeed(pending, outcome.body)
            return self._accept_fault(pending, outcome)
        if isinstance(outcome, ssl.SSLCertVerificationError):
            raise EndpointUnavailable(
                f"{self.url}: its certificate is not trusted: {outcome.verify_message}; set "
                "AWS_CA_BUNDLE or SSL_CERT_FILE to a file of certificates to trust"
            ) from outcome
        pending.maybe_applied |= isinstance(outcome, ResponseLost)
        self._prepare_retry(pending, outcome)
        return None

    def _succeed(self, pending: PendingRequest, body: bytes) -> Response:
        self._quota.refund(pending.cost or retry.SUCCESS_REFUND)
        return Response(body, pending.attempt)

    def _accept_fault(self, pending: PendingRequest, response: HttpResponse) -> Response | None:
        fault = parse_fault(response.body)
        if isinstance(fault, UnknownOperationException):
            raise UnsupportedOperation(pending.operation, self.url) from fault
        status, code = response.status, "" if fault is None else fault.code
        reason = fault or ResponseDamaged(
            f"HTTP {status} with a body that is not DynamoDB's: {excerpt(response.body)}"
        )
        throttled = retry.is_throttled(code, status)
        skewed = fault is not None and retry.is_skewed(fault) and self._adopt_clock(response)
        if throttled or skewed or retry.is_transient(code, status):
            pending.maybe_applied |= status >= 500
            retry_after = response.headers.get(b"x-amz-retry-after", b"")
            self._prepare_retry(pending, reason, throttled=throttled, retry_after=retry_after)
            return None
        if fault is None:
            raise EndpointUnavailable(f"{self.url}: {pending.operation}: {reason}")
        fault.attempts = pending.attempt
        if pending.maybe_applied and not retry.is_settled_by_retry(pending.operation):
            if retry.is_applied(pending.operation, pending.request, fault):
                return self._succeed(pending, b"{}")
            fault.maybe_applied = True
        raise fault

    def _adopt_clock(self, response: HttpResponse) -> bool:
        """Sign with the time of the endpoint from now on; return False if it is unknown."""
        try:
            date = parsedate_to_datetime(response.headers.get(b"date", b"").decode("latin-1"))
            self._skew = date.timestamp() - time.time()
        except ValueError:
            return False
        return True

    def _prepare_retry(
        self,
        pending: PendingRequest,
        reason: Exception,
        *,
        throttled: bool = False,
        retry_after: bytes = b"",
    ) -> None:
        """Compute the delay before the next attempt. Raises RetriesExhausted after the last one.

        `retry_after` is the delay that the endpoint asks for, in milliseconds.
        """
        backoff = self._after_throttling if throttled else self._after_failure
        limits = pending.limits
        if limits.max_attempts is not None:
            backoff = msgspec.structs.replace(backoff, attempts=limits.max_attempts)
        cost = retry.THROTTLED_RETRY_COST if throttled else retry.RETRY_COST
        delay = backoff.delay(pending.attempt)
        if delay is None:
            raise self._exhausted_error(pending, reason) from reason
        seconds = int(retry_after) / 1000 if retry_after.isdigit() else 0.0
        pending.delay = retry.extend_delay(delay, seconds)
        if not limits.allows(pending.delay):
            raise self._exhausted_error(pending, reason, limits.no_time) from reason
        if not self._quota.spend(cost):
            why = "not retried, because too many requests failed recently"
            raise self._exhausted_error(pending, reason, why) from reason
        pending.cost = cost
        pending.attempt += 1

    def _exhausted_error(
        self, pending: PendingRequest, reason: Exception, why: str = ""
    ) -> RetriesExhausted:
        times = "once" if pending.attempt == 1 else f"{pending.attempt} times"
        text = f"{self.url}: {pending.operation} failed {times}; the last error: "
        text += (
            f"{reason.code}: {reason.message}" if isinstance(reason, DynamoDBError) else str(reason)
        )
        if why:
            text += f"; {why}"
        return RetriesExhausted(
            text,
            attempts=pending.attempt,
            code=reason.code if isinstance(reason, DynamoDBError) else "",
            maybe_applied=pending.maybe_applied and may_change(pending.operation),
        )

    # -- blocking ----------------------------------------------------------------------------

    def _attempt(self, pending: PendingRequest) -> HttpResponse | Exception:
        """Send the request once; an error that is worth a retry is returned, not raised."""
        message = self._sign(pending)
        try:
            connection = self._take_connection(pending.limits)
        except OSError as error:
            return error
        seconds = pending.limits.within(self._address.response_seconds)
        try:
            response = connection.exchange(message, seconds)
        except ResponseLost as error:
            connection.close()
            return error
        except BaseException:
            connection.close()
            raise
        if response.keeps_alive:
            self._idle.append(connection)
            if self._is_closed or len(self._idle) > MAX_POOLED:
                self._trim()
        else:
            connection.close()
        return response

    def _take_connection(self, limits: CallLimits) -> BlockingConnection:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took it
                break
            if connection.is_usable():
                return connection
            connection.close()
        return BlockingConnection.open(self._address_within(limits))

    def _address_within(self, limits: CallLimits) -> Address:
        """Return where to connect, with the time that a call has left for it."""
        if limits.timeout is None:
            return self._address
        seconds = limits.within(self._address.connect_seconds)
        return self._address._replace(connect_seconds=seconds)

    def _trim(self) -> None:
        """Close the surplus idle connections; all of them if the transport is closed."""
        kept = 0 if self._is_closed else MAX_POOLED
        while len(self._idle) > kept:
            try:
                self._idle.popleft().close()
            except IndexError:  # another thread took it
                return

    def _reset_after_fork(self) -> None:
        """Close the parent's connections; in the parent they stay open."""
        for connection in self._idle:
            connection.close()
        self._start_process()

    def close(self) -> None:
        """Close the connections; those in use are closed after their responses."""
        self._is_closed = True
        self._trim()
        if "_streams" in vars(self):
            self._streams.close()

    # -- in an event loop --------------------------------------------------------------------

    async def _attempt_async(self, pending: PendingRequest) -> HttpResponse | Exception:
        pool, limits = self._pool_of_loop(), pending.limits
        async with AsyncExitStack() as held:
            if limits.timeout is None:
                await held.enter_async_context(pool.slots)
            else:
                try:
                    async with asyncio.timeout(limits.within(limits.timeout)):
                        await held.enter_async_context(pool.slots)
                except TimeoutError:
                    return TimeoutError("all connections were in use")
            message = self._sign(pending)
            try:
                connection = await self._take_connection_async(pool, limits)
            except OSError as error:
                return error
            seconds = limits.within(self._address.response_seconds)
            try:
                response = await connection.exchange(message, seconds)
            except ResponseLost as error:
                connection.close()
                return error
            except BaseException:  # cancelled: the response may still arrive
                connection.close()
                raise
            if response.keeps_alive and not self._is_closed:
                pool.idle.append(connection)
            else:
                connection.close()
            return response

    def _pool_of_loop(self) -> _Pool:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            for other in list(self._pools):
                if other.is_closed():
                    self._pools.pop(other, None)
            pool = self._pools[loop] = _Pool()
        return pool

    async def _take_connection_async(self, pool: _Pool, limits: CallLimits) -> AsyncConnection:
        while pool.idle:
            connection = pool.idle.pop()
            if connection.is_usable():
                return connection
            connection.close()
        return await AsyncConnection.open(self._address_within(limits))

    async def close_async(self) -> None:
        """Close the connections of this event loop, and the blocking ones."""
        self.close()
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            for connection in pool.idle:
                connection.close()
            await asyncio.sleep(0)  # the loop closes them in its next iteration
        if "_streams" in vars(self):
            await self._streams.close_async()


def _parse_url(url: str) -> tuple[str, int, str, bool]:
    """Return the host and port to connect to, the Host header, and whether it is https."""
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
