"""Notations: how the values of a type are written as text inside a key.

    type                 text                            in order   example
    str                  itself                          yes        ann@example.com
    int with pad=3       padded with zeros               yes        007
    int                  as it is                        no         7
    datetime             UTC with microseconds           yes        2026-01-15T10:15:30.000000Z
    date, UUID, ids      their own fixed form            yes        2026-01-15
    Enum, Literal        the value                       yes        PAID
    KSUID | str          itself                          yes        001
    bool                 false, true                     yes        true

Invariants: `decode(encode(value))` is the value, unless the notation keeps less than the value
(`is_exact` is false). No value has two texts. `encode` raises InvalidValue, `decode` raises
ValueError; messages continue after the name of the part: "is 7 of type int; …".

A `Format` makes another notation of one: `tablewright.mapping.formats` lists them.

This module knows nothing of delimiters: a notation writes the plain text, a part escapes it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from enum import Enum
from types import UnionType
from typing import Any, Generic, Literal, Union, get_args, get_origin
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypeVar

from tablewright.encoding.numbers import format_number
from tablewright.errors import DeclarationError, InvalidValue, ValidationException
from tablewright.ids import KSUID, ULID
from tablewright.mapping.converters.conversion import name_of
from tablewright.mapping.converters.scalars import NAIVE, utc_text
from tablewright.mapping.language import (
    ANY_CHARACTER,
    DIGITS,
    Chars,
    Choice,
    Language,
    Repeat,
    characters,
    digits,
    literal,
    one_of,
    parse_form,
    sequence,
)

T_co = TypeVar("T_co", covariant=True, default=Any)

UPPERCASE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEX = DIGITS + "abcdef"


class Notation(Struct, frozen=True):
    """How the values of a type are written inside a key."""

    #: The type of the argument of a call.
    kind: Any
    #: Returns the text of an argument.
    encode: Callable[[Any], str]
    #: Returns the argument of a text.
    decode: Callable[[str], Any]
    #: The texts that are possible.
    language: Language
    #: Returns the argument for a value of the attribute; None if they are the same.
    derive: Callable[[Any], Any] | None = None
    #: Whether texts sort as values do.
    is_ordered: bool = True
    #: Whether larger values have smaller texts.
    is_descending: bool = False
    #: Whether a text determines the value of the attribute.
    is_exact: bool = True
    #: Whether `derive` may return None: then the part has no value.
    is_optional: bool = False
    #: Whether its type allows None; a missing member of a mapping or a list is not in the type.
    can_be_none: bool = False
    #: Whether any text is possible: then prefixes can be queried, and delimiters are escaped.
    is_free_text: bool = False
    #: The type of the key attribute in DynamoDB; N and B only if the part is the whole key.
    tag: Literal["S", "N", "B"] = "S"
    #: The number of shards, if the part is a shard number; else 0.
    shards: int = 0
    #: The user's codec that writes it.
    codec: object = None
    #: Whether each value has one text only; a number can also be read from `07`.
    has_one_text: bool = False
    #: For a datetime in UTC: the length of the prefix of its default text, and the end added to it.
    beginning: tuple[int, str] | None = None
    #: How a stored value is written, with {} for it: `padded({}, 3)`.
    form: str = "{}"
    #: Returns a text that sorts between those of other values as an argument does; None if `encode`
    #: does. Of an attribute that keeps less than an argument: seconds, of a moment.
    bound: Callable[[Any], str] | None = None


#: Returns the notation of a type; `pad` is the number of digits that the attribute declares.
Maker = Callable[[Any, int | None], Notation]


def notation_of(kind: Any, pad: int | None) -> Notation | None:
    """Return the default notation of a type; None if it has none."""
    for base, make in _KINDS:
        if isinstance(kind, type) and issubclass(kind, base):
            return make(kind, pad)
    if get_origin(kind) is Literal and all(isinstance(value, str) for value in get_args(kind)):
        return choices_notation(str, {value: value for value in get_args(kind)})
    if get_origin(kind) in (Union, UnionType):
        members = get_args(kind)
        if str in members and all(isinstance(m, type) and issubclass(m, str) for m in members):
            return _open_text(members)
    return None


def no_notation(kind: Any) -> DeclarationError:
    return DeclarationError(
        f"is of type {name_of(kind)}, which cannot be a part of a key: its text would not "
        "sort like its values; use str, int, datetime, date, UUID, Enum, KSUID or ULID, a codec, "
        "or an index on the attribute itself"
    )


def checked(kind: type, encode: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return `encode` with a check of the type."""

    def text(value: Any) -> str:
        if type(value) is not kind:
            check_type(value, kind)
        return encode(value)

    return text


