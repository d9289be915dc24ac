"""boto3 as a load: `python -m benchmarks.peers.sdk URL ITEMS ROUND THREADS SECONDS [LEFT_OUT …]`.

Prints JSON. One process with one client, which its threads share; every operation of the workload,
except those left out, for some seconds. boto3 needs more CPU time for a request than a fast server,
and its threads share one interpreter, so the rates of fast servers are those of boto3.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import msgspec
from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from benchmarks.peers import workload
from benchmarks.peers.servers import CREDENTIALS
from benchmarks.processes import REGION


class Called(msgspec.Struct, frozen=True):
    """The successful calls of one operation in `seconds`, and the CPU time of this process."""

    operation: str
    responses: int
    seconds: float
    cpu: float
    problem: str = ""


def call(
    client: Any, operation: str, requests: workload.Requests, threads: int, seconds: float
) -> Called:
    """Call an operation from some threads for some seconds."""
    following = iter(requests) if operation in workload.ONCE else itertools.cycle(requests)
    methods = {name: getattr(client, xform_name(name)) for name, _ in requests}
    started, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        parts = [pool.submit(_calls, methods, following, started + seconds) for _ in range(threads)]
        found = [part.result() for part in parts]
    return Called(
        operation,
        sum(done for done, _ in found),
        time.perf_counter() - started,
        time.process_time() - cpu,
        next((problem for _, problem in found if problem), ""),
    )


def _calls(
    methods: dict[str, Callable[..., Any]],
    requests: Iterator[tuple[str, dict[str, Any]]],
    end: float,
) -> tuple[int, str]:
    """Send requests until `end`; return the number of successes, and the first error."""
    done, problem = 0, ""
    while time.perf_counter() < end:
        request = next(requests, None)  # atomic: iterators of lists and cycles are written in C
        if request is None:
            break
        try:
            methods[request[0]](**request[1])
        except (BotoCoreError, ClientError) as error:
            problem = problem or str(error)
        else:
            done += 1
    return done, problem


def main() -> None:
    url, items, number, threads, seconds, *left_out = sys.argv[1:]
    client = boto3.client(
        "dynamodb",
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id=CREDENTIALS.access_key,
        aws_secret_access_key=CREDENTIALS.secret_key,
        config=Config(
            retries={"total_max_attempts": 1}, max_pool_connections=int(threads), read_timeout=20
        ),
    )
    found = [
        call(client, operation, make(int(items), int(number)), int(threads), float(seconds))
        for operation, make in workload.OPERATIONS.items()
        if operation not in left_out
    ]
    print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
