"""Temporary maps from bytes to bytes, which are larger than the memory that they take.

Pairs that do not fit into the cache are in an unnamed file in the folder for temporary files
(TMPDIR). The file is deleted with the map. A million short pairs take 8 MB of memory, 100 MB of the
file and about 20 s.
"""

from __future__ import annotations

import apsw

from tablewright.errors import TablewrightError

_CACHE_KB = 8192


class TemporaryMap:
    """Maps bytes to bytes."""

    def __init__(self) -> None:
        self._connection = apsw.Connection("")
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            f"PRAGMA cache_size = -{_CACHE_KB}",
            "CREATE TABLE pairs (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID",
            "BEGIN",
        ):
            self._connection.execute(statement).fetchall()

    def setdefault(self, key: bytes, value: bytes) -> bytes:
        """Return the value of a key, which is `value` if it had none."""
        try:
            found = self._connection.execute("SELECT value FROM pairs WHERE key = ?", (key,))
            for (present,) in found:
                return bytes(present)
            self._connection.execute("INSERT INTO pairs VALUES (?, ?)", (key, value))
        except apsw.Error as error:
            raise TablewrightError(
                f"a temporary file cannot be written or read: {error}; free some space, or set "
                "TMPDIR to a folder on another disk"
            ) from error
        return value
