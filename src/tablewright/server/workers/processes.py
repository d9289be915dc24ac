"""Worker processes: fork them, replace them, and pass sockets to them.

    main process ──fork──▶ workers, fork server
                 ──two sockets──▶ fork server ──fork──▶ the replacement of a worker

Invariants:
- Workers are forked where no file is open and no thread runs: neither survives a fork. So the main
  process forks them first, and the fork server, which does nothing else, forks their replacements.
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
    """A worker, from the side of the main process.

    A replacement is not a child of this process: how it ended is not known.
    """

    def __init__(
        self,
        process: int,
        relay: socket.socket,
        connections: socket.socket,
        *,
        is_child: bool = True,
    ) -> None:
        connections.setblocking(False)
        self.process = process
        self.relay = relay
        self._connections = connections
        self._outcome: str | None = None if is_child else f"process ({process}) ended"
        #: Whether a signal may have ended it; it is known after `wait`.
        self.was_killed = not is_child

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
            self.was_killed = code < 0
            reason = f"exit code {code}" if code >= 0 else f"signal {-code}"
            self._outcome = f"process ({self.process}) ended with {reason}"
        return self._outcome

    def end(self) -> None:
        """End the worker, whatever it is doing, and wait for it."""
        self.relay.close()
        self.stop()
        self.wait()


class ForkServer:
    """A process that forks workers, from the side of the main process."""

    def __init__(self, process: int, control: socket.socket) -> None:
        self._process = process
        self._control = control

    def fork(self) -> WorkerProcess:
        """Fork a worker; raise `OSError` if the fork server has ended."""
        (relay, worker_relay), (connections, worker_connections) = _socket_pairs()
        with worker_relay, worker_connections:
            ends = [worker_relay.fileno(), worker_connections.fileno()]
            socket.send_fds(self._control, [b"f"], ends)
            answer = self._control.recv(8)
        if not answer:
            raise ConnectionError("the process that forks workers has ended")
        return WorkerProcess(int.from_bytes(answer, "little"), relay, connections, is_child=False)

    def end(self) -> None:
        self._control.close()
        os.waitpid(self._process, 0)


class Workers:
    """The workers of a server."""

    def __init__(self, processes: list[WorkerProcess], fork_server: ForkServer) -> None:
        self.processes = processes
        self._fork_server = fork_server

    def replace(self, ended: WorkerProcess) -> WorkerProcess:
        """Fork a worker in the place of one that has ended; raise `OSError` if that fails."""
        process = self._fork_server.fork()
        self.processes[self.processes.index(ended)] = process
        ended.end()
        return process

    def end(self) -> None:
        """End all processes, whatever they are doing, and wait for them."""
        for process in self.processes:
            process.end()
        self._fork_server.end()


def fork_workers(count: int, run: Callable[[socket.socket, socket.socket], int]) -> Workers:
    """Fork workers; each calls `run` after its `start`, and exits with the code that it returns.

    `run` gets the sockets of the relay and of new connections.
    """
    workers: list[WorkerProcess] = []

    def close_inherited() -> None:  # otherwise these sockets would stay open when main ends
        for worker in workers:
            worker.relay.close()
            worker.stop()

    for _ in range(count):
        (relay, worker_relay), (connections, worker_connections) = _socket_pairs()
        process = os.fork()
        if process == 0:
            close_inherited()
            relay.close()
            connections.close()
            _run_and_exit(run, worker_relay, worker_connections)
        worker_relay.close()
        worker_connections.close()
        workers.append(WorkerProcess(process, relay, connections))
    control, own_control = socket.socketpair()
    process = os.fork()
    if process == 0:
        close_inherited()
        control.close()
        _run_fork_server(run, own_control)
    own_control.close()
    return Workers(workers, ForkServer(process, control))


def _socket_pairs() -> tuple[
    tuple[socket.socket, socket.socket], tuple[socket.socket, socket.socket]
]:
    """Return two pairs, for the relay and for new connections; the main process's end is first."""
    return socket.socketpair(), socket.socketpair()


def _run_fork_server(
    run: Callable[[socket.socket, socket.socket], int], control: socket.socket
) -> None:
    """Fork a worker for each pair of sockets that arrives; never return."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):  # no zombies
            signal.signal(number, signal.SIG_IGN)
        while True:
            data, numbers, _, _ = socket.recv_fds(control, 1, 2)
            if not data:
                break
            relay, connections = (socket.socket(fileno=number) for number in numbers)
            process = os.fork()
            if process == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                control.close()
                _run_and_exit(run, relay, connections)
            relay.close()
            connections.close()
            control.send(process.to_bytes(8, "little"))
    finally:
        os._exit(0)


def _run_and_exit(
    run: Callable[[socket.socket, socket.socket], int],
    relay: socket.socket,
    connections: socket.socket,
) -> None:
    """Run a worker and exit: never return, because the caller's cleanup is the main process's."""
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
