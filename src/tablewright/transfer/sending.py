"""Sending: requests that are retried for minutes while the endpoint throttles, and threads.

A transport retries a request for a few seconds at most. A table with too little capacity throttles
for longer; a long transfer continues when there is capacity again.

Invariants of `run_in_threads`:
- The threads compute at most two results each before the caller takes one.
- The first error of a thread is raised in the caller, after all other threads have stopped.
- The threads stop if the caller stops iterating.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from queue import Queue
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from tablewright.backoff import Backoff
from tablewright.errors import Contention, DynamoDBError, EndpointUnavailable, TablewrightError
from tablewright.transport import Response, Transport
from tablewright.transport.retry import THROTTLING
from tablewright.transport.transport import RetriesExhausted, Steps, Wait

#: About three minutes without any progress.
THROTTLED = Backoff(attempts=80, first=0.1, longest=5.0)

T = TypeVar("T")

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def send_request(transport: Transport, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request, retry it while it is throttled, and return the decoded response."""
    response = _send(transport, operation, request)
    try:
        return _decode(response.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EndpointUnavailable(
            f"{operation}: the response is not a JSON object: {error}"
        ) from None


def run_steps(transport: Transport, steps: Steps[T]) -> T:
    """Run steps to their end, and return their result; throttled requests are retried."""
    try:
        step = next(steps)
        while True:
            try:
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                    body = b""
                else:
                    body = _send(transport, step.operation, step.body).body
            except DynamoDBError as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        result: T = end.value
        return result


def wait_for_capacity(operation: str, failures: int) -> None:
    """Sleep after a request that was throttled `failures` times in a row.

    Raises Contention after the last attempt.
    """
    delay = THROTTLED.delay(failures)
    if delay is None:
        raise Contention(f"{operation}: still throttled after {failures} attempts")
    time.sleep(delay)


def _send(transport: Transport, operation: str, request: dict[str, Any]) -> Response:
    failures = 0
    while True:
        try:
            return transport.send(operation, request)
        except TablewrightError as error:
            if not _is_throttled(error):
                raise
        failures += 1
        wait_for_capacity(operation, failures)


def _is_throttled(error: TablewrightError) -> bool:
    return isinstance(error, (DynamoDBError, RetriesExhausted)) and error.code in THROTTLING


class _WorkerDone(Struct):
    error: BaseException | None


def run_in_threads(workers: Sequence[Iterator[T]]) -> Iterator[T]:
    """Run each iterator in a thread, and yield the results in the order of their arrival.

    >>> sorted(run_in_threads([iter("ab"), iter("c")]))
    ['a', 'b', 'c']
    """
    reports: Queue[T | _WorkerDone] = Queue(maxsize=2 * len(workers) or 1)
    stop = threading.Event()

    def run(worker: Iterator[T]) -> None:
        error = None
        try:
            for report in worker:
                reports.put(report)
                if stop.is_set():
                    break
        except BaseException as raised:
            error = raised
        reports.put(_WorkerDone(error))

    # The caller joins the threads. They are daemons in case it is killed before that.
    threads = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            report = reports.get()
            if not isinstance(report, _WorkerDone):
                yield report
                continue
            running -= 1
            if report.error is not None:
                raise report.error
    finally:
        stop.set()
        while running:
            running -= isinstance(reports.get(), _WorkerDone)
        for thread in threads:
            thread.join()


class ThreadSafeIterator(Generic[T]):
    """An iterator that several threads can share."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._lock:
            return next(self._source)
