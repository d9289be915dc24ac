"""Revisions: run this program on another revision of the working tree.

The revision is extracted into a temporary folder, and the program runs there in a process of its
own, with the same working directory relative to the repository. Nothing is checked out.

`python -m tablewright.cli.revision DESIGN` prints what `publish --since` compares.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.cli.report import fail


class Published(Struct, frozen=True):
    """A version of a design, as it was published: its template, and what its keys are made of."""

    template: dict[str, Any]
    #: By table; None if only the template is known.
    keys: dict[str, dict[str, str]] | None = None


def published_at(revision: str, design: str) -> Published:
    """Return what a design yields at a revision; exit if it fails."""
    text = run_at(revision, design, module=__name__)
    return msgspec.json.decode(text, type=Published)


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


def _print_published(name: str) -> None:
    from tablewright.cli.grammar import load_design
    from tablewright.publish.infrastructure import cloudformation, key_texts

    design = load_design(name)
    published = Published(cloudformation(design), key_texts(design))
    sys.stdout.buffer.write(msgspec.json.encode(published))


if __name__ == "__main__":
    _print_published(sys.argv[1])
