"""Workers: `tablewright serve` with one process and with several that share a file and a port.

More workers can only be faster if they have cores of their own, and the clients, too. Without, the
verdicts are `unsure`; the CPU time for a request shows what several processes cost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.load import Served
from benchmarks.measure import Figure, judged
from benchmarks.peers import workload
from benchmarks.peers.endpoints import Report, Sizes
from benchmarks.peers.goals import is_sure
from benchmarks.peers.rounds import Cell, load_round, summarize
from benchmarks.peers.servers import FILE, ours, running

WORKERS = (1, 2)
CONNECTIONS = (8, 64)
ITEMS = 10_000
#: The operations, and how much faster two workers must be.
OPERATIONS = {"get": 1.7, "query of 20": 1.7, "put 1 KB": 1.0, "update": 1.0}


def name_of(count: int) -> str:
    """Return the name of a server in the cells."""
    return "1 worker" if count == 1 else f"{count} workers"


def workers(sizes: Sizes, report: Report) -> list[Cell]:
    """Measure reads and durable writes with each number of workers, in turns."""
    count = min(ITEMS, sizes.items)
    found: list[Cell] = []
    with ExitStack() as stack:
        servers = []
        for each in WORKERS:
            report(f"{name_of(each)}: {count:,} items")
            options = (FILE, "--workers", str(each))
            server = stack.enter_context(running(ours("durable", *options)))
            remote = server.remote()
            workload.create_table(remote)
            servers.append((server, workload.load_items(remote, count, 300, sizes.load_seconds)))
            remote.close()
        number = 0
        for operation in OPERATIONS:
            for connections in CONNECTIONS:
                report(f"workers: {operation}, {connections} connections")
                rounds: list[list[Served | str]] = [[] for _ in WORKERS]
                for _ in range(sizes.rounds):
                    number += 1
                    for (server, items), taken in zip(servers, rounds, strict=True):
                        load = operation, number, connections, sizes.seconds
                        taken.append(load_round(server, items, *load))
                found += (
                    summarize(name_of(each), "durable", operation, connections, taken)
                    for each, taken in zip(WORKERS, rounds, strict=True)
                )
    return found


def compare(cells: Sequence[Cell], cores: int | None = None) -> list[Figure]:
    """Compare the rates of the most workers with those of one, on a machine with some cores."""
    cores = (os.cpu_count() or 1) if cores is None else cores
    one, most = name_of(WORKERS[0]), name_of(WORKERS[-1])
    by_name = {(cell.server, cell.operation, cell.connections): cell for cell in cells}
    figures = []
    for operation, goal in OPERATIONS.items():
        for connections in CONNECTIONS:
            few, many = (by_name.get((name, operation, connections)) for name in (one, most))
            if few is None or many is None or few.problem or many.problem:
                continue
            figures.append(
                judged(
                    f"{most}, {operation}, {connections} connections",
                    "req/s",
                    many.rate,
                    limit=few.rate,
                    limit_is=one,
                    at_least=goal,
                    sure=cores > WORKERS[-1] and is_sure(few) and is_sure(many),
                    note=f"{many.cpu_micros:.0f} µs of CPU time for a request, with one worker "
                    f"{few.cpu_micros:.0f} µs; {cores} cores",
                )
            )
    return figures
