"""Keeps HTTP connections busy: `python -m benchmarks.load PORT get|put COUNT …`, JSON on stdout.

A process of its own, so that it takes nothing from the server it measures, and as lean as Python
allows: one `epoll`, non-blocking sockets, requests made beforehand, one `recv` and one `send` each.

It never sleeps. When it did, the endpoint took 50 to 57 µs of CPU for a request instead of 33, and
the quick bare server 11 to 12 instead of 9.5: most likely because every answer then has to wake the
client, at the server's expense, which a server that leaves it no time to sleep is spared. The time
it found nothing to do tells how many requests it could have made: the figures say so, to show that
it was not what was measured.
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
    """What came of a load: `requests` answered in `seconds`, of which it waited `idle`."""

    requests: int
    seconds: float
    idle: float
    answer: int  # bytes of the last answer's body


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
    """GetItem requests for items of a table of `count`, over and over."""
    requests = [
        request(port, "GetItem", msgspec.json.encode(items.get_request(n)))
        for n in draw(2000, count)
    ]
    while True:
        yield from requests


def puts(port: int, count: int, first: int, most: int) -> Iterator[bytes]:
    """PutItem requests for new items, from number `first` on."""
    requests = [
        request(port, "PutItem", msgspec.json.encode(items.put_request(n, count)))
        for n in range(first, first + most)
    ]
    return iter(requests)


def load(
    port: int, requests: Iterator[bytes], *, connections: int, seconds: float, most: int
) -> Result:
    """Send the next request of each connection as soon as its last one is answered.

    Ends after `seconds` or `most` answers. Raises at an answer that is not 200 and complete.
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
                raise RuntimeError(f"not the answer to expect: {data[:1000]!r}")
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
    parser.add_argument("count", type=int, help="items in the table")
    parser.add_argument("--first", type=int, default=0, help="the first new item")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--most", type=int, default=200_000, help="answers at most")
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
