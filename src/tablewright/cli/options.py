"""Options of a command that starts without typer, declared as values.

A command declares `port: Annotated[int, Option(help="The port.", min=0)] = 8000`. `read_options`
reads its usual arguments. It returns None for all others (help, mistakes, rare notations): then
typer reads the same declarations, and prints the help or the error. typer and pydantic, which it
uses, take longer to import than the server, and 14 MB of memory.
"""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

#: Numbers that every reader understands alike.
_NUMBERS = {int: re.compile(r"[0-9]{1,9}"), float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")}


class Option(NamedTuple):
    """An option of a command: the arguments of `typer.Option`."""

    #: Its name on the command line; None: `--` and the name of the parameter.
    name: str | None = None
    help: str = ""
    min: float | None = None
    max: float | None = None
    metavar: str | None = None
    rich_help_panel: str | None = None


def declared_options(command: Callable[..., None]) -> dict[str, tuple[Any, Option]]:
    """Return the type and the option of each parameter of a command."""
    hints = get_type_hints(command, include_extras=True)
    return {
        name: (hint.__origin__, hint.__metadata__[0])
        for name, hint in hints.items()
        if name != "return"
    }


def read_options(command: Callable[..., None], arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the given options of a command by parameter; None if typer must read them."""
    named = {
        option.name or f"--{name.replace('_', '-')}": (name, kind, option)
        for name, (kind, option) in declared_options(command).items()
    }
    given: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        flag, equals, text = argument.partition("=")
        if flag not in named:
            return None
        name, kind, option = named[flag]
        if kind is bool:
            if equals:
                return None
            given[name] = True
            continue
        if not equals:
            text = next(rest, "")
        if isinstance(kind, types.UnionType):  # X | None
            kind, _ = get_args(kind)
        is_list = get_origin(kind) is list
        value = _read_value(text, get_args(kind)[0] if is_list else kind, option)
        if value is None:
            return None
        if is_list:
            given.setdefault(name, []).append(value)
        else:
            given[name] = value
    return given


def _read_value(text: str, kind: Any, option: Option) -> Any:
    if not text or text.startswith("-"):
        return None
    if kind is str or kind is Path:
        return kind(text)
    if issubclass(kind, enum.Enum):
        return next((member for member in kind if member.value == text), None)
    if not _NUMBERS[kind].fullmatch(text):
        return None
    value = kind(text)
    is_low = option.min is not None and value < option.min
    is_high = option.max is not None and value > option.max
    return None if is_low or is_high else value
