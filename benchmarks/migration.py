"""Migrations: how many items a second get the keys of a new index, beside the same updates alone.

The figure is `migrations.apply` in a process of its own: it checks, rewrites and verifies all
items, with a durable commit for every transaction. Its limit is the same updates, prepared before,
as plain transactions of 99: nothing is read, computed or verified.

    python -m benchmarks migration
    python -m benchmarks.migration TARGET      apply to a target; print the seconds and the memory
    python -m benchmarks.migration --million   the figures with 1,000,000 items
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.http import server
from benchmarks.measure import Context, Figure, judged
from tablewright import GSI, Attr, Entity, Table, attr, connect, index, key, migrations
from tablewright.engine import Engine
from tablewright.transport.targets import open_target
from tablewright.values import Item

NAME = "bench_orders"
#: How many items a second are wanted, of a machine without other load.
FILE_GOAL, HTTP_GOAL = 5000, 3000


class Before(Table, name=NAME): ...


class Order(Entity, table=Before):
    order_id: Attr[str] = attr()
    customer_id: Attr[str] = attr()
    status: Attr[str] = attr()
    total: Attr[int] = attr()
    note: Attr[str] = attr()

    primary = key("ORDER" / order_id, "ORDER")


class After(Table, name=NAME):
    by_customer = GSI("GSI1PK", "GSI1SK")


class IndexedOrder(Entity, table=After, type_name="Order"):
    order_id: Attr[str] = attr()
    customer_id: Attr[str] = attr()
    status: Attr[str] = attr()
    total: Attr[int] = attr()
    note: Attr[str] = attr()

    primary = key("ORDER" / order_id, "ORDER")
    by_customer = index(After.by_customer, "CUST" / customer_id, "ORDER" / order_id)


class Applied(msgspec.Struct):
    """What `apply` took in its process."""

    seconds: float
    peak_mb: int


def migration(context: Context) -> list[Figure]:
    """Measure a migration that adds an index."""
    count = context.size(100_000, 1000)
    ready = context.folder / "orders.db"
    build(ready, count, context)
    return [*_in_a_file(context, ready, count), *_over_http(context, ready, count)]


def build(path: Path, count: int, context: Context) -> None:
    """Create a file with orders of about 200 bytes, without the index."""
    with Engine(path, durability="normal") as engine:
        connect(engine, Before)
        for start in context.track(f"make {count:,} orders", range(0, count, 25)):
            puts = [
                {"PutRequest": {"Item": order(n)}} for n in range(start, min(start + 25, count))
            ]
            engine.call("BatchWriteItem", {"RequestItems": {NAME: puts}})
        migrations.baseline(engine, Before)


def order(n: int) -> Item:
    return {
        "PK": {"S": f"ORDER#{n:08}"},
        "SK": {"S": "ORDER"},
        "type": {"S": "Order"},
        "order_id": {"S": f"{n:08}"},
        "customer_id": {"S": f"{n % 9973:06}"},
        "status": {"S": "paid"},
        "total": {"N": str(n % 700)},
        "note": {"S": "x" * 100},
    }


def _in_a_file(context: Context, ready: Path, count: int) -> list[Figure]:
    file, bare = _copies(ready, "file")
    with Engine(bare) as engine:
        limit = update_all(lambda operation, body: engine.call(operation, body), count, context)
    return _figures("a synced file", apply_in_a_process(str(file)), limit, count, FILE_GOAL)


def _over_http(context: Context, ready: Path, count: int) -> list[Figure]:
    file, bare = _copies(ready, "http")
    with server("tablewright", "serve", str(bare), "--port", "0") as endpoint:
        transport = open_target(f"http://127.0.0.1:{endpoint.port}")
        limit = update_all(transport.send, count, context)
        transport.close()
    with server("tablewright", "serve", str(file), "--port", "0") as endpoint:
        applied = apply_in_a_process(f"http://127.0.0.1:{endpoint.port}")
    return _figures("HTTP", applied, limit, count, HTTP_GOAL)


def _copies(ready: Path, name: str) -> list[Path]:
    copies = [ready.with_name(f"{name}-{each}.db") for each in ("ours", "bare")]
    for each in copies:
        each.write_bytes(ready.read_bytes())
    return copies


def _figures(where: str, applied: Applied, limit: float, count: int, goal: int) -> list[Figure]:
    rate = count / applied.seconds
    load = Path("/proc/loadavg").read_text().split()[0]
    return [
        judged(
            f"migration in {where}" if where != "HTTP" else "migration over HTTP",
            "items/s",
            rate,
            limit=count / limit,
            limit_is="the same updates alone",
            at_least=0.25,
            note=f"wanted without other load: {goal:,}; load {load}",
        ),
        Figure(name=f"  its memory, {where}", unit="MB", value=applied.peak_mb),
    ]


def update_all(send: Any, count: int, context: Context) -> float:
    """Return the seconds of the updates alone: all orders get the keys of the index."""
    attributes = [{"AttributeName": name, "AttributeType": "S"} for name in ("GSI1PK", "GSI1SK")]
    keys = [
        {"AttributeName": "GSI1PK", "KeyType": "HASH"},
        {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
    ]
    made = {"IndexName": "by_customer", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    change = {"AttributeDefinitions": attributes, "GlobalSecondaryIndexUpdates": [{"Create": made}]}
    send("UpdateTable", {"TableName": NAME} | change)
    took = 0.0
    for start in context.track("the updates alone", range(0, count, 99)):
        request = {"TransactItems": list(_updates(range(start, min(start + 99, count))))}
        began = time.perf_counter()
        send("TransactWriteItems", request)
        took += time.perf_counter() - began
    return took


def _updates(numbers: range) -> Iterator[dict[str, Any]]:
    for n in numbers:
        values = {":p": {"S": f"CUST#{n % 9973:06}"}, ":s": {"S": f"ORDER#{n:08}"}}
        body = {
            "TableName": NAME,
            "Key": {"PK": {"S": f"ORDER#{n:08}"}, "SK": {"S": "ORDER"}},
            "UpdateExpression": "SET GSI1PK = :p, GSI1SK = :s",
            "ExpressionAttributeValues": values,
        }
        yield {"Update": body}


def apply_in_a_process(target: str) -> Applied:
    """Apply the migration in a new process."""
    command = [sys.executable, "-m", "benchmarks.migration", target]
    done = subprocess.run(command, capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=Applied)


class _Million(Context):
    """A run with 1,000,000 items."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def size(self, full: int, quick: int) -> int:
        return 10 * full

    def track(self, what: str, steps: range) -> range:
        print(what, file=sys.stderr)
        return steps


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.migration")
    parser.add_argument("target", nargs="?", help="apply the migration to this target")
    parser.add_argument("--million", action="store_true", help="measure with 1,000,000 items")
    given = parser.parse_args()
    if given.target:
        began = time.perf_counter()
        migrations.apply(given.target, After)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(msgspec.json.encode(Applied(time.perf_counter() - began, peak)).decode())
    elif given.million:
        with tempfile.TemporaryDirectory(prefix="tablewright-bench-") as folder:
            for figure in migration(_Million(Path(folder))):
                print(msgspec.json.encode(figure).decode())
    else:
        parser.error("give a target, or --million")


if __name__ == "__main__":
    main()
