"""Faults from responses: DynamoDB's JSON errors become the exceptions of `tablewright.errors`."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright import errors
from tablewright.errors import DynamoDBError, EndpointUnavailable


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
