"""The write-ahead log beside the file: note each log in the file, and find one that is out of date.

SQLite applies `FILE-wal` whenever it opens the file. If the log is an old copy, this would undo
writes silently. Each log has random salts in its header, and SQLite starts a log with new
salts once the file contains the whole last one. So `logs$` holds a record: the salts of the last
logs, with a random number, which makes each record unique.

Invariants:
- A record that names a log is written to this log, or to a later one. SQLite syncs a log before it
  moves any of it to the file. So if the file has a record that names its log, then the log contains
  this record, whatever was interrupted. A log without it is an older copy.
- A damaged or missing record proves nothing: the log is accepted.

A log is noted within its first writes, and again before it is moved to the file as a whole. An old
copy of a log is found if the file contains a later record: always after an orderly close.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from zlib import crc32

import apsw

from tablewright.errors import DamagedFile

CREATE_SQL = "CREATE TABLE logs$ (id INTEGER PRIMARY KEY, record BLOB NOT NULL)"
_SELECT = "SELECT record FROM logs$ WHERE id = 1"
_REPLACE = "REPLACE INTO logs$ VALUES (1, ?)"

#: The number of logs that a record names. It must fit into one page, also one of 4 KiB.
MAX_LOGS = 200
_SALTS = 8
_NUMBER = 8
_CHECKSUM = 4
_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_CHUNK = 1024 * 1024


def log_path(path: str) -> Path:
    """Return the path of the log of a file: SQLite follows a symbolic link to the file."""
    file = Path(path)
    return Path(f"{file.resolve() if file.is_symlink() else path}-wal")


def read_salts(log: Path) -> bytes:
    """Return the salts of a log; nothing if there is no log."""
    header = b""
    # Unlike the file itself, the log has no locks, which closing it would release.
    with suppress(OSError), log.open("rb", buffering=0) as file:
        header = file.read(32)
    return header[16:24] if len(header) == 32 and header[:4] in _MAGIC else b""


def note_log(execute: Callable[..., apsw.Cursor], salts: bytes, *, again: bool = False) -> None:
    """Write a record that names the log with these salts, in an open transaction.

    Do nothing if the last record names it, unless `again`.
    """
    known = _read_record(execute)
    if salts and (again or salts not in known):
        known = [each for each in known if each != salts][1 - MAX_LOGS :]
        content = secrets.token_bytes(_NUMBER) + b"".join((*known, salts))
        execute(_REPLACE, (content + crc32(content).to_bytes(_CHECKSUM, "big"),))


def require_current_log(path: str) -> None:
    """Raise `DamagedFile` if the log of a file is older than the file. Reads them without locks."""
    log = log_path(path)
    salts = read_salts(log)
    if not salts:
        return
    record = _read_stored(path)
    if salts not in _split(record) or _contains(log, record):
        return
    if read_salts(log) == salts:  # otherwise another process has started a new log meanwhile
        raise DamagedFile(
            f"{path}: its log {log} is older than the file, and would undo later writes; stop all "
            f"processes that use the file, move {log} away, then open the file again"
        )


def _read_stored(path: str) -> bytes:
    """Return the record in the file itself, without its log."""
    # SQLite reads an immutable file without its log. It takes no locks, and leaves none.
    uri = f"{Path(path).resolve().as_uri()}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with suppress(apsw.Error), closing(apsw.Connection(uri, flags=flags)) as connection:
        for (record,) in connection.execute(_SELECT):
            return record if isinstance(record, bytes) else b""
    return b""


def _read_record(execute: Callable[..., apsw.Cursor]) -> list[bytes]:
    for (record,) in execute(_SELECT).fetchall():
        return _split(record)
    return []


def _split(record: object) -> list[bytes]:
    """Return the salts in a record, those of the last log at the end; nothing if it is damaged."""
    if not isinstance(record, bytes):
        return []
    content = record[:-_CHECKSUM]
    if crc32(content).to_bytes(_CHECKSUM, "big") != record[-_CHECKSUM:]:
        return []
    return [content[at : at + _SALTS] for at in range(_NUMBER, len(content), _SALTS)]


def _contains(log: Path, record: bytes) -> bool:
    """Return whether a log contains a record: SQLite stores it in one piece."""
    with suppress(OSError), log.open("rb") as file:
        end = b""
        while chunk := file.read(_CHUNK):
            if record in end + chunk:
                return True
            end = chunk[-len(record) :]
    return False
