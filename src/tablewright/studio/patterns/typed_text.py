"""An entity as Python code: how a program would write it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel


def entity_code(entity: Any) -> str:
    """Return the expression that makes an entity, one attribute on each line."""
    lines = [f"    {name}={value_code(value, '    ')},\n" for name, value in vars(entity).items()]
    return f"{type(entity).__name__}(\n{''.join(lines)})"


def value_code(value: Any, indent: str = "") -> str:
    """Return a value as an expression.

    >>> value_code([Decimal("1.50"), datetime(2026, 1, 2, 3, 4)])
    "[Decimal('1.50'), datetime(2026, 1, 2, 3, 4)]"
    """
    match value:
        case Enum():
            return f"{type(value).__name__}.{value.name}"
        case datetime() | date() | time() | timedelta():
            return repr(value).replace("datetime.timezone.utc", "UTC").replace("datetime.", "")
        case Decimal():
            return repr(value)
        case dict() if value:
            inner = [f"{value_code(name)}: {value_code(each)}" for name, each in value.items()]
            return _joined("{", inner, "}", indent)
        case list() if value:
            return _joined("[", [value_code(each, indent) for each in value], "]", indent)
        case BaseModel():
            inner = [f"{name}={value_code(each)}" for name, each in value]
            return f"{type(value).__name__}({', '.join(inner)})"
        case _ if is_dataclass(value) and not isinstance(value, type):
            inner = [
                f"{each.name}={value_code(getattr(value, each.name))}" for each in fields(value)
            ]
            return f"{type(value).__name__}({', '.join(inner)})"
        case str() if type(value) is not str:
            return f"{type(value).__name__}({str(value)!r})"
        case _:
            return repr(value)


def _joined(opening: str, inner: list[str], closing: str, indent: str) -> str:
    short = f"{opening}{', '.join(inner)}{closing}"
    if len(short) <= 60:
        return short
    lines = "".join(f"{indent}    {each},\n" for each in inner)
    return f"{opening}\n{lines}{indent}{closing}"
