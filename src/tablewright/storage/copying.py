"""Copies of a file: backup, compaction, and checkpoints of the write-ahead log.

All functions that copy work while other threads and processes use the file. Each uses a connection
of its own: it does not wait in the write queue, and other writers wait only while SQLite holds the
lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from tablewright.errors import StoreFailed
from tablewright.storage.log import log_path, note_log, read_salts
from tablewright.storage.tree import TAG_BITS, UNTAGGED, make_tag
from tablewright.whole_file import create_whole, open_private, partial_path


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
