"""A program that counts: `python -m tests.durability.counter FILE THREADS TURNS`."""

from __future__ import annotations

import sys
import threading
from typing import Any

from tablewright.engine import Engine
from tablewright.errors import ConditionalCheckFailedException
from tests.durability.orders import NAME

ADDED: dict[str, Any] = {"pk": {"S": "counter"}, "sk": {"S": "added"}}
GUARDED: dict[str, Any] = {"pk": {"S": "counter"}, "sk": {"S": "guarded"}}


def count(engine: Engine, threads: int, turns: int) -> None:
    """Raise both counters `turns` times in each of the threads; they also move in two indexes."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(turns):
                add(engine)
                raise_guarded(engine)
        except BaseException as failure:
            failures.append(failure)
            raise

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    if failures:
        raise failures[0]


def add(engine: Engine) -> None:
    request = {
        "TableName": NAME,
        "Key": ADDED,
        "UpdateExpression": "SET #s = :s ADD #t :one",
        "ExpressionAttributeNames": {"#s": "status", "#t": "total"},
        "ExpressionAttributeValues": {":s": {"S": "counting"}, ":one": {"N": "1"}},
    }
    engine.call("UpdateItem", request)


def raise_guarded(engine: Engine) -> None:
    """Read, and write one more under the condition that it is still what was read."""
    while True:
        found = engine.call("GetItem", {"TableName": NAME, "Key": GUARDED, "ConsistentRead": True})
        old = found["Item"]["total"]["N"]
        request = {
            "TableName": NAME,
            "Key": GUARDED,
            "UpdateExpression": "SET #t = :new",
            "ConditionExpression": "#t = :old",
            "ExpressionAttributeNames": {"#t": "total"},
            "ExpressionAttributeValues": {":old": {"N": old}, ":new": {"N": str(int(old) + 1)}},
        }
        try:
            engine.call("UpdateItem", request)
        except ConditionalCheckFailedException:
            continue
        return


if __name__ == "__main__":
    with Engine(sys.argv[1]) as counting:
        count(counting, int(sys.argv[2]), int(sys.argv[3]))
