"""Adds `serve` to the application, whose options are declared without typer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tablewright.cli.commands import SERVER, app
from tablewright.cli.failures import fail
from tablewright.cli.options import Option, declared_options
from tablewright.cli.serve import serve


def with_typer_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose options are declared with typer."""
    annotations = {
        name: Annotated[kind, typer_option(option)]
        for name, (kind, option) in declared_options(command).items()
    }

    @functools.wraps(command)
    def run(context: typer.Context, **given: Any) -> None:
        if context.args:  # other commands take a file as an argument
            fail(f"the database file is an option: tablewright serve --db {context.args[0]}")
        command(**given)

    signature = inspect.signature(command)
    parameters = [
        parameter.replace(annotation=annotations[name])
        for name, parameter in signature.parameters.items()
    ]
    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    run.__annotations__ = {"context": typer.Context, **annotations}
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[context, *parameters]
    )
    return run


def typer_option(option: Option) -> Any:
    """Return an option as typer declares it."""
    settings = option._asdict()
    name = settings.pop("name")
    return typer.Option(*([name] if name else []), **settings)


app.command(rich_help_panel=SERVER, context_settings={"allow_extra_args": True})(
    with_typer_options(serve)
)
