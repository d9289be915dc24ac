"""The load: HTTP clients in a process of their own, the same for all servers.

`python -m benchmarks.load PORT FILE CONNECTIONS SECONDS` prints a `Load` as JSON. FILE contains
prepared requests, as `under_load` writes them. Every connection sends its next request when its
last response has arrived. The load ends after SECONDS, or when the requests are used up, but not
before there are as many responses as connections. Then the clients wait for the responses that are
still missing, so that the server is idle when they end; these do not count in the rate.

The clients use as little CPU time as possible: one `epoll`, non-blocking sockets, one `recv` and
one `send` for each request. The process never sleeps. When it slept, the server used 50 to 57 µs of
CPU time for a request instead of 33, and the bare server 11 to 12 instead of 9.5, probably because
every response had to wake the process at the expense of the server. The time without work shows how
many requests the clients could have sent, and so that they were not the bottleneck.
"""

from __future__ import annotations

import itertools
import os
import resource
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

TICKS = os.sysconf("SC_CLK_TCK")
#: The clients wait this long for a slow server.
LATE_SECONDS = 5.0
_LENGTH = struct.Struct("<I")


class Load(msgspec.Struct, frozen=True):
    """What the clients saw in `seconds`, of which `idle` were without work."""

    #: The responses with status 200 in this time, and those that arrived after it.
    responses: int
    late: int
    #: The requests without a response at the end: the server may still work on them.
    unanswered: int
    seconds: float
    idle: float
    #: The number of bytes in the body of the last of them.
    length: int
    #: The other responses, and the first of their texts.
    refused: int = 0
    problem: str = ""


class Served(msgspec.Struct, frozen=True):
    """A load, and the CPU seconds of the server from the start of the clients to their end."""

    load: Load
    cpu: float
    #: The number of cores that other processes used at the same time, such as 0.1.
    others: float

    @property
    def rate(self) -> float:
        return self.load.responses / self.load.seconds

    @property
    def most(self) -> float:
        """The rate that the clients could have reached without waiting."""
        return self.load.responses / (self.load.seconds - self.load.idle)

    @property
    def share(self) -> float:
        """The part of a core that the server used; far below one if the machine was busy."""
        return self.cpu / self.load.seconds

    @property
    def micros(self) -> float:
        """The CPU time of the server for one request."""
        return self.cpu / (self.load.responses + self.load.late) * 1e6


class Server(Protocol):
    """A server on a port of this machine."""

    @property
    def port(self) -> int: ...

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used."""
        ...


def under_load(
    server: Server,
    requests: Iterable[bytes],
    *,
    connections: int,
    seconds: float,
    repeat: bool = True,
) -> Served:
    """Put a server under load from another process.

    `repeat` sends the requests again when they are used up. Raises RuntimeError if the clients end
    with an error, such as a connection that the server closed.
    """
    with tempfile.NamedTemporaryFile() as file:
        for request in requests:
            file.write(_LENGTH.pack(len(request)) + request)
        file.flush()
        started, busy, clients = time.perf_counter(), _busy_seconds(), _children_seconds()
        before = server.cpu_seconds()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.load", str(server.port), file.name),
                *(str(connections), str(seconds), *(["--repeat"] if repeat else [])),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=seconds + 2 * LATE_SECONDS + 30,  # with the time to start and to connect
        )
        cpu = server.cpu_seconds() - before
        busy, clients = _busy_seconds() - busy, _children_seconds() - clients
        others = max(0.0, busy - clients - cpu) / (time.perf_counter() - started)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
    return Served(msgspec.json.decode(done.stdout, type=Load), cpu, others)


def _busy_seconds() -> float:
    """Return the CPU time that all processes, the kernel and other virtual machines have used."""
    ticks = list(map(int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:]))
    user, nice, system, _idle, _wait, interrupts, soft_interrupts, stolen = ticks[:8]
    return (user + nice + system + interrupts + soft_interrupts + stolen) / TICKS


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read(path: Path) -> list[bytes]:
    """Return the requests of a file."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        found.append(data[at : at + length])
        at += length
    return found


