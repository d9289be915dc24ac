"""Observers: functions that receive an event for each request.

    db = connect("dynamodb://eu-west-1", Commerce, observe=log_requests())
    db = connect("commerce.db", Commerce, observe=trace_requests())         # OpenTelemetry

    usage = Usage()
    db = connect("commerce.db", Commerce, observe=usage)
    usage.by_pattern["customer_timeline"].units                             # total so far

An observer is any function that takes a `RequestEvent`. It is called after each request, in the
thread or task of the caller; an exception that it raises is raised by `db.run`.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from msgspec import Struct

from tablewright import errors
from tablewright.errors import DynamoDBError, TablewrightError
from tablewright.plan.request_events import Observer, RequestEvent
from tablewright.transport.retry import THROTTLING

__all__ = ["Observer", "PatternUsage", "RequestEvent", "Usage", "log_requests", "trace_requests"]


class PatternUsage(Struct):
    """The totals of all requests of one access pattern."""

    requests: int = 0
    units: float = 0.0
    retries: int = 0
    failures: int = 0
    seconds: float = 0.0


class Usage:
    """An observer that adds up the usage of each access pattern.

    >>> usage = Usage()
    >>> usage(RequestEvent(operation="Query", table="shop", pattern="users", units=0.5))
    >>> usage.by_pattern["users"].units
    0.5
    """

    def __init__(self) -> None:
        self.by_pattern: dict[str, PatternUsage] = {}
        self._lock = threading.Lock()

    def __call__(self, event: RequestEvent) -> None:
        with self._lock:
            total = self.by_pattern.setdefault(event.pattern, PatternUsage())
            total.requests += 1
            total.units += event.units
            total.retries += event.attempts - 1
            total.failures += bool(event.error)
            total.seconds += event.seconds


#: Refusals of requests that no program expects: of its credentials, or of its policies.
_UNEXPECTED = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)
#: What DynamoDB refuses in normal operation: conditions, conflicts, invalid values, throttling.
_EXPECTED = THROTTLING | {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, DynamoDBError) and kind.status < 500
}


def log_requests(logger: logging.Logger | None = None, *, level: int = logging.DEBUG) -> Observer:
    """Return an observer that logs each request, one line each.

    A request that DynamoDB refuses in normal operation, such as one whose condition is false, one
    with an invalid value or a throttled one, is logged with `level` as well. Warnings are requests
    without a response, errors of the service, and refused credentials.
    """
    log = logger or logging.getLogger("tablewright.requests")

    def observe(event: RequestEvent) -> None:
        where = f"{event.table}.{event.index}" if event.index else event.table
        log.log(
            logging.WARNING if event.error and not _is_expected(event.error) else level,
            "%s %s by %s: %s units, %d attempt(s), %.1f ms%s",
            event.operation,
            where,
            event.pattern,
            f"{event.units:g}",
            event.attempts,
            event.seconds * 1000,
            f", {event.error}" if event.error else "",
        )

    return observe


def _is_expected(error: str) -> bool:
    return error in _EXPECTED and error not in _UNEXPECTED


def trace_requests(tracer: Any = None) -> Observer:
    """Return an observer that records each request as an OpenTelemetry span.

    The span attributes follow the semantic conventions for databases.
    """
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        raise TablewrightError(
            "OpenTelemetry is not installed: pip install 'tablewright[otel]'"
        ) from None
    import time

    spans = tracer or trace.get_tracer("tablewright")

    def observe(event: RequestEvent) -> None:
        ended = time.time_ns()
        attributes: dict[str, Any] = {
            "db.system.name": "aws.dynamodb",
            "db.operation.name": event.operation,
            "db.collection.name": event.table,
            "tablewright.pattern": event.pattern,
            "tablewright.units": event.units,
            "tablewright.attempts": event.attempts,
        }
        if event.index:
            attributes["aws.dynamodb.index_name"] = event.index
        span = spans.start_span(
            f"{event.operation} {event.table}",
            kind=trace.SpanKind.CLIENT,
            start_time=ended - int(event.seconds * 1e9),
            attributes=attributes,
        )
        if event.error:
            span.set_attribute("error.type", event.error)
            span.set_status(trace.StatusCode.ERROR, event.error)
        span.end(ended)

    return observe
