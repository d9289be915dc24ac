"""Reading: the format that a description of a stored attribute names.

    iso(datetime, 'seconds')              iso("seconds")
    number(epoch_seconds(datetime))       epoch_seconds()
    text(Decimal, places=2) | None        text(places=2)
    list[str]                             no format: the form of the type
    ReversedDomain(str)                   unknown: code of the user

The texts are those of `Converter.codec`, with the stored type in them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.mapping.formats import codecs, moments, numbers, transforms
from tablewright.mapping.notation import Format


def _iso(precision: Any, zone: Any = "Z") -> Format[Any]:
    if zone not in ("Z", "+00:00", ""):
        zone = datetime.fromisoformat(f"2026-01-15T00:00:00{zone}").tzinfo
    return moments.iso(precision, zone)


def _text(places: int | None = None) -> Format[Any]:
    return codecs.text(places)


_FORMATS: dict[str, Callable[..., Format[Any]]] = {
    "iso": _iso,
    "epoch_seconds": lambda: moments.SECONDS,
    "epoch_millis": lambda: moments.MILLIS,
    "padded": numbers.padded,
    "fixed_point": numbers.fixed_point,
    "fixed_width": codecs.fixed_width,
    "number": lambda: numbers.NUMBER,
    "binary": lambda: numbers.BINARY,
    "text": _text,
    "enum_name": lambda: codecs.ENUM_NAME,
    "json_text": lambda: transforms.JSON_TEXT,
    "compressed": lambda: transforms.COMPRESSED,
}


def format_of(described: str) -> tuple[Format[Any] | None, bool]:
    """Return the format in a described type, None without one; and whether it is known."""
    text = described.removesuffix(" | None")
    if "(" not in text.partition("[")[0]:
        return None, True
    try:
        return _read(ast.parse(text, mode="eval").body), True
    except (DeclarationError, KeyError, SyntaxError, TypeError, ValueError):
        return None, False


def _read(node: ast.expr) -> Format[Any]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("it is not a format")
    inner, *given = node.args
    named = {each.arg or "": ast.literal_eval(each.value) for each in node.keywords}
    made = _FORMATS[node.func.id](*map(ast.literal_eval, given), **named)
    if not isinstance(inner, ast.Call):
        return made
    within = _read(inner)
    return within if node.func.id == "number" and within.of_attribute else made.after(within)
