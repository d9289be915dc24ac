"""Endpoints: rates and CPU time of every operation, memory, and the time of a cold start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from benchmarks.peers import workload
from benchmarks.peers.load import Load, prepare
from benchmarks.peers.servers import CREDENTIALS, IMPLEMENTATIONS, Implementation, Running, running
from tablewright.errors import TablewrightError

CONNECTIONS = (1, 8, 64)
#: The rounds of one figure may differ by this factor; otherwise it is unsure.
SPREAD = 1.33


class Cell(Struct, frozen=True):
    """One operation of one server with some connections."""

    server: str
    promise: str
    operation: str
    connections: int
    #: The median of the rounds, and all of them: responses in a second.
    rate: float
    rounds: list[float]
    #: The CPU time of the server for one request, in microseconds.
    cpu_micros: float
    #: Why there is no figure.
    problem: str = ""

    @property
    def is_sure(self) -> bool:
        return bool(self.rounds) and max(self.rounds) <= SPREAD * min(self.rounds)


class Footprint(Struct, frozen=True):
    """The cold start of a server, and its memory in megabytes."""

    server: str
    promise: str
    language: str
    start_seconds: float
    at_rest: float
    with_items: float
    after_load: float


class Endpoints(Struct, frozen=True):
    items: int
    cells: list[Cell]
    footprints: list[Footprint]
    #: What could not be measured, and why.
    missing: list[str]


def endpoints(quick: bool, report: Callable[[str], None]) -> Endpoints:
    """Measure all servers that are installed."""
    count, seconds, rounds = (1000, 0.1, 1) if quick else (100_000, 1.0, 5)
    missing = [f"{each.label}: {reason}" for each in IMPLEMENTATIONS if (reason := each.missing())]
    cells: list[Cell] = []
    footprints: list[Footprint] = []
    for promises in (("memory",), ("durable", "file")):
        selected = [
            each for each in IMPLEMENTATIONS if each.promise in promises and not each.missing()
        ]
        with ExitStack() as stack:
            servers: list[Running] = []
            before: dict[str, tuple[float, float]] = {}
            for implementation in selected:
                report(f"{implementation.label}: {count:,} items")
                try:
                    server, at_rest, loaded = _start(stack, implementation, count)
                except (RuntimeError, TablewrightError) as error:
                    missing.append(f"{implementation.label}: {error}")
                    continue
                servers.append(server)
                before[implementation.label] = at_rest, loaded
            cells += _cells(servers, count, seconds, rounds, report)
            for server in servers:
                label = server.implementation.label
                footprints.append(
                    Footprint(
                        server.implementation.name,
                        server.implementation.promise,
                        server.implementation.language,
                        server.start_seconds,
                        *before[label],
                        _megabytes(server),
                    )
                )
    return Endpoints(count, cells, footprints, missing)


def _start(
    stack: ExitStack, implementation: Implementation, count: int
) -> tuple[Running, float, float]:
    """Start a server and load the items; return its memory before and after that."""
    server = stack.enter_context(running(implementation))
    at_rest = _megabytes(server)
    remote = server.remote()
    workload.load_items(remote, count, 300)
    remote.close()
    return server, at_rest, _megabytes(server)


def _megabytes(server: Running) -> float:
    return server.memory_bytes() / 1e6


def _cells(
    servers: Sequence[Running],
    count: int,
    seconds: float,
    rounds: int,
    report: Callable[[str], None],
) -> Iterator[Cell]:
    """Measure each operation; the servers take turns."""
    for operation, make in workload.OPERATIONS.items():
        for connections in CONNECTIONS:
            report(f"{operation}, {connections} connections")
            found: dict[str, list[tuple[Load, float]]] = {}
            problems: dict[str, str] = {}
            for turn in range(rounds):
                requests = make(count, turn * 1000 + connections)
                for server in servers:
                    label = server.implementation.label
                    try:
                        taken = under_load(server, requests, connections, seconds)
                    except subprocess.CalledProcessError as error:
                        problems[label] = error.stderr.decode().strip().splitlines()[-1]
                        continue
                    found.setdefault(label, []).append(taken)
            for server in servers:
                yield _cell(server, operation, connections, found, problems)


def _cell(
    server: Running,
    operation: str,
    connections: int,
    found: dict[str, list[tuple[Load, float]]],
    problems: dict[str, str],
) -> Cell:
    implementation = server.implementation
    taken = found.get(implementation.label, [])
    rates = [load.responses / load.seconds for load, _ in taken]
    cpu = [seconds / load.responses * 1e6 for load, seconds in taken if load.responses]
    refused = next((load.problem for load, _ in taken if load.refused), "")
    return Cell(
        implementation.name,
        implementation.promise,
        operation,
        connections,
        median(rates) if rates else 0.0,
        rates,
        median(cpu) if cpu else 0.0,
        problems.get(implementation.label, refused),
    )


def under_load(
    server: Running, requests: workload.Requests, connections: int, seconds: float
) -> tuple[Load, float]:
    """Put a server under load from another process; return the load and the server's CPU time."""
    with tempfile.NamedTemporaryFile() as file:
        prepare(Path(file.name), server.port, requests, CREDENTIALS, int(time.time()))
        before = server.cpu_seconds()
        output = subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.peers.load"),
                *(str(server.port), file.name, str(connections), str(seconds)),
            ],
            check=True,
            capture_output=True,
        ).stdout
        return msgspec.json.decode(output, type=Load), server.cpu_seconds() - before
