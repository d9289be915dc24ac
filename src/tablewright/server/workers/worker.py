"""A worker: a process that serves connections, and reads from the file itself.

    main process ──sockets of clients──▶ worker: parse, authenticate, read, respond
                 ◀──other requests──────         (`relay`)

A worker runs the requests that only read. It relays all others to the main process, so that the
writes of all workers share commits. A write is acknowledged after its commit, and every read begins
with the latest commit; so a read of any worker sees it.

A worker that has the only connection of the server commits the writes in `WRITES` itself: no other
client could share the commit, and a relay would add a tenth of a millisecond.

Invariants:
- A worker never waits for the write lock: it relays a write if another process holds the lock.
- It stops when the main process closes the socket of new connections, after it has responded to
  all requests that it has received. It ends at once if the main process has ended.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from typing_extensions import override

from tablewright.engine import Engine, ReadStep, Step, WriteStep
from tablewright.engine.step import ReadContext, WriteContext, wrap
from tablewright.errors import DynamoDBError, StoreBusy, StoreClosed, StoreFailed, TablewrightError
from tablewright.policy import Principal
from tablewright.server.connection import Connection
from tablewright.server.failures import FileWatch
from tablewright.server.listener import MAX_ACCEPTED
from tablewright.server.server import Server, Settings
from tablewright.server.workers.relay import (
    Alone,
    Relayed,
    Released,
    Reply,
    ToWorker,
    WorkerChannel,
    WorkerReport,
)
from tablewright.wire.operations import WRITES

_encode = msgspec.json.Encoder().encode


class RelayedStep(WriteStep, kw_only=True):
    """A request that the main process prepares and runs, unless this one may: `is_local`."""

    operation: str
    user: str | None
    body: bytes
    is_local: bool = False


class WorkerEngine(Engine):
    """An engine that runs what reads, and relays the rest."""

    #: Whether the operations in `WRITES` may run in this process.
    may_write = False
    _counting: threading.Thread | None = None

    def prepare(
        self,
        operation: str,
        request: object,
        policy: Principal | None = None,
        *,
        is_internal: bool = False,
    ) -> Step:
        """Prepare a request that may run here; return a `RelayedStep` for any other."""
        run: Callable[[WriteContext], Any] = _run_elsewhere
        is_local = self.may_write and operation in WRITES
        if is_local or operation not in WRITES:
            step = super().prepare(operation, request, policy, is_internal=is_internal)
            if isinstance(step, ReadStep):
                return step if policy is None else wrap(step, _run_with_current_catalog)
            if is_local:
                assert isinstance(step, WriteStep)
                run = step.run
        return RelayedStep(
            run,
            operation=operation,
            user=None if policy is None else policy.name,
            body=_encode(request),
            is_local=is_local,
        )

    @override
    def _start_counting(self) -> None:
        """Count large tables, which DescribeTable needs; all other jobs are the main process's."""
        if self._counting is None or not self._counting.is_alive():
            self._counting = threading.Thread(target=self._count, name="counting", daemon=True)
            self._counting.start()

    def _count(self) -> None:
        with suppress(StoreClosed, StoreFailed):
            while self._counts.step(self._store):
                pass


def _run_with_current_catalog(run: Any, context: ReadContext) -> Any:
    """Run a read, but never with an old resource policy.

    Reads detect changed keys and indexes by themselves, but not changed policies.
    """
    context.catalog.refresh(context.snapshot)
    return run(context)


def _run_elsewhere(_: object) -> Any:
    raise AssertionError("a relayed step runs in the main process")


