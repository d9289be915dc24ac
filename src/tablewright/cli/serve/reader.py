"""Read the arguments of `serve` without typer.

typer and pydantic, which it uses, take longer to import than the server, and 14 MB of memory.
"""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

from tablewright.cli.failures import fail
from tablewright.cli.grammar import Declared, names_of, unknown_option
from tablewright.cli.serve.options import ServeOptions

_NUMBERS = {int: re.compile(r"[0-9]{1,9}"), float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")}


def read_options(arguments: Sequence[str]) -> ServeOptions:
    """Return the options in the arguments of `serve`; exit with code 2 if there is a mistake."""
    types_of = get_type_hints(ServeOptions)
    declared: dict[str, Declared] = ServeOptions._field_defaults
    given = {name: each.default for name, each in declared.items()}
    parameters = {
        option: name
        for name, each in declared.items()
        if not each.is_argument
        for option in names_of(name, each)
    }
    rest, files = list(arguments), list[str]()
    while rest:
        option, equals, text = rest.pop(0).partition("=")
        if option == "--":
            files += rest
            break
        if not option.startswith("-"):
            files.append(f"{option}{equals}{text}")
            continue
        if option not in parameters:
            fail(unknown_option("serve", option, parameters))
        name = parameters[option]
        kind = types_of[name]
        if kind is bool:
            if equals:
                fail(f"{option} takes no value")
            given[name] = True
            continue
        if not equals:
            if not rest:
                fail(f"{option} needs a value")
            text = rest.pop(0)
        if isinstance(kind, types.UnionType):  # X | None
            kind, _ = get_args(kind)
        is_list = get_origin(kind) is list
        value = _read_value(option, text, get_args(kind)[0] if is_list else kind, declared[name])
        given[name] = [*(given[name] or ()), value] if is_list else value
    if len(files) > 1:
        fail(f"serve takes one FILE, not {' and '.join(files)}")
    return ServeOptions(**given | {"file": Path(files[0]) if files else None})


def _read_value(option: str, text: str, kind: Any, declared: Declared) -> Any:
    """Return the value of an option; exit if it is not of its kind or not in its range."""

    def refuse(expected: str) -> NoReturn:
        fail(f"{option} {text}: expected {expected}")

    if not text or (text.startswith("--") and len(text) > 2):  # the next option
        fail(f"{option} needs a value")
    if kind is str or kind is Path:
        return kind(text)
    if issubclass(kind, enum.Enum):
        try:
            return kind(text)
        except ValueError:
            refuse(" or ".join(str(member.value) for member in kind))
    low, high = declared.min, declared.max
    value = kind(text) if _NUMBERS[kind].fullmatch(text) else None
    if value is None or (low is not None and value < low) or (high is not None and value > high):
        bounds = "" if low is None else f" from {low:g}" + ("" if high is None else f" to {high:g}")
        refuse(f"a {'whole ' if kind is int else ''}number{bounds}")
    return value
