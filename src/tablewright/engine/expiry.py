"""Expiry: delete expired items, on request or in a thread.

An item is expired if the TTL attribute of its table is a time in the past (in seconds), but at most
five years ago: DynamoDB treats older times as mistakes. Until they are deleted, expired items are
read and written like all others.

A sweep reads a table in steps, each in its own snapshot, and deletes expired items in transactions
of bounded size. So it needs little memory, and no writer waits for the whole sweep. Several
processes can sweep one file: each step deletes what is still there and still expired.

Invariants of the `Sweeper`, the thread that deletes expired items while a file is open:
- It runs only for a file with TTL on a table, and does nothing in a sandbox.
- It waits without a lock, works in short steps, and pauses after each. It works for at most a
  hundredth of the time, however large the tables are.
- It does not keep the store alive: it ends with the store, or with the process.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from decimal import Decimal
from functools import partial
from threading import TIMEOUT_MAX, Event, Lock, Thread
from weakref import ref

from tablewright.encoding.items import load
from tablewright.engine import maintenance
from tablewright.engine.charge import Charge
from tablewright.engine.maintenance import MAX_PAUSE, MIN_PAUSE
from tablewright.engine.rows import find_row, replace_item
from tablewright.engine.tables.catalog import TOKENS, Catalog
from tablewright.errors import StoreBusy, StoreClosed, StoreForked
from tablewright.storage import MissingTree, Row, Store, Tree, WriteTransaction
from tablewright.values import Item

FIVE_YEARS = 5 * 365 * 24 * 60 * 60
#: A sweep that deletes at least this many items ends with a checkpoint that empties the log.
LARGE_SWEEP = 10_000
#: The thread rests for this many times as long as its last sweep has worked.
REST = 100
log = logging.getLogger("tablewright.engine")


def delete_expired(store: Store, catalog: Catalog, now: float) -> int:
    """Delete the expired items of all tables, in small transactions, and return their number.

    `catalog` must be the writer's.
    """
    return sum(sweep(store, catalog, now))


def sweep(store: Store, catalog: Catalog, now: float) -> Generator[int, None, None]:
    """Do what `delete_expired` does; yield the number of deleted items after each short step."""
    committed = Catalog()
    store.read(committed.refresh)
    deleted = 0
    for name, table in committed.tables.items():
        if table.schema.ttl_attribute is not None:
            expired = partial(_is_row_expired, table.schema.ttl_attribute, now)
            for keys in _find_due(store, table.tree, expired, trees=1 + len(table.indexes)):
                done = store.write(partial(_delete_items, catalog, name, keys, now)) if keys else 0
                deleted += done
                yield done
    for keys in _find_due(store, TOKENS, partial(_is_token_expired, now)):
        if keys:
            store.write(partial(_delete_tokens, keys, now))
        yield 0
    if deleted >= LARGE_SWEEP:
        store.truncate_log()


def _find_due(
    store: Store, tree: Tree, is_due: Callable[[Row], bool], *, trees: int = 1
) -> Iterator[list[bytes]]:
    """Yield the keys of due rows of a tree, in lists that one step may delete.

    The list is empty if no row that one step may read is due. `trees` is the number of rows per
    key: one in the table and one in each index.
    """
    at_once = max(1, maintenance.MAX_STEP_ROWS // trees)
    position = b""
    is_last = False
    while not is_last:
        try:
            rows, is_last = store.read(partial(maintenance.read_step_rows, tree, position))
        except MissingTree:  # the table has been deleted
            return
        keys = [row[0] for row in rows if is_due(row)]
        for start in range(0, len(keys) or 1, at_once):
            yield keys[start : start + at_once]
        position = rows[-1][0] if rows else position


def _is_row_expired(attribute: str, now: float, row: Row) -> bool:
    return is_expired(load(row[2]), attribute, now)


def _is_token_expired(now: float, row: Row) -> bool:
    """Return whether a transaction token is expired; its expiry time is stored as the row size."""
    return row[1] < now


def is_expired(item: Item, name: str | None, now: float) -> bool:
    """Return whether the attribute `name` of an item makes it expired at `now`.

    >>> is_expired({"until": {"N": "99"}}, "until", now=100)
    True
    """
    moment = item.get(name, {}).get("N") if name else None
    return moment is not None and now - FIVE_YEARS < Decimal(moment) <= now


def _delete_items(
    catalog: Catalog, name: str, keys: Sequence[bytes], now: float, tx: WriteTransaction
) -> int:
    """Delete the items that still exist and are still expired; return their number."""
    catalog.catch_up(tx)
    table = catalog.tables.get(name)
    if table is None:
        return 0
    deleted = 0
    for key in keys:
        row = find_row(tx, table.tree, key)
        if row and is_expired(row.item, table.schema.ttl_attribute, now):
            replace_item(tx, table, key, row, None, Charge(table), expired=True)
            deleted += 1
    return deleted


def _delete_tokens(keys: Sequence[bytes], now: float, tx: WriteTransaction) -> None:
    """Delete the tokens that have not been renewed."""
    for key in keys:
        found = tx.get(TOKENS, key)
        if found and found[0] < now:
            tx.delete(TOKENS, key)


# -- in a thread


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
