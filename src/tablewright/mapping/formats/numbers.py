"""Formats of numbers and bytes: padded, with fixed places, descending, as keys of type N or B.

`shard` derives a number from any value, by a hash.
"""

from __future__ import annotations

import binascii
import zlib
from datetime import datetime
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.converters.conversion import name_of
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
    Format,
    Notation,
    checked,
    choices_notation,
    derive_after,
    dynamodb_number,
    no_notation,
    padded_number,
    require_kind,
)


def padded(width: int) -> Format:
    """Return the format that writes a whole number with a fixed number of digits."""
    if width < 1:
        raise DeclarationError(f"padded(…, {width}): the number of digits is at least 1")

    def apply(inner: Notation) -> Notation:
        require_kind(inner, int)
        return replace(
            padded_number(width),
            derive=inner.derive,
            is_exact=inner.is_exact,
            is_optional=inner.is_optional,
        )

    return Format(f"padded({{}}, {width})", apply)


def fixed_point(width: int, places: int) -> Format:
    """Return the format that writes `width` digits, a point, and `places` digits."""
    if width < 1 or places < 1:
        raise DeclarationError(
            f"fixed_point(…, {width}, {places}): at least one digit before and after the point"
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
        require_kind(inner, Decimal, int)
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
    """Return whether each character is either any digit, or one constant character."""
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


DESCENDING = Format("descending({})", _descending, of_text=True)


def _number(inner: Notation) -> Notation:
    if inner.kind is bool:
        flag = choices_notation(bool, {False: "0", True: "1"})
        return replace(flag, derive=inner.derive, is_optional=inner.is_optional, tag="N")
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
    is_uuid = isinstance(inner.kind, type) and issubclass(inner.kind, UUID)
    require_kind(inner, UUID if is_uuid else bytes)

    def decode(text: str) -> Any:
        content = binascii.a2b_base64(text, strict_mode=True)
        return UUID(bytes=content) if is_uuid else content

    def encode(value: Any) -> str:
        content = value.bytes if is_uuid else value
        if not content:
            raise InvalidValue("is empty; a part of a key must not be")
        return binascii.b2a_base64(content, newline=False).decode()

    kind = UUID if is_uuid else bytes
    return replace(inner, encode=checked(kind, encode), decode=decode, language=ANYTHING, tag="B")


BINARY = Format("binary({})", _binary)


def shard_number(text: str, count: int) -> int:
    """Return the number of the shard of a text, of `count` shards."""
    return zlib.crc32(text.encode()) % count


def shard(count: int) -> Format:
    """Return the format that writes a number from 0 to `count - 1` for any value."""
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
            return shard_number(inner.encode(value), count)

        return Notation(
            int,
            checked(int, encode),
            int,
            digits(width) if count > len(DIGITS) else characters(DIGITS[:count], 1, 1),
            derive_after(inner.derive, number),
            is_exact=False,
            is_optional=inner.is_optional,
            shards=count,
        )

    return Format(f"shard({{}}, of={count})", apply, of_text=True)
