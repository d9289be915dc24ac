"""Entities are values: checked when made and when changed, and the same when they come back."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from fastapi import Body, FastAPI, HTTPException
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    created_at,
    index,
    key,
    put,
    ttl,
    update,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.ids import KSUID, ULID
from tablewright.transport import Local
from tests.encoding.strategies import decimals, key_texts, raw_bytes, texts

with warnings.catch_warnings(action="ignore"):  # it would rather have httpx2 than httpx
    from fastapi.testclient import TestClient


class Status(Enum):
    OPEN = "open"
    DONE = "done"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Shade(StrEnum):
    DARK = "dark"
    LIGHT = "light"


class City(BaseModel):
    name: str
    code: str | None = None


class Place(BaseModel):
    street: str
    number: int = Field(default=1, ge=0)
    city: City


@dataclass
class Line:
    sku: str
    price: Decimal
    tags: list[str] = field(default_factory=list)


class Catalog(Table, name="catalog"):
    by_key = GSI("KPK", "KSK")


class Everything(Entity, table=Catalog):
    """One attribute of every type."""

    name: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    whole: Attr[int] = attr(default=0)
    exact: Attr[Decimal] = attr(default=Decimal(0))
    real: Attr[float] = attr(default=0.0)
    flag: Attr[bool] = attr(default=False)
    raw: Attr[bytes] = attr(default=b"")
    moment: Attr[datetime] = attr(default=datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC))
    day: Attr[date] = attr(default=date(2026, 1, 15))
    span: Attr[timedelta] = attr(default=timedelta(0))
    uid: Attr[UUID] = attr(default=UUID(int=1))
    status: Attr[Status] = attr(default=Status.OPEN)
    level: Attr[Level] = attr(default=Level.LOW)
    shade: Attr[Shade] = attr(default=Shade.DARK)
    choice: Attr[Literal["yes", "no"]] = attr(default="yes")
    words: Attr[set[str]] = attr(default_factory=set)
    counts: Attr[frozenset[int]] = attr(default_factory=frozenset)
    blobs: Attr[set[bytes]] = attr(default_factory=set)
    prices: Attr[list[Decimal]] = attr(default_factory=list)
    moments: Attr[list[datetime]] = attr(default_factory=list)
    grid: Attr[list[list[int]]] = attr(default_factory=list)
    scores: Attr[dict[str, int]] = attr(default_factory=dict)
    by_uid: Attr[dict[UUID, str]] = attr(default_factory=dict)
    place: Attr[Place | None] = attr(default=None)
    lines: Attr[list[Line]] = attr(default_factory=list)
    line: Attr[Line | None] = attr(default=None)
    places: Attr[dict[str, Place]] = attr(default_factory=dict)
    ksuid: Attr[KSUID | None] = attr(default=None)
    ulid: Attr[ULID | None] = attr(default=None)
    maybe_text: Attr[str | None] = attr(default=None)
    maybe_whole: Attr[int | None] = attr(default=None)
    maybe_moment: Attr[datetime | None] = attr(default=None)
    maybe_words: Attr[set[str] | None] = attr(default=None)
    maybe_list: Attr[list[int] | None] = attr(default=None)
    gone: Attr[datetime | None] = ttl(default=None)

    primary = key("EVERY" / name, "EVERY")


class Order(Entity, table=Catalog):
    """An order of a customer."""

    customer: Attr[str] = attr(name="customerName", doc="Who ordered")
    order_id: Attr[ULID] = attr(default_factory=ULID.new)
    email: Attr[str] = attr()
    total: Attr[Decimal] = attr(default=Decimal(0))
    placed: Attr[datetime | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)
    primary = key("CUST" / customer, "ORDER" / order_id)


class Event(Entity, table=Catalog):
    stream: Attr[str] = attr()
    event_id: Attr[KSUID] = attr(default_factory=KSUID.new)
    primary = key("STREAM" / stream, "EVENT" / event_id)
    by_key = index(Catalog.by_key, "EVENTS", event_id)


class Managed(Entity, table=Catalog):
    name: Attr[str] = attr()
    size: Attr[int] = attr(default=0)
    version: Attr[int] = version()
    made: Attr[datetime] = created_at()
    written: Attr[datetime] = updated_at()
    primary = key("MANAGED" / name, "MANAGED")


class Blob(Entity, table=Catalog):
    name: Attr[str] = attr()
    content: Attr[bytes] = attr(default=b"")
    primary = key("BLOB" / name, "BLOB")


class Named(Entity):
    """Abstract: for others to build on."""

    name: Attr[str] = attr()


class Dog(Named, table=Catalog):
    tag: Attr[int] = attr(default=1)
    primary = key("DOG" / tag, "DOG")


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(":memory:", Catalog) as db:
        yield db
        assert engine_of(db).check()


def engine_of(db: Database) -> Engine:
    assert isinstance(db._transport, Local)
    return db._transport.engine


def order(**more: Any) -> Order:
    return Order(**{"customer": "ann", "email": "ann@example.com"} | more)


AWARE = datetime(2026, 1, 15, 12, 0, tzinfo=timezone(timedelta(hours=2)))

# -- made ----------------------------------------------------------------------------------------


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
        ("gone", datetime(2026, 1, 15, 0, 0, 0, 5, tzinfo=UTC)),
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


# -- defaults ------------------------------------------------------------------------------------


def test_defaults_and_factories_give_what_is_not_given() -> None:
    one, other = order(), order()
    assert one.total == Decimal(0)
    assert one.order_id < other.order_id


def test_an_optional_attribute_without_a_default_is_required() -> None:
    """By the constructor, as the checkers say; stored, it may be absent."""
    table = _fresh()

    class Optional(Entity, table=table):
        name: Attr[str] = attr()
        note: Attr[str | None] = attr()
        tags: Attr[set[str]] = attr()
        primary = key("OPTIONAL" / name, "OPTIONAL")

    with pytest.raises(InvalidValue, match=r"Optional\.note has no value; Optional\.tags has no"):
        Optional(name="x")  # type: ignore[call-arg]
    db = connect(":memory:", table)
    made = db.run(create(Optional(name="x", note=None, tags=set())))
    assert db.run(Optional.primary("x")) == made


def test_an_optional_attribute_with_a_default_may_be_left_out() -> None:
    class Optional(Entity, table=_fresh()):
        name: Attr[str] = attr()
        note: Attr[str | None] = attr(default=None)
        tags: Attr[set[str]] = attr(default_factory=set)
        primary = key("OPTIONAL" / name, "OPTIONAL")

    made = Optional(name="x")
    assert made.note is None
    assert made.tags == set()


def _fresh() -> type[Table]:
    class Fresh(Table, name="fresh"):
        pass

    return Fresh


def test_a_factory_makes_a_value_for_each_entity() -> None:
    one, other = Everything(name="a"), Everything(name="b")
    one.prices.append(Decimal(1))
    one.words.add("x")
    assert other.prices == []
    assert other.words == set()


def test_a_default_that_can_change_is_not_shared() -> None:
    """It is copied, or refused when the class is defined."""
    try:

        class Shared(Entity, table=_fresh()):
            name: Attr[str] = attr()
            tags: Attr[list[str]] = attr(default=[])
            primary = key("SHARED" / name, "SHARED")

    except DeclarationError:
        return
    one, other = Shared(name="a"), Shared(name="b")
    one.tags.append("x")
    assert other.tags == []
    assert Shared(name="c").tags == []


def test_a_default_of_the_wrong_type_is_an_error_at_import() -> None:
    def declare() -> None:
        class Wrong(Entity, table=_fresh()):
            name: Attr[str] = attr()
            size: Attr[int] = attr(default="five")  # type: ignore[arg-type]
            primary = key("WRONG" / name, "WRONG")

    with pytest.raises(DeclarationError, match=r"Wrong\.size"):
        declare()


def test_a_default_and_a_factory_together_are_an_error() -> None:
    with pytest.raises(DeclarationError, match="default or default_factory, not both"):
        attr(default=1, default_factory=int)  # type: ignore[call-overload]


def test_none_where_the_default_is_another_value_comes_back_as_none() -> None:
    table = _fresh()

    class Defaulted(Entity, table=table):
        name: Attr[str] = attr()
        note: Attr[str | None] = attr(default="none given")
        primary = key("DEFAULTED" / name, "DEFAULTED")

    with connect(":memory:", table) as db:
        db.run(put(Defaulted(name="x", note=None)))
        assert db.run(Defaulted.primary("x")) == Defaulted(name="x", note=None)


def test_none_where_the_default_is_another_value_meets_a_condition_on_none() -> None:
    """Absent is the default there, and None is stored as NULL."""
    table = _fresh()

    class Defaulted(Entity, table=table):
        name: Attr[str] = attr()
        note: Attr[str | None] = attr(default="none given")
        primary = key("DEFAULTED" / name, "DEFAULTED")

    with connect(":memory:", table) as db:
        db.run(put(Defaulted(name="x", note=None)))
        db.run(put(Defaulted(name="y")))
        found = db.run(Defaulted.scan(reason="test").filter(Defaulted.note == None))  # noqa: E711
        assert [one.name for one in found] == ["x"]
        found = db.run(Defaulted.scan(reason="test").filter(Defaulted.note != None))  # noqa: E711
        assert [one.name for one in found] == ["y"]


def test_none_is_no_key_of_an_index_so_it_needs_no_other_default() -> None:
    """None would be stored as NULL, which DynamoDB takes for no key."""

    class Listed(Table, name="listed"):
        by_code = GSI("code")

    with pytest.raises(DeclarationError, match=r"Thing.*code"):

        class Thing(Entity, table=Listed):
            name: Attr[str] = attr()
            code: Attr[str | None] = attr(default="none given")
            primary = key("THING" / name, "THING")
            coded = index(Listed.by_code, code)


@pytest.mark.parametrize("name", ["version", "made", "written"])
def test_what_the_library_counts_cannot_be_given(name: str) -> None:
    values: dict[str, Any] = {"name": "x", name: 1}
    with pytest.raises(InvalidValue, match=rf"Managed\.{name} is set by the library; leave it out"):
        Managed(**values)


def test_an_entity_that_is_new_has_version_0_and_stamps_of_now() -> None:
    before = datetime.now(UTC)
    made = Managed(name="x")
    assert made.version == 0
    assert before <= made.made <= made.written <= datetime.now(UTC)
    assert made.made.tzinfo is UTC


def test_an_entity_without_a_table_is_abstract() -> None:
    with pytest.raises(TypeError, match="Named is abstract: it has no table"):
        Named(name="x")


def test_an_entity_has_the_attributes_of_the_abstract_one_it_builds_on(db: Database) -> None:
    db.run(create(Dog(name="rex")))
    assert db.run(Dog.primary(1)) == Dog(name="rex")
    with pytest.raises(InvalidValue, match=r"Dog\.name has no value"):
        Dog()  # type: ignore[call-arg]


# -- changed -------------------------------------------------------------------------------------


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
    with pytest.raises(AttributeError, match=r"Managed\.version is counted by the library"):
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


# -- compared, shown, copied ---------------------------------------------------------------------


def test_entities_are_equal_by_their_values() -> None:
    one = ULID.new()
    assert order(order_id=one) == order(order_id=one)
    assert order(order_id=one) != order(order_id=one, note="x")
    assert order(order_id=one) != {"customer": "ann"}
    assert Dog(name="x") != Managed(name="x")
    assert order(placed=AWARE, order_id=one) == order(placed=AWARE.astimezone(UTC), order_id=one)


def test_an_entity_shows_its_values() -> None:
    shown = repr(order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", total=Decimal("1.5")))
    assert shown == (
        "Order(customer='ann', order_id='01ARZ3NDEKTSV4RRFFQ69G5FAV', email='ann@example.com', "
        "total=Decimal('1.5'), placed=None, note=None)"
    )


def test_entities_change_and_so_have_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(order())
    with pytest.raises(TypeError, match="unhashable"):
        {order()}


FULL: dict[str, Any] = {
    "name": "x",
    "words": {"a", "b"},
    "prices": [Decimal("1.5")],
    "place": Place(street="Main", city=City(name="Rome")),
    "lines": [Line("sku", Decimal(2), ["t"])],
    "scores": {"a": 1},
    "maybe_moment": AWARE,
}


def test_a_copy_is_equal_and_shares_what_is_inside() -> None:
    full = Everything(**FULL)
    copied = copy.copy(full)
    assert copied == full
    assert copied is not full
    assert copied.prices is full.prices
    copied.text = "changed"
    assert full.text == ""


def test_a_deep_copy_is_equal_and_shares_nothing() -> None:
    full = Everything(**FULL)
    copied = copy.deepcopy(full)
    assert copied == full
    copied.prices.append(Decimal(9))
    assert copied.place is not None
    copied.place.street = "Side"
    assert full == Everything(**FULL)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_entity_is_equal(protocol: int) -> None:
    full = Everything(**FULL)
    assert pickle.loads(pickle.dumps(full, protocol)) == full


def test_an_entity_that_was_read_can_be_copied_and_pickled(db: Database) -> None:
    db.run(put(Everything(**FULL)))
    found = db.run(Everything.primary("x"))
    assert found is not None
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found == Everything(**FULL)


# -- there and back ------------------------------------------------------------------------------

ROUND_TRIPS: list[tuple[str, Any, Any]] = [
    ("text", "", {"S": ""}),
    ("text", "héllo\x00#$", {"S": "héllo\x00#$"}),
    ("whole", -(10**37), {"N": "-10000000000000000000000000000000000000"}),
    ("exact", Decimal("12.50"), {"N": "12.5"}),
    ("real", 0.1, {"N": "0.1"}),
    ("real", 1e20, {"N": "100000000000000000000"}),
    ("flag", True, {"BOOL": True}),
    ("raw", b"\x00\xff", {"B": "AP8="}),
    ("moment", AWARE, {"S": "2026-01-15T10:00:00.000000Z"}),
    ("day", date(2026, 1, 15), {"S": "2026-01-15"}),
    ("span", timedelta(days=1, microseconds=1), {"N": "86400.000001"}),
    ("uid", UUID(int=5), {"S": "00000000-0000-0000-0000-000000000005"}),
    ("status", Status.DONE, {"S": "done"}),
    ("level", Level.HIGH, {"N": "2"}),
    ("shade", Shade.LIGHT, {"S": "light"}),
    ("choice", "no", {"S": "no"}),
    ("words", {"b", "a"}, {"SS": ["a", "b"]}),
    ("words", set(), None),
    ("counts", frozenset({10, 9}), {"NS": ["9", "10"]}),
    ("blobs", {b"x"}, {"BS": ["eA=="]}),
    ("prices", [], {"L": []}),
    ("prices", [Decimal("1.5")], {"L": [{"N": "1.5"}]}),
    ("grid", [[1], []], {"L": [{"L": [{"N": "1"}]}, {"L": []}]}),
    ("scores", {"a": 1}, {"M": {"a": {"N": "1"}}}),
    ("by_uid", {UUID(int=5): "x"}, {"M": {"00000000-0000-0000-0000-000000000005": {"S": "x"}}}),
    (
        "place",
        Place(street="Main", number=7, city=City(name="Rome")),
        {
            "M": {
                "street": {"S": "Main"},
                "number": {"N": "7"},
                "city": {"M": {"name": {"S": "Rome"}}},
            }
        },
    ),
    (
        "line",
        Line("s", Decimal(2), ["t"]),
        {"M": {"sku": {"S": "s"}, "price": {"N": "2"}, "tags": {"L": [{"S": "t"}]}}},
    ),
    ("maybe_text", None, None),
    ("maybe_text", "", {"S": ""}),
    ("maybe_list", None, None),
    ("maybe_list", [], {"L": []}),
    ("gone", datetime(2026, 1, 15, tzinfo=UTC), {"N": "1768435200"}),
    ("ulid", ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), {"S": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
    ("ksuid", KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv"), {"S": "0ujtsYcgvSTl8PAuAdqWYSMnLOv"}),
]


@pytest.mark.parametrize(("name", "value", "stored"), ROUND_TRIPS)
def test_a_value_is_stored_in_this_form_and_comes_back_equal(
    db: Database, name: str, value: Any, stored: Any
) -> None:
    db.run(put(Everything(**{"name": "x", name: value})))
    (item,) = engine_of(db).call("Scan", {"TableName": "catalog"})["Items"]
    assert item.get(name) == stored
    found = db.run(Everything.primary("x"))
    assert getattr(found, name) == value
    assert type(getattr(found, name)) is type(value)


moments = st.datetimes(
    min_value=datetime(1, 1, 3),
    max_value=datetime(9999, 12, 29),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30)), AWARE.tzinfo]),
)
floats = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: number == 0 or 1e-120 < abs(number) < 1e120
)
cities = st.builds(City, name=texts, code=st.none() | texts)
places = st.builds(Place, street=texts, number=st.integers(0, 99), city=cities)
lines = st.builds(Line, sku=texts, price=decimals(), tags=st.lists(texts, max_size=2))
everything = st.builds(
    Everything,
    name=key_texts,
    text=texts,
    whole=st.integers(-(10**38) + 1, 10**38 - 1),
    exact=decimals(),
    real=floats,
    flag=st.booleans(),
    raw=raw_bytes,
    moment=moments,
    day=st.dates(),
    span=st.timedeltas(),
    uid=st.uuids(),
    status=st.sampled_from(Status),
    level=st.sampled_from(Level),
    shade=st.sampled_from(Shade),
    choice=st.sampled_from(["yes", "no"]),
    words=st.sets(texts, max_size=3),
    counts=st.frozensets(st.integers(-99, 99), max_size=3),
    blobs=st.sets(raw_bytes, max_size=3),
    prices=st.lists(decimals(), max_size=2),
    moments=st.lists(moments, max_size=2),
    grid=st.lists(st.lists(st.integers(0, 9), max_size=2), max_size=2),
    scores=st.dictionaries(key_texts, st.integers(0, 9), max_size=2),
    by_uid=st.dictionaries(st.uuids(), texts, max_size=2),
    place=st.none() | places,
    lines=st.lists(lines, max_size=2),
    line=st.none() | lines,
    places=st.dictionaries(key_texts, places, max_size=2),
    ksuid=st.none() | st.builds(KSUID.new),
    ulid=st.none() | st.builds(ULID.new),
    maybe_text=st.none() | texts,
    maybe_whole=st.none() | st.integers(-9, 9),
    maybe_moment=st.none() | moments,
    maybe_words=st.none() | st.sets(texts, min_size=1, max_size=2),
    maybe_list=st.none() | st.lists(st.integers(0, 9), max_size=2),
    gone=st.none()
    | st.datetimes(
        min_value=datetime(1970, 1, 2), max_value=datetime(9999, 1, 1), timezones=st.just(UTC)
    ).map(lambda moment: moment.replace(microsecond=0)),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Database]:
    with connect(":memory:", Catalog) as db:
        yield db


@given(entity=everything)
def test_an_entity_that_is_put_comes_back_equal(shared: Database, entity: Everything) -> None:
    shared.run(put(entity))
    assert shared.run(Everything.primary(entity.name)) == entity


@given(entity=everything)
def test_an_entity_as_plain_values_comes_back_equal(entity: Everything) -> None:
    adapter = TypeAdapter(Everything)
    assert adapter.validate_python(adapter.dump_python(entity)) == entity


@given(entity=everything)
def test_an_entity_can_be_copied_whatever_it_holds(entity: Everything) -> None:
    assert copy.copy(entity) == copy.deepcopy(entity) == entity
    assert pickle.loads(pickle.dumps(entity)) == entity


# -- ids -----------------------------------------------------------------------------------------

NOON = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


def test_an_id_is_made_with_the_entity_and_tells_when() -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)  # a KSUID counts seconds
    assert before <= order().order_id.time <= datetime.now(UTC)
    assert before <= Event(stream="s").event_id.time <= datetime.now(UTC)


def test_an_id_that_is_given_as_text_becomes_one() -> None:
    made = order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert type(made.order_id) is ULID
    assert made.order_id.time.year == 2016


def test_an_id_that_was_read_is_one(db: Database) -> None:
    made = db.run(create(order()))
    found = db.run(Order.primary("ann", made.order_id))
    assert found is not None
    assert type(found.order_id) is ULID
    assert found.order_id.time == made.order_id.time
    event = db.run(create(Event(stream="s")))
    (read,) = db.run(Event.primary.within("s"))
    assert type(read.event_id) is KSUID
    assert read.event_id.time == event.event_id.time


@pytest.fixture
def hourly(db: Database) -> Database:
    """Orders and events, one every hour from 10 to 14."""
    for hour in range(10, 15):
        at = NOON.replace(hour=hour)
        db.run(create(order(order_id=ULID.new(at), note=str(hour))))
        db.run(create(Event(stream="s", event_id=KSUID.new(at))))
    return db


def hours(found: Any) -> list[int]:
    return [
        (each.order_id if isinstance(each, Order) else each.event_id).time.hour for each in found
    ]


def test_a_range_of_time_is_a_range_of_ulids(hourly: Database) -> None:
    orders = Order.primary.within("ann")
    eleven, thirteen = NOON.replace(hour=11), NOON.replace(hour=13)
    between = orders.between(ULID.floor(eleven), ULID.ceiling(thirteen))
    assert hours(hourly.run(between)) == [11, 12, 13]
    assert hours(hourly.run(orders.gte(ULID.floor(NOON)))) == [12, 13, 14]
    assert hours(hourly.run(orders.gt(ULID.ceiling(NOON)))) == [13, 14]
    assert hours(hourly.run(orders.lte(ULID.ceiling(NOON)))) == [10, 11, 12]
    assert hours(hourly.run(orders.lt(ULID.floor(NOON)))) == [10, 11]
    assert hours(hourly.run(orders.desc().page_size(2))) == [14, 13]


def test_a_range_of_time_is_a_range_of_ksuids_in_the_table_and_in_an_index(
    hourly: Database,
) -> None:
    eleven, thirteen = NOON.replace(hour=11), NOON.replace(hour=13)
    for events in (Event.primary.within("s"), Event.by_key()):
        between = events.between(KSUID.floor(eleven), KSUID.ceiling(thirteen))
        assert hours(hourly.run(between)) == [11, 12, 13]
        assert hours(hourly.run(events.gte(KSUID.floor(NOON)))) == [12, 13, 14]
        assert hours(hourly.run(events.lt(KSUID.floor(NOON)))) == [10, 11]


# -- pydantic ------------------------------------------------------------------------------------


def test_an_adapter_makes_an_entity_of_plain_values() -> None:
    made = TypeAdapter(Order).validate_python({"customer": "ann", "email": "a@b.c", "total": "1.5"})
    assert type(made) is Order
    assert made.total == Decimal("1.5")


def test_an_adapter_takes_an_entity_as_it_is() -> None:
    given = order()
    assert TypeAdapter(Order).validate_python(given) is given


def test_an_adapter_dumps_an_entity() -> None:
    adapter = TypeAdapter(Order)
    full = order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", total=Decimal("1.50"), placed=AWARE)
    assert adapter.dump_python(full) == vars(full)
    assert json.loads(adapter.dump_json(full)) == {
        "customer": "ann",
        "order_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "email": "ann@example.com",
        "total": "1.50",
        "placed": "2026-01-15T12:00:00+02:00",
        "note": None,
    }
    assert adapter.validate_json(adapter.dump_json(full)) == full


def test_an_adapter_dumps_what_is_asked_for() -> None:
    adapter = TypeAdapter(Order)
    full = order(order_id="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert adapter.dump_python(full, include={"email"}) == {"email": "ann@example.com"}
    assert "email" not in adapter.dump_python(full, exclude={"email"})
    assert "note" not in adapter.dump_python(full, exclude_none=True)


def test_nested_values_of_every_kind_go_through_json() -> None:
    adapter = TypeAdapter(Everything)
    full = Everything(**FULL)
    assert adapter.validate_json(adapter.dump_json(full)) == full


@pytest.mark.parametrize("content", [b"", b"text", b"\xff\x00\xfe"])
def test_bytes_go_through_json(content: bytes) -> None:
    adapter = TypeAdapter(Blob)
    blob = Blob(name="x", content=content)
    assert adapter.validate_json(adapter.dump_json(blob)) == blob


def test_what_the_library_counts_goes_through_json(db: Database) -> None:
    """So that a client can send back the version that it has read."""
    adapter = TypeAdapter(Managed)
    db.run(create(Managed(name="x")))
    found = db.run(Managed.primary("x"))
    assert found is not None
    sent = adapter.validate_json(adapter.dump_json(found))
    assert sent == found
    assert sent.version == 1
    assert db.run(update(sent, Managed.size.set(5))).version == 2


@pytest.mark.parametrize(
    ("change", "place", "kind"),
    [
        ({"email": 5}, ("email",), "string_type"),
        ({"emial": "x"}, ("emial",), "extra_forbidden"),
        ({"placed": "2026-01-15T12:00:00"}, ("placed",), "timezone_aware"),
        ({"order_id": "abc"}, ("order_id",), "value_error"),
        ({"email": None}, ("email",), "string_type"),
    ],
)
def test_an_adapter_refuses_in_pydantics_words(
    change: dict[str, Any], place: tuple[str, ...], kind: str
) -> None:
    body = {"customer": "ann", "email": "a@b.c"} | change
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Order).validate_python(body)
    assert [(e["loc"], e["type"]) for e in refused.value.errors()] == [(place, kind)]
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Order).validate_json(json.dumps(body))
    assert [(e["loc"], e["type"]) for e in refused.value.errors()] == [(place, kind)]


def test_the_json_schema_has_the_attributes_with_their_types_and_descriptions() -> None:
    schema = TypeAdapter(Order).json_schema()
    assert schema["title"] == "Order"
    assert schema["description"] == "An order of a customer."
    assert list(schema["properties"]) == [
        "customer",
        "order_id",
        "email",
        "total",
        "placed",
        "note",
    ]
    assert schema["properties"]["customer"]["description"] == "Who ordered"
    assert schema["properties"]["order_id"]["pattern"] == "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
    assert schema["required"] == ["customer", "email"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_every_type_has_a_json_schema(mode: Literal["validation", "serialization"]) -> None:
    schema = TypeAdapter(Everything).json_schema(mode=mode)
    assert list(schema["properties"]) == list(Everything.__entity__.attributes)


class Basket(BaseModel):
    owner: str
    first: Order
    others: list[Order] = []
    by_name: dict[str, Order] = {}
    last: Order | None = None


def test_entities_inside_of_a_model() -> None:
    basket = Basket(owner="ann", first=order(), others=[order(), order()], by_name={"x": order()})
    assert Basket.model_validate_json(basket.model_dump_json()) == basket
    assert Basket.model_validate(basket.model_dump()) == basket
    assert type(Basket.model_validate(basket.model_dump()).others[0]) is Order
    with pytest.raises(ValidationError) as refused:
        Basket.model_validate({"owner": "ann", "first": {"customer": "ann", "email": 5}})
    assert refused.value.errors()[0]["loc"] == ("first", "email")
    assert "Order" in Basket.model_json_schema()["$defs"]


def test_a_list_of_entities() -> None:
    adapter = TypeAdapter(list[Order])
    some = [order(), order()]
    assert adapter.validate_json(adapter.dump_json(some)) == some
    with pytest.raises(ValidationError) as refused:
        adapter.validate_python([some[0], {"customer": "ann"}])
    assert refused.value.errors()[0]["loc"] == (1, "email")


def test_a_page_is_a_list_of_entities_to_an_adapter(db: Database) -> None:
    db.run(create(order()))
    page = db.run(Order.primary.within("ann"))
    assert TypeAdapter(list[Order]).validate_python(page) == list(page)


def test_one_of_two_entities_is_told_by_its_values() -> None:
    adapter: TypeAdapter[Order | Dog] = TypeAdapter(Order | Dog)
    assert adapter.validate_python({"name": "rex"}) == Dog(name="rex")
    assert type(adapter.validate_python({"customer": "ann", "email": "x"})) is Order
    assert adapter.validate_json(adapter.dump_json(Dog(name="rex"))) == Dog(name="rex")


# -- FastAPI -------------------------------------------------------------------------------------


def shop(db: Database) -> FastAPI:
    app = FastAPI()

    @app.post("/orders", response_model=Order, status_code=201)
    def add(order: Order) -> Order:
        return db.run(create(order))

    @app.post("/explicit/orders", status_code=201)
    def add_explicitly(order: Annotated[Order, Body()]) -> Order:
        return db.run(create(order))

    @app.post("/orders/many")
    def add_many(orders: list[Order]) -> list[Order]:
        return [db.run(create(order)) for order in orders]

    @app.post("/baskets")
    def add_basket(basket: Basket) -> Basket:
        return basket

    @app.get("/orders/{customer}", response_model=list[Order])
    def every(customer: str, since: ULID | None = None) -> Any:
        orders = Order.primary.within(customer)
        return db.run(orders if since is None else orders.gte(since))

    @app.get("/orders/{customer}/{order_id}", response_model=Order)
    def one(customer: str, order_id: ULID) -> Order:
        found = db.run(Order.primary(customer, order_id))
        if found is None:
            raise HTTPException(404)
        return found

    @app.get("/events/{event_id}")
    def when(event_id: KSUID) -> dict[str, Any]:
        return {"id": event_id, "time": event_id.time}

    @app.put("/managed")
    def replace(entity: Annotated[Managed, Body()]) -> Managed:
        return db.run(put(entity))

    @app.get("/blobs/{name}")
    def blob(name: str) -> Blob | None:
        return db.run(Blob.primary(name))

    return app


@pytest.fixture
def client(db: Database) -> Iterator[TestClient]:
    with TestClient(shop(db)) as client:
        yield client


BODY = {"customer": "ann", "email": "ann@example.com", "total": "12.5"}

#: An entity is the body, whether that is said or not: as a model of pydantic's is.
POSTS = pytest.mark.parametrize("path", ["/orders", "/explicit/orders"])


@POSTS
def test_an_entity_is_a_request_body_and_a_response(
    client: TestClient, db: Database, path: str
) -> None:
    answer = client.post(path, json=BODY)
    assert answer.status_code == 201
    made = TypeAdapter(Order).validate_python(answer.json())
    assert made.total == Decimal("12.5")
    assert db.run(Order.primary("ann", made.order_id)) == made
    again = client.get(f"/orders/ann/{made.order_id}")
    assert again.status_code == 200
    assert again.json() == answer.json()


@POSTS
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"email": 5}, "email"),
        ({"total": "much"}, "total"),
        ({"emial": "x"}, "emial"),
        ({"order_id": "abc"}, "order_id"),
        ({"placed": "2026-01-15T12:00:00"}, "placed"),
    ],
)
def test_a_wrong_value_in_a_body_is_422_with_the_name_of_the_field(
    client: TestClient, db: Database, path: str, change: dict[str, Any], place: str
) -> None:
    answer = client.post(path, json=BODY | change)
    assert answer.status_code == 422
    assert [error["loc"] for error in answer.json()["detail"]] == [["body", place]]
    assert db.run(Order.primary.within("ann")) == []


@POSTS
def test_a_missing_value_in_a_body_is_422_with_the_name_of_the_field(
    client: TestClient, path: str
) -> None:
    answer = client.post(path, json={"customer": "ann"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "email"]
    assert answer.json()["detail"][0]["type"] == "missing"


def test_lists_of_entities_are_bodies_and_responses(client: TestClient) -> None:
    answer = client.post("/orders/many", json=[BODY, BODY])
    assert answer.status_code == 200
    found = client.get("/orders/ann")
    assert found.json() == answer.json()
    last = answer.json()[1]["order_id"]
    since = client.get("/orders/ann", params={"since": last})
    assert [each["order_id"] for each in since.json()] == [last]
    wrong = client.post("/orders/many", json=[BODY, BODY | {"email": 5}])
    assert wrong.json()["detail"][0]["loc"] == ["body", 1, "email"]


def test_entities_inside_of_a_body(client: TestClient) -> None:
    answer = client.post("/baskets", json={"owner": "ann", "first": BODY, "others": [BODY]})
    assert answer.status_code == 200
    assert answer.json()["others"][0]["email"] == "ann@example.com"


def test_ids_are_path_parameters(client: TestClient) -> None:
    assert client.get("/orders/ann/01ARZ3NDEKTSV4RRFFQ69G5FAV").status_code == 404
    wrong = client.get("/orders/ann/abc")
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["loc"] == ["path", "order_id"]
    event = client.get("/events/0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    assert event.json() == {
        "id": "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
        "time": "2017-10-10T04:00:47Z",
    }
    assert client.get("/events/abc").json()["detail"][0]["loc"] == ["path", "event_id"]


def test_a_versioned_entity_goes_to_a_client_and_back(client: TestClient) -> None:
    first = client.put("/managed", json={"name": "x", "size": 1})
    assert first.json()["version"] == 1
    second = client.put("/managed", json=first.json() | {"size": 2})
    assert second.json()["version"] == 2


def test_an_entity_with_bytes_is_a_response(client: TestClient, db: Database) -> None:
    db.run(put(Blob(name="x", content=b"\xff\x00")))
    answer = client.get("/blobs/x")
    assert answer.status_code == 200
    assert TypeAdapter(Blob).validate_json(answer.content) == Blob(name="x", content=b"\xff\x00")


def test_the_openapi_schema_has_the_attributes_of_the_entity(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    (entity,) = (
        each
        for name, each in schema["components"]["schemas"].items()
        if name in ("Order", "Order-Input")
    )
    assert set(entity["properties"]) == set(Order.__entity__.attributes)
    assert entity["required"] == ["customer", "email"]
    assert entity["properties"]["customer"]["description"] == "Who ordered"
    (parameter,) = schema["paths"]["/events/{event_id}"]["get"]["parameters"]
    assert parameter["schema"]["pattern"] == "^[0-9A-Za-z]{27}$"
