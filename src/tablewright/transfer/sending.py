"""Requests of a transfer, retried for minutes while the endpoint throttles them.

A transport retries a request for a few seconds at most. A table with too little capacity throttles
for longer; a long transfer continues when there is capacity again.
"""

from __future__ import annotations

import time
from typing import Any, TypeVar

import msgspec

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
