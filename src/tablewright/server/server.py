"""The server: listens, groups writes into commits, deletes expired items, and stops cleanly.

Invariants:
- Reads that arrive in one iteration of the event loop share one snapshot. (SQLite takes 2.5 of the
  4 µs of a read to begin and end its snapshot.) They run on the event loop and never wait for a
  lock: each thread has its own connection to the file. Costly reads (`ReadStep.is_costly`) run in
  other threads; a database in memory has only one connection, so there they run on the event loop.
  Exports and imports (`LongStep`) always run in other threads.
- One thread (`Writer`) commits the writes to a file; writes that arrive during a commit share the
  next one. The writes of a database in memory run on the event loop, because they never wait.
- If only one client is connected, its steps run at once, on the event loop, unless they would wait
  for a lock: no other step can share their snapshot or commit, and no other client waits.
- Long work (deleting expired items, checkpoints, long writes) runs on the event loop only while no
  other client is connected.
- `stop` accepts no more connections, responds to all received requests, and then returns. So every
  write is either applied and acknowledged, or its client gets no response.
- The server does not own the engine: the caller closes it after `stop`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tablewright.engine import Engine, LongStep, ReadStep, Step, WriteStep
from tablewright.errors import StoreBusy, StoreFailed
from tablewright.limits import SWEEP_SECONDS
from tablewright.server.access.authentication import Authenticator, OpenAuthenticator
from tablewright.server.access.hosts import Hosts
from tablewright.server.connection import Connection
from tablewright.server.failures import Failures, FileWatch
from tablewright.server.limits import Budget, Limits
from tablewright.server.listener import Handshakes, Listener
from tablewright.server.responses import ResponseBuilder, compress
from tablewright.server.writer import Writer

if TYPE_CHECKING:
    from tablewright.server.isolation import IsolatedEngines
    from tablewright.server.telemetry import Monitor, Telemetry

log = logging.getLogger("tablewright.server")

#: Threads for costly reads. Each has a connection with a cache of up to 64 MB.
READERS = 2
#: How long `stop` waits for clients that are sending a request or reading a response.
GRACE_SECONDS = 5.0
#: How long `stop` keeps idle connections open, to respond to requests that were already sent.
IDLE_GRACE_SECONDS = 0.05


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a server runs. The defaults are those of `tablewright serve` without options."""

    sweep_seconds: float = SWEEP_SECONDS
    limits: Limits = Limits()
    #: The accepted Host and Origin headers; None: loopback names only, and no web pages.
    hosts: Hosts | None = None
    #: Authenticates requests; None: accepts every well-formed authorization.
    authenticator: Authenticator | None = None
    tls: ssl.SSLContext | None = None
    #: A file, or "-" for standard output.
    access_log: Path | str | None = None
    #: The port for metrics on 127.0.0.1; 0 chooses a free one; None: no metrics.
    metrics_port: int | None = None
    #: Whether each request is a line of the logger `tablewright.server.requests`, with level INFO.
    logs_requests: bool = False


