"""The access log: one JSON line for each request.

Invariants:
- A slow disk never delays a request: lines are collected, and another thread writes them. Lines
  above `MAX_LINES` are dropped, and their number is reported. An error of the disk is reported and
  does not stop the server.
- Whole lines are appended, so the file may be truncated while the server runs, and several
  processes may write to it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tablewright.private_file import open_private

log = logging.getLogger("tablewright.server")

MAX_LINES = 100_000
#: The size up to which a write to a pipe is not mixed with those of other processes (POSIX: 512).
PIPE_BUF = 4096


class AccessLog:
    """A log in a file, or on standard output ("-")."""

    def __init__(self, path: Path | str, report: Callable[[str], None]) -> None:
        """Open the log. Raises `OSError` if it cannot be opened; later errors go to `report`."""
        self._is_stdout = str(path) == "-"
        self._file = sys.stdout.buffer if self._is_stdout else open_private(path, "ab")
        self._path = path
        self._report = report
        self._lines: list[dict[str, Any]] = []
        self._dropped = 0
        self._writing: asyncio.Future[None] | None = None

    def add(self, line: dict[str, Any]) -> None:
        """Collect a line; drop it if too many lines wait."""
        if len(self._lines) < MAX_LINES:
            self._lines.append(line)
        else:
            self._dropped += 1

    def flush(self) -> None:
        """Start to write the collected lines, unless a write is in progress."""
        if self._lines and (self._writing is None or self._writing.done()):
            lines, self._lines = self._lines, []
            loop = asyncio.get_running_loop()
            self._writing = loop.run_in_executor(None, self._write, lines)
            self._writing.add_done_callback(self._report_write)

    async def close(self) -> None:
        """Write the remaining lines and close the file."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self.flush()
        if self._writing is not None:
            await asyncio.wait([self._writing])
        if not self._is_stdout:
            with suppress(OSError):  # of an earlier write, which was reported
                self._file.close()

    def _write(self, lines: list[dict[str, Any]]) -> None:
        encoded = [msgspec.json.encode(line) + b"\n" for line in lines]
        for chunk in chunks(encoded, PIPE_BUF) if self._is_stdout else [b"".join(encoded)]:
            self._file.write(chunk)
            self._file.flush()

    def _report_write(self, writing: asyncio.Future[None]) -> None:
        error = writing.exception()
        if error is not None:
            self._report(f"cannot write the access log {self._path}: {error}")
        if self._dropped:
            log.error(
                "%d lines of the access log %s were dropped: the disk is too slow",
                self._dropped,
                self._path,
            )
            self._dropped = 0


def chunks(lines: list[bytes], size: int) -> Iterator[bytes]:
    """Yield the lines in chunks of at most `size` bytes, if each line fits.

    >>> list(chunks([b"ab", b"c", b"defg"], 3))
    [b'abc', b'defg']
    """
    chunk = b""
    for line in lines:
        if chunk and len(chunk) + len(line) > size:
            yield chunk
            chunk = b""
        chunk += line
    yield chunk
