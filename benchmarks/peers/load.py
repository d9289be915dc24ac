"""The clients: `python -m benchmarks.peers.load PORT FILE CONNECTIONS SECONDS` prints JSON.

FILE contains prepared requests, as `prepare` writes them. Every connection sends its next request
when its last response has arrived. The process never sleeps, so that waking it does not slow the
server; see `benchmarks.load`.
"""

from __future__ import annotations

import itertools
import json
import select
import socket
import struct
import sys
import time
from pathlib import Path

import msgspec

from benchmarks.peers.workload import Requests
from tablewright.transport.sigv4 import Signer, SigningCredentials

_LENGTH = struct.Struct("<I")


class Load(msgspec.Struct):
    """The responses with status 200 in `seconds`, and the first other one."""

    responses: int
    seconds: float
    refused: int = 0
    problem: str = ""


def prepare(
    path: Path, port: int, requests: Requests, credentials: SigningCredentials, now: int
) -> None:
    """Write the bytes of signed requests, each after its length."""
    signer = Signer(f"127.0.0.1:{port}", "us-east-1")
    with path.open("wb") as file:
        for operation, request in requests:
            body = msgspec.json.encode(request)
            data = signer.sign_request(credentials, operation, body, now)
            file.write(_LENGTH.pack(len(data)) + data)


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
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    lower = head.lower()
    at = lower.find(b"\r\ncontent-length:")
    if at >= 0:
        end = lower.find(b"\r\n", at + 2)
        length = int(lower[at + 17 : end if end > 0 else None])
        return len(body) >= length
    return body.endswith(b"0\r\n\r\n")  # chunked


def load(port: int, requests: list[bytes], connections: int, seconds: float) -> Load:
    """Send requests for some seconds."""
    poll = select.epoll()
    sockets: dict[int, socket.socket] = {}
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        sockets[connection.fileno()] = connection
        poll.register(connection, select.EPOLLIN)
    following = itertools.cycle(requests)
    waiting: dict[int, bytes] = {}
    done = refused = 0
    problem = ""
    clock = time.perf_counter
    started = now = clock()
    for connection in sockets.values():
        _send(connection, next(following))
    while now < started + seconds:
        for number, _ in poll.poll(0):
            connection = sockets[number]
            received = connection.recv(1 << 20)
            if not received:
                raise ConnectionError(f"the server closed the connection after {done} responses")
            data = waiting.pop(number, b"") + received
            if not is_complete(data):
                waiting[number] = data
                continue
            if data.startswith(b"HTTP/1.1 200"):
                done += 1
            else:
                refused += 1
                problem = problem or data[-300:].decode("latin-1")
            _send(connection, next(following))
        now = clock()
    took = clock() - started
    for connection in sockets.values():
        connection.close()
    return Load(done, took, refused, problem)


def _send(connection: socket.socket, data: bytes) -> None:
    """Send a request, which may be larger than the buffer of the socket."""
    view = memoryview(data)
    while view:
        try:
            view = view[connection.send(view) :]
        except BlockingIOError:
            select.select([], [connection], [])


def main() -> None:
    port, file, connections, seconds = sys.argv[1:]
    found = load(int(port), read(Path(file)), int(connections), float(seconds))
    json.dump(msgspec.to_builtins(found), sys.stdout)


if __name__ == "__main__":
    main()
