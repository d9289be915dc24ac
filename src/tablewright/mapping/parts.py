"""Key parts: how one value reads inside a key.

A key is literals and values joined by `#`. A value's text sorts as the value does, no two values
have the same text, and no text holds a `#`:

    type                 text                            in order        example
    str                  itself, escaped                 as a last part  ann@example.com
    int with pad=3       padded with zeros               yes             007
    int                  as it is                        no              7
    datetime             UTC, always 27 characters       yes             2026-01-15T10:15:30.000000Z
    date, UUID, ids      their own fixed form            yes             2026-01-15
    Enum, Literal        the value                       yes             PAID
    bool                 false, true                     yes             true

Inside a value `#` is written `$!` and `$` is written `$$`. Both begin with the character that
follows `#`, so escaping keeps the order; and it works character by character, so it keeps
prefixes. Order among texts of different length holds where nothing follows: behind a shorter text
comes `#`, and a space, `!` or `"` sorts below that.

A transform derives the part from the attribute; a call asks for what the transform gives:

    day(at)              2026-01-15                      a date
    year_month(at)       2026-01                         a date, any day of the month
    epoch_seconds(at)    1768472130                      a datetime, by the second
    lower(email)         ann@example.com                 a str
    shard(id, of=8)      3                               the number of the shard
    descending(score)    with pad=3: 992 for 7           the number
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.ids import KSUID, ULID
from tablewright.mapping.converters.times import in_utc, utc_text
from tablewright.symbol import Symbol

DELIMITER = "#"
#: Sorts right after the delimiter: `prefix + ABOVE` is above everything that begins `prefix#`.
ABOVE = "$"

ANY_TEXT = r"[^#]+"


class Part(Struct, frozen=True):
    """A value's place in a key."""

    attribute: str
    #: What a call asks for, from what the attribute holds; None where they are the same.
    derive: Callable[[Any], Any] | None
    #: The text of what a call asks for. Raises InvalidValue, which names the key.
    text: Callable[[Any], str]
    #: A regular expression of the texts that are possible.
    pattern: str
    #: How the part is shown: `created_at`, `day(created_at)`.
    label: str
    #: Texts sort as values do.
    ordered: bool = True
    #: Any text at all, of which a beginning makes sense.
    free: bool = False
    #: Texts sort as values do in the last place only: something in them sorts below `#`.
    loose: bool = False
    #: Larger values have smaller texts.
    reversed: bool = False
    #: A call asks for the attribute's own value, not for something derived from it.
    exact: bool = True

    def asked(self, value: Any) -> Any:
        """What a call asks for, from an attribute's value."""
        return value if self.derive is None else self.derive(value)

    @property
    def of(self) -> Callable[[Any], str]:
        """Gives the text of an attribute's value."""
        derive, text = self.derive, self.text
        return text if derive is None else lambda value: text(derive(value))


class Transform(Struct, frozen=True):
    """Derives a key part from an attribute."""

    label: str  # with {} for the attribute
    part: Callable[[str, Any, int | None, str], Part]


def escape(text: str) -> str:
    """A text as it stands in a key.

    >>> escape("a#b"), escape("$5")
    ('a$!b', '$$5')
    """
    if "$" in text:
        text = text.replace("$", "$$")
    return text.replace("#", "$!")


def part(attribute: str, kind: Any, pad: int | None, where: str) -> Part:
    """How values of a type stand in a key; `where` names the key in messages."""
    for base, make in _KINDS:
        if isinstance(kind, type) and issubclass(kind, base):
            return make(attribute, kind, pad, where)
    if get_origin(kind) is Literal and all(isinstance(value, str) for value in get_args(kind)):
        return _choices(attribute, {value: escape(value) for value in get_args(kind)}, where)
    raise DeclarationError(
        f"{where}: {attribute!r} is {_name(kind)}, which has no text that sorts as its values do; "
        "use a str, int, datetime, date, UUID, Enum, KSUID or ULID, or an index on the attribute "
        "itself"
    )


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _checked(
    where: str, attribute: str, kind: type, make: Callable[[Any], str]
) -> Callable[[Any], str]:
    """`make`, for values of `kind`; symbols pass, and anything else is refused."""

    def text(value: Any) -> str:
        if isinstance(value, kind):
            return make(value)
        return _other(where, attribute, kind, value)

    return text


def _other(where: str, attribute: str, kind: type, value: Any) -> str:
    if isinstance(value, Symbol):
        return Symbol.text(value)
    raise InvalidValue(
        f"{where}: {attribute} is {value!r} of type {type(value).__name__}; "
        f"give a value of type {kind.__name__}"
    )


