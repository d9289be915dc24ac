"""Errors: every exception that a caller can get; those of the service have DynamoDB's names.

    TablewrightError
    ├── DeclarationError                    a declaration is wrong; raised at import
    ├── InvalidValue                        a value does not fit its attribute or key
    ├── UnreadableItem                      a stored item does not fit its entity
    ├── WriteRejected                       a write was rejected and changed nothing
    │   ├── AlreadyExists                   create: the item exists
    │   ├── NotFound                        update: the item does not exist
    │   ├── VersionConflict                 the item was written since this version was read
    │   ├── UniqueViolation                 another entity has this value
    │   └── ConditionFailed                 a condition of the write is false
    ├── Contention                          other writers kept changing the item
    ├── InvalidCursor                       a cursor is damaged, or of another query or tenant
    ├── TenantViolation                     a request outside the partitions of the tenant
    ├── EndpointUnavailable                 an endpoint does not answer, or not as DynamoDB does
    ├── UnsupportedOperation                an endpoint lacks an operation that a plan needs
    ├── TableNotFound                       connect: the table does not exist
    ├── TableMismatch                       connect: the table differs from its declaration
    ├── DesignMismatch                      connect: declared keys differ from stored ones
    ├── IndexNotReady                       an index lacks stored items, or is not there yet
    ├── UniqueNotReady                      stored items may not have reserved their unique values
    ├── DuplicateValues                     backfill: stored items share a unique value
    ├── DesignLoadError                     verify: the design does not exist or cannot be imported
    ├── TableNotEmpty                       verify, seed: the target already has items
    ├── TableReplacement                    publish: an update would replace or remove a table
    ├── TransferRefused                     dump, load, copy: the two ends do not fit
    ├── TemplateRefused                     a template cannot be read, or its tables be created
    ├── ModelFileRefused                    a model file of NoSQL Workbench cannot be read
    ├── CredentialsRefused                  a credentials file cannot be used
    ├── CannotOpen                          the file cannot be opened, or is not a database
    │   └── DamagedFile                     it is a database, but damaged
    ├── StoreClosed                         the engine has been closed
    ├── StoreForked                         the engine was opened before a fork
    ├── StoreFailed                         the file cannot be read or written
    │   └── StoreBusy                       another process holds the write lock
    └── DynamoDBError                       an error response of DynamoDB: code, message, status
        ├── ValidationException             the request is wrong; the most common one
        ├── SerializationException          the body is not the JSON that the operation takes
        ├── UnknownOperationException       no such operation
        ├── MissingAuthenticationTokenException
        ├── IncompleteSignatureException    an authorization lacks a part
        ├── InvalidSignatureException       a signature is wrong, expired or of another scope
        ├── UnrecognizedClientException     no such access key, or a wrong session token
        ├── ExpiredTokenException           the credentials have expired
        ├── AccessDeniedException           a policy does not allow the request
        ├── ResourceNotFoundException       no such table (or index, in some operations)
        ├── ResourceInUseException          the table exists, or is changing
        ├── TableNotFoundException          no such table (in operations on backups and exports)
        ├── TableAlreadyExistsException     restore: the target exists
        ├── TableInUseException             backup: the table is changing
        ├── BackupNotFoundException
        ├── PointInTimeRecoveryUnavailableException
        ├── InvalidRestoreTimeException     outside of the times that can be restored
        ├── InvalidExportTimeException      outside of the times that can be exported
        ├── ExportNotFoundException
        ├── ExportConflictException         a token was used for another export
        ├── ImportNotFoundException
        ├── ImportConflictException         a token was used for another import
        ├── LimitExceededException
        ├── PolicyNotFoundException         no resource policy, or not the expected revision
        ├── GlobalTableNotFoundException    there are no global tables
        ├── ExpiredIteratorException        GetRecords: the shard iterator is too old
        ├── TrimmedDataAccessException      a stream no longer has the requested records
        ├── ConditionalCheckFailedException has the item, when the request asked for it
        ├── DuplicateItemException          INSERT: the item exists
        ├── TransactionCanceledException    has a reason for each action, by position
        ├── IdempotentParameterMismatchException
        ├── RequestEntityTooLargeException  over 16 MB
        ├── ThrottlingException             nothing was done; every SDK retries it
        ├── ProvisionedThroughputExceededException   the same, of a provisioned table or index
        ├── ServiceUnavailable              503: the server is overloaded; every SDK retries it
        └── InternalServerError             500: an error in this package or in its storage

Invariant: an operation raises a DynamoDBError before it writes anything. This module imports no
other module of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, ClassVar, NamedTuple

SERVICE = "com.amazonaws.dynamodb.v20120810"
CORAL_SERVICE = "com.amazon.coral.service"
CORAL_VALIDATE = "com.amazon.coral.validate"
CORAL_AVAILABILITY = "com.amazon.coral.availability"

#: The end of the message of an error whose `maybe_applied` is set.
MAYBE_APPLIED = "an attempt got no response, and may have been applied"


class TablewrightError(Exception):
    """The base class of every exception of this package."""

    #: How many times the request that failed was sent.
    attempts: int = 1
    #: Whether the write may have been applied although it failed: an attempt got no response.
    maybe_applied: bool = False

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}; {MAYBE_APPLIED}" if self.maybe_applied else text


class DeclarationError(TablewrightError):
    """A declaration is wrong. Raised when the class or the pattern is defined.

    `message` says what is wrong and how to fix it; `location` is the place in the user's code, as
    `file:line`.
    """

    def __init__(self, message: str, *, location: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = _user_line() if location is None else location

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({self.location})" if self.location else text


def _user_line() -> str:
    """Return `file:line` of the innermost running code that is the user's."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if _is_user_code(frame):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def location_of(error: BaseException) -> str:
    """Return `file:line` of the user's code that failed, or "" if none did.

    This is the innermost line of the traceback that is not this package's or Python's; that of an
    installed package counts only if there is no other.
    """
    if isinstance(error, DeclarationError):
        return error.location
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    found, installed, traceback = "", "", error.__traceback__
    while traceback is not None:
        if _is_user_code(traceback.tb_frame):
            file = traceback.tb_frame.f_code.co_filename
            if "site-packages" in file:
                installed = f"{file}:{traceback.tb_lineno}"
            else:
                found = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found or installed


