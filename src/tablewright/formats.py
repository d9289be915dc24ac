"""Formats: how an attribute is written inside a key, instead of the default of its type.

    from tablewright.formats import day, lower

    primary  = key("CUST" / customer_id, "DAY" / day(created_at) / order_id)
    by_email = unique("EMAIL" / lower(email))

A format takes an attribute in the body of an entity, or another format of one, and is a part of a
key: `descending(epoch_seconds(created_at))`.

    moments     day  hour  week  year_month  year  iso  epoch_seconds  epoch_millis
    numbers     padded  fixed_point
    texts       lower  upper  casefold  truncated
    any value   descending  shard  coded (with a codec of your own)
    types       number  binary: a key attribute of type N or B

The texts are made in `tablewright.mapping.formats`; this module declares their types for checkers.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar, overload

from tablewright.errors import DeclarationError
from tablewright.mapping.formats import codecs, moments, numbers
from tablewright.mapping.formats.codecs import Codec, SupportsCodec
from tablewright.mapping.formats.moments import Precision, Zone
from tablewright.model.attribute import Formatted, Piece

__all__ = [
    "Codec",
    "binary",
    "casefold",
    "coded",
    "day",
    "descending",
    "epoch_millis",
    "epoch_seconds",
    "fixed_point",
    "hour",
    "iso",
    "lower",
    "number",
    "padded",
    "shard",
    "truncated",
    "upper",
    "week",
    "year",
    "year_month",
]

T = TypeVar("T")
Text = TypeVar("Text", bound=str)
Number = TypeVar("Number", int, Decimal)

#: Attributes with a date.
Day: TypeAlias = Piece[datetime] | Piece[date] | Piece[datetime | None] | Piece[date | None]
Moment: TypeAlias = Piece[datetime] | Piece[datetime | None]
Whole: TypeAlias = Piece[int] | Piece[int | None]
AnyText: TypeAlias = Piece[Text] | Piece[Text | None]


def day(moment: Day) -> Formatted[date]:
    """Write the day of a moment, in UTC: `2026-01-15`."""
    return Formatted(moment, moments.DAY)


def week(moment: Day) -> Formatted[date]:
    """Write the ISO week of a moment, in UTC: `2026-W03`. A call takes any day of it."""
    return Formatted(moment, moments.WEEK)


def year_month(moment: Day) -> Formatted[date]:
    """Write the month of a moment, in UTC: `2026-01`. A call takes any day of the month."""
    return Formatted(moment, moments.MONTH)


def year(moment: Day) -> Formatted[int]:
    """Write the year of a moment, in UTC: `2026`."""
    return Formatted(moment, moments.YEAR)


def hour(moment: Moment) -> Formatted[datetime]:
    """Write the hour of a moment, in UTC: `2026-01-15T10`. A call takes any moment of it."""
    return Formatted(moment, moments.HOUR)


def iso(moment: Moment, precision: Precision, *, zone: Zone = "Z") -> Formatted[datetime]:
    """Write ISO text, cut to a precision: `2026-01-15T10:15:30Z`.

    `zone` is how UTC is written ("Z", "+00:00", or "" for nothing), or the `timezone` of the text.
    """
    return Formatted(moment, moments.iso(precision, zone))


def epoch_seconds(moment: Moment) -> Formatted[datetime]:
    """Write the whole seconds since 1970, with ten digits: `1768472130`."""
    return Formatted(moment, moments.SECONDS)


def epoch_millis(moment: Moment) -> Formatted[datetime]:
    """Write the whole milliseconds since 1970, with thirteen digits: `1768472130000`."""
    return Formatted(moment, moments.MILLIS)


def padded(number: Whole, digits: int) -> Formatted[int]:
    """Write a whole number from 0 with zeros in front: `000007`."""
    return Formatted(number, numbers.padded(digits))


@overload
def fixed_point(number: Piece[Number], digits: int, places: int) -> Formatted[Number]: ...
@overload
def fixed_point(number: Piece[Number | None], digits: int, places: int) -> Formatted[Number]: ...
def fixed_point(number: Piece[Any], digits: int, places: int) -> Formatted[Any]:
    """Write a number from 0 with `digits` before the point and `places` after it: `0012.50`."""
    return Formatted(number, numbers.fixed_point(digits, places))


def lower(text: AnyText[Text]) -> Formatted[str]:
    """Write the text in lower case."""
    return Formatted(text, codecs.LOWER)


def upper(text: AnyText[Text]) -> Formatted[str]:
    """Write the text in upper case."""
    return Formatted(text, codecs.UPPER)


def casefold(text: AnyText[Text]) -> Formatted[str]:
    """Write the text without case, for any language: `STRASSE` and `straße` are equal."""
    return Formatted(text, codecs.CASEFOLD)


def truncated(text: AnyText[Text], length: int) -> Formatted[str]:
    """Write the first characters of the text."""
    return Formatted(text, codecs.truncated(length))


@overload
def descending(piece: Piece[T | None]) -> Formatted[T]: ...
@overload
def descending(piece: Piece[T]) -> Formatted[T]: ...
def descending(piece: Piece[Any]) -> Formatted[Any]:
    """Write the complement of each digit, so that larger values sort first."""
    return Formatted(piece, numbers.DESCENDING)


def shard(value: Piece[Any], *, of: int) -> Formatted[int]:
    """Write the shard number, from 0 to `of - 1`: the CRC-32 of the text, modulo `of`."""
    if of < 2:
        raise DeclarationError(f"shard(…, of={of}): a key needs at least 2 shards; write of=2")
    return Formatted(value, numbers.shard(of))


@overload
def coded(value: Piece[T | None], codec: SupportsCodec[T]) -> Formatted[T]: ...
@overload
def coded(value: Piece[T], codec: SupportsCodec[T]) -> Formatted[T]: ...
def coded(value: Piece[Any], codec: SupportsCodec[Any]) -> Formatted[Any]:
    """Write the value by a codec of your own: any object with `encode` and `decode`."""
    return Formatted(value, codecs.coded(codec, type(codec).__name__))


@overload
def number(value: Piece[T | None]) -> Formatted[T]: ...
@overload
def number(value: Piece[T]) -> Formatted[T]: ...
def number(value: Piece[Any]) -> Formatted[Any]:
    """Write a number into a key attribute of type N: an int, a Decimal, or an epoch."""
    return Formatted(value, numbers.NUMBER)


def binary(value: Piece[bytes] | Piece[bytes | None]) -> Formatted[bytes]:
    """Write bytes into a key attribute of type B."""
    return Formatted(value, numbers.BINARY)
