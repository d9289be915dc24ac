"""GetItem, Query and PutItem in tables of several sizes, in turns.

Each round runs some calls in each table, so a busy moment of the machine affects all sizes. Items
are drawn at random from the whole table. Puts replace items, so the sizes stay; their mean includes
the checkpoints, which move the log into the file.

The files are in the cache of the system if it has the memory. SQLite's own cache holds 64 MB of
each, and is full before the measurement: while it fills, a get of a large table takes twice the
time, for the memory that the system provides.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, median

from msgspec import Struct

from benchmarks.big import items
from benchmarks.measure import Context, undisturbed
from tablewright.engine import Engine

ROUNDS = 20
#: A get reads one or two pages of a large table that are not in SQLite's cache of 8,192 pages.
WARM_UP = 10_000


class Growth(Struct):
    """What the operations cost in one table, in microseconds."""

    get: float
    query: float
    put: float
    #: A put that is synced: elapsed time, of which most is the disk's.
    durable_put: float


def operations(context: Context, paths: Mapping[int, Path]) -> dict[int, Growth]:
    """Measure the operations in the tables, by their numbers of items."""
    with ExitStack() as stack:
        engines = {
            count: stack.enter_context(Engine(path, durability="normal"))
            for count, path in paths.items()
        }
        _measure(context, "warm up", engines, _get, context.size(WARM_UP // ROUNDS, 5))
        gets = _measure(context, "get", engines, _get, context.size(500, 5))
        queries = _measure(context, "query", engines, _query, context.size(100, 5))
        puts = _measure(context, "put", engines, _put, context.size(2000, 5), mean)
    with ExitStack() as stack:
        durable = {count: stack.enter_context(Engine(path)) for count, path in paths.items()}
        synced = _measure(
            context,
            "durable put",
            durable,
            _put,
            context.size(25, 2),
            clock=time.perf_counter,
        )
    return {
        count: Growth(gets[count], queries[count], puts[count], synced[count]) for count in paths
    }


def _get(engine: Engine, n: int) -> None:
    assert engine.call("GetItem", items.get_request(n))["Item"]


def _query(engine: Engine, n: int) -> None:
    assert engine.call("Query", items.query_request(n))["Count"] == items.PARTITION


def _put(engine: Engine, n: int) -> None:
    engine.call("PutItem", items.put_request(n, n % 100 + 3))


def _measure(
    context: Context,
    what: str,
    engines: Mapping[int, Engine],
    call: Callable[[Engine, int], None],
    calls: int,
    summarize: Callable[[list[float]], float] = median,
    clock: Callable[[], float] = time.process_time,
) -> dict[int, float]:
    """Return the microseconds of a call in each table."""
    chance = random.Random(what)
    took: dict[int, list[float]] = {count: [] for count in engines}
    with undisturbed():
        for _ in context.track(what, range(ROUNDS)):
            for count, engine in engines.items():
                drawn = [chance.randrange(count) for _ in range(calls)]
                started = clock()
                for n in drawn:
                    call(engine, n)
                took[count].append((clock() - started) / calls)
    return {count: 1e6 * summarize(rounds) for count, rounds in took.items()}


_MEMORY = """
import random, sys
from benchmarks.big import items
from tablewright.engine import Engine
path, count, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with Engine(path) as engine:
    chance = random.Random(1)
    for _ in range(calls):
        engine.call("GetItem", items.get_request(chance.randrange(count)))
        engine.call("Query", items.query_request(chance.randrange(count)))
    lines = open("/proc/self/status").read().splitlines()
    print(*(line.split()[1] for line in lines if line.startswith("VmRSS")))
"""


def memory_mb(path: Path, count: int, calls: int) -> float:
    """Return the memory of a process that has read random items of a table; 0 if unknown."""
    if not Path("/proc/self/status").exists():
        return 0.0
    command = [sys.executable, "-c", _MEMORY, str(path), str(count), str(calls)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(found.stdout) / 1024
