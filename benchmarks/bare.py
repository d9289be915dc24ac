"""The limit of the storage: apsw alone, with the same rows, pragmas and durability.

A `Bare` database uses a copy of the engine's file, so its tables have the same contents. It checks
nothing and knows no requests; its keys and rows are computed before.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import apsw
import msgspec

from benchmarks.files import Row
from tablewright.storage import Durability
from tablewright.storage.file import CACHE_KIB, CHECKPOINT_PAGES
from tablewright.values import Item

decode = msgspec.json.Decoder().decode


class Bare:
    """apsw on a copy of a file."""

    def __init__(self, original: Path, trees: Sequence[str], durability: Durability) -> None:
        path = original.with_suffix(f".bare-{durability}")
        shutil.copyfile(original, path)
        self._connection = apsw.Connection(str(path), statementcachesize=512)
        for pragma in (
            "mmap_size = 0",
            f"cache_size = -{CACHE_KIB}",
            "temp_store = memory",
            "journal_mode = wal",
            f"synchronous = {durability}",
            f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
        ):
            self._connection.execute(f"PRAGMA {pragma}")
        self._execute = self._connection.execute
        self._get = f"SELECT size, body FROM {trees[0]} WHERE key = ?"
        self._puts = [f"REPLACE INTO {tree} VALUES (?, ?, ?, 0)" for tree in trees]
        self._ranges = [
            f"SELECT key, size, body FROM {tree} WHERE key >= ? AND key < ? ORDER BY key"
            for tree in trees
        ]

    def get(self, key: bytes) -> Item:
        """Return one row of the table, decoded."""
        for _, body in self._execute(self._get, (key,)):
            found: Item = decode(body)
            return found
        raise KeyError(key)

    def put(self, rows: Sequence[Row]) -> None:
        """Write one row into each tree, in one transaction."""
        execute = self._execute
        execute("BEGIN IMMEDIATE")
        for put, row in zip(self._puts, rows, strict=True):
            execute(put, row)
        execute("COMMIT")

    def query(self, tree: int, bounds: tuple[bytes, bytes]) -> list[Item]:
        """Return the rows of a tree (0: the table) between two keys, decoded."""
        return [decode(body) for _, _, body in self._execute(self._ranges[tree], bounds)]

    def close(self) -> None:
        self._connection.close()
