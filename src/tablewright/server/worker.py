"""A worker: a process that serves connections, and reads from the file itself.

    main process ──sockets of clients──▶ worker: parse, authenticate, read, respond
                 ◀──other requests──────         (`relay`)

A worker runs the requests in `LOCAL`, if they only read. It relays all others to the main process,
so that the writes of all workers share commits, and state that is not in the file (item counts,
exports in progress) is in one process. A write is acknowledged after its commit, and every read
begins with the latest commit; so a read of any worker sees it.

Invariants:
- A worker never writes to the file.
- It stops when the main process closes the socket of new connections, after it has responded to
  all requests that it has received. It ends at once if the main process has ended.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any

import msgspec

from tablewright.engine import Engine, ReadStep, Step, WriteStep
from tablewright.engine.step import ReadContext
from tablewright.errors import TablewrightError
from tablewright.policy import Principal
from tablewright.server.connection import Connection
from tablewright.server.listener import MAX_ACCEPTED
from tablewright.server.relay import (
    Relayed,
    Released,
    Reply,
    Report,
    ToWorker,
    WorkerChannel,
)
from tablewright.server.server import Server, Settings

#: The operations that a worker runs itself, unless they write (statements may).
LOCAL = frozenset(
    {
        "BatchExecuteStatement",
        "BatchGetItem",
        "DescribeEndpoints",
        "ExecuteStatement",
        "ExecuteTransaction",
        "GetItem",
        "GetRecords",
        "GetShardIterator",
        "Query",
        "Scan",
        "TransactGetItems",
    }
)

_encode = msgspec.json.Encoder().encode


class RelayedStep(WriteStep, kw_only=True):
    """A request that the main process prepares and runs."""

    operation: str
    user: str | None
    body: bytes


class ReadingEngine(Engine):
    """An engine that runs only what reads, and relays the rest."""

    def prepare(self, operation: str, request: object, policy: Principal | None = None) -> Step:
        """Prepare a request in `LOCAL`; return a `RelayedStep` for any other, unchecked."""
        if operation in LOCAL:
            step = super().prepare(operation, request, policy)
            if isinstance(step, ReadStep):
                return step if policy is None else _with_current_catalog(step)
        return RelayedStep(
            _run_elsewhere,
            operation=operation,
            user=None if policy is None else policy.name,
            body=_encode(request),
        )


def _with_current_catalog(step: ReadStep) -> ReadStep:
    """Return a step that never runs with an old resource policy.

    Reads detect changed keys and indexes by themselves, but not changed policies.
    """
    run = step.run

    def refresh_and_run(context: ReadContext) -> Any:
        context.catalog.refresh(context.snapshot)
        return run(context)

    return ReadStep(refresh_and_run, step.is_costly)


def _run_elsewhere(_: object) -> Any:
    raise AssertionError("a relayed step runs in the main process")


class WorkerServer(Server):
    """The server of one worker."""

    def __init__(
        self,
        engine: ReadingEngine,
        settings: Settings,
        relay: socket.socket,
        connections: socket.socket,
    ) -> None:
        super().__init__(engine, settings)
        self._reader = engine
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
        self._reader.probe()  # opens this thread's connection while the file exists
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
            self._last_number += 1
            self._waiting[self._last_number] = connection
            self._channel.send(Relayed(self._last_number, step.operation, step.user, step.body))
        else:
            super().submit(connection, step)

    def _receive(self, message: ToWorker) -> None:
        if isinstance(message, Reply):
            self._waiting.pop(message.number).complete(message.result)
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
            self._reader.refresh_catalog()
        self._channel.send(self._report())

    def _report(self) -> Report:
        report = Report(
            connections=len(self._connections),
            buffered_bytes=self.budget.used,
            waiting_bodies=self.budget.waiting,
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
