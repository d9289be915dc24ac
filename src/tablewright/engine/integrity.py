"""Integrity: check a file for damage and for differences between tables and indexes.

The check verifies that every row of a table has the key and the size of its item and is normalised;
that every index has exactly the rows of the table's items; that every change log is complete and
agrees with its table; and that every checksum is correct. It reports problems and does not fix
them: `repair` does.

A log must have all numbers from its start to its last one, times that do not decrease, and items
with the keys of the table. If changes are still logged, the last change of each key must have the
item that the table has now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tablewright.encoding.items import dump, item_size, load, normalise_item
from tablewright.engine.archives.backups import BACKUPS
from tablewright.engine.change_log.changes import (
    LoggedChange,
    decode_change,
    read_changes,
    read_trim_points,
)
from tablewright.engine.rows import ItemRow, project_row
from tablewright.engine.tables.catalog import TOKENS, Catalog, read_jobs
from tablewright.engine.tables.table import Keys, StoredIndex, StoredTable
from tablewright.errors import DynamoDBError, StoreFailed
from tablewright.schema import ChangeLogSchema
from tablewright.storage import DamagedRow, LogTree, MissingTree, Snapshot
from tablewright.values import Item

_DAMAGED = "is damaged: its checksum is wrong"
UNREADABLE = (DynamoDBError, ValueError, LookupError, TypeError, AttributeError)


@dataclass
class Report:
    """The result of a check: rows and problems. True if there are no problems."""

    #: Number of rows by table and index (None: the table itself).
    rows: dict[tuple[str, str | None], int] = field(default_factory=dict)
    #: One message for each problem: with a row, with a change log, or with the file itself.
    problems: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems


def check_file(snapshot: Snapshot) -> Report:
    """Check all tables, indexes, backups and change logs of a file."""
    report = Report()
    report.problems += snapshot.file_problems()
    if report.problems:  # the rows of a damaged file cannot be read
        return report
    with snapshot.read_transaction():
        catalog = Catalog()
        built: dict[int, bytes] = {}
        copies: list[StoredTable] = []
        try:
            catalog.refresh(snapshot)
            built = {job.tree: job.position for job in read_jobs(snapshot) if job.table is not None}
            snapshot.get(TOKENS, b"")
            copies = [backup.as_table() for backup in BACKUPS.read_all(snapshot)]
        except (MissingTree, StoreFailed) as error:
            report.problems.append(str(error))
        for table in (*catalog.tables.values(), *copies):
            try:
                _check_table(snapshot, table, report, built)
            except (MissingTree, StoreFailed) as error:
                report.problems.append(f"{table.name}: {error}")
        for log in catalog.logs.values():
            try:
                report.problems += _check_log(snapshot, catalog, log)
            except (MissingTree, StoreFailed) as error:
                report.problems.append(f"{log.table}: {error}")
        for table in catalog.tables.values():
            if table.schema.log and table.schema.log not in catalog.logs:
                report.problems.append(f"{table.name}: its change log is unknown")
    return report


def _check_table(
    snapshot: Snapshot, table: StoredTable, report: Report, built: Mapping[int, bytes]
) -> None:
    """Check a table and its indexes; `built` has the positions of indexes that are being built."""
    expected: dict[str, set[bytes]] = {name: set() for name in table.indexes_by_name}
    rows = 0
    for key, size, body, intact in snapshot.inspect(table.tree, b"", None):
        rows += 1
        if intact:
            report.problems += _check_row(snapshot, table, key, size, body, expected, built)
        else:
            report.problems.append(_problem(table, table, key, _DAMAGED))
    report.rows[table.name, None] = rows
    for index in table.indexes:
        report.problems += _check_index(snapshot, table, index, expected[index.name], report)


def _check_row(
    snapshot: Snapshot,
    table: StoredTable,
    key: bytes,
    size: int,
    body: bytes,
    expected: dict[str, set[bytes]],
    built: Mapping[int, bytes],
) -> Iterator[str]:
    """Check a row of a table and its index rows; add the keys of those to `expected`."""
    try:
        item = load(body)
        if table.keys.encode(item) != key:
            yield _problem(table, table, key, "has a key that differs from the key of its item")
        if dump(normalise_item(item)) != body:
            yield _problem(table, table, key, "is not normalised")
        if item_size(item) != size:
            yield _problem(table, table, key, f"has size {size}, not {item_size(item)}")
    except UNREADABLE as error:
        yield _problem(table, table, key, f"cannot be read: {error}")
        return
    for index in table.indexes:
        row_key = index.encode_row_key(item, key)
        if row_key is None:
            continue
        expected[index.name].add(row_key)
        held = project_row(index, ItemRow(item, size, body))
        try:
            found = snapshot.get(index.tree, row_key)
        except DamagedRow:
            continue  # _check_index reports it
        if found is None:
            if not index.schema.building or key <= built.get(index.schema.tree, key):
                yield _problem(table, index, row_key, "is missing")
        elif found != (held.size, held.body) and not _is_same_row(found, held):
            yield _problem(table, index, row_key, "differs from the table's item")


def _problem(table: StoredTable, source: StoredTable | StoredIndex, key: bytes, what: str) -> str:
    place = table.name if source is table else f"{table.name}/{source.name}"
    return f"{place}: the row of {format_key(table, source, key)} {what}"


def _is_same_row(found: tuple[int, bytes], held: ItemRow) -> bool:
    """Return whether an index row equals the expected one, in any order of attributes."""
    try:
        return found[0] == held.size and load(found[1]) == held.item
    except UNREADABLE:
        return False


def _check_index(
    snapshot: Snapshot, table: StoredTable, index: StoredIndex, expected: set[bytes], report: Report
) -> Iterator[str]:
    """Report damaged and unexpected rows of an index; `_check_row` has checked the others."""
    rows = 0
    for row_key, _, _, intact in snapshot.inspect(index.tree, b"", None):
        rows += 1
        if not intact:
            yield _problem(table, index, row_key, _DAMAGED)
        elif row_key not in expected:
            yield _problem(table, index, row_key, "belongs to no item")
    report.rows[table.name, index.name] = rows


# -- change logs


def _check_log(snapshot: Snapshot, catalog: Catalog, log: ChangeLogSchema) -> Iterator[str]:
    """Check a log, and compare it with its table. Raise `StoreFailed` if it cannot be read."""
    table = catalog.tables.get(log.table)
    problems = [_log_problem(log.table, *problem) for problem in check_changes(snapshot, log)]
    yield from problems
    if table is not None and table.schema.log == log.tree and not problems:
        yield from _compare(snapshot, table, log)


def _log_problem(table: str, number: int, what: str) -> str:
    return f"{table}: the change {number} of the change log {what}"


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
            yield number, _DAMAGED
            continue
        try:
            change = decode_change(tree, (number, microseconds, body))
            problem = _check_items(change, keys)
        except (DamagedRow, *UNREADABLE):
            yield number, "cannot be read"
            continue
        if problem is not None:
            yield number, problem
        if change.time < last_time:
            yield number, "has an earlier time than the change before it"
        last_time = change.time


def _check_items(change: LoggedChange, keys: Keys) -> str | None:
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


def _compare(snapshot: Snapshot, table: StoredTable, log: ChangeLogSchema) -> Iterator[str]:
    """Compare the last change of each key with the table."""
    for key, change in last_changes(snapshot, log):
        stored = snapshot.get(table.tree, key)
        item = None if stored is None else load(stored[1])
        if item != (None if change.new is None else load(change.new)):
            yield _log_problem(table.name, change.number, "differs from the table's item")


def last_changes(snapshot: Snapshot, log: ChangeLogSchema) -> Iterator[tuple[bytes, LoggedChange]]:
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


# -- damaged rows: storage knows only trees and bytes; the catalog has their tables and keys


def locate_damage(error: DamagedRow, tables: Iterable[StoredTable]) -> StoreFailed:
    """Return an error that names the table, the index and the key; `error` itself if unknown."""
    for table in tables:
        sources: tuple[StoredTable | StoredIndex, ...] = (table, *table.indexes)
        for source in sources:
            if source.tree.name == error.tree.name:
                place = table.name if source is table else f"{table.name}, index {source.name}"
                return StoreFailed(
                    f"table {place}: the row of {format_key(table, source, error.key)} is damaged: "
                    "its checksum is wrong. `tablewright repair` saves what is readable"
                )
        if table.log is not None and table.log.tree.name == error.tree.name:
            return StoreFailed(
                f"table {table.name}: a change of its change log is damaged: its checksum is "
                "wrong. `tablewright repair` saves what is readable"
            )
    return error


def format_key(table: StoredTable, source: StoredTable | StoredIndex, key: bytes) -> str:
    """Format the key of a row as `PK="CUST#C1", SK="ORDER#1"`, or in hex if it is unreadable.

    In an index, the attributes of the index come first, then those of the table.
    """
    values = decode_key(table, source, key)
    if values is None:
        return f"key {key.hex()}"
    return ", ".join(
        f'{name}="{content}"' if tag == "S" else f"{name}={content}"
        for name, value in values.items()
        for tag, content in value.items()
    )


def decode_key(table: StoredTable, source: StoredTable | StoredIndex, key: bytes) -> Item | None:
    """Decode the key attributes from a row key; return None if it does not match the schema."""
    try:
        values, rest = source.keys.decode(key[4:])
        if source is not table:
            of_table, rest = table.keys.decode(rest)
            values |= of_table
    except (ValueError, IndexError):
        return None
    return None if rest else values
