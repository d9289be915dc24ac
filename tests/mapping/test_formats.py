"""Formats: other texts of a value inside a key."""

from __future__ import annotations

import zlib
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal

import pytest

from tablewright.errors import DeclarationError, InvalidValue
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
from tablewright.mapping.notation import Format
from tablewright.symbol import Symbol
from tests.mapping.key_parts import Status, part

BERLIN = timezone(timedelta(hours=2))
TOKYO = timezone(timedelta(hours=9))
NOON = datetime(2026, 1, 15, 12, 0, 30, 250_000, tzinfo=UTC)


def _reversed(domain: str) -> str:
    return ".".join(reversed(domain.split(".")))


REVERSED = Codec[str](encode=_reversed, decode=_reversed)
CODE = Codec[str](encode=str, decode=str, width=2, alphabet="abc")


@pytest.mark.parametrize(
    ("format_", "kind", "pad", "value", "text"),
    [
        (DAY, datetime, None, NOON, "2026-01-15"),
        (DAY, datetime, None, datetime(2026, 1, 15, 1, tzinfo=BERLIN), "2026-01-14"),
        (DAY, date, None, date(2026, 1, 15), "2026-01-15"),
        (MONTH, datetime, None, NOON, "2026-01"),
        (MONTH, datetime, None, datetime(2026, 1, 1, 1, tzinfo=BERLIN), "2025-12"),
        (MONTH, date, None, date(2026, 1, 15), "2026-01"),
        (SECONDS, datetime, None, datetime(1970, 1, 1, tzinfo=UTC), "0000000000"),
        (SECONDS, datetime, None, NOON, "1768478430"),
        (SECONDS, datetime, None, NOON.astimezone(BERLIN), "1768478430"),
        (LOWER, str, None, "Ann@Example.COM", "ann@example.com"),
        (LOWER, str, None, "A#B", "a$!b"),
        (DESCENDING, int, 3, 7, "992"),
        (DESCENDING, int, 3, 0, "999"),
        (DESCENDING, int, 3, 999, "000"),
        (HOUR, datetime, None, NOON, "2026-01-15T12"),
        (HOUR, datetime, None, datetime(2026, 1, 15, 1, tzinfo=BERLIN), "2026-01-14T23"),
        (WEEK, datetime, None, NOON, "2026-W03"),
        (WEEK, date, None, date(2027, 1, 3), "2026-W53"),
        (WEEK, date, None, date(2024, 12, 30), "2025-W01"),
        (YEAR, datetime, None, datetime(2026, 1, 1, 1, tzinfo=BERLIN), "2025"),
        (YEAR, date, None, date(33, 1, 1), "0033"),
        (iso("seconds", "Z"), datetime, None, NOON, "2026-01-15T12:00:30Z"),
        (iso("milliseconds", "Z"), datetime, None, NOON, "2026-01-15T12:00:30.250Z"),
        (iso("microseconds", "Z"), datetime, None, NOON, "2026-01-15T12:00:30.250000Z"),
        (iso("seconds", "+00:00"), datetime, None, NOON, "2026-01-15T12:00:30+00:00"),
        (iso("milliseconds", "+00:00"), datetime, None, NOON, "2026-01-15T12:00:30.250+00:00"),
        (iso("seconds", "Z"), datetime, None, NOON.astimezone(BERLIN), "2026-01-15T12:00:30Z"),
        (iso("seconds", ""), datetime, None, NOON.astimezone(BERLIN), "2026-01-15T12:00:30"),
        (iso("microseconds", ""), datetime, None, NOON, "2026-01-15T12:00:30.250000"),
        (iso("seconds", TOKYO), datetime, None, NOON, "2026-01-15T21:00:30+09:00"),
        (iso("milliseconds", UTC), datetime, None, NOON, "2026-01-15T12:00:30.250+00:00"),
        (MILLIS, datetime, None, NOON, "1768478430250"),
        (MILLIS, datetime, None, datetime(1970, 1, 1, tzinfo=UTC), "0000000000000"),
        (padded(6), int, None, 7, "000007"),
        (padded(6), int, 3, 1234, "001234"),
        (fixed_point(4, 2), Decimal, None, Decimal("12.5"), "0012.50"),
        (fixed_point(4, 2), Decimal, None, Decimal("-0"), "0000.00"),
        (fixed_point(4, 2), Decimal, None, Decimal("1E3"), "1000.00"),
        (fixed_point(4, 2), int, None, 12, "0012.00"),
        (fixed_point(20, 18), Decimal, None, Decimal("1E19"), f"{10**19:020d}.{0:018d}"),
        (UPPER, str, None, "straße", "STRASSE"),
        (CASEFOLD, str, None, "Straße", "strasse"),
        (truncated(3), str, None, "Annabel", "Ann"),
        (truncated(3), str, None, "A", "A"),
        (truncated(3), str, None, "A#BC", "A$!B"),
        (coded(REVERSED, "Reversed"), str, None, "www.example.com", "com.example.www"),
        (NUMBER, int, None, -7, "-7"),
        (NUMBER, Decimal, None, Decimal("7.50"), "7.5"),
        (NUMBER, Decimal, None, Decimal("1E+3"), "1000"),
        (BINARY, bytes, None, b"\x00\xff", "AP8="),
        (shard(8), str, None, "O100", str(zlib.crc32(b"O100") % 8)),
        (shard(100), int, None, 7, f"{zlib.crc32(b'7') % 100:02d}"),
    ],
)
def test_a_format_gives_the_text_of_an_attribute(
    format_: Format, kind: Any, pad: int | None, value: Any, text: str
) -> None:
    assert part(kind, format_, pad=pad).attribute_text(value) == text


