"""The commands, each one short: read the options, call the part that does the work, show it."""

from __future__ import annotations

import enum
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tablewright import __version__

if TYPE_CHECKING:
    from tablewright.engine import Engine

app = typer.Typer(
    name="tablewright",
    help="Design one table, prove every access pattern, run it anywhere.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback is a fault of ours, and wanted whole
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Durability(enum.StrEnum):
    """What an acknowledged write survives."""

    full = "full"
    normal = "normal"


def main() -> None:
    """The entry point of the `tablewright` command."""
    app()


def show_version(wanted: bool) -> None:
    if wanted:
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


@app.command()
def check_file(
    file: Annotated[Path, typer.Argument(help="A database file.")],
) -> None:
    """Prove that every table and index of a file agree. Exit code 1: they do not."""
    from rich.console import Console
    from rich.table import Table

    from tablewright.errors import StoreFailed

    try:
        if not file.is_file():
            fail(f"{file}: {'is a directory' if file.is_dir() else 'no such file'}")
        if not file.stat().st_size:
            fail(f"{file}: the file is empty")  # opening it would make a database of it
    except OSError as error:
        fail(f"{file}: {reason(error)}")
    try:
        with open_engine(file, Durability.full) as engine:
            report = engine.check()
    except StoreFailed as error:  # too damaged to be opened
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None

    overview = Table("table", "index", "rows")
    for (table, index), rows in report.rows.items():
        overview.add_row("" if index else table, index, str(rows))
    Console().print(overview)
    for problem in report.problems:
        typer.echo(str(problem))
    if not report:
        count = len(report.problems)
        typer.echo(f"{file}: {count} problem{'s' if count > 1 else ''}", err=True)
        raise typer.Exit(1)
    typer.echo("every table and index agree")


@app.command()
def version() -> None:
    """Show the version."""
    show_version(True)


def open_engine(path: Path | str, durability: Durability) -> Engine:
    from tablewright.engine import Engine
    from tablewright.errors import CannotOpen

    try:
        return Engine(path, durability=durability.value)
    except CannotOpen as error:
        fail(str(error))


def reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; choose another, or --port 0 for a free one"
    return os.strerror(error.errno).lower() if error.errno else str(error)


def fail(message: str) -> NoReturn:
    typer.echo(f"tablewright: {message}", err=True)
    raise typer.Exit(2)
