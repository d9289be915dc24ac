"""Codecs: how users write a value inside a key in a form of their own.

A codec is any object with `encode` and `decode`; what else it promises are attributes:

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
from typing import Generic, Protocol, TypeVar

from tablewright.errors import DeclarationError

T = TypeVar("T")


class SupportsCodec(Protocol[T]):
    """What a codec must have."""

    def encode(self, value: T, /) -> str: ...
    def decode(self, text: str, /) -> T: ...


#: What a codec may raise for a value or a text that is none of its own.
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
