"""Values are stored in this form, come back equal, and are refused where they would not.

The cases are in the modules beside this one; every law holds for all of them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import HttpUrl
from typing_extensions import TypeAliasType

from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.mapping.converters import converter
from tests.mapping.converters import choices, containers, dynamic, scalars, structures, times
from tests.mapping.converters.choices import NULL, Mixed, Status
from tests.mapping.converters.scalars import UserId
from tests.mapping.converters.structures import Point
from tests.mapping.converters.times import moments_in

Value = dict[str, Any]

Name = TypeAliasType("Name", str)

#: A type, a value of it and what is stored for it. The value is encoded, the stored one decoded.
CASES: list[tuple[Any, Any, Value]] = [
    *scalars.CASES,
    *times.CASES,
    *choices.CASES,
    *containers.CASES,
    *structures.CASES,
    *dynamic.CASES,
    (Name, "n", {"S": "n"}),
    (Annotated[int, "positive"], 5, {"N": "5"}),
]


@pytest.mark.parametrize(("annotation", "value", "stored"), CASES)
def test_a_value_is_stored_so(annotation: Any, value: Any, stored: Value) -> None:
    assert converter(annotation, "Order.a").encode(value) == stored


@pytest.mark.parametrize(("annotation", "value", "stored"), CASES)
def test_a_stored_value_comes_back_equal(annotation: Any, value: Any, stored: Value) -> None:
    made = converter(annotation, "Order.a")
    again = made.decode(stored)
    assert again == value
    assert type(value) is not made.kind or type(again) is made.kind


@pytest.mark.parametrize(("annotation", "value", "stored"), CASES)
def test_the_tag_is_that_of_what_is_stored(annotation: Any, value: Any, stored: Value) -> None:
    made = converter(annotation, "Order.a")
    assert made.tag is None or made.tag in stored or (made.optional and stored == NULL)


STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    *scalars.STRATEGIES,
    *times.STRATEGIES,
    *choices.STRATEGIES,
    *containers.STRATEGIES,
    *structures.STRATEGIES,
    *dynamic.STRATEGIES,
]


@pytest.mark.parametrize(("annotation", "strategy"), STRATEGIES, ids=lambda each: str(each)[:40])
@given(data=st.data())
def test_what_is_stored_comes_back(
    annotation: Any, strategy: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    value = data.draw(strategy)
    made = converter(annotation, "Order.a")
    again = made.decode(made.encode(value))
    assert again == value
    assert annotation is Any or type(again) is type(value)


#: A type, what somebody else may have stored for it, and what that means.
OTHER_SPELLINGS: list[tuple[Any, Value, Any]] = [
    *scalars.OTHER_SPELLINGS,
    *times.OTHER_SPELLINGS,
    *structures.OTHER_SPELLINGS,
    *dynamic.OTHER_SPELLINGS,
]


@pytest.mark.parametrize(("annotation", "stored", "value"), OTHER_SPELLINGS)
def test_other_spellings_are_read_too(annotation: Any, stored: Value, value: Any) -> None:
    again = converter(annotation, "Order.a").decode(stored)
    assert again == value
    assert type(again) is type(value)
    if isinstance(again, datetime):
        assert again.tzinfo is UTC


STRICT: list[Any] = [
    *scalars.STRICT,
    *times.STRICT,
    *choices.STRICT,
    *containers.STRICT,
    *structures.STRICT,
    *dynamic.STRICT,
]


@pytest.mark.parametrize("annotation", STRICT)
@pytest.mark.parametrize("value", [None, object(), ...])
def test_what_is_of_no_stored_type_is_refused(annotation: Any, value: Any) -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.a: "):
        converter(annotation, "Order.a").encode(value)


#: A type, a value that it does not take, and the words that say so.
REFUSED: list[tuple[Any, Any, str]] = [
    *scalars.REFUSED,
    *times.REFUSED,
    *choices.REFUSED,
    *containers.REFUSED,
    *structures.REFUSED,
    *dynamic.REFUSED,
]


@pytest.mark.parametrize(("annotation", "value", "message"), REFUSED)
def test_a_value_that_does_not_fit_is_refused(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.a") as refused:
        converter(annotation, "Order.a").encode(value)
    assert message in str(refused.value)


#: A type, what is stored, and the words that say that it cannot be read.
UNREADABLE: list[tuple[Any, Value, str]] = [
    *scalars.UNREADABLE,
    *times.UNREADABLE,
    *choices.UNREADABLE,
    *containers.UNREADABLE,
    *structures.UNREADABLE,
    *dynamic.UNREADABLE,
]


@pytest.mark.parametrize(("annotation", "stored", "message"), UNREADABLE)
def test_a_stored_value_that_does_not_fit_is_unreadable(
    annotation: Any, stored: Value, message: str
) -> None:
    with pytest.raises(UnreadableItem, match=r"^Order\.a") as refused:
        converter(annotation, "Order.a").decode(stored)
    assert message in str(refused.value)


#: A type that cannot be stored, and the words that say so.
MODEL_ERRORS: list[tuple[Any, str]] = [
    *choices.MODEL_ERRORS,
    *containers.MODEL_ERRORS,
    *structures.MODEL_ERRORS,
    *dynamic.MODEL_ERRORS,
]


@pytest.mark.parametrize(("annotation", "message"), MODEL_ERRORS)
def test_a_type_that_cannot_be_stored_is_a_model_error(annotation: Any, message: str) -> None:
    with pytest.raises(DeclarationError, match=r"^Order\.a") as refused:
        converter(annotation, "Order.a")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("annotation", "tag", "kind"),
    [
        (str | None, "S", str),
        (Annotated[int, "x"], "N", int),
        (UserId, "S", str),
        (Status | None, "S", Status),
        (Mixed, None, Mixed),
        (Literal["a", "b", None], "S", Literal["a", "b", None]),
        (Literal["a", 1], None, Literal["a", 1]),
        (int | float, "N", int | float),
        (int | str, None, int | str),
        (list[int], "L", list[int]),
        (set[UUID], "SS", set[UUID]),
        (Any, None, Any),
        (HttpUrl, "S", HttpUrl),
    ],
)
def test_a_converter_tells_its_tag_and_kind(annotation: Any, tag: str | None, kind: Any) -> None:
    made = converter(annotation, "Order.a")
    assert (made.tag, made.kind) == (tag, kind)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement came with 3.12")
def test_an_alias_may_contain_itself() -> None:
    names: dict[str, Any] = {}
    exec("type Tree = int | list[Tree]", names)
    tree = converter(names["Tree"], "Order.a")
    stored = {"L": [{"N": "1"}, {"L": [{"N": "2"}, {"L": []}]}]}
    assert tree.encode([1, [2, []]]) == stored
    assert tree.decode(stored) == [1, [2, []]]


def test_a_subclass_of_a_model_is_refused_because_its_fields_would_be_lost() -> None:
    @dataclass
    class Point3(Point):
        z: int = 0

    with pytest.raises(InvalidValue, match=r"\(Point3\) is not a Point$"):
        converter(Point, "Order.a").encode(Point3(1))


def test_an_int_too_long_to_be_printed_is_refused() -> None:
    with pytest.raises(
        InvalidValue, match=r"^Order\.a: a number cannot be stored: Number overflow"
    ):
        converter(int, "Order.a").encode(10**5000)


@given(st.floats())
def test_a_float_comes_back_to_the_last_bit_or_is_refused(number: float) -> None:
    made = converter(float, "Order.a")
    try:
        stored = made.encode(number)
    except InvalidValue:
        assert not 1e-130 <= abs(number) < 1e126
        assert number != 0
    else:
        assert made.decode(stored) == number


def test_texts_of_datetimes_sort_as_the_moments_do() -> None:
    start = datetime(2026, 1, 15, tzinfo=UTC)
    moments = [start + timedelta(microseconds=n) for n in (0, 1, 999_999, 1_000_000, 10**12)]
    encode = converter(datetime, "Order.at").encode
    stored = [encode(moment)["S"] for moment in moments]
    assert stored == sorted(stored)


@given(st.datetimes(timezones=st.just(UTC)))
def test_the_text_of_a_datetime_is_iso_with_all_six_digits(moment: datetime) -> None:
    iso = moment.isoformat(timespec="microseconds").removesuffix("+00:00")
    assert converter(datetime, "Order.at").encode(moment) == {"S": f"{iso}Z"}


# Python lets no time in a gap of its zone equal one of another zone, so they are compared in UTC.
@given(moments_in(ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata"), ZoneInfo("America/Lima")))
def test_a_datetime_comes_back_as_the_same_moment_in_utc(moment: datetime) -> None:
    made = converter(datetime, "Order.a")
    assert made.decode(made.encode(moment)) == moment.astimezone(UTC)
