"""The file: create it, mark it as ours, upgrade its format, enable the write-ahead log, copy it.

    format 1    rows of key, size, body
    format 2    rows of key, size, body, checksum
    format 3    tables may have change logs, which every writer must append to
    format 4    a checksum has the tag of its tree; `tags$` lists other tags that rows of a tree may
                have: 0 for the trees of earlier formats, whose rows keep their checksums. `logs$`
                names the last write-ahead logs (see `log`)

Invariants:
- A file is marked as ours in one transaction, and upgraded in one transaction. So several processes
  can open it at once, and a process can be killed at any point.
- A file that is not ours, or has a newer format, is rejected and not changed.
- Only the owner can read and write a new file (mode 0600).
- Functions that copy (`back_up`, `compact`) work while other threads and processes use the file.
  Each uses a connection of its own: it does not wait in the write queue, and other writers wait
  only while SQLite holds the lock.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from tablewright.errors import CannotOpen, DamagedFile, StoreFailed
from tablewright.storage.log import (
    CREATE_SQL,
    log_path,
    note_log,
    read_salts,
    require_current_log,
)
from tablewright.storage.tree import TAG_BITS, UNTAGGED, make_tag, row_checksum
from tablewright.whole_file import create_whole, open_private, partial_path

_MAGIC = b"SQLite format 3\x00"
#: How to fix a path to something else.
ANOTHER = "name a new file, or one that Tablewright created"
APPLICATION_ID = 0x7AB1E317  # marks the file as ours in SQLite's header
FORMAT = 4

#: Also those that are being deleted.
_TREES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' "
    "AND (name GLOB 'tree$*' OR name GLOB 'retired$*')"
)

CACHE_KIB = 64 * 1024
CHECKPOINT_PAGES = 8192  # 64 MiB of log; SQLite's default of 1000 pages doubled the cost of a put
MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024


def connect(
    path: str,
    durability: str,
    busy_seconds: float,
    *,
    create: bool,
    impatient: Collection[int] = (),
) -> apsw.Connection:
    """Open a connection to a file, and mark an empty file as ours; `create` creates a missing file.

    The connection waits at most `busy_seconds` for a lock of another process. It does not wait in
    threads whose identifiers `impatient` contains, also if they are added later.

    With `create`, the log is checked, too: other connections to an open file use the same one.

    Raise `CannotOpen`, or an `apsw.Error`.
    """
    flags = apsw.SQLITE_OPEN_READWRITE
    if create:
        flags |= apsw.SQLITE_OPEN_CREATE
        require_current_log(path)
        _create_private(path)
    try:
        connection = apsw.Connection(path, flags=flags, statementcachesize=512)
        try:
            _set_up(connection, path, durability, busy_seconds, impatient)
        except BaseException:
            connection.close()  # otherwise its locks stay until the exception is freed
            raise
    except (apsw.NotADBError, apsw.CorruptError) as error:
        if not _is_sqlite(path):
            raise CannotOpen(f"{path}: {error}; {ANOTHER}") from error
        raise DamagedFile(
            f"{path}: the file is damaged ({error}); `tablewright repair` saves what is readable"
        ) from error
    except apsw.CantOpenError as error:
        raise CannotOpen(f"{path}: {_describe_failure(path, error)}") from error
    return connection


def _create_private(path: str) -> None:
    """Create a missing file with mode 0600; SQLite gives the log file the same mode."""
    if path != ":memory:":
        with suppress(OSError):  # it exists, or SQLite reports a clearer reason
            open_private(path, "xb").close()


def _set_up(
    connection: apsw.Connection,
    path: str,
    durability: str,
    busy_seconds: float,
    impatient: Collection[int],
) -> None:
    # First: even a read needs a lock.
    connection.set_busy_handler(_make_busy_handler(busy_seconds, impatient))
    if connection.readonly("main"):
        raise CannotOpen(f"{path}: the file is read-only; make it writable, or use a copy of it")
    connection.execute("BEGIN")
    found = _read_format(connection, path)
    connection.execute("COMMIT")
    if found < FORMAT:
        _claim_or_upgrade(connection, path)
    _enable_wal(connection, busy_seconds)
    # No memory mapping: a failing read of a mapped page kills the process, while a failing plain
    # read raises an error. (A plain read of a page that is not in SQLite's cache costs 3.5 µs.)
    connection.pragma("mmap_size", 0)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", "memory")
    connection.pragma("synchronous", durability)
    connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
    connection.pragma("journal_size_limit", MAX_IDLE_LOG_BYTES)


def _read_format(connection: apsw.Connection, path: str) -> int:
    """Return the format of the file, 0 if it is empty; raise `CannotOpen` if it is not ours.

    Must run in a transaction: otherwise another process can mark the file between two reads.
    """
    mark, number = connection.pragma("application_id"), connection.pragma("user_version")
    if mark == APPLICATION_ID and 1 <= number <= FORMAT:
        return int(number)
    if (mark, number) == (0, 0) and not connection.pragma("schema_version"):
        return 0
    if mark != APPLICATION_ID:
        raise CannotOpen(f"{path}: an SQLite file, but not a Tablewright database; {ANOTHER}")
    raise CannotOpen(
        f"{path}: has format {number}, but this version of Tablewright reads formats up to "
        f"{FORMAT}; upgrade Tablewright"
    )


def _claim_or_upgrade(connection: apsw.Connection, path: str) -> None:
    """Mark an empty file as ours, or upgrade an older one, unless another process already has."""
    connection.pragma("page_size", 8192)
    connection.execute("BEGIN IMMEDIATE")
    found = _read_format(connection, path)
    if found == 1:
        _add_checksums(connection)
    if found < 4:
        _allow_untagged_rows(connection)
        connection.execute(CREATE_SQL)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", FORMAT)
    connection.execute("COMMIT")


def _add_checksums(connection: apsw.Connection) -> None:
    """Upgrade from format 1 to 2."""
    connection.create_scalar_function("row_checksum", _checksum, 2)
    for (name,) in connection.execute(_TREES).fetchall():
        connection.execute(f"ALTER TABLE {name} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        connection.execute(f"UPDATE {name} SET checksum = row_checksum(body, size)")
    connection.create_scalar_function("row_checksum", None)


def _allow_untagged_rows(connection: apsw.Connection) -> None:
    """Upgrade from format 3 to 4; in a new file there are no trees yet."""
    connection.execute(
        "CREATE TABLE tags$ (tree TEXT, tag INTEGER, PRIMARY KEY (tree, tag)) WITHOUT ROWID"
    )
    connection.execute(f"INSERT INTO tags$ SELECT name, 0 FROM ({_TREES})")


def _checksum(*row: Any) -> int:
    body, size = row
    return row_checksum(body, size)


def _enable_wal(connection: apsw.Connection, busy_seconds: float) -> None:
    """Switch to the write-ahead log; does nothing if the file uses it already.

    The switch cannot be part of the transaction that marks the file. SQLite does not call the busy
    handler here, because it would wait while it holds a lock; so this function retries.
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
        return f"is a directory; name a file in it, such as {file / 'tablewright.db'}"
    if not file.parent.is_dir():
        return f"the directory {file.parent} does not exist; create it first"
    if not file.exists() and not os.access(file.parent, os.W_OK):
        return f"cannot be created: no permission to write to the directory {file.parent}"
    return str(error)


