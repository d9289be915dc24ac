"""Promise: operations on one item are linearizable, and transactions are strictly serializable,
among threads, processes and HTTP clients of one file.

Method: for a short time, threads with a shared engine, processes with engines of their own and HTTP
clients of a server, with or without workers, run random operations on few items of the same file:
gets, puts, deletes and conditional updates of registers; transactions that read several lists or
append to several. Every operation is recorded with its interval. `checking` then searches an order
for each register, and a cycle among the transactions. In some rounds the server is killed in the
middle, and the outcomes of its open requests are unknown.

Limits: a round lasts a second or less, to keep the search small. Queries and scans are not part.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from tablewright.engine import Engine
from tablewright.errors import ConditionalCheckFailedException, TransactionCanceledException
from tests.durability.opener import table
from tests.server.http import Client
from torture.checking import linearizable, serializable
from torture.historian import LISTS, NAME, Call, Historian, Records, Unknown, key, numbers
from torture.processes import ROOT, Served, served
from torture.run import Part, Round

THREADS = 2
PROCESSES = 2
HTTP_CLIENTS = 2
SECONDS = 0.6
#: New interpreters need about this long before they can begin.
START_SECONDS = 0.8


def play(attack: Round) -> None:
    """Record the histories of all clients, and check them."""
    file = attack.folder / "history.db"
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(file, durability="normal"))
        engine.call("CreateTable", table(NAME))
        workers = str(attack.chance.choice((1, 2)))
        server = stack.enter_context(served(file, "--durability", "normal", "--workers", workers))
        records = record(attack, file, engine, server)
        kept = {
            name: numbers(
                engine.call(
                    "GetItem", {"TableName": NAME, "Key": key(name), "ConsistentRead": True}
                ).get("Item")
            )
            for name in LISTS
        }
        attack.require(engine.check(), "check() finds problems")
    judge(attack, records, kept)


def record(attack: Round, file: Path, engine: Engine, server: Served) -> list[Records]:
    """Run all clients at the same time, and return their records."""
    start = time.monotonic() + START_SECONDS
    until = start + SECONDS
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "torture.historian"),
                *(str(file), str(number), str(attack.seed), str(until)),
            ],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        for number in range(PROCESSES)
    ]
    clients = [Historian(engine.call, 100 + number, attack.seed) for number in range(THREADS)]
    errors: list[str] = []
    with ExitStack() as stack:
        connections = [stack.enter_context(Client(server.url)) for _ in range(HTTP_CLIENTS)]
        clients += [
            Historian(over_http(connection), 200 + number, attack.seed)
            for number, connection in enumerate(connections)
        ]
        threads = [
            threading.Thread(target=begin, args=(client, start, until, errors), daemon=True)
            for client in clients
        ]
        for thread in threads:
            thread.start()
        if attack.chance.random() < 0.3:
            time.sleep(max(0.0, start + SECONDS / 2 - time.monotonic()))
            server.process.kill()
            attack.count("killed servers")
        for thread in threads:
            thread.join(60)
            attack.require(not thread.is_alive(), "a client waits for ever")
    records = [client.records for client in clients]
    for process in processes:
        output, _ = process.communicate(timeout=60)
        attack.require(process.returncode == 0, "a process failed")
        records.append(msgspec.json.decode(output, type=Records))
    attack.require(not errors, f"a client got {errors[:1]}")
    return records


def begin(client: Historian, start: float, until: float, errors: list[str]) -> None:
    time.sleep(max(0.0, start - time.monotonic()))
    try:
        client.run(until)
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")


def over_http(client: Client) -> Call:
    """Return a function that calls operations over HTTP and raises the errors of an engine."""
    faults: dict[str, Callable[[], Exception]] = {
        "ConditionalCheckFailedException": ConditionalCheckFailedException,
        "TransactionCanceledException": lambda: TransactionCanceledException([]),
    }

    def call(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = client.call(operation, request)
        except (OSError, EOFError) as error:
            raise Unknown from error
        if answer.status == 200:
            found: dict[str, Any] = answer.json
            return found
        if answer.type in faults:
            raise faults[answer.type]()
        raise RuntimeError(f"{operation} got the response {answer.status} {answer.body!r}")

    return call


def judge(attack: Round, records: list[Records], kept: dict[str, list[int]]) -> None:
    for name in records[0].registers:
        history = [access for each in records for access in each.registers[name]]
        attack.count("accesses", len(history))
        attack.require(linearizable(history), f"the accesses of {name} are not linearizable")
    transactions = [transaction for each in records for transaction in each.transactions]
    attack.count("transactions", len(transactions))
    problem = serializable(transactions, kept)
    attack.require(not problem, f"not strictly serializable: {problem}")


PART = Part(
    "histories",
    "Items are linearizable, transactions strictly serializable",
    "histories of threads, processes and HTTP clients, checked",
    50,
    play,
)
