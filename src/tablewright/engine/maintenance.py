"""Maintenance: long work on trees, in short steps, so that no request waits for all of it.

A job (`catalog.Job`) fills a new index from its table, or deletes the rows of a tree whose table or
index is gone. What fits in one step is done at once, by the request itself; the rest is done by a
thread that lives as long as there are jobs.

Invariants:
- A step is one transaction. It changes rows, the job and, with the last step, the schema. So a
  process that is killed loses one step at most, and any engine on the file can do the next one.
- Every write maintains every index, also one that is being built (`rows.replace`). So a row of such
  an index is never wrong, and only rows of items after the job's position may be missing.
- A step reads and changes at most `STEP_ROWS` rows and about `STEP_BYTES`. Between two steps the
  write lock is free for other threads and processes.
- A tree that is to be deleted has another name from the start (`Tree(…, retired=True)`): a reader
  with an old catalog does not find it, and never sees it half empty.

This module knows nothing of requests and answers.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import closing
from threading import Event, Lock, Thread

import msgspec

from tablewright.engine.catalog import Catalog, Job, jobs
from tablewright.engine.rows import Row, enter
from tablewright.engine.table import Index, Table
from tablewright.errors import StoreClosed, StoreFailed, StoreForked
from tablewright.storage import MissingTree, Snapshot, Store, Transaction, Tree
from tablewright.storage import Row as StoredRow

#: The bounds of a step. Entering a row takes about 8 µs, so a step takes 5 to 20 ms.
STEP_ROWS = 1000
STEP_BYTES = 1024 * 1024
#: The thread pauses for as long as the last step took, within these bounds (seconds). A writer of
#: another process tries again every 5 ms, and needs a gap that it can hit.
SHORTEST_PAUSE = 0.006
LONGEST_PAUSE = 0.05
#: After a failure the thread waits twice as long each time, up to this (seconds).
LONGEST_RETRY = 60.0

log = logging.getLogger("tablewright.engine")


def read_rows(snapshot: Snapshot, tree: Tree, position: bytes) -> tuple[list[StoredRow], bool]:
    """Read the rows after `position` that fit in one step, and whether they are the last ones."""
    rows: list[StoredRow] = []
    size = 0
    walk = snapshot.walk(tree, position + b"\x00" if position else b"", None)
    with closing(walk):
        for row in walk:
            rows.append(row)
            size += row[1]
            if len(rows) >= STEP_ROWS or size >= STEP_BYTES:
                return rows, False
    return rows, True


def build_index(catalog: Catalog, tx: Transaction, table: str, tree: int) -> None:
    """Begin to fill a new index; when it fits in one step, it is ready at once."""
    tx.create_tree(Tree(tree))
    _advance(catalog, tx, Job(tree, table))


def delete_tree(catalog: Catalog, tx: Transaction, tree: int) -> None:
    """Delete a tree; if it does not fit in one step, only rename it, and leave a job."""
    job = Job(tree)
    _, is_small = read_rows(tx, Tree(tree), b"")
    if is_small:
        tx.drop_tree(Tree(tree))
        catalog.remove_job(tx, job)  # it may have been under construction
    else:
        tx.rename_tree(Tree(tree), Tree(tree, retired=True))
        catalog.put_job(tx, job)


def _advance(catalog: Catalog, tx: Transaction, job: Job) -> None:
    """Do one step of a job."""
    if job.table is None:
        _delete_some(catalog, tx, job)
    else:
        _build_some(catalog, tx, job)


def _build_some(catalog: Catalog, tx: Transaction, job: Job) -> None:
    table, index = _index_of(catalog, job)
    rows, is_last = read_rows(tx, table.tree, job.position)
    for key, size, body in rows:
        enter(tx, index, key, Row(None, size, body))
    if not is_last:
        catalog.put_job(tx, msgspec.structs.replace(job, position=rows[-1][0]))
        return
    ready = msgspec.structs.replace(index.schema, building=False)
    indexes = tuple(ready if old.tree == job.tree else old for old in table.schema.indexes)
    catalog.save(tx, msgspec.structs.replace(table.schema, indexes=indexes))
    catalog.remove_job(tx, job)


def _delete_some(catalog: Catalog, tx: Transaction, job: Job) -> None:
    tree = Tree(job.tree, retired=True)
    try:
        rows, is_last = read_rows(tx, tree, b"")
    except MissingTree:  # deleted behind the engine's back: nothing is left to do
        catalog.remove_job(tx, job)
        return
    if is_last:
        tx.drop_tree(tree)
        catalog.remove_job(tx, job)
        return
    for key, _, _ in rows:
        tx.delete(tree, key)


def _index_of(catalog: Catalog, job: Job) -> tuple[Table, Index]:
    table = catalog.tables.get(job.table or "")
    for index in table.indexes if table else ():
        if table and index.schema.tree == job.tree:
            return table, index
    raise StoreFailed(f"the file is damaged: {job.table} has no index with the tree {job.tree}")


class Maintenance:
    """Does the jobs of a store: step by step when called, or in a thread of its own.

    `catalog` is the writer's. Without `background` jobs wait until they are asked for.
    """

    def __init__(self, store: Store, catalog: Catalog, *, background: bool) -> None:
        self._store = store
        self._catalog = catalog
        self._background = background
        self._process = os.getpid()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._is_wanted = False  # asked for since the thread last looked for jobs
        self._stop = Event()

    def start(self) -> None:
        """Let the thread look for jobs; it is started if it does not run."""
        if not self._background or self._process != os.getpid():
            return
        with self._lock:
            self._is_wanted = True
            if self._thread is None and not self._stop.is_set():
                thread = Thread(target=self._work, name="tablewright-maintenance", daemon=True)
                thread.start()
                self._thread = thread

    def step(self) -> bool:
        """Do one step of the most urgent job; False if there is no job."""
        return self._store.write(self._step)

    def close(self) -> None:
        """Stop the thread after the step it is at. What is left is done when the file is opened."""
        if self._process != os.getpid():  # the thread is the parent's, and its locks may be held
            return
        self._stop.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _step(self, tx: Transaction) -> bool:
        self._catalog.follow(tx)
        found = jobs(tx)
        if not found:
            self._catalog.has_jobs = False
            return False
        # Indexes first: a client may wait for them.
        _advance(self._catalog, tx, min(found, key=lambda job: (job.table is None, job.tree)))
        return True

    def _work(self) -> None:
        retry = 1.0
        while not self._stop.is_set():
            started = time.monotonic()
            try:
                has_worked = self.step()
            except (StoreClosed, StoreForked):
                return
            except Exception as error:
                if retry == 1.0:
                    log.error(
                        "%s: building an index or deleting a table failed, and is tried again: %s",
                        self._store.path,
                        error,
                    )
                self._stop.wait(retry)
                retry = min(2 * retry, LONGEST_RETRY)
                continue
            retry = 1.0
            if has_worked:
                took = time.monotonic() - started
                self._stop.wait(min(max(took, SHORTEST_PAUSE), LONGEST_PAUSE))
                continue
            with self._lock:
                if not self._is_wanted:
                    self._thread = None
                    return
                self._is_wanted = False
