"""Run the tests of model, plan and designs over every target: `python -m tests.targets [TARGET …]`.

Targets that are not installed are left out, and said to be. What follows `--` is pytest's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

from tests.targets.servers import ROOT, SERVERS

IN_PROCESS = "in-process"
SUITE = (
    "tests/model",
    "tests/plan",
    "tests/verify",
    "tests/designs",
    "tests/properties/keys",
    "tests/properties/test_updates_match_rewrites.py",
)


class Counts(NamedTuple):
    passed: int
    failed: int
    skipped: int


def run(target: str, arguments: list[str]) -> Counts | None:
    """The counts of a run; None if there was none."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {"HYPOTHESIS_PROFILE": "ci", **os.environ}
    if target != IN_PROCESS:
        command += ["-p", "tests.targets.plugin"]
        environment["TABLEWRIGHT_TARGET"] = target
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command += [f"--junitxml={report}", *(arguments or SUITE)]
        subprocess.run(command, check=False, cwd=ROOT, env=environment)
        if not report.exists():
            return None
        (suite,) = ElementTree.parse(report).getroot()
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    skipped = int(suite.get("skipped", 0))
    return Counts(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)


def main(arguments: list[str]) -> int:
    names = arguments[: arguments.index("--")] if "--" in arguments else arguments
    passed_on = arguments[len(names) + 1 :]
    known = (IN_PROCESS, *SERVERS)
    unknown = set(names).difference(known)
    if unknown:
        raise SystemExit(f"no such target: {', '.join(unknown)}; there are {', '.join(known)}")
    console = Console()
    table = Table("target", "passed", "failed", "skipped", title="tests over targets")
    right = True
    for name in names or known:
        missing = None if name == IN_PROCESS else SERVERS[name].missing()
        if missing is not None:
            table.add_row(name, f"left out: {missing} is not installed")
            continue
        console.rule(name)
        counts = run(name, passed_on)
        right = right and counts is not None and not counts.failed
        table.add_row(name, *(str(count) for count in counts or ("no result",)))
    console.print(table)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
