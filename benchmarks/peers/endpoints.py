"""Endpoints: what every server does under the same load, its start, its memory and its syncs.

Servers of one kind, in memory or with a file, run at the same time and take turns.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from statistics import median

import msgspec
from msgspec import Struct

from benchmarks import http
from benchmarks.load import Served, under_load
from benchmarks.peers import workload
from benchmarks.peers.rounds import (
    CONNECTIONS,
    TOO_SLOW,
    Cell,
    load_round,
    signed_requests,
    summarize,
)
from benchmarks.peers.sdk import Called
from benchmarks.peers.servers import (
    IMPLEMENTATIONS,
    OURS,
    Durability,
    Implementation,
    Running,
    running,
)
from benchmarks.peers.syncs import durability_of, syncs_per_put
from tablewright.errors import TablewrightError

THREADS = (1, 8)
#: The operations whose CPU time is compared with that of the bare server, with BARE connections.
CPU_OPERATIONS = ("get", "query of 20", "put 1 KB")
BARE = 8
BARE_NAME = "bare server"
#: A server that needs more time than this for one request on each connection is not measured with
#: so many, or only in one round.
MOST_SECONDS, ONCE_SECONDS = 4.0, 1.0
#: How long a server may work on requests whose clients have ended.
IDLE_SECONDS = 30.0
#: The number of the first round that boto3 sends; no other round has it.
SDK_ROUND = 500
#: boto3 may need this long for all operations.
SDK_SECONDS = 120.0

Report = Callable[[str], None]


class Sizes(Struct, frozen=True):
    """How much is measured."""

    items: int = 100_000
    #: The time in which the items are loaded, into memory and into a file; a slower server gets
    #: fewer items.
    load_seconds: float = 60.0
    file_seconds: float = 20.0
    starts: int = 5
    puts: int = 50
    rounds: int = 3
    seconds: float = 0.4
    sdk_rounds: int = 2
    sdk_seconds: float = 0.3


QUICK = Sizes(items=500, starts=1, puts=10, rounds=1, seconds=0.1, sdk_rounds=1, sdk_seconds=0.1)


class Server(Struct, frozen=True, kw_only=True):
    """A server: its syncs, its start, and its memory in megabytes."""

    name: str
    version: str
    language: str
    durability: Durability
    #: None if it is in memory, or if they could not be counted.
    syncs_per_put: float | None
    #: The median of the cold starts, and all of them.
    start_seconds: float
    starts: list[float]
    at_rest: float
    #: The number of items of 300 B that were loaded, and the memory after that.
    items: int
    with_items: float
    after_load: float


class Endpoints(Struct, frozen=True):
    items: int
    servers: list[Server]
    cells: list[Cell]
    #: What could not be measured, and why.
    missing: list[str]


class Started(Struct):
    """A server that runs, and what is known of it so far."""

    running: Running
    durability: Durability
    syncs: float | None
    starts: list[float]
    at_rest: float
    items: int
    with_items: float
    #: The seconds of one request of each operation, in the warm-up.
    latencies: dict[str, float] = {}

    @property
    def name(self) -> str:
        return self.running.implementation.name


def endpoints(sizes: Sizes, only: Sequence[str], report: Report) -> Endpoints:
    """Measure all servers that are installed, or `only` those with a name in this list."""
    result = Endpoints(sizes.items, [], [], [])
    chosen: list[Implementation] = []
    for each in IMPLEMENTATIONS:
        if only and each.name not in only:
            continue
        reason = each.missing()
        if reason is None:
            chosen.append(each)
        else:
            result.missing.append(f"{each.label}: {reason}")
    for promises in (("memory",), ("durable", "file")):
        group = [each for each in chosen if each.promise in promises]
        with ExitStack() as stack:
            servers = _start(group, sizes, stack, result.missing, report)
            if servers:
                result.cells.extend(_cells(servers, sizes, report))
                result.cells.extend(_sdk_cells(servers, sizes, report))
                result.servers.extend(map(_server, servers))
    return result


def _start(
    chosen: Sequence[Implementation],
    sizes: Sizes,
    stack: ExitStack,
    missing: list[str],
    report: Report,
) -> list[Started]:
    """Start each server several times, in turns; let it run after the last time, with items."""
    starts: dict[str, list[float]] = {each.label: [] for each in chosen}
    syncs: dict[str, float | None] = {}
    failed: set[str] = set()
    for turn in range(sizes.starts):
        for each in chosen:
            if each.label in failed:
                continue
            report(f"{each.label}: start {turn + 1} of {sizes.starts}")
            try:
                with running(each) as server:
                    starts[each.label].append(server.process.start_seconds)
                    if turn == 0 and each.promise != "memory":
                        syncs[each.label] = _count_syncs(server, sizes.puts)
            except (RuntimeError, TablewrightError) as error:
                failed.add(each.label)
                missing.append(f"{each.label}: {error}")
    found: list[Started] = []
    for each in chosen:
        if each.label in failed:
            continue
        report(f"{each.label}: {sizes.items:,} items")
        try:
            server = stack.enter_context(running(each))
            at_rest = _megabytes(server)
            items = _load(server, sizes)
        except (RuntimeError, TablewrightError) as error:
            missing.append(f"{each.label}: {error}")
            continue
        synced = syncs.get(each.label)
        found.append(
            Started(
                server,
                durability_of(each, synced),
                synced,
                starts[each.label],
                at_rest,
                items,
                _megabytes(server),
            )
        )
    return found


def _count_syncs(server: Running, puts: int) -> float | None:
    remote = server.remote()
    workload.create_table(remote)
    remote.close()
    return syncs_per_put(server, puts)


def _load(server: Running, sizes: Sizes) -> int:
    remote = server.remote()
    workload.create_table(remote)
    is_file = server.implementation.promise != "memory"
    seconds = sizes.file_seconds if is_file else sizes.load_seconds
    items = workload.load_items(remote, sizes.items, 300, seconds)
    remote.close()
    return items


def _megabytes(server: Running) -> float:
    return server.process.memory_bytes() / 1e6


def _server(started: Started) -> Server:
    return Server(
        name=started.name,
        version=started.running.implementation.version,
        language=started.running.implementation.language,
        durability=started.durability,
        syncs_per_put=started.syncs,
        start_seconds=median(started.starts),
        starts=started.starts,
        at_rest=started.at_rest,
        items=started.items,
        with_items=started.with_items,
        after_load=_megabytes(started.running),
    )


def _cells(servers: Sequence[Started], sizes: Sizes, report: Report) -> Iterator[Cell]:
    """Measure each operation with each number of connections; the servers take turns."""
    number = 0
    for operation in workload.OPERATIONS:
        report(f"{operation}, warm-up")
        for server in servers:
            warm_up = _round(server, operation, number, 1, sizes.seconds)
            server.latencies[operation] = _latency(warm_up)
        for connections in CONNECTIONS:
            report(f"{operation}, {connections} connections")
            found: list[list[Served | str]] = [[] for _ in servers]
            bare: dict[Durability, list[Served | str]] = {}
            compared = connections == BARE and operation in CPU_OPERATIONS
            for turn in range(sizes.rounds):
                number += 1
                for server, rounds in zip(servers, found, strict=True):
                    seconds = server.latencies[operation] * connections
                    if seconds > MOST_SECONDS:
                        rounds[:] = [_too_slow(server, operation)]
                        continue
                    if turn and seconds > ONCE_SECONDS:
                        continue
                    rounds.append(_round(server, operation, number, connections, sizes.seconds))
                    if compared and server.name == OURS and isinstance(rounds[-1], Served):
                        sent = _bare_round(server, operation, rounds[-1], sizes.seconds)
                        bare.setdefault(server.durability, []).append(sent)
            for server, rounds in zip(servers, found, strict=True):
                yield summarize(server.name, server.durability, operation, connections, rounds)
            for durability, rounds in bare.items():
                yield summarize(BARE_NAME, durability, operation, connections, rounds)


def _latency(warm_up: Served | str) -> float:
    """Return the seconds of one request on one connection; 0.0 if it failed."""
    if isinstance(warm_up, str) or warm_up.load.refused:
        return 0.0
    return warm_up.load.seconds / max(1, warm_up.load.responses)


def _too_slow(server: Started, operation: str) -> str:
    return f"{TOO_SLOW}: a request takes {server.latencies[operation]:.2f} s"


def _round(
    server: Started, operation: str, number: int, connections: int, seconds: float
) -> Served | str:
    """Return a round of load, or why there is none; then the server is idle."""
    served = load_round(server.running, server.items, operation, number, connections, seconds)
    if isinstance(served, str) or served.load.unanswered:
        server.running.process.wait_until_idle(IDLE_SECONDS)
    return served


def _bare_round(server: Started, operation: str, ours: Served, seconds: float) -> Served:
    """Send the same requests to the bare server, which sends as many bytes as we did."""
    with http.server("benchmarks.bare_http", str(ours.load.length)) as bare:
        requests = signed_requests(server.running, server.items, operation, 0)
        # In its first requests, a new process allocates memory: 25 µs for each instead of 10.
        under_load(bare, requests, connections=BARE, seconds=seconds)
        return under_load(bare, requests, connections=BARE, seconds=seconds)


def _sdk_cells(servers: Sequence[Started], sizes: Sizes, report: Report) -> Iterator[Cell]:
    """Measure each operation with boto3, in one process with some threads."""
    for threads in THREADS:
        found: list[dict[str, list[Called]]] = [{} for _ in servers]
        for turn in range(sizes.sdk_rounds):
            for server, operations in zip(servers, found, strict=True):
                report(f"{server.running.implementation.label}: boto3, {threads} threads")
                number = SDK_ROUND + turn * len(THREADS) + THREADS.index(threads)
                slow = [
                    operation
                    for operation, latency in server.latencies.items()
                    if latency * threads > ONCE_SECONDS
                ]
                for called in _sdk_round(server, number, threads, sizes.sdk_seconds, slow):
                    operations.setdefault(called.operation, []).append(called)
        for server, operations in zip(servers, found, strict=True):
            for operation, rounds in operations.items():
                rates = [each.responses / each.seconds for each in rounds]
                responses = sum(each.responses for each in rounds)
                cpu = sum(each.cpu for each in rounds)
                yield Cell(
                    server=server.name,
                    durability=server.durability,
                    client="boto3",
                    operation=operation,
                    connections=threads,
                    rate=median(rates),
                    rounds=rates,
                    cpu_micros=cpu / responses * 1e6 if responses else 0.0,
                    problem=next((each.problem for each in rounds if each.problem), ""),
                )


def _sdk_round(
    server: Started, number: int, threads: int, seconds: float, slow: Sequence[str]
) -> list[Called]:
    """Return a round of load with boto3, without the operations that are too slow."""
    left_out = [Called(name, 0, 1.0, 0.0, _too_slow(server, name)) for name in slow]
    try:
        output = subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.peers.sdk", server.running.process.url),
                *(str(server.items), str(number), str(threads), str(seconds), *slow),
            ],
            check=True,
            capture_output=True,
            timeout=SDK_SECONDS,
        ).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        names = [name for name in workload.OPERATIONS if name not in slow]
        return [*left_out, *(Called(name, 0, 1.0, 0.0, str(error)) for name in names)]
    return [*left_out, *msgspec.json.decode(output, type=list[Called])]
