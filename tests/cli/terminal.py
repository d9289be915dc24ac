"""Run a `tablewright` command at a terminal of 80 columns, and type into it.

In a process of its own, or in this one, which takes less time, where the answer to a question is
the subject.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from tablewright.cli import all_commands

COLUMNS = 80


class Shown(NamedTuple):
    returncode: int
    #: What the terminal shows, with the codes of colours.
    text: str

    @property
    def plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.text)


def run_at_terminal(*arguments: str | Path, typed: str = "", **environment: str) -> Shown:
    """Return what is shown by a command while a text is typed."""
    master, slave = _terminal(typed)
    inherited = {
        name: os.environ[name] for name in os.environ if name not in ("COLUMNS", "NO_COLOR")
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tablewright", *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=inherited | {"TERM": "xterm-256color"} | environment,
    )
    os.close(slave)
    shown = _read(master)
    return Shown(process.wait(timeout=30), shown)


def answer_at_terminal(*arguments: str | Path, typed: str) -> Shown:
    """Return what a command in this process shows until a text is typed and it ends."""
    master, slave = _terminal(typed)
    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        shown = pool.submit(_read, master)
        with (
            os.fdopen(slave) as reading,
            os.fdopen(os.dup(slave), "w", buffering=1) as writing,
        ):
            patch.setattr("sys.stdin", reading)
            patch.setattr("sys.stdout", writing)
            patch.setattr("sys.stderr", writing)
            with pytest.raises(SystemExit) as ended:
                all_commands.app([str(argument) for argument in arguments])
        return Shown(int(ended.value.code or 0), shown.result(30))


def _terminal(typed: str) -> tuple[int, int]:
    """Return both ends of a terminal, at which a text has been typed."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    os.write(master, typed.encode())
    return master, slave


def _read(master: int) -> str:
    """Return what is shown until the other end of the terminal is closed."""
    shown = b""
    try:
        while read := os.read(master, 4096):
            shown += read
    except OSError:  # EIO: no process has the terminal open
        pass
    finally:
        os.close(master)
    return shown.decode().replace("\r\n", "\n")