def check_type(value: Any, kind: type) -> None:
    """Raise InvalidValue unless a value is an instance of a type; a bool is not an int."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise wrong_type(value, kind)


def wrong_type(value: Any, kind: type) -> InvalidValue:
    return InvalidValue(
        f"is {value!r} of type {type(value).__name__}; pass a value of type {kind.__name__}"
    )


def _text(kind: Any, pad: int | None) -> Notation:
    def encode(value: Any) -> str:
        if type(value) is not str:
            check_type(value, str)
        if not value:
            raise InvalidValue("is empty; a part of a key must not be empty")
        return str.__str__(value)

    language = Repeat(ANY_CHARACTER, 1, None)
    return Notation(str, encode, str, language, is_free_text=True, has_one_text=True)


def _open_text(members: tuple[type[str], ...]) -> Notation:
    """Return the notation of a union of text types: `KSUID | str`."""

    def decode(text: str) -> str:
        for member in members:
            try:
                return member(text)
            except ValueError:  # not a text of this type; `str` takes any
                continue
        return text

    return replace(_text(str, None), decode=decode)


def _id(kind: type, pad: int | None) -> Notation:
    def encode(value: Any) -> str:
        if type(value) is kind:
            return str.__str__(value)
        if isinstance(value, str):
            return str.__str__(kind(value))
        raise wrong_type(value, kind)

    language = (
        characters(DIGITS + UPPERCASE + UPPERCASE.lower(), 27, 27)
        if issubclass(kind, KSUID)
        else characters(DIGITS + UPPERCASE, 26, 26)
    )
    return Notation(kind, encode, kind, language, has_one_text=True)


def _int(kind: Any, pad: int | None) -> Notation:
    return plain_number() if pad is None else padded_number(pad)


def plain_number() -> Notation:
    """Return the notation of a whole number without padding."""
    first = Chars(frozenset(DIGITS[1:]))
    number = sequence(Repeat(literal("-"), 0, 1), first, characters(DIGITS, 0))
    return Notation(int, checked(int, str), int, Choice((literal("0"), number)), is_ordered=False)


def padded_number(width: int) -> Notation:
    """Return the notation of a non-negative integer with leading zeros."""
    bound, form = 10**width, f"%0{width}d"

    def encode(value: Any) -> str:
        if type(value) is not int:
            check_type(value, int)
        if not 0 <= value < bound:
            raise InvalidValue(
                f"is {value}, outside the range 0 to {bound - 1} ({width} digits); more digits "
                "change every stored key"
            )
        text: str = form % value
        return text

    return Notation(int, encode, int, digits(width), form=f"padded({{}}, {width})")


def in_utc(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.utcoffset() is None:
        raise InvalidValue(f"is {value!r}, which {NAIVE}")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidValue(f"is {value!r}, which is out of range in UTC") from None


def read_moment(text: str, zone: tzinfo = UTC) -> datetime:
    """Return the moment of an ISO text, in UTC; a text without an offset is in `zone`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is out of range in UTC") from None


def _datetime(kind: Any, pad: int | None) -> Notation:
    def encode(value: Any) -> str:
        if type(value) is not datetime:
            check_type(value, datetime)
        return utc_text(value if value.tzinfo is UTC else in_utc(value))

    form = "0000-00-00T00:00:00.000000Z"
    return Notation(datetime, encode, read_moment, parse_form(form), beginning=(len(form), ""))


def check_date(value: Any) -> None:
    """Raise InvalidValue for a value that is not a date, or is a datetime."""
    check_type(value, date)
    if isinstance(value, datetime):
        raise InvalidValue(f"takes a date, not {value!r}; use its .date()")


def _date(kind: Any, pad: int | None) -> Notation:
    def encode(value: Any) -> str:
        if type(value) is not date:
            check_date(value)
        return date.isoformat(value)

    return Notation(date, encode, date.fromisoformat, parse_form("0000-00-00"))


def _uuid(kind: Any, pad: int | None) -> Notation:
    groups = [characters(HEX, count, count) for count in (8, 4, 4, 4, 12)]
    dashed = [item for group in groups for item in (literal("-"), group)][1:]
    return Notation(UUID, checked(UUID, str), UUID, sequence(*dashed))


def _bool(kind: Any, pad: int | None) -> Notation:
    return choices_notation(bool, {False: "false", True: "true"})


