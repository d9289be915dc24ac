"""Formats of texts: in one case, or only their first characters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from tablewright.errors import DeclarationError
from tablewright.mapping.formats.format import Format, require_kind
from tablewright.mapping.language import Chars, Language, Repeat
from tablewright.mapping.notation import UPPERCASE, Notation, name_of


def _cased(label: str, change: Callable[[str], str], without: str = "") -> Format:
    """Return the format of a text to another one, which has none of some characters."""

    def apply(inner: Notation) -> Notation:
        require_kind(inner, str)
        if not inner.is_free_text:
            raise DeclarationError(
                f"takes any text, and the texts of {name_of(inner.kind)} are fixed; write "
                "coded(…) with a codec"
            )

        def encode(value: Any) -> str:
            return inner.encode(change(value) if isinstance(value, str) else value)

        language = _without(inner.language, without)
        return replace(inner, encode=encode, decode=str, language=language, is_exact=False)

    return Format(label, apply)


def _without(language: Language, characters: str) -> Language:
    """Return a language of any texts, without some characters."""
    assert isinstance(language, Repeat)
    assert isinstance(language.item, Chars)
    members = language.item.members.union(characters)
    return Repeat(Chars(members, negated=True), language.least, language.most)


LOWER = _cased("lower({})", str.lower, UPPERCASE)
UPPER = _cased("upper({})", str.upper, UPPERCASE.lower())
CASEFOLD = _cased("casefold({})", str.casefold, UPPERCASE)


def truncated(length: int) -> Format:
    """Return the format of a text to its first characters."""
    if length < 1:
        raise DeclarationError(f"truncated(…, {length}): keep at least one character")
    made = _cased(f"truncated({{}}, {length})", lambda text: text[:length])

    def apply(inner: Notation) -> Notation:
        notation = made.apply(inner)
        assert isinstance(notation.language, Repeat)
        return replace(notation, language=Repeat(notation.language.item, 1, length))

    return Format(made.label, apply)
