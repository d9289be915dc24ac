"""Events: what each request was, what it used and how long it took.

A database that has an observer asks DynamoDB for the capacity that requests use, and tells the
observer of each. Without one, nothing is asked and nothing measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.errors import DynamoDBError

#: The operations that tell what they consumed.
METERED = frozenset(
    {
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactWriteItems",
        "UpdateItem",
    }
)


class Event(Struct, frozen=True, kw_only=True):
    """One request, as it went."""

    operation: str
    #: The tables it was about, and the index it read.
    table: str
    index: str = ""
    #: The pattern that asked for it, or the kind of plan.
    pattern: str
    #: Capacity units that it consumed; 0 where it failed.
    units: float = 0.0
    #: How often it was sent, and how long it took in all.
    attempts: int = 1
    seconds: float = 0.0
    #: The code of the fault that it ended in.
    error: str = ""


Observer = Callable[[Event], None]


def metered(operation: str, body: dict[str, Any]) -> dict[str, Any]:
    """The request, asking for what it will consume."""
    if operation not in METERED or "ReturnConsumedCapacity" in body:
        return body
    return {**body, "ReturnConsumedCapacity": "TOTAL"}


class Stopwatch:
    """Measures one request, and tells the observer."""

    def __init__(
        self, observer: Observer, operation: str, body: dict[str, Any], pattern: str
    ) -> None:
        self.observer = observer
        self.operation = operation
        self.body = body
        self.pattern = pattern
        self.started = time.perf_counter()

    def answered(self, answer: bytes) -> None:
        self._tell(units=units_of(answer), attempts=getattr(answer, "attempts", 1))

    def failed(self, error: Exception) -> None:
        code = error.code if isinstance(error, DynamoDBError) else type(error).__name__
        self._tell(error=code, attempts=getattr(error, "attempts", 1))

    def _tell(self, **more: Any) -> None:
        event = Event(
            operation=self.operation,
            table=tables_of(self.body),
            index=self.body.get("IndexName", ""),
            pattern=self.pattern,
            seconds=time.perf_counter() - self.started,
            **more,
        )
        self.observer(event)


class _Metered(Struct, rename="pascal"):
    consumed_capacity: Any = None


_decode = msgspec.json.Decoder(_Metered).decode


def units_of(answer: bytes) -> float:
    """The capacity units that an answer tells of."""
    told = _decode(answer).consumed_capacity or []
    consumed = told if isinstance(told, list) else [told]
    return float(sum(each["CapacityUnits"] for each in consumed))


def tables_of(body: dict[str, Any]) -> str:
    """The names of the tables that a request is about."""
    if "TableName" in body:
        return str(body["TableName"])
    if "RequestItems" in body:
        return ", ".join(body["RequestItems"])
    writes = (write for item in body.get("TransactItems", ()) for write in item.values())
    return ", ".join(dict.fromkeys(write["TableName"] for write in writes))
