"""Send every hostile body to an engine in this process, and print the most expensive ones.

    python -m tests.hostile [--size MB] [--seed N] [--most SECONDS] [--only OPERATION]

Prints a line for each body above `--most` seconds of CPU (decoding included), then a summary. Exit
code 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from typing import NamedTuple

import msgspec

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError
from tablewright.wire.values import decode
from tests.hostile.bodies import Body, bodies

TABLE = {
    "TableName": "table",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


class Cost(NamedTuple):
    decoding: float
    handling: float
    answer: int
    outcome: str


def new_engine() -> Engine:
    engine = Engine(":memory:")
    engine.call("CreateTable", TABLE)
    return engine


def cost(engine: Engine, body: Body) -> Cost:
    """What one body costs: seconds of CPU, and bytes of the answer."""
    start = time.process_time()
    try:
        request = decode(body.body)
    except (ValueError, RecursionError):
        return Cost(time.process_time() - start, 0, 0, "not decoded")
    decoded = time.process_time()
    try:
        answer, outcome = engine.run(engine.prepare(body.operation, request)), "accepted"
    except DynamoDBError as fault:
        answer, outcome = msgspec.json.encode(fault.body()), fault.message[:100]
    return Cost(decoded - start, time.process_time() - decoded, len(answer), outcome)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure hostile bodies.")
    parser.add_argument("--size", type=float, default=15.9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=1.0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    engine = new_engine()
    count = slow = 0
    worst = largest = 0.0
    for body in bodies(int(given.size * 1024 * 1024), seed=given.seed, only=given.only):
        found = cost(engine, body)
        count += 1
        seconds = found.decoding + found.handling
        worst, largest = max(worst, seconds), max(largest, found.answer)
        if seconds > given.most:
            slow += 1
            sys.stdout.write(
                f"{seconds:8.2f} s ({found.decoding:.2f} to decode)  {body.name}: "
                f"{found.answer} bytes, {found.outcome}\n"
            )
            sys.stdout.flush()
        if body.operation == "DeleteTable":
            with suppress(DynamoDBError):
                engine.call("CreateTable", TABLE)
    sys.stdout.write(
        f"{count} bodies, {slow} above {given.most} s; the worst {worst:.2f} s, "
        f"the largest answer {largest:.0f} bytes\n"
    )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