@pytest.mark.parametrize(
    ("format_", "kind", "pad", "asked", "text"),
    [
        (DAY, datetime, None, date(2026, 1, 15), "2026-01-15"),
        (MONTH, datetime, None, date(2026, 1, 31), "2026-01"),
        (SECONDS, datetime, None, NOON, "1768478430"),
        (LOWER, str, None, "ANN", "ann"),
        (DESCENDING, int, 3, 7, "992"),
        (HOUR, datetime, None, NOON, "2026-01-15T12"),
        (WEEK, datetime, None, date(2026, 1, 18), "2026-W03"),
        (YEAR, datetime, None, 2026, "2026"),
        (iso("seconds", "Z"), datetime, None, NOON, "2026-01-15T12:00:30Z"),
        (iso("seconds", TOKYO), datetime, None, NOON, "2026-01-15T21:00:30+09:00"),
        (truncated(3), str, None, "Annabel", "Ann"),
        (NUMBER, int, None, 7, "7"),
        (shard(8), str, None, 3, "3"),
        (shard(11), str, None, 3, "03"),
    ],
)
def test_a_call_asks_for_what_the_format_gives(
    format_: Format, kind: Any, pad: int | None, asked: Any, text: str
) -> None:
    assert part(kind, format_, pad=pad).text(asked) == text


@pytest.mark.parametrize(
    ("format_", "kind", "pad", "asked", "told"),
    [
        (DAY, datetime, None, NOON, [".date()"]),
        (DAY, datetime, None, "2026-01-15", ["str", "date"]),
        (MONTH, datetime, None, NOON, [".date()"]),
        (SECONDS, datetime, None, datetime(2026, 1, 15), ["no time zone"]),
        (
            SECONDS,
            datetime,
            None,
            datetime(1969, 12, 31, tzinfo=UTC),
            ["1969-12-31", "from 1970 to 2286"],
        ),
        (
            SECONDS,
            datetime,
            None,
            datetime(2300, 1, 1, tzinfo=UTC),
            ["2300-01-01", "from 1970 to 2286"],
        ),
        (SECONDS, datetime, None, 1768478430, ["int", "datetime"]),
        (LOWER, str, None, "", ["is empty"]),
        (HOUR, datetime, None, date(2026, 1, 15), ["date", "datetime"]),
        (WEEK, datetime, None, NOON, [".date()"]),
        (YEAR, datetime, None, 10_000, ["10000", "0 to 9999"]),
        (YEAR, datetime, None, date(2026, 1, 1), ["date", "int"]),
        (MILLIS, datetime, None, datetime(1969, 12, 31, tzinfo=UTC), ["from 1970 to 2286"]),
        (padded(2), int, None, 100, ["100", "0 to 99"]),
        (fixed_point(2, 2), Decimal, None, Decimal(100), ["100", "from 0 to below 100"]),
        (fixed_point(2, 2), Decimal, None, Decimal("-0.01"), ["-0.01", "from 0"]),
        (fixed_point(2, 2), Decimal, None, Decimal("0.125"), ["more than 2 digits after"]),
        (fixed_point(2, 2), Decimal, None, Decimal("NaN"), ["NaN"]),
        (fixed_point(2, 2), Decimal, None, 1, ["int", "Decimal"]),
        (NUMBER, Decimal, None, Decimal("Infinity"), ["Infinity", "not a number"]),
        (NUMBER, Decimal, None, Decimal(f"1.{'1' * 40}"), ["38 significant digits"]),
        (NUMBER, int, None, 10**130, ["not a number in DynamoDB"]),
        (NUMBER, int, None, True, ["True"]),
        (BINARY, bytes, None, b"", ["is empty"]),
        (BINARY, bytes, None, "text", ["str", "bytes"]),
        (coded(REVERSED, "Reversed"), str, None, "", ["Reversed gives ''", "give a text"]),
        (coded(REVERSED, "Reversed"), str, None, 5, ["5", "Reversed does not encode"]),
        (coded(CODE, "Code"), str, None, "abc", ["'abc'", "its width is declared as 2"]),
        (coded(CODE, "Code"), str, None, "ax", ["'ax'", "its alphabet is 'abc'"]),
        (LOWER, str, None, 5, ["int", "str"]),
        (DESCENDING, int, 3, -1, ["-1", "0 to 999"]),
        (DESCENDING, int, 3, 1000, ["1000", "0 to 999"]),
        (DESCENDING, int, 3, True, ["True"]),
        (shard(8), str, None, 8, ["8", "0 to 7"]),
        (shard(8), str, None, -1, ["-1"]),
        (shard(8), str, None, True, ["True"]),
        (shard(8), str, None, "O100", ["'O100'", "str", "int"]),
    ],
)
def test_a_call_with_what_the_format_cannot_give_is_refused(
    format_: Format, kind: Any, pad: int | None, asked: Any, told: list[str]
) -> None:
    with pytest.raises(InvalidValue) as refused:
        part(kind, format_, pad=pad).text(asked)
    assert str(refused.value).startswith("Order.primary: ")
    for piece in told:
        assert piece in str(refused.value)


