"""How commands report: messages and exit codes when they end early, lines and tables for people.

Lines fit the width of the terminal, or of `COLUMNS`; rich decides on it, and on colours: none in a
pipe or with `NO_COLOR`. `serve` starts without typer and rich, so neither is imported here before
something is printed with it.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from tablewright.errors import DynamoDBError, TablewrightError, TransferRefused

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED = 128 + signal.SIGINT  # the exit code after Ctrl-C
TERMINATED = 128 + signal.SIGTERM
#: The narrowest column of names, on a narrow terminal.
MIN_NAME = 12
#: The widest column of requests: `TransactWriteItems`.
MAX_REQUEST = 18


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
    except TablewrightError as error:
        first = "fix this, then " if isinstance(error, TransferRefused) else ""
        fail(describe_failure(error) + resume_hint(first))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{describe_error(error)}{resume_hint()}")


def print_line(console: Console, text: str, style: str | None = None, end: str = "\n") -> None:
    """Print a text as it is, also if it is wider than the console."""
    console.print(text, style=style, end=end, soft_wrap=True, markup=False, highlight=False)


def print_text(console: Console, text: str, indent: str = "", style: str | None = None) -> None:
    """Print a text with line breaks at the width of the console; further lines are indented."""
    from tablewright.presentation.terminal import fill

    print_line(console, fill(console, text, indent), style)


def relative(location: str) -> str:
    """Return a path as it is seen from the working directory, if it is below it."""
    return location.removeprefix(f"{Path.cwd()}/")


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: `1 table`, `2 tables`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_grid(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, width: int = 0, err: bool = False
) -> None:
    """Print a table with lines, at least with this width."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(*header)
    for row in rows:
        grid.add_row(*row)
    console = Console(stderr=err)
    console.width = max(console.width, width)
    console.print(grid)


def table_lines(width: int, rows: Sequence[Sequence[str]], numbers: int = 2) -> list[str]:
    """Return the lines of a table: names, what they ask for, and columns of numbers.

    The column of the names gets what the others leave of the width.
    """
    from rich.cells import cell_len

    name, *middle = (max(map(cell_len, column)) for column in zip(*rows, strict=True))
    others = [*(min(each, MAX_REQUEST) for each in middle[:-numbers]), *middle[-numbers:]]
    taken = sum(len("  ") + each for each in others)
    widths = [min(name, max(MIN_NAME, width - taken)), *others]
    lines = []
    for row in rows:
        texts = map(_fit, row[:-numbers], widths[:-numbers])
        cells = zip(row[-numbers:], widths[-numbers:], strict=True)
        lines.append("  ".join([*texts, *(cell.rjust(each) for cell, each in cells)]))
    return lines


def _fit(text: str, width: int) -> str:
    """Return a text with exactly this width, cut or padded."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"{set_cell_size(text, width - 1)}…"
