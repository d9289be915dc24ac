"""Servers in other processes, and the memory of a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Served:
    """A running `tablewright serve`: its URL, its process and its log."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def memory(self, which: str = "RssAnon") -> int:
        """Return the private memory of the server in MB; `VmHWM`: its maximum, with files."""
        return memory(self.process.pid, which)


def memory(process: int | str, which: str = "RssAnon") -> int:
    """Return the memory of a process in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith(which)]
    return int(line.split()[1]) // 1024


@contextmanager
def served(file: Path, *options: str) -> Iterator[Served]:
    """Serve a file on a free port while the block runs; then kill the server if it still runs."""
    log = file.with_suffix(".log")
    command = [sys.executable, "-m", "tablewright", "serve", "--port", "0", str(file)]
    with (
        log.open("a") as errors,
        subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT
        ) as process,
    ):
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError(f"the server does not start: {log.read_text()}")
            yield Served(process, url, log)
        finally:
            process.kill()
