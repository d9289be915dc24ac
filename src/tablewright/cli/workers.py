"""The option `serve --workers`: what it can be combined with, and the processes."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tablewright.cli.failures import fail, say
from tablewright.errors import CannotOpen, StoreFailed

if TYPE_CHECKING:
    import socket

    from tablewright.engine import Engine
    from tablewright.server import Server, Settings
    from tablewright.server.isolation import IsolatedEngines
    from tablewright.server.workers.processes import Workers

#: The largest request body, which the memory of each worker must hold.
MIN_BUFFERED_MB = 16


def check_workers(
    workers: int,
    db: Path | None,
    *,
    isolate_regions: bool,
    realistic: bool,
    max_buffered_mb: int,
) -> None:
    """Refuse options that do not work with several processes."""
    if workers == 1:
        return
    if db is None:
        fail(
            f"--workers {workers}: a database in memory belongs to one process; add --db FILE, or "
            "leave --workers out"
        )
    for option, is_given in (("--isolate-regions", isolate_regions), ("--realistic", realistic)):
        if is_given:
            fail(f"--workers {workers} cannot be combined with {option}; leave one of them out")
    if max_buffered_mb < MIN_BUFFERED_MB * workers:
        fail(
            f"--max-buffered-mb {max_buffered_mb}: {workers} workers share this memory, and each "
            f"needs {MIN_BUFFERED_MB} MB; give at least {MIN_BUFFERED_MB * workers}"
        )
    if not hasattr(os, "fork"):
        fail(f"--workers {workers}: this system cannot fork processes; leave --workers out")


def start_workers(
    workers: int,
    db: Path | None,
    durability: Literal["full", "normal"],
    busy_seconds: float,
    settings: Settings,
) -> Workers | None:
    """Fork the workers; None if this process serves alone. Call it before any file is opened."""
    if workers == 1 or db is None:
        return None
    from msgspec.structs import replace

    from tablewright.server.workers.processes import fork_workers

    limits = settings.limits
    share = replace(limits, buffered_bytes=limits.buffered_bytes // workers)
    settings = replace(settings, limits=share)
    return fork_workers(workers, partial(_run_worker, db, durability, busy_seconds, settings))


def _run_worker(
    db: Path,
    durability: Literal["full", "normal"],
    busy_seconds: float,
    settings: Settings,
    relay: socket.socket,
    connections: socket.socket,
) -> int:
    """Run a worker; return its exit code."""
    import asyncio

    from tablewright.server.workers.worker import WorkerEngine, WorkerServer

    try:
        with WorkerEngine(
            db, durability=durability, busy_seconds=busy_seconds, background=False
        ) as engine:
            asyncio.run(WorkerServer(engine, settings, relay, connections).run())
    except (StoreFailed, CannotOpen, OSError) as error:
        say(f"tablewright: {error}")
        return 1
    return 0


def make_server(
    engine: Engine | IsolatedEngines, settings: Settings, workers: Workers | None
) -> Server:
    """Return the server of this process: it serves alone, or accepts and commits for workers."""
    from tablewright.server import Server

    if workers is None:
        return Server(engine, settings)
    from tablewright.engine import Engine
    from tablewright.server.workers.main_process import MainServer

    assert isinstance(engine, Engine)  # `check_workers` refuses other engines
    return MainServer(engine, settings, workers)
