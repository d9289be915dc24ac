"""State: how far a transfer has come, in a small file, so that it can go on after any stop.

{"source": "shop.db", "target": "http://…", "table": null, "tables": {"orders": {
   "source_id": "…", "target_id": "…", "made": true,
   "parts": [{"items": 1250, "last": {"PK": …}, "done": false}, …]}}}

A part is a segment of a table that is copied, or a file that is loaded. `items` of it, up to and
with the key `last`, are written for certain.

Laws: the file is behind what is written, never ahead; it is replaced whole, so a kill leaves the
old one or the new one; it is removed when the transfer has come to its end.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
from msgspec import Struct, field

from tablewright.errors import TransferRefused
from tablewright.values import Item

#: How often the file is written, at most: a sync takes a disk some milliseconds.
SAVE_SECONDS = 0.25


class Part(Struct):
    """A segment, or a file: what of it is written."""

    items: int = 0
    last: Item | None = None
    done: bool = False


class TableState(Struct):
    """How far one table has come.

    The identities tell whether the tables are those of the run before. `made` says that the table
    at the target is of this transfer's making.
    """

    source_id: str = ""
    target_id: str = ""
    made: bool = False
    parts: list[Part] = field(default_factory=list)

    @property
    def items(self) -> int:
        return sum(part.items for part in self.parts)


class _Saved(Struct):
    source: str
    target: str
    table: str | None
    tables: dict[str, TableState] = field(default_factory=dict)


class State:
    """How far a transfer has come; without a path it is kept in memory alone.

    Refused if the file tells of a transfer between other ends, or is no such file.
    """

    def __init__(
        self, path: Path | None, source: str = "", target: str = "", table: str | None = None
    ) -> None:
        self.path = path
        self._saved = _Saved(source, target, table)
        self._last_save = 0.0
        if path is None:
            return
        try:
            found = msgspec.json.decode(path.read_bytes(), type=_Saved)
        except FileNotFoundError:
            return
        except msgspec.MsgspecError:
            raise TransferRefused(f"{path}: not the state of a transfer; remove it") from None
        if (found.source, found.target, found.table) != (source, target, table):
            only = f" (--table {found.table})" if found.table else ""
            raise TransferRefused(
                f"{path}: the state of another transfer, from {found.source} to "
                f"{found.target}{only}; finish that one, remove the file, or give --state"
            )
        self._saved = found

    @property
    def tables(self) -> dict[str, TableState]:
        return self._saved.tables

    def save(self, *, now: bool = True) -> None:
        """Write the file; if it need not be now, then only if it was not written just before."""
        if self.path is None or (not now and time.monotonic() < self._last_save + SAVE_SECONDS):
            return
        beside = self.path.with_name(self.path.name + ".new")
        beside.unlink(missing_ok=True)
        with beside.open("xb") as file:  # a new file: a link that has its name is not followed
            file.write(msgspec.json.encode(self._saved))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)
        self._last_save = time.monotonic()

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
