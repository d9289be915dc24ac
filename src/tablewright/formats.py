"""Formats: how an attribute is written, in a key or in its item, instead of the form of its type.

    from tablewright.formats import day, iso, lower

    created_at: Attr[datetime] = attr(codec=iso("seconds"))
    primary  = key("CUST" / customer_id, "DAY" / day(created_at) / order_id)
    by_email = unique("EMAIL" / lower(email))

A format takes an attribute in the body of an entity, or another format of one, and is a part of a
key: `descending(epoch_seconds(created_at))`. Without an attribute, it is a codec: how the values of
an attribute are stored, and written in keys.

    moments     day  hour  week  year_month  year  iso *  epoch_seconds *  epoch_millis *
    numbers     padded *  fixed_point *
    texts       lower  upper  casefold  truncated  fixed_width *
    any value   descending  shard  coded (with a codec of your own)  text *  enum_name *
    the end     optional: the last part of a key, which is left out if it has no value
    types       number *  binary *: a key or an attribute of type N or B
    codecs      json_text *  compressed *  encrypted *: of attributes only      * also a codec

The texts are made in `tablewright.mapping.formats`; this module declares their types for checkers.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar, overload
from uuid import UUID

from tablewright.errors import DeclarationError
from tablewright.mapping.formats import codecs, moments, numbers, transforms
from tablewright.mapping.formats.codecs import Codec, SupportsCodec
from tablewright.mapping.formats.encryption import EnvironmentKeys, KeyProvider, KeyRing
from tablewright.mapping.formats.moments import Precision, Zone
from tablewright.mapping.notation import Format
from tablewright.model.attribute import Formatted, KeyPath, OptionalPiece, Piece

__all__ = [
    "Codec",
    "EnvironmentKeys",
    "Format",
    "KeyProvider",
    "KeyRing",
    "binary",
    "casefold",
    "coded",
    "compressed",
    "day",
    "descending",
    "encrypted",
    "enum_name",
    "epoch_millis",
    "epoch_seconds",
    "fixed_point",
    "fixed_width",
    "hour",
    "iso",
    "json_text",
    "lower",
    "number",
    "optional",
    "padded",
    "shard",
    "text",
    "truncated",
    "upper",
    "week",
    "year",
    "year_month",
]

T = TypeVar("T")
Text = TypeVar("Text", bound=str)
Number = TypeVar("Number", int, Decimal)
Binary = TypeVar("Binary", bytes, UUID)

#: Attributes with a date.
Day: TypeAlias = Piece[datetime] | Piece[date] | Piece[datetime | None] | Piece[date | None]
Moment: TypeAlias = Piece[datetime] | Piece[datetime | None]
Whole: TypeAlias = Piece[int] | Piece[int | None]
AnyText: TypeAlias = Piece[Text] | Piece[Text | None]


def _formatted(given: Any, how: Format[Any]) -> Any:
    """Return a format of an attribute or of a codec; a codec if nothing is given."""
    if given is None:
        return how
    return how.after(given) if isinstance(given, Format) else Formatted(given, how)


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


@overload
def iso(moment: Moment, precision: Precision, *, zone: Zone = "Z") -> Formatted[datetime]: ...
@overload
def iso(moment: Precision, *, zone: Zone = "Z") -> Format[datetime]: ...
def iso(moment: Any, precision: Any = None, *, zone: Zone = "Z") -> Any:
    """Write ISO text, cut to a precision: `2026-01-15T10:15:30Z`.

    `zone` is how UTC is written ("Z", "+00:00", or "" for nothing), or the `timezone` of the text.
    """
    if isinstance(moment, str):
        moment, precision = None, moment
    return _formatted(moment, moments.iso(precision, zone))


@overload
def epoch_seconds(moment: Moment) -> Formatted[datetime]: ...
@overload
def epoch_seconds() -> Format[datetime]: ...
def epoch_seconds(moment: Any = None) -> Any:
    """Write the whole seconds since 1970, in a text with ten digits: `1768472130`."""
    return _formatted(moment, moments.SECONDS)


@overload
def epoch_millis(moment: Moment) -> Formatted[datetime]: ...
@overload
def epoch_millis() -> Format[datetime]: ...
def epoch_millis(moment: Any = None) -> Any:
    """Write the whole milliseconds since 1970, in a text with thirteen digits: `1768472130000`."""
    return _formatted(moment, moments.MILLIS)


@overload
def padded(number: Whole, digits: int) -> Formatted[int]: ...
@overload
def padded(number: int) -> Format[int]: ...
def padded(number: Any, digits: Any = None) -> Any:
    """Write a whole number from 0 with zeros in front: `000007`."""
    if isinstance(number, int):
        number, digits = None, number
    return _formatted(number, numbers.padded(digits))


@overload
def fixed_point(number: Piece[Number], digits: int, places: int) -> Formatted[Number]: ...
@overload
def fixed_point(number: Piece[Number | None], digits: int, places: int) -> Formatted[Number]: ...
@overload
def fixed_point(number: int, digits: int) -> Format[Decimal]: ...
def fixed_point(number: Any, digits: int, places: Any = None) -> Any:
    """Write a number from 0 with `digits` before the point and `places` after it: `0012.50`."""
    if isinstance(number, int):
        number, digits, places = None, number, digits
    return _formatted(number, numbers.fixed_point(digits, places))


@overload
def fixed_width(text: AnyText[Text], width: int) -> Formatted[str]: ...
@overload
def fixed_width(text: int) -> Format[str]: ...
def fixed_width(text: Any, width: Any = None) -> Any:
    """Write a text that always has this many characters: `2026-01-15`. Ranges can be queried."""
    if isinstance(text, int):
        text, width = None, text
    return _formatted(text, codecs.fixed_width(width))


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


@overload
def optional(part: Formatted[T]) -> OptionalPiece[T]: ...
@overload
def optional(part: Piece[T | None]) -> OptionalPiece[T]: ...
@overload
def optional(part: KeyPath[T]) -> OptionalPiece[T]: ...
def optional(part: Any) -> OptionalPiece[Any]:
    """Leave the last part of a key out, with the text before it, if its attribute is None.

    `"ORDER" / order_id / optional("ITEM" / item_id)` is `ORDER#1` or `ORDER#1#ITEM#2`. A call takes
    a value or None.
    """
    return OptionalPiece(part)


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
def number(value: Format[T]) -> Format[T]: ...
@overload
def number(value: Piece[T | None]) -> Formatted[T]: ...
@overload
def number(value: Piece[T]) -> Formatted[T]: ...
@overload
def number() -> Format[Any]: ...
def number(value: Any = None) -> Any:
    """Write a number into an attribute of type N: an int, a Decimal, an epoch, a bool as 0 or 1."""
    return _formatted(value, numbers.NUMBER)


@overload
def binary(value: Piece[Binary]) -> Formatted[Binary]: ...
@overload
def binary(value: Piece[Binary | None]) -> Formatted[Binary]: ...
@overload
def binary() -> Format[UUID]: ...
def binary(value: Any = None) -> Any:
    """Write bytes, or the 16 bytes of a UUID, into an attribute of type B."""
    return _formatted(value, numbers.BINARY)


@overload
def text(value: Format[T]) -> Format[T]: ...
@overload
def text(value: Piece[T | None], *, places: int | None = None) -> Formatted[T]: ...
@overload
def text(value: Piece[T], *, places: int | None = None) -> Formatted[T]: ...
@overload
def text(*, places: int | None = None) -> Format[Any]: ...
def text(value: Any = None, *, places: int | None = None) -> Any:
    """Write a value that is a number otherwise as text: `12.5`, `true`, `1768472130`.

    `places` is the number of digits after the point of a Decimal or a float: `12.50`.
    """
    return _formatted(value, codecs.text(places))


@overload
def enum_name(member: Piece[T | None]) -> Formatted[T]: ...
@overload
def enum_name(member: Piece[T]) -> Formatted[T]: ...
@overload
def enum_name() -> Format[Any]: ...
def enum_name(member: Any = None) -> Any:
    """Write the name of a member of an Enum, instead of its value."""
    return _formatted(member, codecs.ENUM_NAME)


def json_text() -> Format[Any]:
    """Store a value of any type as its JSON, in one text. No key can contain it."""
    return transforms.JSON_TEXT


def compressed() -> Format[Any]:
    """Store a text, bytes or the JSON of any other value as gzip. No key can contain it."""
    return transforms.COMPRESSED


def encrypted(keys: KeyProvider) -> Format[Any]:
    """Store a text, bytes or the JSON of any other value encrypted (AES-256-GCM).

    `keys` has the secrets: `KeyRing({"2026": secret})`, `EnvironmentKeys("SHOP_KEYS")`, or an
    object of your own. No key can contain the value, and no condition can compare it.
    """
    return transforms.encrypted(keys)
