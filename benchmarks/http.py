"""The rate of the server with 16 connections, compared with asyncio and httptools alone.

Three processes: the server, the clients (`load`), and this one, which waits. Both servers run in
alternating short rounds, and the best round of each counts: server and clients use both cores, so
any other process slows them down, and the faster server most. The goal is a rate; the CPU time for
each request is reported too, because it varies less.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.files import build
from benchmarks.load import Result
from benchmarks.measure import Context, Figure, judged

CONNECTIONS = 16
#: The share of a core below which a server's rate tells of the machine, not of the server: with
#: the cores in use by others the ratio was 0.67 where it is 0.28, and 0.42 where it is 0.35.
ENOUGH = 0.8
TICKS = os.sysconf("SC_CLK_TCK")


class Served(msgspec.Struct):
    """The result of a load, and the CPU seconds of the server."""

    load: Result
    cpu: float

    @property
    def rate(self) -> float:
        return self.load.requests / self.load.seconds

    @property
    def most(self) -> float:
        """The rate that the clients could have reached without waiting."""
        return self.load.requests / (self.load.seconds - self.load.idle)

    @property
    def share(self) -> float:
        """The part of a core that the server used; far below one if the machine was busy."""
        return self.cpu / self.load.seconds

    @property
    def micros(self) -> float:
        """The CPU time of the server for one request."""
        return self.cpu / self.load.requests * 1e6


def get_item(context: Context) -> list[Figure]:
    """Measure GetItem over HTTP."""
    count = context.size(10_000, 1000)
    path = context.folder / "http.db"
    build(path, count, context.track)
    rounds, seconds = context.size(8, 2), 0.4
    with server("tablewright", "serve", "--db", str(path), "--port", "0") as endpoint:
        length = under_load(endpoint, "get", count, "--seconds", "0.2").load.answer
        with server("benchmarks.bare_http", str(length)) as limit:
            ours: list[Served] = []
            theirs: list[Served] = []
            for _ in context.track("GetItem over HTTP", range(rounds)):
                for found, served in ((ours, endpoint), (theirs, limit)):
                    found.append(under_load(served, "get", count, "--seconds", str(seconds)))
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
    with server("tablewright", "serve", "--db", str(path), "--port", "0") as endpoint:
        under_load(endpoint, "put", count, "--first", str(first), "--most", "100")
        before = commits(path)
        for _ in context.track("PutItem over HTTP", range(rounds)):
            first += 1_000_000
            options = ("--first", str(first), "--seconds", str(seconds), "--most", "20000")
            done.append(under_load(endpoint, "put", count, *options))
        made = commits(path) - before
    shared = sum(served.load.requests for served in done) / made
    return [
        Figure(
            name="PutItem over HTTP, 3 GSIs, full",
            unit="req/s",
            value=median(served.rate for served in done),
            note=f"{CONNECTIONS} connections; {shared:.1f} writes shared a commit; "
            f"{median(served.micros for served in done):.0f} µs of CPU each",
        )
    ]


class Process(msgspec.Struct):
    """A running server."""

    pid: int
    port: int

    def cpu(self) -> float:
        """Return the CPU seconds that it has used so far."""
        after_name = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / TICKS


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
        process.terminate()
        process.wait(10)


def under_load(served: Process, operation: str, count: int, *options: str) -> Served:
    """Put a server under load from another process."""
    before = served.cpu()
    output = subprocess.check_output(
        (
            *(sys.executable, "-m", "benchmarks.load", str(served.port), operation, str(count)),
            *("--connections", str(CONNECTIONS), *options),
        )
    )
    return Served(msgspec.json.decode(output, type=Result), served.cpu() - before)


def commits(path: Path) -> int:
    """Return the number of transactions that were committed to a file since it was opened.

    The header of SQLite's wal-index counts them: `iChange`, the third word, in native order.
    """
    with Path(f"{path}-shm").open("rb") as index:
        _, _, changes = struct.unpack("=III", index.read(12))
    return int(changes)
