"""Key parts: the text of one value inside a key.

A key consists of literals and values joined by `#`. The texts of a type sort as its values do, no
two values have the same text, and no text contains `#`:

    type                 text                            sorted          example
    str                  itself, escaped                 as a last part  ann@example.com
    int with pad=3       padded with zeros               yes             007
    int                  its decimal digits              no              7
    datetime             UTC, always 27 characters       yes             2026-01-15T10:15:30.000000Z
    date, UUID, ids      their standard text             yes             2026-01-15
    Enum, Literal        the value                       yes             PAID
    bool                 false, true                     yes             true

Inside a value `#` is written `$!` and `$` is written `$$`. Both begin with the character after `#`,
so escaping keeps the order; each character is escaped on its own, so it keeps prefixes. Texts of
different lengths sort correctly only in the last part: in any other part a shorter text is followed
by `#`, and a space, `!` or `"` in the longer text sorts before that.

A format (`tablewright.formats`) derives the part from the attribute:

    format               text                            argument of a call
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
#: Sorts right after the delimiter: `prefix$` sorts after every text that begins with `prefix#`.
AFTER_DELIMITER = "$"

ANY_TEXT = r"[^#]+"


class KeyPart(Struct, frozen=True):
    """One value in a key: which attribute it comes from, and its text."""

    attribute: str
    #: Returns the argument of a call for a value of the attribute; None if they are the same.
    derive: Callable[[Any], Any] | None
    #: Returns the text of an argument. Raises InvalidValue, which names the key.
    text: Callable[[Any], str]
    #: A regular expression that matches every possible text.
    pattern: str
    #: The part as messages show it: `created_at`, `day(created_at)`.
    label: str
    #: Whether the texts sort as the values do.
    is_ordered: bool = True
    #: Whether the part is free text, so that `begins_with` makes sense.
    is_free_text: bool = False
    #: Whether the texts sort as the values do only in the last part: a character sorts before `#`.
    sorts_only_last: bool = False
    #: Whether larger values have smaller texts.
    is_descending: bool = False
    #: Whether the part determines the attribute's value: it is not derived from it.
    is_exact: bool = True

    def argument(self, value: Any) -> Any:
        """Return the argument of a call for a value of the attribute."""
        return value if self.derive is None else self.derive(value)

    @property
    def attribute_text(self) -> Callable[[Any], str]:
        """A function that returns the text for a value of the attribute."""
        derive, text = self.derive, self.text
        return text if derive is None else lambda value: text(derive(value))


class PartFormat(Struct, frozen=True):
    """Makes the part of an attribute in another format than that of its type."""

    #: How messages show it, with {} for the attribute.
    label: str
    make_part: Callable[[str, Any, int | None, str], KeyPart]


def escape(text: str) -> str:
    """Escape a text for a key.

    >>> escape("a#b"), escape("$5")
    ('a$!b', '$$5')
    """
    if "$" in text:
        text = text.replace("$", "$$")
    return text.replace("#", "$!")


def make_part(attribute: str, kind: Any, pad: int | None, where: str) -> KeyPart:
    """Return the part for an attribute of a type; `where` names the key in messages."""
    for base, make in _KINDS:
        if isinstance(kind, type) and issubclass(kind, base):
            return make(attribute, kind, pad, where)
    if get_origin(kind) is Literal and all(isinstance(value, str) for value in get_args(kind)):
        return _choices(attribute, {value: escape(value) for value in get_args(kind)}, where)
    raise DeclarationError(
        f"{where}: {attribute!r} is of type {_name(kind)}, which cannot be a part of a key: its "
        "text would not sort like its values; use str, int, datetime, date, UUID, Enum, KSUID or "
        "ULID, or an index on the attribute itself"
    )


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _text_of_type(
    where: str, attribute: str, kind: type, make: Callable[[Any], str]
) -> Callable[[Any], str]:
    """Return `make` for values of `kind`; it accepts symbols and refuses anything else."""

    def text(value: Any) -> str:
        if isinstance(value, kind):
            return make(value)
        return _symbol_text(where, attribute, kind, value)

    return text


def _symbol_text(where: str, attribute: str, kind: type, value: Any) -> str:
    """Return the text of a symbol; raise InvalidValue for any other value."""
    if isinstance(value, Symbol):
        return Symbol.text(value)
    raise InvalidValue(
        f"{where}: {attribute} is {value!r} of type {type(value).__name__}; "
        f"pass a value of type {kind.__name__}"
    )


def _text_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    def text(value: Any) -> str:
        if type(value) is str and value and "#" not in value and "$" not in value:
            return value
        if not isinstance(value, str):
            return _symbol_text(where, attribute, kind, value)
        if not value:
            raise InvalidValue(f"{where}: {attribute} is empty; a part of a key must not be empty")
        return escape(value)

    return KeyPart(
        attribute, None, text, ANY_TEXT, attribute, is_free_text=True, sorts_only_last=True
    )


def _id_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    def text(value: Any) -> str:
        if type(value) is kind:
            return str.__str__(value)
        if isinstance(value, str):
            try:
                return str.__str__(kind(value))
            except InvalidValue as error:
                raise InvalidValue(f"{where}: {attribute}: {error}") from None
        return _symbol_text(where, attribute, kind, value)

    pattern = "[0-9A-Za-z]{27}" if issubclass(kind, KSUID) else "[0-9A-Z]{26}"
    return KeyPart(attribute, None, text, pattern, attribute)


def _int_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    if pad is None:
        plain = _text_of_type(where, attribute, int, _refuse_bool(where, attribute, str))
        return KeyPart(attribute, None, plain, "-?[0-9]+", attribute, is_ordered=False)
    padded = _text_of_type(where, attribute, int, _pad_to(pad, where, attribute))
    return KeyPart(attribute, None, padded, f"[0-9]{{{pad}}}", attribute)


def _pad_to(pad: int, where: str, attribute: str) -> Callable[[Any], str]:
    bound = 10**pad

    def padded(value: int) -> str:
        if not 0 <= value < bound:
            raise InvalidValue(
                f"{where}: {attribute} is {value}, outside the range 0 to {bound - 1} (pad={pad}); "
                "a larger pad changes every stored key"
            )
        return f"{value:0{pad}d}"

    return _refuse_bool(where, attribute, padded)


def _refuse_bool(where: str, attribute: str, make: Callable[[Any], str]) -> Callable[[Any], str]:
    def text(value: Any) -> str:
        if isinstance(value, bool):
            raise InvalidValue(f"{where}: {attribute} is {value!r}; pass an int")
        return make(value)

    return text


def moment_text(value: datetime, where: str) -> str:
    """Return the text of a moment, in UTC with microseconds.

    >>> from datetime import datetime, timezone
    >>> moment_text(datetime(2026, 1, 15, 10, 15, 30, tzinfo=timezone.utc), "Order.at")
    '2026-01-15T10:15:30.000000Z'
    """
    return utc_text(value if value.tzinfo is UTC else in_utc(value, where))


def _datetime_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    place = f"{where}: {attribute}"
    text = _text_of_type(where, attribute, datetime, lambda value: moment_text(value, place))
    return KeyPart(attribute, None, text, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", attribute)


def _date_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    return KeyPart(attribute, None, _date_text(where, attribute, 10), _DAY, attribute)


_DAY, _MONTH = r"\d{4}-\d\d-\d\d", r"\d{4}-\d\d"


def _date_text(where: str, attribute: str, width: int) -> Callable[[Any], str]:
    def text(value: date) -> str:
        if isinstance(value, datetime):
            raise InvalidValue(f"{where}: {attribute} takes a date, not {value!r}; use its .date()")
        return value.isoformat()[:width]

    return _text_of_type(where, attribute, date, text)


def _uuid_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    return KeyPart(
        attribute, None, _text_of_type(where, attribute, UUID, str), "[0-9a-f-]{36}", attribute
    )


def _bool_part(attribute: str, kind: type, pad: int | None, where: str) -> KeyPart:
    text = _text_of_type(where, attribute, bool, lambda value: "true" if value else "false")
    return KeyPart(attribute, None, text, "true|false", attribute)


def _enum_part(attribute: str, kind: type[Enum], pad: int | None, where: str) -> KeyPart:
    members = list(kind)
    if all(isinstance(member.value, str) for member in members):
        texts = {member: escape(member.value) for member in members}
    elif all(isinstance(member.value, int) and member.value >= 0 for member in members):
        width = max(len(str(member.value)) for member in members)
        texts = {member: f"{member.value:0{width}d}" for member in members}
    else:
        raise DeclarationError(
            f"{where}: {attribute!r} is of type {kind.__name__}, whose values have no order as "
            "text; give its members only str values, or only int values from 0"
        )
    return _choices(attribute, texts, where, kind)


def _choices(attribute: str, texts: dict[Any, str], where: str, kind: type = str) -> KeyPart:
    def text(value: Any) -> str:
        if not isinstance(value, Symbol) and isinstance(value, kind) and value in texts:
            return texts[value]
        if isinstance(value, kind):
            known = ", ".join(map(repr, texts))
            raise InvalidValue(f"{where}: {attribute} is {value!r}; pass one of {known}")
        return _symbol_text(where, attribute, kind, value)

    sorts_only_last = any(
        character < DELIMITER for written in texts.values() for character in written
    )
    pattern = "|".join(map(re.escape, texts.values()))
    return KeyPart(attribute, None, text, pattern, attribute, sorts_only_last=sorts_only_last)


_KINDS: list[tuple[type, Callable[[str, Any, int | None, str], KeyPart]]] = [
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


def _require_type(where: str, label: str, attribute: str, kind: Any, *bases: type) -> None:
    if not (isinstance(kind, type) and issubclass(kind, bases)):
        wanted = " or ".join(base.__name__ for base in bases)
        shown = label.format(attribute)
        raise DeclarationError(
            f"{where}: {shown} takes an attribute of type {wanted}; {attribute!r} is of type "
            f"{_name(kind)}"
        )


def _date_format(label: str, width: int, pattern: str) -> PartFormat:
    def make(attribute: str, kind: Any, pad: int | None, where: str) -> KeyPart:
        _require_type(where, label, attribute, kind, datetime, date)

        def derive(value: Any) -> Any:
            if isinstance(value, datetime):
                return in_utc(value, f"{where}: {attribute}").date()
            return value

        text = _date_text(where, label.format(attribute), width)
        return KeyPart(attribute, derive, text, pattern, label.format(attribute), is_exact=False)

    return PartFormat(label, make)


DAY = _date_format("day({})", 10, _DAY)
YEAR_MONTH = _date_format("year_month({})", 7, _MONTH)


def _epoch(attribute: str, kind: Any, pad: int | None, where: str) -> KeyPart:
    _require_type(where, "epoch_seconds({})", attribute, kind, datetime)
    place = f"{where}: {attribute}"

    def seconds(value: datetime) -> str:
        count = int(in_utc(value, place).timestamp() // 1)
        if not 0 <= count < 10**10:
            raise InvalidValue(f"{place} is {value}; pass a time from 1970 to 2286")
        return f"{count:010d}"

    text = _text_of_type(where, attribute, datetime, seconds)
    return KeyPart(
        attribute, None, text, "[0-9]{10}", f"epoch_seconds({attribute})", is_exact=False
    )


EPOCH_SECONDS = PartFormat("epoch_seconds({})", _epoch)


def _lower(attribute: str, kind: Any, pad: int | None, where: str) -> KeyPart:
    _require_type(where, "lower({})", attribute, kind, str)
    plain = _text_part(attribute, kind, pad, where)

    def text(value: Any) -> str:
        return plain.text(value.lower() if isinstance(value, str) else value)

    label = f"lower({attribute})"
    return KeyPart(
        attribute,
        None,
        text,
        ANY_TEXT,
        label,
        is_free_text=True,
        sorts_only_last=True,
        is_exact=False,
    )


LOWER = PartFormat("lower({})", _lower)


def shard_format(count: int) -> PartFormat:
    """Return the format with a number from 0 to `count - 1`, a checksum of the attribute's text."""
    width = len(str(count - 1))
    label = f"shard({{}}, of={count})"

    def make(attribute: str, kind: Any, pad: int | None, where: str) -> KeyPart:
        whole = make_part(attribute, kind, pad, where)
        padded = _pad_to(width, where, label.format(attribute))

        def number(value: int) -> str:
            if not isinstance(value, bool) and value >= count:
                raise InvalidValue(
                    f"{where}: {value} is not the number of a shard; pass 0 to {count - 1}"
                )
            return padded(value)

        def derive(value: Any) -> Any:
            if isinstance(value, Symbol):
                return value
            return zlib.crc32(whole.text(value).encode()) % count

        return KeyPart(
            attribute,
            derive,
            _text_of_type(where, label.format(attribute), int, number),
            f"[0-9]{{{width}}}",
            label.format(attribute),
            is_exact=False,
        )

    return PartFormat(label, make)


def _descending(attribute: str, kind: Any, pad: int | None, where: str) -> KeyPart:
    _require_type(where, "descending({})", attribute, kind, int)
    if pad is None:
        raise DeclarationError(
            f"{where}: descending({attribute}) needs the number of digits; write "
            f"{attribute}: Attr[int] = attr(pad=…)"
        )
    padded = _pad_to(pad, where, attribute)
    largest = 10**pad - 1

    def downwards(value: int) -> str:
        padded(value)  # checks the bounds
        return padded(largest - value)

    text = _text_of_type(where, attribute, int, downwards)
    label = f"descending({attribute})"
    return KeyPart(attribute, None, text, f"[0-9]{{{pad}}}", label, is_descending=True)


DESCENDING = PartFormat("descending({})", _descending)
