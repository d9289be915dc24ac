"""Formats: how an attribute is written inside a key, where the default of its type does not serve.

    from tablewright.formats import day, lower

    primary  = key("CUST" / customer_id, "DAY" / day(created_at) / order_id)
    by_email = unique("EMAIL" / lower(email))

A format takes an attribute in the body of an entity and is a part of a key. The texts of the
formats are in `tablewright.mapping.parts`; this module declares their types for checkers.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, TypeAlias, TypeVar, overload

from tablewright.errors import DeclarationError
from tablewright.mapping import parts
from tablewright.model.attribute import Attr, Derived

Text = TypeVar("Text", bound=str)

#: An attribute with a day.
Moment: TypeAlias = Attr[datetime] | Attr[date] | Attr[datetime | None] | Attr[date | None]

__all__ = ["day", "descending", "epoch_seconds", "lower", "shard", "year_month"]


def day(moment: Moment) -> Derived[date]:
    """Write the day of a moment, in UTC: `2026-01-15`."""
    return Derived(moment, parts.DAY)


def year_month(moment: Moment) -> Derived[date]:
    """Write the month of a moment, in UTC: `2026-01`. A call takes any day of the month."""
    return Derived(moment, parts.YEAR_MONTH)


def epoch_seconds(moment: Attr[datetime] | Attr[datetime | None]) -> Derived[datetime]:
    """Write the whole seconds since 1970, with ten digits: `1768472130`."""
    return Derived(moment, parts.EPOCH_SECONDS)


@overload
def lower(text: Attr[Text]) -> Derived[str]: ...
@overload
def lower(text: Attr[Text | None]) -> Derived[str]: ...
def lower(text: Attr[Any]) -> Derived[str]:
    """Write the text in lower case."""
    return Derived(text, parts.LOWER)


def shard(value: Attr[Any], *, of: int) -> Derived[int]:
    """Write a number from 0 to `of - 1`, a checksum of the value. A call takes the number."""
    if of < 2:
        raise DeclarationError(f"shard(…, of={of}): a key needs at least 2 shards; write of=2")
    return Derived(value, parts.shard_format(of))


def descending(number: Attr[int] | Attr[int | None]) -> Derived[int]:
    """Write the number so that larger numbers sort first. The attribute needs `attr(pad=…)`."""
    return Derived(number, parts.DESCENDING)
