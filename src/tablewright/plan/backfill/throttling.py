"""Throttling: send throttled requests again for minutes, for plans that write a whole table.

A transport retries a request for a few seconds. A table with too little capacity throttles for
longer; a long plan continues when there is capacity again, with fewer requests at the same time.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from tablewright.backoff import Backoff
from tablewright.errors import DynamoDBError, TransactionCanceledException
from tablewright.mapping.entity import EntityMap
from tablewright.plan.plan import Context, Plan, Request, Steps, Wait
from tablewright.plan.query_requests import QueryRequest
from tablewright.transport.retry import THROTTLING
from tablewright.transport.transport import RetriesExhausted

#: About five minutes without any progress.
THROTTLED = Backoff(attempts=80, first=0.2, longest=8.0)
#: The most requests that a plan sends at the same time in threads.
MAX_THREADS = 8

#: Why DynamoDB cancels a transaction that it throttles.
_CANCELED = frozenset({"ThrottlingError", "ProvisionedThroughputExceeded"})

T = TypeVar("T")


class Pace:
    """How many requests are sent at the same time: half as many after one was throttled."""

    def __init__(self) -> None:
        self.threads = MAX_THREADS
        self._is_throttled = False

    def slow_down(self) -> None:
        self._is_throttled = True

    def adjust(self) -> None:
        """Set the number of threads by what happened since the last call."""
        self.threads = max(1, self.threads // 2) if self._is_throttled else self.threads + 1
        self.threads = min(MAX_THREADS, self.threads)
        self._is_throttled = False


class Paced(Plan[T], Generic[T]):
    """A plan that is sent again while it is throttled; `name` is that of the whole plan."""

    def __init__(self, entity: EntityMap, pace: Pace, name: str) -> None:
        self._entity = entity
        self._pace = pace
        self._pattern = name

    def _write(self, context: Context) -> Steps[T]:
        raise NotImplementedError

    def _steps(self, context: Context) -> Steps[T]:
        return (yield from retry_throttled(self._write(context), self._pace))


def retry_throttled(steps: Steps[T], pace: Pace) -> Steps[T]:
    """Run steps; send requests again that were throttled. Other faults are raised in the steps."""
    try:
        step = next(steps)
        while True:
            failures = 0
            while True:
                try:
                    body = yield step
                except (DynamoDBError, RetriesExhausted) as fault:
                    is_request = isinstance(step, (Request, QueryRequest))
                    delay = THROTTLED.delay(failures + 1)
                    if not _is_throttled(fault) or not is_request or delay is None:
                        step = steps.throw(fault)
                        break
                else:
                    step = steps.send(body)
                    break
                failures += 1
                pace.slow_down()
                yield Wait(delay)
    except StopIteration as end:
        result: T = end.value
        return result


def _is_throttled(fault: DynamoDBError | RetriesExhausted) -> bool:
    """Return whether a request failed because the table has too little capacity for now."""
    if isinstance(fault, TransactionCanceledException):
        return any(reason["Code"] in _CANCELED for reason in fault.reasons)
    return fault.code in THROTTLING
