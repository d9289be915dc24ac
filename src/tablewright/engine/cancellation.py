"""Cancellation: check all actions of a transaction, and cancel it if one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tablewright.errors import (
    ConditionalCheckFailedException,
    DuplicateItemException,
    TransactionCanceledException,
    ValidationException,
)


def cancel_at_first(checks: Sequence[Callable[[], None]]) -> None:
    """Run checks up to the first one that fails; then raise with a reason for it alone.

    DynamoDB reports an invalid key alone: it is found before the transaction begins. (That other
    invalid keys are not reported is not known for certain.)
    """
    for position, check in enumerate(checks):
        try:
            check()
        except ValidationException as failure:
            reasons: list[dict[str, Any]] = [{"Code": "None"} for _ in checks]
            reasons[position] = {"Code": "ValidationError", "Message": failure.message}
            raise TransactionCanceledException(reasons) from None


def cancel_unless_all(checks: Iterable[Callable[[], None]]) -> None:
    """Run all checks; if one fails, raise TransactionCanceledException with all reasons."""
    reasons: list[dict[str, Any]] = []
    for check in checks:
        try:
            check()
        except ConditionalCheckFailedException as failure:
            reason = {"Code": "ConditionalCheckFailed", "Message": failure.message}
            reasons.append(reason if failure.item is None else {"Item": failure.item, **reason})
        except DuplicateItemException as failure:
            reasons.append({"Code": "DuplicateItem", "Message": failure.message})
        except ValidationException as failure:
            reasons.append({"Code": "ValidationError", "Message": failure.message})
        else:
            reasons.append({"Code": "None"})
    if any(reason["Code"] != "None" for reason in reasons):
        raise TransactionCanceledException(reasons)
