"""The limit of the server: asyncio and httptools, which parse requests and send a fixed response.

`python -m benchmarks.bare_http LENGTH` listens on a free loopback port and prints it. It responds
to every request with the same bytes: the headers of `tablewright serve`, and a body of that length.
It stores the headers and the body of each request, as every server must, but does not read them.
"""

from __future__ import annotations

import asyncio
import sys
from zlib import crc32

import httptools


class Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, answer: bytes) -> None:
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


def answer(length: int) -> bytes:
    body = b"x" * length
    head = (
        b"HTTP/1.1 200 OK\r\n"
        b"Server: Server\r\n"
        b"Date: Sun, 15 Nov 2026 08:00:00 GMT\r\n"
        b"Content-Type: application/x-amz-json-1.0\r\n"
        b"Content-Length: %d\r\n"
        b"Connection: keep-alive\r\n"
        b"x-amzn-RequestId: %b\r\n"
        b"x-amz-crc32: %d\r\n"
        b"\r\n"
    )
    return head % (length, b"R" * 52, crc32(body)) + body


async def serve(length: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(answer(length)), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
