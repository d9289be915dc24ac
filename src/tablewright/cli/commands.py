"""The application, and what several commands share: errors, exit codes, opening a database."""

from __future__ import annotations

import enum
import errno
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
import typer.core

from tablewright import __version__

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.server import IsolatedEngines

DESIGNS = "Designs"
FILES = "Database files"
STATEMENTS = "Read and write items"
TRANSFER = "Move data"
SERVER = "Server"
HELP = "Help"

#: The groups of commands in the help, in this order.
PANELS = (DESIGNS, STATEMENTS, TRANSFER, FILES, SERVER, HELP)


class PlainCommand(typer.core.TyperCommand):
    """A command whose help shows a flag as `--json`, and an argument as `TARGET`, without types."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class PlainGroup(typer.core.TyperGroup):
    """Commands in the order of their panels, with plain flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        def place(name: str) -> int:
            panel = getattr(self.commands[name], "rich_help_panel", None)
            return PANELS.index(panel) if panel in PANELS else 0

        return sorted(self.commands, key=place)


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None  # of recent versions of typer
        elif parameter.is_flag and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


INTERRUPTED = 128 + signal.SIGINT  # the exit code after Ctrl-C
TERMINATED = 128 + signal.SIGTERM

app = typer.Typer(
    name="tablewright",
    cls=PlainGroup,
    help="Design one table, prove every access pattern, run it anywhere.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # it joins the lines of a paragraph
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback is a bug of ours; show it as Python does
    context_settings={"help_option_names": ["-h", "--help"]},
)


def use_plain_help(commands: typer.Typer) -> None:
    """Let all commands and groups that are registered show plain flags in their help."""
    for command in commands.registered_commands:
        command.cls = PlainCommand
    for group in commands.registered_groups:
        group.cls = PlainGroup
        if group.typer_instance is not None:
            use_plain_help(group.typer_instance)


class Durability(enum.StrEnum):
    """What an acknowledged write survives."""

    full = "full"
    normal = "normal"


def main() -> None:
    """Run the `tablewright` command.

    A reader that closes the pipe early, as `head` does, ends it quietly: typer handles that while
    the command runs, and here is what is written when Python ends. A full disk is one line.
    """
    code: Any = 0
    try:
        try:
            app()
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
            typer.echo(f"tablewright: standard output: {describe_error(error)}", err=True)
            code = 2
    sys.exit(code)


def _discard_output() -> None:
    """Prevent that Python writes the rest of the output when it ends, and reports that it fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"tablewright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Design one table, prove every access pattern, run it anywhere."""


def open_engine(
    path: Path | str,
    durability: Durability,
    *,
    busy_seconds: float,
    stream_shards: int = 1,
    s3: Path | None = None,
    isolate_regions: bool = False,
) -> Engine | IsolatedEngines:
    """Open a database; if that fails, print why and exit with code 2."""
    from tablewright.engine import Engine
    from tablewright.errors import CannotOpen
    from tablewright.server import IsolatedEngines

    open_path = IsolatedEngines if isolate_regions else Engine
    try:
        return open_path(
            path,
            durability=durability.value,
            busy_seconds=busy_seconds,
            stream_shards=stream_shards,
            s3=s3,
        )
    except CannotOpen as error:
        fail(str(error))


def describe_error(error: OSError) -> str:
    """Return the reason of an error, in lower case and without its number."""
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; choose another one, or 0 for a free port"
    if isinstance(error, socket.gaierror):  # its numbers are not those of errno
        return str(error.strerror).lower()
    return os.strerror(error.errno).lower() if error.errno else str(error)


def describe_failure(error: Exception) -> str:
    """Return the reason of a failed request in one line; a DynamoDBError begins with its code."""
    from tablewright.errors import DynamoDBError

    text = f"{error.code}: {error.message}" if isinstance(error, DynamoDBError) else str(error)
    return " ".join(text.split())


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
        typer.echo(f"tablewright: interrupted; {outcome}", err=True)
        raise typer.Exit(TERMINATED if isinstance(error, Terminated) else INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, previous)


def fail(message: str) -> NoReturn:
    """Print a message on standard error and exit with code 2."""
    typer.echo(f"tablewright: {message}", err=True)
    raise typer.Exit(2)
