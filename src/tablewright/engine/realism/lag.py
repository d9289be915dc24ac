"""Lag: eventually consistent reads see the rows of an earlier moment.

Every write records the row that it replaces. A reader at an earlier moment sees, for each key, the
row that the first later write replaced; for all other keys the current row. All trees are read at
the same moment, so a table and its indexes agree.

Invariants:
- A row is recorded before it is replaced, so a reader never sees a newer row than it may.
- Only rows of the last `lag_seconds` are kept.
- Items that expire, and rows of an index that is being built, are visible at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from contextlib import closing
from threading import Lock
from typing import Any, TypeAlias

from tablewright.engine.realism import Realism
from tablewright.storage import Row, Snapshot, Tree, WriteTransaction

#: The size and body of a row; None if there is no such row.
Contents: TypeAlias = tuple[int, bytes] | None


class ReplacedRows:
    """The rows that recent writes have replaced."""

    def __init__(self, settings: Realism) -> None:
        self._lag = settings.lag_seconds
        self._clock = settings.clock
        self._lock = Lock()  # the writer records while readers look up
        self._order: deque[tuple[float, str, bytes]] = deque()
        #: By tree and key: the replaced rows, each with the time of the write, oldest first.
        self._rows: dict[str, dict[bytes, list[tuple[float, Contents]]]] = {}

    def record(self, tree: Tree, key: bytes, replaced: Contents) -> None:
        """Record the row that a write is about to replace."""
        now = self._clock()
        with self._lock:
            self._rows.setdefault(tree.name, {}).setdefault(key, []).append((now, replaced))
            self._order.append((now, tree.name, key))
            while self._order and self._order[0][0] <= now - self._lag:
                _, name, old_key = self._order.popleft()
                entries = self._rows[name][old_key]
                del entries[0]
                if not entries:
                    del self._rows[name][old_key]

    def find(self, tree: Tree) -> dict[bytes, Contents]:
        """Return the rows of a tree as they were `lag_seconds` ago, where writes replaced them."""
        moment = self._clock() - self._lag
        found: dict[bytes, Contents] = {}
        with self._lock:
            for key, entries in self._rows.get(tree.name, {}).items():
                for time, replaced in entries:
                    if time > moment:
                        found[key] = replaced
                        break
        return found


class RecordingTransaction:
    """A transaction that records the rows that it replaces."""

    def __init__(self, tx: WriteTransaction, replaced: ReplacedRows) -> None:
        self._tx = tx
        self._replaced = replaced

    def put(self, tree: Tree, key: bytes, size: int, body: bytes) -> None:
        self._replaced.record(tree, key, self._tx.get(tree, key))
        self._tx.put(tree, key, size, body)

    def delete(self, tree: Tree, key: bytes) -> None:
        self._replaced.record(tree, key, self._tx.get(tree, key))
        self._tx.delete(tree, key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


class LaggingSnapshot:
    """A snapshot whose rows are those of an earlier moment, except in the trees `current`."""

    def __init__(self, snapshot: Snapshot, replaced: ReplacedRows, current: frozenset[str]) -> None:
        self._snapshot = snapshot
        self._replaced = replaced
        self._current = current

    def get(self, tree: Tree, key: bytes) -> Contents:
        # The row first: a write in between would otherwise be visible at once.
        found = self._snapshot.get(tree, key)
        return self._find(tree).get(key, found)

    def walk(
        self, tree: Tree, first: bytes, end: bytes | None, *, backwards: bool = False
    ) -> Generator[Row, None, None]:
        with closing(self._snapshot.walk(tree, first, end, backwards=backwards)) as rows:
            row = next(rows, None)
            old = {
                key: contents
                for key, contents in self._find(tree).items()
                if key >= first and (end is None or key < end)
            }
            # The keys to come of deleted and changed rows; the next one is last.
            pending = sorted(
                (key for key, contents in old.items() if contents is not None),
                reverse=not backwards,
            )
            while row is not None or pending:
                if row is None or (pending and _precedes(pending[-1], row[0], backwards)):
                    key = pending.pop()
                    contents = old[key]
                    assert contents is not None
                    yield key, *contents
                else:
                    if row[0] not in old:
                        yield row
                    row = next(rows, None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def _find(self, tree: Tree) -> dict[bytes, Contents]:
        return {} if tree.name in self._current else self._replaced.find(tree)


def _precedes(key: bytes, other: bytes, backwards: bool) -> bool:
    """Return whether `key` comes before `other`, or is the same row."""
    return key >= other if backwards else key <= other