def _is_user_code(frame: FrameType) -> bool:
    """Return whether a frame is not of this package, of pydantic or of Python's library."""
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return (
        not is_internal(frame) and package != "pydantic" and package not in sys.stdlib_module_names
    )


def is_internal(frame: FrameType) -> bool:
    """Return whether a frame is of this package, without the bundled designs."""
    package, _, rest = str(frame.f_globals.get("__name__")).partition(".")
    return package == "tablewright" and rest.partition(".")[0] != "designs"


class InvalidValue(TablewrightError, ValueError):
    """A value does not fit its attribute or its key.

    `attribute` is the name of the attribute, or "" if the error is not about a single one.
    """

    def __init__(self, message: str, *, attribute: str = "") -> None:
        super().__init__(message)
        self.attribute = attribute


class UnreadableItem(TablewrightError):
    """A stored item does not match its entity: another program or an older model wrote it.

    `key` is the key of the item in the table, `reason` the cause as text, `item` the item as it was
    read. From a query, `results` are those before the item, and `cursor` continues after it.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        key: dict[str, Any] | None = None,
        item: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason or message
        self.key = key or {}
        self.item = item
        self.cursor: str | None = None
        self.results: list[Any] = []


class WriteRejected(TablewrightError):
    """A write was rejected and changed nothing.

    `entity` is the name of the entity, `key` its key in the table, `reason` the cause as text,
    `current` the stored entity if DynamoDB returned it.
    """

    def __init__(
        self, message: str, *, entity: str, key: dict[str, Any], current: Any, reason: str = ""
    ) -> None:
        super().__init__(message)
        self.reason = reason or message
        self.entity = entity
        self.key = key
        self.current = current


class AlreadyExists(WriteRejected):
    """`create` found an item with this key."""


class NotFound(WriteRejected):
    """`update` found no item with this key."""


class VersionConflict(WriteRejected):
    """The item has been written since the version that this write is based on."""


class UniqueViolation(WriteRejected):
    """Another entity has the same unique value.

    `attributes` are the names of the attributes that must be unique, without those of the key.
    """

    attributes: tuple[str, ...] = ()


class ConditionFailed(WriteRejected):
    """A condition of the write is false: the caller's, or that immutable attributes are kept."""


class Contention(TablewrightError):
    """Other writers kept changing the item; the write stopped retrying and wrote nothing."""


class InvalidCursor(TablewrightError, ValueError):
    """The cursor is damaged, or belongs to another query, other arguments or another tenant."""


class TenantViolation(TablewrightError):
    """A request of a tenant's database is outside of the tenant's shards."""


