"""The sweeper: a thread that deletes expired items while a file is open.

Invariants:
- It runs only for a file with TTL on a table, and does nothing in a sandbox.
- It waits without a lock, works in the short steps of `expiry`, and pauses after each. It works for
  at most a hundredth of the time, however large the tables are.
- It does not keep the store alive: it ends with the store, or with the process.

Several processes can sweep one file: each step deletes what is still there and still expired.
"""

from __future__ import annotations

import logging
import os
import time
from threading import TIMEOUT_MAX, Event, Lock, Thread
from weakref import ref

from tablewright.engine.catalog import Catalog
from tablewright.engine.expiry import sweep
from tablewright.engine.maintenance import MAX_PAUSE, MIN_PAUSE
from tablewright.errors import StoreBusy, StoreClosed, StoreForked
from tablewright.storage import Store

#: The thread rests for this many times as long as its last sweep has worked.
REST = 100

log = logging.getLogger("tablewright.engine")


class Sweeper:
    """Deletes the expired items of a store about every `seconds`; `catalog` is the writer's."""

    def __init__(self, store: Store, catalog: Catalog, seconds: float) -> None:
        self._process = os.getpid()
        self._starting = Lock()
        self._stop = stop = Event()
        self._thread: Thread | None = None
        self._path = store.path
        self._arguments = (ref(store, lambda _: stop.set()), catalog, seconds, stop)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._process != os.getpid():
            return
        with self._starting:
            if self._thread is None and not self._stop.is_set():
                thread = Thread(
                    target=_run, args=self._arguments, name="tablewright-sweeper", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError as error:  # the caller's own work is done and must not fail
                    log.error("%s: cannot start the thread for TTL: %s", self._path, error)
                    return
                self._thread = thread

    def close(self) -> None:
        """Stop the thread after its current step."""
        if self._process != os.getpid():
            return  # the parent's thread may hold the lock of the event
        self._stop.set()
        if self._thread is not None:
            self._thread.join()


def _run(find_store: ref[Store], catalog: Catalog, seconds: float, stop: Event) -> None:
    delay = seconds
    has_failed = False
    while not stop.wait(min(delay, TIMEOUT_MAX)):
        store = find_store()
        if store is None:
            return
        store.never_wait()  # so that `close` does not wait for another process
        worked = 0.0
        try:
            worked = _sweep(store, catalog, stop)
            has_failed = False
        except (StoreClosed, StoreForked):
            return
        except StoreBusy:  # another process writes for long: the next time
            pass
        except Exception as error:
            if not has_failed:
                log.error("%s: expired items are not deleted, with retries: %s", store.path, error)
            has_failed = True
        delay = max(seconds, REST * worked)
        del store  # while the thread waits


def _sweep(store: Store, catalog: Catalog, stop: Event) -> float:
    """Sweep once, with pauses; return the seconds without them."""
    worked = 0.0
    steps = sweep(store, catalog, time.time())
    while not store.is_in_sandbox:
        started = time.monotonic()
        if next(steps, None) is None:
            break
        took = time.monotonic() - started
        worked += took
        if stop.wait(min(max(took, MIN_PAUSE), MAX_PAUSE)):
            break
    else:
        steps.close()
    store.release_memory()
    return worked
