"""The application: how commands are declared, grouped and shown, and how mistakes are reported.

Modules add their commands with `add_command`; `all_commands` imports them. A mistake in the
arguments is one line, with the form of the command or with the word that is probably meant.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar, get_args

import typer
import typer.core

from tablewright import __version__
from tablewright.cli.grammar import (
    STANDARD_STREAM,
    Declared,
    names_of,
    new_spelling,
    unknown_option,
)
from tablewright.cli.report import fail
from tablewright.hints import did_you_mean
from tablewright.whole_file import replace_whole

F = TypeVar("F", bound=Callable[..., None])

PROGRAM = "tablewright"

#: The commands in the order of the help, by what a person wants to do.
GROUPS = {
    "Write and check a design": ("designs", "new", "infer", "verify", "check-items", "advise"),
    "Understand a design": ("patterns", "explain", "cost", "studio"),
    "Deploy a design": ("publish", "create-tables", "seed", "backfill", "reconcile"),
    "Change a design": ("lock", "diff", "migrate"),
    "Read and write items": (
        *("tables", "describe", "create-table", "get", "query", "scan", "put", "update"),
        *("delete", "sql", "shell"),
    ),
    "Move data": ("copy", "dump", "load"),
    "Keep database files": ("check-file", "backup", "restore", "compact", "repair"),
    "Run a server": ("serve", "credentials", "api", "mcp"),
    "Help": ("help", "completion"),
}
PANELS = {name: group for group, names in GROUPS.items() for name in names}
ORDER = list(PANELS)
#: What the help shows for the value of an option that declares nothing else.
METAVARS = {int: "NUMBER", float: "NUMBER", str: "NAME", Path: "FILE"}

#: The base of typer's exceptions for mistakes in arguments, which typer does not export.
UsageError: Any = typer.BadParameter.__base__


class PlainCommand(typer.core.TyperCommand):
    """A command whose help shows a flag as `--json`, and an argument as `TARGET`, without types."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*argument_forms(self.params), "[OPTIONS]"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            report_mistake(ctx, error)


class PlainGroup(typer.core.TyperGroup):
    """Commands in the order of `GROUPS`, with plain flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else 0)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        shows_help = not args
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            if shows_help:  # because of `no_args_is_help`
                raise
            report_mistake(ctx, error)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands:
            words = f"{command_words(ctx)} {name}".strip()
            hint = new_spelling(words) or did_you_mean(name, self.commands)
            listed = f"{PROGRAM} {command_words(ctx)}".strip()
            fail(f"there is no command {words!r}{hint or f'; `{listed} --help` lists them'}")
        return super().resolve_command(ctx, args)


def argument_forms(parameters: list[Any]) -> list[str]:
    """Return the arguments of a command as its form shows them: `DESIGN`, `[TARGET]`, `KEY...`."""
    forms = []
    for each in parameters:
        if each.param_type_name == "argument":
            name = each.metavar or each.name.upper()
            shown = name if each.required or name.startswith("[") else f"[{name}]"
            forms.append(f"{shown}..." if each.nargs == -1 and not name.startswith("[") else shown)
    return forms


def command_words(context: Any) -> str:
    """Return the words of a command after the name of the program: `publish docs`."""
    return str(context.command_path).removeprefix(str(context.find_root().info_name)).strip()


def report_mistake(context: Any, error: Any) -> NoReturn:
    """Report a mistake in the arguments of a command; exit with code 2."""
    words, parameters = command_words(context), context.command.params
    subject = words or PROGRAM
    option = getattr(error, "option_name", None)
    options = [name for each in parameters for name in each.opts if name.startswith("-")]
    if option is not None and option not in options:
        fail(unknown_option(subject, option, options))
    message = str(error.format_message()).rstrip(".")
    message = re.sub(
        r"Got unexpected extra arguments?(\(s\))? \((.*)\)", r"unexpected: \2", message
    )
    if option is None and getattr(getattr(error, "param", None), "param_type_name", "") != "option":
        message += f"; write `{' '.join([PROGRAM, words, *argument_forms(parameters)])}`"
    fail(f"{subject}: {message[:1].lower()}{message[1:]}")


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        parameter._get_number_range_help_str = lambda: None  # of recent versions of typer
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
        elif parameter.is_flag and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


app = typer.Typer(
    name=PROGRAM,
    cls=PlainGroup,
    help="Design one table, prove every access pattern, run it anywhere.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # it joins the lines of a paragraph
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback is a bug of ours; show it as Python does
    context_settings={"help_option_names": ["-h", "--help"]},
)


def add_group(name: str, about: str) -> typer.Typer:
    """Add a group of commands to the application."""
    group = typer.Typer(cls=PlainGroup, help=about, no_args_is_help=True)
    app.add_typer(group, name=name, rich_help_panel=PANELS[name])
    return group


def add_command(
    name: str | None = None, *, to: typer.Typer = app, cls: Any = PlainCommand
) -> Callable[[F], F]:
    """Add a command to the application, or to a group of it."""

    def add(function: F) -> F:
        shown: Any = function
        shown.__signature__ = typer_signature(function)
        called = name or function.__name__.replace("_", "-")
        panel = PANELS[called] if to is app else None
        to.command(called, cls=cls, rich_help_panel=panel)(function)
        return function

    return add


def typer_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a command, with its parameters declared as typer does."""
    signature = inspect.signature(function, eval_str=True)
    return signature.replace(parameters=[_typer(each) for each in signature.parameters.values()])


def _typer(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter as typer declares it, from its default or its annotation."""
    declared, kind = parameter.default, parameter.annotation
    if not isinstance(declared, Declared):
        kind, found = (*get_args(kind), None, None)[:2]
        if not isinstance(found, Declared):
            return parameter
        declared = found if declared is parameter.empty else found._replace(default=declared)
    return parameter.replace(
        annotation=kind, default=_typer_default(parameter.name, kind, declared)
    )


def _typer_default(name: str, kind: Any, declared: Declared) -> Any:
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
        metavar=declared.metavar or _metavar(kind),
        rich_help_panel=declared.panel,
    )


def _metavar(kind: Any) -> str | None:
    """Return what the help shows for a value of this type, also in `X | None` and `list[X]`."""
    while parts := get_args(kind):
        kind = parts[0]
    return METAVARS.get(kind)


def text_file(name: str) -> str:
    """Return a file of the folder `texts`, which is part of the package."""
    return (files("tablewright.cli") / "texts" / name).read_text(encoding="utf-8")


def print_document(value: Any) -> None:
    """Print a value as JSON, with line breaks."""
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def write_output(text: str, output: Path | None) -> None:
    """Write a text to a file, or to standard output, which `-` names too."""
    if output is None or str(output) == STANDARD_STREAM:
        typer.echo(text, nl=False)
        return
    try:
        replace_whole(output, text.encode())
    except OSError as error:
        fail(f"{output}: {error.strerror}")


def show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Design one table, prove every access pattern, run it anywhere."""
