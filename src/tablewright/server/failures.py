"""Failures: errors of the storage as faults for clients and as lines for the operator.

    StoreBusy           ThrottlingException, 400: nothing was written, and every AWS SDK retries it.
                        (A 500 would say that the write may have been applied.)
    StoreFailed, …      InternalServerError, 500; one line in the log
    anything else       InternalServerError, 500; a traceback in the log, because it is a bug

Invariant: a failure that repeats is logged once a minute, not once a request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
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
    """Reports what fails. `writes_fail` is the reason, while writes do."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.writes_fail: str | None = None
        self._clock = clock
        self._reported: dict[str, float] = {}

    def fault_of(self, error: BaseException) -> DynamoDBError:
        """The fault that a client gets for an error; it is reported here."""
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
        """Log a line, unless the same one was logged less than a minute ago."""
        now = self._clock()
        if now - self._reported.get(message, -REPEAT_SECONDS) >= REPEAT_SECONDS:
            if len(self._reported) >= MAX_MESSAGES:
                self._reported.clear()
            self._reported[message] = now
            log.error("%s", message)

    def wrote(self, error: BaseException | None) -> None:
        """Note the outcome of a write: None, or the error that the storage raised."""
        if error is None or isinstance(error, DynamoDBError):
            if self.writes_fail is not None:
                log.warning("writes succeed again")
                self.writes_fail = None
                self._reported.clear()
        elif isinstance(error, StoreFailed) and not isinstance(error, StoreBusy):
            self.writes_fail = str(error)


class FileWatch:
    """Notices that a database file was deleted or replaced while it is open.

    SQLite continues to work on the file that it has opened, and what it writes is lost with it.
    """

    def __init__(self, path: str) -> None:
        self._files = {} if path == ":memory:" else {path: identity(path)}

    def require_file(self) -> None:
        """Raise `StoreFailed` if the file is not the one that was opened."""
        for path, opened in self._files.items():
            now = identity(path)
            if now != opened:
                what = "deleted" if now is None else "replaced"
                raise StoreFailed(
                    f"{path}: the file was {what} while it was in use; writes are refused, reads "
                    "are still answered. Copy the data with `tablewright dump`, then restart"
                )


def identity(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
