"""Codecs: check that a codec keeps what it promises.

    def test_the_codec_of_domains() -> None:
        check_codec(Reversed(), ["example.com", "www.example.com", "example.org"])

A check raises AssertionError with a message that names the values and what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeVar

from tablewright.mapping.formats.codecs import SupportsCodec

T = TypeVar("T")


def check_codec(codec: SupportsCodec[T], values: Iterable[T]) -> None:
    """Check that a codec keeps what it promises for these values.

    Raise AssertionError if a text is not a `str` or is empty, if `decode(encode(value))` is another
    value, if two values have one text, or if texts do not sort as values (`ordered`), do not have
    the `width`, or have characters outside the `alphabet`, where the codec declares these. DynamoDB
    sorts texts by their UTF-8 bytes. Give values at the limits, and those that are easily confused.

    >>> class Hex:
    ...     ordered = True
    ...     width = 4
    ...     alphabet = "0123456789abcdef"
    ...     def encode(self, value: int) -> str:
    ...         return f"{value:04x}"
    ...     def decode(self, text: str) -> int:
    ...         return int(text, 16)
    >>> check_codec(Hex(), [0, 9, 10, 255, 65535])
    >>> check_codec(Hex(), [65535, 65536])
    Traceback (most recent call last):
    AssertionError: Hex: 65536 has the text '10000' of 5 characters; the width is 4
    """
    name = type(codec).__name__
    known: list[tuple[T, str]] = []
    for value in values:
        text = _checked_text(codec, name, value)
        for other, same in known:
            if text == same and not other == value:
                raise AssertionError(f"{name}: {other!r} and {value!r} have one text, {text!r}")
        known.append((value, text))
    if not known:
        raise AssertionError(f"{name}: there are no values to check; give some")
    if getattr(codec, "ordered", False):
        _check_order(name, known)


def _checked_text(codec: SupportsCodec[T], name: str, value: T) -> str:
    """Return the text of a value, of which everything but its order is checked."""
    text: Any = codec.encode(value)
    if type(text) is not str:
        raise AssertionError(
            f"{name}: the text of {value!r} is {text!r} of type {type(text).__name__}; return a str"
        )
    if not text:
        raise AssertionError(f"{name}: the text of {value!r} is empty; a part of a key must not be")
    read = codec.decode(text)
    if not read == value:
        raise AssertionError(
            f"{name}: {value!r} has the text {text!r}, which is decoded as {read!r}"
        )
    width, alphabet = getattr(codec, "width", None), getattr(codec, "alphabet", None)
    if width is not None and len(text) != width:
        raise AssertionError(
            f"{name}: {value!r} has the text {text!r} of {len(text)} characters; the width is "
            f"{width}"
        )
    outside = "".join(sorted(set(text) - set(text if alphabet is None else alphabet)))
    if outside:
        raise AssertionError(
            f"{name}: {value!r} has the text {text!r} with {outside!r}; the alphabet is "
            f"{alphabet!r}"
        )
    return text


def _check_order(name: str, known: list[tuple[Any, str]]) -> None:
    for (value, text), (other, behind) in pairwise(sorted(known, key=lambda pair: pair[0])):
        if text.encode() > behind.encode():
            raise AssertionError(
                f"{name}: {value!r} is below {other!r}, but the text {text!r} sorts after "
                f"{behind!r}; texts sort by their UTF-8 bytes"
            )
