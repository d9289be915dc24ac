"""The command `serve`: opens the database, starts the server and its workers, and ends them.

`options` declares its options and reads them without typer, `checks` refuses values that cannot be
used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright import __version__
from tablewright.cli.report import describe_error, fail, failing_on, say
from tablewright.cli.serve.checks import (
    check_workers,
    make_settings,
    read_realism,
    read_templates,
)
from tablewright.errors import CannotOpen, StoreFailed, TemplateRefused

if TYPE_CHECKING:
    import socket

    from tablewright.cli.serve.options import ServeOptions
    from tablewright.engine import Engine
    from tablewright.server import Server, Settings
    from tablewright.server.isolation import IsolatedEngines
    from tablewright.server.workers.processes import Workers
    from tablewright.templates import DeclaredTable

MEMORY = ":memory:"
#: How long a write waits for another process that holds the lock. SDKs time out after a minute.
BUSY_SECONDS = 10.0
M_MMAP_THRESHOLD = -3  # of <malloc.h>


def serve(options: ServeOptions) -> None:
    """Serve a database over HTTP to boto3, the AWS CLI and every AWS SDK.

    Prints the URL on standard output when it accepts requests, and runs until SIGTERM or Ctrl-C.
    Exit code 1: the database file became unreadable, or a worker ended; 2: an option, an address
    or a file cannot be used.
    """
    import gc
    import logging

    if options.file == Path(MEMORY):
        options = options._replace(file=None)
    check_workers(options)
    settings = make_settings(options)
    declared = read_templates(options.from_ or (), options.parameter or ())
    realism = read_realism(options.control_delay, options.read_lag, is_on=options.realistic)
    if options.s3 is not None and not options.s3.is_dir():
        fail(f"--s3 {options.s3}: no such folder; create it first")
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("tablewright").setLevel(options.log.value.upper())
    gc.freeze()  # imported objects stay: the collector need not look at them
    return_freed_memory()
    workers = start_workers(options, settings)
    engine = open_engine(options)
    try:
        create_declared(engine, declared)
        if realism is not None:
            engine.make_realistic(realism)
        run_server(make_server(engine, settings, workers), options)
    finally:
        engine.close()
        if workers is not None:
            workers.end()


def run_server(server: Server, options: ServeOptions) -> None:
    """Run a server until it is stopped; exit if it fails, or cannot listen."""
    import asyncio

    from tablewright.server.running import run_until_stopped

    try:
        announce = partial(announce_server, options)
        asyncio.run(run_until_stopped(server, options.host, options.port, announce))
    except (StoreFailed, ChildProcessError) as error:
        say(f"tablewright: {error}")
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is not None:  # the access log, or the address of the metrics
            option = "--access-log" if error.filename == options.access_log else "--metrics-port:"
            fail(f"{option} {error.filename}: {describe_error(error)}")
        fail(f"cannot listen on {options.host}:{options.port}: {describe_error(error)}")


def announce_server(options: ServeOptions, server: Server, url: str) -> None:
    """Print where the data is, and then, for programs that wait for this line, the URL."""
    where = str(options.file or "in memory: the data is lost when the server stops")
    if options.workers > 1:
        where += f", {options.workers} workers"
    say(f"tablewright {__version__} ({where}); stop with Ctrl-C")
    if server.monitor_url is not None:
        say(f"metrics: {server.monitor_url}/metrics")
    print(url, flush=True)  # noqa: T201 - a server that fails to start prints nothing here


def open_engine(options: ServeOptions) -> Engine | IsolatedEngines:
    """Open the database of a server; exit if that fails."""
    from tablewright.engine import Engine

    kind: type[Engine | IsolatedEngines] = Engine
    if options.isolate_regions:
        from tablewright.server.isolation import IsolatedEngines

        kind = IsolatedEngines
    # StoreFailed: the disk is full, or another process holds the lock
    with failing_on(CannotOpen, StoreFailed):
        return kind(
            options.file or MEMORY,
            durability=options.durability.value,
            busy_seconds=BUSY_SECONDS,
            sweep_seconds=None,  # the server sweeps, also the records of streams
            stream_shards=options.stream_shards,
            validation=options.validation.value,
            s3=options.s3,
        )


def create_declared(engine: Engine | IsolatedEngines, tables: Sequence[DeclaredTable]) -> None:
    """Create the tables of templates; report what was done, and differences, on standard error."""
    if not tables:
        return
    from tablewright.engine import Engine
    from tablewright.templates import create_tables

    try:
        outcomes = create_tables(engine if isinstance(engine, Engine) else engine.default, tables)
    except TemplateRefused as error:
        fail(f"--from {error}")
    for outcome in outcomes:
        table = outcome.table
        done = "created" if outcome.is_new else "exists already, and is kept"
        say(f"table {table.name} ({table.file}: {table.resource}): {done}")
        for line in (*table.notes, *outcome.differences):
            say(f"  {line}")


def start_workers(options: ServeOptions, settings: Settings) -> Workers | None:
    """Fork the workers; None if this process serves alone. Call it before any file is opened."""
    workers = options.workers
    if workers == 1:
        return None
    from msgspec.structs import replace

    from tablewright.server.workers.processes import fork_workers

    limits = settings.limits
    share = replace(limits, buffered_bytes=limits.buffered_bytes // workers)
    settings = replace(settings, limits=share)
    return fork_workers(workers, partial(_run_worker, options, settings))


def _run_worker(
    options: ServeOptions, settings: Settings, relay: socket.socket, connections: socket.socket
) -> int:
    """Open the database and serve as a worker; return the exit code. `fork_workers` calls it."""
    import asyncio

    from tablewright.server.workers.worker import WorkerEngine, WorkerServer

    try:
        with WorkerEngine(
            options.file or MEMORY,
            durability=options.durability.value,
            busy_seconds=BUSY_SECONDS,
            validation=options.validation.value,
            background=False,
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


def return_freed_memory() -> None:
    """Make the C library return the memory of large requests to the system at once.

    By default glibc raises the size from which it does so to up to 32 MB. Then 260 MB stayed
    allocated after a hundred unfinished bodies.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1024 * 1024)