def _is_sqlite(path: str) -> bool:
    """Return whether a file has the header of SQLite; without it, it never was a database."""
    with Path(path).open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _make_busy_handler(busy_seconds: float, impatient: Collection[int]) -> Callable[[int], bool]:
    """Return a busy handler with short delays; SQLite's own sleeps up to 100 ms between tries."""
    started = 0.0

    def wait(tries: int) -> bool:
        nonlocal started
        if threading.get_ident() in impatient:
            return False
        now = time.monotonic()
        if tries == 0:
            started = now
        elif now - started > busy_seconds:
            return False
        time.sleep(min(0.0002 * (tries + 1), 0.005))
        return True

    return wait


# -- copies ----------------------------------------------------------------------------------------


def back_up(connection: apsw.Connection, copy: Path) -> None:
    """Write the current state of the file into a new file.

    Runs in one read transaction: writers do not wait, and later writes are not in the copy. The
    copy gets its name after it is complete and synced; a killed backup leaves `COPY.partial`.
    """
    if problem := name_problem(copy, Path(connection.filename)):
        raise StoreFailed(problem)
    try:
        with create_whole(copy) as partial:
            open_private(partial, "xb").close()
            connection.execute("VACUUM INTO ?", (str(partial),))
    except OSError as error:
        raise StoreFailed(f"{copy}: {os.strerror(error.errno or 0)}") from error


def compact(path: str) -> None:
    """Rewrite the file without free pages, to free disk space. Writers wait until it is done.

    All rows get the tag of their tree.
    """
    with _connection(path) as connection:
        connection.set_busy_timeout(30_000)
        connection.execute("BEGIN IMMEDIATE")
        _tag_rows(connection)
        connection.execute("COMMIT")
        connection.execute("VACUUM")
    truncate_log(path)


def _tag_rows(connection: apsw.Connection) -> None:
    """Replace other tags of rows, so that each tree has only its own; damaged rows stay damaged."""
    # An earlier version that has the file open deletes trees without their entries.
    entries = "SELECT tree, tag FROM tags$ WHERE tree IN (SELECT name FROM sqlite_schema)"
    for name, tag in connection.execute(entries).fetchall():
        own = make_tag(int(str(name).partition("$")[2]))
        connection.execute(
            f"UPDATE {name} SET checksum = (checksum & {UNTAGGED}) + {own} "
            f"WHERE checksum >> {TAG_BITS} = {tag}"
        )
    connection.execute("DELETE FROM tags$")


def truncate_log(path: str) -> None:
    """Move the log into the file and empty it; do nothing if another connection is using it."""
    with _connection(path) as connection, suppress(apsw.BusyError):
        connection.execute("BEGIN IMMEDIATE")
        note_log(connection.execute, read_salts(log_path(path)), again=True)
        connection.execute("COMMIT")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


@contextmanager
def _connection(path: str) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("synchronous", "full")
        yield connection
    finally:
        connection.close()


def name_problem(new: Path, source: Path) -> str | None:
    """Return why a copy of `source` cannot have the name `new`, as a message; None if it can."""
    log = Path(f"{new}-wal")
    if new.exists():
        return f"{new}: the file exists; choose another name for the new file"
    if log.exists():
        return (
            f"{log}: is the log of another file, which SQLite would apply to the new one; move it "
            "away (beside its own file, if that was moved), or choose another name for the new file"
        )
    partial = partial_path(new)
    if partial.exists() and source.exists() and partial.samefile(source):
        return (
            f"{new}: would be written as {partial} first, which is the file to read; choose "
            "another name for the new file"
        )
    return None