@pytest.mark.parametrize("format_", [DAY, MONTH])
def test_a_moment_without_a_zone_has_no_day(format_: Format) -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.primary: \w+\(x\) is .* has no time zone"):
        part(datetime, format_).attribute_text(datetime(2026, 1, 15))


def test_the_message_of_an_epoch_out_of_range_speaks_of_time_and_not_of_padding() -> None:
    with pytest.raises(InvalidValue) as refused:
        part(datetime, SECONDS).text(datetime(1969, 12, 31, tzinfo=UTC))
    assert "pad" not in str(refused.value)


@pytest.mark.parametrize(
    ("format_", "kind", "told"),
    [
        (DAY, str, ["day(x) takes a value of type datetime or date, not of type str"]),
        (MONTH, int, ["year_month(x) takes", "datetime or date", "not of type int"]),
        (SECONDS, date, ["epoch_seconds(x) takes", "datetime", "not of type date"]),
        (LOWER, int, ["lower(x) takes", "str", "not of type int"]),
        (
            LOWER,
            Status,
            ["lower(x) takes any text, and the texts of Status are fixed; write coded"],
        ),
        (UPPER, Literal["a", "b"], ["upper(x) takes any text", "are fixed"]),
        (DESCENDING, str, ["descending(x) needs a fixed number of digits"]),
        (NUMBER, str, ["number(x) takes a number, not a value of type str"]),
        (BINARY, str, ["binary(x) takes a value of type bytes, not of type str"]),
        (fixed_point(3, 2), str, ["fixed_point(x, 3, 2) takes a value of type Decimal or int"]),
        (shard(8), float, ["shard(x, of=8) is of type float", "use str, int"]),
    ],
)
def test_a_format_of_another_type_is_refused(format_: Format, kind: Any, told: list[str]) -> None:
    with pytest.raises(DeclarationError) as refused:
        part(kind, format_, pad=3)
    assert str(refused.value).startswith("Order.primary: ")
    for piece in told:
        assert piece in str(refused.value)


def test_counting_down_needs_a_width() -> None:
    with pytest.raises(DeclarationError, match=r"Order\.primary: descending\(x\).*attr\(pad=…\)"):
        part(int, DESCENDING)


def test_larger_numbers_that_count_down_have_smaller_texts() -> None:
    down = part(int, DESCENDING, pad=4)
    texts = [down.text(number) for number in (9999, 1000, 100, 99, 10, 9, 1, 0)]
    assert texts == sorted(texts)
    assert down.is_descending


@pytest.mark.parametrize(
    ("format_", "kind", "label"),
    [
        (DAY, datetime, "day(x)"),
        (MONTH, datetime, "year_month(x)"),
        (SECONDS, datetime, "epoch_seconds(x)"),
        (LOWER, str, "lower(x)"),
        (DESCENDING, int, "descending(x)"),
        (shard(8), str, "shard(x, of=8)"),
    ],
)
def test_a_format_is_shown_around_its_attribute(format_: Format, kind: Any, label: str) -> None:
    made_of = part(kind, format_, pad=3)
    assert made_of.label == label
    assert made_of.attribute == "x"


def test_a_format_that_loses_something_is_not_exact() -> None:
    assert [part(datetime, t).is_exact for t in (DAY, MONTH, SECONDS)] == [False] * 3
    assert not part(str, LOWER).is_exact
    assert not part(str, shard(8)).is_exact
    assert part(int, DESCENDING, pad=3).is_exact


