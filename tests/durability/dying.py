"""A program that opens new files and dies on the way: `python -m tests.durability.dying DIRECTORY`.

It forks off a child for each file, `1.db`, `2.db`, …, and the child of number n kills itself as
SQLite is about to do the n-th thing to the disk. The last child has lived to the end.
"""

# ruff: noqa: N802  (the methods' names are SQLite's)

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import apsw

from tablewright.engine import Engine

_left = 0


def live_or_die() -> None:
    global _left
    _left -= 1
    if _left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


class Disk(apsw.VFS):
    """SQLite's own access to files, and a life that ends with one of its calls."""

    def __init__(self) -> None:
        super().__init__("dying", "unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        live_or_die()
        return File("unix", name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        live_or_die()
        super().xDelete(filename, syncdir)


class File(apsw.VFSFile):
    def xLock(self, level: int) -> None:
        live_or_die()
        super().xLock(level)

    def xUnlock(self, level: int) -> None:
        live_or_die()
        super().xUnlock(level)

    def xWrite(self, data: bytes, offset: int) -> None:
        live_or_die()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        live_or_die()
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        live_or_die()
        super().xSync(flags)


def work_in_child(work: Callable[[], None], steps: int) -> int:
    """The exit code of a child that works and dies before its last step."""
    global _left
    pid = os.fork()
    if pid == 0:
        _left = steps
        try:
            work()
        except BaseException as error:
            os.write(2, f"{steps}: {error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def open_and_close(path: Path) -> None:
    Engine(path).close()


if __name__ == "__main__":
    disk = Disk()  # the default for as long as it is kept
    for number in count(1):
        path = Path(sys.argv[1], f"{number}.db")
        code = work_in_child(partial(open_and_close, path), number)
        if code != -signal.SIGKILL:
            sys.exit(code)
