"""A disk that records what SQLite does to it, and fails on demand.

`Disk` is SQLite's own access to files (the VFS "unix") with two additions: an optional log of every
change, from which `power` computes what a power loss may leave, and an optional hook that is called
before each call and may raise, with which `io_errors` injects errors.

A recorded disk begins without files. While it is installed it is the default VFS of the process,
because the store opens its files with the default. A Python VFS has no `xFetch`, so that SQLite
cannot map the database file into memory and every read and write passes through here; `mapped`
checks it. The shared memory of the log's index is mapped; SQLite rebuilds it when the first
connection opens the file.
"""

# ruff: noqa: N802  (the methods' names are SQLite's)

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

#: Called before each call with its kind and the file's name. It may raise an error of SQLite's, or
#: return how many bytes of a write reach the disk before it fails with SQLITE_FULL.
Hook = Callable[[str, str], int | None]


class Change(NamedTuple):
    """One change of a file: create, write, truncate, sync or delete; or a mark of the caller."""

    kind: str
    name: str
    offset: int = 0
    data: bytes = b""
    #: For syncs and deletions: whether the directory is synced too.
    directory: bool = False


class Disk(apsw.VFS):
    """SQLite's files; changes are recorded in `log` if it is given."""

    def __init__(self, log: list[Change] | None = None, hook: Hook | None = None) -> None:
        self.log = log
        self.hook = hook
        self._known: set[str] = set()
        super().__init__("torture", "unix", makedefault=True)

    def before(self, kind: str, name: str) -> int | None:
        return self.hook(kind, name) if self.hook is not None else None

    def changed(self, change: Change) -> None:
        if self.log is not None:
            self.log.append(change)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        text = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        self.before("open", text)
        file = File(self, text, name, flags)
        # The engine may have created the empty file itself.
        if text and text not in self._known:
            self._known.add(text)
            self.changed(Change("create", text))
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.before("delete", filename)
        super().xDelete(filename, syncdir)
        self._known.discard(filename)
        self.changed(Change("delete", filename, directory=syncdir))

    def xAccess(self, pathname: str, flags: int) -> bool:
        self.before("access", pathname)
        return super().xAccess(pathname, flags)


class File(apsw.VFSFile):
    """One open file."""

    def __init__(
        self, disk: Disk, text: str, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._disk = disk
        self._name = text
        # SQLite syncs the directory with the first sync of a new journal or log.
        journal = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
        self._syncs_directory = bool(flags[0] & journal)
        super().__init__("unix", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.before("read", self._name)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        short = self._disk.before("write", self._name)
        data = bytes(data)
        if short is not None:
            data = data[: short % max(1, len(data))]
        if data:
            super().xWrite(data, offset)
            self._disk.changed(Change("write", self._name, offset, data))
        if short is not None:
            raise apsw.FullError("injected: no space left after a part of a write")

    def xTruncate(self, newsize: int) -> None:
        self._disk.before("truncate", self._name)
        super().xTruncate(newsize)
        self._disk.changed(Change("truncate", self._name, newsize))

    def xSync(self, flags: int) -> None:
        # The real disk is not synced: nothing depends on it.
        self._disk.before("sync", self._name)
        self._disk.changed(Change("sync", self._name, directory=self._syncs_directory))
        self._syncs_directory = False

    def xFileSize(self) -> int:
        self._disk.before("size", self._name)
        return super().xFileSize()

    def xLock(self, level: int) -> None:
        self._disk.before("lock", self._name)
        super().xLock(level)


@contextmanager
def installed(log: list[Change] | None = None, hook: Hook | None = None) -> Iterator[Disk]:
    """Make a disk the default for files that this process opens while the block runs."""
    disk = Disk(log, hook)
    try:
        yield disk
    finally:
        disk.unregister()


def mapped(path: Path) -> bool:
    """Return whether this process has mapped the file into its memory."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return any(line.endswith(str(path)) for line in maps)
