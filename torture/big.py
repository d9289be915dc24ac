"""Promise: a file of ten million items works like a small one: writes, gets, queries, an index
build while others read and write, a check of the whole file, and the deletion of the table.

Method: items are written by BatchWriteItem with durability "normal", several batches in a commit.
Then: random gets and queries, compared with what was written; the build of an index while a
second process reads and writes; `tablewright check-file`; DeleteTable. Each stage reports its
seconds, the memory of the process and the size of the file. `--seconds` shortens the stages that
repeat; TORTURE_ITEMS=N writes fewer items.

Limits: run on demand only. Ten million items of about 250 bytes need about 8 GB of disk, and an
hour on a small machine.
"""

from __future__ import annotations

import os
import random
import resource
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

from tablewright.engine import Engine, WriteStep
from torture.processes import ROOT, memory
from torture.run import Part, Round
from torture.work import wait_for_indexes

ITEMS = int(os.environ.get("TORTURE_ITEMS", "10000000"))
NAME = "big"
BATCH = 25
BATCHES = 40  # in one commit
PARTITION = 50
SAMPLE_SECONDS = 20.0

TABLE: dict[str, Any] = {
    "TableName": NAME,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
}
INDEX = {
    "TableName": NAME,
    "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "N"}],
    "GlobalSecondaryIndexUpdates": [
        {
            "Create": {
                "IndexName": "by_group",
                "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        }
    ],
}

console = Console()


def key(number: int) -> dict[str, Any]:
    return {"pk": {"S": f"customer {number // PARTITION}"}, "sk": {"N": str(number)}}


def item(number: int) -> dict[str, Any]:
    return {**key(number), "group": {"N": str(number // 100)}, "text": {"S": "x" * 150}}


def get(engine: Engine, number: int) -> dict[str, Any] | None:
    request = {"TableName": NAME, "Key": key(number), "ConsistentRead": True}
    return engine.call("GetItem", request).get("Item")


@contextmanager
def stage(attack: Round, file: Path, name: str) -> Iterator[None]:
    """Report the time of a stage, the memory and the size of the file."""
    started = time.monotonic()
    console.print(f"  {name} ...", end=" ", highlight=False)
    yield
    seconds = time.monotonic() - started
    size = sum(each.stat().st_size for each in file.parent.glob("big.db*")) // (1 << 20)
    attack.highest(f"s to {name}", seconds)
    attack.highest("MB of memory at most", memory("self", "VmHWM"))
    attack.highest("MB of files at most", size)
    console.print(
        f"{seconds:.1f} s, {memory('self')} MB of memory, {size:,} MB of files", highlight=False
    )


def play(attack: Round) -> None:
    """Write all items, then run all stages."""
    file = attack.folder / "big.db"
    sample = min(SAMPLE_SECONDS, attack.seconds / 20)
    with Engine(file, durability="normal") as engine:
        engine.call("CreateTable", TABLE)
        with stage(attack, file, f"write {ITEMS:,} items"):
            write_all(engine)
        with stage(attack, file, "get and query"):
            read_some(attack, engine, sample)
        with stage(attack, file, "put more"):
            put_more(attack, engine, sample)
        with stage(attack, file, "build an index while others read and write"):
            build_index(attack, file, engine)
    with stage(attack, file, "check the file"):
        command = [sys.executable, "-m", "tablewright", "check-file", str(file)]
        checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        attack.require(checked.returncode == 0, f"check-file: {checked.stdout[-300:]}")
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        attack.highest("MB of memory of check-file", children.ru_maxrss // 1024)
    with Engine(file, durability="normal") as engine:
        with stage(attack, file, "delete the table"):
            engine.call("DeleteTable", {"TableName": NAME})
            deadline = time.monotonic() + 600
            while engine.call("ListTables")["TableNames"] and time.monotonic() < deadline:
                time.sleep(0.1)
        attack.require(not engine.call("ListTables")["TableNames"], "the table stays")
        attack.require(engine.check(), "check() finds problems after the deletion")


def write_all(engine: Engine) -> None:
    for start in range(0, ITEMS, BATCH * BATCHES):
        steps: list[WriteStep] = []
        for first in range(start, min(start + BATCH * BATCHES, ITEMS), BATCH):
            writes = [
                {"PutRequest": {"Item": item(number)}}
                for number in range(first, min(first + BATCH, ITEMS))
            ]
            step = engine.prepare("BatchWriteItem", {"RequestItems": {NAME: writes}})
            assert isinstance(step, WriteStep)
            steps.append(step)
        for result in engine.write_all(steps):
            if isinstance(result, BaseException):
                raise result
        if start % (ITEMS // 10 or 1) < BATCH * BATCHES:
            console.print(f"{start / ITEMS:.0%}", end=" ", highlight=False)


def read_some(attack: Round, engine: Engine, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        number = attack.chance.randrange(ITEMS)
        attack.require(get(engine, number) == item(number), f"item {number} is not as written")
        request = {
            "TableName": NAME,
            "KeyConditionExpression": "pk = :k",
            "ExpressionAttributeValues": {":k": key(number)["pk"]},
            "Select": "COUNT",
        }
        first = number // PARTITION * PARTITION
        wanted = min(PARTITION, ITEMS - first)
        found = engine.call("Query", request)["Count"]
        attack.require(found == wanted, f"a query finds {found} items, not {wanted}")
        attack.count("reads", 2)


def put_more(attack: Round, engine: Engine, seconds: float) -> None:
    end = time.monotonic() + seconds
    for number in count(ITEMS):
        engine.call("PutItem", {"TableName": NAME, "Item": item(number)})
        attack.count("puts")
        if time.monotonic() > end:
            break


def build_index(attack: Round, file: Path, engine: Engine) -> None:
    """Build an index while another process reads and writes and reports its slowest calls."""
    command = [sys.executable, "-m", "torture.big", str(file), str(attack.seed)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()  # it has begun
        engine.call("UpdateTable", INDEX)
        wait_for_indexes(engine, NAME, seconds=3600)
        report, _ = other.communicate("stop\n")
    attack.require(other.returncode == 0, "the process that reads and writes has failed")
    calls, slowest_read, slowest_write = report.split()
    attack.count("calls during the build", int(calls))
    attack.highest("ms for the slowest read during the build", float(slowest_read) * 1000)
    attack.highest("ms for the slowest write during the build", float(slowest_write) * 1000)


def read_and_write(file: str, seed: int) -> None:
    """Read and write until a line arrives: `python -m torture.big FILE SEED`."""
    chance = random.Random(seed)
    calls, slowest = 0, {"read": 0.0, "write": 0.0}
    with Engine(file, durability="normal") as engine:
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        while not select.select([sys.stdin], [], [], 0)[0]:
            number = chance.randrange(ITEMS)
            started = time.monotonic()
            assert get(engine, number) == item(number)
            middle = time.monotonic()
            engine.call("PutItem", {"TableName": NAME, "Item": item(number)})
            slowest["read"] = max(slowest["read"], middle - started)
            slowest["write"] = max(slowest["write"], time.monotonic() - middle)
            calls += 2
    sys.stdout.write(f"{calls} {slowest['read']} {slowest['write']}\n")


PART = Part(
    "big",
    "Ten million items work like a few",
    f"{ITEMS:,} items: writes, reads, an index build, a check, a deletion",
    3600,
    play,
)

if __name__ == "__main__":
    read_and_write(sys.argv[1], int(sys.argv[2]))
