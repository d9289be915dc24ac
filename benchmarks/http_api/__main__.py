"""Compare an HTTP API of access patterns with routes written by hand with boto3.

    python -m benchmarks.http_api

Both services run with one worker of uvicorn and ask the same `tablewright serve`. They are measured
in alternating short rounds, with 8 connections, and the best round of each counts: any other
process makes both slower. A third service reads the file itself, without an endpoint. PostgREST is
left out: Debian has no package of it.
"""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from benchmarks.http_api.orders import Order, Orders
from tablewright import connect, create, transact

CUSTOMERS, ORDERS = 50, 40
CONNECTIONS, ROUNDS, SECONDS = 8, 5, 1.0
ONE, PAGE = "one entity", "a page of 20"


class Round(Struct, frozen=True):
    """Requests in a second, and the 50th and the 99th percentile of their times in ms."""

    rate: float
    median: float
    slowest: float


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = str(Path(folder, "orders.db"))
        fill(path)
        endpoint = stack.enter_context(served("tablewright", "serve", path, "--port", "0"))
        services = {
            "access patterns": ("--factory", "benchmarks.http_api.orders:app", endpoint),
            "by hand, boto3": ("--lifespan=on", "benchmarks.http_api.by_hand:app", endpoint),
            "access patterns, own file": (
                "--factory",
                "benchmarks.http_api.orders:app",
                path + "2",
            ),
        }
        fill(path + "2")
        urls = {
            name: stack.enter_context(uvicorn(option, app, target))
            for name, (option, app, target) in services.items()
        }
        found: dict[tuple[str, str], list[Round]] = {}
        for at in range(ROUNDS):
            for name, port in urls.items():
                for what in (ONE, PAGE):
                    result = load(port, what)
                    if at:  # the first round warms up
                        found.setdefault((name, what), []).append(result)
    for what in (ONE, PAGE):
        best = {name: max(found[name, what], key=lambda each: each.rate) for name in urls}
        hand = best["by hand, boto3"].rate
        print(f"\n{what}\n| service | requests/s | median ms | p99 ms | ratio |")
        print("|---|---|---|---|---|")
        for name, each in best.items():
            print(
                f"| {name} | {each.rate:,.0f} | {each.median:.1f} | {each.slowest:.1f} "
                f"| {each.rate / hand:.1f} |"
            )
    print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def fill(path: str) -> None:
    """Write the orders of all customers into a file."""
    with connect(path, Orders, create=True) as database:
        for customer in range(CUSTOMERS):
            orders = [
                Order(
                    customer_id=f"C{customer}",
                    order_id=f"{number:04}",
                    status="PAID",
                    total="19.90",  # type: ignore[arg-type]  # pydantic makes it a Decimal
                    city="Lisbon",
                    street="Rua Augusta 1",
                )
                for number in range(ORDERS)
            ]
            database.run(transact(*(create(each) for each in orders)))


@contextmanager
def served(*command: str) -> Iterator[str]:
    """Run a server that prints its URL; return the URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


@contextmanager
def uvicorn(option: str, app: str, target: str) -> Iterator[int]:
    """Run a service; return its port when it responds."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "uvicorn",
            option,
            app,
            "--port",
            str(port),
            "--log-level",
            "warning",
        ],
        env=os.environ | {"ORDERS_TARGET": target},
    )
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def load(port: int, what: str) -> Round:
    """Send requests over `CONNECTIONS` connections, each the next one after its response."""
    chosen = selectors.DefaultSelector()
    times: list[float] = []
    sent: dict[socket.socket, float] = {}
    number = 0

    def send(connection: socket.socket) -> None:
        nonlocal number
        number += 1
        path = f"/customers/C{number % CUSTOMERS}/orders"
        path += f"/{number % ORDERS:04}" if what == ONE else "?limit=20"
        sent[connection] = time.perf_counter()
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
    for each in connections:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        chosen.register(each, selectors.EVENT_READ)
        send(each)
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        for key, _ in chosen.select(timeout=1):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            read_response(connection)
            times.append(time.perf_counter() - sent[connection])
            send(connection)
    seconds = time.perf_counter() - start
    for each in connections:
        each.close()
    times.sort()
    return Round(
        rate=len(times) / seconds,
        median=times[len(times) // 2] * 1000,
        slowest=times[int(len(times) * 0.99)] * 1000,
    )


def read_response(connection: socket.socket) -> None:
    """Read a whole response; raise ValueError unless it is 200."""
    text = connection.recv(65_536)
    while b"\r\n\r\n" not in text:
        text += connection.recv(65_536)
    head, _, body = text.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ValueError(text.decode())
    at = head.lower().index(b"content-length:") + len(b"content-length:")
    length = int(head[at:].partition(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65_536)


if __name__ == "__main__":
    main()
