"""Moments, dates, times of the day and durations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pydantic
from msgspec import to_builtins

from tablewright.errors import InvalidValue
from tablewright.mapping.converters.conversion import Converter, through
from tablewright.mapping.converters.messages import mistyped, refused, shown, unreadable
from tablewright.mapping.converters.scalars import decimal, text
from tablewright.values import EXACT, Value


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


NAIVE = "has no time zone; give it one, e.g. datetime.now(UTC)"


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
    """Exact seconds; timedelta counts whole microseconds."""

    def seconds(value: timedelta) -> Decimal:
        return Decimal(value // timedelta(microseconds=1)).scaleb(-6, EXACT)

    def back(number: Decimal) -> timedelta:
        microseconds = number.scaleb(6, EXACT)
        if microseconds != int(microseconds):
            raise ValueError("it would be rounded")
        return timedelta(microseconds=int(microseconds))

    return through(decimal(where), timedelta, seconds, back)


TIMES: dict[Any, Callable[[str], Converter]] = {
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
