"""Errors: every exception that a caller can get. Those of the service have DynamoDB's names.

    TablewrightError
    ├── DeclarationError                    a declaration is wrong; raised at import
    ├── InvalidValue                        a value does not fit its attribute or key
    ├── UnreadableItem                      a stored item does not fit its entity
    │   └── DecryptionFailed                a secret is missing or wrong, or the value was moved
    ├── WriteRejected                       a write was rejected and changed nothing
    │   ├── AlreadyExists                   create: the item exists
    │   ├── NotFound                        update, or_raise: the item does not exist
    │   ├── VersionConflict                 the item was written since this version was read
    │   ├── UniqueViolation                 another entity has this value
    │   ├── InvalidTransition               the stored value may not change to the new one
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
    ├── MigrationRefused                    migrate: it cannot begin, or cannot continue
    ├── MigrationBusy                       migrate: another executor is at work
    ├── DesignLoadError                     verify: the design does not exist or cannot be imported
    ├── LockRefused                         a lock file cannot be read
    ├── UnclassifiedChange                  diff: designs differ in an unknown way
    ├── TableNotEmpty                       verify, seed: the target already has items
    ├── TableReplacement                    publish: an update would replace or remove a table
    ├── TransferRefused                     dump, load, copy: source and target do not match
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

Import all of them from here: `base` has the two that the others build on, `dynamodb` those of the
service, this module the rest.

Invariant: an operation raises a DynamoDBError before it writes anything. This package imports no
other module of Tablewright.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tablewright.errors.base import *  # noqa: F403  # callers import all errors from here
from tablewright.errors.base import TablewrightError
from tablewright.errors.dynamodb import *  # noqa: F403  # callers import all errors from here


class InvalidValue(TablewrightError, ValueError):
    """A value does not fit its attribute or its key.

    `attribute` is the name of the attribute, or "" if the error is not about a single one.
    """

    def __init__(self, message: str, *, attribute: str = "") -> None:
        super().__init__(message)
        self.attribute = attribute


class UnreadableItem(TablewrightError):
    """A stored item does not match its entity: another program or an older model wrote it.

    `key` is the key of the item in the table, `reason` the cause as text, `where` the attribute or
    key that cannot be read (`Order.status`) or "", `item` the item as it was read. From a query,
    `results` are those before the item, and `cursor` continues after it.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        where: str = "",
        key: dict[str, Any] | None = None,
        item: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason or message
        self.where = where
        self.key = key or {}
        self.item = item
        self.cursor: str | None = None
        self.results: list[Any] = []


class DecryptionFailed(UnreadableItem):
    """An encrypted value cannot be decrypted.

    `key_id` is the id of the secret that encrypted it, or "" if it is not an encrypted value. The
    other attributes are those of UnreadableItem.
    """

    def __init__(self, message: str, *, key_id: str = "", **facts: Any) -> None:
        super().__init__(message, **facts)
        self.key_id = key_id


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
    """`update` or `or_raise` found no item with this key."""


class VersionConflict(WriteRejected):
    """The item has been written since the version that this write is based on."""


class UniqueViolation(WriteRejected):
    """Another entity has the same unique value.

    `attributes` are the names of the unique attributes, without those of the primary key.
    """

    attributes: tuple[str, ...] = ()


class ConditionFailed(WriteRejected):
    """A condition of the write is false, or it would change an immutable attribute."""


class InvalidTransition(WriteRejected):
    """The stored value of an attribute may not change to the new one.

    `attribute` is its name, `state` the stored value, `wanted` the new one.
    """

    attribute: str = ""
    state: Any = None
    wanted: Any = None


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
    """A part of a table that differs from its declaration."""

    #: "key", "key attribute PK", "index by_status", "stream" or "TTL".
    part: str
    #: The declared and the found value, and the fix.
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
    #: The stored and the declared form of the key.
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
    """An index cannot be read yet: it is missing, or stored items lack its keys."""


class UniqueNotReady(TablewrightError):
    """A unique value is not guaranteed yet: stored items may have it without a reservation."""


class DuplicateValue(NamedTuple):
    """A unique value that two stored items have."""

    #: The unique value as it is declared: "User.by_email".
    unique: str
    #: The attributes with their values.
    value: str
    #: The keys of two items that have the value.
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


class MigrationRefused(TablewrightError):
    """A migration cannot begin or continue; nothing was changed by the refused step."""


class MigrationBusy(TablewrightError):
    """Another executor migrates the table."""


class LockRefused(TablewrightError):
    """A lock file cannot be read."""


class UnclassifiedChange(TablewrightError):
    """Two versions of a design differ in a way that has no classification."""


class TableNotEmpty(TablewrightError):
    """A table of the design to verify, or to load sample data into, already contains items."""


class TransferRefused(TablewrightError):
    """A transfer cannot start or continue: source and target do not match, or a file is no dump."""


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
