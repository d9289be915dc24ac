"""Worker processes: fork them, and pass sockets to them.

Invariants:
- Workers are forked before a file is opened or a thread is started: neither survives a fork.
- A worker does nothing until `start`, and ends when the main process ends.
- Workers ignore SIGINT and SIGTERM, which a terminal or a service manager also sends to them: the
  main process stops them.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress


class WorkerProcess:
    """A worker, from the side of the main process."""

    def __init__(self, process: int, relay: socket.socket, connections: socket.socket) -> None:
        self.process = process
        self.relay = relay
        self._connections = connections
        self._outcome: str | None = None

    def start(self) -> None:
        """Let the worker open the file and serve connections."""
        self._connections.send(b"s")

    def pass_on(self, accepted: socket.socket) -> None:
        """Give the worker a connection. Raise `OSError` if it has ended or is not reading."""
        socket.send_fds(self._connections, [b"c"], [accepted.fileno()])

    def stop(self) -> None:
        """Let the worker respond to its requests and end."""
        self._connections.close()

    def wait(self) -> str:
        """Wait until the worker has ended; return how, in words."""
        if self._outcome is None:
            _, status = os.waitpid(self.process, 0)
            code = os.waitstatus_to_exitcode(status)
            reason = f"exit code {code}" if code >= 0 else f"signal {-code}"
            self._outcome = f"process ({self.process}) ended with {reason}"
        return self._outcome

    def end(self) -> None:
        """End the worker, whatever it is doing, and wait for it."""
        self.relay.close()
        self.stop()
        self.wait()


def fork_workers(
    count: int, run: Callable[[socket.socket, socket.socket], int]
) -> list[WorkerProcess]:
    """Fork workers; each calls `run` after its `start`, and exits with the code that it returns.

    `run` gets the sockets of the relay and of new connections.
    """
    workers: list[WorkerProcess] = []
    for _ in range(count):
        relay, worker_relay = socket.socketpair()
        connections, worker_connections = socket.socketpair()
        process = os.fork()
        if process == 0:
            for worker in workers:  # otherwise their sockets would stay open when main ends
                worker.relay.close()
                worker.stop()
            relay.close()
            connections.close()
            _run_worker(run, worker_relay, worker_connections)
        worker_relay.close()
        worker_connections.close()
        connections.setblocking(False)
        workers.append(WorkerProcess(process, relay, connections))
    return workers


def _run_worker(
    run: Callable[[socket.socket, socket.socket], int],
    relay: socket.socket,
    connections: socket.socket,
) -> None:
    """Run a worker; never return, because the caller's cleanup belongs to the main process."""
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if connections.recv(1):
            connections.setblocking(False)
            code = run(relay, connections)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