def _text_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    def text(value: Any) -> str:
        if type(value) is str and value and "#" not in value and "$" not in value:
            return value
        if not isinstance(value, str):
            return _other(where, attribute, kind, value)
        if not value:
            raise InvalidValue(f"{where}: {attribute} is empty; a part of a key needs a value")
        return escape(value)

    return Part(attribute, None, text, ANY_TEXT, attribute, free=True, loose=True)


def _id_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    def text(value: Any) -> str:
        if type(value) is kind:
            return str.__str__(value)
        if isinstance(value, str):
            try:
                return str.__str__(kind(value))
            except InvalidValue as error:
                raise InvalidValue(f"{where}: {attribute}: {error}") from None
        return _other(where, attribute, kind, value)

    pattern = "[0-9A-Za-z]{27}" if issubclass(kind, KSUID) else "[0-9A-Z]{26}"
    return Part(attribute, None, text, pattern, attribute)


def _int_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    if pad is None:
        plain = _checked(where, attribute, int, _refuse_bool(where, attribute, str))
        return Part(attribute, None, plain, "-?[0-9]+", attribute, ordered=False)
    padded = _checked(where, attribute, int, _padder(pad, where, attribute))
    return Part(attribute, None, padded, f"[0-9]{{{pad}}}", attribute)


def _padder(pad: int, where: str, attribute: str) -> Callable[[Any], str]:
    bound = 10**pad

    def padded(value: int) -> str:
        if not 0 <= value < bound:
            raise InvalidValue(
                f"{where}: {attribute} is {value}, and pad={pad} holds 0 to {bound - 1}; "
                "a larger pad changes every key"
            )
        return f"{value:0{pad}d}"

    return _refuse_bool(where, attribute, padded)


def _refuse_bool(where: str, attribute: str, make: Callable[[Any], str]) -> Callable[[Any], str]:
    def text(value: Any) -> str:
        if isinstance(value, bool):
            raise InvalidValue(f"{where}: {attribute} is {value!r}; give a number")
        return make(value)

    return text


def moment(value: datetime, where: str) -> str:
    """The one text of a moment, in UTC with microseconds.

    >>> from datetime import datetime, timezone
    >>> moment(datetime(2026, 1, 15, 10, 15, 30, tzinfo=timezone.utc), "Order.at")
    '2026-01-15T10:15:30.000000Z'
    """
    return utc_text(value if value.tzinfo is UTC else in_utc(value, where))


