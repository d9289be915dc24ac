"""The application with all commands: importing this module registers them."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from tablewright.cli import MODULES
from tablewright.cli.commands import PlainCommand, add_command, app
from tablewright.cli.serve import serve
from tablewright.cli.serve.options import ServeOptions, read_options

__all__ = ["app"]


class ServeCommand(PlainCommand):
    """The command `serve`: typer shows its help, but does not read its arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if {"-h", "--help"} & set(args):
            return super().parse_args(ctx, args)
        ctx.params = read_options(args)._asdict()
        return []


def run_serve(**given: Any) -> None:
    serve(ServeOptions(**given))


def add_serve() -> None:
    """Add `serve`, which is declared without typer and so does not add itself."""
    shown: Any = run_serve
    shown.__doc__ = serve.__doc__
    shown.__signature__ = inspect.signature(ServeOptions)
    add_command("serve", cls=ServeCommand)(run_serve)


for name in (*MODULES, "help"):
    import_module(f"tablewright.cli.{name}")
add_serve()
