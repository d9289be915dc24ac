"""What SQLite's write-ahead log says from outside: how often was committed, and who holds it."""

from __future__ import annotations

import struct
from contextlib import closing
from pathlib import Path

import apsw


def commits(database: Path) -> int:
    """The commits in the log since it was begun: each ends with a frame that says so."""
    log = Path(f"{database}-wal").read_bytes()
    (page_size,) = struct.unpack(">I", log[8:12])
    salts = log[16:24]
    count = 0
    for start in range(32, len(log), 24 + page_size):
        frame = log[start : start + 24]
        if frame[8:16] == salts and struct.unpack(">I", frame[4:8]) != (0,):
            count += 1
    return count


def is_held(database: Path) -> bool:
    """Whether somebody's snapshot keeps the log from being folded into the file.

    Asked through apsw: Python's own sqlite3 is another copy of SQLite, and two copies in one
    process do not see each other's locks.
    """
    with closing(apsw.Connection(str(database))) as connection:
        connection.execute("SELECT * FROM sqlite_schema").fetchall()  # now it knows of the log
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return True
        return False
