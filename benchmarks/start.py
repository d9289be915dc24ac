"""Start-up: the time of an import, of an engine in memory, and of a server with its memory.

Each is measured in new processes, which alternate with interpreters that do nothing. They run from
bytecode, as installed packages do, even if the environment disables writing it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Context, Figure, below
from benchmarks.processes import free_port, running
from tablewright.sigv4 import SigningCredentials

PROGRAMS = ("pass", "import tablewright", "from tablewright import Engine")

READY = """
from time import process_time
from tablewright import Engine
start = process_time()
engine = Engine(":memory:")
engine.call("ListTables")
print((process_time() - start) * 1000)
"""


def start(context: Context) -> list[Figure]:
    """Measure imports, an engine and the server in CPU time, the best of several."""
    bytecode = {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(context.folder / "bytecode"),
    }
    environment = {**os.environ, **bytecode}
    spent: dict[str, list[float]] = {program: [] for program in PROGRAMS}
    ready: list[float] = []
    servers: list[tuple[float, float, float]] = []
    for program in PROGRAMS:
        _cpu_seconds(program, environment)  # the first run also compiles and fills the disk cache
    _serve(context.folder, bytecode)
    for _ in context.track("start", range(context.size(5, 2))):
        for program in PROGRAMS:
            spent[program].append(_cpu_seconds(program, environment))
        ready.append(float(subprocess.check_output((sys.executable, "-c", READY), env=environment)))
        servers.append(_serve(context.folder, bytecode))
    empty, package, engine = PROGRAMS
    nothing = min(spent[empty])
    note = f"an empty interpreter takes {nothing:.3f} s"
    cpu, elapsed, memory = (min(column) for column in zip(*servers, strict=True))
    return [
        below(package, "s", min(spent[package]) - nothing, goal=0.02, note=note),
        below(engine, "s", min(spent[engine]) - nothing, goal=0.1, note=note),
        below(
            "Engine(':memory:') ready",
            "ms",
            min(ready),
            goal=10,
            note="and its first ListTables, in a fresh interpreter",
        ),
        below(
            "tablewright serve, cold start",
            "s",
            cpu,
            goal=0.2,
            note=f"CPU time until it has answered ListTables; elapsed: {elapsed:.2f} s",
        ),
        below("tablewright serve, at rest", "MB", memory, goal=35, note="resident memory"),
    ]


def _cpu_seconds(program: str, environment: dict[str, str]) -> float:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", program], environment)
    _, status, usage = os.wait4(child, 0)
    assert status == 0
    return usage.ru_utime + usage.ru_stime


def _serve(folder: Path, environment: dict[str, str]) -> tuple[float, float, float]:
    """Start a server; return its CPU seconds, the elapsed seconds and its megabytes."""
    port = free_port()
    command = (sys.executable, "-m", "tablewright", "serve", "--port", str(port))
    credentials = SigningCredentials("any", "any")
    with running(
        command, port=port, folder=folder, environment=environment, credentials=credentials
    ) as process:
        return process.cpu_seconds(), process.start_seconds, process.memory_bytes() / 1e6
