"""Promise: under load from 200 connections no request fails, no acknowledged write is lost, memory
stays bounded, and a graceful stop responds to all accepted requests.

Method: 200 keep-alive connections to a `tablewright serve` send gets, puts and updates of items of
their own, one after another, and compare every response with what they wrote.
Then the server gets SIGTERM while they continue: each connection gets whole answers until it is
closed between two of them. The file is opened afterwards: it contains every acknowledged write and
no others. Requests that the server had not read when it stopped are counted.

Limits: the client shares the machine with the server; the rate is not a benchmark.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

from tablewright.engine import Engine
from tests.durability.opener import table
from tests.durability.orders import everything
from tests.server.http import Client, message
from torture.processes import Served, served
from torture.run import Part, Round
from torture.work import problems

NAME = "load"
CONNECTIONS = 200
KEYS = 5  # of each connection
#: The maximum growth of the server's memory after the first tenth of the time.
GROWTH_MB = 150


class Customer:
    """One connection, the items that it wrote, and the request whose outcome it does not know."""

    def __init__(self, number: int, seed: int) -> None:
        self._number = number
        self._chance = random.Random(f"{seed}/{number}")
        self.items: dict[str, int] = {}
        self.open: tuple[str, int] | None = None
        self.done: Counter[str] = Counter()
        self.failure = ""
        self.slowest = 0.0

    async def run(self, host: str, port: int) -> None:
        """Send requests until the server closes the connection."""
        reader, writer = await asyncio.open_connection(host, port)
        try:
            while not self.failure:
                operation, request, name, value = self._next()
                self.open = (name, value)
                started = time.monotonic()
                writer.write(message(operation, request))
                status, body, closing = await _answer(reader)
                self.slowest = max(self.slowest, time.monotonic() - started)
                self.open = None
                self._check(operation, status, body, name, value)
                if closing:
                    return
        except asyncio.IncompleteReadError as error:
            if error.partial:
                self.failure = f"the connection was closed within an answer: {error.partial!r:.80}"
        except ConnectionError:
            pass  # it was closed while a request was sent: no response
        finally:
            writer.close()

    def _next(self) -> tuple[str, dict[str, Any], str, int]:
        """Return an operation, its request, the name of its item and its new value."""
        name = f"{self._number}/{self._chance.randrange(KEYS)}"
        key = {"pk": {"S": name}}
        value = self._chance.randrange(1, 1 << 40)
        kind = self._chance.random()
        if kind < 0.5:
            request = {"TableName": NAME, "Key": key, "ConsistentRead": True}
            return "GetItem", request, name, self.items.get(name, 0)
        if kind < 0.8:
            item = {**key, "v": {"N": str(value)}, "text": {"S": "x" * (value % 1000)}}
            return "PutItem", {"TableName": NAME, "Item": item}, name, value
        request = {
            "TableName": NAME,
            "Key": key,
            "UpdateExpression": "ADD v :n",
            "ExpressionAttributeValues": {":n": {"N": "1"}},
            "ReturnValues": "UPDATED_NEW",
        }
        return "UpdateItem", request, name, self.items.get(name, 0) + 1

    def _check(self, operation: str, status: int, body: bytes, name: str, value: int) -> None:
        if status != 200:
            self.failure = f"{operation} is answered with {status} {body[:100]!r}"
            return
        self.done[operation] += 1
        answer = json.loads(body)
        if operation == "PutItem":
            self.items[name] = value
            return
        found = answer.get("Item" if operation == "GetItem" else "Attributes")
        if (int(found["v"]["N"]) if found else 0) != value:
            self.failure = f"{operation} returns {found}, not {value}"
        elif value:
            self.items[name] = value


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes, bool]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    try:
        body = await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise asyncio.IncompleteReadError(head + error.partial, length) from error
    return int(head.split()[1]), body, b"connection: close" in head


def play(attack: Round) -> None:
    """Put a server under load for the time of the part, stop it, and check the file."""
    file = attack.folder / "load.db"
    customers = [Customer(number, attack.seed) for number in range(attack.size(CONNECTIONS, 50))]
    with served(file) as server:
        with Client(server.url) as client:
            attack.require(client.call("CreateTable", table(NAME)).status == 200, "no table")
        grown = asyncio.run(put_under_load(attack, server, customers, max(attack.seconds, 0.5)))
        code = server.process.wait(30)
        log = server.log
    for customer in customers:
        attack.expect(not customer.failure, customer.failure)
    attack.highest("ms for the slowest answer", 1000 * max(each.slowest for each in customers))
    attack.highest("MB more memory", grown)
    attack.expect(grown <= GROWTH_MB, f"memory grows by more than {GROWTH_MB} MB", f"{grown} MB")
    attack.expect(code == 0, f"the stop ends with {code}")
    attack.expect("Traceback" not in log, "the log contains a traceback", log[-300:].strip())
    judge(attack, file, customers)


async def put_under_load(
    attack: Round, server: Served, customers: list[Customer], seconds: float
) -> int:
    """Run all customers, then stop the server. Return the growth of its memory in MB."""
    address = urlsplit(server.url)
    assert address.hostname
    assert address.port
    tasks = [
        asyncio.create_task(customer.run(address.hostname, address.port)) for customer in customers
    ]
    await asyncio.sleep(seconds / 10)
    before = server.memory()
    await asyncio.sleep(seconds * 0.9)
    grown = server.memory() - before
    answered = sum(sum(customer.done.values()) for customer in customers)
    server.process.send_signal(signal.SIGTERM)
    _, waiting = await asyncio.wait(tasks, timeout=30)
    attack.expect(not waiting, "after the stop, connections stay open", f"{len(waiting)}")
    for task in waiting:
        task.cancel()
    attack.count("requests", answered)
    return grown


def judge(attack: Round, file: Any, customers: list[Customer]) -> None:
    """Check that every acknowledged write is in the file."""
    with Engine(file) as engine:
        found = {item["pk"]["S"]: int(item["v"]["N"]) for item in everything(engine, NAME)}
        wrong = problems(engine)
    attack.expect(not wrong, f"check() finds {wrong}")
    for customer in customers:
        for name, value in customer.items.items():
            done = (name, found.get(name)) == customer.open
            attack.expect(
                done or found.get(name) == value,
                "an acknowledged write is lost",
                f"{name} is {found.get(name)}, not {value}",
            )
            attack.expect(
                not done or found[name] == value, "the stop left a request done and not answered"
            )
        attack.count("unanswered at the stop", int(customer.open is not None))
        attack.count("acknowledged writes", customer.done["PutItem"] + customer.done["UpdateItem"])


PART = Part(
    "load",
    "Under load nothing fails or is lost; a stop is graceful",
    f"{CONNECTIONS} connections, then SIGTERM under load",
    60,
    play,
)
