"""The command line: each module adds its commands to the application in `commands`.

Invariants:
- Results for programs (a URL, the result of a check) go to standard output; progress, warnings and
  errors go to standard error.
- A mistake of the user (a port in use, a missing file) is one line and exit code 2, never a
  traceback. Exit code 1 means that the command ran and found a problem.
- A command imports what it needs when it runs, so that `--help` is fast. Only its own module is
  imported, unless it shows other commands. `serve` imports typer only for its help: `serve.options`
  says why.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tablewright.cli.report import INTERRUPTED, describe_error, say

#: The modules, with the commands that each adds to the application.
MODULES = {
    "check_design": {"verify", "check-items", "advise"},
    "costs": {"cost"},
    "credentials": {"credentials"},
    "deploy": {"create-tables", "seed", "backfill", "reconcile"},
    "evolution": {"lock", "diff", "migrate"},
    "files": {"check-file", "backup", "restore", "compact", "repair"},
    "first_design": {"designs", "new", "infer"},
    "items.reads": {"get", "query", "scan"},
    "items.writes": {"put", "update", "delete"},
    "patterns": {"patterns", "explain"},
    "publish": {"publish"},
    "services": {"api", "mcp"},
    "sql": {"sql", "shell"},
    "studio": {"studio"},
    "tables": {"tables", "describe", "create-table"},
    "transfer": {"copy", "dump", "load"},
}


def main() -> None:
    """Run the `tablewright` command.

    A reader that closes the pipe early, as `head` does, ends it quietly: typer handles that while
    the command runs, and here is what is written when Python ends. A full disk is one line.
    """
    code: Any = 0
    try:
        try:
            run(sys.argv[1:])
        except SystemExit as end:
            code = end.code
        print(end="", flush=True)  # noqa: T201 - it does nothing if standard output is closed
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _discard_output()
        if not code:  # otherwise the command has reported it
            say(f"tablewright: standard output: {describe_error(error)}")
            code = 2
    sys.exit(code)


def _discard_output() -> None:
    """Prevent that Python writes the rest of the output when it ends, and reports that it fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: Sequence[str]) -> None:
    """Run a command and exit with its code."""
    if arguments[:1] == ["serve"] and not {"-h", "--help"} & set(arguments):
        from tablewright.cli.serve import serve
        from tablewright.cli.serve.options import read_options

        try:
            serve(read_options(arguments[1:]))
        except KeyboardInterrupt:  # the same codes as with typer
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            sys.exit(1)
        return
    module = next((name for name, its in MODULES.items() if its & set(arguments[:1])), None)
    if module is None:  # an unknown command, or one about all commands
        from tablewright.cli.all_commands import app
    else:
        import_module(f"tablewright.cli.{module}")
        from tablewright.cli.commands import app

    app(arguments)
