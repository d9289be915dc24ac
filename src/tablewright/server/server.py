"""The server: listens, gathers writes into commits, sweeps expired items, and stops cleanly.

Laws:
- What arrives in one turn of the event loop is done together: the reads in one snapshot, the
  writes in one durable commit. While that is under way the next requests gather in
  the kernel's buffers, so the more clients there are, the more of them share a snapshot and a
  commit. (SQLite takes 2.5 of the 4 µs of a read to begin and to end its snapshot.) Nobody waits
  for a timer.
- Requests are done in the thread of the event loop; there are no locks. (Threads made the storage
  slower, not faster: they wait for one another.) Only the sweep has a thread of its own.
- A stop takes no more connections, answers what was received, and only then returns. So a write is
  either done and answered, or the client knows that it has no answer.
- The server does not own the engine: who opened it closes it, after the stop.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tablewright.engine import Engine, Read, Step, Write
from tablewright.errors import DynamoDBError, InternalServerError
from tablewright.server.answers import Answers
from tablewright.server.protocol import UNEXPECTED, Connection

log = logging.getLogger("tablewright.server")

SWEEP_SECONDS = 60.0
#: How long a stop waits for a client in the middle of sending a request, or of taking an answer.
GRACE_SECONDS = 5.0


class Server:
    """An engine behind DynamoDB's HTTP protocol, on the running event loop."""

    def __init__(self, engine: Engine, *, sweep_seconds: float = SWEEP_SECONDS) -> None:
        self.engine = engine
        self.answers = Answers()
        self.stopping = False
        self._sweep_seconds = sweep_seconds
        self._connections: set[Connection] = set()
        self._reads: list[tuple[Connection, Read]] = []
        self._writes: list[tuple[Connection, Write]] = []
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._sweeping: asyncio.Future[int] | None = None
        self._all_closed = asyncio.Event()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen, and return the address as a URL. Port 0 takes a free port.

        Raises `OSError` if the address cannot be had.
        """
        self._loop = asyncio.get_running_loop()
        self._listener = await self._loop.create_server(
            lambda: Connection(self), host, port, backlog=1024
        )
        self._renew()
        self._timers["sweep"] = self._loop.call_later(self._sweep_seconds, self._sweep)
        return url_of(self._listener.sockets[0])

    async def stop(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Take no more connections, answer what was received, close every connection."""
        self.stopping = True
        self._listener.close()
        for timer in self._timers.values():
            timer.cancel()
        for connection in list(self._connections):
            connection.finish()
        if self._sweeping is not None:
            await asyncio.wait([self._sweeping])
        if self._connections:
            try:
                await asyncio.wait_for(self._all_closed.wait(), grace_seconds)
            except TimeoutError:
                for connection in list(self._connections):
                    connection.abort()
                await self._all_closed.wait()

    # --- called by connections -----------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        self._connections.add(connection)
        if self.stopping:  # it was accepted just before the stop
            connection.finish()

    def closed(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if self.stopping and not self._connections:
            self._all_closed.set()

    def submit(self, connection: Connection, step: Step) -> None:
        """Do a step with the others of this turn, then call `connection.done`."""
        if not self._reads and not self._writes:
            self._loop.call_soon(self._do_steps)
        if isinstance(step, Read):
            self._reads.append((connection, step))
        else:
            self._writes.append((connection, step))

    # --- called by the event loop --------------------------------------------------------------

    def _do_steps(self) -> None:
        reads, self._reads = self._reads, []
        writes, self._writes = self._writes, []
        if reads:
            self._tell(reads, self.engine.read_all([step for _, step in reads]))
        if writes:
            self._tell(writes, self.engine.write_all([step for _, step in writes]))

    def _tell(
        self,
        asked: Sequence[tuple[Connection, Step]],
        results: Sequence[bytes | BaseException],
    ) -> None:
        for (connection, _), result in zip(asked, results, strict=True):
            if isinstance(result, BaseException) and not isinstance(result, DynamoDBError):
                log.error("a request failed", exc_info=result)
                connection.done(InternalServerError(UNEXPECTED))
            else:
                connection.done(result)

    def _renew(self) -> None:
        self.answers.renew()
        self._timers["renew"] = self._loop.call_later(1.0, self._renew)

    def _sweep(self) -> None:
        """Start a sweep, in a thread: it walks whole tables."""
        self._sweeping = self._loop.run_in_executor(None, self.engine.expire)
        self._sweeping.add_done_callback(self._swept)

    def _swept(self, sweeping: asyncio.Future[int]) -> None:
        if not sweeping.cancelled() and sweeping.exception() is not None:
            log.error("the sweep of expired items failed", exc_info=sweeping.exception())
        if not self.stopping:
            self._timers["sweep"] = self._loop.call_later(self._sweep_seconds, self._sweep)


def url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(
    engine: Engine,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    ready: Callable[[str], None],
    sweep_seconds: float = SWEEP_SECONDS,
) -> None:
    """Serve until SIGTERM or SIGINT. `ready` gets the URL once requests are taken."""
    loop = asyncio.get_running_loop()
    asked_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop.set)
    server = Server(engine, sweep_seconds=sweep_seconds)
    ready(await server.start(host, port))
    await asked_to_stop.wait()
    await server.stop()


@contextmanager
def serving(
    engine: Engine,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    sweep_seconds: float = SWEEP_SECONDS,
) -> Iterator[str]:
    """Serve from a thread of this process while the block runs; gives the URL.

        with Engine(":memory:") as engine, serving(engine) as url:
            boto3.client("dynamodb", endpoint_url=url, region_name="us-east-1", ...)

    Every use takes a port of its own, so tests can run side by side. The engine stays the caller's,
    who may go on using it, and closes it afterwards.
    """
    if not isinstance(engine, Engine):
        raise TypeError(f"serving() takes an Engine, not {engine!r}")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="tablewright-server", daemon=True)
    thread.start()
    try:
        server = Server(engine, sweep_seconds=sweep_seconds)
        url = asyncio.run_coroutine_threadsafe(server.start(host, port), loop).result()
        try:
            yield url
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
