"""The application with all commands: importing this module registers them."""

from __future__ import annotations

import functools
import inspect
from importlib import import_module
from typing import Any

import typer

from tablewright.cli.commands import SERVER, app, typer_signature, use_plain_help
from tablewright.cli.failures import fail
from tablewright.cli.serve import serve

__all__ = ["app"]


@functools.wraps(serve)
def run_serve(context: typer.Context, **given: Any) -> None:
    if context.args:  # other commands take a file as an argument
        fail(f"the database file is an option: tablewright serve --db {context.args[0]}")
    serve(**given)


def add_serve() -> None:
    """Add `serve`, which is declared without typer and so does not add itself."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    context = inspect.Parameter("context", kind, annotation=typer.Context)
    signature = typer_signature(serve)
    shown: Any = run_serve
    shown.__signature__ = signature.replace(parameters=[context, *signature.parameters.values()])
    app.command("serve", rich_help_panel=SERVER, context_settings={"allow_extra_args": True})(
        run_serve
    )


#: The modules with commands; `serve` is added at its place among them.
MODULES = (
    *("advise", "backfill", "cost", "credentials", "designs", "explain", "files", "infer", "new"),
    *("patterns", "publish", "read_items", "serve", "shell", "shell_completion", "sql", "studio"),
    *("tables", "topics", "transfer", "write_items"),
)
for name in MODULES:
    if name == "serve":
        add_serve()
    else:
        import_module(f"tablewright.cli.{name}")
use_plain_help(app)
