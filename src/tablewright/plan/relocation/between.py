"""Between: steps that send requests to two places.

    answer = yield At(0, Request("GetItem", {…}))
    found = yield from at(1, describe_table("shop"))      steps of one place

They are generators as `plan.Steps` are, and do no input or output.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from tablewright.errors import DynamoDBError
from tablewright.plan.backfill.throttling import Pace, retry_throttled
from tablewright.plan.plan import AnyRequest, Steps, Together, Wait
from tablewright.transport.transport import Response, RetriesExhausted

T = TypeVar("T")

Send: TypeAlias = Callable[[str, dict[str, Any]], Response]


class At(Struct):
    """A request, and the number of the place that it is for: 0 or 1."""

    side: int
    request: AnyRequest


BetweenSteps: TypeAlias = "Generator[At | Wait, bytes, T]"


def at(side: int, steps: Steps[T]) -> BetweenSteps[T]:
    """Run the steps of one place; requests that are throttled are sent again for minutes."""
    steps = retry_throttled(steps, Pace())
    try:
        step = next(steps)
        while True:
            assert not isinstance(step, Together), "plans that run together have no place"
            try:
                body = yield step if isinstance(step, Wait) else At(side, step)
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        result: T = end.value
        return result


def one(request: AnyRequest) -> Steps[bytes]:
    """Return the steps of one request."""
    return (yield request)


def run_between(steps: BetweenSteps[T], sends: Callable[[int], Send]) -> T:
    """Run steps with the blocking transports to both places, and return their result."""
    try:
        step = next(steps)
        while True:
            try:
                body = b""
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                else:
                    body = sends(step.side)(step.request.operation, step.request.body).body
            except (DynamoDBError, RetriesExhausted) as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(body)
    except StopIteration as end:
        result: T = end.value
        return result
