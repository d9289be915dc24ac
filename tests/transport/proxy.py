"""A proxy before a real endpoint that does to each request what a script says.

A step of the script is a function that gets the `Exchange`: the client's request, the endpoint's
answer if it forwards the request, and the client's socket. Requests beyond the script are
forwarded. Nothing here sleeps: what hangs, hangs until the client goes away.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

#: How long anything may take before a test is given up.
PATIENCE = 20.0


class Cut(Exception):
    """The step ends the connection."""


class Exchange:
    """One request, as it comes in."""

    def __init__(self, proxy: Proxy, client: socket.socket, connection: int, head: bytes) -> None:
        self.proxy = proxy
        self.client = client
        #: The number of the connection that it came on; the first is 0.
        self.connection = connection
        lines = head.decode().split("\r\n")[1:-2]
        self.head = head
        self.headers = dict(line.split(": ", 1) for line in lines)
        self.operation = self.headers["x-amz-target"].partition(".")[2]
        self.body = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def receive(self) -> None:
        """Read the rest of the request."""
        length = int(self.headers["content-length"])
        while len(self.body) < length:
            data = self.client.recv(length - len(self.body))
            if not data:
                raise Cut
            self.body += data

    def forward(self) -> bytes:
        """The endpoint's answer: what the request asks for has been done then."""
        self.receive()
        with socket.create_connection(self.proxy.behind, PATIENCE) as server:
            server.sendall(self.head + self.body)
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += server.recv(1 << 20)
            head, _, body = answer.partition(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            while len(body) < int(fields[b"content-length"]):
                body += server.recv(1 << 20)
            return head + b"\r\n\r\n" + body

    def reply(self, data: bytes) -> None:
        self.client.sendall(data)

    def wait_for_the_client_to_leave(self, seconds: float = PATIENCE) -> bool:
        self.client.settimeout(seconds)
        try:
            return not self.client.recv(1)
        except TimeoutError:
            return False
        finally:
            self.client.settimeout(PATIENCE)


Step = Callable[[Exchange], None]


def answer(
    status: int, body: bytes | dict[str, Any], *fields: str, crc: int | None = None
) -> bytes:
    """An answer of a script's own."""
    content = json.dumps(body).encode() if isinstance(body, dict) else body
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(content)}", *fields]
    if crc is not None:
        lines.append(f"x-amz-crc32: {crc}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def fault(code: str, message: str = "", status: int = 400, *fields: str) -> bytes:
    body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message}
    content = json.dumps(body).encode()
    return answer(status, content, *fields, crc=zlib.crc32(content))


# -- steps ---------------------------------------------------------------------------------------


def forward(exchange: Exchange) -> None:
    exchange.reply(exchange.forward())


def cut(exchange: Exchange) -> None:
    """The request is read, and goes nowhere."""
    exchange.receive()
    raise Cut


def cut_while_it_is_sent(exchange: Exchange) -> None:
    """Of the request, only the head is read."""
    raise Cut


def reset(exchange: Exchange) -> None:
    exchange.receive()
    exchange.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Cut


def cut_when_done(exchange: Exchange) -> None:
    """The request is done, and not answered."""
    exchange.forward()
    raise Cut


def cut_in_the_head(exchange: Exchange) -> None:
    exchange.reply(exchange.forward()[:30])
    raise Cut


def cut_in_the_body(exchange: Exchange) -> None:
    exchange.reply(exchange.forward()[:-1])
    raise Cut


def hang(exchange: Exchange) -> None:
    exchange.receive()
    exchange.wait_for_the_client_to_leave()


def hang_when_done(exchange: Exchange) -> None:
    exchange.forward()
    exchange.wait_for_the_client_to_leave()


def drip(exchange: Exchange) -> None:
    """An answer without end, a byte at a time: each comes in time, all of them do not."""
    exchange.receive()
    exchange.reply(b"HTTP/1.1 200 OK\r\nx-long: ")
    while not exchange.wait_for_the_client_to_leave(0.02):
        exchange.reply(b"x")


def wrong_checksum(exchange: Exchange) -> None:
    head, _, body = exchange.forward().partition(b"\r\n\r\n")
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"x-amz-crc32")]
    kept.append(b"x-amz-crc32: %d" % (zlib.crc32(body) ^ 1))
    exchange.reply(b"\r\n".join(kept) + b"\r\n\r\n" + body)


def twice(exchange: Exchange) -> None:
    """Two answers to one request."""
    exchange.reply(exchange.forward() * 2)


#: Steps that take longer than any client waits.
HANGING = (hang, hang_when_done, drip)


def for_each_step(name: str, steps: Mapping[str, Step]) -> pytest.MarkDecorator:
    """Parametrize a test by steps; those that a client has to wait for are slow."""
    return pytest.mark.parametrize(
        name,
        [
            pytest.param(step, id=id_, marks=[pytest.mark.slow] if step in HANGING else [])
            for id_, step in steps.items()
        ],
    )


def patience_with(step: Step) -> float:
    """Seconds for a client to wait for an answer: few only where none comes."""
    return 1.0 if step in HANGING else PATIENCE


def replying(data: bytes) -> Step:
    def step(exchange: Exchange) -> None:
        exchange.receive()
        exchange.reply(data)

    return step


# -- the proxy -----------------------------------------------------------------------------------


class Proxy:
    """Listens, and does what the script says."""

    def __init__(self, behind: str, tls: ssl.SSLContext | None = None) -> None:
        address = urlsplit(behind)
        assert address.hostname is not None
        assert address.port is not None
        self.behind = (address.hostname, address.port)
        self.script: list[Step] = []
        #: Every request whose step has begun.
        self.seen: list[Exchange] = []
        self.opened = 0
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://localhost:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def wait_until_open(self, count: int) -> bool:
        """Wait until there are this many connections."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._open) == count, PATIENCE)

    def wait_until_seen(self, count: int) -> bool:
        """Wait until this many requests have come."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.seen) >= count, PATIENCE)

    def close_connections(self) -> None:
        """Close those that lie idle, as an endpoint does after a while."""
        with self._changed:
            for client in self._open:
                client.shutdown(socket.SHUT_RDWR)
        assert self.wait_until_open(0)

    def close(self) -> None:
        with suppress(OSError):  # it may be closed already
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            for client in self._open:
                with suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client, self.opened))
            self.opened += 1
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket, number: int) -> None:
        client.settimeout(PATIENCE)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError, Cut):
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            with self._changed:
                self._open.add(client)
                self._changed.notify_all()
            while head := self._head(client):
                exchange = Exchange(self, client, number, head)
                with self._changed:
                    step = self.script.pop(0) if self.script else forward
                    self.seen.append(exchange)
                    self._changed.notify_all()
                step(exchange)
        client.close()
        with self._changed:
            self._open.discard(client)
            self._changed.notify_all()

    def _head(self, client: socket.socket) -> bytes:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            data = client.recv(1)
            if not data:
                return b""
            head += data
        return head


@contextmanager
def proxying(behind: str, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    proxy = Proxy(behind, tls)
    try:
        yield proxy
    finally:
        proxy.close()