class Server:
    """An engine behind DynamoDB's HTTP protocol, on the running event loop."""

    def __init__(self, engine: Engine | IsolatedEngines, settings: Settings | None = None) -> None:
        self.settings = settings = settings or Settings()
        self.engine = engine
        self.responses = ResponseBuilder()
        self.authenticator: Authenticator = settings.authenticator or OpenAuthenticator()
        self.hosts = settings.hosts or Hosts()
        self.limits = settings.limits
        self.budget = Budget(settings.limits.buffered_bytes)
        self.is_stopping = False
        #: Set by a signal; also, together with `failure`, when the server cannot continue.
        self.must_stop = asyncio.Event()
        self.failure: Exception | None = None
        self.failures = Failures()
        self.telemetry: Telemetry | None = None
        self.monitor_url: str | None = None
        #: In the order in which they were opened.
        self._connections: dict[Connection, None] = {}
        self._reads: list[tuple[Connection, ReadStep]] = []
        self._writes: list[tuple[Connection, WriteStep]] = []
        self._commits = 0
        self._committed = 0
        self._swept_at = 0.0
        self._expired = 0
        self._must_probe = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._sweeping: asyncio.Future[int] | None = None
        self._writer: Writer[Connection] | None = None
        #: One thread: large requests are prepared one after another.
        self._preparer = ThreadPoolExecutor(1, thread_name_prefix="tablewright-preparer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="tablewright-reader")
        self._monitor: Monitor | None = None
        self._all_closed = asyncio.Event()
        self._has_file = engine.path != ":memory:"
        self._handshakes = Handshakes(
            lambda: Connection(self),
            tls=settings.tls,
            seconds=self.limits.head_seconds,
            on_failed=self._room_made,
        )

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen and return the URL. Port 0 chooses a free port.

        Raises `OSError` if an address, a port or the access log cannot be used.
        """
        return await self._open(host, port, self._handshakes.adopt)

    async def _open(self, host: str, port: int, adopt: Callable[[socket.socket], None]) -> str:
        self._create_telemetry()
        await self._start_monitor()
        self._listener = Listener(
            adopt,
            has_room=self._has_room,
            make_room=self._make_room,
            report=self.failures.report,
        )
        try:
            url = await self._listener.start(
                host, port, "http" if self.settings.tls is None else "https"
            )
        except OSError:
            await self._end_telemetry()
            raise
        self._begin()
        return url

    def _create_telemetry(self) -> None:
        settings = self.settings
        self._loop = asyncio.get_running_loop()
        if settings.access_log is not None:
            from tablewright.server.telemetry import AccessLog, Telemetry

            access_log = AccessLog(settings.access_log, self.failures.report)
            self.telemetry = Telemetry(access_log, logs_requests=settings.logs_requests)
        elif settings.logs_requests or settings.metrics_port is not None:
            from tablewright.server.telemetry import Telemetry

            self.telemetry = Telemetry(logs_requests=settings.logs_requests)

    async def _start_monitor(self) -> None:
        port = self.settings.metrics_port
        if port is not None:
            from tablewright.server.telemetry import Monitor

            assert self.telemetry is not None
            self._monitor = Monitor(
                self.telemetry, self._gauges, self._readiness_problem, self._key_accesses
            )
            self.monitor_url = await self._monitor.start(port)

    def _begin(self) -> None:
        """Open the file in this thread, and start the writer and the periodic work."""
        self.engine.probe()  # opens this thread's connection while the file exists
        self._watch = FileWatch(self.engine.path)
        self._start_writer()
        self._tick()
        self._timers["sweep"] = self._loop.call_later(self.settings.sweep_seconds, self._sweep)

    def _start_writer(self) -> None:
        if self._has_file:
            self._writer = Writer(self.engine, self._watch, self._deliver_writes)

    async def stop(
        self,
        grace_seconds: float = GRACE_SECONDS,
        idle_grace_seconds: float = IDLE_GRACE_SECONDS,
    ) -> None:
        """Accept no more connections, respond to all received requests, close all connections."""
        self.is_stopping = True
        self._accept_no_more()
        self._handshakes.cancel()
        if "sweep" in self._timers:
            self._timers["sweep"].cancel()
        await asyncio.sleep(idle_grace_seconds)
        for connection in list(self._connections):
            connection.close_if_idle()
        if self._sweeping is not None:
            await asyncio.wait([self._sweeping])
        if self._connections:
            try:
                await asyncio.wait_for(self._all_closed.wait(), grace_seconds)
            except TimeoutError:
                for connection in list(self._connections):
                    connection.abort()
                await self._all_closed.wait()
        self._timers["tick"].cancel()
        self._preparer.shutdown(wait=False)
        await self._loop.run_in_executor(None, self._readers.shutdown)
        if self._writer is not None:
            await self._writer.stop()
        await self._end_telemetry()

    async def _end_telemetry(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
        if self.telemetry is not None and self.telemetry.log is not None:
            await self.telemetry.log.close()

    # --- called by connections -----------------------------------------------------------------

    def connection_opened(self, connection: Connection) -> None:
        self._connections[connection] = None
        if self.is_stopping:  # it was accepted just before `stop`
            connection.close_if_idle()

    def connection_closed(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        self._room_made()
        if self.is_stopping and not self._connections:
            self._all_closed.set()

    def submit(self, connection: Connection, step: Step) -> None:
        """Run a step with the others of this iteration, then call `connection.complete`."""
        if isinstance(step, LongStep) or (
            isinstance(step, ReadStep) and step.is_costly and self._has_file
        ):
            working = self._loop.run_in_executor(self._readers, self.engine.run_or_error, step)
            working.add_done_callback(
                lambda working: self._deliver([(connection, step)], [working.result()])
            )
            return
        if len(self._connections) == 1 and not connection.has_queue:
            result = self._run_now(step)
            if result is not None:
                if isinstance(step, WriteStep):
                    self._count_writes([result])
                self._deliver([(connection, step)], [result])
                return
        if not self._reads and not self._writes:
            self._loop.call_soon(self._run_steps)
        if isinstance(step, ReadStep):
            self._reads.append((connection, step))
        else:
            self._writes.append((connection, step))

    def _run_now(self, step: ReadStep | WriteStep) -> bytes | BaseException | None:
        """Run a step on the event loop; return None if it would have to wait for a lock."""
        if isinstance(step, ReadStep):
            return self.engine.run_or_error(step)
        if self._writer is not None:
            return self._writer.commit_now(step)
        (result,) = self.engine.write_all([step])
        return result

    def prepare_in_thread(self, connection: Connection, prepare: Callable[[], Step]) -> None:
        """Call `prepare` in a thread, then submit its step or deliver its error."""
        preparing = self._loop.run_in_executor(self._preparer, prepare)
        preparing.add_done_callback(partial(self._prepared, connection))

    def compress_in_thread(self, connection: Connection, body: bytes, encoding: bytes) -> None:
        """Compress a response in a thread, then call `connection.complete`."""
        compressing = self._loop.run_in_executor(self._readers, compress, body, encoding)
        compressing.add_done_callback(lambda done: connection.complete(done.result(), encoding))

    def _prepared(self, connection: Connection, preparing: asyncio.Future[Step]) -> None:
        error = preparing.exception()
        if error is None:
            self.submit(connection, preparing.result())
        else:
            connection.complete(self.failures.to_fault(error))

    # --- called by the event loop --------------------------------------------------------------

    def _run_steps(self) -> None:
        reads, self._reads = self._reads, []
        writes, self._writes = self._writes, []
        if writes and self._writer is not None:
            self._writer.submit(writes)
        if reads:
            self._deliver(reads, self.engine.read_all([step for _, step in reads]))
        if writes and self._writer is None:
            self._deliver_writes(writes, self.engine.write_all([step for _, step in writes]))

    def _deliver_writes(
        self,
        submitted: Sequence[tuple[Connection, WriteStep]],
        results: Sequence[bytes | BaseException],
    ) -> None:
        self._count_writes(results)
        self._deliver(submitted, results)

    def _count_writes(self, results: Sequence[bytes | BaseException]) -> None:
        written = 0
        for result in results:
            error = result if isinstance(result, BaseException) else None
            self.failures.record_write(error)
            written += error is None
        self._commits += written > 0
        self._committed += written

    def _deliver(
        self, submitted: Sequence[tuple[Connection, Step]], results: Sequence[bytes | BaseException]
    ) -> None:
        for (connection, step), result in zip(submitted, results, strict=True):
            if isinstance(result, BaseException):
                if isinstance(result, StoreFailed) and isinstance(step, ReadStep):
                    self._must_probe = True
                connection.complete(self.failures.to_fault(result))
            else:
                connection.complete(result)

    def _has_room(self) -> bool:
        # A connection can be in both sets for a moment: it counts once.
        new = sum(protocol not in self._connections for protocol in self._handshakes.protocols)
        return len(self._connections) + new < self.limits.connections

    def _room_made(self) -> None:
        self._listener.resume()

    def _accept_no_more(self) -> None:
        self._listener.close()

    def _make_room(self) -> None:
        """Close the connection that has been idle longest; if none is idle, the oldest overdue one.

        Otherwise clients that never finish their requests would keep all others out.
        """
        idle = [connection for connection in self._connections if connection.is_idle]
        if idle:
            min(idle, key=lambda connection: connection.since).close_if_idle()
            return
        now = self._loop.time()
        overdue = [connection for connection in self._connections if connection.is_overdue(now)]
        if overdue:
            min(overdue, key=lambda connection: connection.since).close_overdue()
        else:
            self._handshakes.cancel_older(now - self.limits.scarce_seconds)

    def _tick(self) -> None:
        """Do the periodic work: check timeouts, flush the log, probe the file."""
        self.responses.refresh_date()
        now = self._loop.time()
        for connection in list(self._connections):
            connection.check_time(now)
        if self.telemetry is not None and self.telemetry.log is not None:
            self.telemetry.log.flush()
        if self._must_probe:
            self._must_probe = False
            self._probe()
        self._timers["tick"] = self._loop.call_later(self.limits.tick_seconds, self._tick)

    def _probe(self) -> None:
        """After a failed read, check whether the file can be read; if not, stop the server."""
        try:
            self.engine.probe()
        except StoreBusy:
            pass
        except StoreFailed as error:
            self._fail(StoreFailed(f"the server stopped because it cannot read its file: {error}"))

    def _fail(self, failure: Exception) -> None:
        """Stop the server, because it cannot continue."""
        if self.failure is None:
            self.failure = failure
            self.must_stop.set()

    def _sweep(self) -> None:
        """Delete expired items and old stream records in a thread: this reads whole tables."""
        self._sweeping = self._loop.run_in_executor(None, self._expire)
        self._sweeping.add_done_callback(self._swept)

    def _expire(self) -> int:
        self._watch.require_same_file()
        expired = self.engine.expire()
        self.engine.trim()
        return expired

    def _swept(self, sweeping: asyncio.Future[int]) -> None:
        error = None if sweeping.cancelled() else sweeping.exception()
        if error is not None:
            self.failures.to_fault(error)
        else:
            self._swept_at = time.time()
            self._expired += sweeping.result()
        if not self.is_stopping:
            delay = self.settings.sweep_seconds
            self._timers["sweep"] = self._loop.call_later(delay, self._sweep)

    # --- called by the monitor -----------------------------------------------------------------

    def _readiness_problem(self) -> str | None:
        if self.is_stopping:
            return "is_stopping"
        if self.failure is not None:
            return str(self.failure)
        return self.failures.write_problem

    def _gauges(self) -> dict[str, tuple[str, str, float]]:
        """Return the kind, description and value of each metric that is not about requests."""
        metrics: dict[str, tuple[str, str, float]] = {
            "connections": ("gauge", "Open connections.", len(self._connections)),
            "buffered_bytes": ("gauge", "Memory used for clients, in bytes.", self.budget.used),
            "waiting_bodies": ("gauge", "Bodies that wait for memory.", self.budget.waiting),
            "commits_total": ("counter", "Commits of write requests.", self._commits),
            "committed_writes_total": ("counter", "Writes in commits.", self._committed),
            "expired_items_total": ("counter", "Items deleted after their TTL.", self._expired),
            "last_sweep_seconds": (
                "gauge",
                "Unix time of the last deletion of expired items.",
                self._swept_at,
            ),
        }
        for name, suffix, text in (
            ("file_bytes", "", "Size of the database file."),
            ("log_bytes", "-wal", "Size of the write-ahead log."),
        ):
            with suppress(OSError):
                metrics[name] = ("gauge", text, Path(self.engine.path + suffix).stat().st_size)
        return metrics

    def _key_accesses(self) -> Iterator[tuple[dict[str, str], int]]:
        """Yield the labels and the count of the most used keys, of tables that count them."""
        for table, index, found in self.engine.counted_keys():
            for kind, keys in (
                ("partition_key", found.partition_keys),
                ("key", found.keys),
                ("throttled_partition_key", found.throttled_partition_keys),
                ("throttled_key", found.throttled_keys),
            ):
                for values, count in keys:
                    labels = {"table": table, "index": index or "", "kind": kind}
                    yield labels | {"key": " ".join(values)}, count