def test_every_shard_is_reached() -> None:
    spread = part(str, shard(8))
    assert {spread.attribute_text(f"O{number}") for number in range(200)} == set("01234567")


def test_the_shard_of_an_argument_that_is_not_known_yet_is_shown_by_its_name() -> None:
    spread = part(str, shard(8))
    assert spread.text_or_symbol(spread.argument(Symbol("id"))) == "{shard(id, of=8)}"


def test_a_codec_is_not_asked_for_an_argument_that_is_not_known_yet() -> None:
    assert part(str, coded(REVERSED, "Reversed")).text_or_symbol(Symbol("id")) == "{Reversed(id)}"


# -- formats of formats --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formats", "kind", "value", "text"),
    [
        ((SECONDS, DESCENDING), datetime, NOON, "8231521569"),
        ((DAY, DESCENDING), datetime, NOON, "7973-98-84"),
        ((WEEK, DESCENDING), datetime, NOON, "7973-W96"),
        ((iso("seconds", "Z"), DESCENDING), datetime, NOON, "7973-98-84T87:99:69Z"),
        ((fixed_point(4, 2), DESCENDING), Decimal, Decimal("12.5"), "9987.49"),
        ((padded(3), DESCENDING, DESCENDING), int, 7, "007"),
        ((SECONDS, NUMBER), datetime, NOON, "1768478430"),
        ((MILLIS, NUMBER), datetime, NOON, "1768478430250"),
        ((SECONDS, DESCENDING, NUMBER), datetime, NOON, "8231521569"),
        ((SECONDS, NUMBER), datetime, datetime(1970, 1, 1, 0, 0, 7, tzinfo=UTC), "7"),
        ((YEAR, NUMBER), datetime, NOON, "2026"),
        ((padded(5), NUMBER), int, 7, "7"),
        ((LOWER, truncated(2)), str, "ANN", "an"),
        ((truncated(2), LOWER), str, "ANN", "an"),
        ((LOWER, shard(8)), str, "ANN", str(zlib.crc32(b"ann") % 8)),
        ((DAY, shard(8)), datetime, NOON, str(zlib.crc32(b"2026-01-15") % 8)),
        ((DAY, WEEK), datetime, NOON, "2026-W03"),
        ((YEAR, padded(6)), datetime, NOON, "002026"),
    ],
)
def test_formats_nest(formats: tuple[Format, ...], kind: Any, value: Any, text: str) -> None:
    nested = part(kind, *formats)
    assert nested.attribute_text(value) == text
    assert nested.text(nested.argument(value)) == text
    assert nested.text(nested.read(text)) == text


@pytest.mark.parametrize(
    ("formats", "kind", "message"),
    [
        ((HOUR, iso("seconds", "Z")), datetime, "iso(hour(x), 'seconds') takes the moment itself"),
        ((SECONDS, HOUR), datetime, "hour(epoch_seconds(x)) takes the moment itself"),
        ((DAY, DESCENDING, YEAR), datetime, "year(descending(day(x))) takes the value itself"),
        ((padded(3), DESCENDING, padded(4)), int, "padded(descending(padded(x, 3)), 4) takes the"),
        ((LOWER, coded(REVERSED, "R")), str, "R(lower(x)) takes the value itself"),
        ((HOUR, coded(REVERSED, "R")), datetime, "R(hour(x)) takes the value itself"),
        ((LOWER, DESCENDING), str, "descending(lower(x)) needs a fixed number of digits"),
        ((coded(REVERSED, "R"), DESCENDING), str, "descending(R(x)) needs a fixed number"),
        ((DAY, LOWER), datetime, "lower(day(x)) takes a value of type str, not of type date"),
        ((DAY, NUMBER), datetime, "number(day(x)) takes a number, not a value of type date"),
    ],
)
def test_a_format_that_would_ignore_another_is_refused(
    formats: tuple[Format, ...], kind: Any, message: str
) -> None:
    with pytest.raises(DeclarationError) as refused:
        part(kind, *formats)
    assert str(refused.value).startswith(f"Order.primary: {message}")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: padded(0), "padded(…, 0): the number of digits is at least 1"),
        (lambda: fixed_point(0, 2), "fixed_point(…, 0, 2): at least one digit"),
        (lambda: fixed_point(2, 0), "fixed_point(…, 2, 0): at least one digit"),
        (lambda: truncated(0), "truncated(…, 0): keep at least one character"),
        (lambda: iso("minutes", "Z"), "iso(…, 'minutes', zone='Z'): the precision is"),  # type: ignore[arg-type]
        (lambda: iso("seconds", "+02:00"), "iso(…, 'seconds', zone='+02:00')"),  # type: ignore[arg-type]
    ],
)
def test_a_format_with_impossible_options_is_refused(made: Any, message: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        made()
    assert str(refused.value).startswith(message)
