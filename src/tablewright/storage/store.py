"""The store: one SQLite file and its connections.

Invariants:
- One connection writes, through the queue in `commit`. Each thread reads through a connection of
  its own and never waits for a writer; an in-memory store has one connection for both, under the
  queue's lock.
- A read begins with the newest committed state, also after an interrupted one: a connection that
  an exception left in an old state is replaced.
- SQLite's connections cannot be shared with a forked process, which must open the file again.

Durability: "full" syncs the log at each commit, so an acknowledged write survives power loss;
"normal" leaves that to the operating system, so it survives a killed process only.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal, TypeVar
from weakref import WeakSet

import apsw

from tablewright.errors import StoreBusy, StoreClosed, StoreFailed, StoreForked
from tablewright.storage.commit import WriteQueue, is_on_stack
from tablewright.storage.copying import back_up, compact, truncate_log
from tablewright.storage.file import connect
from tablewright.storage.transaction import Snapshot, WriteTransaction

T = TypeVar("T")
Durability = Literal["full", "normal"]

BUSY_SECONDS = 30.0

#: Connections of parent processes. They are kept: closing one could wait forever for a lock of
#: SQLite's that another thread of the parent held at the fork.
_INHERITED: list[object] = []


class Store:
    """A file of trees (or ":memory:"). Threads and processes may share one file.

    A write waits for the lock of another process for at most `busy_seconds`, then raises
    `StoreBusy`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        durability: Durability = "full",
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        if durability not in ("full", "normal"):
            raise ValueError(f"durability is 'full' or 'normal', not {durability!r}")
        self.path = str(Path(path))  # which refuses None and the like, that str alone would take
        self.durability = durability
        self.busy_seconds = busy_seconds
        self.in_memory = self.path == ":memory:"
        self._closed = False
        self._forked = False
        #: A thread's connection is closed when the thread ends.
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        self._writer = self._connect(create=True)
        self._transaction = WriteTransaction(self._writer)
        self._queue = WriteQueue(self._transaction)
        self._local = threading.local()
        _STORES.add(self)

    def read(self, step: Callable[[Snapshot], T]) -> T:
        """Run a step that only reads."""
        try:
            if self.in_memory:
                with self._queue.lock:
                    self._check_usable()
                    self._queue.recover()
                    return step(self._transaction)
            if self._closed:
                raise StoreClosed(self.path)
            try:
                snapshot: Snapshot = self._local.snapshot
            except AttributeError:
                snapshot = self._local.snapshot = Snapshot(self._connect())
            if snapshot.in_use:  # the last read has raised, or this one runs inside of it
                snapshot = self._clean_snapshot(snapshot)
            snapshot.in_use = True
            result = step(snapshot)
            snapshot.in_use = False
            return result
        except apsw.Error as error:
            raise self._translate_error(error) from error

    def write(self, step: Callable[[WriteTransaction], T]) -> T:
        """Run a step in a transaction and return once it is durable.

        If an exception from outside, such as KeyboardInterrupt, interrupts the call, the step may
        have been applied or not; the store stays usable.
        """
        (result,) = self.write_all((step,))
        if isinstance(result, BaseException):
            raise result
        return result

    def write_all(
        self, steps: Sequence[Callable[[WriteTransaction], T]]
    ) -> list[T | BaseException]:
        """Run independent steps, in one commit if possible: for each its result, or its error."""
        try:
            self._check_usable()
        except (StoreClosed, StoreForked) as error:
            return [error] * len(steps)
        results = self._queue.write_all(steps)
        for position, result in enumerate(results):
            if isinstance(result, apsw.Error):
                results[position] = self._translate_error(result)
        return results

    def back_up(self, copy: str | Path) -> None:
        """Write the state of this moment into a new file, while others read and write."""
        try:
            if self.in_memory:
                with self._queue.lock:
                    self._check_usable()
                    self._queue.recover()
                    back_up(self._writer, Path(copy))
            else:
                with closing(self._connect()) as connection:
                    back_up(connection, Path(copy))
        except apsw.Error as error:
            raise self._translate_error(error) from error

    def compact(self) -> None:
        """Give the space of deleted rows back to the file system. Writers wait meanwhile."""
        self._run_on_file(compact)

    def truncate_log(self) -> None:
        """Fold the log into the file and empty it, if no other connection needs it just now."""
        self._run_on_file(truncate_log)

    def _run_on_file(self, function: Callable[[str], None]) -> None:
        self._check_usable()
        if not self.in_memory:
            try:
                function(self.path)
            except apsw.Error as error:
                raise self._translate_error(error) from error

    def close(self) -> None:
        """Wait for the writer, fold the log into the file and close every connection."""
        if self._forked:
            self._closed = True
            return
        with self._queue.lock:
            self._closed = True
            for connection in [*self._connections - {self._writer}, self._writer]:
                # A thread that is reading finishes first; its connection is closed with it.
                with suppress(apsw.ThreadingViolationError):
                    connection.close()

    def _clean_snapshot(self, snapshot: Snapshot) -> Snapshot:
        """A snapshot without open statements: the same one, or one with a new connection."""
        if not snapshot.has_open_transaction():
            return snapshot
        renewed = self._local.snapshot = Snapshot(self._connect())
        if not is_on_stack(Store.read.__code__, self):
            snapshot.close()
        return renewed

    def _connect(self, *, create: bool = False) -> apsw.Connection:
        """Open one more connection. A file that was deleted meanwhile is not made again."""
        self._check_usable()
        try:
            connection = connect(self.path, self.durability, self.busy_seconds, create=create)
        except apsw.Error as error:
            raise self._translate_error(error) from error
        self._connections.add(connection)
        return connection

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed(self.path)
        if self._forked:
            raise StoreForked(self.path)

    def _translate_error(self, error: apsw.Error) -> StoreClosed | StoreFailed:
        """An error of SQLite's as one of ours."""
        if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
            return StoreClosed(self.path)
        if isinstance(error, apsw.BusyError):
            return StoreBusy(
                f"{self.path}: another process has held the write lock for more than "
                f"{self.busy_seconds:g} seconds; try again"
            )
        return StoreFailed(f"{self.path}: {type(error).__name__}: {error}")

    def _after_fork(self) -> None:
        """In the child: SQLite's connections are the parent's, and must not even be closed."""
        self._forked = True
        self._queue = WriteQueue(self._transaction)
        _INHERITED.extend((*self._connections, self._local))
        self._local = threading.local()


_STORES: WeakSet[Store] = WeakSet()


def _after_fork() -> None:
    for store in _STORES:
        store._after_fork()


os.register_at_fork(after_in_child=_after_fork)
