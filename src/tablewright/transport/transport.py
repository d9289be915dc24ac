"""The transport interface: one operation and its request in, a response out.

A transport raises the `DynamoDBError` that DynamoDB would respond with (`parse_fault`). It knows
nothing of entities or plans, and passes every request on unchanged.

`Steps` are a sequence of requests, written as a generator that does no input or output. It yields
requests and waits, receives the body of each response (nothing after a wait), and returns its
result. A fault is raised inside the generator at the `yield`, where it may be handled. So the same
steps run with a blocking transport, in an event loop, or in a test.

    found = yield Request("DescribeTable", {"TableName": name})
    yield Wait(0.5)

The drivers of plans are in `tablewright.plan.plan`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol, TypeAlias, TypeVar, final

import msgspec
from msgspec import Struct

from tablewright import errors
from tablewright.errors import DynamoDBError, EndpointUnavailable

T = TypeVar("T")


class Response(Struct, frozen=True, gc=False):
    """A successful response."""

    #: DynamoDB's JSON.
    body: bytes
    #: How many times the request was sent.
    attempts: int = 1


class Transport(Protocol):
    """Sends requests and blocks until the response arrives."""

    def send(self, operation: str, request: dict[str, Any]) -> Response: ...
    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """Sends requests without blocking the event loop."""

    async def send_async(self, operation: str, request: dict[str, Any]) -> Response: ...
    async def close_async(self) -> None: ...


class UnknownFault(DynamoDBError):
    """A fault without a class in `tablewright.errors`; `code` identifies it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        return self._code

    def __str__(self) -> str:
        return f"{self._code}: {super().__str__()}" if self.message else self._code


class RetriesExhausted(EndpointUnavailable):
    """Every attempt failed in a way that is worth a retry.

    `attempts` is their number. `code` is that of the last fault, "" if there was no response.
    """

    def __init__(self, message: str, *, attempts: int, code: str, maybe_applied: bool) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.code = code
        self.maybe_applied = maybe_applied


def parse_fault(body: bytes) -> DynamoDBError | None:
    """Return the fault in the body of a response; None if DynamoDB did not write the body."""
    try:
        decoded: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None
    code = str(decoded.get("__type", "")).rpartition("#")[2]
    if not code:
        return None
    message = str(decoded.get("message") or decoded.get("Message") or "")
    if code == "ConditionalCheckFailedException":
        return errors.ConditionalCheckFailedException(message, decoded.get("Item"))
    if code == "TransactionCanceledException":
        return _parse_cancellation(message, decoded.get("CancellationReasons"))
    kind = getattr(errors, code, None)
    if isinstance(kind, type) and issubclass(kind, DynamoDBError):
        return kind(message)
    return UnknownFault(code, message)


def _parse_cancellation(message: str, reasons: list[dict[str, Any]] | None) -> DynamoDBError:
    if reasons is None:
        # Some endpoints list the reasons in the message only: "… [None, ConditionalCheckFailed]"
        codes = message.rpartition("[")[2].rstrip("]").split(", ") if "[" in message else []
        reasons = [{"Code": code} for code in codes]
    return errors.TransactionCanceledException(reasons)


class Request(Struct):
    """One DynamoDB operation and its request."""

    operation: str
    body: dict[str, Any]


@final
class Wait(Struct):
    """A pause before the next request."""

    seconds: float


Steps: TypeAlias = "Generator[Request | Wait, bytes, T]"
