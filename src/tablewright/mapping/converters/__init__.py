"""Converters: Python values as DynamoDB stores them, and back.

    str, UUID, KSUID, date, time          S      Decimal, int, float, timedelta        N
    datetime, in UTC and of fixed width   S      bytes                                 B
    Enum, Literal                         as their values                              bool  BOOL
    list, tuple, Sequence                 L      dict, Mapping, models, TypedDict      M
    set, frozenset                        SS, NS or BS, as their members
    Any                                   as the value at hand
    what only pydantic knows (HttpUrl)    as its JSON

Laws:

- `decode(encode(value)) == value`. What would not come back equal is refused: nothing is rounded,
  cut or guessed. There are two exceptions: `Any` reads every fraction as a Decimal, and a union
  reads a value as the first member that can, so that `str` is best its last.
- `encode` takes the declared type only, or raises InvalidValue; "5" is not an int.
- `decode` takes what `encode` gives, and other spellings of the same, or raises UnreadableItem.
- What is wrong with a type is said once, by `converter`, as a DeclarationError.

Everything about a type is decided by `converter`; the functions it returns only convert. The
package knows nothing of entities, keys or tables. Each module imports only those before it:

    messages, conversion, scalars, times, containers, dynamic, choices, structures, build
"""

from __future__ import annotations

from tablewright.mapping.converters.build import converter
from tablewright.mapping.converters.conversion import Converter

__all__ = ["Converter", "converter"]
