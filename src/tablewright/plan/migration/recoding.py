"""Recoding: values that one version of a design stores in another form than the other version.

    before                        after                          an item's value
    datetime                      iso(datetime, 'seconds')       2026-01-15T10:15:30Z
    iso(datetime, 'seconds')      number(epoch_seconds(…))       1768472130
    compressed(str)               str                            the text

A value is read by the codec of the target first, so that a second pass leaves it alone, and then by
that of the source, which is made from its description. So a value must not mean one thing to the
one and another thing to the other: such a pair is refused, unless the attribute has a new name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any
from uuid import UUID

from tablewright.errors import (
    DeclarationError,
    InvalidValue,
    MigrationRefused,
    UnreadableItem,
)
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.converters import Converter, converter
from tablewright.mapping.formats.attributes import coded_converter
from tablewright.mapping.formats.reading import format_of
from tablewright.values import Value

#: A value of each type, to find out whether two codecs read each other's values.
_SAMPLES: tuple[Any, ...] = (
    datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC),
    date(2026, 1, 15),
    time(10, 15),
    timedelta(hours=1),
    Decimal("12.5"),
    12,
    1.5,
    True,
    "12",
    b"12",
    UUID(int=12),
    ["12"],
    {"12": "12"},
)


def is_recoded(attribute: AttributeMap, before: str) -> bool:
    """Return whether a change of a type is one of its codec."""
    form, is_known = format_of(before)
    return bool(attribute.converter.codec) or form is not None or not is_known


def is_encrypted(described: str) -> bool:
    """Return whether a described attribute is encrypted."""
    return described.startswith("encrypted(")


def recode(attribute: AttributeMap, stored: Value, before: str, *, is_moved: bool) -> Value | None:
    """Return a value as the target stores it; None if it cannot be read.

    `before` is the type in the source. With `is_moved`, the value is certainly one of the source.
    """
    own, former = attribute.converter, former_converter(attribute, before)
    readers = [former, own] if is_moved else [own, former]
    for each in readers:
        if each is None:
            continue
        with suppress(UnreadableItem, InvalidValue):
            return attribute.store(attribute.fit(each.decode(stored)))
    return None


def refuse_ambiguous_codec(attribute: AttributeMap, before: str, what: str) -> None:
    """Raise MigrationRefused if a stored value does not show which version has written it."""
    former, own = former_converter(attribute, before), attribute.converter
    if former is None or own.tag != former.tag:
        return
    for value in _samples(own.kind):
        with suppress(UnreadableItem, InvalidValue):
            one, other = former.encode(value), own.encode(value)
            if _reads_other(own.decode, one, value) or _reads_other(former.decode, other, value):
                raise MigrationRefused(
                    f"{what}: a stored value does not show which of the two forms it has. Store "
                    "the new values under another name: attr(renamed_from=…, codec=…)"
                )


def _reads_other(decode: Callable[[Value], Any], stored: Value, value: Any) -> bool:
    """Return whether a stored value is read as another one than was written."""
    try:
        return bool(decode(stored) != value)
    except UnreadableItem:
        return False


@lru_cache(maxsize=256)
def _former(kind: Any, before: str, where: str) -> Converter | None:
    form, is_known = format_of(before)
    if not is_known:
        return None
    with suppress(DeclarationError):
        if form is None:
            return converter(kind, where)
        return coded_converter(kind, form, None, where)
    return None


def former_converter(attribute: AttributeMap, before: str) -> Converter | None:
    """Return the converter of the values before; None if only code of the user knows it."""
    return _former(attribute.converter.kind, before, attribute.converter.where)


def _samples(kind: Any) -> Iterable[Any]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind)
    return _SAMPLES
