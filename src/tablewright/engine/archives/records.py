"""Records: what the catalog stores beside tables, by kind: backups, exports and imports.

A record has an ARN, and an id that is the last part of it and begins with the time. So records are
stored, and listed, in the order of their times.

An export or import is done by the process that received the request; its record has the id of that
process. It is abandoned if the process ended, or could not store how it ended, for example because
another process was writing. An engine that opens the file or begins another export or import marks
abandoned ones as FAILED, and deletes the rows of imports.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.engine.maintenance import delete_tree
from tablewright.engine.step import LongContext, WriteContext
from tablewright.engine.tables.catalog import Catalog, has_records, read_records
from tablewright.errors import DynamoDBError, StoreFailed
from tablewright.storage import Snapshot, WriteTransaction

_encode = msgspec.json.Encoder().encode
_CODE = "ProcessEnded"
_MESSAGE = "The process ended, or could not write to the file, before this was done"
#: Ends the message of a task that was undone.
SANDBOX_ENDED = "; the sandbox in which it began has ended"
#: The ids of the exports and imports that this process is doing.
_running: set[str] = set()


class CatalogRecord(Protocol):
    """What every record has."""

    @property
    def id(self) -> str: ...

    @property
    def arn(self) -> str: ...


R = TypeVar("R", bound=CatalogRecord)


class RecordKind(Generic[R]):
    """Reads and writes the records of one kind."""

    def __init__(self, name: str, structure: type[R], missing: type[DynamoDBError]) -> None:
        self._name = name
        self._missing = missing
        self.prefix = f"{name}/".encode()
        self._decoder = msgspec.json.Decoder(structure)

    def save(self, catalog: Catalog, tx: WriteTransaction, record: R) -> None:
        """Store a new or changed record."""
        catalog.put_record(tx, self.prefix + record.id.encode(), _encode(record))

    def remove(self, catalog: Catalog, tx: WriteTransaction, record: R) -> None:
        catalog.remove_record(tx, self.prefix + record.id.encode())

    def decode(self, body: bytes) -> R:
        """Decode a stored record; raise `StoreFailed` if it is damaged."""
        try:
            return self._decoder.decode(body)
        except ValueError as error:
            raise StoreFailed(
                f"the file is damaged: the record of an {self._name} cannot be read: {error}"
            ) from None

    def read_all(self, snapshot: Snapshot) -> list[R]:
        """Return all records, the oldest first."""
        return [self.decode(body) for body in read_records(snapshot, self.prefix)]

    def find(self, snapshot: Snapshot, arn: str) -> R | None:
        """Return the record with this ARN; None if there is none."""
        record_id = arn.rpartition("/")[2]
        bodies = read_records(snapshot, self.prefix + record_id.encode())
        return next((record for record in map(self.decode, bodies) if record.arn == arn), None)

    def require(self, snapshot: Snapshot, arn: str, note: str = "") -> R:
        """Return the record with this ARN; raise its NotFoundException if there is none."""
        found = self.find(snapshot, arn)
        if found is None:
            raise self._missing(f"{self._name.capitalize()} not found: {arn}{note}")
        return found


def new_id(now: float) -> str:
    """Return an id as DynamoDB has them: milliseconds, then random digits.

    >>> new_id(1489602797.149)[:14]
    '01489602797149'
    """
    return f"{round(now * 1000):014}-{secrets.token_hex(4)}"


# -- exports and imports

Task = TypeVar("Task", bound="FolderTask")


class FolderTask(Struct, frozen=True, kw_only=True):
    """The record of an export or import: all that its request does not contain."""

    id: str
    token: str
    #: The id of the process that does it.
    process: int
    started: float
    status: str = "IN_PROGRESS"
    ended: float | None = None
    failure_code: str | None = None
    failure: str | None = None

    def fail(self, code: str, message: str) -> Self:
        return replace(self, status="FAILED", failure_code=code, failure=message)

    @property
    def is_abandoned(self) -> bool:
        if self.status != "IN_PROGRESS":
            return False
        if self.process == os.getpid():
            return self.id not in _running
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it runs as another user
            pass
        return False


def run_task(
    context: LongContext,
    begin: Callable[[str, WriteContext], tuple[Task, bool]],
    work: Callable[[Task], Task],
    end: Callable[[Task, WriteContext], None],
) -> Task:
    """Begin an export or import, do it, and store how it ended; return it as it began.

    `begin` returns False with one that had the same token: it is not done again.
    """
    task_id = new_id(time.time())
    _running.add(task_id)  # not abandoned
    try:
        begun, is_new = context.write(partial(begin, task_id))
        if is_new:
            context.write(partial(end, work(begun)))
    finally:
        _running.discard(task_id)
    return begun


def end_abandoned(catalog: Catalog, tx: WriteTransaction, now: float) -> None:
    """Mark abandoned exports and imports as failed."""
    if not has_records(tx):
        return
    from tablewright.engine.archives.exports import EXPORTS
    from tablewright.engine.archives.imports import IMPORTS

    for export in EXPORTS.read_all(tx):
        if export.is_abandoned:
            EXPORTS.save(catalog, tx, replace(export.fail(_CODE, _MESSAGE), ended=now))
    for one in IMPORTS.read_all(tx):
        if one.is_abandoned:
            for tree in one.table.trees:
                delete_tree(catalog, tx, tree)
            IMPORTS.save(catalog, tx, replace(one.fail(_CODE, _MESSAGE), ended=now))
