"""The Python calls of a PutItem over HTTP: `python -m benchmarks.put_calls` prints their number.

A call counts if it enters a function in a file of the package, in any thread of the server. Unlike
a time, the number does not depend on the machine, so a layer that is added to every write is seen.

The table has two global secondary indexes and a stream. Each request replaces an item by one with
other values in attributes that are no keys: so each index row is written again under the same key.
"""

from __future__ import annotations

import argparse
import socket
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median_low
from types import FrameType

import tablewright
from benchmarks import items
from benchmarks.http import request_bytes
from benchmarks.streams import STREAM
from tablewright.engine import Engine
from tablewright.server import serving

PACKAGE = str(Path(tablewright.__file__).parent)
#: The requests that are not counted, and those that are.
WARM_UP, REQUESTS = 50, 200
INDEXES = ("by_product", "by_status")
KEYS = {*items.KEYS, *(name for index in INDEXES for name in items.INDEXES[index])}
CREATE = items.CREATE | {
    "AttributeDefinitions": [
        attribute
        for attribute in items.CREATE["AttributeDefinitions"]
        if attribute["AttributeName"] in KEYS
    ],
    "GlobalSecondaryIndexes": [
        index for index in items.CREATE["GlobalSecondaryIndexes"] if index["IndexName"] in INDEXES
    ],
    "StreamSpecification": STREAM,
}


class Calls(Counter[str]):
    """The calls into the package, by function, of all threads that start from now on."""

    def __enter__(self) -> Calls:
        threading.setprofile(self._add)
        return self

    def __exit__(self, *raised: object) -> None:
        threading.setprofile(None)

    def _add(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            self[f"{code.co_filename.removeprefix(PACKAGE)[1:]}: {code.co_qualname}"] += 1


def put_item_calls() -> int:
    """Return the number of calls of a PutItem to a server that has run for a while."""
    return median_calls().total()


def median_calls() -> Counter[str]:
    """Return the calls of a typical request: periodic work of the server is in few of them."""
    found: list[Counter[str]] = []
    with (
        tempfile.TemporaryDirectory(prefix="tablewright-calls-") as folder,
        Calls() as calls,
        Engine(Path(folder) / "calls.db", durability="normal") as engine,
    ):
        engine.call("CreateTable", CREATE)
        with serving(engine) as url:
            port = int(url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                for turn in range(WARM_UP + REQUESTS):
                    request = request_bytes(port, "PutItem", _put_request(turn))
                    calls.clear()
                    client.sendall(request)
                    response = client.recv(65536)
                    if not response.startswith(b"HTTP/1.1 200 "):
                        raise RuntimeError(f"expected a response with status 200, got {response!r}")
                    found.append(Counter(calls))
    return median_of(found[WARM_UP:])


def median_of(found: Sequence[Counter[str]]) -> Counter[str]:
    """Return the calls of the request with the median number of calls."""
    typical = median_low(each.total() for each in found)
    return next(each for each in found if each.total() == typical)


def _put_request(turn: int) -> dict[str, object]:
    changed = {"amount": {"N": f"{turn}.95"}, "edition": {"S": str(turn)}}
    return {"TableName": items.TABLE, "Item": items.item(7, 1000) | changed}


def print_calls(median_calls: Callable[[], Counter[str]]) -> None:
    """Print the number of calls; with `--list`, also the functions."""
    parser = argparse.ArgumentParser(description=median_calls.__doc__)
    parser.add_argument("--list", action="store_true", help="list the functions, too")
    given = parser.parse_args()
    calls = median_calls()
    if given.list:
        for function, count in calls.most_common():
            print(f"{count:5} {function}")
    print(calls.total())


if __name__ == "__main__":
    print_calls(median_calls)
