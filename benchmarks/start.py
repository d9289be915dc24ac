"""Start-up: the time of an import, and of starting an engine in memory.

Each is measured in new interpreters, alternating with interpreters that do nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median

import tablewright
from benchmarks.measure import Context, Figure, below

ENGINE = "tablewright" if hasattr(tablewright, "Engine") else "tablewright.engine"

READY = f"""
from time import perf_counter
from {ENGINE} import Engine
start = perf_counter()
engine = Engine(":memory:")
engine.call("ListTables")
print((perf_counter() - start) * 1000)
"""


def start(context: Context) -> list[Figure]:
    """Measure imports in CPU seconds above an empty interpreter, and an engine in milliseconds."""
    programs = ("pass", "import tablewright", f"from {ENGINE} import Engine")
    spent: dict[str, list[float]] = {program: [] for program in programs}
    ready: list[float] = []
    for program in programs:
        _cpu_seconds(program)  # the first run also compiles and fills the disk cache
    for _ in context.track("start", range(context.size(5, 2))):
        for program in programs:
            spent[program].append(_cpu_seconds(program))
        ready.append(float(subprocess.check_output((sys.executable, "-c", READY))))
    empty, *imports = programs
    nothing = median(spent[empty])
    note = f"an empty interpreter takes {nothing:.3f} s"
    return [
        *(
            below(program, "s", median(spent[program]) - nothing, goal=0.25, note=note)
            for program in imports
        ),
        below(
            "Engine(':memory:') ready",
            "ms",
            median(ready),
            goal=10,
            note="and its first ListTables, in a fresh interpreter",
        ),
    ]


def _cpu_seconds(program: str) -> float:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", program], os.environ)
    _, status, usage = os.wait4(child, 0)
    assert status == 0
    return usage.ru_utime + usage.ru_stime
