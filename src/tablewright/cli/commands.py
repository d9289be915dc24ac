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
def serve(
    db: Annotated[
        Path | None,
        typer.Option(help="The database file; it is created if need be. Without it: in memory."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8000,
    durability: Annotated[
        Durability,
        typer.Option(help="A write survives: full, power loss; normal, a killed process."),
    ] = Durability.full,
    sweep_seconds: Annotated[
        float, typer.Option(min=0.01, help="How often items past their TTL are deleted.")
    ] = 60.0,
) -> None:
    """Serve a database to boto3, the AWS CLI and every AWS SDK, until SIGTERM or Ctrl-C.

    Prints its URL on standard output once it takes requests.
    """
    import asyncio
    import gc
    import logging

    from tablewright.server import serve as serve_engine

    if db == Path(":memory:"):
        db = None
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    gc.freeze()  # what was imported stays: let the collector look at requests only
    engine = open_engine(db or ":memory:", durability)
    try:
        asyncio.run(
            serve_engine(
                engine,
                host,
                port,
                sweep_seconds=sweep_seconds,
                ready=lambda url: announce(url, db),
            )
        )
    except OSError as error:
        fail(f"cannot listen on {host}:{port}: {reason(error)}")
    finally:
        engine.close()


def announce(url: str, db: Path | None) -> None:
    where = str(db) if db else "in memory: the data goes when the server stops"
    typer.echo(f"tablewright {__version__} ({where}); stop with Ctrl-C", err=True)
    print(url, flush=True)  # noqa: T201  (what a program waits for, and all there is on stdout)


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
