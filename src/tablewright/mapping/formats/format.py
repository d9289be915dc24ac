"""A format, and what all formats need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.notation import Notation, name_of


class Format(Struct, frozen=True):
    """Makes another notation of a value."""

    #: How it is shown, with {} for what it is made from.
    label: str
    #: Raises DeclarationError, with a message that begins after the label.
    apply: Callable[[Notation], Notation]
    #: It is made of the text of its attribute, so the digits of that matter; not of the value.
    of_text: bool = False
    #: Of a place in a document: how it is stored, with {} for the document.
    place: Callable[[Notation], str] | None = None


def require_kind(notation: Notation, *kinds: type) -> None:
    """Raise DeclarationError unless a notation is of values of these types."""
    refuse_descending(notation)
    if not (isinstance(notation.kind, type) and issubclass(notation.kind, kinds)):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise DeclarationError(
            f"takes a value of type {wanted}, not of type {name_of(notation.kind)}"
        )


def refuse_descending(notation: Notation) -> None:
    """Raise DeclarationError if a notation is descending."""
    if notation.is_descending:
        raise DeclarationError("takes the value itself; write descending(…) around it")


def derive_after(first: Callable[[Any], Any] | None, second: Callable[[Any], Any]) -> Any:
    """Return `second` after `first`; of a value that is missing, nothing is made."""
    if first is None:
        return second

    def derive(value: Any) -> Any:
        found = first(value)
        return None if found is None else second(found)

    return derive
