"""Faults from answers: DynamoDB's JSON errors become the exceptions of `tablewright.errors`."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright import errors
from tablewright.errors import Fault


class OtherFault(Fault):
    """A fault that has no class of its own here; `code` tells which."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        return self._code

    def __str__(self) -> str:
        return f"{self._code}: {self.message}"


def fault_from(status: int, body: bytes) -> Fault:
    """The fault that an answer with an error is."""
    try:
        told: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        text = body[:200].decode("latin-1")
        return OtherFault(f"HTTP{status}", f"an answer that is not DynamoDB's: {text!r}")
    code = str(told.get("__type", f"HTTP{status}")).rpartition("#")[2]
    message = str(told.get("message") or told.get("Message") or "")
    if code == "ConditionalCheckFailedException":
        return errors.ConditionalCheckFailedException(message, told.get("Item"))
    if code == "TransactionCanceledException":
        return _cancelled(message, told.get("CancellationReasons"))
    kind = getattr(errors, code, None)
    if isinstance(kind, type) and issubclass(kind, Fault):
        return kind(message)
    return OtherFault(code, message)


def _cancelled(message: str, reasons: list[dict[str, Any]] | None) -> Fault:
    if reasons is None:
        # Some endpoints tell the reasons in the message alone: "… [None, ConditionalCheckFailed]"
        codes = message.rpartition("[")[2].rstrip("]").split(", ") if "[" in message else []
        reasons = [{"Code": code} for code in codes]
    return errors.TransactionCanceledException(reasons)