class EndpointUnavailable(TablewrightError):
    """An endpoint cannot be reached, does not answer in time, or does not answer as DynamoDB."""


class UnsupportedOperation(TablewrightError):
    """An endpoint does not support an operation."""

    def __init__(self, operation: str, endpoint: str, pattern: str = "") -> None:
        needed = f", which {pattern} needs" if pattern else ""
        super().__init__(f"{endpoint} does not support {operation}{needed}")
        self.operation = operation
        self.endpoint = endpoint
        self.pattern = pattern


class TableNotFound(TablewrightError):
    """The target has no table of this name."""


class TableDifference(NamedTuple):
    """A part of a table that is not as it should be."""

    #: "key", "key attribute PK", "index by_status", "stream" or "TTL".
    part: str
    #: What is declared and what is found, and what to do.
    problem: str

    def __str__(self) -> str:
        return f"{self.part}: {self.problem}"


class TableMismatch(TablewrightError):
    """The table at the target differs from its declaration."""

    def __init__(self, message: str, differences: Sequence[TableDifference] = ()) -> None:
        super().__init__("\n  ".join([message, *map(str, differences)]))
        self.differences = tuple(differences)


class KeyDifference(NamedTuple):
    """A key whose declaration differs from the stored keys."""

    entity: str
    #: "the primary key", "the index gsi1" or "the unique value User.by_email".
    key: str
    #: What the stored keys are made of, and what the design declares.
    stored: str
    declared: str

    def __str__(self) -> str:
        return f"{self.entity}, {self.key}: stored as {self.stored}, declared as {self.declared}"


class DesignMismatch(TablewrightError):
    """The declared keys differ from the stored ones, so reads would miss stored items."""

    def __init__(self, message: str, differences: tuple[KeyDifference, ...] = ()) -> None:
        super().__init__(message)
        self.differences = differences


class IndexNotReady(TablewrightError):
    """An index cannot be read yet: it is missing, or stored items lack their keys of it."""


class UniqueNotReady(TablewrightError):
    """A unique value cannot be relied on yet: stored items may have it without a reservation."""


class DuplicateValue(NamedTuple):
    """A unique value that two stored items have."""

    #: The unique value as it is declared: "User.by_email".
    unique: str
    #: The attributes with their values.
    value: str
    #: The key of an item, and that of another one which has the value.
    key: str
    other: str

    def __str__(self) -> str:
        return f"{self.unique}, {self.value}: {self.key} and {self.other}"


class DuplicateValues(TablewrightError):
    """Stored items share values that must be unique, so the values cannot be reserved."""

    def __init__(self, message: str, duplicates: tuple[DuplicateValue, ...] = ()) -> None:
        super().__init__(message)
        self.duplicates = duplicates


class DesignLoadError(TablewrightError):
    """A design does not exist, cannot be imported, has no tables or no valid sample data."""


class TableReplacement(TablewrightError):
    """An update of a stack would make CloudFormation replace a table, or remove it."""


class TableNotEmpty(TablewrightError):
    """A table of the design to verify, or to load sample data into, already contains items."""


class TransferRefused(TablewrightError):
    """A transfer cannot begin or continue: its two ends do not fit, or the file is not a dump."""


class TemplateRefused(TablewrightError):
    """A template cannot be used. The message names the file, the resource and the property."""


class ModelFileRefused(TablewrightError):
    """A model file has a defect. The message names the file, the table and the row."""


class CredentialsRefused(TablewrightError):
    """A credentials file cannot be used. The message names the file, the user and the fix."""


class CannotOpen(TablewrightError):
    """The file cannot be opened: it cannot be created or read, or is not a database."""


class DamagedFile(CannotOpen):
    """The file is a database that cannot be opened: it is damaged, or its log is out of date."""


class StoreClosed(TablewrightError):
    """The engine has been closed."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has been closed")


class StoreForked(TablewrightError):
    """The engine was opened before a fork; SQLite connections must not be shared."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was opened before a fork; open it again in the new process")


class StoreFailed(TablewrightError):
    """The file cannot be read or written: the disk is full, a row is damaged, …"""


class StoreBusy(StoreFailed):
    """Another process held the write lock of the file for too long. Nothing was written."""


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
    namespace = CORAL_VALIDATE


def invalid(message: str) -> ValidationException:
    """Return the error with the most common first words of DynamoDB's messages."""
    return ValidationException(f"One or more parameter values were invalid: {message}")


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
