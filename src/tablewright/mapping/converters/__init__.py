"""Converters between Python values and the values that DynamoDB stores.

    str, UUID, KSUID, date, time          S      Decimal, int, float, timedelta        N
    datetime, in UTC and of fixed width   S      bytes                                 B
    Enum, Literal                         as their values                              bool  BOOL
    list, tuple, Sequence                 L      dict, Mapping, models, TypedDict      M
    set, frozenset                        SS, NS or BS, as their members
    Any                                   as the value at hand
    what only pydantic knows (HttpUrl)    as its JSON

Invariants:

- `decode(encode(value)) == value`. A value that would not be read back equal is refused: nothing is
  rounded, truncated or guessed. There are two exceptions: `Any` reads every fraction as a Decimal,
  and a union reads a value as its first matching member, so `str` should be the last.
- `encode` accepts only the declared type, else it raises InvalidValue; "5" is not an int.
- `decode` accepts the output of `encode` and other spellings of it, else it raises UnreadableItem.
- `converter` raises DeclarationError for a type that cannot be stored.

`converter` decides everything about a type; the functions it returns only convert. The package must
not know entities, keys or tables. Each module imports only those before it:

    messages, conversion, scalars, times, containers, dynamic, choices, structures, build
"""

from __future__ import annotations

from tablewright.mapping.converters.build import converter
from tablewright.mapping.converters.conversion import Converter

__all__ = ["Converter", "converter"]
