"""Run tests against mutants, in a copy of the project.

The copy is made once; each mutant is written into it, tried and taken back. So an interrupted run
leaves nothing behind in the project itself.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

import coverage

from tests.mutants.mutations import Mutant

Outcome = Literal["killed", "timeout", "survived", "not covered"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
ALIVE = ("survived", "not covered")

#: Seconds for the start of pytest, and how much slower than recorded the tests may be.
GRACE, SLOWNESS = 30, 4


class Trials:
    """A copy of the project in `folder`, and which tests run which lines of it."""

    def __init__(
        self, root: Path, folder: Path, tests: Sequence[str], untraced: Sequence[str]
    ) -> None:
        """Copy the project and run the tests once; raise if one of them fails.

        It is not known which lines the `untraced` tests run: they are tried on every mutant, last.
        """
        self._root = folder / "copy"
        self._folder = folder
        self._untraced = tuple(untraced)
        self._times = itertools.count(1)
        (folder / "tmp").mkdir()
        shutil.copytree(
            root, self._root, ignore=shutil.ignore_patterns(".*", "__pycache__", "results")
        )
        if self._pytest("recording", (*tests, *untraced), timeout=None, quiet=False):
            raise SystemExit("the tests fail without a mutant; fix them first")
        self._coverage = coverage.CoverageData(basename=str(folder / "coverage"))
        self._coverage.read()
        self._durations: dict[str, float] = json.loads((folder / "durations.json").read_text())

    def outcome(self, mutant: Mutant) -> Outcome:
        """Run the tests that run the mutant's statement, until one fails."""
        by_line = self._coverage.contexts_by_lineno(str(self._root / mutant.path))
        selected = {test for line in mutant.lines for test in by_line.get(line, ()) if test}
        selected |= {test for test in self._durations if test.startswith(self._untraced)}
        if not selected:
            return "not covered"
        (self._folder / "selected.json").write_text(json.dumps(sorted(selected)))
        seconds = sum(self._durations[test] for test in selected)
        path = self._root / mutant.path
        original = path.read_text()
        self._write(path, mutant.source)
        try:
            failed = self._pytest("selecting", self._files(selected), GRACE + SLOWNESS * seconds)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            self._write(path, original)
        return "killed" if failed else "survived"

    def _files(self, tests: Iterable[str]) -> list[str]:
        """Return the files of the tests: the traced ones first, then the quickest first."""
        seconds: dict[str, float] = {}
        for test in tests:
            file = test.partition("::")[0]
            seconds[file] = seconds.get(file, 0) + self._durations[test]
        return sorted(seconds, key=lambda file: (file.startswith(self._untraced), seconds[file]))

    def _write(self, path: Path, source: str) -> None:
        """Write a source file with a time of its own, so that no stale bytecode is used for it."""
        path.write_text(source)
        time = next(self._times)
        os.utime(path, (time, time))

    def _pytest(
        self, plugin: str, tests: Sequence[str], timeout: float | None, *, quiet: bool = True
    ) -> bool:
        """Say whether a test fails; raise TimeoutExpired after ending what pytest started."""
        environment = os.environ | {
            "PYTHONPATH": str(self._root / "src"),
            "HYPOTHESIS_PROFILE": "ci",
            "TMPDIR": str(self._folder / "tmp"),
            "RECORD": str(self._folder),
            "UNTRACED": " ".join(self._untraced),
            "SELECT": str(self._folder / "selected.json"),
        }
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", f"tests.mutants.{plugin}"]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self._root,
            env=environment,
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=subprocess.DEVNULL if quiet else None,
            start_new_session=True,
        )
        try:
            return process.wait(timeout) != 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
