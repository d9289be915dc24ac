"""Formats: other notations of a value inside a key, made from the notation of its type.

A format takes a notation and returns a notation, so formats nest: `descending(epoch_seconds(at))`.

    format                     text                          a call gives
    day(at)                       2026-01-15                    a date
    hour(at)                      2026-01-15T10                 a datetime, any moment of the hour
    week(at)                      2026-W03                      a date, any day of the week
    year_month(at)                2026-01                       a date, any day of the month
    year(at)                      2026                          an int
    iso(at, "seconds")            2026-01-15T10:15:30Z          a datetime, by the second
    epoch_seconds(at)             1768472130                    a datetime, by the second
    epoch_millis(at)              1768472130000                 a datetime, by the millisecond
    padded(number, 6)             000007                        an int
    fixed_point(price, 4, 2)      0012.50                       a Decimal
    lower(email), upper, casefold ann@example.com               a str
    truncated(name, 3)            Ann                           a str
    shard(id, of=8)               3                             the number of the shard
    coded(host, Reversed())       com.example                   what the codec takes
    descending(padded(score, 3))  992 for 7                     what it gives without descending
    number(stars)                 the number 7, of type N       the number
    binary(digest)                the bytes, of type B          the bytes

`descending` replaces each digit by its complement to 9, so larger values have smaller texts. It is
for notations of a fixed width that consist of digits and literals.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.codec import FAILURES, SupportsCodec, check_codec_members
from tablewright.mapping.language import (
    ANYTHING,
    DIGITS,
    NOTHING,
    Chars,
    Language,
    Repeat,
    Sequence,
    characters,
    digits,
    literal,
    may_contain,
    parse_form,
    sequence,
    width_of,
)
from tablewright.mapping.notation import (
    UPPERCASE,
    Notation,
    check_date,
    checked,
    dynamodb_number,
    in_utc,
    name_of,
    no_notation,
    padded_number,
    read_moment,
)
from tablewright.symbol import Symbol

Precision: TypeAlias = Literal["seconds", "milliseconds", "microseconds"]
#: How UTC is written behind a moment; "" writes nothing.
UTCZone: TypeAlias = Literal["Z", "+00:00", ""]
Zone: TypeAlias = UTCZone | timezone


class Format(Struct, frozen=True):
    """Makes another notation of a value."""

    #: How it is shown, with {} for what it is made from.
    label: str
    #: Raises DeclarationError, with a message that begins after the label.
    apply: Callable[[Notation], Notation]


def _needs(notation: Notation, *kinds: type) -> None:
    _refuse_descending(notation)
    if not (isinstance(notation.kind, type) and issubclass(notation.kind, kinds)):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise DeclarationError(
            f"takes a value of type {wanted}, not of type {name_of(notation.kind)}"
        )


def _refuse_descending(notation: Notation) -> None:
    if notation.is_descending:
        raise DeclarationError("takes the value itself; write descending(…) around it")


def _then(first: Callable[[Any], Any] | None, second: Callable[[Any], Any]) -> Any:
    """Return `second` after `first`; of a value that is missing, nothing is made."""
    if first is None:
        return second

    def derive(value: Any) -> Any:
        found = first(value)
        return None if found is None else second(found)

    return derive


# -- moments -------------------------------------------------------------------------------------


def _date_of(value: Any) -> Any:
    return in_utc(value).date() if isinstance(value, datetime) else value


def _cut_dates(
    label: str, form: str, text: Callable[[date], str], read: Callable[[str], date]
) -> Format:
    """Return the format of a moment to a part of its date, for which a call gives a date."""

    def encode(value: Any) -> str:
        if type(value) is not date:
            check_date(value)
        return text(value)

    def apply(inner: Notation) -> Notation:
        _needs(inner, datetime, date)
        return Notation(
            date,
            encode,
            read,
            parse_form(form),
            _then(inner.derive, _date_of),
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
    _needs(inner, datetime, date)
    return Notation(
        int,
        padded_number(4).encode,
        int,
        digits(4),
        _then(inner.derive, lambda value: _date_of(value).year),
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
) -> Format:
    """Return the format of a moment to another text, for which a call gives a datetime."""

    def apply(inner: Notation) -> Notation:
        _needs(inner, datetime)
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
        )

    return Format(label, apply)


HOUR = _moments(
    "hour({})",
    "0000-00-00T00",
    lambda value: value.isoformat()[:13],
    lambda text: read_moment(f"{text}:00"),
    (13, ""),
)

_FRACTIONS = {"seconds": "", "milliseconds": ".000", "microseconds": ".000000"}


def iso(precision: Precision, zone: Zone) -> Format:
    """Return the format of a moment to ISO text in a zone with a fixed offset."""
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

    made = _moments(
        f"iso({{}}, {precision!r}" + (f", zone={suffix!r})" if zone != "Z" else ")"),
        f"0000-00-00T00:00:00{_FRACTIONS[precision]}{suffix}",
        text,
        lambda written: read_moment(written, offset),
        (length, suffix) if offset is UTC else None,
    )
    if precision != "microseconds":
        return made
    return Format(made.label, lambda inner: replace(made.apply(inner), is_exact=True))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _epoch(label: str, width: int, unit: timedelta) -> Format:
    def text(value: datetime) -> str:
        count = (value - _EPOCH) // unit
        if not 0 <= count < 10**width:
            raise InvalidValue(f"is {value}; pass a time from 1970 to 2286")
        return f"{count:0{width}d}"

    return _moments(label, "0" * width, text, lambda written: _EPOCH + int(written) * unit)


SECONDS = _epoch("epoch_seconds({})", 10, timedelta(seconds=1))
MILLIS = _epoch("epoch_millis({})", 13, timedelta(milliseconds=1))


# -- numbers -------------------------------------------------------------------------------------


def padded(width: int) -> Format:
    """Return the format of a whole number to a fixed number of digits."""
    if width < 1:
        raise DeclarationError(f"padded(…, {width}): the number of digits is at least 1")

    def apply(inner: Notation) -> Notation:
        _needs(inner, int)
        return replace(
            padded_number(width),
            derive=inner.derive,
            is_exact=inner.is_exact,
            is_optional=inner.is_optional,
        )

    return Format(f"padded({{}}, {width})", apply)


def fixed_point(width: int, places: int) -> Format:
    """Return the format of a Decimal to `width` digits, a point, and `places` digits."""
    if width < 1 or places < 1:
        raise DeclarationError(
            f"fixed_point(…, {width}, {places}): at least one digit before and behind the point"
        )
    bound = Decimal(10) ** width
    unit = Decimal(1).scaleb(-places)
    precise = Context(prec=width + places + 1)

    def encode(value: Decimal | int) -> str:
        number = Decimal(value)
        if not number.is_finite() or not 0 <= number < bound:
            raise InvalidValue(
                f"is {value}, and {width} digits before the point hold numbers from 0 to below "
                f"{bound}"
            )
        if precise.remainder(number, unit):
            raise InvalidValue(f"is {value}, which has more than {places} digits after the point")
        return f"{abs(number):0{width + places + 1}.{places}f}"

    def apply(inner: Notation) -> Notation:
        _needs(inner, Decimal, int)
        form = parse_form("0" * width + "." + "0" * places)
        read = Decimal if issubclass(inner.kind, Decimal) else (lambda text: int(Decimal(text)))
        return replace(
            inner,
            encode=checked(inner.kind, encode),
            decode=read,
            language=form,
            is_ordered=True,
            is_free_text=False,
        )

    return Format(f"fixed_point({{}}, {width}, {places})", apply)


_COMPLEMENTS = str.maketrans(DIGITS, DIGITS[::-1])


def _complement(text: str) -> str:
    return text.translate(_COMPLEMENTS)


def _is_fixed_digits(language: Language) -> bool:
    """Whether each character of the texts is any digit, or always the same."""
    match language:
        case Chars(members, negated):
            is_digit = members == frozenset(DIGITS)
            return not negated and (is_digit or (len(members) == 1 and not members & set(DIGITS)))
        case Sequence(items):
            return all(map(_is_fixed_digits, items))
        case Repeat(item, least, most):
            return least == most and _is_fixed_digits(item)
    return False


def _descending(inner: Notation) -> Notation:
    if not inner.is_ordered or not _is_fixed_digits(inner.language):
        raise DeclarationError(
            "needs a fixed number of digits; write attr(pad=…) or padded(…) for a number, and "
            "epoch_seconds(…), iso(…) or day(…) for a moment"
        )
    return replace(
        inner,
        encode=lambda value: _complement(inner.encode(value)),
        decode=lambda text: inner.decode(_complement(text)),
        is_descending=not inner.is_descending,
        beginning=None,
    )


DESCENDING = Format("descending({})", _descending)


def _number(inner: Notation) -> Notation:
    width = width_of(inner.language)
    is_plain = width is None or inner.derive is None
    if inner.kind in (int, Decimal) and is_plain and not inner.is_descending:
        plain = dynamodb_number(inner.kind)
        return replace(plain, derive=inner.derive, is_optional=inner.is_optional)
    if width is None or may_contain(inner.language, "-:.TZW+"):
        fix = "; write number(epoch_seconds(…))" if inner.kind is datetime else ""
        raise DeclarationError(f"takes a number, not a value of type {name_of(inner.kind)}{fix}")
    return replace(
        inner,
        encode=lambda value: str(int(inner.encode(value))),
        decode=lambda text: inner.decode(text.zfill(width)),
        language=sequence(Repeat(literal("-"), 0, 1), Repeat(Chars(frozenset(DIGITS)), 1, None)),
        tag="N",
        beginning=None,
    )


NUMBER = Format("number({})", _number)


def _binary(inner: Notation) -> Notation:
    _needs(inner, bytes)

    def decode(text: str) -> bytes:
        return binascii.a2b_base64(text, strict_mode=True)

    def encode(value: bytes) -> str:
        if not value:
            raise InvalidValue("is empty; a part of a key must not be")
        return binascii.b2a_base64(value, newline=False).decode()

    return replace(inner, encode=checked(bytes, encode), decode=decode, language=ANYTHING, tag="B")


BINARY = Format("binary({})", _binary)


# -- texts ---------------------------------------------------------------------------------------


def _cased(label: str, change: Callable[[str], str], without: str = "") -> Format:
    """Return the format of a text to another one, which has none of some characters."""

    def apply(inner: Notation) -> Notation:
        _needs(inner, str)
        if not inner.is_free_text:
            raise DeclarationError(
                f"takes any text, and the texts of {name_of(inner.kind)} are fixed; write "
                "coded(…) with a codec"
            )

        def encode(value: Any) -> str:
            return inner.encode(change(value) if isinstance(value, str) else value)

        language = _without(inner.language, without)
        return replace(inner, encode=encode, decode=str, language=language, is_exact=False)

    return Format(label, apply)


def _without(language: Language, characters: str) -> Language:
    """Return a language of any texts, without some characters."""
    assert isinstance(language, Repeat)
    assert isinstance(language.item, Chars)
    members = language.item.members.union(characters)
    return Repeat(Chars(members, negated=True), language.least, language.most)


LOWER = _cased("lower({})", str.lower, UPPERCASE)
UPPER = _cased("upper({})", str.upper, UPPERCASE.lower())
CASEFOLD = _cased("casefold({})", str.casefold, UPPERCASE)


def truncated(length: int) -> Format:
    """Return the format of a text to its first characters."""
    if length < 1:
        raise DeclarationError(f"truncated(…, {length}): keep at least one character")
    made = _cased(f"truncated({{}}, {length})", lambda text: text[:length])

    def apply(inner: Notation) -> Notation:
        notation = made.apply(inner)
        assert isinstance(notation.language, Repeat)
        return replace(notation, language=Repeat(notation.language.item, 1, length))

    return Format(made.label, apply)


# -- shards, and what users write themselves -----------------------------------------------------


def shard(count: int) -> Format:
    """Return the format of any value to a number from 0 to `count - 1`."""
    width = len(str(count - 1))
    plain = padded_number(width)

    def encode(value: int) -> str:
        if not 0 <= value < count:
            raise InvalidValue(
                f"is {value}, which is not the number of a shard; give 0 to {count - 1}"
            )
        return plain.encode(value)

    def apply(inner: Notation) -> Notation:
        if inner.language == NOTHING:
            raise no_notation(inner.kind)

        def number(value: Any) -> int:
            return zlib.crc32(inner.encode(value).encode()) % count

        return Notation(
            int,
            checked(int, encode),
            int,
            digits(width) if count > len(DIGITS) else characters(DIGITS[:count], 1, 1),
            _then(inner.derive, number),
            is_exact=False,
            is_optional=inner.is_optional,
            shards=count,
        )

    return Format(f"shard({{}}, of={count})", apply)


def coded(codec: SupportsCodec[Any], label: str) -> Format:
    """Return the format by a codec of the user's."""
    check_codec_members(codec)
    alphabet, width = getattr(codec, "alphabet", None), getattr(codec, "width", None)
    is_ordered = bool(getattr(codec, "ordered", False))
    member = Chars(frozenset(), negated=True) if alphabet is None else Chars(frozenset(alphabet))
    language = Repeat(member, 1 if width is None else width, width)

    def encode(value: Any) -> str:
        if isinstance(value, Symbol):
            raise InvalidValue("is not known yet")  # its name is shown instead
        try:
            text = codec.encode(value)
        except FAILURES as error:
            raise InvalidValue(f"is {value!r}, which {label} does not encode: {error}") from None
        if type(text) is not str or not text:
            raise InvalidValue(f"is {value!r}, for which {label} gives {text!r}; give a text")
        if width is not None and len(text) != width:
            raise InvalidValue(
                f"is {value!r}, for which {label} gives {text!r}; its width is declared as {width}"
            )
        if alphabet is not None and not set(text) <= set(alphabet):
            raise InvalidValue(
                f"is {value!r}, for which {label} gives {text!r}; its alphabet is {alphabet!r}"
            )
        return text

    def decode(text: str) -> Any:
        try:
            return codec.decode(text)
        except FAILURES as error:
            raise ValueError(f"{label} does not decode {text!r}: {error}") from None

    def apply(inner: Notation) -> Notation:
        _refuse_descending(inner)
        if inner.kind in (str, datetime) and not inner.is_exact:
            raise DeclarationError("takes the value itself, not another format of it")
        return replace(
            inner,
            encode=encode,
            decode=decode,
            language=language,
            is_ordered=is_ordered,
            is_free_text=alphabet is None,
            codec=codec,
            has_one_text=False,
            beginning=None,
        )

    return Format(f"{label}({{}})", apply)
