"""Languages: the set of texts that a key, or one part of it, can be.

A language is built from characters, sequences, choices and repetitions. Two questions are
answered exactly, so that a declaration is refused only if two keys really can be equal:

    intersects(one, other)         is there a text that belongs to both?
    starts_with(language, start)   is there a text in `language` that begins with one in `start`?

Both walk the two languages side by side, character by character.

    >>> moment = sequence(digits(4), literal("-"), digits(2))
    >>> intersects(moment, literal("2026-01")), intersects(moment, literal("#META#"))
    (True, False)
    >>> starts_with(sequence(literal("ORDER#"), moment), literal("ORDER#"))
    True

This module knows nothing of keys, values or delimiters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct


class Chars(Struct, frozen=True):
    """One character: any of `members`, or any except them."""

    members: frozenset[str]
    negated: bool = False

    def overlaps(self, other: Chars) -> bool:
        if self.negated and other.negated:
            return True  # there are more characters than both leave out
        if self.negated:
            return not other.members <= self.members
        if other.negated:
            return not self.members <= other.members
        return not self.members.isdisjoint(other.members)

    def __contains__(self, character: str) -> bool:
        return (character in self.members) is not self.negated


class Sequence(Struct, frozen=True):
    """Several languages, one after the other."""

    items: tuple[Language, ...]


class Choice(Struct, frozen=True):
    """One of several languages."""

    options: tuple[Language, ...]


class Repeat(Struct, frozen=True):
    """One language, `least` to `most` times; without a limit if `most` is None."""

    item: Language
    least: int
    most: int | None


Language: TypeAlias = Chars | Sequence | Choice | Repeat

EMPTY = Sequence(())
NOTHING = Choice(())
ANY_CHARACTER = Chars(frozenset(), negated=True)
ANYTHING = Repeat(ANY_CHARACTER, 0, None)
DIGITS = "0123456789"


def literal(text: str) -> Language:
    """Return the language of one text."""
    return Sequence(tuple(Chars(frozenset(character)) for character in text))


def one_of(texts: Iterable[str]) -> Language:
    """Return the language of a few texts."""
    return Choice(tuple(literal(text) for text in texts))


def characters(members: str, least: int = 1, most: int | None = None) -> Language:
    """Return the language of texts with `least` to `most` characters of a set."""
    return Repeat(Chars(frozenset(members)), least, most)


def digits(count: int) -> Language:
    """Return the language of texts with this many digits."""
    return characters(DIGITS, count, count)


def sequence(*items: Language) -> Language:
    """Return the language of texts that consist of one text of each item, in order."""
    return Sequence(items)


@lru_cache(maxsize=256)
def parse_form(form: str) -> Language:
    """Return the language of a fixed form, in which each `0` is any digit.

    >>> to_regex(parse_form("0000-00"))
    '[0123456789][0123456789][0123456789][0123456789]\\\\-[0123456789][0123456789]'
    """
    return Sequence(
        tuple(
            Chars(frozenset(DIGITS)) if character == "0" else Chars(frozenset(character))
            for character in form
        )
    )


def to_regex(language: Language) -> str:
    """Return a regular expression for the texts of a language."""
    match language:
        case Chars(members, negated):
            if not members:
                return "." if negated else "(?!)"
            if len(members) == 1 and not negated:
                return re.escape(next(iter(members)))
            inner = "".join(re.escape(character) for character in sorted(members))
            return f"[{'^' if negated else ''}{inner}]"
        case Sequence(items):
            return "".join(map(to_regex, items))
        case Choice(options):
            return f"(?:{'|'.join(map(to_regex, options))})" if options else "(?!)"
        case Repeat(item, least, most):
            inner = to_regex(item)
            inner = inner if isinstance(item, Chars) else f"(?:{inner})"
            if least == most:
                return f"{inner}{{{least}}}"
            # The shortest match: a value ends at the first delimiter.
            return f"{inner}{{{least},{'' if most is None else most}}}?"


def width_of(language: Language) -> int | None:
    """Return the length of all texts of a language; None if they differ in length."""
    match language:
        case Chars():
            return 1
        case Sequence(items):
            widths = [width_of(item) for item in items]
            return None if None in widths else sum(width for width in widths if width is not None)
        case Choice(options):
            found = {width_of(option) for option in options}
            return found.pop() if len(found) == 1 else None
        case Repeat(item, least, most):
            width = width_of(item)
            return None if width is None or least != most else width * least


def texts_of(language: Language) -> list[str] | None:
    """Return the texts of a language that `one_of` returned; None for any other."""
    if not isinstance(language, Choice):
        return None
    texts: list[str] = []
    for option in language.options:
        if not isinstance(option, Sequence):
            return None
        members = [list(each.members) if isinstance(each, Chars) else [] for each in option.items]
        if any(len(each) != 1 for each in members):
            return None
        texts.append("".join(each[0] for each in members))
    return texts


def may_contain(language: Language, characters: str) -> bool:
    """Return whether a text of the language can contain one of these characters."""
    match language:
        case Chars():
            return any(character in language for character in characters)
        case Sequence(items) | Choice(items):
            return any(may_contain(item, characters) for item in items)
        case Repeat(item, _, most):
            return most != 0 and may_contain(item, characters)


def intersects(one: Language, other: Language) -> bool:
    """Return whether a text belongs to both languages: both reach their last states with it."""
    first, second = _Automaton(one), _Automaton(other)
    goal = (first.last, second.last)
    waiting = [(first.first, second.first)]
    seen = set(waiting)
    while waiting:
        pair = waiting.pop()
        if pair == goal:
            return True
        here, there = pair
        found = [(jump, there) for jump in first.jumps[here]]
        found += [(here, jump) for jump in second.jumps[there]]
        found += [
            (end, another)
            for chars, end in first.steps[here]
            for theirs, another in second.steps[there]
            if chars.overlaps(theirs)
        ]
        for following in found:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def starts_with(language: Language, start: Language) -> bool:
    """Return whether a text of a language begins with a text of another."""
    return intersects(language, Sequence((start, ANYTHING)))


class _Automaton:
    """A language as states: `steps` consume a character, `jumps` do not."""

    def __init__(self, language: Language) -> None:
        self.steps: list[list[tuple[Chars, int]]] = []
        self.jumps: list[list[int]] = []
        self.first = self._state()
        self.last = self._add(language, self.first)

    def _state(self) -> int:
        self.steps.append([])
        self.jumps.append([])
        return len(self.steps) - 1

    def _add(self, language: Language, start: int) -> int:
        """Add the language after a state, and return the state at its end."""
        match language:
            case Chars():
                end = self._state()
                self.steps[start].append((language, end))
                return end
            case Sequence(items):
                for item in items:
                    start = self._add(item, start)
                return start
            case Choice(options):
                end = self._state()
                for option in options:
                    self.jumps[self._add(option, start)].append(end)
                return end
            case Repeat(item, least, most):
                for _ in range(least):
                    start = self._add(item, start)
                if most is None:
                    loop = self._state()
                    self.jumps[start].append(loop)
                    self.jumps[self._add(item, loop)].append(loop)
                    return loop
                end = self._state()
                for _ in range(most - least):
                    self.jumps[start].append(end)
                    start = self._add(item, start)
                self.jumps[start].append(end)
                return end
