"""The command line: each module adds its commands to the application in `commands`.

Invariants:
- Standard output holds what a program would read (the URL, the result of a check); everything meant
  for people while it runs goes to standard error.
- What a user can get wrong (a port in use, a file that is not there) is one line and exit code 2,
  never a traceback. Exit code 1 says that the work was done and its result is bad.
- A command imports what it needs when it runs, so that `--help` is quick.
"""

from __future__ import annotations

from tablewright.cli import credentials as _credentials  # its commands join the application
from tablewright.cli import designs as _designs
from tablewright.cli import files as _files
from tablewright.cli import serve as _serve
from tablewright.cli import transfer as _transfer
from tablewright.cli.commands import main

__all__ = ["_credentials", "_designs", "_files", "_serve", "_transfer", "main"]
