"""The file: made ours, marked, upgraded, and switched to its write-ahead log.

    format 1    rows of key, size, body
    format 2    rows of key, size, body, checksum

Invariants:
- A file becomes ours in one transaction, and is upgraded in one. So any number of processes may
  open it at once, and a process may be killed at any point.
- A file that is not ours, or of a newer format, is refused and not changed.
- A new file can be read and written by its owner only (mode 0600).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from tablewright.errors import CannotOpen
from tablewright.storage.checksum import row_checksum

APPLICATION_ID = 0x7AB1E317  # marks the file as ours in SQLite's header
FORMAT = 2

CACHE_KIB = 64 * 1024
CHECKPOINT_PAGES = 8192  # 64 MiB of log; SQLite's default of 1000 pages doubled the cost of a put
MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024


def connect(path: str, durability: str, busy_seconds: float, *, create: bool) -> apsw.Connection:
    """Open a connection to a file that is ours, or becomes ours; `create` makes a missing one.

    Raises `CannotOpen`, or an error of apsw's.
    """
    flags = apsw.SQLITE_OPEN_READWRITE
    if create:
        flags |= apsw.SQLITE_OPEN_CREATE
        _create_private(path)
    try:
        connection = apsw.Connection(path, flags=flags, statementcachesize=512)
        try:
            _set_up(connection, path, durability, busy_seconds)
        except BaseException:
            connection.close()  # else its locks would stay for as long as the error is kept
            raise
    except (apsw.NotADBError, apsw.CantOpenError, apsw.CorruptError) as error:
        raise CannotOpen(f"{path}: {_describe_failure(path, error)}") from error
    return connection


def _create_private(path: str) -> None:
    """Create a missing file for its owner only; SQLite gives the log the mode of the file."""
    if path != ":memory:":
        with suppress(OSError):  # it exists, or SQLite says better why it cannot be opened
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _set_up(connection: apsw.Connection, path: str, durability: str, busy_seconds: float) -> None:
    connection.set_busy_handler(_make_busy_handler(busy_seconds))  # first: even a read needs a lock
    if connection.readonly("main"):
        raise CannotOpen(f"{path}: the file is read-only")
    connection.execute("BEGIN")
    found = _read_format(connection, path)
    connection.execute("COMMIT")
    if found < FORMAT:
        _claim_or_upgrade(connection, path)
    _enable_wal(connection, busy_seconds)
    # Not mapped into memory: a read of a mapped page that fails kills the process, where a plain
    # read is an error that can be handled. (It costs 3.5 µs where a page is not in SQLite's cache.)
    connection.pragma("mmap_size", 0)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", "memory")
    connection.pragma("synchronous", durability)
    connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
    connection.pragma("journal_size_limit", MAX_IDLE_LOG_BYTES)


def _read_format(connection: apsw.Connection, path: str) -> int:
    """The format of the file; 0 for an empty one. Any other file is refused.

    To be called in a transaction: between two questions, another process could claim the file.
    """
    mark, number = connection.pragma("application_id"), connection.pragma("user_version")
    if mark == APPLICATION_ID and 1 <= number <= FORMAT:
        return int(number)
    if (mark, number) == (0, 0) and not connection.pragma("schema_version"):
        return 0
    if mark != APPLICATION_ID:
        raise CannotOpen(f"{path}: an SQLite file, but not a Tablewright database")
    raise CannotOpen(
        f"{path}: has format {number}, and this version of Tablewright reads formats up to "
        f"{FORMAT}; upgrade Tablewright"
    )


def _claim_or_upgrade(connection: apsw.Connection, path: str) -> None:
    """Mark an empty file as ours, or upgrade an older one, unless another process already has."""
    connection.pragma("page_size", 8192)
    connection.execute("BEGIN IMMEDIATE")
    if _read_format(connection, path) == 1:
        _add_checksums(connection)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", FORMAT)
    connection.execute("COMMIT")


def _add_checksums(connection: apsw.Connection) -> None:
    """Upgrade from format 1 to 2."""
    connection.create_scalar_function("row_checksum", _checksum, 2)
    trees = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'tree$*'"
    for (name,) in connection.execute(trees).fetchall():
        connection.execute(f"ALTER TABLE {name} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        connection.execute(f"UPDATE {name} SET checksum = row_checksum(body, size)")
    connection.create_scalar_function("row_checksum", None)


def _checksum(*row: Any) -> int:
    body, size = row
    return row_checksum(body, size)


def _enable_wal(connection: apsw.Connection, busy_seconds: float) -> None:
    """Switch to the write-ahead log; does nothing where the file uses it already.

    The switch cannot be part of the transaction that claims the file. SQLite does not wait for
    others in it, because it would wait with a lock in hand.
    """
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.001)


def _describe_failure(path: str, error: apsw.Error) -> str:
    file = Path(path)
    if file.is_dir():
        return "is a directory"
    if not file.parent.is_dir():
        return f"there is no directory {file.parent}"
    if not file.exists() and not os.access(file.parent, os.W_OK):
        return f"cannot be created: no permission to write to the directory {file.parent}"
    if isinstance(error, apsw.CorruptError):
        return f"the file is damaged ({error}); `tablewright repair` saves what is readable"
    return str(error)


def _make_busy_handler(busy_seconds: float) -> Callable[[int], bool]:
    """A busy handler that asks again soon: SQLite's own sleeps up to 100 ms between tries."""
    started = 0.0

    def wait(tries: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if tries == 0:
            started = now
        elif now - started > busy_seconds:
            return False
        time.sleep(min(0.0002 * (tries + 1), 0.005))
        return True

    return wait
