"""Maintenance: long work on trees, done in short steps so that requests do not wait for it.

A job (`catalog.Job`) fills a new index from its table, or deletes the rows of a tree whose table or
index was deleted. Work that fits in one step is done by the request itself; the rest is done by a
thread that runs while there are jobs.

Invariants:
- A step is one transaction. It changes rows, the job and, in the last step, the schema. So a killed
  process leaves a consistent state, and any engine on the file can continue.
- Every write updates every index, including one that is being built (`rows.replace_item`). So no
  row of such an index is wrong, and only rows of items after the job's position can be missing.
- A step changes at most `MAX_STEP_ROWS` rows and about `MAX_STEP_BYTES`. Between two steps the
  write lock is free for other threads and processes.
- A tree is renamed before its rows are deleted (`Tree(…, retired=True)`): a reader with an old
  catalog does not find it, and never sees it partly deleted.

Items are added to an index in chunks, and within a chunk in the order of the index. In the order of
the table, nearly every item changes a different page: for a million items this wrote 8 GB of log,
in commits of 8 MB that block other writers. A chunk is a list of keys, read without the write lock;
a step adds the items that the table has under these keys at that time. The position of the job is
updated at the end of a chunk.

This module does not know requests or responses.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from heapq import merge
from itertools import islice
from threading import Event, Lock, Thread

import msgspec

from tablewright.encoding.items import load
from tablewright.engine.item_counts import ItemCounts
from tablewright.engine.rows import ItemRow, add_to_index, find_row
from tablewright.engine.tables.catalog import Catalog, Job, read_jobs
from tablewright.engine.tables.table import StoredIndex, StoredTable
from tablewright.errors import StoreClosed, StoreFailed, StoreForked
from tablewright.storage import MissingTree, Row, Snapshot, Store, Tree, WriteTransaction

#: The limits of a step. Adding a row takes about 15 µs, so a step takes 5 to 20 ms.
MAX_STEP_ROWS = 500
MAX_STEP_BYTES = 1024 * 1024
#: The limit of a chunk: the bytes of its keys, with the overhead of Python objects for each.
MAX_CHUNK_BYTES = 32 * 1024 * 1024
KEY_OVERHEAD = 150
#: The thread pauses for as long as the last step took, within these limits (seconds). A writer of
#: another process retries every 5 ms, and needs a pause that is longer than that.
MIN_PAUSE = 0.006
MAX_PAUSE = 0.05
#: After each failure in a row the delay doubles, up to this limit (seconds).
MAX_RETRY_DELAY = 60.0

log = logging.getLogger("tablewright.engine")


def read_step_rows(tree: Tree, position: bytes, snapshot: Snapshot) -> tuple[list[Row], bool]:
    """Return the rows after `position` that fit in one step, and whether they are the last."""
    rows: list[Row] = []
    size = 0
    first = position + b"\x00" if position else b""
    with closing(snapshot.walk(tree, first, None)) as walk:
        for row in walk:
            rows.append(row)
            size += len(row[2])
            if len(rows) >= MAX_STEP_ROWS or size >= MAX_STEP_BYTES:
                return rows, False
    return rows, True


def build_index(catalog: Catalog, tx: WriteTransaction, table: str, tree: int) -> None:
    """Fill a new index in this step if the table is small; otherwise add a job for it."""
    tx.create_tree(Tree(tree))
    job = Job(tree, table)
    rows, is_small = read_step_rows(catalog.tables[table].tree, b"", tx)
    if is_small:
        _, index = _find_index(catalog, job)
        for key, size, body in rows:
            add_to_index(tx, index, key, ItemRow(None, size, body))
        _activate_index(catalog, tx, job)
    else:
        catalog.put_job(tx, job)


def delete_tree(catalog: Catalog, tx: WriteTransaction, tree: int) -> None:
    """Delete a tree in this step if it is small; otherwise rename it and add a job for it."""
    job = Job(tree)
    _, is_small = _read_first_keys(tx, Tree(tree))
    if is_small:
        tx.drop_tree(Tree(tree))
        catalog.remove_job(tx, job)  # there is one if the index was still being built
    else:
        tx.rename_tree(Tree(tree), Tree(tree, retired=True))
        catalog.put_job(tx, job)


class _Chunk:
    """Keys of rows of a table, in the order of the index that the rows are added to.

    `advance` must be called after the transaction that added rows is committed: before that, the
    step may have to run again.
    """

    def __init__(
        self,
        job: Job,
        undone: int,
        runs: Sequence[list[tuple[bytes, bytes]]],
        position: bytes,
        is_last: bool,
    ) -> None:
        self.job = job
        self._undone = undone
        self._keys: Iterator[tuple[bytes, bytes]] = merge(*runs)
        self._position = position
        self._is_last = is_last
        self._pending: list[bytes] = []
        self._is_at_end = False
        self.advance(0)

    def advance(self, added: int) -> None:
        """Drop the first `added` keys, whose rows are in the index, and load the next ones."""
        new = [key for _, key in islice(self._keys, MAX_STEP_ROWS - len(self._pending) + added)]
        self._pending = self._pending[added:] + new
        self._is_at_end = len(self._pending) < MAX_STEP_ROWS

    def is_valid(self, job: Job, tx: WriteTransaction) -> bool:
        """Return whether neither another engine nor the end of a sandbox has changed the job."""
        return self.job == job and self._undone == tx.undone

    def add_next_rows(self, catalog: Catalog, tx: WriteTransaction) -> int | None:
        """Add the next rows to the index; return their number, or None at the end of the chunk."""
        table, index = _find_index(catalog, self.job)
        size = 0
        for number, key in enumerate(self._pending, 1):
            row = find_row(tx, table.tree, key)
            if row is not None:
                add_to_index(tx, index, key, row)
                size += row.size
                if size >= MAX_STEP_BYTES:
                    return number
        if not self._is_at_end:
            return len(self._pending)
        if self._is_last:
            _activate_index(catalog, tx, self.job)
        else:
            catalog.put_job(tx, msgspec.structs.replace(self.job, position=self._position))
        return None


def _activate_index(catalog: Catalog, tx: WriteTransaction, job: Job) -> None:
    """Mark an index as complete, so that it can be read, and remove its job."""
    table, index = _find_index(catalog, job)
    ready = msgspec.structs.replace(index.schema, building=False)
    indexes = tuple(ready if old.tree == job.tree else old for old in table.schema.indexes)
    catalog.save_schema(tx, msgspec.structs.replace(table.schema, indexes=indexes))
    catalog.remove_job(tx, job)


def _delete_next_rows(catalog: Catalog, tx: WriteTransaction, job: Job) -> None:
    tree = Tree(job.tree, retired=True)
    try:
        keys, is_last = _read_first_keys(tx, tree)
    except MissingTree:  # already deleted by other means
        catalog.remove_job(tx, job)
        return
    if is_last:
        tx.drop_tree(tree)
        catalog.remove_job(tx, job)
        return
    for key in keys:
        tx.delete(tree, key)


def _read_first_keys(tx: WriteTransaction, tree: Tree) -> tuple[list[bytes], bool]:
    """Return the keys of the first rows that one step may delete, and whether they are all."""
    keys: list[bytes] = []
    size = 0
    with closing(tx.inspect(tree, b"", None)) as walk:  # damaged rows must be deleted, too
        for key, _, body, intact in walk:
            keys.append(key)
            size += len(body) if intact else 0
            if len(keys) >= MAX_STEP_ROWS or size >= MAX_STEP_BYTES:
                return keys, False
    return keys, True


def _find_index(catalog: Catalog, job: Job) -> tuple[StoredTable, StoredIndex]:
    table = catalog.tables.get(job.table or "")
    if table is not None:
        for index in table.indexes:
            if index.schema.tree == job.tree:
                return table, index
    raise StoreFailed(f"the file is damaged: {job.table} has no index with the tree {job.tree}")


def _choose_job(found: Sequence[Job]) -> Job | None:
    """Choose the next job: index builds first, because clients may wait for them."""
    return min(found, key=lambda job: (job.table is None, job.tree), default=None)


class Maintenance:
    """Runs the jobs and the counts of a store, in steps on request or in a thread of its own.

    `catalog` must be the writer's. Without `background`, jobs run only in calls of `step`.
    """

    def __init__(
        self, store: Store, catalog: Catalog, counts: ItemCounts, *, background: bool
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._counts = counts
        self._background = background
        self._process = os.getpid()
        self._stepping = Lock()
        self._chunk: _Chunk | None = None
        self._starting = Lock()
        self._thread: Thread | None = None
        self._is_wanted = False  # `start` was called since the thread last looked for jobs
        self._stop = Event()

    def start(self) -> None:
        """Make the thread look for jobs; start it if it is not running."""
        if not self._background or self._process != os.getpid():
            return
        with self._starting:
            self._is_wanted = True
            if self._thread is None and not self._stop.is_set():
                thread = Thread(target=self._run_jobs, name="tablewright-maintenance", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # the caller's own work is done and must not fail
                    log.error(
                        "%s: cannot start the maintenance thread; indexes are not built and the "
                        "space of deleted tables is not freed until the next write or until the "
                        "file is opened again: %s",
                        self._store.path,
                        error,
                    )
                    return
                self._thread = thread

    def step(self) -> bool:
        """Do one step of the next job, or else of a count; return False if there is neither."""
        if self._process != os.getpid():  # the locks may be held by threads of the parent
            raise StoreForked(self._store.path)
        with self._stepping:
            if not self._catalog.has_jobs and self._counts.step(self._store):
                return True
            chunk, self._chunk = self._chunk or self._read_chunk(), None
            has_worked, added = self._store.write(partial(self._step, chunk))
            if chunk is not None and added is not None:
                chunk.advance(added)
                self._chunk = chunk
            return has_worked or self._counts.step(self._store)

    def close(self) -> None:
        """Stop the thread after its current step. Jobs continue when the file is opened again."""
        if self._process != os.getpid():
            return
        self._stop.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _read_chunk(self) -> _Chunk | None:
        """Read the next chunk for the index that is being built; None if there is none."""
        undone = self._store.undone_sandboxes
        building = self._store.read(_find_building_index)
        if building is None:
            return None
        job, table, index = building
        runs: list[list[tuple[bytes, bytes]]] = []
        position = job.position
        size = 0
        is_last = False
        while not is_last and size < MAX_CHUNK_BYTES and not self._stop.is_set():
            try:
                rows, is_last = self._store.read(partial(read_step_rows, table.tree, position))
            except MissingTree:  # the table was deleted
                return None
            run = []
            for key, _, body in rows:
                row_key = index.encode_row_key(load(body), key)
                if row_key is not None:
                    run.append((row_key, key))
                    size += len(row_key) + len(key) + KEY_OVERHEAD
                position = key
            runs.append(sorted(run))  # in small runs: one large sort would block all threads
        return _Chunk(job, undone, runs, position, is_last)

    def _step(self, chunk: _Chunk | None, tx: WriteTransaction) -> tuple[bool, int | None]:
        """Do a step; return whether there is a job, and how many rows of `chunk` were added.

        The number is None if the chunk is done or no longer valid.
        """
        self._catalog.catch_up(tx)
        job = _choose_job(read_jobs(tx))
        if job is None:
            self._catalog.has_jobs = False
            return False, None
        if job.table is None:
            _delete_next_rows(self._catalog, tx, job)
        elif chunk is not None and chunk.is_valid(job, tx):
            return True, chunk.add_next_rows(self._catalog, tx)
        return True, None

    def _run_jobs(self) -> None:
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
                        "%s: building an index or deleting a table failed and will be retried: %s",
                        self._store.path,
                        error,
                    )
                self._stop.wait(retry)
                retry = min(2 * retry, MAX_RETRY_DELAY)
                continue
            retry = 1.0
            if has_worked:
                took = time.monotonic() - started
                self._stop.wait(min(max(took, MIN_PAUSE), MAX_PAUSE))
                continue
            with self._starting:
                if self._is_wanted:
                    self._is_wanted = False
                    continue
                self._thread = None
            with suppress(StoreFailed, StoreClosed, StoreForked):
                self._store.truncate_log()  # the work has made it large
            return


def _find_building_index(snapshot: Snapshot) -> tuple[Job, StoredTable, StoredIndex] | None:
    """Return the index that is being built, read from the file."""
    with snapshot.read_transaction():
        job = _choose_job(read_jobs(snapshot))
        if job is None or job.table is None:
            return None
        catalog = Catalog()
        catalog.refresh(snapshot)
    return job, *_find_index(catalog, job)
