"""The write queue: steps of several callers in one commit.

    caller A ──queue──┐
    caller B ──queue──┼─▶ lock holder: BEGIN, step A, step B, step C, COMMIT ─▶ three outcomes
    caller C ──queue──┘

Invariants:
- One thread at a time runs a batch, under the lock. It commits all queued writes, so concurrent
  durable writers share one fsync; the others then find their outcome recorded.
- A step either raises a `DynamoDBError` before it changes anything, or changes all it means to. If
  a step fails half way, the batch is rolled back and its steps run one by one.
- A write stays in the queue until its outcome is recorded.

A signal handler or a debugger can raise an exception between any two instructions, also in the code
that cleans up. So the state of a batch is kept where the next caller finds it, and that caller
finishes the work of an interrupted one: `settle` records the outcomes of a batch that was committed
and rolls back any other. Whether a batch was committed is recorded in the same C call as the COMMIT
itself, so no exception can come between the two.

The caller that was interrupted gets the exception. Its write may have been applied; every other
write in the batch gets its outcome exactly once.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Generic, TypeVar

import apsw

from tablewright.errors import DynamoDBError, StoreFailed
from tablewright.storage.transaction import WriteTransaction

T = TypeVar("T")


class PendingWrite(Generic[T]):
    """A step in the queue, and later its outcome."""

    __slots__ = ("abandoned", "done", "error", "result", "step")

    def __init__(self, step: Callable[[WriteTransaction], T]) -> None:
        self.step = step
        #: The outcome is recorded: `error`, or else `result`.
        self.done = False
        #: Its caller was interrupted and waits for no outcome.
        self.abandoned = False
        self.result: T
        self.error: BaseException | None = None

    def fail(self, error: BaseException) -> None:
        self.error = error
        self.done = True


class Batch:
    """The writes that share one transaction."""

    __slots__ = ("committed", "writes")

    def __init__(self) -> None:
        self.writes: Sequence[PendingWrite[Any]] = ()
        #: Not empty once the transaction is committed.
        self.committed: list[object] = []


class WriteQueue:
    """Runs queued steps in transactions of one connection."""

    def __init__(self, transaction: WriteTransaction) -> None:
        self.lock = threading.RLock()
        self._transaction = transaction
        self._queue: deque[PendingWrite[Any]] = deque()
        #: The batch under way, or the one that an interrupted caller left behind.
        self._batch: Batch | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def write_all(
        self, steps: Sequence[Callable[[WriteTransaction], T]]
    ) -> list[T | BaseException]:
        """Run independent steps, in one commit if possible: for each its result, or its error."""
        writes = [PendingWrite(step) for step in steps]
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
        """Finish the batch of an interrupted caller, if there is one. Needs the lock."""
        if self._batch is not None:
            if is_on_stack(WriteQueue._commit_queued.__code__, self):
                raise StoreFailed(
                    "the store was used inside one of its own writes, for example by a signal "
                    "handler; use it after the write has returned"
                )
            self._settle(self._batch)

    def _commit_queued(self) -> None:
        self.recover()
        # Before the queue is read: a signal handler that writes in between must find it.
        batch = self._batch = Batch()
        batch.writes = [
            write for write in tuple(self._queue) if not write.done and not write.abandoned
        ]
        self._commit(batch)
        while self._queue and (self._queue[0].done or self._queue[0].abandoned):
            self._queue.popleft()

    def _commit(self, batch: Batch) -> None:
        """Commit a batch and record its outcomes; what fails half way runs again, one by one."""
        writes = batch.writes
        try:
            try:
                self._transaction.begin()
            except apsw.Error as error:  # it would be the same for each of them
                self._batch = None
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
                single = self._batch = Batch()
                single.writes = (write,)
                self._commit(single)
            if not any(isinstance(write.error, type(error)) for write in writes):
                raise  # no step has failed again: a signal handler of this thread raised it
        finally:
            self._settle(batch)

    def _run(self, batch: Batch) -> None:
        for write in batch.writes:
            try:
                write.result = write.step(self._transaction)
                write.error = None
            except DynamoDBError as fault:  # nothing was changed
                write.error = fault
        self._transaction.commit(batch.committed)

    def _settle(self, batch: Batch) -> None:
        """Record the outcomes of a batch that was committed; roll back any other.

        Safe to repeat, and to repeat after an interruption at any point.
        """
        if batch.committed:
            for write in batch.writes:
                write.done = True
        elif self._batch is batch:
            self._transaction.roll_back()
        if self._batch is batch:
            self._batch = None


def is_on_stack(code: CodeType, owner: object) -> bool:
    """Whether the caller of the caller runs inside the method `code` of `owner`, in this thread.

    Asked of the stack itself: a flag could be left behind by an interruption.
    """
    frame = sys._getframe(2).f_back
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get("self") is owner:
            return True
        frame = frame.f_back
    return False
