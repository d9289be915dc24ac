"""A crew: several iterators, each run in a thread of its own, whose results come as one iterator.

Laws: the threads together are ahead of the reader by two results each; the first error of any
thread is raised to the reader, once all others have stopped; they stop too when the reader leaves.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from queue import Queue
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class _Ended(Struct):
    error: BaseException | None


def together(workers: Sequence[Iterator[T]]) -> Iterator[T]:
    """What all the iterators give, as it comes.

    >>> sorted(together([iter("ab"), iter("c")]))
    ['a', 'b', 'c']
    """
    reports: Queue[T | _Ended] = Queue(maxsize=2 * len(workers) or 1)
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
        reports.put(_Ended(error))

    # They do not outlive the reader; should it be killed while it waits for them, nor do they.
    threads = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    at_work = len(threads)
    try:
        while at_work:
            report = reports.get()
            if not isinstance(report, _Ended):
                yield report
                continue
            at_work -= 1
            if report.error is not None:
                raise report.error
    finally:
        stop.set()
        while at_work:
            at_work -= isinstance(reports.get(), _Ended)
        for thread in threads:
            thread.join()


class Shared(Generic[T]):
    """An iterator that several threads take from."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._lock:
            return next(self._source)
