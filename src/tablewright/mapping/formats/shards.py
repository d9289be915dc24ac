"""The format of any value to the number of a shard, by a hash."""

from __future__ import annotations

import zlib
from typing import Any

from tablewright.errors import InvalidValue
from tablewright.mapping.formats.format import Format, derive_after
from tablewright.mapping.language import DIGITS, NOTHING, characters, digits
from tablewright.mapping.notation import Notation, checked, no_notation, padded_number


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
            derive_after(inner.derive, number),
            is_exact=False,
            is_optional=inner.is_optional,
            shards=count,
        )

    return Format(f"shard({{}}, of={count})", apply, of_text=True)
