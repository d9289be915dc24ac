"""Telemetry: metrics, log lines of each request, and the access log; the monitor shows metrics.

A server that records none of them has no `Telemetry`, so it costs nothing.

Invariants:
- Only names and numbers are recorded (operation, tables, status, sizes, times, the caller's access
  key id), never a key or a value of an item.
- A slow disk never delays a request: the lines of the access log are collected, and another thread
  writes them. Lines above `MAX_LINES` are dropped, and their number is reported. An error of the
  disk is reported and does not stop the server.
- Whole lines are appended to the access log, so the file may be truncated while the server runs,
  and several processes may write to it.
- The monitor listens on loopback only, serves one request for each connection, and accepts only
  loopback names in the Host header.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tablewright.errors import DynamoDBError
from tablewright.server.access.credentials import Caller
from tablewright.server.access.hosts import Hosts
from tablewright.whole_file import open_private
from tablewright.wire.touches import named_tables

log = logging.getLogger("tablewright.server")
requests_log = logging.getLogger("tablewright.server.requests")

#: Upper bounds of the latency histogram, in seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
MAX_TABLES = 100
MAX_LINES = 100_000
#: The size up to which a write to a pipe is not mixed with those of other processes (POSIX: 512).
PIPE_BUF = 4096
#: The limits of the monitor.
TIMEOUT_SECONDS = 5.0
MAX_CONNECTIONS = 16


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
        names = {name for name in named_tables(request) if len(name) <= 255}
        self.tables = sorted(names)[:MAX_TABLES]
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


class AccessLog:
    """One JSON line for each request, in a file or on standard output ("-")."""

    def __init__(self, path: Path | str, report: Callable[[str], None]) -> None:
        """Open the log. Raises `OSError` if it cannot be opened; later errors go to `report`."""
        self._is_stdout = str(path) == "-"
        self._file = sys.stdout.buffer if self._is_stdout else open_private(path, "ab")
        self._path = path
        self._report = report
        self._lines: list[dict[str, Any]] = []
        self._dropped = 0
        self._writing: asyncio.Future[None] | None = None

    def add(self, line: dict[str, Any]) -> None:
        """Collect a line; drop it if too many lines wait."""
        if len(self._lines) < MAX_LINES:
            self._lines.append(line)
        else:
            self._dropped += 1

    def flush(self) -> None:
        """Start to write the collected lines, unless a write is in progress."""
        if self._lines and (self._writing is None or self._writing.done()):
            lines, self._lines = self._lines, []
            loop = asyncio.get_running_loop()
            self._writing = loop.run_in_executor(None, self._write, lines)
            self._writing.add_done_callback(self._report_write)

    async def close(self) -> None:
        """Write the remaining lines and close the file."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self.flush()
        if self._writing is not None:
            await asyncio.wait([self._writing])
        if not self._is_stdout:
            with suppress(OSError):  # of an earlier write, which was reported
                self._file.close()

    def _write(self, lines: list[dict[str, Any]]) -> None:
        encoded = [msgspec.json.encode(line) + b"\n" for line in lines]
        for chunk in chunks(encoded, PIPE_BUF) if self._is_stdout else [b"".join(encoded)]:
            self._file.write(chunk)
            self._file.flush()

    def _report_write(self, writing: asyncio.Future[None]) -> None:
        error = writing.exception()
        if error is not None:
            self._report(f"cannot write the access log {self._path}: {error}")
        if self._dropped:
            log.error(
                "%d lines of the access log %s were dropped: the disk is too slow",
                self._dropped,
                self._path,
            )
            self._dropped = 0


def chunks(lines: list[bytes], size: int) -> Iterator[bytes]:
    """Yield the lines in chunks of at most `size` bytes, if each line fits.

    >>> list(chunks([b"ab", b"c", b"defg"], 3))
    [b'abc', b'defg']
    """
    chunk = b""
    for line in lines:
        if chunk and len(chunk) + len(line) > size:
            yield chunk
            chunk = b""
        chunk += line
    yield chunk


