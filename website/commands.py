"""The command-line reference, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from tablewright.cli.all_commands import app


def commands_page() -> str:
    """Return the page of all commands."""
    root: Any = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        "Generated from the commands; `tablewright COMMAND --help` prints the same. "
        "[The command line](command-line.md) shows how they work together.",
        "",
    ]
    for name, command in sorted(root.commands.items()):
        lines += _command(f"tablewright {name}", command, 2)
    return "\n".join(lines)


def command_names() -> list[str]:
    """Return the names of all commands, with those of their subcommands."""
    root: Any = typer.main.get_command(app)
    return [
        f"{name} {sub}".rstrip()
        for name, command in sorted(root.commands.items())
        for sub in getattr(command, "commands", {"": None})
    ]


def _command(name: str, command: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{name}`"
    yield ""
    yield _text(command.help or "")
    yield ""
    children = getattr(command, "commands", None)
    if children is not None:
        for child, each in sorted(children.items()):
            yield from _command(f"{name} {child}", each, level + 1)
        return
    context = typer.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ("```text", f"{name} {usage}", "```", "")
    rows = [
        _row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)
    ]
    if rows:
        yield from ("| argument or option | meaning |", "|---|---|", *rows, "")


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    shown = _cell(parameter.help or "")
    if parameter.default not in (None, False, (), []) and not callable(parameter.default):
        default = getattr(parameter.default, "value", parameter.default)
        shown += f" Default: `{default}`."
    return f"| {names} | {shown} |"


def _text(text: str) -> str:
    """Return the text of a command as Markdown, without what would be HTML."""
    return re.sub(r"<([a-zA-Z])", r"&lt;\1", text.replace("\f", "").strip())


def _cell(text: str) -> str:
    return " ".join(_text(text).replace("|", "\\|").split())
