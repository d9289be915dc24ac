"""HTTP clients: `python -m benchmarks.load PORT get|put COUNT …` prints JSON.

They run in a process of their own and use as little CPU time as possible: one `epoll`, non-blocking
sockets, prepared requests, one `recv` and one `send` for each request.

The process never sleeps. When it slept, the server used 50 to 57 µs of CPU time for a request
instead of 33, and the bare server 11 to 12 instead of 9.5, probably because every response had to
wake the process at the expense of the server. The time without work shows how many requests the
clients could have sent, and so that they were not the bottleneck.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import sys
import time
from collections.abc import Iterator

import msgspec

from benchmarks import items
from benchmarks.reads import draw


class Result(msgspec.Struct):
    """The result of a load: `requests` in `seconds`, of which `idle` were without work."""

    requests: int
    seconds: float
    idle: float
    answer: int  # bytes in the body of the last response


#: As botocore sends them.
HEAD = (
    "POST / HTTP/1.1\r\n"
    "Host: 127.0.0.1:{port}\r\n"
    "Accept-Encoding: identity\r\n"
    "X-Amz-Target: DynamoDB_20120810.{operation}\r\n"
    "Content-Type: application/x-amz-json-1.0\r\n"
    "User-Agent: Boto3/1.44.0 md/Botocore#1.44.0 ua/2.1 os/linux lang/python#3.11\r\n"
    "X-Amz-Date: 20261115T080000Z\r\n"
    "Authorization: AWS4-HMAC-SHA256 "
    "Credential=AKIAEXAMPLE/20261115/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={signature}\r\n"
    "Content-Length: {length}\r\n"
    "\r\n"
)


def request(port: int, operation: str, body: bytes) -> bytes:
    head = HEAD.format(port=port, operation=operation, signature="5f" * 32, length=len(body))
    return head.encode() + body


def gets(port: int, count: int) -> Iterator[bytes]:
    """Yield GetItem requests for items of a table of `count` items, without end."""
    requests = [
        request(port, "GetItem", msgspec.json.encode(items.get_request(n)))
        for n in draw(2000, count)
    ]
    while True:
        yield from requests


def puts(port: int, count: int, first: int, most: int) -> Iterator[bytes]:
    """Yield PutItem requests for new items, from number `first` on."""
    requests = [
        request(port, "PutItem", msgspec.json.encode(items.put_request(n, count)))
        for n in range(first, first + most)
    ]
    return iter(requests)


def load(
    port: int, requests: Iterator[bytes], *, connections: int, seconds: float, most: int
) -> Result:
    """Send the next request of each connection when its last response has arrived.

    Stop after `seconds` or `most` responses. Raises if a response is not a complete 200.
    """
    poll = select.epoll()
    sockets: dict[int, socket.socket] = {}
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        sockets[connection.fileno()] = connection
        poll.register(connection, select.EPOLLIN)
    waiting: dict[int, bytes] = {}
    answered = length = 0
    idle = 0.0
    clock = time.perf_counter
    now = started = clock()
    for connection in sockets.values():
        connection.send(next(requests))
    while answered < most and now < started + seconds:
        ready = poll.poll(0)
        if not ready:
            before, now = now, clock()
            idle += now - before
            continue
        for number, _ in ready:
            connection = sockets[number]
            data = waiting.pop(number, b"") + connection.recv(65536)
            head = data.find(b"\r\n\r\n") + 4
            if not data.startswith(b"HTTP/1.1 200") or head < 4:
                raise RuntimeError(
                    f"expected one complete response with status 200, got {data[:1000]!r}"
                )
            at = data.index(b"Content-Length: ") + 16
            length = int(data[at : data.index(b"\r", at)])
            if len(data) < head + length:
                waiting[number] = data
                continue
            answered += 1
            if answered == most:
                break
            connection.send(next(requests))
        now = clock()
    took = clock() - started
    for connection in sockets.values():
        connection.close()
    return Result(answered, took, idle, length)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("operation", choices=("get", "put"))
    parser.add_argument("count", type=int, help="the number of items in the table")
    parser.add_argument("--first", type=int, default=0, help="the number of the first new item")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--most", type=int, default=200_000, help="the maximum number of responses")
    given = parser.parse_args()
    if given.operation == "get":
        requests = gets(given.port, given.count)
    else:
        requests = puts(given.port, given.count, given.first, given.most + given.connections)
    result = load(
        given.port,
        requests,
        connections=given.connections,
        seconds=given.seconds,
        most=given.most,
    )
    json.dump(msgspec.to_builtins(result), sys.stdout)


if __name__ == "__main__":
    main()
