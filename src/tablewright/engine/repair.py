"""Repair: copy the readable rows of a damaged file into a new file, and report lost items.

    1. The rows of each table that SQLite can read and whose checksum is correct are saved.
    2. Indexes hold copies. An item that is missing in its table is saved from an index that
       projects all attributes; the key of any other index row without an item is reported as lost.
    3. The indexes of the new file are built from the saved items.
    4. Backups are saved in the same way. Other records of the catalog are copied.
    5. A change log that is whole is copied, and items that are missing in its table are saved from
       it. Otherwise consumers would miss a change without noticing: the old streams are lost, and a
       new stream with another ARN begins. Point-in-time recovery is possible again from then on.

The damaged file is only read; not even its log is moved into it. Transaction tokens, which are
valid for ten minutes, are not saved.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import apsw
from msgspec.structs import replace

from tablewright.engine.archives.backups import BACKUPS, add_backup
from tablewright.engine.change_log.changes import TrimPoints, read_trim_points, write_trim_points
from tablewright.engine.change_log.recovery import set_recovery
from tablewright.engine.change_log.streams import apply_stream_setting
from tablewright.engine.charge import Charge
from tablewright.engine.integrity import (
    UNREADABLE,
    check_changes,
    decode_key,
    format_key,
    last_changes,
)
from tablewright.engine.rows import ItemRow, replace_item
from tablewright.engine.tables.catalog import Catalog, read_damaged_catalog
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import CannotOpen, StoreFailed, TablewrightError
from tablewright.schema import ChangeLogSchema, RecoverySetting, TableSchema
from tablewright.storage import (
    APPLICATION_ID,
    LogRow,
    LogTree,
    Snapshot,
    Store,
    Tree,
    WriteTransaction,
    name_problem,
    require_current_log,
)
from tablewright.whole_file import create_whole

BATCH_ROWS = 500
#: A range in which no row can be read is halved this many times before it is skipped.
MAX_HALVINGS = 12


@dataclass
class SavedTable:
    """The saved and lost items of one table."""

    name: str
    #: All saved items.
    items: int = 0
    #: Saved items that were read from an index.
    from_indexes: int = 0
    #: Saved items that were read from the change log.
    from_log: int = 0
    #: The keys of lost items, as far as they are known.
    lost: list[str] = field(default_factory=list)
    #: Unreadable ranges of rows; lost items in them are listed only if an index has their keys.
    unreadable_ranges: int = 0

    def __bool__(self) -> bool:
        """Return whether no item is known to be lost."""
        return not self.lost and not self.unreadable_ranges


@dataclass
class RepairReport:
    """The result of a repair. True if nothing is known to be lost."""

    tables: list[SavedTable] = field(default_factory=list)
    #: Problems with the catalog, as messages.
    problems: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems and all(self.tables)


def repair(path: str | Path, new_path: str | Path) -> RepairReport:
    """Copy the readable rows of the file `path` into the new file `new_path`.

    The new file gets its name after it is complete and synced; a killed repair leaves
    `NEW_PATH.partial`.
    """
    if not Path(path).is_file():
        raise CannotOpen(f"{path}: {'is a directory' if Path(path).is_dir() else 'no such file'}")
    if problem := name_problem(Path(new_path), Path(path)):
        raise CannotOpen(problem)
    try:
        with create_whole(Path(new_path)) as partial_path:
            return _save_all(path, partial_path)
    except OSError as error:
        raise CannotOpen(f"{new_path}: {os.strerror(error.errno or 0)}") from error


def _save_all(path: str | Path, new_path: Path) -> RepairReport:
    report = RepairReport()
    with closing(_open_damaged(str(path))) as connection:
        snapshot = Snapshot(connection)
        rows = _ReachableRows(snapshot, Tree(0))
        found = read_damaged_catalog(row[:3] for row in rows if row[3])
        report.problems = found.problems
        if rows.unreadable_ranges or rows.damaged:
            report.problems.append("part of the catalog cannot be read; some tables may be missing")
        with closing(Store(new_path, durability="normal")) as store:
            catalog = Catalog()
            store.write(partial(catalog.create_trees, account=found.account))
            for schema in found.schemas:
                new = store.write(partial(catalog.add_table, schema=schema))
                report.tables.append(_save_table(snapshot, StoredTable(schema), store, new))
            for key, body in found.records:
                if not key.startswith(BACKUPS.prefix):
                    store.write(partial(catalog.put_record, key=key, body=body))
                    continue
                try:
                    backup = BACKUPS.decode(body)
                except StoreFailed as error:
                    report.problems.append(f"a backup is lost: {error}")
                    continue
                saved = store.write(partial(add_backup, catalog, backup=backup))
                copy = _save_table(snapshot, backup.as_table(), store, saved.as_table())
                report.tables.append(copy)
            report.problems += _save_logs(
                snapshot, found.logs, found.schemas, store, catalog, report.tables
            )
    return report


def _save_logs(
    snapshot: Snapshot,
    logs: Iterable[ChangeLogSchema],
    schemas: Iterable[TableSchema],
    store: Store,
    catalog: Catalog,
    saved: Iterable[SavedTable],
) -> Iterator[str]:
    """Save the change logs; yield a message for each one that is lost."""
    old = {schema.id: schema for schema in schemas}
    by_name = {table.name: table for table in saved}
    for log in logs:
        if not _is_whole(snapshot, log):
            yield f"{log.table}: the change log is damaged; the records of its streams are lost"
            continue
        schema = old.get(log.table_id)
        if schema is not None and schema.log == log.tree:
            table = catalog.tables[schema.name]
            _save_from_log(snapshot, log, store, table, by_name[table.name])
        _copy_log(snapshot, log, schema.recovery if schema else None, store, catalog)
    for schema in old.values():
        if schema.log and not catalog.tables[schema.name].schema.log:
            store.write(partial(_begin_again, catalog, schema.name, schema.recovery, time.time()))


def _save_from_log(
    snapshot: Snapshot, log: ChangeLogSchema, store: Store, table: StoredTable, saved: SavedTable
) -> None:
    """Save the items that a table should have according to its log."""
    for key, change in last_changes(snapshot, log):
        if change.new is None or store.read(partial(_has_row, table, key)):
            continue
        saved.items += store.write(
            partial(_save_rows, table, [(key, ItemRow(None, None, change.new))])
        )
        saved.from_log += 1
        text = format_key(table, table, key)
        saved.lost = [lost for lost in saved.lost if lost != text]


def _open_damaged(path: str) -> apsw.Connection:
    require_current_log(path)
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # Without this, SQLite rejects a file that is shorter than its header says.
        connection.pragma("writable_schema", True)
        connection.pragma("query_only", True)
        mark = connection.pragma("application_id")
    except apsw.Error as error:
        raise CannotOpen(f"{path}: SQLite cannot open the file: {error}") from error
    if mark != APPLICATION_ID:
        connection.close()
        raise CannotOpen(f"{path}: not a Tablewright database, or its header is damaged")
    return connection


def _save_table(snapshot: Snapshot, old: StoredTable, store: Store, new: StoredTable) -> SavedTable:
    saved = SavedTable(old.name)
    rows = _ReachableRows(snapshot, old.tree)
    readable = ((key, ItemRow(None, size, body)) for key, size, body, intact in rows if intact)
    while batch := list(islice(readable, BATCH_ROWS)):
        saved.items += store.write(partial(_save_rows, new, batch))
    saved.unreadable_ranges = rows.unreadable_ranges
    lost = set(rows.damaged)
    for index in old.indexes:
        for row_key, size, body, intact in _ReachableRows(snapshot, index.tree):
            values = decode_key(old, index, row_key)
            key = None if values is None else old.keys.encode(values)
            if key is None or store.read(partial(_has_row, new, key)):
                continue
            copy = [(key, ItemRow(None, size, body))]
            if (
                intact
                and index.projected_names is None
                and store.write(partial(_save_rows, new, copy))
            ):
                saved.items += 1
                saved.from_indexes += 1
                lost.discard(key)
            else:
                lost.add(key)
    saved.lost = sorted(format_key(old, old, key) for key in lost)
    return saved


def _has_row(table: StoredTable, key: bytes, snapshot: Snapshot) -> bool:
    return snapshot.get(table.tree, key) is not None


def _save_rows(
    table: StoredTable, rows: Sequence[tuple[bytes, ItemRow]], tx: WriteTransaction
) -> int:
    """Write the rows that are valid items of the table; return their number."""
    count = 0
    for key, row in rows:
        try:
            fits = table.keys.encode(row.item) == key
        except UNREADABLE:
            fits = False
        if fits:
            replace_item(tx, table, key, None, row, Charge(table))
            count += 1
    return count


class _ReachableRows:
    """Yields all rows of a tree that SQLite can read, and skips the others."""

    def __init__(self, snapshot: Snapshot, tree: Tree) -> None:
        self._snapshot = snapshot
        self._tree = tree
        self.unreadable_ranges = 0
        #: The keys of rows whose checksum is wrong.
        self.damaged: list[bytes] = []

    def __iter__(self) -> Iterator[tuple[bytes, int, bytes, bool]]:
        yield from self._range(b"", None, MAX_HALVINGS)
        # A page that is partly overwritten with zeros can hide rows without an error.
        if not self.unreadable_ranges and not self._is_sound():
            self.unreadable_ranges += 1

    def _is_sound(self) -> bool:
        try:
            return not self._snapshot.file_problems(self._tree)
        except (apsw.Error, TablewrightError):
            return False

    def _range(
        self, first: bytes, end: bytes | None, halvings: int
    ) -> Iterator[tuple[bytes, int, bytes, bool]]:
        """Yield the rows from `first` to `end`.

        Read forwards to the first damage, backwards to the last, then each half in between.
        """
        found = False
        for backwards in (False, True):
            try:
                for row in self._snapshot.inspect(self._tree, first, end, backwards=backwards):
                    found = True
                    if backwards:
                        end = row[0]
                    else:
                        first = row[0] + b"\x00"  # the next key
                    if not row[3] and isinstance(row[0], bytes):
                        self.damaged.append(row[0])
                    yield row
                return
            except (apsw.Error, TablewrightError):
                continue
        middle = _middle_key(first, end)
        halvings = MAX_HALVINGS if found else halvings - 1
        if middle is None or not halvings:
            self.unreadable_ranges += 1
            return
        yield from self._range(first, middle, halvings)
        yield from self._range(middle, end, halvings)


def _middle_key(first: bytes, end: bytes | None) -> bytes | None:
    """Return a key about half way between two keys; None if there is none.

    >>> _middle_key(b"a", b"c"), _middle_key(b"a", b"a\\x00"), _middle_key(b"\\xf0", None)
    (b'b\\x00\\x00\\x00\\x00\\x00\\x00\\x00', None, b'\\xf8\\x00\\x00\\x00\\x00\\x00\\x00\\x00')
    """
    common = 0
    while end is not None and common < min(len(first), len(end)) and first[common] == end[common]:
        common += 1
    low = int.from_bytes(first[common : common + 8].ljust(8, b"\x00"), "big")
    high = 1 << 64
    if end is not None:
        high = int.from_bytes(end[common : common + 8].ljust(8, b"\x00"), "big")
    middle = (low + high) // 2
    if middle <= low:
        return None
    return first[:common] + middle.to_bytes(8, "big")


# -- change logs


def _is_whole(snapshot: Snapshot, log: ChangeLogSchema) -> bool:
    """Return whether every change of a log can be read."""
    try:
        return not any(check_changes(snapshot, log))
    except (apsw.Error, TablewrightError):
        return False


def _copy_log(
    snapshot: Snapshot,
    log: ChangeLogSchema,
    recovery: RecoverySetting | None,
    store: Store,
    catalog: Catalog,
) -> None:
    """Copy a whole log into the new file, after the items of its table.

    `recovery` is the setting of the table.
    """
    points = read_trim_points(snapshot, LogTree(log.tree))
    tree = store.write(partial(_create_tree, catalog, points))
    with closing(snapshot.walk(LogTree(log.tree), 1, None)) as rows:
        while batch := list(islice(rows, BATCH_ROWS)):
            store.write(partial(_copy_rows, tree, batch))
    store.write(partial(_save_log, catalog, replace(log, tree=tree), recovery))


def _begin_again(
    catalog: Catalog, name: str, recovery: RecoverySetting | None, now: float, tx: WriteTransaction
) -> None:
    """Begin a new log for a table whose log is lost: a new stream, and recovery from now on."""
    catalog.catch_up(tx)
    schema = catalog.tables[name].schema
    if recovery is not None:
        schema = set_recovery(catalog, tx, schema, recovery.days, now)
    if schema.stream is not None and schema.stream.enabled:
        new = replace(schema, stream=replace(schema.stream, label=""))
        apply_stream_setting(catalog, tx, new, now, shards=1)


def _create_tree(catalog: Catalog, points: TrimPoints, tx: WriteTransaction) -> int:
    catalog.catch_up(tx)
    (tree,) = catalog.allocate_trees(1)
    tx.create_tree(LogTree(tree))
    write_trim_points(tx, LogTree(tree), points)
    return tree


def _copy_rows(tree: int, rows: Sequence[LogRow], tx: WriteTransaction) -> None:
    for row in rows:
        tx.put(LogTree(tree), *row)


def _save_log(
    catalog: Catalog, log: ChangeLogSchema, recovery: RecoverySetting | None, tx: WriteTransaction
) -> None:
    catalog.catch_up(tx)
    table = catalog.tables.get(log.table)
    if table is not None and table.schema.id == log.table_id:
        catalog.attach_log(tx, replace(table.schema, recovery=recovery), log)
    else:
        catalog.save_log(tx, log)
