"""Maintenance: long work on trees, in short steps, so that no request waits for all of it.

A job (`catalog.Job`) fills a new index from its table, or deletes the rows of a tree whose table or
index is gone. What fits in one step is done at once, by the request itself; the rest is done by a
thread that lives as long as there are jobs.

Invariants:
- A step is one transaction. It changes rows, the job and, with the last step, the schema. So a
  process that is killed leaves nothing half done, and any engine on the file can continue.
- Every write updates every index, including one that is being built (`rows.replace_item`). So no
  row of such an index is wrong, and only rows of items after the job's position can be missing.
- A step changes at most `MAX_STEP_ROWS` rows and about `MAX_STEP_BYTES`. Between two steps the
  write lock is free for other threads and processes.
- A tree that is to be deleted has another name from the start (`Tree(…, retired=True)`): a reader
  with an old catalog does not find it, and never sees it half empty.

Items go into an index in chunks, each in the order of the index. In the order of the table, which
is another, nearly every item changes a page of its own: for a million items that was 8 GB of log,
and commits of 8 MB that others wait for. A chunk is read without the write lock and kept in memory
as keys; a step enters what the table then has under them. The job's position moves with the end of
a chunk.

This module knows nothing of requests and answers.
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
from tablewright.engine.catalog import Catalog, Job, read_jobs
from tablewright.engine.rows import ItemRow, add_to_index, find_row
from tablewright.engine.table import StoredIndex, StoredTable
from tablewright.errors import StoreClosed, StoreFailed, StoreForked
from tablewright.storage import MissingTree, Row, Snapshot, Store, Tree, WriteTransaction

#: The bounds of a step. Entering a row takes about 15 µs, so a step takes 5 to 20 ms.
MAX_STEP_ROWS = 500
MAX_STEP_BYTES = 1024 * 1024
#: The bound of a chunk: the bytes of its keys, with what Python needs for each.
MAX_CHUNK_BYTES = 32 * 1024 * 1024
KEY_OVERHEAD = 150
#: The thread pauses for as long as the last step took, within these bounds (seconds). A writer of
#: another process tries again every 5 ms, and needs a gap that it can hit.
MIN_PAUSE = 0.006
MAX_PAUSE = 0.05
#: After a failure the thread waits twice as long each time, up to this (seconds).
MAX_RETRY_DELAY = 60.0

log = logging.getLogger("tablewright.engine")


def read_rows(tree: Tree, position: bytes, snapshot: Snapshot) -> tuple[list[Row], bool]:
    """Read the rows after `position` that fit in one step, and whether they are the last ones."""
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
    """Begin to fill a new index; when it fits in one step, it is ready at once."""
    tx.create_tree(Tree(tree))
    job = Job(tree, table)
    rows, is_small = read_rows(catalog.tables[table].tree, b"", tx)
    if is_small:
        _, index = _find_index(catalog, job)
        for key, size, body in rows:
            add_to_index(tx, index, key, ItemRow(None, size, body))
        _activate_index(catalog, tx, job)
    else:
        catalog.put_job(tx, job)


def delete_tree(catalog: Catalog, tx: WriteTransaction, tree: int) -> None:
    """Delete a tree; if it does not fit in one step, only rename it, and leave a job."""
    job = Job(tree)
    _, is_small = _read_first_keys(tx, Tree(tree))
    if is_small:
        tx.drop_tree(Tree(tree))
        catalog.remove_job(tx, job)  # it may have been under construction
    else:
        tx.rename_tree(Tree(tree), Tree(tree, retired=True))
        catalog.put_job(tx, job)


class _Chunk:
    """The keys of some of a table's rows, in the order of the index that they go into.

    `drop` is called once the transaction that entered some of them is committed: until then the
    step may have to be run again.
    """

    def __init__(
        self, job: Job, runs: Sequence[list[tuple[bytes, bytes]]], position: bytes, is_last: bool
    ) -> None:
        self.job = job
        self._keys: Iterator[tuple[bytes, bytes]] = merge(*runs)
        self._position = position
        self._is_last = is_last
        self._todo: list[bytes] = []
        self._is_at_end = False
        self.advance(0)

    def advance(self, entered: int) -> None:
        """Replace the keys that have been entered by the next ones."""
        new = [key for _, key in islice(self._keys, MAX_STEP_ROWS - len(self._todo) + entered)]
        self._todo = self._todo[entered:] + new
        self._is_at_end = len(self._todo) < MAX_STEP_ROWS

    def add_next_rows(self, catalog: Catalog, tx: WriteTransaction) -> int | None:
        """Enter the next keys into the index, and say how many; None: the chunk is done."""
        table, index = _find_index(catalog, self.job)
        size = 0
        for number, key in enumerate(self._todo, 1):
            row = find_row(tx, table.tree, key)
            if row is not None:
                add_to_index(tx, index, key, row)
                size += row.size
                if size >= MAX_STEP_BYTES:
                    return number
        if not self._is_at_end:
            return len(self._todo)
        if self._is_last:
            _activate_index(catalog, tx, self.job)
        else:
            catalog.put_job(tx, msgspec.structs.replace(self.job, position=self._position))
        return None


def _activate_index(catalog: Catalog, tx: WriteTransaction, job: Job) -> None:
    """An index holds every item that belongs there: let it be read."""
    table, index = _find_index(catalog, job)
    ready = msgspec.structs.replace(index.schema, building=False)
    indexes = tuple(ready if old.tree == job.tree else old for old in table.schema.indexes)
    catalog.save_schema(tx, msgspec.structs.replace(table.schema, indexes=indexes))
    catalog.remove_job(tx, job)


def _delete_next_rows(catalog: Catalog, tx: WriteTransaction, job: Job) -> None:
    tree = Tree(job.tree, retired=True)
    try:
        keys, is_last = _read_first_keys(tx, tree)
    except MissingTree:  # deleted behind the engine's back: nothing is left to do
        catalog.remove_job(tx, job)
        return
    if is_last:
        tx.drop_tree(tree)
        catalog.remove_job(tx, job)
        return
    for key in keys:
        tx.delete(tree, key)


def _read_first_keys(tx: WriteTransaction, tree: Tree) -> tuple[list[bytes], bool]:
    """The keys of the first rows that one step may delete, and whether they are all there are."""
    keys: list[bytes] = []
    size = 0
    with closing(tx.inspect(tree, b"", None)) as walk:  # a damaged row can be deleted, too
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
    """An index before what is deleted: a client may wait for it."""
    return min(found, key=lambda job: (job.table is None, job.tree), default=None)


class Maintenance:
    """Does the jobs of a store: step by step when called, or in a thread of its own.

    `catalog` is the writer's. Without `background` jobs wait until they are asked for.
    """

    def __init__(self, store: Store, catalog: Catalog, *, background: bool) -> None:
        self._store = store
        self._catalog = catalog
        self._background = background
        self._process = os.getpid()
        self._stepping = Lock()
        self._chunk: _Chunk | None = None
        self._starting = Lock()
        self._thread: Thread | None = None
        self._is_wanted = False  # asked for since the thread last looked for jobs
        self._stop = Event()

    def start(self) -> None:
        """Let the thread look for jobs; it is started if it does not run."""
        if not self._background or self._process != os.getpid():
            return
        with self._starting:
            self._is_wanted = True
            if self._thread is None and not self._stop.is_set():
                thread = Thread(target=self._run_jobs, name="tablewright-maintenance", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:  # the caller's own work is done, and must not fail
                    log.error(
                        "%s: indexes are not built, and deleted tables keep their space, until the "
                        "next write or until the file is opened again: %s",
                        self._store.path,
                        error,
                    )
                    return
                self._thread = thread

    def step(self) -> bool:
        """Do one step of the most urgent job; False if there is no job."""
        if self._process != os.getpid():  # the locks may be held by threads of the parent
            raise StoreForked(self._store.path)
        with self._stepping:
            chunk, self._chunk = self._chunk or self._read_chunk(), None
            has_worked, entered = self._store.write(partial(self._step, chunk))
            if chunk is not None and entered is not None:
                chunk.advance(entered)
                self._chunk = chunk
            return has_worked

    def close(self) -> None:
        """Stop the thread after the step it is at. What is left is done when the file is opened."""
        if self._process != os.getpid():
            return
        self._stop.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _read_chunk(self) -> _Chunk | None:
        """Read the next chunk of the index that is being built, if there is one."""
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
                rows, is_last = self._store.read(partial(read_rows, table.tree, position))
            except MissingTree:  # the index is gone, and the table with it
                return None
            run = []
            for key, _, body in rows:
                entry = index.encode_entry(load(body), key)
                if entry is not None:
                    run.append((entry, key))
                    size += len(entry) + len(key) + KEY_OVERHEAD
                position = key
            runs.append(sorted(run))  # not all at once: that would stop every other thread
        return _Chunk(job, runs, position, is_last)

    def _step(self, chunk: _Chunk | None, tx: WriteTransaction) -> tuple[bool, int | None]:
        """Do a step: whether there is a job, and what was entered of a chunk that is still good."""
        self._catalog.catch_up(tx)
        job = _choose_job(read_jobs(tx))
        if job is None:
            self._catalog.has_jobs = False
            return False, None
        if job.table is None:
            _delete_next_rows(self._catalog, tx, job)
        elif chunk is not None and chunk.job == job:  # else another engine has moved the position
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
                        "%s: building an index or deleting a table failed, and is tried again: %s",
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
                self._store.truncate_log()  # which has grown with the work
            return


def _find_building_index(snapshot: Snapshot) -> tuple[Job, StoredTable, StoredIndex] | None:
    """The index that is being built, as the file has it."""
    with snapshot.read_transaction():
        job = _choose_job(read_jobs(snapshot))
        if job is None or job.table is None:
            return None
        catalog = Catalog()
        catalog.refresh(snapshot)
    return job, *_find_index(catalog, job)
