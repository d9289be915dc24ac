"""Failures: translate storage errors to DynamoDB errors for clients, and log them.

    StoreBusy           ThrottlingException, 400: nothing was written, and every AWS SDK retries it.
                        (After a 500 the write may have been applied.)
    StoreFailed, …      InternalServerError, 500; one line in the log
    anything else       InternalServerError, 500; a traceback in the log, because it is a bug

Invariant: the same message is logged at most once a minute.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from os.path import samestat
from pathlib import Path

from tablewright.errors import (
    DynamoDBError,
    InternalServerError,
    StoreBusy,
    StoreFailed,
    TablewrightError,
    ThrottlingException,
)

log = logging.getLogger("tablewright.server")

UNEXPECTED = "The request processing has failed because of an unknown error, exception or failure."
LOCKED = "The database file is locked by another process. Try again."
REPEAT_SECONDS = 60.0
MAX_MESSAGES = 100


class Failures:
    """Translates and reports errors. `write_problem` is the reason while writes fail."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.write_problem: str | None = None
        self._clock = clock
        self._reported: dict[str, float] = {}

    def to_fault(self, error: BaseException) -> DynamoDBError:
        """Log an error, and return the DynamoDB error that the client gets for it."""
        if isinstance(error, DynamoDBError):
            return error
        if isinstance(error, StoreBusy):
            self.report(str(error))
            return ThrottlingException(LOCKED)
        if isinstance(error, TablewrightError):
            self.report(str(error))
        else:
            log.error("a request failed", exc_info=error)
        return InternalServerError(UNEXPECTED)

    def report(self, message: str) -> None:
        """Log a line, unless the same line was logged less than a minute ago."""
        now = self._clock()
        if now - self._reported.get(message, -REPEAT_SECONDS) >= REPEAT_SECONDS:
            if len(self._reported) >= MAX_MESSAGES:
                self._reported.clear()
            self._reported[message] = now
            log.error("%s", message)

    def record_write(self, error: BaseException | None) -> None:
        """Record the outcome of a write: None, or the error that it raised."""
        if error is None or isinstance(error, DynamoDBError):
            if self.write_problem is not None:
                log.warning("writes succeed again")
                self.write_problem = None
                self._reported.clear()
        elif isinstance(error, StoreFailed) and not isinstance(error, StoreBusy):
            self.write_problem = str(error)


class FileWatch:
    """Detects that a database file was deleted or replaced while it is open.

    SQLite would continue to write to the deleted file, and these writes would be lost.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._opened = None if path == ":memory:" else self._path.stat()

    def require_same_file(self) -> None:
        """Raise `StoreFailed` if the path no longer names the file that was opened.

        Called once for each commit.
        """
        if self._opened is None:
            return
        try:
            if samestat(self._path.stat(), self._opened):
                return
            what = "replaced"
        except OSError:
            what = "deleted"
        raise StoreFailed(
            f"{self._path}: the file was {what} while it was in use; writes are refused, reads "
            "are still answered. Copy the data with `tablewright dump`, then restart"
        )
