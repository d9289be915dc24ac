"""Limits of the server: what asyncio, httptools and SQLite take alone.

`python -m benchmarks.bare_http LENGTH` listens on a free loopback port and prints it. It responds
to every request with the same bytes: the headers of `tablewright serve`, and a body of that length.
It stores the headers and the body of each request, as every server must, but does not read them.

`python -m benchmarks.bare_http FILE TREE` responds to GetItem with the item, from a tree of the
file, and checks nothing: neither the sender nor the operation nor the request, nor what it reads.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from zlib import crc32

import apsw
import httptools
import msgspec

from tablewright.encoding.keys import encode_component, partition
from tablewright.storage.file import CACHE_KIB

HEAD = (
    b"HTTP/1.1 200 OK\r\n"
    b"Server: Server\r\n"
    b"Date: Sun, 15 Nov 2026 08:00:00 GMT\r\n"
    b"Content-Type: application/x-amz-json-1.0\r\n"
    b"Content-Length: %d\r\n"
    b"Connection: keep-alive\r\n"
    b"x-amzn-RequestId: " + b"R" * 52 + b"\r\n"
    b"x-amz-crc32: %d\r\n"
    b"\r\n"
    b"%b"
)


class Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, answer: bytes = b"") -> None:
        self._answer = answer
        self._transport: asyncio.Transport
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()
        self.on_header = self._headers.__setitem__
        self.on_body = self._body.extend
        self.data_received = httptools.HttpRequestParser(self).feed_data  # type: ignore[method-assign]  # straight from the transport to the parser: nothing is leaner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def on_message_complete(self) -> None:
        self._transport.write(self._answer)
        self._headers.clear()
        self._body.clear()


class ItemConnection(Connection):
    """A client that gets items."""

    def __init__(self, connection: apsw.Connection, tree: str) -> None:
        super().__init__()
        self._execute = connection.cursor().execute
        self._sql = f"SELECT body FROM {tree} WHERE key = ?"
        self._decode = msgspec.json.Decoder().decode

    def on_message_complete(self) -> None:
        key = self._decode(self._body)["Key"]
        first, second = encode_component("S", key["PK"]["S"]), encode_component("S", key["SK"]["S"])
        (body,) = next(self._execute(self._sql, (partition(first) + second,)))
        self._transport.write(answer(b'{"Item":%b}' % body))
        self._headers.clear()
        self._body.clear()


def answer(body: bytes) -> bytes:
    return HEAD % (len(body), crc32(body), body)


async def serve(make: Callable[[], Connection]) -> None:
    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main(given: Sequence[str]) -> None:
    if len(given) == 1:
        asyncio.run(serve(lambda: Connection(answer(b"x" * int(given[0])))))
    else:
        path, tree = given
        file = apsw.Connection(path)
        file.pragma("cache_size", -CACHE_KIB)
        asyncio.run(serve(lambda: ItemConnection(file, tree)))


if __name__ == "__main__":
    main(sys.argv[1:])