def _enum(kind: type[Enum], pad: int | None) -> Notation:
    members = list(kind)
    if all(isinstance(member.value, str) for member in members):
        return choices_notation(kind, {member: member.value for member in members})
    if all(isinstance(member.value, int) and member.value >= 0 for member in members):
        width = max(len(str(member.value)) for member in members)
        texts = {member: f"{member.value:0{width}d}" for member in members}
        return replace(
            choices_notation(kind, texts), form=f"padded({{}}, {width})" if width > 1 else "{}"
        )
    raise DeclarationError(
        f"is of type {kind.__name__}, whose values have no order as text; give its members only "
        "str values, or only int values from 0"
    )


def choices_notation(kind: type, texts: dict[Any, str]) -> Notation:
    values = {text: value for value, text in texts.items()}

    def encode(value: Any) -> str:
        text = texts.get(value)
        if text is None:
            known = ", ".join(map(repr, texts))
            raise InvalidValue(f"is {value!r}; pass one of {known}")
        return text

    def decode(text: str) -> Any:
        if text not in values:
            raise ValueError(f"{text!r} is not one of {', '.join(values)}")
        return values[text]

    return Notation(kind, checked(kind, encode), decode, one_of(values), has_one_text=True)


def dynamodb_number(kind: type[int] | type[Decimal]) -> Notation:
    """Return the notation of a number as DynamoDB writes it in a key attribute of type N."""

    def encode(value: int | Decimal) -> str:
        number = Decimal(value)
        if not number.is_finite():
            raise InvalidValue(f"is {value}, which is not a number in DynamoDB")
        try:
            return format_number(number)
        except ValidationException as error:
            raise InvalidValue(f"is {value}, which is not a number in DynamoDB: {error}") from None

    language = characters("-." + DIGITS)
    return Notation(kind, checked(kind, encode), kind, language, tag="N")


_KINDS: list[tuple[type, Maker]] = [
    (Enum, _enum),
    (KSUID, _id),
    (ULID, _id),
    (str, _text),
    (bool, _bool),
    (int, _int),
    (datetime, _datetime),
    (date, _date),
    (UUID, _uuid),
]


class Format(Struct, Generic[T_co], frozen=True):
    """Creates another notation from a notation; the codec of an attribute is one, too.

    T is for type checkers: the values that it writes.
    """

    #: How it is shown, with {} for its argument.
    label: str
    #: Raises DeclarationError, with a message that begins after the label.
    apply: Callable[[Notation], Notation]
    #: Whether it depends on the text of its attribute (with padding), not only on the value.
    of_text: bool = False
    #: For a path in a document: how it is stored, with {} for the document.
    place: Callable[[Notation], str] | None = None
    #: The format to which it is applied: `number(epoch_seconds())`.
    inner: Format[Any] | None = None
    #: As the codec of an attribute, if that is not the same: an epoch is a number there.
    of_attribute: Format[Any] | None = None
    #: Of a format that is the codec of attributes only: how their values become bytes or a text.
    transform: Transform | None = None

    def after(self, inner: Format[Any]) -> Format[Any]:
        """Return this format of another one."""
        return replace(self, inner=inner)

    @property
    def chain(self) -> tuple[Format[Any], ...]:
        """The formats that it consists of, the innermost first."""
        own: Format[Any] = replace(self, inner=None)
        return (own,) if self.inner is None else (*self.inner.chain, own)


class Transform(Struct, frozen=True):
    """How values of any type are stored as one text or as bytes, which only programs can read."""

    tag: Literal["S", "B"]
    #: What it does, for messages: `compressed`.
    state: str
    #: Takes and returns the content of a stored value. `decode` raises ValueError.
    encode: Callable[[bytes], bytes]
    decode: Callable[[bytes], bytes]
    #: Whether a text is stored as it is, before it is transformed; else as JSON.
    keeps_text: bool = True
    #: Where the secrets come from, if it encrypts: then `encode` and `decode` change nothing.
    keys: Any = None


def require_kind(notation: Notation, *kinds: type) -> None:
    """Raise DeclarationError unless a notation writes values of these types."""
    refuse_descending(notation)
    if not (isinstance(notation.kind, type) and issubclass(notation.kind, kinds)):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise DeclarationError(
            f"takes a value of type {wanted}, not of type {name_of(notation.kind)}"
        )


def refuse_descending(notation: Notation) -> None:
    """Raise DeclarationError if a notation is descending."""
    if notation.is_descending:
        raise DeclarationError("takes the value itself; write descending(…) around it")


def derive_after(first: Callable[[Any], Any] | None, second: Callable[[Any], Any]) -> Any:
    """Return the function that applies `first`, then `second`; None stays None."""
    if first is None:
        return second

    def derive(value: Any) -> Any:
        found = first(value)
        return None if found is None else second(found)

    return derive
