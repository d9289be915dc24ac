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

T = TypeVar("T")


class SupportsCodec(Protocol[T]):
    """What a codec must have."""

    def encode(self, value: T, /) -> str: ...
    def decode(self, text: str, /) -> T: ...


@dataclass(frozen=True, kw_only=True)
class Codec(Generic[T]):
    """A codec made of two functions."""

    encode: Callable[[T], str]
    decode: Callable[[str], T]
    ordered: bool = False
    width: int | None = None
    alphabet: str | None = None
