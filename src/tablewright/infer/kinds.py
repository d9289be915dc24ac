"""Kinds: the Python types that the values of an attribute can have, and their formats in keys.

    {"S": "Ann"}                      str
    {"S": "2026-01-15T10:15:30Z"}     datetime, or str
    {"S": "2026-01-15"}               date, or str
    {"N": "7"}, {"N": "7.5"}          int, Decimal
    {"M": {"City": {"S": "Bern"}}}    dict[str, str]
    values of several types           Any

A time without a time zone stays a `str`: only its writer knows which moment it is.

A spelling is a type with the formats of a value in a key, found by trying them:

    datetime   as it is, iso, epoch_seconds, epoch_millis, hour, day, week, year_month, year
    date       as it is, week, year_month, year
    int        as it is (not in a sort key), padded
    Decimal    fixed_point
    str        as it is, lower, upper, casefold, truncated, shard

and `descending` of all that have a fixed width; `number` and `binary` in key attributes of type N
and B. A spelling is right if the model itself composes the stored text with it: this module writes
no text of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.converters import converter
from tablewright.mapping.formats import moments, numbers
from tablewright.mapping.formats.codecs import CASEFOLD, LOWER, UPPER, truncated
from tablewright.mapping.key_parts import Delimiter, KeyPart, make_part
from tablewright.mapping.notation import Format
from tablewright.values import SET_MEMBER, Value, tag_of

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)").fullmatch
_DATE = re.compile(r"\d{4}-\d\d-\d\d").fullmatch
_INTEGER = re.compile(r"-?\d+").fullmatch
_DIGITS = re.compile("[0-9]+").fullmatch
#: The most digits of the number of a shard.
_SHARD_DIGITS = 3


class Kind(Struct, frozen=True):
    """A type, and how it is written."""

    source: str
    type: Any
    #: What its source imports from the standard library.
    names: frozenset[str] = frozenset()


STR, INT, BOOL, BYTES = (Kind(each.__name__, each) for each in (str, int, bool, bytes))
DECIMAL, DATETIME, DATE, ANY = (
    Kind(each.__name__, each, frozenset({each.__name__})) for each in (Decimal, datetime, date, Any)
)
_SCALARS = {"S": STR, "BOOL": BOOL, "B": BYTES}


def kinds_of(values: Sequence[Value]) -> tuple[Kind, ...]:
    """Return the types that values can have, the most specific first; NULL has any type.

    >>> [kind.source for kind in kinds_of([{"S": "2026-01-15"}, {"NULL": True}])]
    ['date', 'str']
    """
    present = [value for value in values if "NULL" not in value]
    tags = {tag_of(value) for value in present}
    if len(tags) != 1:
        return (ANY,)
    tag = tags.pop()
    contents = [value[tag] for value in present]
    if tag == "S":
        return text_kinds(contents)
    if tag == "N":
        return (_number(contents),)
    if tag in SET_MEMBER:
        members = [member for content in contents for member in content]
        inner = _number(members) if tag == "NS" else _SCALARS[SET_MEMBER[tag]]
        return (kind_of(set, inner),)
    if tag == "L":
        inner = _member([member for content in contents for member in content])
        return (kind_of(list, inner),)
    if tag == "M":
        inner = _member([member for content in contents for member in content.values()])
        return (kind_of(dict, STR, inner),)
    return (_SCALARS[tag],)


def text_kinds(texts: Sequence[str]) -> tuple[Kind, ...]:
    """Return the types that texts can have, the most specific first."""
    for kind, matches in ((DATETIME, _MOMENT), (DATE, _DATE)):
        if all(map(matches, texts)) and _reads(kind, texts):
            return (kind, STR)
    return (STR,)


def stores_equal(kind: Kind, values: Sequence[Value]) -> bool:
    """Whether values are stored again exactly as they are."""
    made = converter(kind.type, "")
    return all(made.encode(made.decode(value)) == value for value in values)


def kind_of(container: Any, *members: Kind) -> Kind:
    """Return the type of a container of these members."""
    inner = ", ".join(member.source for member in members)
    kind = container[tuple(member.type for member in members)]
    names = frozenset[str]().union(*(member.names for member in members))
    return Kind(f"{container.__name__}[{inner}]", kind, names)


def _reads(kind: Kind, texts: Sequence[str]) -> bool:
    try:
        return all(kind.type.fromisoformat(text) for text in texts)
    except ValueError:
        return False


def _number(texts: Sequence[str]) -> Kind:
    return INT if all(_INTEGER(text) for text in texts) else DECIMAL


def _member(values: Sequence[Value]) -> Kind:
    """Return the type of the members of a document, whose texts stay texts."""
    return ANY if any("NULL" in value for value in values) else kinds_of(values)[-1]


class KeySpelling(Struct, frozen=True):
    """A type and its formats in a key."""

    kind: Kind
    #: How the part is written, with {} for the attribute.
    source: str = "{}"
    formats: tuple[Format, ...] = ()
    #: The functions of `tablewright.formats` that its source calls.
    names: tuple[str, ...] = ()

    def __call__(self, name: str, how: Format, *arguments: object) -> KeySpelling:
        """Return this spelling in another format, by its name and further arguments."""
        source = f"{name}({', '.join(map(str, (self.source, *arguments)))})"
        return KeySpelling(self.kind, source, (*self.formats, how), (*self.names, name))

    def part(self, delimiter: Delimiter) -> KeyPart:
        return make_part(
            "it", self.kind.type, self.formats, pad=None, delimiter=delimiter, where=""
        )


def spells(
    spelling: KeySpelling,
    delimiter: Delimiter,
    values: Sequence[Any],
    texts: Sequence[str],
    *,
    sorts: bool,
) -> bool:
    """Whether the spelling writes each value as its text; `sorts`: in a sort key."""
    part = _part(spelling, delimiter)
    if part is None or (sorts and not part.is_ordered):
        return False
    write = part.attribute_text
    try:
        return all(write(value) == text for value, text in zip(values, texts, strict=True))
    except InvalidValue:
        return False


def writer_of(spelling: KeySpelling, delimiter: Delimiter) -> Callable[[Any], str] | None:
    """Return what writes values in a key; None if the type has no such format."""
    part = _part(spelling, delimiter)
    return None if part is None else part.attribute_text


@lru_cache(maxsize=512)
def _part(spelling: KeySpelling, delimiter: Delimiter) -> KeyPart | None:
    try:
        return spelling.part(delimiter)
    except DeclarationError:
        return None


def reads_back(spelling: KeySpelling, delimiter: Delimiter, texts: Sequence[str]) -> bool:
    """Whether values that only a key stores can be read from its texts."""
    try:
        part = spelling.part(delimiter)
        return all(part.text(part.read(text)) == text for text in texts)
    except (DeclarationError, InvalidValue, ValueError):
        return False


def spellings(kind: Kind, tag: str, texts: Sequence[str]) -> Iterator[KeySpelling]:
    """Yield the spellings to try for values of a type, the simplest first."""
    plain = KeySpelling(kind)
    if tag != "S":
        yield from _whole_keys(plain, tag)
        return
    yield plain
    found = list(_formatted(plain, texts))
    yield from found
    for each in (plain, *found):
        if kind is not STR:
            yield each("descending", numbers.DESCENDING)


def key_only_spellings(texts: Sequence[str]) -> Iterator[KeySpelling]:
    """Yield the spellings to try for values that are only in keys, the most specific first."""
    for kind in text_kinds(texts):
        yield KeySpelling(kind)
        if kind is DATETIME:
            yield from _iso(KeySpelling(kind))


def _whole_keys(plain: KeySpelling, tag: str) -> Iterator[KeySpelling]:
    if tag == "B":
        yield plain("binary", numbers.BINARY)
    elif plain.kind is DATETIME:
        for name, how in (("epoch_seconds", moments.SECONDS), ("epoch_millis", moments.MILLIS)):
            yield plain(name, how)("number", numbers.NUMBER)
    else:
        yield plain("number", numbers.NUMBER)


def _formatted(plain: KeySpelling, texts: Sequence[str]) -> Iterator[KeySpelling]:
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
        longest = max(1, *map(len, texts))
        yield plain("truncated", truncated(longest), longest)
        if width is not None and len(set(texts)) > 1 and all(map(_DIGITS, texts)):
            count = max(map(int, texts)) + 1
            if len(str(count - 1)) == width <= _SHARD_DIGITS:
                yield plain("shard", numbers.shard(count), f"of={count}")


def _is_padded(texts: Sequence[str], width: int) -> bool:
    """Whether numbers of one width have it on purpose; 1 to 9 have one digit anyway."""
    return width > 3 or any(text[0] in "09" for text in texts)


@lru_cache(maxsize=8)
def _iso(plain: KeySpelling) -> tuple[KeySpelling, ...]:
    """Return the spellings as ISO 8601; equal ones, so that `_part` knows them again."""
    precisions: tuple[moments.Precision, ...] = ("seconds", "milliseconds", "microseconds")
    return (
        *(plain("iso", moments.iso(each, "Z"), f'"{each}"') for each in precisions),
        *(
            plain("iso", moments.iso(each, "+00:00"), f'"{each}"', 'zone="+00:00"')
            for each in precisions
        ),
    )
