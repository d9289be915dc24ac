"""Parts, templates and keys that the tests of keys share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from tablewright.mapping.converters import converter
from tablewright.mapping.formats.moments import DAY
from tablewright.mapping.formats.numbers import DESCENDING
from tablewright.mapping.key_parts import Delimiter, KeyPart, make_part, natural_part
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.notation import Format
from tablewright.mapping.template import Template

WHERE = "Order.primary"

Pieces = Sequence[str | KeyPart]


class Status(StrEnum):
    CREATED = "CREATED"
    PAID = "PAID"


def part(
    kind: Any,
    *formats: Format,
    name: str = "x",
    pad: int | None = None,
    delimiter: Delimiter = Delimiter.DEFAULT,
) -> KeyPart:
    """Return a part; the innermost format is the first."""
    return make_part(name, kind, formats, pad=pad, delimiter=delimiter, where=WHERE)


TEXT = part(str, name="name")
OTHER = part(str, name="other")
NUMBER = part(int, name="number", pad=3)
LONGER = part(int, name="longer", pad=4)
FREE_NUMBER = part(int, name="count")
MOMENT = part(datetime, name="at")
DATE = part(date, name="on")
STATUS = part(Status, name="status")
TRUTH = part(bool, name="paid")
DOWN = part(int, DESCENDING, name="score", pad=3)
A_DAY = part(datetime, DAY, name="at")


def template(
    *pieces: str | KeyPart,
    delimiter: Delimiter = Delimiter.DEFAULT,
    numbers: dict[str, int] | None = None,
) -> Template:
    """Return the template with a delimiter between all pieces; a part is asked for once."""
    known = {} if numbers is None else numbers
    joined: list[str | KeyPart] = []
    slots = []
    for position, piece in enumerate(pieces):
        for each in ([delimiter.text] if position else []) + [piece]:
            if isinstance(each, KeyPart):
                joined.append(each)
                slots.append(known.setdefault(each.label, len(known)))
            elif joined and isinstance(joined[-1], str):
                joined[-1] += each
            else:
                joined.append(each)
    return Template(tuple(joined), tuple(slots), delimiter)


def keyed(partition: Pieces, sort: Pieces | None) -> KeyMap:
    """Return a key whose parts are asked for once each, in their order."""
    numbers: dict[str, int] = {}
    first = {"PK": template(*partition, numbers=numbers)}
    second = {"SK": template(*sort, numbers=numbers)} if sort else {}
    return KeyMap(WHERE, first, second)


def natural(kind: Any, name: str = "id") -> Template:
    stored = converter(kind, f"Order.{name}")
    return Template((natural_part(name, stored),), (0,), natural=stored)
