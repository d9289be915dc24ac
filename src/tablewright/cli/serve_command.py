"""Adds `serve` to the application, whose options are declared without typer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tablewright.cli.commands import SERVER, app
from tablewright.cli.options import Option, declared_options
from tablewright.cli.serve import serve


def with_typer_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose options are declared with typer."""
    annotations = {
        name: Annotated[kind, typer_option(option)]
        for name, (kind, option) in declared_options(command).items()
    }

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(**given)

    signature = inspect.signature(command)
    parameters = [
        parameter.replace(annotation=annotations[name])
        for name, parameter in signature.parameters.items()
    ]
    run.__annotations__ = annotations
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def typer_option(option: Option) -> Any:
    """Return an option as typer declares it."""
    settings = option._asdict()
    name = settings.pop("name")
    return typer.Option(*([name] if name else []), **settings)


app.command(rich_help_panel=SERVER)(with_typer_options(serve))
