"""Literals: values as Python source, formatted as ruff does.

    "text", 7, True, None, Decimal("1.5"), datetime(2026, 1, 15, tzinfo=UTC), b"\\x00", {"a": [1]}

A container that does not fit on its line has one member on each. Texts become literals with
`quoted`, so nothing of a value becomes code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tablewright.infer.names import quoted

WIDTH = 88


def write_assignment(target: str, value: Any, indent: str = "", end: str = "") -> str:
    """Return `target` followed by a value: `NAME = value`, `name=value`, `"name": value`."""
    line = f"{indent}{target}{_flat(value)}{end}"
    brackets = _brackets(value)
    if len(line) <= WIDTH or brackets is None or not value:
        return line
    inner = indent + "    "
    if isinstance(value, Mapping):
        members = [
            write_assignment(f"{_flat(name)}: ", each, inner, ",") for name, each in value.items()
        ]
    else:
        members = [write_assignment("", each, inner, ",") for each in _ordered(value)]
    return "\n".join([f"{indent}{target}{brackets[0]}", *members, f"{indent}{brackets[1]}{end}"])


def write_call(function: str, arguments: Mapping[str, Any], indent: str, end: str = "") -> str:
    """Return a call with keyword arguments."""
    flat = [f"{name}={_flat(value)}" for name, value in arguments.items()]
    inner = indent + "    "
    lines = [write_assignment(f"{name}=", value, inner, ",") for name, value in arguments.items()]
    return _wrapped(function, flat, lines, indent, end)


def wrap_call(start: str, arguments: Iterable[str], indent: str = "", end: str = "") -> str:
    """Return a call on one line, or with its arguments on lines of their own."""
    given = list(arguments)
    return _wrapped(start, given, [f"{indent}    {each}," for each in given], indent, end)


def _wrapped(start: str, flat: Sequence[str], lines: list[str], indent: str, end: str) -> str:
    """Return a call on one line, with all arguments on a second one, or with these lines."""
    arguments = ", ".join(flat)
    line = f"{indent}{start}({arguments}){end}"
    if len(line) <= WIDTH:
        return line
    if len(f"{indent}    {arguments}") <= WIDTH:
        lines = [f"{indent}    {arguments}"]
    return "\n".join([f"{indent}{start}(", *lines, f"{indent}){end}"])


def can_write(value: Any) -> bool:
    """Whether a value has a literal."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and can_write(each) for name, each in value.items())
    if isinstance(value, (list, set, frozenset)):
        return all(map(can_write, value))
    return isinstance(value, (str, int, float, Decimal, bytes, date, type(None))) and (
        not isinstance(value, datetime) or value.tzinfo is UTC
    )


def names_in(value: Any) -> set[str]:
    """Return the names of the standard library that the literal of a value uses."""
    if isinstance(value, Mapping):
        return {name for each in value.values() for name in names_in(each)}
    if isinstance(value, (list, set, frozenset)):
        return {name for each in value for name in names_in(each)}
    if isinstance(value, datetime):
        return {"UTC", "datetime"}
    return {type(value).__name__} if isinstance(value, (date, Decimal)) else set()


def _brackets(value: Any) -> str | None:
    if isinstance(value, (Mapping, set, frozenset)):
        return "{}"
    return "[]" if isinstance(value, list) else None


def _ordered(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, list) else sorted(value)


def _flat(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flat(k)}: {_flat(v)}' for k, v in value.items())}}}"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(map(_flat, _ordered(value)))}}}" if value else "set()"
    if isinstance(value, list):
        return f"[{', '.join(map(_flat, value))}]"
    if isinstance(value, Decimal):
        return f'Decimal("{value}")'
    if isinstance(value, datetime):
        shown = [value.year, value.month, value.day, value.hour, value.minute]
        seconds = [value.second, value.microsecond]
        while seconds and not seconds[-1]:
            seconds.pop()
        return f"datetime({', '.join(map(str, shown + seconds))}, tzinfo=UTC)"
    if isinstance(value, date):
        return f"date({value.year}, {value.month}, {value.day})"
    if isinstance(value, bytes):
        shown_bytes = repr(value)
        is_plain = shown_bytes[1] == "'" and '"' not in shown_bytes and "\\'" not in shown_bytes
        return f'b"{shown_bytes[2:-1]}"' if is_plain else shown_bytes
    return repr(value)
