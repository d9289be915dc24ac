"""Languages: compared with Python's regular expressions over all short texts."""

from __future__ import annotations

import re
from itertools import product
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.mapping.language import (
    ANYTHING,
    EMPTY,
    NOTHING,
    Chars,
    Choice,
    Language,
    Repeat,
    Sequence,
    characters,
    digits,
    intersects,
    literal,
    may_contain,
    one_of,
    parse_form,
    sequence,
    starts_with,
    to_regex,
    width_of,
)

ALPHABET = "ab#"
LONGEST = 4
#: Every text of up to four characters of the alphabet.
TEXTS = [
    "".join(letters)
    for length in range(LONGEST + 1)
    for letters in product(ALPHABET, repeat=length)
]

chars = st.builds(Chars, st.frozensets(st.sampled_from(ALPHABET), min_size=1, max_size=2))


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    items = st.lists(inner, max_size=2).map(tuple)
    repeats = st.tuples(st.integers(0, 2), st.integers(0, 1))
    return (
        items.map(Sequence)
        | items.map(Choice)
        | st.builds(lambda item, many: Repeat(item, many[0], sum(many)), inner, repeats)
        | st.builds(lambda item, least: Repeat(item, least, None), inner, st.integers(0, 2))
    )


languages: st.SearchStrategy[Any] = st.recursive(chars, _larger, max_leaves=4)


def longest(language: Language) -> float:
    """Return the length of the longest text."""
    match language:
        case Chars():
            return 1
        case Sequence(items):
            return sum(map(longest, items))
        case Choice(options):
            return max(map(longest, options), default=0)
        case Repeat(item, _, most):
            length = longest(item)
            return length and length * (inf if most is None else most)


#: Languages all of whose texts are tried.
short_languages = languages.filter(lambda language: longest(language) <= LONGEST)


def texts_of(language: Language) -> set[str]:
    matches = re.compile(to_regex(language), re.DOTALL).fullmatch
    return {text for text in TEXTS if matches(text)}


@given(languages, short_languages)
def test_two_languages_intersect_where_a_text_matches_both(one: Language, other: Language) -> None:
    common = bool(texts_of(one) & texts_of(other))
    assert intersects(one, other) is common
    assert intersects(other, one) is common


@given(languages, languages)
def test_languages_of_long_texts_intersect_where_a_text_matches_both(
    one: Language, other: Language
) -> None:
    if texts_of(one) & texts_of(other):
        assert intersects(one, other)
    assert intersects(one, other) is intersects(other, one)


@given(short_languages, languages)
def test_a_language_starts_with_what_its_texts_start_with(
    language: Language, start: Language
) -> None:
    starts = texts_of(start)
    found = any(text[:end] in starts for text in texts_of(language) for end in range(len(text) + 1))
    assert starts_with(language, start) is found


@given(languages)
def test_all_texts_have_the_width(language: Language) -> None:
    width = width_of(language)
    if width is not None:
        assert {len(text) for text in texts_of(language)} <= {width}


@given(languages, st.sampled_from(ALPHABET))
def test_a_text_contains_only_what_the_language_may(language: Language, character: str) -> None:
    if any(character in text for text in texts_of(language)):
        assert may_contain(language, character)


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (EMPTY, EMPTY, True),
        (EMPTY, NOTHING, False),
        (NOTHING, ANYTHING, False),
        (EMPTY, ANYTHING, True),
        (EMPTY, literal("a"), False),
        (digits(4), literal("2026"), True),
        (digits(4), literal("202"), False),
        (digits(4), literal("20266"), False),
        (one_of(["a", "bc"]), one_of(["b", "bc"]), True),
        (one_of(["a", "bc"]), one_of(["b", "c"]), False),
        (parse_form("0000-00"), literal("2026-01"), True),
        (parse_form("0000-00"), literal("2026_01"), False),
        (characters("ab"), characters("bc"), True),
        (characters("ab", 2), sequence(characters("b"), characters("c")), False),
        (sequence(ANYTHING, literal("#")), sequence(literal("#"), ANYTHING), True),
        (sequence(ANYTHING, literal("#")), characters("ab", 0), False),
        (Chars(frozenset("a"), negated=True), Chars(frozenset("b"), negated=True), True),
        (Chars(frozenset("a"), negated=True), literal("a"), False),
        (Chars(frozenset("a"), negated=True), literal("\n"), True),
    ],
)
def test_languages_intersect(one: Language, other: Language, common: bool) -> None:
    assert intersects(one, other) is common
    assert intersects(other, one) is common


@pytest.mark.parametrize("character", list("^-]\\[&|~.*+?(){}$#\n \t\"'é🍲"))
def test_a_regular_expression_takes_every_character_as_it_is(character: str) -> None:
    for language in (literal(character), characters(character), characters(character + "x")):
        matches = re.compile(to_regex(language), re.DOTALL).fullmatch
        assert matches(character)
        assert not matches("y")
    outside = re.compile(to_regex(Chars(frozenset(character), negated=True)), re.DOTALL).fullmatch
    assert outside("y")
    assert not outside(character)
