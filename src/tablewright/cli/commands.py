"""The application, to which modules add their commands, and the panels of its help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.resources import files
from typing import Annotated, Any, TypeVar

import typer
import typer.core

from tablewright import __version__
from tablewright.cli.options import Declared, names_of

F = TypeVar("F", bound=Callable[..., None])

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


def add_command(
    panel: str | None = None, *, to: typer.Typer = app, **settings: Any
) -> Callable[[F], F]:
    """Add a command to the application, or to a group of it."""

    def add(function: F) -> F:
        shown: Any = function
        shown.__signature__ = typer_signature(function)
        to.command(rich_help_panel=panel, **settings)(function)
        return function

    return add


def typer_signature(function: Callable[..., None]) -> inspect.Signature:
    """Return the signature of a command, with its parameters declared as typer does."""
    signature = inspect.signature(function, eval_str=True)
    parameters = [
        each.replace(default=_typer_parameter(each.name, each.default))
        if isinstance(each.default, Declared)
        else each
        for each in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters)


def _typer_parameter(name: str, declared: Declared) -> Any:
    default, names = declared.default, declared.names
    if declared.is_argument:
        return typer.Argument(default, help=declared.help, metavar=declared.metavar)
    if default is False:  # a flag without a name would also get the name --no-…
        names = names_of(name, declared)
    return typer.Option(
        *(default, *names),
        help=declared.help,
        min=declared.min,
        max=declared.max,
        metavar=declared.metavar,
        rich_help_panel=declared.panel,
    )


def text_file(name: str) -> str:
    """Return a file of the folder `texts`, which is part of the package."""
    return (files("tablewright.cli") / "texts" / name).read_text(encoding="utf-8")


def use_plain_help(commands: typer.Typer) -> None:
    """Let all commands and groups that are registered show plain flags in their help."""
    for command in commands.registered_commands:
        command.cls = PlainCommand
    for group in commands.registered_groups:
        group.cls = PlainGroup
        if group.typer_instance is not None:
            use_plain_help(group.typer_instance)


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
