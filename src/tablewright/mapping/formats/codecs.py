"""Formats of texts: in one case, cut, or by a codec of the user's.

A codec is any object with `encode` and `decode`. Attributes of it say what else is guaranteed:

    ordered    texts sort as values do, so that ranges can be queried
    width      all texts have this many characters
    alphabet   all texts consist of these characters; without it, texts are escaped in keys

    class Reversed:
        ordered = False
        def encode(self, domain: str) -> str:
            return ".".join(reversed(domain.split(".")))
        decode = encode

Functions make a codec, too: `Codec(encode=…, decode=…, ordered=True)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.converters.conversion import name_of
from tablewright.mapping.language import (
    ANY_CHARACTER,
    DIGITS,
    NOTHING,
    Chars,
    Language,
    Repeat,
    characters,
)
from tablewright.mapping.notation import (
    UPPERCASE,
    Format,
    Notation,
    checked,
    choices_notation,
    no_notation,
    refuse_descending,
    require_kind,
)
from tablewright.symbol import Symbol

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class SupportsCodec(Protocol[T]):
    """What a codec must have."""

    def encode(self, value: T, /) -> str: ...
    def decode(self, text: str, /) -> T: ...


class Decodes(Protocol[T_co]):
    """A codec as `attr(codec=…)` takes it: one of texts serves for `Attr[str | None]`, too."""

    def encode(self, value: Any, /) -> str: ...
    def decode(self, text: str, /) -> T_co: ...


#: What a codec may raise for a value or a text that it does not support.
FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def check_codec_members(codec: object) -> None:
    """Raise DeclarationError for an object that is not a codec."""
    name = codec.__name__ if isinstance(codec, type) else type(codec).__name__
    if isinstance(codec, type) and hasattr(codec, "encode") and hasattr(codec, "decode"):
        raise DeclarationError(f"coded(…, {name}) takes an object of the class; write {name}()")
    if not (callable(getattr(codec, "encode", None)) and callable(getattr(codec, "decode", None))):
        raise DeclarationError(
            f"coded(…, {codec!r}): a codec has encode and decode; write a class with both, or "
            "Codec(encode=…, decode=…)"
        )
    width, alphabet = getattr(codec, "width", None), getattr(codec, "alphabet", None)
    if width is not None and (type(width) is not int or width < 1):
        raise DeclarationError(f"{name}: width = {width!r} is not a number of characters, or None")
    if alphabet is not None and not (isinstance(alphabet, str) and alphabet):
        raise DeclarationError(
            f"{name}: alphabet = {alphabet!r} is not a text with the characters, or None"
        )


@dataclass(frozen=True, kw_only=True)
class Codec(Generic[T]):
    """A codec made of two functions."""

    encode: Callable[[T], str]
    decode: Callable[[str], T]
    ordered: bool = False
    width: int | None = None
    alphabet: str | None = None


def coded(codec: SupportsCodec[Any], label: str) -> Format:
    """Return the format that uses a codec of the user."""
    check_codec_members(codec)
    alphabet, width = getattr(codec, "alphabet", None), getattr(codec, "width", None)
    is_ordered = bool(getattr(codec, "ordered", False))
    member = Chars(frozenset(), negated=True) if alphabet is None else Chars(frozenset(alphabet))
    language = Repeat(member, 1 if width is None else width, width)

    def encode(value: Any) -> str:
        if isinstance(value, Symbol):
            raise InvalidValue("is not known yet")  # its name is shown instead
        try:
            text = codec.encode(value)
        except FAILURES as error:
            raise InvalidValue(f"is {value!r}, which {label} does not encode: {error}") from None
        if type(text) is not str or not text:
            raise InvalidValue(f"is {value!r}, for which {label} gives {text!r}; give a text")
        if width is not None and len(text) != width:
            raise InvalidValue(
                f"is {value!r}, for which {label} gives {text!r}; its width is declared as {width}"
            )
        if alphabet is not None and not set(text) <= set(alphabet):
            raise InvalidValue(
                f"is {value!r}, for which {label} gives {text!r}; its alphabet is {alphabet!r}"
            )
        return text

    def decode(text: str) -> Any:
        try:
            return codec.decode(text)
        except FAILURES as error:
            raise ValueError(f"{label} does not decode {text!r}: {error}") from None

    def apply(inner: Notation) -> Notation:
        refuse_descending(inner)
        if inner.kind in (str, datetime) and not inner.is_exact:
            raise DeclarationError("takes the value itself, not another format of it")
        return replace(
            inner,
            encode=encode,
            decode=decode,
            language=language,
            is_ordered=is_ordered,
            is_free_text=alphabet is None,
            codec=codec,
            has_one_text=False,
            beginning=None,
        )

    return Format(f"{label}({{}})", apply)


def text(places: int | None) -> Format[Any]:
    """Return the format that writes a value as text, as a key does, or a number with its digits."""
    if places is not None and places < 1:
        raise DeclarationError(f"text(places={places}): at least one digit after the point")

    def apply(inner: Notation) -> Notation:
        refuse_descending(inner)
        if inner.kind in (Decimal, float):
            return replace(
                inner,
                encode=checked(inner.kind, _digits(places)),
                decode=_read_float if inner.kind is float else Decimal,
                language=characters("-." + DIGITS),
                is_ordered=False,
                has_one_text=False,
            )
        if inner.language == NOTHING:
            raise no_notation(inner.kind)
        if places is not None:
            raise DeclarationError("has places= for a Decimal or a float only; leave it out")
        return inner

    return Format("text({})" if places is None else f"text({{}}, places={places})", apply)


def _digits(places: int | None) -> Callable[[Any], str]:
    """Return the function that writes a number without an exponent."""

    def encode(value: Decimal | float) -> str:
        number = value if isinstance(value, Decimal) else Decimal(repr(value))
        if not number.is_finite():
            raise InvalidValue(f"is {value}, which is not finite")
        written = f"{number:f}"
        plain = written.rstrip("0").rstrip(".") if "." in written else written
        if places is None:
            return "0" if plain == "-0" else plain
        padded = f"{number:.{places}f}"
        if Decimal(padded) != number:
            raise InvalidValue(f"is {value}, which has more than {places} digits after the point")
        return padded

    return encode


def _read_float(written: str) -> float:
    number = float(written)
    if Decimal(repr(number)) != Decimal(written):
        raise ValueError("it would be rounded")
    return number


def fixed_width(width: int) -> Format[str]:
    """Return the format of texts that all have the same length, and so sort before other parts."""
    if width < 1:
        raise DeclarationError(f"fixed_width(…, {width}): the width is at least 1")

    def apply(inner: Notation) -> Notation:
        require_kind(inner, str)

        def encode(value: Any) -> str:
            written = inner.encode(value)
            if len(written) != width:
                raise InvalidValue(f"is {value!r}, which does not have {width} characters")
            return written

        language = Repeat(ANY_CHARACTER, width, width)
        return replace(inner, encode=encode, language=language, is_free_text=False)

    return Format(f"fixed_width({{}}, {width})", apply)


def _named(inner: Notation) -> Notation:
    if not (isinstance(inner.kind, type) and issubclass(inner.kind, Enum)):
        raise DeclarationError(f"takes an Enum, not a value of type {name_of(inner.kind)}")
    members = {member: member.name for member in inner.kind}
    made = choices_notation(inner.kind, members)
    return replace(made, derive=inner.derive, is_optional=inner.is_optional)


ENUM_NAME: Format[Any] = Format("enum_name({})", _named)


def _cased(label: str, change: Callable[[str], str], without: str = "") -> Format:
    """Return a format that changes texts; the result has no characters of `without`."""

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
    """Return a language of free texts, without some characters."""
    assert isinstance(language, Repeat)
    assert isinstance(language.item, Chars)
    members = language.item.members.union(characters)
    return Repeat(Chars(members, negated=True), language.least, language.most)


LOWER = _cased("lower({})", str.lower, UPPERCASE)
UPPER = _cased("upper({})", str.upper, UPPERCASE.lower())
CASEFOLD = _cased("casefold({})", str.casefold, UPPERCASE)


def truncated(length: int) -> Format:
    """Return the format that keeps the first characters of a text."""
    if length < 1:
        raise DeclarationError(f"truncated(…, {length}): keep at least one character")
    made = _cased(f"truncated({{}}, {length})", lambda text: text[:length])

    def apply(inner: Notation) -> Notation:
        notation = made.apply(inner)
        assert isinstance(notation.language, Repeat)
        return replace(notation, language=Repeat(notation.language.item, 1, length))

    return Format(made.label, apply)
