"""How commands report: messages on standard error, and exit codes when they end early.

`serve` starts without typer and rich, so this module must not import them. What commands print on
standard output is printed by `presentation.printing`.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tablewright.errors import (
    DynamoDBError,
    MigrationRefused,
    TablewrightError,
    TransferRefused,
)

INTERRUPTED = 128 + signal.SIGINT  # the exit code after Ctrl-C
TERMINATED = 128 + signal.SIGTERM


def say(message: str) -> None:
    """Print a message on standard error."""
    print(message, file=sys.stderr, flush=True)  # noqa: T201


def fail(message: str) -> NoReturn:
    """Print a message on standard error and exit with code 2."""
    say(f"tablewright: {message}")
    raise SystemExit(2)


def describe_error(error: OSError) -> str:
    """Return the reason of an error, in lower case and without its number."""
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; choose another one, or 0 for a free port"
    if isinstance(error, socket.gaierror):  # its numbers are not those of errno
        return str(error.strerror).lower()
    return os.strerror(error.errno).lower() if error.errno else str(error)


def describe_failure(error: Exception) -> str:
    """Return the reason of a failed request in one line; a DynamoDBError begins with its code."""
    text = f"{error.code}: {error.message}" if isinstance(error, DynamoDBError) else str(error)
    text = text.replace(":\n", ": ").replace("\n", "; ")  # a list of differences
    return " ".join(text.split())


@contextmanager
def failing_on(*kinds: type[Exception]) -> Iterator[None]:
    """Let errors of these kinds in the block end the command: one line, and exit code 2."""
    try:
        yield
    except kinds as error:
        fail(str(error))


class Terminated(KeyboardInterrupt):
    """Raised by SIGTERM where the command cleans up as after Ctrl-C."""


@contextmanager
def clean_interrupts(outcome: str) -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, so that it cleans up; then print the outcome.

    The exit code is 128 and the number of the signal. Another SIGTERM does not interrupt the
    cleanup.
    """

    def on_signal(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Terminated

    previous = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield
    except KeyboardInterrupt as error:
        say(f"tablewright: interrupted; {outcome}")
        raise SystemExit(TERMINATED if isinstance(error, Terminated) else INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextmanager
def exit_on_error() -> Iterator[list[Path]]:
    """Print an error of the user or of an endpoint in one line and exit with code 2.

    What a migration refuses is a list, on a line each.

    Yields a list. Add the state file of the transfer to it, and the message says how to continue.
    """
    state_files: list[Path] = []

    def resume_hint(first: str = "") -> str:
        files = [str(file) for file in state_files if file.exists()]
        if not files:
            return ""
        return f"; {first}run the same command again to continue (the progress is in {files[0]})"

    try:
        yield state_files
    except BrokenPipeError:
        raise  # the command ends quietly, see `main`
    except KeyboardInterrupt:
        say(f"tablewright: interrupted{resume_hint()}")
        raise SystemExit(INTERRUPTED) from None
    except MigrationRefused as error:
        fail(str(error))  # it may be a list
    except TablewrightError as error:
        first = "fix this, then " if isinstance(error, TransferRefused) else ""
        fail(describe_failure(error) + resume_hint(first))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{describe_error(error)}{resume_hint()}")


def relative(location: str) -> str:
    """Return a path as it is seen from the working directory, if it is below it."""
    return location.removeprefix(f"{Path.cwd()}/")
