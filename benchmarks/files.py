"""Files with many sample items.

The engine's own functions create the rows; they are stored tree by tree in the order of their keys,
which is much faster than PutItem requests and results in the same rows: `growth` ends with the
engine's check of such a file. Only this module knows the layout of a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeAlias

import apsw

from benchmarks import items
from tablewright.encoding.items import dump, item_size, normalise_item
from tablewright.engine import Engine
from tablewright.engine.tables.catalog import Catalog
from tablewright.engine.tables.table import StoredTable
from tablewright.storage import Tree
from tablewright.storage.tree import row_checksum

Row: TypeAlias = tuple[bytes, int, bytes]

BATCH = 5000


class Track(Protocol):
    """Iterates over a sequence and shows a progress bar."""

    def __call__(self, what: str, steps: range) -> Iterable[int]: ...


def build(path: Path, count: int, track: Track) -> None:
    """Create a file whose table has `count` sample items."""
    with Engine(path, durability="normal") as engine:
        engine.call("CreateTable", items.CREATE)
        table = table_of(engine)
    trees = trees_of(table)
    gathered: list[list[Row]] = [[] for _ in trees]
    for start in track(f"make {count:,} items", range(0, count, BATCH)):
        for n in range(start, min(start + BATCH, count)):
            for rows, row in zip(gathered, rows_of(table, n, count), strict=True):
                rows.append(row)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = off")
    connection.execute("PRAGMA cache_size = -65536")
    for at in track(f"store {count:,} items", range(len(trees))):
        gathered[at].sort()
        tag = trees[at].tag
        connection.execute("BEGIN")
        checked = (
            (key, size, body, row_checksum(body, size) + tag) for key, size, body in gathered[at]
        )
        connection.executemany(trees[at].put_sql, checked)
        connection.execute("COMMIT")
        gathered[at].clear()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def table_of(engine: Engine) -> StoredTable:
    """Return the sample table of the engine."""
    catalog = Catalog()
    engine._store.read(catalog.refresh)
    return catalog.tables[items.TABLE]


def trees_of(table: StoredTable) -> list[Tree]:
    """Return the trees of the sample table and its three indexes."""
    return [table.tree, *(index.tree for index in table.indexes)]


def rows_of(table: StoredTable, n: int, count: int) -> list[Row]:
    """Return the four rows of item `n`: one of the table, and one of each index."""
    item = normalise_item(items.item(n, count))
    size, body = item_size(item), dump(item)
    key = table.encode_key(item)
    row_keys = (index.encode_row_key(item, key) for index in table.indexes)
    return [
        (key, size, body),
        *((row_key, size, body) for row_key in row_keys if row_key is not None),
    ]
