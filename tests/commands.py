"""Run a `tablewright` command in this process, which is quicker than in one of its own."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

from typer import testing
from typer.testing import CliRunner

from tablewright.cli import all_commands

# The runner builds all commands from their functions for each run, which takes longer than most.
testing._get_command = cache(testing._get_command)  # type: ignore[attr-defined]


def run(*arguments: str | Path) -> CompletedProcess[str]:
    """Return the exit code and what was printed; an exception that is a traceback is raised."""
    command = [str(argument) for argument in arguments]
    result = CliRunner().invoke(all_commands.app, command, catch_exceptions=False)
    return CompletedProcess(command, result.exit_code, result.stdout, result.stderr)


def commit(folder: Path | None = None) -> None:
    """Commit everything in a folder, by default the working directory, to a new repository."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *command], check=True, cwd=folder)


def mistake(*arguments: str | Path) -> str:
    """Return the one line that a command prints if it is refused."""
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("tablewright: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr
