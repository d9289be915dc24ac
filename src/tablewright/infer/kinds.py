"""Kinds: the Python types that the values of an attribute can have.

    {"S": "Ann"}                      str
    {"S": "2026-01-15T10:15:30Z"}     datetime, or str
    {"S": "2026-01-15"}               date, or str
    {"N": "7"}, {"N": "7.5"}          int, Decimal
    {"M": {"City": {"S": "Bern"}}}    dict[str, str]
    values of several types           Any

A text without a time zone is not a moment: which one it is, only its writer knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct

from tablewright.mapping.converters import converter
from tablewright.values import SET_MEMBER, Value, tag_of

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)").fullmatch
_DATE = re.compile(r"\d{4}-\d\d-\d\d").fullmatch
_INTEGER = re.compile(r"-?\d+").fullmatch


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
        if all(matches(text) and _is_date(text[:10]) for text in texts) and _reads(kind, texts):
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


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


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
