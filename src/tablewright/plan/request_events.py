"""Request events: what each request was, what it consumed and how long it took.

A database with an observer asks DynamoDB for consumed capacity, and reports each request to the
observer. Without an observer nothing is requested or measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

import msgspec
from msgspec import Struct

from tablewright.errors import DynamoDBError, TablewrightError
from tablewright.transport.transport import Response, RetriesExhausted
from tablewright.wire.operations import OPERATIONS


class RequestEvent(Struct, frozen=True, kw_only=True):
    """One request, with all its attempts."""

    operation: str
    #: The names of its tables, and of the index that it reads.
    table: str
    index: str = ""
    #: The access pattern that made the request, or the kind of plan.
    pattern: str
    #: Consumed capacity units, as DynamoDB reports them: none for a request that fails, although
    #: it charges a write whose condition fails.
    units: float = 0.0
    #: How many times it was sent, and how long all attempts took.
    attempts: int = 1
    seconds: float = 0.0
    #: The code of the fault, or the name of the exception; "" if the request succeeded.
    error: str = ""


Observer = Callable[[RequestEvent], None]


def add_capacity(operation: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the request, which also asks for the consumed capacity."""
    row = OPERATIONS.get(operation)
    if row is None or not row.is_metered or "ReturnConsumedCapacity" in body:
        return body
    return {**body, "ReturnConsumedCapacity": "TOTAL"}


class RequestTimer(Struct):
    """Measures one request, and reports it to the observer when its block ends."""

    observer: Observer
    operation: str
    body: dict[str, Any]
    pattern: str
    #: The response, which the block sets if it gets one.
    response: Response | None = None
    started: float = 0.0

    def __enter__(self) -> Self:
        self.started = time.perf_counter()
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        units, attempts, code = 0.0, 1, ""
        if self.response is not None:
            units, attempts = consumed_units(self.response.body), self.response.attempts
        elif isinstance(error, Exception):
            code = error.code if isinstance(error, (DynamoDBError, RetriesExhausted)) else ""
            code = code or type(error).__name__
            attempts = error.attempts if isinstance(error, TablewrightError) else 1
        else:
            return  # an exit of the program, or a cancelled task
        self.observer(
            RequestEvent(
                operation=self.operation,
                table=table_names(self.body),
                index=self.body.get("IndexName", ""),
                pattern=self.pattern,
                units=units,
                attempts=attempts,
                seconds=time.perf_counter() - self.started,
                error=code,
            )
        )


class _Consumed(Struct, rename="pascal"):
    consumed_capacity: Any = None


_decode = msgspec.json.Decoder(_Consumed).decode


def consumed_units(body: bytes) -> float:
    """Return the capacity units in the body of a response; 0 if it contains none."""
    capacity = _decode(body).consumed_capacity or []
    tables = capacity if isinstance(capacity, list) else [capacity]
    return float(sum(table["CapacityUnits"] for table in tables))


def table_names(body: dict[str, Any]) -> str:
    """Return the names of the tables in a request, separated by commas."""
    if "TableName" in body:
        return str(body["TableName"])
    if "RequestItems" in body:
        return ", ".join(body["RequestItems"])
    actions = (action for item in body.get("TransactItems", ()) for action in item.values())
    return ", ".join(dict.fromkeys(action["TableName"] for action in actions))
