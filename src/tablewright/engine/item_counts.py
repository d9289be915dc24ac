"""Item counts: the rows and bytes of tables and indexes, in a time that does not grow with them.

    up to MAX_EXACT_ROWS    counted for each description, so they are always current
    more                    the last count of the background thread, or an estimate until there is
                            one. (DynamoDB, too, updates its counts about every six hours.)

Invariants:
- A description reads at most `MAX_EXACT_ROWS` rows of each tree.
- Counts are not stored, and writes do not update them. So they are never wrong for long, with
  several processes or after a kill. (A count that is kept with each commit took 8 % of a PutItem in
  memory, 20 % in a file that is not synced.)
- A count of a large tree begins when a description asks for it, and is repeated at most once a
  minute and for at most a hundredth of the time.

This module does not know tables or requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from tablewright.storage import MissingTree, Snapshot, Store, Tree

#: Counting 5,000 rows takes about 1 ms.
MAX_EXACT_ROWS = 5_000
#: The limit of a step in the background.
MAX_STEP_ROWS = 20_000
MIN_AGE_SECONDS = 60.0
#: A count is repeated when it is this many times as old as the time it took.
MIN_AGE_RATIO = 100


class _Counted(msgspec.Struct, frozen=True):
    """A finished count of a tree."""

    rows: int
    size: int
    finished: float
    seconds: float


class _Counting(msgspec.Struct):
    """A count in progress."""

    tree: Tree
    rows: int = 0
    size: int = 0
    position: bytes = b""
    seconds: float = 0.0

    def count_next(self, snapshot: Snapshot) -> tuple[int, int, bytes]:
        return snapshot.count_rows(self.tree, self.position, MAX_STEP_ROWS)


class ItemCounts:
    """The counts of one engine. `on_pending` is called when there is work for `step`."""

    def __init__(
        self, on_pending: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._on_pending = on_pending
        self._clock = clock
        self._counted: dict[str, _Counted] = {}
        self._pending: dict[str, _Counting] = {}

    @property
    def is_pending(self) -> bool:
        """Whether a tree is to be counted in the background."""
        return bool(self._pending)

    def count(self, snapshot: Snapshot, tree: Tree) -> tuple[int, int]:
        """Return the number of rows of a tree and the sum of their sizes."""
        rows, size, last = snapshot.count_rows(tree, b"", MAX_EXACT_ROWS + 1)
        if rows <= MAX_EXACT_ROWS:
            return rows, size
        found = self._counted.get(tree.name)
        if found is None or self._is_old(found):
            self._pending.setdefault(tree.name, _Counting(tree))
            self._on_pending()
        if found is not None:
            return found.rows, found.size
        # A row key begins with a hash of the partition key (`encoding.keys`), so the first rows are
        # a sample. It is a good one if the tree has many partitions.
        share = (int.from_bytes(last[:4], "big") + 1) / (1 << 32)
        return round(rows / share), round(size / share)

    def step(self, store: Store) -> bool:
        """Count the next rows of a pending tree; return False if there is none."""
        pending, counted = self._pending, self._counted  # `forget` replaces them
        for name, counting in list(pending.items()):
            started = self._clock()
            try:
                rows, size, last = store.read(counting.count_next)
            except MissingTree:
                pending.pop(name, None)
                continue
            finished = self._clock()
            counting.rows += rows
            counting.size += size
            counting.position = last
            counting.seconds += finished - started
            if rows < MAX_STEP_ROWS:
                counted[name] = _Counted(counting.rows, counting.size, finished, counting.seconds)
                pending.pop(name, None)
            return True
        return False

    def forget(self) -> None:
        """Forget all counts: after a sandbox, trees have numbers of trees that were undone."""
        self._counted = {}
        self._pending = {}

    def _is_old(self, counted: _Counted) -> bool:
        age = self._clock() - counted.finished
        return age > max(MIN_AGE_SECONDS, MIN_AGE_RATIO * counted.seconds)
