"""The store: one SQLite file and its connections.

Invariants:
- One connection writes, through the queue in `commit`. Each thread reads through a connection of
  its own and never waits for a writer; an in-memory store has one connection for both, under the
  queue's lock.
- A read starts from the latest committed state, even after an interrupted read: a connection with a
  transaction that an exception left open is replaced.
- A forked process cannot use the SQLite connections of its parent; it must open the file again.
- In a sandbox the writing connection holds a transaction that is rolled back in the end. All reads
  use that connection, under the queue's lock, so that they see the writes; other processes read the
  state before the sandbox, and wait to write.

Durability: "full" syncs the log at each commit, so an acknowledged write survives power loss;
"normal" does not sync, so it survives a killed process but not power loss.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar
from weakref import WeakSet

import apsw

from tablewright.errors import StoreBusy, StoreClosed, StoreFailed, StoreForked
from tablewright.storage.commit import WriteQueue, is_on_stack
from tablewright.storage.file import back_up, compact, connect, truncate_log
from tablewright.storage.log import log_path, read_salts
from tablewright.storage.sandbox import OpenSandbox, Restore, Sandbox
from tablewright.storage.transaction import Snapshot, WriteTransaction

T = TypeVar("T")
Durability = Literal["full", "normal"]

BUSY_SECONDS = 30.0
#: The number of calls after which a store looks for a new log. Looking takes 6 µs.
NOTE_CALLS = 64

#: Connections of parent processes. They are never closed: closing one could wait forever for a
#: lock of SQLite that another thread of the parent held at the fork.
_INHERITED: list[object] = []


class Store:
    """A file of trees (or ":memory:"). Threads and processes can share one file.

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
            raise ValueError(f"durability must be 'full' or 'normal', not {durability!r}")
        self.path = str(Path(path))  # Path rejects None and other types that str accepts
        self.durability = durability
        self.busy_seconds = busy_seconds
        self.in_memory = self.path == ":memory:"
        self._closed = False
        self._forked = False
        #: A thread's connection is closed when the thread ends.
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        #: The threads whose writes never wait for a lock of another process.
        self._impatient: set[int] = set()
        self._writer = self._connect(create=True, impatient=self._impatient)
        self._transaction = WriteTransaction(self._writer)
        self._queue = WriteQueue(self._transaction)
        self._sandboxes = self._transaction.sandboxes
        self._local = threading.local()
        self._calls = 0
        self._log_path = log_path(self.path)
        #: The log that is known to be noted, and the rows that were changed until then.
        self._noted_log = b""
        self._noted_rows = 0
        _STORES.add(self)

    def read(self, step: Callable[[Snapshot], T]) -> T:
        """Run a step that only reads, and return its result."""
        try:
            if self.in_memory or self._sandboxes:
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
            if snapshot.in_use:  # the last read raised, or this read is nested in it
                snapshot = self._clean_snapshot(snapshot)
            snapshot.in_use = True
            result = step(snapshot)
            snapshot.in_use = False
            return result
        except apsw.Error as error:
            raise self._translate_error(error) from error

    def write(self, step: Callable[[WriteTransaction], T]) -> T:
        """Run a step in a transaction and return once it is durable.

        If an asynchronous exception such as KeyboardInterrupt interrupts the call, the step may or
        may not have been applied; the store stays usable.
        """
        (result,) = self.write_all((step,))
        if isinstance(result, BaseException):
            raise result
        return result

    def write_all(
        self, steps: Sequence[Callable[[WriteTransaction], T]]
    ) -> list[T | BaseException]:
        """Run independent steps, in one commit if possible; return each result or error."""
        try:
            self._check_usable()
        except (StoreClosed, StoreForked) as error:
            return [error] * len(steps)
        results = self._queue.write_all(steps)
        for position, result in enumerate(results):
            if isinstance(result, apsw.Error):
                results[position] = self._translate_error(result)
        self._calls += 1
        if not self._calls % NOTE_CALLS:
            self._note_log()
        return results

    @property
    def is_writing(self) -> bool:
        """Whether a write of another thread is running."""
        return self._queue.batch is not None

    def never_wait(self) -> None:
        """Let writes of this thread fail at once where they would wait for another process."""
        self._impatient.add(threading.get_ident())

    def wait_again(self) -> None:
        """Let writes of this thread wait for other processes again."""
        self._impatient.discard(threading.get_ident())

    def sandbox(self, remember: Callable[[], Restore]) -> Sandbox:
        """Return a context manager that undoes all writes of its block.

        `remember` is called at its beginning, and the function that it returns after the undo. One
        in another one ends with it. Until it ends, other processes cannot write. Entering it
        raises `StoreBusy` if another process writes for more than `busy_seconds`.
        """
        return Sandbox(self._begin_sandbox, self._end_sandboxes, remember)

    def _begin_sandbox(self, sandbox: OpenSandbox) -> None:
        try:
            with self._queue.lock:
                self._check_usable()
                self._queue.recover()
                self._transaction.begin_sandbox(sandbox)
        except apsw.Error as error:
            raise self._translate_error(error) from error

    def _end_sandboxes(self) -> None:
        """End the sandboxes that are over. Closing the store ends all of them."""
        try:
            with self._queue.lock:
                if not (self._closed or self._forked):
                    self._queue.recover()
        except apsw.Error as error:
            raise self._translate_error(error) from error

    @property
    def undone_sandboxes(self) -> int:
        """The number of times that sandboxes were undone: rows read before may be different."""
        return self._transaction.undone

    @property
    def is_in_sandbox(self) -> bool:
        """Whether writes are undone at the end of a sandbox."""
        return bool(self._sandboxes)

    def release_memory(self) -> None:
        """Free the cache of this thread's connection, after it has read much and will wait."""
        self.read(Snapshot.release_memory)

    def back_up(self, copy: str | Path) -> None:
        """Write the current state into a new file; reads and writes can continue meanwhile."""
        self._refuse_in_sandbox("back up the file")
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
        """Free the disk space of deleted rows. Writers wait until it is done."""
        self._refuse_in_sandbox("compact the file")
        self._run_on_file(compact)

    def truncate_log(self) -> None:
        """Move the log into the file and empty it, unless another connection is using it."""
        self._run_on_file(truncate_log)

    def _run_on_file(self, function: Callable[[str], None]) -> None:
        self._check_usable()
        if not self.in_memory:
            try:
                function(self.path)
            except apsw.Error as error:
                raise self._translate_error(error) from error

    def close(self) -> None:
        """Wait for the writer, move the log into the file and close all connections."""
        if self._forked:
            self._closed = True
            return
        with self._queue.lock:
            if not self._closed:
                self.never_wait()  # a process that is writing notes the log itself
                with suppress(StoreFailed, apsw.Error):
                    self._note_log(is_closing=True)
            self._closed = True
            for connection in [*self._connections - {self._writer}, self._writer]:
                # A thread that is reading finishes first; its connection is closed with it.
                with suppress(apsw.ThreadingViolationError):
                    connection.close()

    def _note_log(self, *, is_closing: bool = False) -> None:
        """Note a new log in the file; at the end also one that was written to. Ignore errors.

        So an old copy of the log is found when the file is opened (`log`).
        """
        log = b"" if self.in_memory else read_salts(self._log_path)
        if log and (is_closing or log != self._noted_log):
            self._queue.write_all((partial(self._write_note, log, is_closing),))

    def _write_note(self, log: bytes, is_closing: bool, tx: WriteTransaction) -> None:
        if not tx.sandboxes:  # they are undone
            tx.note_log(log, again=is_closing and tx.changed_rows > self._noted_rows)
            self._noted_log, self._noted_rows = log, tx.changed_rows

    def _clean_snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot without an open transaction, on a new connection if necessary."""
        if not snapshot.has_open_transaction():
            return snapshot
        renewed = self._local.snapshot = Snapshot(self._connect())
        if not is_on_stack(Store.read.__code__, self):
            snapshot.close()
        return renewed

    def _connect(self, *, create: bool = False, impatient: Collection[int] = ()) -> apsw.Connection:
        """Open another connection. A file that was deleted meanwhile is not recreated."""
        self._check_usable()
        try:
            connection = connect(
                self.path, self.durability, self.busy_seconds, create=create, impatient=impatient
            )
        except apsw.Error as error:
            raise self._translate_error(error) from error
        self._connections.add(connection)
        return connection

    def _refuse_in_sandbox(self, action: str) -> None:
        if self._sandboxes:
            self._end_sandboxes()
        if self.is_in_sandbox:
            raise StoreFailed(
                f"{self.path}: cannot {action} in a sandbox: its writes are undone; leave it first"
            )

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed(self.path)
        if self._forked:
            raise StoreForked(self.path)

    def _translate_error(self, error: apsw.Error) -> StoreClosed | StoreFailed:
        """Convert an error of SQLite into one of `tablewright.errors`."""
        if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
            return StoreClosed(self.path)
        if isinstance(error, apsw.BusyError):
            return StoreBusy(
                f"{self.path}: another process has held the write lock for more than "
                f"{self.busy_seconds:g} seconds; retry the request, or raise busy_seconds"
            )
        return StoreFailed(f"{self.path}: {type(error).__name__}: {error}")

    def _after_fork(self) -> None:
        """Mark the store as forked, in the child: it must not use or close the connections."""
        self._forked = True
        self._queue = WriteQueue(self._transaction)
        _INHERITED.extend((*self._connections, self._local))
        self._local = threading.local()


_STORES: WeakSet[Store] = WeakSet()


def _after_fork() -> None:
    for store in _STORES:
        store._after_fork()


os.register_at_fork(after_in_child=_after_fork)
