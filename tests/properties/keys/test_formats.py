"""The text of every format: read back, in order, of its language and width."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.ids import KSUID, ULID
from tablewright.mapping.formats.codecs import CASEFOLD, LOWER, UPPER, Codec, coded, truncated
from tablewright.mapping.formats.moments import DAY, HOUR, MILLIS, MONTH, SECONDS, WEEK, YEAR, iso
from tablewright.mapping.formats.numbers import (
    BINARY,
    DESCENDING,
    NUMBER,
    fixed_point,
    padded,
    shard,
)
from tablewright.mapping.key_parts import Delimiter, KeyPart, make_part
from tablewright.mapping.language import intersects, literal, to_regex, width_of
from tablewright.mapping.notation import Format
from tests.examples import examples
from tests.properties.keys.values import Level, Status, texts


class Case(NamedTuple):
    """A type, its values, and the formats of a part, the innermost first."""

    kind: Any
    values: st.SearchStrategy[Any]
    formats: tuple[Format, ...] = ()
    pad: int | None = None


moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
epochs = st.datetimes(datetime(1970, 1, 1), datetime(2286, 11, 20), timezones=st.just(UTC))
dates = st.dates()
small = st.integers(0, 999)
prices = st.decimals(0, Decimal("9999.99"), places=2)
ids = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
HEX = Codec[int](encode="{:04x}".format, decode=lambda text: int(text, 16), ordered=True, width=4,
                 alphabet="0123456789abcdef")  # fmt: skip
SWAPPED = Codec[str](encode=str.swapcase, decode=str.swapcase)

CASES = {
    "str": Case(str, texts),
    "padded int": Case(int, small, pad=3),
    "int": Case(int, st.integers()),
    "datetime": Case(datetime, moments),
    "date": Case(date, dates),
    "uuid": Case(UUID, st.uuids()),
    "ksuid": Case(KSUID, st.builds(KSUID.new, ids)),
    "ulid": Case(ULID, st.builds(ULID.new, ids)),
    "bool": Case(bool, st.booleans()),
    "enum": Case(Status, st.sampled_from(Status)),
    "int enum": Case(Level, st.sampled_from(Level)),
    "literal": Case(Literal["a", "a#b", "b:"], st.sampled_from(["a", "a#b", "b:"])),
    "day": Case(datetime, moments, (DAY,)),
    "day of a date": Case(date, dates, (DAY,)),
    "hour": Case(datetime, moments, (HOUR,)),
    "week": Case(date, dates, (WEEK,)),
    "month": Case(date, dates, (MONTH,)),
    "year": Case(date, dates, (YEAR,)),
    "iso seconds": Case(datetime, moments, (iso("seconds", "Z"),)),
    "iso milliseconds": Case(datetime, moments, (iso("milliseconds", "+00:00"),)),
    "iso microseconds": Case(datetime, moments, (iso("microseconds", "Z"),)),
    "epoch seconds": Case(datetime, epochs, (SECONDS,)),
    "epoch millis": Case(datetime, epochs, (MILLIS,)),
    "padded": Case(int, small, (padded(5),)),
    "fixed point": Case(Decimal, prices, (fixed_point(4, 2),)),
    "fixed point of int": Case(int, small, (fixed_point(4, 2),)),
    "lower": Case(str, texts, (LOWER,)),
    "upper": Case(str, texts, (UPPER,)),
    "casefold": Case(str, texts, (CASEFOLD,)),
    "truncated": Case(str, texts, (truncated(2),)),
    "shard": Case(str, texts, (shard(11),)),
    "coded number": Case(int, st.integers(0, 65535), (coded(HEX, "Hex"),)),
    "coded text": Case(str, st.text("aB#$", min_size=1), (coded(SWAPPED, "Swapped"),)),
    "descending": Case(int, small, (DESCENDING,), pad=3),
    "descending seconds": Case(datetime, epochs, (SECONDS, DESCENDING)),
    "descending iso": Case(datetime, moments, (iso("microseconds", "Z"), DESCENDING)),
    "descending day": Case(date, dates, (DAY, DESCENDING)),
    "descending price": Case(Decimal, prices, (fixed_point(4, 2), DESCENDING)),
}
NUMBERS = {
    "number": Case(int, st.integers(-(10**20), 10**20), (NUMBER,)),
    "decimal": Case(Decimal, st.decimals(-1000, 1000, places=3), (NUMBER,)),
    "epoch": Case(datetime, epochs, (SECONDS, NUMBER)),
    "year": Case(date, dates, (YEAR, NUMBER)),
    "descending epoch": Case(datetime, epochs, (SECONDS, DESCENDING, NUMBER)),
}
DELIMITERS = [Delimiter(), Delimiter(":"), Delimiter("-"), Delimiter("0"), Delimiter("A")]


def _part(case: Case, delimiter: Delimiter) -> KeyPart:
    return make_part(
        "x", case.kind, case.formats, pad=case.pad, delimiter=delimiter, where="Row.primary"
    )


@pytest.mark.parametrize("name", CASES)
@examples(40)
@given(data=st.data(), delimiter=st.sampled_from(DELIMITERS))
def test_a_text_is_read_and_sorts_as_its_value(
    name: str, data: st.DataObject, delimiter: Delimiter
) -> None:
    case = CASES[name]
    part = _part(case, delimiter)
    one, other = data.draw(case.values), data.draw(case.values)
    text, another = part.attribute_text(one), part.attribute_text(other)

    assert part.text(part.argument(one)) == text
    assert part.text(part.read(text)) == text
    if part.is_exact:
        assert part.read(text) == one
        assert (text == another) is (one == other)
    assert re.fullmatch(to_regex(part.language), text, re.DOTALL)
    assert intersects(part.language, literal(text))
    width = width_of(part.language)
    assert width is None or len(text) == width
    assert width is not None or delimiter.text not in text
    if part.is_ordered:
        values = [part.read(text), part.read(another)]
        low, high = (values[::-1]) if part.is_descending else values
        assert (text.encode() < another.encode()) is (low < high)


@pytest.mark.parametrize("name", NUMBERS)
@examples(40)
@given(data=st.data())
def test_a_number_is_read_and_sorts_as_its_value(name: str, data: st.DataObject) -> None:
    case = NUMBERS[name]
    part = _part(case, Delimiter.DEFAULT)
    one, other = data.draw(case.values), data.draw(case.values)
    text, another = part.attribute_text(one), part.attribute_text(other)

    assert part.notation.tag == "N"
    assert part.text(part.read(text)) == text
    assert part.read(text) == one or not part.is_exact
    assert re.fullmatch(to_regex(part.language), text)
    values = [part.read(text), part.read(another)]
    low, high = (values[::-1]) if part.is_descending else values
    assert (Decimal(text) < Decimal(another)) is (low < high)


@given(st.binary(min_size=1))
def test_bytes_are_read_as_they_are_stored(value: bytes) -> None:
    part = _part(Case(bytes, st.nothing(), (BINARY,)), Delimiter.DEFAULT)
    assert part.notation.tag == "B"
    assert part.read(part.text(value)) == value
