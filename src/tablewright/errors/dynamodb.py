"""The errors of DynamoDB itself, with its names, messages and response bodies.

A class without a docstring is explained in the tree of `tablewright.errors`.

`truncate` bounds the length of the request data that a message repeats. DynamoDB repeats values of
a few kilobytes in full. Where it truncates longer ones is not known, so the limit and the ellipsis
are our own choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from tablewright.errors.base import TablewrightError

SERVICE = "com.amazonaws.dynamodb.v20120810"
CORAL_SERVICE = "com.amazon.coral.service"
CORAL_VALIDATE = "com.amazon.coral.validate"
CORAL_AVAILABILITY = "com.amazon.coral.availability"


class DynamoDBError(TablewrightError):
    """An error response of DynamoDB.

    `code` is what boto3 shows as `Error.Code`; `body()` is the body of the response.
    """

    namespace: ClassVar[str] = SERVICE
    status: ClassVar[int] = 400
    message_member: ClassVar[str] = "message"

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    @property
    def code(self) -> str:
        return type(self).__name__

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"__type": f"{self.namespace}#{self.code}"}
        if self.message:
            body[self.message_member] = self.message
        return body


class ValidationException(DynamoDBError):
    """The request is wrong. `old` is the message of operations with the old layer, if it differs.

    `is_bare`: the message has no prefix in any layer. `cancels`: in a transaction, it is a reason
    of the cancellation. See `tablewright.wire.layers`.
    """

    namespace = CORAL_VALIDATE

    def __init__(
        self,
        message: str = "",
        *,
        old: str | None = None,
        is_bare: bool = False,
        cancels: bool = True,
    ) -> None:
        super().__init__(message)
        self.old_message = message if old is None else old
        self.is_bare = is_bare
        self.cancels = cancels


def invalid(message: str, *, old: str | None = None) -> ValidationException:
    """Return a ValidationException with the most common beginning of DynamoDB's messages."""
    return ValidationException(f"One or more parameter values were invalid: {message}", old=old)


MAX_ECHO_LENGTH = 4096
ELLIPSIS = "..."


def truncate(text: str, length: int = MAX_ECHO_LENGTH) -> str:
    """Return the text, shortened to a length and an ellipsis if it is longer.

    The time and memory used depend on the length of the result, not of the input.

    >>> truncate("short"), len(truncate("x" * 10_000))
    ('short', 4099)
    """
    return text if len(text) <= length else text[:length] + ELLIPSIS


def join_truncated(texts: Iterable[str], comma: str = ", ") -> str:
    """Join texts with commas and truncate the result; read no more texts than it shows.

    >>> join_truncated(["a", "b"]), len(join_truncated("x" * 10_000))
    ('a, b', 4099)
    """
    shown: list[str] = []
    length = 0
    for text in texts:
        shown.append(text[: MAX_ECHO_LENGTH + 1])
        length += len(text) + len(comma)
        if length > MAX_ECHO_LENGTH + len(comma):
            break
    return truncate(comma.join(shown))


class SerializationException(DynamoDBError):
    namespace = CORAL_SERVICE
    message_member = "Message"  # DynamoDB spells it with a capital where Coral answers


class UnknownOperationException(DynamoDBError):
    """No such operation, or one that is not implemented. DynamoDB sends no message."""

    namespace = CORAL_SERVICE


class MissingAuthenticationTokenException(DynamoDBError):
    namespace = CORAL_SERVICE


class IncompleteSignatureException(DynamoDBError):
    namespace = CORAL_SERVICE


class InvalidSignatureException(DynamoDBError):
    namespace = CORAL_SERVICE


class UnrecognizedClientException(DynamoDBError):
    namespace = CORAL_SERVICE


class ExpiredTokenException(DynamoDBError):
    namespace = CORAL_SERVICE


class AccessDeniedException(DynamoDBError):
    """No policy of the caller allows the request, or one denies it."""

    namespace = CORAL_SERVICE
    message_member = "Message"


class RequestEntityTooLargeException(DynamoDBError):
    namespace = CORAL_SERVICE
    status = 413


class ResourceNotFoundException(DynamoDBError): ...


def not_found(what: str = "", parent: str = "") -> ResourceNotFoundException:
    """Return the fault for a missing resource, such as `Table: shop`, or one that has no name."""
    named = f": {what} not found{f' for {parent}' if parent else ''}" if what else ""
    return ResourceNotFoundException(f"Requested resource not found{named}")


class ResourceInUseException(DynamoDBError): ...


class TableNotFoundException(DynamoDBError): ...


class TableAlreadyExistsException(DynamoDBError): ...


class TableInUseException(DynamoDBError): ...


class BackupNotFoundException(DynamoDBError): ...


class PointInTimeRecoveryUnavailableException(DynamoDBError): ...


class InvalidRestoreTimeException(DynamoDBError): ...


class InvalidExportTimeException(DynamoDBError): ...


class ExportNotFoundException(DynamoDBError): ...


class ExportConflictException(DynamoDBError): ...


class ImportNotFoundException(DynamoDBError): ...


class ImportConflictException(DynamoDBError): ...


class LimitExceededException(DynamoDBError): ...


class PolicyNotFoundException(DynamoDBError): ...


class GlobalTableNotFoundException(DynamoDBError): ...


class ExpiredIteratorException(DynamoDBError): ...


class TrimmedDataAccessException(DynamoDBError): ...


class IdempotentParameterMismatchException(DynamoDBError): ...


class ConditionalCheckFailedException(DynamoDBError):
    """The condition is false. `item` is the stored item, if the request asked for it."""

    def __init__(
        self, message: str = "The conditional request failed", item: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.item = item

    def body(self) -> dict[str, Any]:
        body = super().body()
        if self.item is not None:
            body["Item"] = self.item
        return body


class DuplicateItemException(DynamoDBError):
    """An INSERT found an item with this key."""

    def __init__(self, message: str = "Duplicate primary key exists in table") -> None:
        super().__init__(message)


class TransactionCanceledException(DynamoDBError):
    """A transaction was cancelled: at least one action failed, so none was applied.

    `reasons` has one entry for each action, in order; `{"Code": "None"}` for those without a fault.
    """

    def __init__(self, reasons: list[dict[str, Any]]) -> None:
        codes = ", ".join(reason["Code"] for reason in reasons)
        super().__init__(
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{codes}]"
        )
        self.reasons = reasons

    def body(self) -> dict[str, Any]:
        return {
            "__type": f"{self.namespace}#{self.code}",
            "CancellationReasons": self.reasons,
            "Message": self.message,
        }


class ThrottlingException(DynamoDBError):
    """The request was not executed and may be retried unchanged.

    `reasons` has the limits that were exceeded, each with the resource, if they are known.
    """

    namespace = CORAL_AVAILABILITY
    reasons_member: ClassVar[str] = "throttlingReasons"

    def __init__(self, message: str = "", reasons: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.reasons = reasons or []

    def body(self) -> dict[str, Any]:
        body = super().body()
        if self.reasons:
            body[self.reasons_member] = self.reasons
        return body


class ProvisionedThroughputExceededException(ThrottlingException):
    """A provisioned table or index has no units left. The request may be retried unchanged."""

    namespace = SERVICE
    reasons_member = "ThrottlingReasons"


class ServiceUnavailable(DynamoDBError):
    """The server cannot accept the request now. It was not executed."""

    namespace = CORAL_AVAILABILITY
    status = 503


class InternalServerError(DynamoDBError):
    status = 500
