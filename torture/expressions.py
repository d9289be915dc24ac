"""Promise: whatever the expressions of a request are, it costs at most a second of CPU time and
150 MB beyond decoding it, and another connection reads and writes meanwhile.

Method: a real `tablewright serve` holds items of 400 KB with as many values as fit, and a page of
tiny items. Valid requests of a few kilobytes repeat every comparator, function and action on them
(`tests/hostile/expressions.py`), in random order. Another client gets and puts an item all the
time. The CPU time and the memory of the server are read before and after each request.

Limits: the CPU time includes decoding the request and the work for the other client. Bodies are
sent over loopback by a process that shares the cores with the server.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import msgspec

from tests.hostile.expressions import TINY, requests, stored, tables, tiny
from tests.server.http import Client, message
from torture.processes import Served, served
from torture.run import Part, Round

#: Promised is one second beyond decoding; the rest is decoding and the other client.
MAX_CPU_SECONDS = 2.0
#: On an idle machine, an answer to the other client takes less than a tenth of this.
MAX_WAIT_SECONDS = 10.0
#: Beyond the body, its decoded form (up to ten times its size) and the page cache of the file.
MAX_MEMORY_MB = 400
#: Copies of the largest item, for transactions and batches.
COPIES = 15


class Other(threading.Thread):
    """A client that gets and puts an item until it is stopped; `slowest` is its longest wait."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._is_over = threading.Event()
        self.slowest = 0.0
        self.failure = ""

    def run(self) -> None:
        key = {"pk": {"S": "other"}}
        with Client(self._url) as client:
            while not self._is_over.is_set():
                for operation, member in (("PutItem", "Item"), ("GetItem", "Key")):
                    started = time.monotonic()
                    status = client.call(operation, {"TableName": TINY, member: key}).status
                    self.slowest = max(self.slowest, time.monotonic() - started)
                    if status != 200:
                        self.failure = f"{operation} of another client gets {status}"
                time.sleep(0.01)

    def stop(self) -> None:
        self._is_over.set()
        self.join()


def cpu_seconds(server: Served) -> float:
    """Return the CPU time that the server has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def play(attack: Round) -> None:
    """Attack a new server with a sample of the requests."""
    size = attack.size(400 * 1024, 50 * 1024)
    with served(attack.folder / "expressions.db", "--durability", "normal") as server:
        with Client(server.url) as client:
            for definition in tables():
                attack.require(client.call("CreateTable", definition).status == 200, "no table")
            for name, item in (*stored(size, COPIES), *tiny(attack.size(20_000, 500))):
                client.call("PutItem", {"TableName": name, "Item": item})
        before = server.memory()
        every = list(requests(size, seed=attack.seed, copies=COPIES))
        other = Other(server.url)
        other.start()
        for request in attack.chance.sample(every, attack.size(100, 20)):
            if attack.seconds < 0 and attack.counts["requests"]:
                break
            body = msgspec.json.encode(request.request)
            used = cpu_seconds(server)
            with Client(server.url) as client:
                client.socket.settimeout(60)
                client.send(message(request.operation, raw=body))
                answer = client.answer()
            used = cpu_seconds(server) - used
            name = f"{request.operation}, {request.name}"
            attack.count("requests")
            attack.highest("ms of CPU for one request", used * 1000)
            attack.expect(answer.status in (200, 400), f"{name}: answered {answer.status}")
            attack.expect(used <= MAX_CPU_SECONDS, f"{name}: takes {used:.1f} s of CPU time")
        other.stop()
        peak = server.memory("VmHWM")
        attack.highest("ms that another client waits", other.slowest * 1000)
        attack.highest("MB at most", peak)
        attack.expect(not other.failure, other.failure)
        attack.expect(other.slowest <= MAX_WAIT_SECONDS, f"another waits {other.slowest:.1f} s")
        attack.expect(peak <= before + MAX_MEMORY_MB, f"memory: {before} MB before, {peak} MB then")
        attack.expect("Traceback" not in server.log, "the log contains a traceback")


PART = Part(
    "expressions",
    "One request cannot stop the others, whatever its expressions are",
    "hostile expressions against `tablewright serve` with large items",
    60,
    play,
)
