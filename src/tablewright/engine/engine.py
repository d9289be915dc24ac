"""The engine: requests in, answers out.

The way of a request:

    prepare   JSON -> typed request -> step       everything that needs no table is checked
    run       step -> answer                      in a snapshot, or in a transaction shared with
                                                  concurrent writers
    call      both, for one process               answers as Python values

An engine may be used from several threads; several engines, in one process or many, may use one
file. A process that was forked opens its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from tablewright.engine.authorization import authorize
from tablewright.engine.catalog import Catalog
from tablewright.engine.damage import locate_damage
from tablewright.engine.expiry import delete_expired
from tablewright.engine.integrity import Report, check_file
from tablewright.engine.maintenance import Maintenance
from tablewright.engine.operations import OPERATIONS
from tablewright.engine.spelling import MEMBERS, reject_misspelled_members
from tablewright.engine.step import Counts, ReadContext, ReadStep, Step, WriteContext, WriteStep
from tablewright.errors import (
    DynamoDBError,
    SerializationException,
    TablewrightError,
    UnknownOperationException,
)
from tablewright.hints import did_you_mean
from tablewright.policy import Principal
from tablewright.storage import (
    BUSY_SECONDS,
    DamagedRow,
    Durability,
    MissingTree,
    Snapshot,
    Store,
    WriteTransaction,
)
from tablewright.wire.read import read
from tablewright.wire.responses import encode

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Engine:
    """DynamoDB in one file, or in memory.

    A write waits at most `busy_seconds` for another process that holds the file's write lock, then
    raises `StoreBusy`. A write that an exception from outside interrupts, such as
    KeyboardInterrupt, may have been applied or not; the engine stays usable.

    >>> engine = Engine(":memory:")
    >>> engine.call("ListTables")
    {'TableNames': []}
    """

    def __init__(
        self,
        path: str | Path = ":memory:",
        *,
        durability: Durability = "full",
        busy_seconds: float = BUSY_SECONDS,
        background: bool = True,
    ) -> None:
        """Open a file, or make a new one.

        Large indexes are built, and the rows of large deleted tables removed, in a background
        thread; also what another engine has left unfinished. Without `background` that waits for
        `maintain` or `finish_maintenance`.
        """
        self._store = Store(path, durability=durability, busy_seconds=busy_seconds)
        self._catalog = Catalog()  # the readers'
        self._writer_catalog = Catalog()
        self._store.write(self._writer_catalog.create_trees)
        self._maintenance = Maintenance(self._store, self._writer_catalog, background=background)
        if self._writer_catalog.has_jobs:
            self._maintenance.start()

    def call(
        self,
        operation: str,
        request: dict[str, Any] | None = None,
        *,
        policy: Principal | None = None,
    ) -> dict[str, Any]:
        """Do one operation: DynamoDB's JSON as Python values, in and out.

        Raises a `DynamoDBError` (`tablewright.errors`) where DynamoDB would answer with one. A
        member that is almost one of the operation's is a TypeError: DynamoDB would silently pass
        over it.
        With a `policy` the request needs its permission (`tablewright.policy`).
        """
        if request is None:
            request = {}
        try:
            step = self.prepare(operation, request, policy)
            if not MEMBERS[operation].issuperset(request):
                reject_misspelled_members(operation, request)
            return _decode(self.run(step) or b"{}")
        except UnicodeEncodeError:  # half of a surrogate pair: no text at all
            raise SerializationException("Invalid UTF-16 surrogate in a string") from None

    def prepare(self, operation: str, request: object, policy: Principal | None = None) -> Step:
        """Check a request as far as that needs no table.

        With a `policy` the step raises AccessDeniedException when it runs, before it looks for
        its tables, unless the policy allows the request.
        """
        try:
            shape, prepare = OPERATIONS[operation]
        except KeyError:
            raise UnknownOperationException(
                f"there is no operation {operation!r}{did_you_mean(operation, OPERATIONS)}"
            ) from None
        typed = read(shape, request)
        step = prepare(typed)
        return step if policy is None else authorize(step, operation, typed, policy)

    def run(self, step: Step) -> bytes:
        """Do a step; when this returns, what it wrote is durable. The answer is JSON."""
        if isinstance(step, WriteStep):
            (result,) = self.write_all((step,))
            if isinstance(result, BaseException):
                raise result
            return result
        try:
            try:
                return self._store.read(partial(self._read, step))
            except (DynamoDBError, MissingTree):  # perhaps the table has changed since we looked
                return self._store.read(partial(self._read_with_current_catalog, step))
        except DamagedRow as error:
            raise locate_damage(error, self._catalog.tables.values()) from error

    def read_all(self, steps: Sequence[ReadStep]) -> list[bytes | BaseException]:
        """Do several steps that read, in one snapshot: for each its answer, or its fault."""
        results: list[bytes | BaseException | None] = [None] * len(steps)
        if len(steps) > 1:
            with suppress(TablewrightError):
                results = self._store.read(partial(self._read_in_one_snapshot, steps))
        # Those that failed, again and alone: they may have met a table that has changed since.
        return [
            self._run_or_error(step) if result is None else result
            for step, result in zip(steps, results, strict=True)
        ]

    def write_all(self, steps: Sequence[WriteStep]) -> list[bytes | BaseException]:
        """Do several steps that write, in one commit: for each its answer, or its fault."""
        results = self._store.write_all(
            [
                partial(
                    self._write,
                    step,
                    self._count_table(step.counted_table) if step.counted_table else {},
                )
                for step in steps
            ]
        )
        for position, result in enumerate(results):
            if isinstance(result, DamagedRow):
                results[position] = locate_damage(result, self._writer_catalog.tables.values())
        if self._writer_catalog.has_jobs:
            self._maintenance.start()
        return results

    def expire(self, now: float | None = None) -> int:
        """Delete what has expired by `now` (seconds since 1970; the clock's time if not given)."""
        return delete_expired(
            self._store, self._writer_catalog, time.time() if now is None else now
        )

    def maintain(self) -> bool:
        """Do one short step of the work that large indexes and deleted tables have left.

        False if there was none. Raises what the step fails with; it can be repeated.
        """
        return self._maintenance.step()

    def finish_maintenance(self) -> None:
        """Do all of that work now: every index is ACTIVE afterwards, and deleted rows are gone."""
        while self.maintain():
            pass

    def check(self) -> Report:
        """Walk every table and index and prove that they agree."""
        return self._store.read(check_file)

    def back_up(self, copy: str | Path) -> None:
        """Write all tables, as they are at this moment, into a new file.

        Other threads and processes read and write meanwhile. To restore, open the copy, or move it
        to where the file was.
        """
        self._store.back_up(copy)

    def compact(self) -> None:
        """Give the space of deleted items and tables back to the file system."""
        self._store.compact()

    def close(self) -> None:
        """Stop background work after its current step, and close the file."""
        try:
            self._maintenance.close()
        finally:
            self._store.close()

    def probe(self) -> None:
        """Read the catalog from the file. Raises `StoreFailed` if the file cannot be read."""
        self._store.read(Catalog().refresh)

    @property
    def path(self) -> str:
        """The file, or ":memory:"."""
        return self._store.path

    def __repr__(self) -> str:
        return f"Engine({self._store.path!r}, durability={self._store.durability!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self, step: ReadStep, snapshot: Snapshot) -> bytes:
        return encode(step.run(ReadContext(self._catalog, snapshot)))

    def _read_with_current_catalog(self, step: ReadStep, snapshot: Snapshot) -> bytes:
        with snapshot.read_transaction():
            return encode(step.run(ReadContext(self._catalog.as_of(snapshot), snapshot)))

    def _read_in_one_snapshot(
        self, steps: Sequence[ReadStep], snapshot: Snapshot
    ) -> list[bytes | BaseException | None]:
        context = ReadContext(self._catalog, snapshot)
        results: list[bytes | BaseException | None] = []
        with snapshot.read_transaction():
            for step in steps:
                try:
                    results.append(encode(step.run(context)))
                except Exception:
                    results.append(None)
        return results

    def _run_or_error(self, step: ReadStep) -> bytes | BaseException:
        try:
            return self.run(step)
        except Exception as error:
            return error

    def _count_table(self, table: str) -> Counts:
        """The rows and bytes in each tree of a table; nothing if they cannot be read."""
        try:
            return self._store.read(partial(self._count_trees, table))
        except TablewrightError:  # which the step itself will report
            return {}

    def _count_trees(self, table: str, snapshot: Snapshot) -> Counts:
        with snapshot.read_transaction():
            found = ReadContext(self._catalog.as_of(snapshot), snapshot).find_table(table)
            trees = (found.tree, *(index.tree for index in found.indexes))
            return {tree.name: snapshot.count(tree) for tree in trees}

    def _write(self, step: WriteStep, counts: Counts, tx: WriteTransaction) -> bytes:
        self._writer_catalog.catch_up(tx)
        answer = step.run(WriteContext(self._writer_catalog, tx, tx, counts))
        return b"" if answer is None else encode(answer)
