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
    known: list[tuple[T, str]] = []
    for value in values:
        text = codec.encode(value)
        problem = _text_problem(codec, value, text) or _shared_text(known, value, text)
        _require(not problem, codec, problem)
        known.append((value, text))
    _require(bool(known), codec, "there are no values to check; give some")
    if getattr(codec, "ordered", False):
        problem = _order_problem(known)
        _require(not problem, codec, problem)


def _require(condition: bool, codec: SupportsCodec[Any], problem: str) -> None:
    if not condition:
        raise AssertionError(f"{type(codec).__name__}: {problem}")


def _text_problem(codec: SupportsCodec[T], value: T, text: Any) -> str:
    """Return what is wrong with the text of a value by itself; "" if nothing is."""
    if type(text) is not str:
        return f"the text of {value!r} is {text!r} of type {type(text).__name__}; return a str"
    if not text:
        return f"the text of {value!r} is empty; a part of a key must not be"
    has = f"{value!r} has the text {text!r}"
    read = codec.decode(text)
    if read != value:
        return f"{has}, which is decoded as {read!r}"
    width, alphabet = getattr(codec, "width", None), getattr(codec, "alphabet", None)
    if width is not None and len(text) != width:
        return f"{has} of {len(text)} characters; the width is {width}"
    outside = "".join(sorted(set(text) - set(text if alphabet is None else alphabet)))
    return f"{has} with {outside!r}; the alphabet is {alphabet!r}" if outside else ""


def _shared_text(known: list[tuple[T, str]], value: T, text: str) -> str:
    others = (other for other, same in known if text == same and other != value)
    return next((f"{other!r} and {value!r} have one text, {text!r}" for other in others), "")


def _order_problem(known: list[tuple[Any, str]]) -> str:
    for (value, text), (other, behind) in pairwise(sorted(known, key=lambda pair: pair[0])):
        if text.encode() > behind.encode():
            return (
                f"{value!r} is below {other!r}, but the text {text!r} sorts after {behind!r}; "
                "texts sort by their UTF-8 bytes"
            )
    return ""