class WorkerServer(Server):
    """The server of one worker."""

    def __init__(
        self,
        engine: WorkerEngine,
        settings: Settings,
        relay: socket.socket,
        connections: socket.socket,
    ) -> None:
        super().__init__(engine, settings)
        self._worker_engine = engine
        self._relay_socket = relay
        self._new_connections = connections
        self._channel = WorkerChannel(self._receive, self._main_ended)
        #: The requests that wait for their replies.
        self._waiting: dict[int, Connection] = {}
        self._last_number = 0
        self._is_relaying = True

    async def run(self) -> None:
        """Serve until the main process stops this worker; raise the failure, if there is one."""
        self._create_telemetry()
        await self._loop.create_unix_connection(lambda: self._channel, sock=self._relay_socket)
        self._worker_engine.probe()  # opens this thread's connection while the file exists
        self._worker_engine.never_wait()
        self._watch = FileWatch(self._worker_engine.path)
        self._tick()
        self._loop.add_reader(self._new_connections, self._adopt_next)
        await self.must_stop.wait()
        await self.stop()
        self._is_relaying = False
        self._channel.close()
        if self.failure is not None:
            raise self.failure

    def submit(self, connection: Connection, step: Step) -> None:
        """Run a step that reads; send any other to the main process."""
        if isinstance(step, RelayedStep):
            if step.is_local and len(self._connections) == 1 and not connection.has_queue:
                result = self._commit_now(step)
                if result is not None:
                    self._deliver_writes([(connection, step)], [result])
                    return
            self._last_number += 1
            self._waiting[self._last_number] = connection
            self._channel.send(Relayed(self._last_number, step.operation, step.user, step.body))
        else:
            super().submit(connection, step)

    def _commit_now(self, step: RelayedStep) -> bytes | BaseException | None:
        """Commit a write; return None, without an effect, if that has to wait."""
        try:
            self._watch.require_same_file()
            (result,) = self._worker_engine.write_all([step])
        except StoreFailed:
            return None  # the main process reports it
        if isinstance(result, StoreBusy):
            return None
        if not isinstance(result, bytes | DynamoDBError):
            # The file has a problem. Let the main process notice it, too: it reports readiness.
            self._worker_engine.may_write = False
        return result

    def _receive(self, message: ToWorker) -> None:
        if isinstance(message, Reply):
            self._waiting.pop(message.number).complete(message.result)
        elif isinstance(message, Alone):
            self._worker_engine.may_write = message.is_alone
        else:
            self._make_room()

    def _main_ended(self) -> None:
        if self._is_relaying:
            os._exit(1)  # the main process has ended: no write can be completed

    def _adopt_next(self) -> None:
        """Adopt the connections that the main process has accepted."""
        for _ in range(MAX_ACCEPTED):
            try:
                data, numbers, _, _ = socket.recv_fds(self._new_connections, 1, 1)
            except BlockingIOError:
                return
            if not data:
                self._accept_no_more()
                self.must_stop.set()
                return
            for number in numbers:
                accepted = socket.socket(fileno=number)
                accepted.setblocking(False)
                self._handshakes.adopt(accepted)
            if not numbers:  # this process has no free file descriptors
                self.failures.report("a connection was lost: too many open files")
                self._room_made()

    def _room_made(self) -> None:
        self._channel.send(Released())

    def _accept_no_more(self) -> None:
        self._loop.remove_reader(self._new_connections)

    def _tick(self) -> None:
        super()._tick()
        with suppress(TablewrightError):  # the reads of clients will report it
            self._worker_engine.refresh_catalog()
        self._channel.send(self._report())

    def _report(self) -> WorkerReport:
        report = WorkerReport(
            connections=len(self._connections),
            buffered_bytes=self.budget.used,
            waiting_bodies=self.budget.waiting,
            commits_total=self._commits,
            committed_writes_total=self._committed,
        )
        if self.telemetry is None or self.settings.metrics_port is None:
            return report
        return msgspec.structs.replace(
            report,
            requests=[(*key, count) for key, count in self.telemetry.requests.items()],
            latencies=[
                (operation, latency.counts, latency.sum)
                for operation, latency in self.telemetry.latencies.items()
            ],
            keys=list(self._key_accesses()),
        )
