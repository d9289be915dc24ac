"""The processes of the libraries: start them, send them commands."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peers.libraries.catalog import Library
from benchmarks.peers.servers import CREDENTIALS, ROOT

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": CREDENTIALS.access_key,
    "AWS_SECRET_ACCESS_KEY": CREDENTIALS.secret_key,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
}


class Client:
    """A process that runs one library; see `client` for the commands."""

    def __init__(self, library: Library, process: subprocess.Popen[str], log: Path) -> None:
        self.library = library
        self._process = process
        self._log = log

    def facts(self) -> dict[str, Any]:
        """Return what the process tells first; raise RuntimeError without the library."""
        facts: dict[str, Any] = self._read()
        if "missing" in facts:
            raise RuntimeError(facts["missing"])
        return facts

    def _read(self) -> Any:
        """Return the next line of the process; raise RuntimeError if it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process has ended: {self._log.read_text()[-2000:]}")
        return json.loads(line)

    def measure(self, operation: str, numbers: Sequence[int]) -> tuple[float, float]:
        """Return the wall time and the CPU time of one call, in microseconds."""
        wall, cpu = self._send(operation, numbers, check=False)
        return wall / len(numbers) * 1e6, cpu / len(numbers) * 1e6

    def check(self, operation: str, numbers: Sequence[int]) -> None:
        """Raise RuntimeError if the library returns something else than the sample."""
        for problem in self._send(operation, numbers, check=True):
            if problem:
                raise RuntimeError(problem)

    def _send(self, operation: str, numbers: Sequence[int], *, check: bool) -> Any:
        command = {"operation": operation, "numbers": list(numbers), "check": check}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._read()


@contextmanager
def started(library: Library, target: str, folder: Path) -> Iterator[Client]:
    """Run a library while the block runs."""
    log = folder / f"{library.name}.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [
                *(library.python, "-m", f"{__package__}.client"),
                *(library.module, target, library.table),
            ],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            yield Client(library, process, log)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)
        finally:
            process.kill()
