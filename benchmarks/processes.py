"""Server processes: start one, wait until it responds, read its CPU time and memory, stop it.

Used by the benchmarks and by the tests that run against other implementations of DynamoDB. The
figures are sums over the process and its descendants, from /proc.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.sigv4 import SigningCredentials
from tablewright.transport.remote import Remote

REGION = "us-east-1"
START_SECONDS = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(Struct, frozen=True):
    """A running server."""

    pid: int
    port: int
    #: The time from the start of the process to its first response, if it was measured.
    start_seconds: float = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """Return the CPU time that it and its descendants have used."""
        found = (_read(f"/proc/{pid}/stat") for pid in self.family())
        # The fields after the name, which is in parentheses and may contain spaces.
        fields = (text.rpartition(")")[2].split() for text in found if text)
        return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS

    def memory_bytes(self) -> int:
        """Return the resident memory of it and its descendants."""
        found = (_read(f"/proc/{pid}/statm") for pid in self.family())
        return sum(int(text.split()[1]) for text in found if text) * PAGE

    def wait_until_idle(self, most_seconds: float) -> None:
        """Wait until it uses little CPU time, but not for longer than `most_seconds`."""
        deadline = time.monotonic() + most_seconds
        before, now = -1.0, self.cpu_seconds()
        while now - before > 0.02 and time.monotonic() < deadline:
            time.sleep(0.2)
            before, now = now, self.cpu_seconds()

    def family(self) -> list[int]:
        """Return the ids of it and its descendants."""
        found = [self.pid]
        for pid in found:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, _read(children).split())
        return found


def free_port() -> int:
    """Return a loopback port that no one listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[str | Path],
    *,
    port: int,
    folder: Path,
    environment: Mapping[str, str],
    credentials: SigningCredentials,
) -> Iterator[Process]:
    """Run a server in a folder while the block runs, which begins when it responds.

    Its output goes to the file `log` in the folder. Raises RuntimeError with the end of the output
    if it does not respond.
    """
    log = folder / "log"
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        _wait(process, port, credentials, log)
        yield Process(process.pid, port, time.perf_counter() - started)
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a process: with SIGTERM, after ten seconds with SIGKILL."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(
    process: subprocess.Popen[bytes], port: int, credentials: SigningCredentials, log: Path
) -> None:
    """Wait until the server responds to ListTables."""
    transport = Remote(
        f"http://127.0.0.1:{port}", region=REGION, credentials=lambda: credentials, attempts=1
    )
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            transport.send("ListTables", {})
        except (OSError, TablewrightError):
            time.sleep(0.005)
            continue
        transport.close()
        return
    text = log.read_text(errors="replace")[-500:]
    raise RuntimeError(f"{process.args!r} does not respond: {text}")


def _read(path: str | Path) -> str:
    """Read a file of a process; return nothing if the process has ended."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
