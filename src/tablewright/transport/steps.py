"""Steps: a sequence of requests, written as a generator that does no input or output.

A generator of steps yields requests and waits, receives the body of each response (nothing after a
wait), and returns its result. A fault is raised inside the generator at the `yield`, where it may
be handled. So the same steps run with a blocking transport, in an event loop, or in a test.

    found = yield Request("DescribeTable", {"TableName": name})
    yield Wait(0.5)

The drivers of plans are in `tablewright.plan.plan`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar, final

from msgspec import Struct

T = TypeVar("T")


class Request(Struct):
    """One DynamoDB operation and its request."""

    operation: str
    body: dict[str, Any]


@final
class Wait(Struct):
    """A pause before the next request."""

    seconds: float


Steps: TypeAlias = "Generator[Request | Wait, bytes, T]"
