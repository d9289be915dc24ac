"""The state of a transfer: a file that records the progress, so that a transfer can resume.

{"source": "shop.db", "target": "http://…", "table": null, "tables": {"orders": {
   "source_id": "…", "target_id": "…", "made": true,
   "parts": [{"items": 1250, "last": {"PK": …}, "done": false}, …]}}}

A part is a segment of a copied table, or a loaded file. Its first `items` items, up to and
including the key `last`, are written.

Invariants:
- The file never records an item that is not written; it may omit the latest writes.
- The file is replaced atomically, so a kill leaves the old version or the new one.
- The file is removed at the end of the transfer.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
from msgspec import Struct, field

from tablewright.errors import TransferRefused
from tablewright.values import Item
from tablewright.whole_file import replace_whole

#: The minimum interval between writes of the file: an fsync takes some milliseconds.
SAVE_SECONDS = 0.25


class PartProgress(Struct):
    """The progress of a segment or a file."""

    items: int = 0
    last: Item | None = None
    is_done: bool = field(default=False, name="done")


class TableProgress(Struct):
    """The progress of one table.

    The ids show whether the tables are the same as in the earlier run. `created` is True if the
    transfer created the table at the target.
    """

    source_id: str = ""
    target_id: str = ""
    created: bool = field(default=False, name="made")
    parts: list[PartProgress] = field(default_factory=list)

    @property
    def items(self) -> int:
        return sum(part.items for part in self.parts)


class _StateFile(Struct):
    source: str
    target: str
    table: str | None
    tables: dict[str, TableProgress] = field(default_factory=dict)


class TransferState:
    """The progress of a transfer; kept only in memory if `path` is None.

    Raises TransferRefused if the file is invalid, or the state of a different transfer.
    """

    def __init__(
        self, path: Path | None, source: str = "", target: str = "", table: str | None = None
    ) -> None:
        self.path = path
        self._saved = _StateFile(source, target, table)
        self._last_save = 0.0
        if path is None:
            return
        try:
            found = msgspec.json.decode(path.read_bytes(), type=_StateFile)
        except FileNotFoundError:
            return
        except msgspec.MsgspecError:
            raise TransferRefused(f"{path}: not the state of a transfer; remove it") from None
        if (found.source, found.target, found.table) != (source, target, table):
            only = f" (--table {found.table})" if found.table else ""
            raise TransferRefused(
                f"{path}: the state of another transfer, from {found.source} to "
                f"{found.target}{only}; finish that transfer, remove the file, or use --state"
            )
        self._saved = found

    @property
    def tables(self) -> dict[str, TableProgress]:
        return self._saved.tables

    def save(self, *, now: bool = True) -> None:
        """Write the file. If `now` is False, skip it within SAVE_SECONDS of the last write."""
        if self.path is None or (not now and time.monotonic() < self._last_save + SAVE_SECONDS):
            return
        replace_whole(self.path, msgspec.json.encode(self._saved), private=True)
        self._last_save = time.monotonic()

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
