"""Where the CPU time of a request goes: `python -m benchmarks.path` prints a table.

The stages of GetItem, Query and PutItem are timed one by one in this process, with the functions
that the server calls. 16 clients send requests at the same time, and so 16 requests share a
snapshot or a commit; a stage contains a sixteenth of it.

Three stages are differences: the event loop and the kernel take what the bare server
(`benchmarks.bare_http`) takes without its parser; the engine takes what it takes without SQLite,
the checksums of rows and the response's JSON; the connection, which includes the exchange with the
thread that commits, takes what the server takes without all other stages.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar

import httptools
import msgspec
from msgspec import Struct

from benchmarks.bare_http import Connection
from benchmarks.http import request_bytes, server
from benchmarks.load import under_load
from benchmarks.measure import undisturbed
from benchmarks.peers import workload
from tablewright.encoding.items import dump, item_size
from tablewright.encoding.keys import encode_component, end_of_prefix, partition
from tablewright.engine import Engine, ReadStep
from tablewright.engine.operations import find_operation
from tablewright.server.access.authentication import OpenAuthenticator
from tablewright.server.limits import Limits
from tablewright.server.preparation import parse_json
from tablewright.server.request_parser import RequestParser
from tablewright.server.responses import AMZ_JSON, ResponseBuilder
from tablewright.storage.file import connect
from tablewright.storage.tree import row_checksum
from tablewright.wire.read import read

T = TypeVar("T")
#: SQL and its values.
Statement: TypeAlias = tuple[str, tuple[Any, ...]]

CLIENTS = 16
#: The operations of the workload, and their names in the table.
SHOWN = {"get": "GetItem", "query of 20": "Query of 20", "put 1 KB": "PutItem"}
#: The requests that are timed together; the best of the rounds counts. No put is repeated.
CALLS, ROUNDS = 160, 12


class Column(Struct):
    """One operation: the microseconds of its stages, and of servers that do less."""

    operation: str
    stages: dict[str, float]
    limits: dict[str, float]


class Bench:
    """A file with items, and a copy of it for SQLite alone."""

    def __init__(self, folder: Path, count: int, seconds: float, loads: int) -> None:
        self.count = count
        self.seconds = seconds
        self.loads = loads
        self.path = folder / "path.db"
        self.engine = Engine(self.path)
        self.engine.call("CreateTable", workload.CREATE)
        for first in range(0, count, 25):
            puts = [{"PutRequest": {"Item": workload.item(first + n)}} for n in range(25)]
            self.engine.call("BatchWriteItem", {"RequestItems": {workload.TABLE: puts}})
        self.table = self.engine._writer_catalog.tables[workload.TABLE]
        copy = folder / "copy.db"
        self.engine.back_up(copy)
        self.sqlite = connect(str(copy), "full", 1.0, create=False)

    def column(self, name: str) -> Column:
        """Measure one operation."""
        make = workload.OPERATIONS[name]
        prepared = make(self.count, 0)
        operation, requests = prepared[0][0], [request for _, request in prepared]
        shape, check = find_operation(operation)
        typed = [read(shape, request) for request in requests]
        steps: list[Any] = [check(request) for request in typed]
        run: Callable[[list[Any]], Any] = (
            self.engine.read_all if isinstance(steps[0], ReadStep) else self.engine.write_all
        )
        statements = list(self._statements(operation, requests))
        data = [request_bytes(1, operation, request) for request in requests]
        bodies = [msgspec.json.encode(request) for request in requests]
        headers = _headers(data[0])
        authenticate = OpenAuthenticator().authenticate
        build = ResponseBuilder().build
        bare_parser = Connection(b"")
        bare_parser.connection_made(_Nowhere())
        parser = RequestParser(Limits(), lambda *_: None)

        sqlite = _micros(self._run_statements, _groups(statements), CLIENTS)
        checksums = _micros(_sum_up, [self._rows(each) for each in statements[:CALLS]])
        engine = _micros(run, _groups(steps), CLIENTS)
        answers = run(steps[:CALLS])
        encoded = _micros(msgspec.json.encode, [msgspec.Raw(answer) for answer in answers])
        bare = self._served(name, "benchmarks.bare_http", str(len(answers[0])))
        stages = {
            "event loop and kernel": bare - _micros(bare_parser.data_received, data),
            "HTTP: parse the request, build the response": _micros(parser.feed, data)
            + _micros(lambda answer: build(200, AMZ_JSON, True, answer), answers),
            "JSON: decode the request, encode the response": _micros(parse_json, bodies) + encoded,
            "authenticate": _micros(
                lambda body: authenticate(b"POST", b"/", headers, body), bodies
            ),
            "check the request": _micros(lambda request: read(shape, request), requests)
            + _micros(check, typed),
            "SQLite": sqlite,
            "checksums of rows": checksums,
            "engine: keys, rows, capacity": engine - sqlite - checksums - encoded,
        }
        served = self._served(name, "tablewright", "serve", str(self.path), "--port", "0")
        stages["connection and threads"] = served - sum(stages.values())
        limits = {"bare server": bare}
        if operation == "GetItem":
            limits["bare server with SQLite"] = self._served(
                name, "benchmarks.bare_http", str(self.path), self.table.tree.name
            )
        return Column(SHOWN[name], stages, limits)

    def _statements(self, operation: str, requests: Sequence[Any]) -> Iterator[list[Statement]]:
        """Yield the SQL statements of each request, with their values."""
        table, tree = self.table, self.table.tree
        for request in requests:
            if operation == "GetItem":
                yield [(tree.get_sql, (table.keys.check_key(request["Key"]),))]
            elif operation == "Query":
                value = request["ExpressionAttributeValues"][":p"]["S"]
                first = partition(encode_component("S", value))
                yield [(tree.range_sql[True, False], (first, end_of_prefix(first)))]
            else:
                item = request["Item"]
                size, body = item_size(item), dump(item)
                key = table.check_item(item, size)
                row_key = table.indexes[0].encode_row_key(item, key)
                held, checksum = table.indexes[0].tree, row_checksum(body, size)
                yield [
                    (tree.get_sql, (key,)),
                    (tree.put_sql, (key, size, body, checksum + tree.tag)),
                    (held.put_sql, (row_key, size, body, checksum + held.tag)),
                ]

    def _run_statements(self, group: Sequence[list[Statement]]) -> None:
        """Run the statements of several requests in one transaction."""
        execute = self.sqlite.execute
        execute("BEGIN IMMEDIATE" if len(group[0]) > 1 else "BEGIN")
        for statements in group:
            for sql, values in statements:
                for _ in execute(sql, values):
                    pass
        execute("COMMIT")

    def _rows(self, statements: list[Statement]) -> list[tuple[int, bytes]]:
        """Return size and body of each row that the statements read or write."""
        written = [values[1:3] for _, values in statements if len(values) == 4]
        return written or [row[-3:-1] for row in self.sqlite.execute(*statements[0])]

    def _served(self, name: str, *command: str) -> float:
        """Return the CPU time of a server for one request, in the best of several loads."""
        found = []
        with server(*command) as process:
            for turn in range(1, self.loads + 1):
                prepared = workload.OPERATIONS[name](self.count, turn)
                data = [request_bytes(process.port, *each) for each in prepared]
                served = under_load(
                    process,
                    data,
                    connections=CLIENTS,
                    seconds=self.seconds,
                    repeat=command[0] == "benchmarks.bare_http" or "put" not in name,
                )
                if served.load.refused:
                    raise RuntimeError(served.load.problem)
                found.append(served.micros)
        return min(found)


class _Nowhere(asyncio.Transport):
    """A transport that discards what is written."""

    def write(self, data: object) -> None:
        pass


def _headers(data: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    handler = SimpleNamespace(on_header=lambda name, value: found.update({name.lower(): value}))
    httptools.HttpRequestParser(handler).feed_data(data)
    return found


def _groups(entries: list[T]) -> list[list[T]]:
    """Divide into groups, one entry for each client."""
    return [entries[at : at + CLIENTS] for at in range(0, len(entries) - CLIENTS + 1, CLIENTS)]


def _sum_up(rows: list[tuple[int, bytes]]) -> None:
    for size, body in rows:
        row_checksum(body, size)


def _micros(function: Callable[[T], object], arguments: Sequence[T], share: int = 1) -> float:
    """Return the CPU time of the best round: of a call, divided by the requests that share it."""
    calls = CALLS // share
    best = float("inf")
    with undisturbed():
        for turn in range(ROUNDS):
            first = turn * calls % (len(arguments) - calls + 1)
            part = arguments[first : first + calls]
            started = time.process_time()
            for argument in part:
                function(argument)
            best = min(best, (time.process_time() - started) / len(part))
    return best / share * 1e6


def markdown(columns: Sequence[Column]) -> str:
    """Return the table, in microseconds."""
    lines = [
        "| | " + " | ".join(column.operation for column in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    stages, limits = columns[0].stages, columns[0].limits
    lines += [_row(stage, [column.stages[stage] for column in columns]) for stage in stages]
    lines.append(_row("**server**", [sum(column.stages.values()) for column in columns]))
    lines += [_row(limit, [column.limits.get(limit) for column in columns]) for limit in limits]
    return "\n".join(lines)


def _row(name: str, values: Sequence[float | None]) -> str:
    cells = ("" if value is None else f"{value:.1f} µs" for value in values)
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.path", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmark")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tablewright-path-") as folder:
        bench = Bench(Path(folder), *((400, 0.02, 1) if given.quick else (20_000, 0.4, 8)))
        columns = [bench.column(name) for name in SHOWN]
        bench.engine.close()
    print(markdown(columns))


if __name__ == "__main__":
    main()
