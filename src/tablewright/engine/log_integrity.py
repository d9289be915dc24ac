"""Integrity of change logs: every change is there and readable, and agrees with its table.

A log must have all numbers from its start to its last one, times that do not decrease, and items
with the keys of the table. If changes are still logged, the last change of each key must have the
item that the table has now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tablewright.encoding.items import load
from tablewright.engine.catalog import Catalog
from tablewright.engine.changes import Change, decode_change, read_changes, read_trim_points
from tablewright.engine.keys import Keys
from tablewright.engine.table import StoredTable
from tablewright.errors import StoreFailed
from tablewright.schema import ChangeLogSchema
from tablewright.storage import DamagedRow, LogTree, Snapshot

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True)
class LogProblem:
    """One problem with a change of a table's log."""

    table: str
    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.table}: the change {self.number} of the change log {self.what}"


def check_log(snapshot: Snapshot, catalog: Catalog, log: ChangeLogSchema) -> Iterator[LogProblem]:
    """Check a log, and compare it with its table. Raise `StoreFailed` if it cannot be read."""
    table = catalog.tables.get(log.table)
    problems = [LogProblem(log.table, *problem) for problem in check_changes(snapshot, log)]
    yield from problems
    if table is not None and table.schema.log == log.tree and not problems:
        yield from _compare(snapshot, table, log)


def check_changes(snapshot: Snapshot, log: ChangeLogSchema) -> Iterator[tuple[int, str]]:
    """Yield the number and the problem of each wrong change."""
    tree = LogTree(log.tree)
    keys = Keys(log.keys)
    expected = read_trim_points(snapshot, tree).deleted + 1
    last_time = 0.0
    for number, microseconds, body, intact in snapshot.inspect(tree, 1, None):
        if number != expected:
            yield expected, "is missing" if number > expected else "has been trimmed but exists"
        expected = number + 1
        if not intact:
            yield number, "is damaged: its checksum is wrong"
            continue
        try:
            change = decode_change(tree, (number, microseconds, body))
            problem = _check_items(change, keys)
        except (DamagedRow, *_UNREADABLE):
            yield number, "cannot be read"
            continue
        if problem is not None:
            yield number, problem
        if change.time < last_time:
            yield number, "has an earlier time than the change before it"
        last_time = change.time


def _check_items(change: Change, keys: Keys) -> str | None:
    items = [load(body) for body in (change.old, change.new) if body is not None]
    encoded = {keys.encode(item) for item in items}
    if not items:
        return "has no item"
    if len(encoded) > 1:
        return "has items with different keys"
    (key,) = encoded
    if key is None or int.from_bytes(key[:4], "big") != change.partition_hash:
        return "has a hash that differs from the hash of its key"
    return None


def _compare(snapshot: Snapshot, table: StoredTable, log: ChangeLogSchema) -> Iterator[LogProblem]:
    """Compare the last change of each key with the table."""
    for key, change in last_changes(snapshot, log):
        stored = snapshot.get(table.tree, key)
        item = None if stored is None else load(stored[1])
        if item != (None if change.new is None else load(change.new)):
            yield LogProblem(table.name, change.number, "differs from the table's item")


def last_changes(snapshot: Snapshot, log: ChangeLogSchema) -> Iterator[tuple[bytes, Change]]:
    """Yield the last change of each key, with the key, since the log has all changes."""
    keys = Keys(log.keys)
    seen: set[bytes] = set()
    tree = LogTree(log.tree)
    after = max(log.opened_after, read_trim_points(snapshot, tree).deleted)
    for change in read_changes(snapshot, tree, after, backwards=True):
        key = keys.encode(load(change.new or change.old or b"{}"))
        if key is None:
            raise StoreFailed(f"{log.table}: the change {change.number} has no key")
        if key not in seen:
            seen.add(key)
            yield key, change
