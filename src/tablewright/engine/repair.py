"""Repair: save what is readable of a damaged file into a new one, and list what is lost.

    1. The rows of each table that SQLite can reach and whose checksum is right are saved.
    2. Each index holds copies. An item that its table has lost is saved from an index that projects
       all attributes; any other index row names the key of an item that is lost.
    3. The new file builds its own indexes.

The damaged file is read only; not even its log is folded in. Tokens of transactions, which are
valid for ten minutes, are not saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import apsw

from tablewright.engine.capacity import Charge
from tablewright.engine.catalog import Catalog, read_schemas
from tablewright.engine.damage import decode_key, format_key
from tablewright.engine.rows import ItemRow, replace_item
from tablewright.engine.table import StoredIndex, StoredTable
from tablewright.errors import CannotOpen, DynamoDBError, TablewrightError
from tablewright.schema import TableSchema
from tablewright.storage import APPLICATION_ID, Snapshot, Store, Tree, WriteTransaction

BATCH_ROWS = 500
#: How often a range in which nothing could be read is halved before it is given up.
MAX_HALVINGS = 12

_UNREADABLE = (DynamoDBError, ValueError, LookupError, TypeError, AttributeError)


@dataclass
class SavedTable:
    """What was saved of one table, and what was not."""

    name: str
    #: Items saved, and how many of them came from an index.
    items: int = 0
    from_indexes: int = 0
    #: The keys of items that are known to be lost.
    lost: list[str] = field(default_factory=list)
    #: Ranges of rows that could not be read; items there that no index names are lost unnamed.
    unreadable_ranges: int = 0

    def __bool__(self) -> bool:
        """Whether everything was saved, as far as can be known."""
        return not self.lost and not self.unreadable_ranges


@dataclass
class RepairReport:
    """The outcome of a repair."""

    tables: list[SavedTable] = field(default_factory=list)
    #: What is wrong with the catalog, for people.
    problems: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems and all(self.tables)


def repair(path: str | Path, new_path: str | Path) -> RepairReport:
    """Save what is readable in the file `path` into the file `new_path`, which must not exist."""
    if not Path(path).is_file():
        raise CannotOpen(f"{path}: {'is a directory' if Path(path).is_dir() else 'no such file'}")
    if Path(new_path).exists():
        raise CannotOpen(f"{new_path}: the file exists; choose another name for the new file")
    report = RepairReport()
    with closing(_open_damaged(str(path))) as connection:
        snapshot = Snapshot(connection)
        rows = _ReachableRows(snapshot, Tree(0))
        schemas, report.problems = read_schemas(row[:3] for row in rows if row[3])
        if rows.unreadable_ranges or rows.damaged:
            report.problems.append("a part of the list of tables cannot be read")
        with closing(Store(new_path, durability="normal")) as store:
            catalog = Catalog()
            store.write(catalog.create_trees)
            for schema in schemas:
                new = store.write(partial(_add_table, catalog, schema))
                report.tables.append(_save_table(snapshot, schema, store, new))
    return report


def _add_table(catalog: Catalog, schema: TableSchema, tx: WriteTransaction) -> StoredTable:
    return catalog.add_table(tx, schema)


def _open_damaged(path: str) -> apsw.Connection:
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # SQLite refuses a file that is shorter than its header says, unless this is set.
        connection.pragma("writable_schema", True)
        connection.pragma("query_only", True)
        mark = connection.pragma("application_id")
    except apsw.Error as error:
        raise CannotOpen(f"{path}: SQLite cannot open it: {error}") from error
    if mark != APPLICATION_ID:
        connection.close()
        raise CannotOpen(f"{path}: not a Tablewright database, or its header is damaged")
    return connection


def _save_table(
    snapshot: Snapshot, schema: TableSchema, store: Store, new: StoredTable
) -> SavedTable:
    old = StoredTable(schema)
    saved = SavedTable(old.name)
    rows = _ReachableRows(snapshot, old.tree)
    readable = ((key, ItemRow(None, size, body)) for key, size, body, intact in rows if intact)
    while batch := list(islice(readable, BATCH_ROWS)):
        saved.items += store.write(partial(_save_rows, new, batch))
    saved.unreadable_ranges = rows.unreadable_ranges
    lost = set(rows.damaged)
    for index in old.indexes:
        for entry, size, body, intact in _ReachableRows(snapshot, index.tree):
            key = _table_key(old, index, entry)
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


def _table_key(table: StoredTable, index: StoredIndex, entry: bytes) -> bytes | None:
    """The table's key of the item that an index row is for."""
    values = decode_key(table, index, entry)
    return None if values is None else table.keys.encode(values)


def _has_row(table: StoredTable, key: bytes, snapshot: Snapshot) -> bool:
    return snapshot.get(table.tree, key) is not None


def _save_rows(
    table: StoredTable, rows: Sequence[tuple[bytes, ItemRow]], tx: WriteTransaction
) -> int:
    """Write items into the new file; returns how many of them were items of this table."""
    count = 0
    for key, row in rows:
        try:
            fits = table.keys.encode(row.item) == key
        except _UNREADABLE:
            fits = False
        if fits:
            replace_item(tx, table, key, None, row, Charge(table))
            count += 1
    return count


class _ReachableRows:
    """Walks all rows of a tree that SQLite can reach, around those that it cannot."""

    def __init__(self, snapshot: Snapshot, tree: Tree) -> None:
        self._snapshot = snapshot
        self._tree = tree
        self.unreadable_ranges = 0
        #: The keys of rows whose checksum is wrong.
        self.damaged: list[bytes] = []

    def __iter__(self) -> Iterator[tuple[bytes, int, bytes, bool]]:
        yield from self._range(b"", None, MAX_HALVINGS)
        # A page that is partly zeros can hide rows without an error.
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
        """The rows from `first` to `end`.

        Forwards up to damage, backwards down to damage, then each half of what is in between.
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
    """A key about half way between two; None if there is none.

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
