"""Copies of a file: backups, compaction, and folding the log into the file.

All of it works while other threads and processes use the file. Each function opens a connection of
its own, so that it neither waits in the queue of writers nor keeps one waiting longer than SQLite
needs the lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from tablewright.errors import StoreFailed
from tablewright.private_file import open_private


def back_up(connection: apsw.Connection, copy: Path) -> None:
    """Write the state of this moment into a new file.

    One read transaction: writers do not wait, and later writes are not part of the copy. The file
    gets its name when it is complete and synced; a backup that was killed leaves `COPY.partial`.
    """
    if copy.exists():
        raise StoreFailed(f"{copy}: the file exists; choose another name for the copy")
    partial = copy.with_name(copy.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        open_private(partial, "xb").close()
        try:
            connection.execute("VACUUM INTO ?", (str(partial),))
            _sync(partial)
            os.link(partial, copy)  # which, unlike a rename, never replaces a file
        finally:
            partial.unlink(missing_ok=True)
        _sync(copy.parent)
    except OSError as error:
        raise StoreFailed(f"{copy}: {os.strerror(error.errno or 0)}") from error


def compact(path: str) -> None:
    """Rewrite the file without free pages and give the space back. Writers wait meanwhile."""
    with _connection(path) as connection:
        connection.set_busy_timeout(30_000)
        connection.execute("VACUUM")
    truncate_log(path)


def truncate_log(path: str) -> None:
    """Fold the log into the file and empty it, unless another connection is using it just now."""
    with _connection(path) as connection, suppress(apsw.BusyError):
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


@contextmanager
def _connection(path: str) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("synchronous", "full")
        yield connection
    finally:
        connection.close()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
