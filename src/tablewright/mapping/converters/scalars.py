"""Values without parts: texts, numbers, bools, binaries, moments, dates, times and durations.

The most common types have a quick path: the exact type, with nothing to check.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pydantic
from msgspec import to_builtins

from tablewright.encoding.numbers import format_number
from tablewright.errors import InvalidValue, ValidationException
from tablewright.mapping.converters.conversion import (
    FAILURES,
    Converter,
    mistyped,
    not_storable,
    refused,
    shown,
    stored_as,
    through,
    unreadable,
)
from tablewright.values import EXACT, Value

#: Ints between these need no further check: they have at most 38 digits.
_LARGEST = 10**38 - 1
_SMALLEST = -_LARGEST
#: The end of the message for a moment without a time zone.
NAIVE = "has no time zone; give it one, e.g. datetime.now(UTC)"


def text(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if type(value) is str and value.isascii():
            return {"S": value}
        if not isinstance(value, str):
            raise refused(where, value, str)
        try:
            value.encode()
        except UnicodeEncodeError:
            why = "it has half of a surrogate pair, which UTF-8 cannot hold"
            raise not_storable(where, value, why) from None
        return {"S": str.__str__(value)}

    def decode(value: Value) -> Any:
        try:
            return value["S"]
        except KeyError:
            raise mistyped(where, value, "S", str) from None

    return Converter(where, str, "S", encode, decode)


def integer(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if type(value) is int and _SMALLEST <= value <= _LARGEST:
            return {"N": str(value)}
        if _is_int(value):
            return _number(Decimal(value), where, value)
        raise refused(where, value, int)

    def decode(value: Value) -> int:
        try:
            return int(value["N"])
        except KeyError:
            raise mistyped(where, value, "N", int) from None
        except ValueError:  # "1.5"; "1E+3", which other programs may write; "x" as a key of a dict
            with suppress(*FAILURES):
                number = plain_number(value["N"])
                if isinstance(number, int):
                    return number
            raise unreadable(where, value["N"], int) from None

    return Converter(where, int, "N", encode, decode)


def decimal(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if isinstance(value, Decimal) or _is_int(value):
            return _number(Decimal(value), where, value)
        raise refused(where, value, Decimal)

    return stored_as("N", where, Decimal, encode, Decimal)


def _float(where: str) -> Converter:
    """Return the converter of floats: stored as printed; read if that or the exact value."""

    def encode(value: Any) -> Value:
        if isinstance(value, float):
            return _number(Decimal(float.__repr__(value)), where, value)
        if not _is_int(value):
            raise refused(where, value, float)
        if not _is_float(value):
            raise refused(where, value, float, "it would be rounded: use int or Decimal")
        return _number(Decimal(value), where, value)

    def read(content: str) -> float:
        number, exact = float(content), Decimal(content)
        if exact not in (Decimal(repr(number)), Decimal(number)):
            raise ValueError("it would be rounded")
        return number

    return stored_as("N", where, float, encode, read)


def _is_int(value: Any) -> bool:
    """Return whether a value is an int; a bool is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_float(value: int) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def _number(number: Decimal, where: str, value: Any) -> Value:
    if not number.is_finite():
        raise not_storable(where, value, "it is not finite")
    try:
        return {"N": format_number(number)}
    except ValidationException as fault:
        raise not_storable(where, value, fault.message) from None


def plain_number(content: str) -> int | Decimal:
    """Return a stored number: an int if it is whole, else a Decimal."""
    number = Decimal(content)
    whole = int(number)
    return whole if whole == number else number


def _bool(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if value is True or value is False:
            return {"BOOL": value}
        raise refused(where, value, bool)

    def decode(value: Value) -> Any:
        try:
            return value["BOOL"]
        except KeyError:
            raise mistyped(where, value, "BOOL", bool) from None

    return Converter(where, bool, "BOOL", encode, decode)


def _bytes(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if isinstance(value, bytes | bytearray | memoryview):
            return {"B": binascii.b2a_base64(bytes(value), newline=False).decode()}
        raise refused(where, value, bytes)

    return stored_as("B", where, bytes, encode, binascii.a2b_base64)


def _uuid(where: str) -> Converter:
    return through(text(where), UUID, str, UUID)


def utc_text(moment: datetime) -> str:
    """Return the text of a moment in UTC: 27 characters, so that texts sort as the moments do.

    >>> utc_text(datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC))
    '2026-01-15T10:15:30.000000Z'
    """
    if type(moment) is not datetime:  # a subclass, which msgspec does not take
        moment = datetime.combine(moment, moment.timetz())
    # A fifth of the time that isoformat takes; but msgspec leaves out a fraction of zero.
    written: str = to_builtins(moment)
    return written if len(written) == 27 else written[:-1] + ".000000Z"


def in_utc(moment: datetime, where: str) -> datetime:
    """Return the same moment in UTC; raise InvalidValue if it has no time zone."""
    if moment.utcoffset() is None:
        raise InvalidValue(f"{where}: {shown(moment)} {NAIVE}")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidValue(f"{where}: {shown(moment)} is out of range in UTC") from None


def _datetime(where: str) -> Converter:
    def encode(value: Any) -> Value:
        if type(value) is not datetime or value.tzinfo is not UTC:
            if not isinstance(value, datetime):
                raise refused(where, value, datetime)
            value = in_utc(value, where)
        return {"S": utc_text(value)}

    def decode(value: Value) -> datetime:
        try:
            moment = datetime.fromisoformat(value["S"])
            if moment.tzinfo is UTC:
                return moment
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except KeyError:
            raise mistyped(where, value, "S", datetime) from None
        except (ValueError, OverflowError) as failure:
            raise unreadable(where, value["S"], datetime, failure) from None
        raise unreadable(where, value["S"], datetime, "it has no time zone")

    return Converter(where, datetime, "S", encode, decode)


def _date(where: str) -> Converter:
    def iso(value: date) -> str:
        if isinstance(value, datetime):
            raise refused(where, value, date, "use its .date()")
        return value.isoformat()

    return through(text(where), date, iso, date.fromisoformat)


def _time(where: str) -> Converter:
    def iso(value: time) -> str:
        if value.tzinfo is not None and value.utcoffset() is None:
            raise refused(where, value, time, "its offset is known only together with a date")
        return value.isoformat()

    return through(text(where), time, iso, time.fromisoformat)


def _timedelta(where: str) -> Converter:
    """Return the converter of durations, stored as exact seconds."""

    def seconds(value: timedelta) -> Decimal:
        return Decimal(value // timedelta(microseconds=1)).scaleb(-6, EXACT)

    def back(number: Decimal) -> timedelta:
        microseconds = number.scaleb(6, EXACT)
        if microseconds != int(microseconds):
            raise ValueError("it would be rounded")
        return timedelta(microseconds=int(microseconds))

    return through(decimal(where), timedelta, seconds, back)


SCALARS: dict[Any, Callable[[str], Converter]] = {
    str: text,
    int: integer,
    Decimal: decimal,
    float: _float,
    bool: _bool,
    bytes: _bytes,
    UUID: _uuid,
    datetime: _datetime,
    pydantic.AwareDatetime: _datetime,
    pydantic.PastDatetime: _datetime,
    pydantic.FutureDatetime: _datetime,
    date: _date,
    pydantic.PastDate: _date,
    pydantic.FutureDate: _date,
    time: _time,
    timedelta: _timedelta,
}
