"""Values are validated when an entity is created and when it is changed."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pydantic
import pytest

from tablewright import Attr, Entity, attr, create, key, put
from tablewright.database import Database
from tablewright.errors import InvalidValue
from tablewright.ids import ULID
from tests.model.entities.catalog import AWARE, Everything, Line, Managed, Order, order
from tests.new_table import new_table

# -- made ------------------------------------------------------------------------------------------


def test_an_entity_has_the_values_it_was_made_with() -> None:
    made = Order(customer="ann", email="a@b.c", total=Decimal("1.50"), placed=AWARE)
    assert (made.customer, made.email, made.total) == ("ann", "a@b.c", Decimal("1.50"))
    assert made.placed == AWARE
    assert made.note is None


def test_a_value_that_is_missing_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.email has no value$"):
        Order(customer="ann")  # type: ignore[call-arg]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidValue) as refused:
        Order(customer=5, totl=1)  # type: ignore[arg-type, call-arg]
    assert str(refused.value).split("; ") == [
        "Order.customer: 5: Input should be a valid string",
        "Order.email has no value",
        "Order has no attribute 'totl'",
        "did you mean 'total'?",
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("emial", "; did you mean 'email'?"),
        ("custmer", "; did you mean 'customer'?"),
        ("customerName", "; did you mean 'customer'?"),
        ("xyzzy", ""),
        ("primary", ""),
        ("PK", ""),
        ("__entity__", ""),
    ],
)
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(name: str, hint: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        order(**{name: "x"})
    assert str(refused.value) == f"Order has no attribute {name!r}{hint}"


def test_values_have_names() -> None:
    with pytest.raises(TypeError):
        Order("ann", "a@b.c")  # type: ignore[call-arg, arg-type]


#: Attributes, values that are refused, and a part of the message.
WRONG: list[tuple[str, Any, str]] = [
    ("text", 5, "valid string"),
    ("text", None, "valid string"),
    ("text", b"\xff", "valid string"),
    ("whole", "five", "valid integer"),
    ("whole", 1.5, "fractional part"),
    ("whole", None, "valid integer"),
    ("exact", "one", "valid decimal"),
    ("real", "much", "valid number"),
    ("flag", "perhaps", "valid boolean"),
    ("raw", 5, "valid bytes"),
    ("moment", "yesterday", "valid datetime"),
    ("moment", datetime(2026, 1, 15), "has no time zone"),
    ("moment", "2026-01-15T10:15:30", "has no time zone"),
    ("maybe_moment", datetime(2026, 1, 15), "has no time zone"),
    ("gone", datetime(2026, 1, 15), "has no time zone"),
    ("day", "today", "valid date"),
    ("day", datetime(2026, 1, 15, 12, tzinfo=UTC), "zero time"),
    ("span", "long", "valid timedelta"),
    ("uid", "abc", "valid UUID"),
    ("status", "open?", "'open' or 'done'"),
    ("level", 3, "1 or 2"),
    ("shade", "dim", "'dark' or 'light'"),
    ("choice", "maybe", "'yes' or 'no'"),
    ("words", [1], "valid string"),
    ("words", "word", "valid set"),
    ("counts", {"x"}, "valid integer"),
    ("prices", ["x"], "valid decimal"),
    ("scores", {"x": "y"}, "valid integer"),
    ("scores", [1], "valid dictionary"),
    ("by_uid", {"x": "y"}, "valid UUID"),
    ("place", {"street": "x"}, "has no value"),
    ("place", Line("sku", Decimal(1)), "valid dictionary or instance of Place"),
    ("place", {"street": "x", "number": -1, "city": {"name": "y"}}, "greater than or equal to 0"),
    ("lines", [{"sku": "x"}], "has no value"),
    ("ksuid", "abc", "'abc' is not a KSUID"),
    ("ulid", "abc", "'abc' is not a ULID"),
    ("maybe_whole", "x", "valid integer"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_value_is_refused_by_attribute_and_reason(
    name: str, value: Any, message: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        Everything(**{"name": "x", name: value})
    assert f"Everything.{name}" in str(refused.value)
    assert message in str(refused.value)


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_value_cannot_be_set_and_leaves_the_entity_as_it_was(
    name: str, value: Any, message: str
) -> None:
    entity = Everything(name="x")
    with pytest.raises(InvalidValue) as refused:
        setattr(entity, name, value)
    assert f"Everything.{name}" in str(refused.value)
    assert message in str(refused.value)
    assert entity == Everything(name="x")


def test_the_place_inside_of_a_value_is_told() -> None:
    with pytest.raises(InvalidValue, match=r"Everything\.place\.city\.name has no value"):
        Everything(name="x", place={"street": "y", "city": {}})  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match=r"Everything\.prices\.1: 'x'"):
        Everything(name="x", prices=[Decimal(1), "x"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("real", 2**53 + 1),
        ("real", Decimal("0.1000000000000000000001")),
    ],
)
def test_a_float_is_never_rounded_silently(name: str, value: Any) -> None:
    """Refused, or kept as it is."""
    try:
        made = Everything(**{"name": "x", name: value})
    except InvalidValue:
        return
    assert Decimal(getattr(made, name)) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("real", float("nan")),
        ("real", float("inf")),
        ("real", 1e-200),
        ("real", 1e200),
        ("exact", Decimal("NaN")),
        ("exact", Decimal(10) ** 126),
        ("exact", Decimal("1." + "1" * 39)),
        ("whole", 10**38 + 1),
        ("prices", [Decimal("1." + "1" * 39)]),
        ("text", "\ud800"),
        ("moments", [datetime(2026, 1, 15)]),
        ("maybe_words", set()),
    ],
)
def test_what_cannot_be_stored_exactly_is_refused_when_made_or_written(
    db: Database, name: str, value: Any
) -> None:
    def write() -> None:
        db.run(put(Everything(**{"name": "x", name: value})))

    with pytest.raises(InvalidValue, match=f"Everything.{name}"):
        write()
    assert db.run(Everything.primary("x")) is None


# -- changed ---------------------------------------------------------------------------------------


def test_a_value_that_is_set_is_checked_and_converted() -> None:
    changed = order()
    changed.total = "12.50"  # type: ignore[assignment]
    assert changed.total == Decimal("12.50")
    changed.note = "fragile"
    assert changed.note == "fragile"


@pytest.mark.parametrize(
    ("name", "hint"), [("totl", "; did you mean 'total'?"), ("xyzzy", ""), ("primary", "")]
)
def test_an_unknown_name_cannot_be_set(name: str, hint: str) -> None:
    changed = order()
    before = copy.copy(changed)
    with pytest.raises(AttributeError) as refused:
        setattr(changed, name, 5)
    assert str(refused.value) == f"Order has no attribute {name!r}{hint}"
    assert changed == before


def test_a_change_of_one_entity_is_seen_in_no_other() -> None:
    one, other = order(order_id=ULID.new()), order()
    one.note = "x"
    assert other.note is None
    assert Order.note is not None  # still the reference


def test_a_version_cannot_be_set() -> None:
    """As it cannot be given: a version that somebody set would overwrite another's write."""
    entity = Managed(name="x")
    before = copy.copy(entity)
    with pytest.raises(AttributeError, match=r"Managed\.version is read-only"):
        entity.version = 7
    assert entity == before


