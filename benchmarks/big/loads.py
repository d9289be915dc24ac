"""How fast tables load: commands in processes of their own, and batches in this one.

The CPU time is that of the whole command, with its start and its comparison of both sides: on a
busy machine it is what a quiet one would need. The rate is that of the elapsed time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.big import items
from benchmarks.files import Track
from tablewright.engine import Engine
from tablewright.storage import Durability

BATCH = 25


class Load(Struct):
    """The result of a load."""

    what: str
    items: int
    seconds: float
    cpu_seconds: float
    #: The highest memory use of the command; 0 if it is not a command.
    peak_mb: int = 0

    @property
    def per_second(self) -> float:
        return self.items / self.seconds

    @property
    def cpu(self) -> float:
        """The CPU time for an item, in microseconds."""
        return 1e6 * self.cpu_seconds / self.items


def command(what: str, count: int, *arguments: str | Path) -> Load:
    """Run `tablewright` and measure it; raise if it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tablewright", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    problem = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise RuntimeError(f"tablewright {arguments[0]}: {problem}")
    cpu = used.ru_utime + used.ru_stime
    return Load(what, count, seconds, cpu, used.ru_maxrss // 1024)


def batches(path: Path, numbers: Sequence[int], durability: Durability, track: Track) -> Load:
    """Write items with BatchWriteItem in this process."""
    requests = [
        items.batch_request(numbers[at : at + BATCH], 2) for at in range(0, len(numbers), BATCH)
    ]
    what = f"batches of {BATCH}, {durability}"
    with Engine(path, durability=durability) as engine:
        started, cpu = time.perf_counter(), time.process_time()
        for at in track(what, range(len(requests))):
            engine.call("BatchWriteItem", requests[at])
        return Load(what, len(numbers), time.perf_counter() - started, time.process_time() - cpu)
