"""Run a server: until a signal stops the process, or in a thread while a block runs.

`serve` and `serving` are for programs; the command `serve` uses `run_until_stopped`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tablewright.engine import Engine
from tablewright.server.server import Server, Settings

if TYPE_CHECKING:
    from tablewright.server.isolation import IsolatedEngines


async def serve(
    engine: Engine | IsolatedEngines,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    ready: Callable[[Server, str], None],
    settings: Settings | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT. Calls `ready` with the URL when requests are accepted.

    Returns after a graceful stop; a second signal ends the process at once. Raises `StoreFailed`
    if the file becomes unreadable, `OSError` if the address cannot be used.
    """
    await run_until_stopped(Server(engine, settings), host, port, ready)


async def run_until_stopped(
    server: Server, host: str, port: int, ready: Callable[[Server, str], None]
) -> None:
    """Start a server, and stop it after a signal; raise its failure, if it has one."""
    loop = asyncio.get_running_loop()
    signals: list[int] = []

    def on_signal(number: int) -> None:
        signals.append(number)
        if len(signals) > 1:
            os._exit(128 + number)  # commits are atomic: no acknowledged write is lost
        server.must_stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    url = await server.start(host, port)
    ready(server, url)
    await server.must_stop.wait()
    await server.stop()
    if server.failure is not None:
        raise server.failure


@contextmanager
def serving(
    engine: Engine | IsolatedEngines,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    settings: Settings | None = None,
) -> Iterator[str]:
    """Serve from a thread of this process while the block runs; yield the URL.

        with Engine(":memory:") as engine, serving(engine) as url:
            boto3.client("dynamodb", endpoint_url=url, region_name="us-east-1", ...)

    By default each call chooses a free port, so tests can run in parallel. The caller may use the
    engine at the same time, and closes it afterwards.
    """
    if not isinstance(engine, Engine):
        from tablewright.server.isolation import IsolatedEngines

        if not isinstance(engine, IsolatedEngines):
            raise TypeError(f"serving() takes an Engine, got {engine!r}; use serving(Engine(path))")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="tablewright-server", daemon=True)
    thread.start()
    try:
        server = Server(engine, settings)
        url = asyncio.run_coroutine_threadsafe(server.start(host, port), loop).result()
        try:
            yield url
        finally:
            # The block has its responses: idle connections have no requests on the way.
            stopping = server.stop(idle_grace_seconds=0)
            asyncio.run_coroutine_threadsafe(stopping, loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
