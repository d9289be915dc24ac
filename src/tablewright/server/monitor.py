"""The monitor: metrics and health of a server, on a port of its own.

    GET /metrics    the metrics, in Prometheus's text format
    GET /ready      200 while requests can be served, 503 with the reason otherwise
    GET /live       200 while the event loop runs

It listens on loopback only, serves one request for each connection, and accepts only loopback
names in the Host header.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping

from tablewright.errors import DynamoDBError
from tablewright.server.access.hosts import Hosts
from tablewright.server.telemetry import BUCKETS, Telemetry

TIMEOUT_SECONDS = 5.0
MAX_CONNECTIONS = 16


class Monitor:
    """Serves metrics and health checks.

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