def _datetime_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    place = f"{where}: {attribute}"
    text = _checked(where, attribute, datetime, lambda value: moment(value, place))
    return Part(attribute, None, text, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", attribute)


def _date_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    return Part(attribute, None, _date_text(where, attribute, 10), _DAY, attribute)


_DAY, _MONTH = r"\d{4}-\d\d-\d\d", r"\d{4}-\d\d"


def _date_text(where: str, attribute: str, width: int) -> Callable[[Any], str]:
    def text(value: date) -> str:
        if isinstance(value, datetime):
            raise InvalidValue(f"{where}: {attribute} is a date; use {value!r}.date()")
        return value.isoformat()[:width]

    return _checked(where, attribute, date, text)


def _uuid_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    return Part(attribute, None, _checked(where, attribute, UUID, str), "[0-9a-f-]{36}", attribute)


def _bool_part(attribute: str, kind: type, pad: int | None, where: str) -> Part:
    text = _checked(where, attribute, bool, lambda value: "true" if value else "false")
    return Part(attribute, None, text, "true|false", attribute)


def _enum_part(attribute: str, kind: type[Enum], pad: int | None, where: str) -> Part:
    members = list(kind)
    if all(isinstance(member.value, str) for member in members):
        texts = {member: escape(member.value) for member in members}
    elif all(isinstance(member.value, int) and member.value >= 0 for member in members):
        width = max(len(str(member.value)) for member in members)
        texts = {member: f"{member.value:0{width}d}" for member in members}
    else:
        raise DeclarationError(
            f"{where}: the values of {kind.__name__} are neither all texts nor all whole numbers "
            "from 0, so they have no order as text"
        )
    return _choices(attribute, texts, where, kind)


def _choices(attribute: str, texts: dict[Any, str], where: str, kind: type = str) -> Part:
    def text(value: Any) -> str:
        if not isinstance(value, Symbol) and isinstance(value, kind) and value in texts:
            return texts[value]
        if isinstance(value, kind):
            known = ", ".join(map(repr, texts))
            raise InvalidValue(f"{where}: {attribute} is {value!r}; it is one of {known}")
        return _other(where, attribute, kind, value)

    loose = any(character < DELIMITER for written in texts.values() for character in written)
    pattern = "|".join(map(re.escape, texts.values()))
    return Part(attribute, None, text, pattern, attribute, loose=loose)


_KINDS: list[tuple[type, Callable[[str, Any, int | None, str], Part]]] = [
    (Enum, _enum_part),
    (KSUID, _id_part),
    (ULID, _id_part),
    (str, _text_part),
    (bool, _bool_part),
    (int, _int_part),
    (datetime, _datetime_part),
    (date, _date_part),
    (UUID, _uuid_part),
]


def _needs(where: str, label: str, attribute: str, kind: Any, *bases: type) -> None:
    if not (isinstance(kind, type) and issubclass(kind, bases)):
        wanted = " or ".join(base.__name__ for base in bases)
        shown = label.format(attribute)
        raise DeclarationError(f"{where}: {shown} is for {wanted}; {attribute!r} is {_name(kind)}")


def cut_to(label: str, width: int, pattern: str) -> Transform:
    def make(attribute: str, kind: Any, pad: int | None, where: str) -> Part:
        _needs(where, label, attribute, kind, datetime, date)

        def derive(value: Any) -> Any:
            if isinstance(value, datetime):
                return in_utc(value, f"{where}: {attribute}").date()
            return value

        text = _date_text(where, label.format(attribute), width)
        return Part(attribute, derive, text, pattern, label.format(attribute), exact=False)

    return Transform(label, make)


DAY = cut_to("day({})", 10, _DAY)
MONTH = cut_to("year_month({})", 7, _MONTH)


def _epoch(attribute: str, kind: Any, pad: int | None, where: str) -> Part:
    _needs(where, "epoch_seconds({})", attribute, kind, datetime)
    place = f"{where}: {attribute}"

    def seconds(value: datetime) -> str:
        count = int(in_utc(value, place).timestamp() // 1)
        if not 0 <= count < 10**10:
            raise InvalidValue(f"{place} is {value}, before 1970 or after the year 2286")
        return f"{count:010d}"

    text = _checked(where, attribute, datetime, seconds)
    return Part(attribute, None, text, "[0-9]{10}", f"epoch_seconds({attribute})", exact=False)


EPOCH = Transform("epoch_seconds({})", _epoch)


def _lower(attribute: str, kind: Any, pad: int | None, where: str) -> Part:
    _needs(where, "lower({})", attribute, kind, str)
    plain = _text_part(attribute, kind, pad, where)

    def text(value: Any) -> str:
        return plain.text(value.lower() if isinstance(value, str) else value)

    label = f"lower({attribute})"
    return Part(attribute, None, text, ANY_TEXT, label, free=True, loose=True, exact=False)


LOWER = Transform("lower({})", _lower)


def sharded(count: int) -> Transform:
    """A number from 0 to `count - 1`, by a checksum of the attribute's text."""
    width = len(str(count - 1))
    label = f"shard({{}}, of={count})"

    def make(attribute: str, kind: Any, pad: int | None, where: str) -> Part:
        whole = part(attribute, kind, pad, where)
        padded = _padder(width, where, label.format(attribute))

        def number(value: int) -> str:
            if not isinstance(value, bool) and value >= count:
                raise InvalidValue(f"{where}: {value} is not a shard; they are 0 to {count - 1}")
            return padded(value)

        def derive(value: Any) -> Any:
            if isinstance(value, Symbol):
                return value
            return zlib.crc32(whole.text(value).encode()) % count

        return Part(
            attribute,
            derive,
            _checked(where, label.format(attribute), int, number),
            f"[0-9]{{{width}}}",
            label.format(attribute),
            exact=False,
        )

    return Transform(label, make)


def _descending(attribute: str, kind: Any, pad: int | None, where: str) -> Part:
    _needs(where, "descending({})", attribute, kind, int)
    if pad is None:
        raise DeclarationError(
            f"{where}: descending({attribute}) counts down from the largest number; say how many "
            f"digits that has: {attribute} = attr(pad=…)"
        )
    padded = _padder(pad, where, attribute)
    largest = 10**pad - 1

    def downwards(value: int) -> str:
        padded(value)  # the same bounds
        return padded(largest - value)

    text = _checked(where, attribute, int, downwards)
    label = f"descending({attribute})"
    return Part(attribute, None, text, f"[0-9]{{{pad}}}", label, reversed=True)


DESCENDING = Transform("descending({})", _descending)
