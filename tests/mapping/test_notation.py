"""Notations: the text that a value of each type has inside a key."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal, Union
from uuid import UUID

import pytest

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.ids import KSUID, ULID
from tablewright.symbol import Symbol
from tests.mapping.key_parts import Status, part

BERLIN = timezone(timedelta(hours=2))
NOON = datetime(2026, 1, 15, 12, 0, 30, 250_000, tzinfo=UTC)
AN_ID = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
A_KSUID = KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
A_ULID = ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Odd(StrEnum):
    HASH = "a#b"
    DOLLAR = "$5"


class Level(IntEnum):
    LOW = 1
    HIGH = 100


class Rank(Enum):
    FIRST = 1
    SECOND = 2


class Email(str):
    __slots__ = ()


# -- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "pad", "value", "text"),
    [
        (str, None, "O100", "O100"),
        (str, None, " ", " "),
        (str, None, "1#2", "1$!2"),
        (str, None, "$5", "$$5"),
        (str, None, Status.PAID, "PAID"),
        (Email, None, Email("a#b"), "a$!b"),
        (int, 3, 0, "000"),
        (int, 3, 7, "007"),
        (int, 3, 999, "999"),
        (int, None, 7, "7"),
        (int, None, -7, "-7"),
        (int, None, 10**20, "100000000000000000000"),
        (datetime, None, NOON, "2026-01-15T12:00:30.250000Z"),
        (datetime, None, NOON.replace(microsecond=0), "2026-01-15T12:00:30.000000Z"),
        (datetime, None, datetime(2026, 1, 15, tzinfo=BERLIN), "2026-01-14T22:00:00.000000Z"),
        (datetime, None, datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
        (date, None, date(2026, 1, 15), "2026-01-15"),
        (date, None, date(1, 1, 1), "0001-01-01"),
        (UUID, None, AN_ID, "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        (bool, None, True, "true"),
        (bool, None, False, "false"),
        (Status, None, Status.PAID, "PAID"),
        (Colour, None, Colour.RED, "red"),
        (Odd, None, Odd.HASH, "a$!b"),
        (Odd, None, Odd.DOLLAR, "$$5"),
        (Level, None, Level.LOW, "001"),
        (Level, None, Level.HIGH, "100"),
        (Rank, None, Rank.SECOND, "2"),
        (Literal["open", "done"], None, "open", "open"),
        (KSUID, None, A_KSUID, "0ujtsYcgvSTl8PAuAdqWYSMnLOv"),
        (KSUID, None, str(A_KSUID), "0ujtsYcgvSTl8PAuAdqWYSMnLOv"),
        (ULID, None, A_ULID, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (ULID, None, str(A_ULID), "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (KSUID | str, None, A_KSUID, "0ujtsYcgvSTl8PAuAdqWYSMnLOv"),
        (KSUID | str, None, "1#2", "1$!2"),
        (Status | str, None, Status.PAID, "PAID"),
    ],
)
def test_a_value_has_its_text(kind: Any, pad: int | None, value: Any, text: str) -> None:
    made_of = part(kind, pad=pad)
    assert made_of.text(value) == text
    assert made_of.attribute_text(value) == text
    assert type(made_of.text(value)) is str


@pytest.mark.parametrize(
    ("choices", "value", "text"),
    [
        (Literal["a", "a#b"], "a#b", "a$!b"),
        (Literal["$5", "5"], "$5", "$$5"),
    ],
)
def test_a_literal_type_is_escaped_as_any_text(choices: Any, value: str, text: str) -> None:
    assert part(choices).text(value) == text


@pytest.mark.parametrize(
    ("kind", "pad", "values"),
    [
        (int, 4, [0, 1, 9, 10, 99, 100, 1000, 9999]),
        (
            datetime,
            None,
            [
                datetime(1, 1, 1, tzinfo=UTC),
                datetime(999, 12, 31, tzinfo=UTC),
                NOON.replace(microsecond=0),
                NOON.replace(microsecond=1),
                datetime(2026, 1, 15, 14, 0, 30, 999_999, tzinfo=BERLIN),
                datetime(2026, 1, 15, 12, 0, 31, tzinfo=UTC),
                datetime(9999, 12, 31, tzinfo=UTC),
            ],
        ),
        (date, None, [date(1, 1, 1), date(999, 1, 1), date(2026, 1, 15), date(2026, 2, 1)]),
        (bool, None, [False, True]),
        (Level, None, [Level.LOW, Level.HIGH]),
        (Status, None, [Status.CREATED, Status.PAID]),
        (UUID, None, [UUID(int=0), UUID(int=9), UUID(int=10), UUID(int=2**127)]),
        (KSUID, None, [KSUID.floor(NOON), KSUID.ceiling(NOON), KSUID.floor(NOON + timedelta(1))]),
        (ULID, None, [ULID.floor(NOON), ULID.ceiling(NOON), ULID.floor(NOON + timedelta(1))]),
        (str, None, [" ", "!", '"', '"z', "#", "#z", "$", "$!", "$$", "%", "a", "ä", "🍲"]),
    ],
)
def test_texts_sort_as_the_values_do(kind: Any, pad: int | None, values: list[Any]) -> None:
    made_of = part(kind, pad=pad)
    texts = [made_of.text(value) for value in values]
    assert texts == sorted(texts)
    assert len(set(texts)) == len(texts)
    assert made_of.is_ordered


def test_a_number_without_a_width_is_not_in_order() -> None:
    assert not part(int).is_ordered


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (KSUID | str, A_KSUID),
        (KSUID | str, "001"),
        (Union[KSUID, str], A_KSUID),  # noqa: UP007 - as in older code
        (Status | str, Status.PAID),
        (Status | str, "ON#HOLD"),
    ],
)
def test_a_text_of_a_union_is_read_as_the_first_type_that_has_it(kind: Any, value: str) -> None:
    made_of = part(kind)
    read = made_of.read(made_of.text(value))
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "free"),
    [
        (str, True),
        (Email, True),
        (KSUID | str, True),
        (int, False),
        (Status, False),
        (KSUID, False),
        (datetime, False),
    ],
)
def test_only_texts_are_free(kind: Any, free: bool) -> None:
    assert part(kind, pad=3).is_free_text is free


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "pad", "value", "told"),
    [
        (str, None, "", ["is empty", "must not be"]),
        (str, None, 5, ["5", "int", "str"]),
        (str, None, None, ["None", "str"]),
        (str, None, b"x", ["bytes", "str"]),
        (int, 3, -1, ["-1", "3 digits", "0 to 999"]),
        (int, 3, 1000, ["1000", "3 digits", "0 to 999"]),
        (int, 3, True, ["True", "int"]),
        (int, None, False, ["False", "int"]),
        (int, 3, "7", ["'7'", "str", "int"]),
        (int, 3, 7.0, ["7.0", "float", "int"]),
        (int, None, Decimal(7), ["Decimal", "int"]),
        (datetime, None, datetime(2026, 1, 15), ["no time zone", "datetime.now(UTC)"]),
        (datetime, None, date(2026, 1, 15), ["date", "datetime"]),
        (datetime, None, "2026-01-15T12:00:30Z", ["str", "datetime"]),
        (date, None, NOON, [".date()"]),
        (date, None, "2026-01-15", ["str", "date"]),
        (UUID, None, str(AN_ID), ["str", "UUID"]),
        (bool, None, 1, ["1", "int", "bool"]),
        (Status, None, "PAID", ["'PAID'", "str", "Status"]),
        (Status, None, Colour.RED, ["Colour", "Status"]),
        (Level, None, 1, ["1", "int", "Level"]),
        (Literal["open", "done"], None, "shut", ["'shut'", "'open'", "'done'"]),
        (Literal["open", "done"], None, 1, ["1", "int"]),
        (KSUID, None, 5, ["5", "int", "KSUID"]),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    kind: Any, pad: int | None, value: Any, told: list[str]
) -> None:
    with pytest.raises(InvalidValue) as refused:
        part(kind, pad=pad).text(value)
    message = str(refused.value)
    assert message.startswith("Order.primary: x")
    for piece in told:
        assert piece in message


@pytest.mark.parametrize(
    ("kind", "value"), [(KSUID, "abc"), (ULID, "abc"), (KSUID, A_ULID), (ULID, A_KSUID)]
)
def test_an_id_that_is_none_is_refused_in_the_name_of_its_key(kind: Any, value: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        part(kind).text(value)
    assert str(value) in str(refused.value)
    assert kind.__name__ in str(refused.value)
    assert "Order.primary: x" in str(refused.value)


def test_a_moment_that_has_no_utc_is_refused() -> None:
    """The first hours of the year 1 in Berlin are before all of Python's years in UTC."""
    with pytest.raises(InvalidValue):
        part(datetime).text(datetime(1, 1, 1, tzinfo=BERLIN))