def is_complete(data: bytes) -> bool:
    """Return whether a response has arrived completely."""
    head = data.find(b"\r\n\r\n")
    if head < 0:
        return False
    lower = data[:head].lower()
    at = lower.find(b"\r\ncontent-length:")
    if at < 0:
        return data.endswith(b"0\r\n\r\n")  # chunked
    end = lower.find(b"\r\n", at + 2)
    length = int(lower[at + 17 : end if end > 0 else None])
    return len(data) >= head + 4 + length


def load(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> Load:
    """Send requests for some seconds, or until there are no more."""
    clients = Clients(port, requests)
    for _ in range(connections):
        clients.connect()
    clock = time.perf_counter
    started = now = clock()
    clients.begin()
    idle = 0.0
    while clients.is_sending and (
        now < started + seconds or clients.done + clients.refused < connections
    ):
        if clients.receive():
            now = clock()
        else:
            before, now = now, clock()
            idle += now - before
        if now > started + seconds + LATE_SECONDS:
            break
    took, done = clock() - started, clients.done
    clients.is_sending = False
    deadline = clock() + LATE_SECONDS
    while clients.waiting and clock() < deadline:
        clients.receive()
    clients.close()
    return Load(
        done,
        clients.done - done,
        len(clients.waiting),
        took,
        idle,
        len(clients.last.partition(b"\r\n\r\n")[2]),
        clients.refused,
        clients.problem,
    )


class Clients:
    """Connections to a server, each with one request at a time."""

    def __init__(self, port: int, requests: Iterator[bytes]) -> None:
        self._port = port
        self._requests = requests
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        #: The connections that wait for a response, and what they have received of it.
        self.waiting: dict[int, bytes] = {}
        #: Whether a response is followed by the next request.
        self.is_sending = True
        self.done = self.refused = 0
        self.last = b""
        self.problem = ""

    def connect(self) -> int:
        """Open a connection; return its number."""
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        self._sockets[connection.fileno()] = connection
        self._poll.register(connection, select.EPOLLIN)
        return connection.fileno()

    def begin(self) -> None:
        """Send the first request of every connection."""
        for number in self._sockets:
            self._send_next(number)

    def receive(self) -> bool:
        """Read what has arrived, send the next requests; return whether anything had arrived."""
        ready = self._poll.poll(0)
        for number, _ in ready:
            received = self._sockets[number].recv(1 << 20)
            if not received:
                raise ConnectionError(f"the server closed a connection after {self.done} responses")
            data = self.waiting[number] + received
            if not is_complete(data):
                self.waiting[number] = data
                continue
            if data.startswith(b"HTTP/1.1 200"):
                self.done += 1
                self.last = data
            else:
                self.refused += 1
                self.problem = self.problem or data[-300:].decode("latin-1")
            del self.waiting[number]
            if b"onnection: close\r\n" in data:  # the server closes it after each response
                self._sockets.pop(number).close()
                number = self.connect()
            if self.is_sending:
                self._send_next(number)
        return bool(ready)

    def _send_next(self, number: int) -> None:
        request = next(self._requests, None)
        if request is None:
            self.is_sending = False
        else:
            self.waiting[number] = b""
            _send(self._sockets[number], request)

    def close(self) -> None:
        for connection in self._sockets.values():
            connection.close()


def _send(connection: socket.socket, data: bytes) -> None:
    """Send a request, which may be larger than the buffer of the socket."""
    sent = connection.send(data)
    while sent < len(data):
        try:
            sent += connection.send(memoryview(data)[sent:])
        except BlockingIOError:
            select.select([], [connection], [])


def main() -> None:
    port, file, connections, seconds, *options = sys.argv[1:]
    requests = read(Path(file))
    following = itertools.cycle(requests) if "--repeat" in options else iter(requests)
    found = load(int(port), following, int(connections), float(seconds))
    print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
