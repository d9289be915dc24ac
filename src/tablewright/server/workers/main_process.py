"""The main process of a server with workers: accepts, commits, and does the periodic work.

    clients ──accept──▶ main process ──socket──▶ the worker with the fewest connections
                        main process ◀──writes── workers (`relay`)

It writes for all workers, so their writes share commits, and the deletion of expired items, index
builds and exports run once. (With a writer in each of two workers, a commit had half as many
writes, and durable writes became slower.) It passes on each accepted socket and does not read from
it. (With a listening socket in each worker, the kernel decides by a hash: of eight connections, one
of two workers often gets six.)

Invariants:
- The server starts when all workers are ready, and its limit of connections is for all of them.
- A worker that a signal has ended is replaced; the others continue. If it ends by itself, because
  it cannot read the file, or before it was ready, the server stops: the other workers respond to
  the requests that they have received.
- `stop` stops the workers first. So relayed writes are committed and acknowledged.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from tablewright.engine import Engine, Step
from tablewright.server.access.authentication import SignatureAuthenticator
from tablewright.server.preparation import parse_json
from tablewright.server.server import GRACE_SECONDS, IDLE_GRACE_SECONDS, Server, Settings
from tablewright.server.telemetry import Latency
from tablewright.server.workers.processes import WorkerProcess, Workers
from tablewright.server.workers.relay import (
    Alone,
    CloseIdle,
    Relayed,
    RelayWriter,
    Released,
    WorkerReport,
)


class WorkerHandle:
    """A worker as the main process sees it."""

    def __init__(self, process: WorkerProcess) -> None:
        self.process = process
        self.connections = 0
        self.report = WorkerReport()
        self.is_ready = asyncio.Event()
        self.has_ended = asyncio.Event()


class MainServer(Server):
    """The server of the main process. Its connections are in the workers."""

    engine: Engine

    def __init__(self, engine: Engine, settings: Settings, workers: Workers) -> None:
        # Workers log their own requests.
        super().__init__(engine, replace(settings, access_log=None, logs_requests=False))
        self._workers = workers
        self._members = [WorkerHandle(process) for process in workers.processes]
        #: The last reports of workers that were replaced.
        self._past_reports: list[WorkerReport] = []
        #: The worker that knows that it has the only connection.
        self._alone: WorkerHandle | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen, start the workers, and return the URL when all of them are ready."""
        url = await self._open(host, port, self._pass_on)
        for member in self._members:
            member.process.start()
        for member in self._members:
            await member.is_ready.wait()
        if self.failure is not None:
            await self.stop()
            raise self.failure
        return url

    def _start_writer(self) -> None:
        self._relay_writer = RelayWriter(
            self.engine,
            self._watch,
            self.failures,
            self._prepare,
            self._count_writes,
            self._notify,
        )
        self._relay_writer.start([member.process.relay for member in self._members])

    async def stop(
        self,
        grace_seconds: float = GRACE_SECONDS,
        idle_grace_seconds: float = IDLE_GRACE_SECONDS,
    ) -> None:
        """Stop the workers, complete all their requests, and stop."""
        self.is_stopping = True
        self._accept_no_more()
        for member in self._members:
            member.process.stop()
        for member in self._members:
            await member.has_ended.wait()
            await self._loop.run_in_executor(None, member.process.wait)
        await self._loop.run_in_executor(None, self._relay_writer.join)
        await super().stop(grace_seconds, 0)

    # --- called by the relay writer, in its thread ---------------------------------------------

    def _prepare(self, request: Relayed) -> Step:
        policy = None
        if request.user is not None:
            assert isinstance(self.authenticator, SignatureAuthenticator)
            policy = self.authenticator.find_principal(request.user)
        return self.engine.prepare(request.operation, parse_json(request.body), policy)

    def _notify(self, number: int, message: Released | WorkerReport | None) -> None:
        self._loop.call_soon_threadsafe(self._receive, self._members[number], message)

    # --- called by the event loop --------------------------------------------------------------

    def _receive(self, member: WorkerHandle, message: Released | WorkerReport | None) -> None:
        """Handle a message of a worker; None: it has ended."""
        if message is None:
            self._end(member)
        elif isinstance(message, Released):
            member.connections -= 1
            self._tell_who_is_alone()
            self._room_made()
        else:
            member.report = message
            member.is_ready.set()
            if self.telemetry is not None:
                self._add_up()

    def _end(self, member: WorkerHandle) -> None:
        """Replace a worker that has ended, or stop the server, unless it is stopping."""
        member.has_ended.set()
        was_ready = member.is_ready.is_set()
        member.is_ready.set()
        if self.is_stopping or self.failure is not None:
            return
        outcome = member.process.wait()
        if was_ready and member.process.was_killed:
            with suppress(OSError):
                self._replace(member, self._workers.replace(member.process))
                self.failures.report(f"a worker {outcome}, and another one replaces it")
                return
        self._fail(ChildProcessError(f"the server stopped because a worker {outcome}"))

    def _replace(self, ended: WorkerHandle, process: WorkerProcess) -> None:
        """Give the place of a worker to another one."""
        number = self._members.index(ended)
        self._members[number] = WorkerHandle(process)
        self._past_reports.append(
            replace(ended.report, connections=0, buffered_bytes=0, waiting_bodies=0)
        )
        if self._alone is ended:
            self._alone = None
        self._relay_writer.replace(number, process.relay)
        process.start()
        self._tell_who_is_alone()
        self._room_made()

    def _reports(self) -> Iterator[WorkerReport]:
        yield from self._past_reports
        for member in self._members:
            yield member.report

    # --- called by the listener ----------------------------------------------------------------

    def _pass_on(self, accepted: socket.socket) -> None:
        """Pass an accepted socket to the worker with the fewest connections."""
        member = min(self._members, key=lambda member: member.connections)
        with accepted:
            try:
                member.process.pass_on(accepted)
                member.connections += 1
            except OSError as error:
                self.failures.report(f"a connection was lost: {error.strerror}")
        self._tell_who_is_alone()

    def _tell_who_is_alone(self) -> None:
        """Tell a worker that it has the only connection, or no longer."""
        used = [member for member in self._members if member.connections]
        alone = used[0] if len(used) == 1 and used[0].connections == 1 else None
        if alone is not self._alone:
            for member, is_alone in ((self._alone, False), (alone, True)):
                if member is not None:
                    self._relay_writer.send(self._members.index(member), Alone(is_alone))
            self._alone = alone

    def _has_room(self) -> bool:
        return sum(member.connections for member in self._members) < self.limits.connections

    def _make_room(self) -> None:
        """Make the worker with the most connections close one that is idle or overdue."""
        counts = [member.connections for member in self._members]
        self._relay_writer.send(counts.index(max(counts)), CloseIdle())

    # --- called by the monitor -----------------------------------------------------------------

    def _add_up(self) -> None:
        """Add up the requests of all workers."""
        assert self.telemetry is not None
        requests: Counter[tuple[str, int]] = Counter()
        latencies: dict[str, Latency] = {}
        for report in self._reports():
            for operation, status, count in report.requests:
                requests[operation, status] += count
            for operation, counts, seconds in report.latencies:
                latency = latencies.setdefault(operation, Latency())
                latency.counts = [a + b for a, b in zip(latency.counts, counts, strict=True)]
                latency.sum += seconds
        self.telemetry.requests, self.telemetry.latencies = requests, latencies

    def _gauges(self) -> dict[str, tuple[str, str, float]]:
        gauges = super()._gauges()
        for name in gauges.keys() & WorkerReport.__struct_fields__:
            kind, text, value = gauges[name]
            total = sum(getattr(report, name) for report in self._reports())
            gauges[name] = (kind, text, value + total)
        return gauges

    def _key_accesses(self) -> Iterator[tuple[dict[str, str], int]]:
        totals: Counter[tuple[tuple[str, str], ...]] = Counter()
        reported: list[tuple[dict[str, str], int]] = [*super()._key_accesses()]
        for report in self._reports():
            reported += report.keys
        for labels, count in reported:
            totals[tuple(labels.items())] += count
        for key, count in totals.items():
            yield dict(key), count