@pytest.mark.parametrize("name", ["made", "written"])
def test_a_stamp_may_be_set_on_an_instance(name: str) -> None:
    """Sample data has a past; what is no moment is refused all the same."""
    entity = Managed(name="x")
    setattr(entity, name, AWARE)
    assert getattr(entity, name) == AWARE
    with pytest.raises(InvalidValue, match=rf"Managed\.{name}"):
        setattr(entity, name, "yesterday")


def test_an_entity_that_was_read_is_checked_as_well(db: Database) -> None:
    db.run(create(order(order_id=ULID.floor(AWARE))))
    found = db.run(Order.primary("ann", ULID.floor(AWARE)))
    assert found is not None
    with pytest.raises(InvalidValue):
        found.email = 5  # type: ignore[assignment]


# -- the pydantic model ----------------------------------------------------------------------------


def test_threads_that_use_an_entity_first_get_one_model() -> None:
    class Late(Entity, table=new_table()):
        name: Attr[str] = attr()
        primary = key("LATE" / name, "LATE")

    assert not isinstance(vars(Late)["__model__"], type)  # it is made on first use
    with ThreadPoolExecutor(4) as threads:
        models = list(threads.map(lambda _: Late.__model__, range(8)))
    assert len(set(map(id, models))) == 1
    assert vars(Late)["__model__"] is models[0]


def test_a_mistake_in_a_decorator_is_reported_at_the_declaration() -> None:
    with pytest.raises(pydantic.PydanticUserError, match="signature"):

        class Wrong(Entity, table=new_table()):
            name: Attr[str] = attr()
            primary = key("WRONG" / name, "WRONG")

            @pydantic.field_serializer("name")
            def serialized(self) -> str:
                return "x"
