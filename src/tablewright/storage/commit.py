"""The write queue: commit the steps of several callers together.

    caller A ──queue──┐
    caller B ──queue──┼─▶ lock holder: BEGIN, step A, step B, step C, COMMIT ─▶ three outcomes
    caller C ──queue──┘

Invariants:
- One thread at a time runs a batch, under the lock. It commits all queued writes, so concurrent
  durable writers share one fsync; the others then find their outcome recorded.
- A step either raises a `DynamoDBError` before its first change, or makes all its changes. If a
  step fails after its first change, the batch is rolled back and its steps run one by one.
- A write stays in the queue until its outcome is recorded.

A signal handler or a debugger can raise an exception between any two instructions, even in cleanup
code. So the state of a batch is kept in the queue, and the next caller completes the work of an
interrupted one: `_settle` records the outcomes of a committed batch and rolls back any other batch.
Whether a batch was committed is recorded in the same C call as the COMMIT, so no exception can
occur between the two.

The caller that was interrupted gets the exception. Its write may have been applied; every other
write in the batch gets its outcome exactly once.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeVar

import apsw
from msgspec import Struct

from tablewright.errors import DynamoDBError, StoreFailed
from tablewright.storage.transaction import WriteTransaction

T = TypeVar("T")


class PendingWrite(Struct, eq=False):
    """A step in the queue, and later its outcome."""

    step: Callable[[WriteTransaction], Any]
    #: The outcome is recorded: `error`, or else `result`.
    done: bool = False
    #: The caller was interrupted and no longer waits for the outcome.
    abandoned: bool = False
    result: Any = None
    error: BaseException | None = None

    def fail(self, error: BaseException) -> None:
        self.error = error
        self.done = True


class Batch(Struct, eq=False):
    """The writes that share one transaction."""

    writes: Sequence[PendingWrite] = ()
    #: Not empty after the transaction is committed.
    committed: list[object] = []


class WriteQueue:
    """Runs queued steps in transactions of one connection."""

    def __init__(self, transaction: WriteTransaction) -> None:
        self.lock = threading.RLock()
        self._transaction = transaction
        self._queue: deque[PendingWrite] = deque()
        #: The batch that is running, or that an interrupted caller left.
        self.batch: Batch | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def write_all(
        self, steps: Sequence[Callable[[WriteTransaction], T]]
    ) -> list[T | BaseException]:
        """Run independent steps, in one commit if possible; return each result or error."""
        writes = list(map(PendingWrite, steps))
        try:
            self._queue.extend(writes)
            with self.lock:
                for write in writes:
                    if not write.done:
                        self._commit_queued()
                        break
        except BaseException:
            for write in writes:
                write.abandoned = True
            raise
        return [write.result if write.error is None else write.error for write in writes]

    def recover(self) -> None:
        """Finish the batch and the sandboxes of interrupted callers, if any.

        The caller must hold the lock.
        """
        if self.batch is not None:
            if is_on_stack(WriteQueue._commit_queued.__code__, self):
                raise StoreFailed(
                    "the store was used inside one of its own writes, for example by a signal "
                    "handler; use it after the write has returned"
                )
            self._settle(self.batch)
        if self._transaction.sandboxes:
            self._transaction.end_sandboxes()

    def _commit_queued(self) -> None:
        self.recover()
        # Set before the queue is read: a signal handler that writes in between must see it.
        batch = self.batch = Batch()
        batch.writes = [
            write for write in tuple(self._queue) if not write.done and not write.abandoned
        ]
        self._commit(batch)
        while self._queue and (self._queue[0].done or self._queue[0].abandoned):
            self._queue.popleft()

    def _commit(self, batch: Batch) -> None:
        """Commit a batch and record its outcomes; if a step fails, run the steps one by one."""
        writes = batch.writes
        try:
            try:
                self._transaction.begin()
            except apsw.Error as error:  # every write would fail in the same way
                self.batch = None
                for write in writes:
                    write.fail(error)
                return
            self._run(batch)
        except Exception as error:
            self._settle(batch)
            if batch.committed:  # interrupted after the commit
                raise
            if len(writes) == 1:
                writes[0].fail(error)
                return
            for write in writes:
                single = self.batch = Batch()
                single.writes = (write,)
                self._commit(single)
            if not any(isinstance(write.error, type(error)) for write in writes):
                raise  # no step failed again: a signal handler of this thread raised the error
        finally:
            self._settle(batch)

    def _run(self, batch: Batch) -> None:
        for write in batch.writes:
            try:
                write.result = write.step(self._transaction)
                write.error = None
            except DynamoDBError as fault:  # nothing was changed
                write.error = fault
                # Its frames hold the decoded items, up to 80 MB each, and this frame holds `write`:
                # a cycle that only a late run of the garbage collector would free.
                fault.__traceback__ = fault.__context__ = None
        self._transaction.commit(batch.committed)

    def _settle(self, batch: Batch) -> None:
        """Record the outcomes of a committed batch; roll back any other batch.

        Safe to call again, even after an interruption at any point.
        """
        if batch.committed:
            for write in batch.writes:
                write.done = True
        elif self.batch is batch:
            self._transaction.roll_back()
        if self.batch is batch:
            self.batch = None


def is_on_stack(code: CodeType, owner: object) -> bool:
    """Return whether the caller's caller runs inside the method `code` of `owner`, in this thread.

    Reads the call stack, because an interruption could leave a flag set.
    """
    frame = sys._getframe(2).f_back
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get("self") is owner:
            return True
        frame = frame.f_back
    return False
