"""Strategies for values of key parts, with characters that are hard to encode."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import IntEnum, StrEnum
from itertools import count
from typing import Any

from hypothesis import strategies as st

from tablewright import Attr, Entity, Table, attr, key
from tablewright.ids import KSUID
from tablewright.model.attribute import DELIMITER, KeyPath

NASTY = ["1", "10", "1#", "1$", "1 0", "1!", '1"', "#", "$", "$!", "turns", "turnstile", " ", "%s"]


#: Texts of characters around the delimiter, and of one, two, three and four bytes.
texts = st.sampled_from(NASTY) | st.text('01A#$ !"%&é\u0800🍲\n', min_size=1, max_size=4)


class Status(StrEnum):
    CREATED = "CREATED"
    PAID = "PAID"
    PAID_IN_PART = "PAID_IN_PART"


class Level(IntEnum):
    LOW = 1
    MIDDLE = 20
    HIGH = 300


moments = st.datetimes(
    datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 3), timezones=st.just(UTC)
) | st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


dates = st.dates(date(2025, 12, 25), date(2026, 2, 5))


ksuids = st.builds(KSUID.new, moments.map(lambda at: at.replace(microsecond=0)))


def _hint(kind: Any) -> Any:
    return Attr.__class_getitem__(kind)  # type: ignore[attr-defined]


def joined(*pieces: Any) -> KeyPath[Any]:
    """Return the path with a delimiter between all pieces, as `/` makes it."""
    return KeyPath(tuple(each for piece in pieces for each in (DELIMITER, piece))[1:])


class Joined(Table, name="joined"): ...


class Triple(Entity, table=Joined):
    a: Attr[str] = attr()
    b: Attr[str] = attr()
    c: Attr[str] = attr()
    primary = key(a / b, c)


partitions = count()
