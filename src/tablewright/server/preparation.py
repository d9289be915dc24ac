"""Preparation: from a request's operation and body to a step that the engine can run.

A large body is prepared in a thread, because parsing 16 MB takes half a second. Nothing here knows
of connections or HTTP responses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablewright.engine import Engine, Step
from tablewright.engine.operations import LIST_OF_OPERATIONS, unknown_operation
from tablewright.engine.step import ReadContext, wrap
from tablewright.errors import (
    DynamoDBError,
    InternalServerError,
    RequestEntityTooLargeException,
    SerializationException,
    UnknownOperationException,
)
from tablewright.server.failures import UNEXPECTED
from tablewright.server.limits import MAX_BODY
from tablewright.server.responses import TooLarge, decompress
from tablewright.wire.operations import OPERATIONS, target_of
from tablewright.wire.values import collector_paused, decode

if TYPE_CHECKING:
    from tablewright.server.access.credentials import Caller
    from tablewright.server.isolation import ScopedPreparer
    from tablewright.server.telemetry import Exchange

MAX_SHOWN_TARGET = 255
#: The operation of each X-Amz-Target header.
OPERATION_OF: dict[bytes | None, str] = {
    target_of(operation).encode(): operation for operation in OPERATIONS
}


def unknown_target(target: bytes | None) -> UnknownOperationException:
    """Return the error for an X-Amz-Target header that is missing or names no operation."""
    if not target:
        return UnknownOperationException(
            f"The request has no X-Amz-Target header to name its operation. {LIST_OF_OPERATIONS}"
        )
    shown = target[:MAX_SHOWN_TARGET].decode("latin-1")
    name = shown.rpartition(".")[2]
    if name in OPERATIONS:
        return UnknownOperationException(
            f"unknown operation {shown!r}; did you mean {target_of(name)!r}? {LIST_OF_OPERATIONS}"
        )
    return unknown_operation(shown.removeprefix(target_of("")))


def parse_json(body: bytes | bytearray) -> Any:
    """Parse a body. As in DynamoDB, the error does not say what is wrong with it."""
    if len(body) > MAX_BODY:
        raise RequestEntityTooLargeException
    try:
        return decode(body)
    except (ValueError, RecursionError):
        raise SerializationException from None


def prepare(
    engine: Engine | ScopedPreparer,
    operation: str,
    request: object,
    caller: Caller | None,
    exchange: Exchange | None,
) -> Step:
    """Check a parsed request and return its step; add its tables and its caller to the exchange."""
    if exchange is not None:
        exchange.identify(request, caller)
    policy = None if caller is None else caller.principal
    return engine.prepare(operation, request, policy=policy)


def name_endpoint(step: Step, address: str) -> Step:
    """Return the step of DescribeEndpoints with the address of this server in its response."""

    def run_and_name(run: Any, context: ReadContext) -> Any:
        return {"Endpoints": [each | {"Address": address} for each in run(context)["Endpoints"]]}

    return wrap(step, run_and_name)


def expand(body: bytes | bytearray, encoding: bytes, limit: int = MAX_BODY) -> bytes:
    """Decompress a body; raise `TooLarge` if it exceeds a limit below DynamoDB's."""
    try:
        return decompress(body, encoding, limit)
    except TooLarge:
        if limit < MAX_BODY:
            raise
        raise RequestEntityTooLargeException from None
    except ValueError:
        raise InternalServerError(UNEXPECTED) from None


def prepare_large(
    engine: Engine | ScopedPreparer,
    operation: str,
    body: bytes,
    caller: Caller | None,
    exchange: Exchange | None,
    encoding: bytes | None = None,
) -> Step:
    """Decompress, parse and prepare a large request. Call it in a thread: it may take long."""
    with collector_paused():
        if encoding is not None:
            body = expand(body, encoding)
        request = parse_json(body)
        try:
            return prepare(engine, operation, request, caller, exchange)
        except DynamoDBError as fault:
            # Its frames hold the request, which would be freed on the event loop.
            fault.__traceback__ = fault.__context__ = None
            raise
        finally:
            del request
