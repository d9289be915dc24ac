"""Forms: every argument of every pattern can be given as texts, and is read back equal."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType
from urllib.parse import urlencode
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tablewright import Query, access_pattern
from tablewright.designs.catalog import load
from tablewright.designs.commerce import Commerce, CustomerOrder
from tablewright.errors import TablewrightError
from tablewright.model.pattern import AccessPattern
from tablewright.studio.patterns.form_values import first_values, read_form, texts
from tablewright.studio.patterns.forms import Field, call, field, fields_of
from tablewright.studio.web.http import Fields
from tests.studio.calls import EACH_DESIGN, checked_calls, sample_workspace


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Address(BaseModel):
    street: str
    number: int = 1


@dataclass
class Point:
    x: int
    label: str | None = None


VALUES: list[tuple[Any, Any]] = [
    (str, "a"), (str, ""), (str, "two\nlines"), (str, " <b>\u202e "), (str | None, None),
    (str | None, ""),
    (int, -3), (int, 10**20), (float, 0.1), (Decimal, Decimal("1.50")), (bool, True), (bool, False),
    (bool | None, None), (Colour, Colour.BLUE), (Literal["a", 3], 3), (date, date(2026, 2, 3)),
    (time, time(1, 2, 3, 4)), (datetime, datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)),
    (datetime | None, None), (UUID, UUID(int=7)), (list[str], []), (list[str], ["a", "b"]),
    (list[str], [""]), (list[str], ["a\nb", " c"]), (list[str], ["[x"]), (list[int], [1, 2]),
    (set[str], {"a", "b"}), (dict[str, int], {"a": 1}), (list[Address], [Address(street="a")]),
    (Address, Address(street="a", number=2)), (Address | None, None), (Point, Point(1)),
    (tuple[int, ...], (1, 2)), (list[str | None], ["a", None]),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "value"), VALUES)
def test_the_texts_of_a_value_are_read_as_the_value(hint: Any, value: Any) -> None:
    made = field("given", hint)
    found = read_form([made], Fields(texts(made, value)))
    assert found.problems == {}
    assert found.values == {"given": value}


@given(
    st.one_of(
        st.tuples(st.just(str), st.text()),
        st.tuples(st.just(list[str]), st.lists(st.text(), max_size=3)),
        st.tuples(st.just(dict[str, str]), st.dictionaries(st.text(), st.text(), max_size=3)),
        st.tuples(st.just(datetime), st.datetimes(timezones=st.just(UTC))),
        st.tuples(st.just(Decimal), st.decimals(allow_nan=False, allow_infinity=False)),
    )
)
def test_any_value_passes_through_a_submitted_form(typed: tuple[Any, Any]) -> None:
    made = field("given", typed[0])
    submitted = Fields.parse(urlencode(texts(made, typed[1])))
    assert read_form([made], submitted).values == {"given": typed[1]}


@pytest.mark.parametrize(
    ("hint", "inputs", "problem"),
    [
        (int, [("given", "x")], "valid integer"),
        (int, [], "missing"),
        (Colour, [("given", "GREEN")], "not one of RED, BLUE"),
        (datetime, [("given", "noon")], "Invalid isoformat"),
        (datetime, [("given", "2026-01-01T00:00"), ("given~us", "1000")], "microseconds"),
        (list[int], [("given", "1\nx")], "valid integer"),
        (dict[str, int], [("given", "{")], "Invalid JSON"),
    ],
)
def test_a_wrong_text_is_a_problem_of_its_field(
    hint: Any, inputs: list[tuple[str, str]], problem: str
) -> None:
    found = read_form([field("given", hint)], Fields(inputs))
    assert problem in found.problems["given"]
    assert found.values == {}


def test_problems_inside_of_a_group_have_its_path() -> None:
    made = field("given", Address)
    found = read_form([made], Fields([("given.street", "a"), ("given.number", "x")]))
    assert list(found.problems) == ["given.number"]


def test_a_moment_may_name_its_zone() -> None:
    found = read_form([field("at", datetime)], Fields([("at", "2026-01-01T02:00+02:00")]))
    assert found.values["at"] == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", EACH_DESIGN)
def test_the_arguments_of_all_checks_pass_through_the_form(name: str) -> None:
    workspace = sample_workspace(name)
    assert workspace.design is not None
    database = workspace.database()
    for made in checked_calls(workspace.design, database):
        fields: tuple[Field, ...] = fields_of(made.pattern)
        pairs = [
            pair for each in fields for pair in texts(each, made.arguments[each.label])
            if each.label in made.arguments
        ]  # fmt: skip
        found = read_form(fields, Fields(pairs))
        assert found.problems == {}
        assert found.values == made.arguments
        try:
            database.run(made.plan())
        except TablewrightError:
            continue
    workspace.close()


class Node(BaseModel):
    name: str
    child: Node | None = None


UserId = NewType("UserId", str)


def test_a_type_that_contains_itself_ends_as_json() -> None:
    made = field("node", Node)
    value = Node(name="a", child=Node(name="b", child=Node(name="c", child=Node(name="d"))))
    found = read_form([made], Fields(texts(made, value)))
    assert found.problems == {}
    assert found.values == {"node": value}


def test_another_name_of_a_type_is_that_type() -> None:
    assert field("user", UserId).widget == "text"
    assert field("user", Annotated[UserId, "remark"]).widget == "text"


def test_a_parameter_before_one_with_a_default_may_be_left_out() -> None:
    @access_pattern
    def orders(customer_id: str, size: int = 3, *, newest: bool = True) -> Query[CustomerOrder]:
        query = CustomerOrder.timeline(customer_id).page_size(size)
        return query.desc()

    pattern: AccessPattern = orders.__pattern__  # type: ignore[attr-defined]
    try:
        assert [each.default is None for each in fields_of(pattern)] == [True, False, False]
        found = read_form(fields_of(pattern), Fields([("customer_id", "C1"), ("newest", "on")]))
        assert found.values == {"customer_id": "C1", "newest": True}
        assert call(pattern, found.values)._size == 3
    finally:
        Commerce.__table__.patterns.pop(pattern.label)


def test_the_form_of_a_create_does_not_begin_with_an_id_that_is_taken() -> None:
    design = load("commerce")
    found = {pattern.name: dict(first_values(design, pattern)) for pattern in design.patterns}
    created, replaced = found["put_customer_if_absent"], found["put_customer"]
    assert replaced["customer.customer_id"] == "C1"
    assert created == {
        name: text for name, text in replaced.items() if name != "customer.customer_id"
    }
