"""Messages of converters: they name the attribute, the value, and its type."""

from __future__ import annotations

from typing import Any

import pydantic

from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.values import Value, tag_of


def refused(where: str, value: Any, kind: Any, why: str = "") -> InvalidValue:
    fit = f"{shown(value)} ({type(value).__name__}) is not {_a(kind)}"
    return InvalidValue(f"{where}: {fit}{why and f'; {why}'}")


def not_storable(where: str, value: Any, why: str) -> InvalidValue:
    """Return the error for a value of the right type that DynamoDB cannot store."""
    return InvalidValue(f"{where}: {shown(value)} cannot be stored: {why}")


def unreadable(where: str, content: Any, kind: Any, why: object = "") -> UnreadableItem:
    reason = f": {_reason(why)}" if why else ""
    return UnreadableItem(f"{where}: {shown(content)} cannot be read as {_a(kind)}{reason}")


def mistyped(where: str, value: Value, tag: str, kind: Any) -> UnreadableItem:
    found = tag_of(value)
    content = shown(value[found])
    return UnreadableItem(f"{where}: stored as {found} ({content}), expected {tag} for {_a(kind)}")


def unsuitable(where: str, kind: Any, why: str) -> DeclarationError:
    return DeclarationError(f"{where}: {name(kind)} cannot be stored; {why}")


def incomplete(where: str, kind: Any, why: object) -> DeclarationError:
    return DeclarationError(f"{where}: {name(kind)} is not complete: {why}")


def shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not print ints of more than 4300 digits
        return "a number"
    return text if len(text) <= 80 else text[:79] + "…"


def name(kind: Any) -> str:
    if isinstance(kind, type):
        return kind.__name__
    return str(kind).replace("typing.", "")


def _a(kind: Any) -> str:
    noun = name(kind)
    return f"an {noun}" if noun[0] in "aeioAEIO" else f"a {noun}"


def _reason(why: object) -> str:
    if isinstance(why, pydantic.ValidationError):
        return "; ".join(
            ": ".join([*map(str, error["loc"]), error["msg"]]) for error in why.errors()
        )
    return str(why)
