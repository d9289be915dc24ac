"""Faults from answers: DynamoDB's JSON errors become the exceptions of `tablewright.errors`."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright import errors
from tablewright.errors import DynamoDBError, EndpointUnavailable


class OtherFault(DynamoDBError):
    """A fault that has no class of its own here; `code` tells which."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        return self._code

    def __str__(self) -> str:
        return f"{self._code}: {self.message}" if self.message else self._code


class GaveUp(EndpointUnavailable):
    """No attempt brought an answer that settles it.

    `attempts` is how many there were, `code` that of the fault in the last, if it was one.
    """

    def __init__(self, message: str, attempts: int, code: str) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.code = code


def fault_from(body: bytes) -> DynamoDBError | None:
    """The fault that an answer tells of; None if it is none of DynamoDB's."""
    try:
        told: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None
    code = str(told.get("__type", "")).rpartition("#")[2]
    if not code:
        return None
    message = str(told.get("message") or told.get("Message") or "")
    if code == "ConditionalCheckFailedException":
        return errors.ConditionalCheckFailedException(message, told.get("Item"))
    if code == "TransactionCanceledException":
        return _cancelled(message, told.get("CancellationReasons"))
    kind = getattr(errors, code, None)
    if isinstance(kind, type) and issubclass(kind, DynamoDBError):
        return kind(message)
    return OtherFault(code, message)


def _cancelled(message: str, reasons: list[dict[str, Any]] | None) -> DynamoDBError:
    if reasons is None:
        # Some endpoints tell the reasons in the message alone: "… [None, ConditionalCheckFailed]"
        codes = message.rpartition("[")[2].rstrip("]").split(", ") if "[" in message else []
        reasons = [{"Code": code} for code in codes]
    return errors.TransactionCanceledException(reasons)
