"""Spellings: how a value is written in a key, found by trying the formats of its type.

    datetime   as it is, iso, epoch_seconds, epoch_millis, hour, day, week, year_month, year
    date       as it is, week, year_month, year
    int        as it is (not in a sort key), padded
    Decimal    fixed_point
    str        as it is, lower, upper, casefold, truncated

and `descending` of all that have a fixed width; `number` and `binary` in key attributes of type N
and B. A spelling is right if the model itself composes the stored text with it: this module writes
no text of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.infer.kinds import DATE, DATETIME, DECIMAL, INT, STR, Kind, text_kinds
from tablewright.mapping.formats import moments, numbers
from tablewright.mapping.formats.codecs import CASEFOLD, LOWER, UPPER, truncated
from tablewright.mapping.notation import Format
from tablewright.mapping.parts import Delimiter, KeyPart, make_part


class Spelling(Struct, frozen=True):
    """A type and its formats in a key."""

    kind: Kind
    #: How the part is written, with {} for the attribute.
    source: str = "{}"
    formats: tuple[Format, ...] = ()
    #: The functions of `tablewright.formats` that its source calls.
    names: tuple[str, ...] = ()

    def __call__(self, name: str, how: Format, *arguments: object) -> Spelling:
        """Return this spelling in another format, by its name and further arguments."""
        source = f"{name}({', '.join(map(str, (self.source, *arguments)))})"
        return Spelling(self.kind, source, (*self.formats, how), (*self.names, name))

    def part(self, delimiter: Delimiter) -> KeyPart:
        return make_part(
            "it", self.kind.type, self.formats, pad=None, delimiter=delimiter, where=""
        )


def spells(
    spelling: Spelling,
    delimiter: Delimiter,
    values: Sequence[Any],
    texts: Sequence[str],
    *,
    sorts: bool,
) -> bool:
    """Whether each value has its text; `sorts`: in a sort key."""
    try:
        part = spelling.part(delimiter)
        if sorts and not part.is_ordered:
            return False
        write = part.attribute_text
        return all(write(value) == text for value, text in zip(values, texts, strict=True))
    except (DeclarationError, InvalidValue):
        return False


def reads_back(spelling: Spelling, delimiter: Delimiter, texts: Sequence[str]) -> bool:
    """Whether a key gives back the values of its texts, which are stored nowhere else."""
    try:
        part = spelling.part(delimiter)
        return all(part.text(part.read(text)) == text for text in texts)
    except (DeclarationError, InvalidValue, ValueError):
        return False


def spellings(kind: Kind, tag: str, texts: Sequence[str]) -> Iterator[Spelling]:
    """Yield the spellings to try for values of a type, the simplest first."""
    plain = Spelling(kind)
    if tag != "S":
        yield from _whole_keys(plain, tag)
        return
    yield plain
    found = list(_formatted(plain, texts))
    yield from found
    for each in (plain, *found):
        if kind is not STR:
            yield each("descending", numbers.DESCENDING)


def key_only_spellings(texts: Sequence[str]) -> Iterator[Spelling]:
    """Yield the spellings to try for values that are only in keys, the most specific first."""
    for kind in text_kinds(texts):
        yield Spelling(kind)
        if kind is DATETIME:
            yield from _iso(Spelling(kind))


def _whole_keys(plain: Spelling, tag: str) -> Iterator[Spelling]:
    if tag == "B":
        yield plain("binary", numbers.BINARY)
    elif plain.kind is DATETIME:
        for name, how in (("epoch_seconds", moments.SECONDS), ("epoch_millis", moments.MILLIS)):
            yield plain(name, how)("number", numbers.NUMBER)
    else:
        yield plain("number", numbers.NUMBER)


def _formatted(plain: Spelling, texts: Sequence[str]) -> Iterator[Spelling]:
    widths = {len(text) for text in texts}
    width = widths.pop() if len(widths) == 1 else None
    if plain.kind is DATETIME:
        yield from _iso(plain)
        yield plain("epoch_seconds", moments.SECONDS)
        yield plain("epoch_millis", moments.MILLIS)
        yield plain("hour", moments.HOUR)
        yield plain("day", moments.DAY)
    if plain.kind in (DATETIME, DATE):
        yield plain("week", moments.WEEK)
        yield plain("year_month", moments.MONTH)
        yield plain("year", moments.YEAR)
    elif plain.kind is INT and width is not None and _is_padded(texts, width):
        yield plain("padded", numbers.padded(width), width)
    elif plain.kind is DECIMAL and width is not None:
        digits, _, places = texts[0].partition(".")
        if digits and places:
            made = numbers.fixed_point(len(digits), len(places))
            yield plain("fixed_point", made, len(digits), len(places))
    elif plain.kind is STR:
        yield plain("lower", LOWER)
        yield plain("upper", UPPER)
        yield plain("casefold", CASEFOLD)
        longest = max(map(len, texts))
        yield plain("truncated", truncated(longest), longest)


def _is_padded(texts: Sequence[str], width: int) -> bool:
    """Whether numbers of one width have it on purpose; 1 to 9 have one digit anyway."""
    return width > 3 or any(text[0] in "09" for text in texts)


def _iso(plain: Spelling) -> Iterator[Spelling]:
    for zone in ("Z", "+00:00"):
        shown = [] if zone == "Z" else [f'zone="{zone}"']
        for precision in ("seconds", "milliseconds", "microseconds"):
            how = moments.iso(precision, zone)
            yield plain("iso", how, f'"{precision}"', *shown)
