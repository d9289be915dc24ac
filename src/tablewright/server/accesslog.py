"""The access log: one JSON line for each request.

Invariants:
- A slow or full log never delays a request: lines are collected and written by another thread. What
  cannot be written in time is dropped, and the number of dropped lines is reported. An error is
  reported and ends nothing, also when the log is closed.
- Whole lines are appended, so the file may be moved or truncated while the server runs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

log = logging.getLogger("tablewright.server")

MAX_LINES = 100_000


class AccessLog:
    """Lines for a file, or for standard output ("-")."""

    def __init__(self, path: Path | str, report: Callable[[str], None]) -> None:
        """Open the log. Raises `OSError` if it cannot be opened; later errors go to `report`."""
        self._is_stdout = str(path) == "-"
        self._file = sys.stdout.buffer if self._is_stdout else open_private(path)
        self._path = path
        self._report_line = report
        self._lines: list[dict[str, Any]] = []
        self._dropped = 0
        self._writing: asyncio.Future[None] | None = None

    def add(self, line: dict[str, Any]) -> None:
        if len(self._lines) < MAX_LINES:
            self._lines.append(line)
        else:
            self._dropped += 1

    def flush(self) -> None:
        """Start writing what was collected, unless the last write is still under way."""
        if self._lines and (self._writing is None or self._writing.done()):
            lines, self._lines = self._lines, []
            loop = asyncio.get_running_loop()
            self._writing = loop.run_in_executor(None, self._write, lines)
            self._writing.add_done_callback(self._report)

    async def close(self) -> None:
        """Write the rest and close the file."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self.flush()
        if self._writing is not None:
            await asyncio.wait([self._writing])
        if not self._is_stdout:
            with suppress(OSError):  # what could not be written before: it was reported
                self._file.close()

    def _write(self, lines: list[dict[str, Any]]) -> None:
        self._file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        self._file.flush()

    def _report(self, writing: asyncio.Future[None]) -> None:
        error = writing.exception()
        if error is not None:
            self._report_line(f"cannot write the access log {self._path}: {error}")
        if self._dropped:
            log.error("%d lines of the access log were dropped: it is too slow", self._dropped)
            self._dropped = 0


def open_private(path: Path | str) -> BinaryIO:
    """Open a file to append to; a new one can be read by its owner only."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
