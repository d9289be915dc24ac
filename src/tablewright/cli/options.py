"""Parameters of commands, declared as values, and a reader of options without typer.

A command declares `port: int = option("The port.", default=8000, min=0)`. `commands` shows these
declarations to typer. `serve` starts without it: `read_options` reads its usual arguments, and
returns None for all others (help, mistakes, unusual spellings), which are then left to typer. typer
and pydantic, which it uses, take longer to import than the server, and 14 MB of memory.
"""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

#: The spellings of numbers that typer reads in the same way.
_NUMBERS = {int: re.compile(r"[0-9]{1,9}"), float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")}


class Declared(NamedTuple):
    """An option or an argument of a command; the default is `...` if it is required."""

    default: Any
    help: str
    #: Its names on the command line. Default: `--` and the name of the parameter.
    names: tuple[str, ...] = ()
    is_argument: bool = False
    min: float | None = None
    max: float | None = None
    metavar: str | None = None
    panel: str | None = None


def option(help: str, *names: str, default: Any = None, **settings: Any) -> Any:  # noqa: A002
    """Declare an option; the settings are members of `Declared`."""
    return Declared(default, help, names, **settings)


def flag(help: str, *names: str, **settings: Any) -> Any:  # noqa: A002
    """Declare an option without a value, which is False unless it is given."""
    return Declared(False, help, names, **settings)


def argument(metavar: str, help: str, default: Any = ...) -> Any:  # noqa: A002
    """Declare an argument; it is required unless it has a default."""
    return Declared(default, help, is_argument=True, metavar=metavar)


def names_of(parameter: str, declared: Declared) -> tuple[str, ...]:
    """Return the names of an option on the command line."""
    return declared.names or (f"--{parameter.replace('_', '-')}",)


def declared_options(command: Callable[..., None]) -> dict[str, tuple[str, Any, Declared]]:
    """Return the parameter, the type and the declaration of each option, by its name.

    All parameters are declared as options. `inspect` is not used: its import takes 9 ms.
    """
    kinds = get_type_hints(command)
    del kinds["return"]
    return {
        names_of(name, declared)[0]: (name, kind, declared)
        for (name, kind), declared in zip(kinds.items(), command.__defaults__ or (), strict=True)
    }


def read_options(command: Callable[..., None], arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return all options of a command by parameter; None if typer must read them."""
    named = declared_options(command)
    given: dict[str, Any] = {name: declared.default for name, _, declared in named.values()}
    rest = iter(arguments)
    for each in rest:
        flag, equals, text = each.partition("=")
        if flag not in named:
            return None
        name, kind, declared = named[flag]
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
        value = _read_value(text, get_args(kind)[0] if is_list else kind, declared)
        if value is None:
            return None
        given[name] = [*(given[name] or ()), value] if is_list else value
    return given


def _read_value(text: str, kind: Any, declared: Declared) -> Any:
    if not text or text.startswith("-"):
        return None
    if kind is str or kind is Path:
        return kind(text)
    if issubclass(kind, enum.Enum):
        return next((member for member in kind if member.value == text), None)
    if not _NUMBERS[kind].fullmatch(text):
        return None
    value = kind(text)
    is_low = declared.min is not None and value < declared.min
    is_high = declared.max is not None and value > declared.max
    return None if is_low or is_high else value
