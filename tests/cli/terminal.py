"""Run a `tablewright` command at a terminal of 80 columns, and type into it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import NamedTuple

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
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
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
    os.write(master, typed.encode())
    shown = b""
    try:
        while read := os.read(master, 4096):
            shown += read
    except OSError:  # EIO: the process has closed the terminal
        pass
    finally:
        os.close(master)
    return Shown(process.wait(timeout=30), shown.decode().replace("\r\n", "\n"))
