"""Threads: run several iterators in threads and yield their results in one iterator.

Invariants:
- The threads compute at most two results each before the caller takes one.
- The first error of a thread is raised in the caller, after all other threads have stopped.
- The threads stop if the caller stops iterating.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from queue import Queue
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class _WorkerDone(Struct):
    error: BaseException | None


def run_in_threads(workers: Sequence[Iterator[T]]) -> Iterator[T]:
    """Run each iterator in a thread, and yield the results in the order of their arrival.

    >>> sorted(run_in_threads([iter("ab"), iter("c")]))
    ['a', 'b', 'c']
    """
    reports: Queue[T | _WorkerDone] = Queue(maxsize=2 * len(workers) or 1)
    stop = threading.Event()

    def run(worker: Iterator[T]) -> None:
        error = None
        try:
            for report in worker:
                reports.put(report)
                if stop.is_set():
                    break
        except BaseException as raised:
            error = raised
        reports.put(_WorkerDone(error))

    # The caller joins the threads. They are daemons in case it is killed before that.
    threads = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            report = reports.get()
            if not isinstance(report, _WorkerDone):
                yield report
                continue
            running -= 1
            if report.error is not None:
                raise report.error
    finally:
        stop.set()
        while running:
            running -= isinstance(reports.get(), _WorkerDone)
        for thread in threads:
            thread.join()


class ThreadSafeIterator(Generic[T]):
    """An iterator that several threads can share."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._lock:
            return next(self._source)
