"""Formats of moments and dates: cut to a day or an hour, as ISO text, as seconds since 1970."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal, TypeAlias, get_args

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.language import (
    DIGITS,
    Repeat,
    characters,
    digits,
    literal,
    parse_form,
    sequence,
)
from tablewright.mapping.notation import (
    Format,
    Notation,
    check_date,
    checked,
    derive_after,
    in_utc,
    padded_number,
    read_moment,
    require_kind,
)

Precision: TypeAlias = Literal["seconds", "milliseconds", "microseconds"]
#: How UTC is written after a moment; "" writes nothing.
UTCZone: TypeAlias = Literal["Z", "+00:00", ""]
Zone: TypeAlias = UTCZone | timezone


def _date_of(value: Any) -> Any:
    return in_utc(value).date() if isinstance(value, datetime) else value


def _cut_dates(
    label: str, form: str, text: Callable[[date], str], read: Callable[[str], date]
) -> Format:
    """Return a format that writes a part of the date; calls take a date."""

    def encode(value: Any) -> str:
        if type(value) is not date:
            check_date(value)
        return text(value)

    def apply(inner: Notation) -> Notation:
        require_kind(inner, datetime, date)
        return Notation(
            date,
            encode,
            read,
            parse_form(form),
            derive_after(inner.derive, _date_of),
            is_exact=inner.is_exact and inner.kind is date and form == "0000-00-00",
            is_optional=inner.is_optional,
            beginning=None if "W" in form or inner.beginning is None else (len(form), ""),
        )

    return Format(label, apply)


def _week_text(value: date) -> str:
    year, week, _ = value.isocalendar()
    return f"{year:04d}-W{week:02d}"


def _read_week(text: str) -> date:
    year, _, week = text.partition("-W")
    return date.fromisocalendar(int(year), int(week), 1)


DAY = _cut_dates("day({})", "0000-00-00", date.isoformat, date.fromisoformat)
WEEK = _cut_dates("week({})", "0000-W00", _week_text, _read_week)
MONTH = _cut_dates(
    "year_month({})",
    "0000-00",
    lambda value: value.isoformat()[:7],
    lambda text: date.fromisoformat(f"{text}-01"),
)


def _year(inner: Notation) -> Notation:
    require_kind(inner, datetime, date)
    return Notation(
        int,
        padded_number(4).encode,
        int,
        digits(4),
        derive_after(inner.derive, lambda value: _date_of(value).year),
        is_exact=False,
        is_optional=inner.is_optional,
        beginning=None if inner.beginning is None else (4, ""),
    )


YEAR = Format("year({})", _year)


def _moments(
    label: str,
    form: str,
    text: Callable[[datetime], str],
    read: Callable[[str], datetime],
    beginning: tuple[int, str] | None = None,
    bound: Callable[[datetime], str] | None = None,
    of_attribute: Format[datetime] | None = None,
) -> Format[datetime]:
    """Return a format that writes a moment in another way; calls take a datetime."""

    def apply(inner: Notation) -> Notation:
        require_kind(inner, datetime)
        if not inner.is_exact:
            raise DeclarationError("takes the moment itself, not another format of it")
        encode = checked(datetime, lambda value: text(in_utc(value)))
        return replace(
            inner,
            encode=encode,
            decode=read,
            language=parse_form(form),
            is_exact=False,
            beginning=beginning,
            bound=bound and checked(datetime, lambda value: bound(in_utc(value))),
        )

    return Format(label, apply, of_attribute=of_attribute)


HOUR = _moments(
    "hour({})",
    "0000-00-00T00",
    lambda value: value.isoformat()[:13],
    lambda text: read_moment(f"{text}:00"),
    (13, ""),
)

_FRACTIONS = {"seconds": "", "milliseconds": ".000", "microseconds": ".000000"}


def iso(precision: Precision, zone: Zone) -> Format[datetime]:
    """Return the format that writes ISO text in a zone with a fixed offset."""
    if precision not in _FRACTIONS or not (zone in get_args(UTCZone) or type(zone) is timezone):
        raise DeclarationError(
            f"iso(…, {precision!r}, zone={zone!r}): the precision is seconds, milliseconds or "
            "microseconds, and the zone 'Z', '+00:00', '' or a timezone(…)"
        )
    offset = UTC if isinstance(zone, str) else zone
    suffix = zone if isinstance(zone, str) else datetime.min.replace(tzinfo=zone).isoformat()[19:]
    length = len("0000-00-00T00:00:00" + _FRACTIONS[precision])

    def text(value: datetime) -> str:
        try:
            local = value.astimezone(offset)
        except OverflowError:
            raise InvalidValue(f"is {value!r}, which is out of range in {offset}") from None
        return local.isoformat(timespec=precision)[:length] + suffix

    def bound(value: datetime) -> str:
        written = text(value)
        rest = value - read_moment(written, offset)
        # A longer text sorts after the moment that was cut, and before the next one.
        return f"{written}{rest.microseconds:06d}" if rest else written

    made = _moments(
        f"iso({{}}, {precision!r}" + (f", zone={suffix!r})" if zone != "Z" else ")"),
        f"0000-00-00T00:00:00{_FRACTIONS[precision]}{suffix}",
        text,
        lambda written: read_moment(written, offset),
        (length, suffix) if offset is UTC else None,
        bound,
    )
    if precision != "microseconds":
        return made
    return Format(made.label, lambda inner: replace(made.apply(inner), is_exact=True))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _epoch(label: str, width: int, unit: timedelta) -> Format[datetime]:
    def text(value: datetime) -> str:
        count = (value - _EPOCH) // unit
        if not 0 <= count < 10**width:
            raise InvalidValue(f"is {value}; pass a time from 1970 to 2286")
        return f"{count:0{width}d}"

    def read(written: str) -> datetime:
        try:
            return _EPOCH + int(written) * unit
        except OverflowError:
            raise ValueError(f"{written!r} is out of range") from None

    def count(value: datetime) -> str:
        return str((value - _EPOCH) // unit)

    def exact(value: datetime) -> str:
        return f"{Decimal((value - _EPOCH) // _MICROSECOND) / (unit // _MICROSECOND):f}"

    number = _moments(f"number({label})", "0" * width, count, read, bound=exact)
    return _moments(label, "0" * width, text, read, of_attribute=_as_number(number))


def _as_number(made: Format[datetime]) -> Format[datetime]:
    """Return a format for attributes of type N, before 1970, too."""
    language = sequence(Repeat(literal("-"), 0, 1), characters(DIGITS, 1))
    return Format(made.label, lambda inner: replace(made.apply(inner), language=language, tag="N"))


SECONDS = _epoch("epoch_seconds({})", 10, timedelta(seconds=1))
MILLIS = _epoch("epoch_millis({})", 13, timedelta(milliseconds=1))
