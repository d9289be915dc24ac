"""The store: one SQLite file, its connections, and who commits when.

Laws:
- One connection writes, under one lock. Each thread reads through a connection of its own and
  never waits for a writer; an in-memory store has one connection for both, under the same lock.
- Writers queue. Whoever holds the lock commits everything queued, so that concurrent durable
  writers share one fsync; the others find their work done.
- A step (a function of a transaction) either raises before it changes anything or changes all it
  means to. Should one fail half way, the commit is rolled back and its steps run one by one.
- A file becomes ours in one transaction, and is switched to its log by whoever finds that undone;
  so it can be opened by many at once, and after a kill at any point.
- A process that was forked off opens the file for itself: SQLite's connections cannot be shared.

Durability: "full" syncs the log at each commit, so an acknowledged write survives power loss;
"normal" leaves that to the operating system, so it survives a killed process only.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from weakref import WeakSet

import apsw

from tablewright.errors import (
    CannotOpen,
    Fault,
    StoreClosed,
    StoreFailed,
    StoreForked,
    TablewrightError,
)
from tablewright.storage.transaction import Snapshot, Transaction

T = TypeVar("T")
Durability = Literal["full", "normal"]

APPLICATION_ID = 0x7AB1E317  # marks the file as ours in SQLite's header
FORMAT = 1

BUSY_SECONDS = 30.0
CACHE_KIB = 64 * 1024
CHECKPOINT_PAGES = 8192  # 64 MiB of log; SQLite's default of 1000 pages doubled the cost of a put
MAPPED_BYTES = 1 << 30

#: Connections of parent processes. They are kept: to close one could wait forever for a lock
#: of SQLite's that another thread of the parent held at the fork.
_INHERITED: list[object] = []
_FAILURES = (apsw.Error, TablewrightError)


def _translated(error: BaseException, path: str) -> BaseException:
    """Errors of SQLite in our words; any other as it is."""
    if isinstance(error, apsw.ConnectionClosedError | apsw.CursorClosedError):
        return StoreClosed(path)
    if isinstance(error, apsw.Error):
        return StoreFailed(f"{path}: {type(error).__name__}: {error}")
    return error


class _Work(Generic[T]):
    """A step in the queue, and later what came of it."""

    __slots__ = ("done", "error", "result", "step")

    def __init__(self, step: Callable[[Transaction], T]) -> None:
        self.step = step
        self.done = False
        self.result: T
        self.error: BaseException | None = None

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return self.result


class Store:
    """A file of trees (or ":memory:"). Threads and processes may share one file."""

    def __init__(self, path: str | Path, *, durability: Durability = "full") -> None:
        if durability not in ("full", "normal"):
            raise ValueError(f"durability is 'full' or 'normal', not {durability!r}")
        self.path = str(Path(path))  # which refuses None and the like, that str alone would take
        self.durability = durability
        self._closed = False
        self._forked = False
        self._lock = threading.RLock()
        self._queue: deque[_Work[Any]] = deque()
        #: Those of threads that have ended are gone: a thread's connection ends with it.
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        self._writer = self._connect()
        self._transaction = Transaction(self._writer)
        self._in_memory = self.path == ":memory:"
        self._local = threading.local()
        _STORES.add(self)

    def read(self, step: Callable[[Snapshot], T]) -> T:
        """Run a step that only reads."""
        try:
            if self._in_memory:
                with self._lock:
                    self._check_usable()
                    return step(self._transaction)
            if self._closed:
                raise StoreClosed(self.path)
            try:
                snapshot: Snapshot = self._local.snapshot
            except AttributeError:
                snapshot = self._local.snapshot = Snapshot(self._connect())
            return step(snapshot)
        except apsw.Error as error:
            raise _translated(error, self.path) from error

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run a step in a transaction and return once it is durable."""
        work = _Work(step)
        self._queue.append(work)
        with self._lock:
            if not work.done:
                self._commit_queued()
        return work.outcome()

    def write_all(self, steps: Sequence[Callable[[Transaction], T]]) -> list[T | BaseException]:
        """Run several independent steps in one commit: for each its result, or its error."""
        works = [_Work(step) for step in steps]
        self._queue.extend(works)
        with self._lock:
            if not all(work.done for work in works):
                self._commit_queued()
        return [work.result if work.error is None else work.error for work in works]

    def close(self) -> None:
        """Wait for the writer, fold the log into the file and close every connection."""
        with self._lock:
            self._closed = True
            if self._forked:
                return
            for connection in [*self._connections - {self._writer}, self._writer]:
                # A thread that is reading ends that first; its connection ends with it.
                with suppress(apsw.ThreadingViolationError):
                    connection.close()

    def _commit_queued(self) -> None:
        batch: list[_Work[Any]] = []
        while self._queue:
            batch.append(self._queue.popleft())
        try:
            self._settle(batch)
        finally:
            for work in batch:
                work.done = True

    def _settle(self, batch: Sequence[_Work[Any]]) -> None:
        """Commit the batch; if a step of it fails half way, commit the others one by one."""
        try:
            self._check_usable()
            self._transaction.begin()
        except _FAILURES as error:  # it would be the same for each of them
            for work in batch:
                work.error = _translated(error, self.path)
            return
        try:
            for work in batch:
                try:
                    work.result = work.step(self._transaction)
                    work.error = None
                except Fault as fault:  # by law, nothing was changed
                    work.error = fault
            self._transaction.commit()
        except BaseException as error:
            self._transaction.roll_back()
            if len(batch) == 1:
                batch[0].error = _translated(error, self.path)
            elif not isinstance(error, Exception):  # somebody wants us to stop
                for work in batch:
                    work.error = StoreFailed(f"{self.path}: interrupted")
                raise
            else:
                for work in batch:
                    self._settle([work])

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed(self.path)
        if self._forked:
            raise StoreForked(self.path)

    def _after_fork(self) -> None:
        """In the child: SQLite's connections are the parent's, and must not even be closed."""
        self._forked = True
        self._lock = threading.RLock()
        self._queue = deque()
        _INHERITED.extend((*self._connections, self._local))
        self._local = threading.local()

    def _connect(self) -> apsw.Connection:
        self._check_usable()
        try:
            connection = apsw.Connection(self.path, statementcachesize=512)
            try:
                self._set_up(connection)
            except BaseException:
                connection.close()  # else its locks would stay for as long as the error is kept
                raise
        except (apsw.NotADBError, apsw.CantOpenError, apsw.CorruptError) as error:
            raise CannotOpen(f"{self.path}: {_reason(self.path, error)}") from error
        except apsw.Error as error:
            raise _translated(error, self.path) from error
        self._connections.add(connection)
        return connection

    def _set_up(self, connection: apsw.Connection) -> None:
        connection.set_busy_handler(_wait_for_lock())  # first: even to look needs a lock
        if connection.readonly("main"):
            raise CannotOpen(f"{self.path}: the file is read-only")
        connection.execute("BEGIN")
        ours = _is_ours(connection, self.path)
        connection.execute("COMMIT")
        if not ours:
            _claim(connection, self.path)
        _switch_to_log(connection)
        connection.pragma("mmap_size", MAPPED_BYTES)
        connection.pragma("cache_size", -CACHE_KIB)
        connection.pragma("temp_store", "memory")
        connection.pragma("synchronous", self.durability)
        connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)


