"""`check_codec` accepts codecs that keep their promises, and says what the others break."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from tablewright.formats import Codec
from tablewright.testing import check_codec


class Reversed:
    """Domains by their last label first."""

    def encode(self, domain: str) -> str:
        return ".".join(reversed(domain.split(".")))

    decode = encode


class Ordinal:
    """Dates as the number of their day."""

    ordered = True
    width = 7
    alphabet = "0123456789"

    def encode(self, value: date) -> str:
        return f"{value.toordinal():07d}"

    def decode(self, text: str) -> date:
        return date.fromordinal(int(text))


@pytest.mark.parametrize(
    ("codec", "values"),
    [
        (Reversed(), ["example.com", "www.example.com", "localhost", "example.com"]),
        (Ordinal(), [date.max, date.min, date(2026, 1, 15), date(2026, 1, 16), date.min]),
        (Codec[int](encode=str, decode=int), [9, 10, -1]),
        (Codec[int](encode=str, decode=int, ordered=True), [0, 5, 9]),
        (Codec[str](encode=str, decode=str, ordered=True), ["a", "é", "\uffff", "🍲"]),
    ],
)
def test_a_codec_that_keeps_its_promises_is_accepted(codec: Any, values: list[Any]) -> None:
    check_codec(codec, values)
    assert [codec.decode(codec.encode(value)) for value in values] == values


def made(encode: Callable[[Any], Any], decode: Callable[[str], Any], **options: Any) -> Any:
    return Codec(encode=encode, decode=decode, **options)


class Anything:
    """Equal to every value."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("codec", "values", "message"),
    [
        (
            made(str.lower, str),
            ["ann", "Ann"],
            "Codec: 'Ann' has the text 'ann', which is decoded as 'ann'",
        ),
        (
            made(lambda value: str(abs(value)), int),
            [1, -1],
            "Codec: -1 has the text '1', which is decoded as 1",
        ),
        (
            made(lambda _: "x", lambda _: Anything()),
            [1, 2],
            "Codec: 1 and 2 have one text, 'x'",
        ),
        (made(str, str), ["a", ""], "Codec: the text of '' is empty; a part of a key must not be"),
        (
            made(lambda value: value, lambda text: text),
            [b"a"],
            "Codec: the text of b'a' is b'a' of type bytes; return a str",
        ),
        (
            made(str, int, ordered=True),
            [10, 9],
            "Codec: 9 is below 10, but the text '9' sorts after '10'; texts sort by their UTF-8 "
            "bytes",
        ),
        (
            made(lambda value: f"{value:03d}", int, width=3),
            [7, 1000],
            "Codec: 1000 has the text '1000' of 4 characters; the width is 3",
        ),
        (
            made(str, int, alphabet="0123456789"),
            [7, -7],
            "Codec: -7 has the text '-7' with '-'; the alphabet is '0123456789'",
        ),
        (made(str, str), [], "Codec: there are no values to check; give some"),
    ],
)
def test_a_codec_that_breaks_a_promise_is_told_which(
    codec: Any, values: list[Any], message: str
) -> None:
    with pytest.raises(AssertionError) as broken:
        check_codec(codec, values)
    assert str(broken.value) == message


def test_the_message_names_the_class_of_the_codec() -> None:
    class Broken(Ordinal):
        width = 6

    with pytest.raises(AssertionError, match=r"^Broken: .* the width is 6$"):
        check_codec(Broken(), [date(2026, 1, 15)])