class Monitor:
    """Serves metrics and health checks, on a port of its own.

        GET /metrics    the metrics, in Prometheus's text format
        GET /ready      200 while requests can be served, 503 with the reason otherwise
        GET /live       200 while the event loop runs

    `gauges` returns the kind, description and value of further metrics by name. `readiness_problem`
    returns why the server is not ready, or None. `key_accesses` returns the most used keys of
    tables with Contributor Insights: the labels of each, and its count.
    """

    def __init__(
        self,
        telemetry: Telemetry,
        gauges: Callable[[], Mapping[str, tuple[str, str, float]]],
        readiness_problem: Callable[[], str | None],
        key_accesses: Callable[[], Iterable[tuple[dict[str, str], int]]] = tuple,
    ) -> None:
        self._telemetry = telemetry
        self._gauges = gauges
        self._readiness_problem = readiness_problem
        self._key_accesses = key_accesses
        self._hosts = Hosts()
        self._open = 0

    async def start(self, port: int) -> str:
        """Listen on 127.0.0.1 and return the URL. Raises `OSError` if the port is in use."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=8192)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"127.0.0.1:{port}") from error
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def close(self) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MAX_CONNECTIONS:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    status, body = self._respond(head.decode("latin-1"))
                    writer.write(
                        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\n"
                        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
                    )
                    await writer.drain()
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            pass  # the client is too slow, disconnected or does not send HTTP
        finally:
            self._open -= 1
            writer.close()

    def _respond(self, head: str) -> tuple[str, str]:
        line, *fields = head.split("\r\n")
        pairs = (field.partition(":") for field in fields)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        try:
            self._hosts.check_host(headers.get("host", "localhost").encode("latin-1"), "127.0.0.1")
        except DynamoDBError as fault:
            return "421 Misdirected Request", f"{fault.message}\n"
        if "origin" in headers:
            return "403 Forbidden", "Requests from web pages are not allowed\n"
        method, _, target = line.partition(" ")
        path = target.partition(" ")[0].partition("?")[0]
        if method != "GET":
            return "405 Method Not Allowed", "Only GET is allowed\n"
        if path == "/live":
            return "200 OK", "live\n"
        if path == "/ready":
            reason = self._readiness_problem()
            if reason is not None:
                return "503 Service Unavailable", f"{reason}\n"
            return "200 OK", "ready\n"
        if path == "/metrics":
            return "200 OK", "".join(self._metrics())
        return "404 Not Found", "Not found. The paths are /metrics, /ready and /live.\n"

    def _metrics(self) -> Iterator[str]:
        yield from heading("requests_total", "counter", "Responses by operation and HTTP status.")
        for (operation, status), count in sorted(self._telemetry.requests.items()):
            yield sample("requests_total", count, operation=operation, status=status)
        name = "request_seconds"
        yield from heading(name, "histogram", "Time from the request to its response.")
        for operation, latency in sorted(self._telemetry.latencies.items()):
            total = 0
            for bound, count in zip((*BUCKETS, "+Inf"), latency.counts, strict=True):
                total += count
                yield sample(f"{name}_bucket", total, operation=operation, le=bound)
            yield sample(f"{name}_sum", round(latency.sum, 6), operation=operation)
            yield sample(f"{name}_count", total, operation=operation)
        for name, (kind, text, value) in self._gauges().items():
            yield from heading(name, kind, text)
            yield sample(name, value)
        name = "key_accesses_total"
        accesses = list(self._key_accesses())
        if accesses:
            yield from heading(name, "counter", "Most used keys, with Contributor Insights.")
        for labels, count in accesses:
            yield sample(name, count, **labels)


def heading(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP tablewright_{name} {text}\n"
    yield f"# TYPE tablewright_{name} {kind}\n"


def sample(name: str, value: float, **labels: object) -> str:
    """Return one line of the metrics.

    >>> sample("requests_total", 3, operation="GetItem")
    'tablewright_requests_total{operation="GetItem"} 3\\n'
    """
    listed = ",".join(f'{label}="{escape(str(text))}"' for label, text in labels.items())
    return f"tablewright_{name}{'{' + listed + '}' if listed else ''} {value}\n"


def escape(text: str) -> str:
    """Escape the value of a label."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