class Mixed(Enum):
    ONE = 1
    TWO = "two"


class Negative(IntEnum):
    BELOW = -1
    AFTER_DELIMITER = 1


class Fraction(Enum):
    HALF = 0.5


@pytest.mark.parametrize("kind", [Mixed, Negative, Fraction])
def test_an_enum_without_an_order_as_text_is_refused(kind: Any) -> None:
    with pytest.raises(
        DeclarationError, match=rf"^Order\.primary: .*{kind.__name__}.*no order as text"
    ):
        part(kind)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (float, "float"),
        (Decimal, "Decimal"),
        (bytes, "bytes"),
        (timedelta, "timedelta"),
        (list[str], "list[str]"),
        (set[str], "set[str]"),
        (dict[str, int], "dict[str, int]"),
        (Literal[1, 2], "Literal[1, 2]"),
        (Any, "Any"),
        (int | str, "int | str"),
        (KSUID | ULID, "KSUID | "),
    ],
)
def test_a_type_without_an_ordered_text_is_refused(kind: Any, shown: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        part(kind)
    message = str(refused.value)
    assert message.startswith("Order.primary: x is ")
    assert shown in message
    assert "use str, int, datetime" in message


@pytest.mark.parametrize(
    ("kind", "pad"),
    [
        (str, None),
        (int, 3),
        (int, None),
        (datetime, None),
        (date, None),
        (UUID, None),
        (bool, None),
        (Status, None),
        (Literal["open", "done"], None),
        (KSUID, None),
        (ULID, None),
        (KSUID | str, None),
    ],
)
def test_an_argument_that_is_not_known_yet_is_shown_by_its_name(kind: Any, pad: int | None) -> None:
    assert part(kind, pad=pad).text_or_symbol(Symbol("order.x")) == "{order.x}"
