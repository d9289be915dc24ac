"""Revisions: run a module of this program on another revision of the working tree.

The revision is extracted into a temporary folder, and the module runs there in a process of its
own, with the same working directory relative to the repository. Nothing is checked out.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from tablewright.cli.failures import fail


def run_at(revision: str, *arguments: str, module: str = "tablewright") -> str:
    """Return what the program, or a module of it, prints at a revision; exit if it fails."""
    root = Path(_git("rev-parse", "--show-toplevel").decode().strip())
    _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", problem="is no revision")
    with tempfile.TemporaryDirectory() as folder:
        archive = _git("-C", str(root), "archive", "--format=tar", revision)
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=Path(folder) / Path.cwd().resolve().relative_to(root.resolve()),
        )
    if done.returncode:
        fail(f"at {revision}: {done.stderr.strip().removeprefix('tablewright: ')}")
    return done.stdout


def _git(*arguments: str, problem: str = "") -> bytes:
    try:
        done = subprocess.run(["git", *arguments], check=False, capture_output=True)
    except OSError as error:
        fail(f"git cannot be run: {error.strerror}")
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        fail(f"{arguments[-1].partition('^')[0]} {problem}" if problem else f"git: {reason}")
    return done.stdout
