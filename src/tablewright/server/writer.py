"""The writer: a thread that commits, so that the event loop never waits for a lock or a disk.

Only the write of the only client is committed on the event loop (`commit_now`): no other write can
share its commit, and two changes of threads take longer than its other work.

Invariants:
- Writes are committed in the order in which they were submitted. Writes that arrive during a commit
  share the next one and its fsync.
- Every write has exactly one result, which is delivered on the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from tablewright.engine import Engine, WriteStep
from tablewright.errors import StoreBusy
from tablewright.server.failures import FileWatch

if TYPE_CHECKING:
    from tablewright.server.isolation import IsolatedEngines

T = TypeVar("T")
Results: TypeAlias = Sequence[bytes | BaseException]


class Writer(Generic[T]):
    """Commits steps in a thread. Each step has a value that is delivered with its result."""

    def __init__(
        self,
        engine: Engine | IsolatedEngines,
        watch: FileWatch,
        deliver: Callable[[list[tuple[T, WriteStep]], Results], None],
    ) -> None:
        self._engine = engine
        self._watch = watch
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[list[tuple[T, WriteStep]] | None] = SimpleQueue()
        self._submitted = 0  # writes that are not delivered yet
        if isinstance(engine, Engine):
            engine.never_wait()
        self._thread = threading.Thread(target=self._run, name="tablewright-writer", daemon=True)
        self._thread.start()

    def submit(self, writes: list[tuple[T, WriteStep]]) -> None:
        """Commit these writes together with the others that wait."""
        self._submitted += len(writes)
        self._queue.put(writes)

    def commit_now(self, step: WriteStep) -> bytes | BaseException | None:
        """Commit on the event loop; return None, without an effect, if that has to wait."""
        if self._submitted or not isinstance(self._engine, Engine) or self._engine.is_writing:
            return None
        (result,) = commit(self._engine, self._watch, [step])
        return None if isinstance(result, StoreBusy) else result

    async def stop(self) -> None:
        """Commit the waiting writes, and end the thread."""
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)
        if isinstance(self._engine, Engine):
            self._engine.wait_again()

    def _run(self) -> None:
        is_running = True
        while is_running:
            batch: list[tuple[T, WriteStep]] = []
            waiting = self._queue.get()
            while waiting is not None:
                batch += waiting
                try:
                    waiting = self._queue.get_nowait()
                except Empty:
                    break
            else:
                is_running = False
            if batch:
                results = commit(self._engine, self._watch, [step for _, step in batch])
                self._loop.call_soon_threadsafe(self._delivered, batch, results)

    def _delivered(self, batch: list[tuple[T, WriteStep]], results: Results) -> None:
        self._submitted -= len(batch)
        self._deliver(batch, results)


def commit(
    engine: Engine | IsolatedEngines, watch: FileWatch, steps: Sequence[WriteStep]
) -> Results:
    """Commit steps together, if the file is still the one that was opened; never raise."""
    try:
        watch.require_same_file()
        return engine.write_all(steps)
    except Exception as error:
        return [error] * len(steps)
