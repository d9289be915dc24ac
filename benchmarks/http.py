"""The rate of the server with 16 connections, compared with asyncio and httptools alone.

Three processes: the server, the clients (`load`), and this one, which waits. Both servers run in
alternating short rounds, and the best round of each counts: server and clients use both cores, so
any other process slows them down, and the faster server most. The goal is a rate; the CPU time for
each request is reported too, because it varies less.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks import items
from benchmarks.files import build
from benchmarks.load import Served, under_load
from benchmarks.measure import Context, Figure, judged
from benchmarks.processes import Process, stop
from benchmarks.reads import draw

CONNECTIONS = 16
#: The share of a core below which a server's rate tells of the machine, not of the server: with
#: the cores in use by others the ratio was 0.67 where it is 0.28, and 0.42 where it is 0.35.
ENOUGH = 0.8
#: As botocore sends them.
HEAD = (
    "POST / HTTP/1.1\r\n"
    "Host: 127.0.0.1:{port}\r\n"
    "Accept-Encoding: identity\r\n"
    "X-Amz-Target: DynamoDB_20120810.{operation}\r\n"
    "Content-Type: application/x-amz-json-1.0\r\n"
    "User-Agent: Boto3/1.44.0 md/Botocore#1.44.0 ua/2.1 os/linux lang/python#3.11\r\n"
    "X-Amz-Date: 20261115T080000Z\r\n"
    "Authorization: AWS4-HMAC-SHA256 "
    "Credential=AKIAEXAMPLE/20261115/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={signature}\r\n"
    "Content-Length: {length}\r\n"
    "\r\n"
)


def get_item(context: Context) -> list[Figure]:
    """Measure GetItem over HTTP."""
    count = context.size(10_000, 1000)
    path = context.folder / "http.db"
    build(path, count, context.track)
    rounds, seconds = context.size(8, 2), 0.4
    with server("tablewright", "serve", str(path), "--port", "0") as endpoint:
        requests = gets(endpoint.port, count)
        length = _served(endpoint, requests, 0.2, repeat=True).load.length
        with server("benchmarks.bare_http", str(length)) as limit:
            ours: list[Served] = []
            theirs: list[Served] = []
            for _ in context.track("GetItem over HTTP", range(rounds)):
                for found, served in ((ours, endpoint), (theirs, limit)):
                    found.append(_served(served, requests, seconds, repeat=True))
    own, quickest = (max(found, key=lambda served: served.rate) for found in (ours, theirs))
    return [
        judged(
            "GetItem over HTTP",
            "req/s",
            own.rate,
            limit=quickest.rate,
            limit_is="asyncio + httptools",
            at_least=0.4,
            sure=min(own.share, quickest.share) > ENOUGH,
            note=f"{CONNECTIONS} connections, {length} B; "
            f"the load could make {quickest.most:,.0f} req/s; the servers had {own.share:.0%} and "
            f"{quickest.share:.0%} of a core",
        ),
        cpu_figure("GetItem over HTTP, server's CPU", ours, theirs),
    ]


def cpu_figure(name: str, ours: Sequence[Served], theirs: Sequence[Served]) -> Figure:
    value = min(served.micros for served in ours)
    limit = min(served.micros for served in theirs)
    return Figure(
        name=name,
        unit="µs",
        value=value,
        limit=limit,
        limit_is="asyncio + httptools",
        ratio=value / limit,
        note=f"a request; {limit / value:.0%} of the limit's rate, were the server alone",
    )


def put_item(context: Context) -> list[Figure]:
    """Measure durable PutItem over HTTP with three GSIs, and how many writes share a commit."""
    count = context.size(10_000, 1000)
    path = context.folder / "http-put.db"
    build(path, count, context.track)
    rounds, seconds = context.size(3, 1), context.size(10, 3) / 10
    done: list[Served] = []
    first = count
    with server("tablewright", "serve", str(path), "--port", "0") as endpoint:
        _served(endpoint, puts(endpoint.port, count, first, 100), seconds, repeat=False)
        before = commits(path)
        for _ in context.track("PutItem over HTTP", range(rounds)):
            first += 1_000_000
            requests = puts(endpoint.port, count, first, 20_000)
            done.append(_served(endpoint, requests, seconds, repeat=False))
        made = commits(path) - before
    shared = sum(served.load.responses for served in done) / made
    return [
        Figure(
            name="PutItem over HTTP, 3 GSIs, full",
            unit="req/s",
            value=median(served.rate for served in done),
            note=f"{CONNECTIONS} connections; {shared:.1f} writes shared a commit; "
            f"{median(served.micros for served in done):.0f} µs of CPU each",
        )
    ]


@contextmanager
def server(*module_and_arguments: str) -> Iterator[Process]:
    """Run a server while the block runs. The server prints its URL when it is ready."""
    process = subprocess.Popen(
        (sys.executable, "-m", *module_and_arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        yield Process(process.pid, int(url.rpartition(":")[2]))
    finally:
        stop(process)


def gets(port: int, count: int) -> list[bytes]:
    """Return GetItem requests for items of a table of `count` items."""
    return [request_bytes(port, "GetItem", items.get_request(n)) for n in draw(2000, count)]


def puts(port: int, count: int, first: int, most: int) -> list[bytes]:
    """Return PutItem requests for `most` new items, from number `first` on."""
    return [
        request_bytes(port, "PutItem", items.put_request(n, count))
        for n in range(first, first + most)
    ]


def request_bytes(port: int, operation: str, request: dict[str, Any]) -> bytes:
    """Return a request as botocore sends it, with a signature that is not verified."""
    body = msgspec.json.encode(request)
    head = HEAD.format(port=port, operation=operation, signature="5f" * 32, length=len(body))
    return head.encode() + body


def _served(process: Process, requests: Iterable[bytes], seconds: float, *, repeat: bool) -> Served:
    """Put a server under load. Raises RuntimeError if it refuses a request."""
    served = under_load(process, requests, connections=CONNECTIONS, seconds=seconds, repeat=repeat)
    if served.load.refused:
        raise RuntimeError(f"expected responses with status 200, got {served.load.problem}")
    return served


def commits(path: Path) -> int:
    """Return the number of transactions that were committed to a file since it was opened.

    The header of SQLite's wal-index counts them: `iChange`, the third word, in native order.
    """
    with Path(f"{path}-shm").open("rb") as index:
        _, _, changes = struct.unpack("=III", index.read(12))
    return int(changes)
