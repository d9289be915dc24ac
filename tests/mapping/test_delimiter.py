"""Delimiters: how values that contain them are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.language import (
    ANY_CHARACTER,
    Language,
    Repeat,
    characters,
    intersects,
    literal,
    to_regex,
)

ESCAPING = [Delimiter(text) for text in '#:|/-_"~A0']
REFUSING = [Delimiter(text, escapes=False) for text in ["#", ":", " ", "::", "->", "--", "é"]]

delimiters = st.sampled_from(ESCAPING)
texts = st.text(st.sampled_from('#:|/-_"~A0!$;}.`\x7fB1 é🍲'), max_size=6)
all_texts = Repeat(ANY_CHARACTER, 1, None)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("", ""),
        ("ann@example.com", "ann@example.com"),
        ("a b!\"%'", "a b!\"%'"),
        ("#", "$!"),
        ("$", "$$"),
        ("a#b", "a$!b"),
        ("$5", "$$5"),
        ("$!", "$$!"),
        ("#$#", "$!$$$!"),
        ("$$", "$$$$"),
        ("Grüße#🍲", "Grüße$!🍲"),
    ],
)
def test_the_delimiter_and_the_escape_are_escaped_and_nothing_else(text: str, escaped: str) -> None:
    assert Delimiter.DEFAULT.write(text) == escaped


def test_texts_that_look_escaped_already_stay_apart() -> None:
    texts = ["#", "$", "$!", "$$", "$#", "#$", "#!", "$$!"]
    assert len({Delimiter.DEFAULT.write(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("delimiter", "value", "written"),
    [
        (":", "a:b", "a;!b"),
        (":", ";", ";;"),
        (":", "a#b", "a#b"),
        ("|", "a|b}", "a}!b}}"),
        ("~", "~\x7f", "\x7f!\x7f\x7f"),
        ('"', 'say "no" #', "say #!no#! ##"),
    ],
)
def test_each_delimiter_is_escaped_by_the_next_character(
    delimiter: str, value: str, written: str
) -> None:
    assert Delimiter(delimiter).write(value) == written
    assert Delimiter(delimiter).read(written) == value


@given(delimiters, texts)
def test_what_is_written_is_read(delimiter: Delimiter, value: str) -> None:
    written = delimiter.write(value)
    assert delimiter.text not in written
    assert delimiter.read(written) == value


@given(delimiters, texts, texts)
def test_the_order_of_texts_is_kept(delimiter: Delimiter, one: str, other: str) -> None:
    written = [delimiter.write(text).encode() for text in (one, other)]
    assert (written[0] < written[1]) is (one < other)


@given(delimiters, texts, texts)
def test_beginnings_are_kept(delimiter: Delimiter, one: str, other: str) -> None:
    begins = delimiter.write(other).startswith(delimiter.write(one))
    assert begins is other.startswith(one)
    assert delimiter.write(one + other) == delimiter.write(one) + delimiter.write(other)


@given(delimiters, texts)
def test_a_text_that_is_read_is_written_the_same(delimiter: Delimiter, text: str) -> None:
    try:
        value = delimiter.read(text)
    except ValueError:
        assert delimiter.escape_character in text
    else:
        if delimiter.text not in text:
            assert delimiter.write(value) == text


@given(delimiters, texts.filter(bool), st.sampled_from([all_texts, characters("#:A0$;")]))
def test_the_language_is_that_of_what_is_written(
    delimiter: Delimiter, value: str, language: Language
) -> None:
    escaped = delimiter.language(language)
    is_value = intersects(language, literal(value))
    written = delimiter.write(value)
    assert intersects(escaped, literal(written)) is is_value
    assert bool(re.fullmatch(to_regex(escaped), written, re.DOTALL)) is is_value
    assert not intersects(escaped, literal(value + delimiter.text))


# -- without escapes -----------------------------------------------------------------------------


@given(st.sampled_from(REFUSING), texts.filter(bool))
def test_a_value_is_written_as_it_is_or_refused(delimiter: Delimiter, value: str) -> None:
    is_clear = (value + delimiter.text).index(delimiter.text) == len(value)
    assert intersects(delimiter.language(all_texts), literal(value)) is is_clear
    if is_clear:
        assert delimiter.write(value) == value
        assert delimiter.read(value) == value
    else:
        with pytest.raises(InvalidValue, match=r"contains the delimiter .* escape=False"):
            delimiter.write(value)


@given(st.sampled_from(REFUSING), texts.filter(bool), texts)
def test_a_value_ends_at_the_first_delimiter(delimiter: Delimiter, one: str, other: str) -> None:
    try:
        written = delimiter.write(one)
    except InvalidValue:
        return
    assert (written + delimiter.text + other).split(delimiter.text, 1) == [one, other]


# -- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delimiter", "message"),
    [
        (Delimiter(""), "Shop: the delimiter is ''; write a text of one or two characters"),
        (Delimiter("", escapes=False), "Shop: the delimiter is ''; write a text"),
        (Delimiter(5), "Shop: the delimiter is 5; write a text"),  # type: ignore[arg-type]
        (Delimiter("###"), "Shop: the delimiter is '###'; write a text of one or two"),
        (Delimiter("::"), "Shop: values cannot be escaped for the delimiter '::'"),
        (Delimiter("!"), "Shop: values cannot be escaped for the delimiter '!'"),
        (Delimiter(" "), "Shop: values cannot be escaped for the delimiter ' '"),
        (Delimiter("é"), "Shop: values cannot be escaped for the delimiter 'é'"),
    ],
)
def test_a_delimiter_that_cannot_be_used_is_refused(delimiter: Delimiter, message: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        delimiter.check("Shop")
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("delimiter", [*ESCAPING, *REFUSING])
def test_other_delimiters_are_accepted(delimiter: Delimiter) -> None:
    delimiter.check("Shop")
    assert delimiter.read(delimiter.write("x")) == "x"
