"""Telemetry: metrics, access log lines and log lines of each request.

A server that records none of them has no `Telemetry`, so it costs nothing.

Invariant: only names and numbers are recorded (operation, tables, status, sizes, times, the
caller's access key id), never a key or a value of an item.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import msgspec

from tablewright.server.accesslog import AccessLog
from tablewright.server.credentials_file import Caller

requests_log = logging.getLogger("tablewright.server.requests")

#: Upper bounds of the latency histogram, in seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
MAX_TABLES = 100
_MEMBERS = ("Put", "Update", "Delete", "ConditionCheck", "Get")


class Telemetry:
    """Counts requests by operation and status, and can log them.

    `log` is the access log. `logs_requests`: each request is a line of the logger as well.
    """

    def __init__(self, log: AccessLog | None = None, *, logs_requests: bool = False) -> None:
        self.log = log
        self._logs_requests = logs_requests
        self.requests: dict[tuple[str, int], int] = {}
        self.latencies: dict[str, Latency] = {}

    def begin(self, operation: str | None, bytes_in: int) -> Exchange:
        """Record that a request was received. `operation` is None if it is unknown."""
        return Exchange(self, time.perf_counter(), operation or "-", bytes_in)

    def record(self, exchange: Exchange, line: dict[str, Any], seconds: float) -> None:
        key = exchange.operation, line["status"]
        self.requests[key] = self.requests.get(key, 0) + 1
        latency = self.latencies.get(exchange.operation)
        if latency is None:
            latency = self.latencies[exchange.operation] = Latency()
        latency.add(seconds)
        if self.log is not None:
            self.log.add(line)
        if self._logs_requests:
            # A name is as the client sent it: repr() keeps it in one line.
            tables = ", ".join(n if n.isprintable() else repr(n) for n in line["tables"])
            fault = line["fault"]
            requests_log.info(
                "%s%s: %s%s, %s ms",
                exchange.operation,
                f" {tables}" if tables else "",
                line["status"],
                f" {fault}" if fault else "",
                line["ms"],
            )


class Exchange(msgspec.Struct):
    """A request and its response."""

    telemetry: Telemetry
    started: float
    operation: str
    bytes_in: int
    tables: list[str] = []
    access_key_id: str | None = None

    def identify(self, request: object, caller: Caller | None) -> None:
        """Add the tables that the request names, and its caller."""
        self.tables = sorted(set(table_names(request)))[:MAX_TABLES]
        self.access_key_id = None if caller is None else caller.access_key_id

    def end(self, status: int, code: str, bytes_out: int, request_id: str) -> None:
        """Record the response."""
        seconds = time.perf_counter() - self.started
        line = {
            "time": time.time(),
            "request_id": request_id,
            "operation": self.operation,
            "tables": self.tables,
            "status": status,
            "fault": code or None,
            "bytes_in": self.bytes_in,
            "bytes_out": bytes_out,
            "ms": round(seconds * 1000, 3),
            "access_key_id": self.access_key_id,
        }
        self.telemetry.record(self, line, seconds)


class Latency:
    """A histogram of response times."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.sum += seconds


def table_names(request: object) -> Iterator[str]:
    """Yield the names of the tables in a request, which may be any JSON: it is not checked yet.

    >>> list(table_names({"TransactItems": [{"Put": {"TableName": "a"}}, {"Get": 1}]}))
    ['a']
    """
    if not isinstance(request, dict):
        return
    yield from _name(request)
    batch = request.get("RequestItems")
    if isinstance(batch, dict):
        yield from (name for name in batch if len(name) <= 255)
    members = request.get("TransactItems")
    if isinstance(members, list):
        for member in members[:MAX_TABLES]:
            if isinstance(member, dict):
                for kind in _MEMBERS:
                    yield from _name(member.get(kind))


def _name(value: object) -> Iterator[str]:
    name = value.get("TableName") if isinstance(value, dict) else None
    if isinstance(name, str) and len(name) <= 255:
        yield name