_STORES: WeakSet[Store] = WeakSet()


def _after_fork() -> None:
    for store in _STORES:
        store._after_fork()


os.register_at_fork(after_in_child=_after_fork)


def _claim(connection: apsw.Connection, path: str) -> None:
    """Mark an empty file as ours, unless another was quicker: then it is ours already."""
    connection.pragma("page_size", 8192)
    connection.execute("BEGIN IMMEDIATE")
    if not _is_ours(connection, path):
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", FORMAT)
    connection.execute("COMMIT")


def _switch_to_log(connection: apsw.Connection) -> None:
    """Write ahead into a log from now on; nothing is done where the file is kept so already.

    The switch cannot be part of the claim's transaction, so whoever finds it missing makes it.
    SQLite does not wait in it for others who want the same: it would wait with a lock in hand.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.001)


def _reason(path: str, error: apsw.Error) -> str:
    file = Path(path)
    if file.is_dir():
        return "is a directory"
    if not file.parent.is_dir():
        return f"there is no directory {file.parent}"
    return str(error)


def _is_ours(connection: apsw.Connection, path: str) -> bool:
    """Whether the file is marked as ours; an empty one is not yet, any other is refused.

    Asked in a transaction: between two questions, another could make an empty file ours.
    """
    marks = connection.pragma("application_id"), connection.pragma("user_version")
    if marks == (APPLICATION_ID, FORMAT):
        return True
    if marks != (0, 0) or connection.pragma("schema_version"):
        what = f"a Tablewright file of format {marks[1]}, and this version reads {FORMAT}"
        if marks[0] != APPLICATION_ID:
            what = "an SQLite file, but not one of Tablewright's"
        raise CannotOpen(f"{path}: {what}")
    return False


def _wait_for_lock() -> Callable[[int], bool]:
    """A busy handler that asks again soon: SQLite's own sleeps up to 100 ms between tries."""
    started = 0.0

    def wait(tries: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if tries == 0:
            started = now
        elif now - started > BUSY_SECONDS:
            return False
        time.sleep(min(0.0002 * (tries + 1), 0.005))
        return True

    return wait
