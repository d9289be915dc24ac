"""Values are stored in this form, come back equal, and are refused where they would not."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AliasChoices,
    AliasPath,
    AwareDatetime,
    BaseModel,
    Field,
    HttpUrl,
    JsonValue,
    PositiveInt,
    RootModel,
    SecretStr,
    field_validator,
)
from typing_extensions import TypeAliasType, TypedDict

from tablewright.errors import InvalidValue, ModelError, UnreadableItem
from tablewright.ids import KSUID, ULID
from tablewright.mapping.converters import converter
from tests.encoding.strategies import decimals, raw_bytes, texts

Value = dict[str, Any]

A_KSUID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv"
A_ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
A_UUID = "12345678-1234-5678-1234-567812345678"
NULL: Value = {"NULL": True}


class Status(Enum):
    OPEN = "open"
    DONE = "done"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Shade(StrEnum):
    DARK = "dark"


class Mixed(Enum):
    ONE = 1
    TWO = "two"
    RAW = b"yes"


class Rights(Flag):
    READ = 1
    WRITE = 2


class Email(str):
    def __new__(cls, text: str) -> Email:
        if "@" not in text:
            raise ValueError(f"{text!r} has no @")
        return super().__new__(cls, text)


class Cents(int):
    pass


UserId = NewType("UserId", str)
Name = TypeAliasType("Name", str)


@dataclass
class Point:
    x: int
    y: int = 0
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    colour: str | None = "red"
    tags: set[str] = field(default_factory=lambda: {"new"})
    sizes: list[int] = field(default_factory=list)
    area: int = field(init=False, default=5)


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)
    next: Node | None = None


class Address(BaseModel):
    street: str
    zip_code: str | None = Field(default=None, alias="zip")
    since: Annotated[date | None, Field(description="when")] = None


class Person(BaseModel):
    name: str
    homes: dict[str, Address] = {}
    age: PositiveInt | None
    friends: list[Person] = []
    likes: frozenset[str] = frozenset()

    @field_validator("name")
    @classmethod
    def is_short(cls, name: str) -> str:
        if len(name) > 10:
            raise ValueError("a name is short")
        return name


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Wolf(BaseModel):
    name: str


class WereWolf(BaseModel):
    name: str
    moon: str


class Aliased(BaseModel):
    first: int = Field(validation_alias=AliasChoices("1st", "first"))
    second: int = Field(validation_alias="2nd", serialization_alias="ii")


class Row(TypedDict):
    id: int
    note: NotRequired[str]
    parent: str | None
    tags: NotRequired[set[str]]
    size: NotRequired[int | None]


class Pair(NamedTuple):
    left: int
    right: str


class Numbers(RootModel[list[int]]):
    pass


#: A type, a value of it and what is stored for it. The value is encoded, the stored one decoded.
CASES: list[tuple[Any, Any, Value]] = [
    (str, "", {"S": ""}),
    (str, "aé😀\x00", {"S": "aé😀\x00"}),
    (str, KSUID(A_KSUID), {"S": A_KSUID}),
    (int, 0, {"N": "0"}),
    (int, -42, {"N": "-42"}),
    (int, 10**38 - 1, {"N": "9" * 38}),
    (int, 10**125, {"N": "1" + "0" * 125}),
    (int, Level.HIGH, {"N": "2"}),
    (Decimal, Decimal("12.50"), {"N": "12.5"}),
    (Decimal, Decimal("-0"), {"N": "0"}),
    (Decimal, Decimal("1e-130"), {"N": "0." + "0" * 129 + "1"}),
    (Decimal, 7, {"N": "7"}),
    (float, 0.1, {"N": "0.1"}),
    (float, 1e21, {"N": "1" + "0" * 21}),
    (float, -2.5e-7, {"N": "-0.00000025"}),
    (float, 5, {"N": "5"}),
    (float, 2**60, {"N": "1152921504606846976"}),
    (bool, True, {"BOOL": True}),
    (bool, False, {"BOOL": False}),
    (bytes, b"", {"B": ""}),
    (bytes, b"hi", {"B": "aGk="}),
    (bytes, bytearray(b"hi"), {"B": "aGk="}),
    (bytes, memoryview(b"-h-i-")[1::2], {"B": "aGk="}),
    (
        datetime,
        datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC),
        {"S": "2026-01-15T10:15:30.000000Z"},
    ),
    (datetime, datetime(1, 1, 1, 0, 0, 0, 5, tzinfo=UTC), {"S": "0001-01-01T00:00:00.000005Z"}),
    (
        datetime,
        datetime(2026, 7, 1, 1, 0, tzinfo=ZoneInfo("Europe/Berlin")),
        {"S": "2026-06-30T23:00:00.000000Z"},
    ),
    (AwareDatetime, datetime(2026, 1, 15, tzinfo=UTC), {"S": "2026-01-15T00:00:00.000000Z"}),
    (date, date(2026, 1, 15), {"S": "2026-01-15"}),
    (time, time(10, 15), {"S": "10:15:00"}),
    (time, time(10, 15, 0, 5, tzinfo=timezone(timedelta(hours=2))), {"S": "10:15:00.000005+02:00"}),
    (timedelta, timedelta(minutes=1, microseconds=5), {"N": "60.000005"}),
    (timedelta, timedelta(days=-1), {"N": "-86400"}),
    (timedelta, timedelta.max, {"N": "86399999999999.999999"}),
    (UUID, UUID(A_UUID), {"S": A_UUID}),
    (KSUID, KSUID(A_KSUID), {"S": A_KSUID}),
    (ULID, ULID(A_ULID), {"S": A_ULID}),
    (Email, Email("a@b.c"), {"S": "a@b.c"}),
    (Cents, Cents(1250), {"N": "1250"}),
    (Status, Status.OPEN, {"S": "open"}),
    (Level, Level.HIGH, {"N": "2"}),
    (Shade, Shade.DARK, {"S": "dark"}),
    (Mixed, Mixed.ONE, {"N": "1"}),
    (Mixed, Mixed.TWO, {"S": "two"}),
    (Mixed, Mixed.RAW, {"B": "eWVz"}),
    (Rights, Rights.READ | Rights.WRITE, {"N": "3"}),
    (Literal["a", "b"], "b", {"S": "b"}),
    (Literal["a", 1, True], 1, {"N": "1"}),
    (Literal["a", 1, True], True, {"BOOL": True}),
    (Literal[Status.OPEN], Status.OPEN, {"S": "open"}),
    (Literal["a", None], None, NULL),
    (UserId, UserId("u1"), {"S": "u1"}),
    (Name, "n", {"S": "n"}),
    (Annotated[int, "positive"], 5, {"N": "5"}),
    (list[Annotated[int, {"not": "hashable"}]], [5], {"L": [{"N": "5"}]}),
    (int | None, 5, {"N": "5"}),
    (Optional[int], None, NULL),  # noqa: UP045 (people write it so)
    (set[str], {"b", "a"}, {"SS": ["a", "b"]}),
    (set[int], {10, 9}, {"NS": ["9", "10"]}),
    (set[Status], {Status.OPEN, Status.DONE}, {"SS": ["done", "open"]}),
    (frozenset[bytes], frozenset([b"a", b"\xff"]), {"BS": ["YQ==", "/w=="]}),
    (AbstractSet[str], frozenset("a"), {"SS": ["a"]}),
    (set[str] | None, {"a"}, {"SS": ["a"]}),
    (list[int], [], {"L": []}),
    (list[int | None], [1, None], {"L": [{"N": "1"}, NULL]}),
    (list[set[str]], [{"a"}], {"L": [{"SS": ["a"]}]}),
    (tuple[int, ...], (1, 2), {"L": [{"N": "1"}, {"N": "2"}]}),
    (tuple[int, str], (1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
    (tuple[()], (), {"L": []}),
    (tuple, (1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
    (Sequence[int], [1], {"L": [{"N": "1"}]}),
    (dict[str, int], {"a": 1}, {"M": {"a": {"N": "1"}}}),
    (dict[str, int | None], {"a": None}, {"M": {"a": NULL}}),
    (dict[int, str], {7: "a"}, {"M": {"7": {"S": "a"}}}),
    (dict[UUID, bool], {UUID(A_UUID): True}, {"M": {A_UUID: {"BOOL": True}}}),
    (dict[Status, int], {Status.OPEN: 1}, {"M": {"open": {"N": "1"}}}),
    (Mapping[KSUID, int], {KSUID(A_KSUID): 1}, {"M": {A_KSUID: {"N": "1"}}}),
    (Any, None, NULL),
    (
        Any,
        {"s": "x", "n": [1, Decimal("1.5"), 2.5], "t": True, "b": b"hi", "set": {1, 2}, "0": None},
        {
            "M": {
                "s": {"S": "x"},
                "n": {"L": [{"N": "1"}, {"N": "1.5"}, {"N": "2.5"}]},
                "t": {"BOOL": True},
                "b": {"B": "aGk="},
                "set": {"NS": ["1", "2"]},
                "0": NULL,
            }
        },
    ),
    (dict, {"a": {"b": {"c"}}}, {"M": {"a": {"M": {"b": {"SS": ["c"]}}}}}),
    (list, ["a", 1, {b"b"}], {"L": [{"S": "a"}, {"N": "1"}, {"BS": ["Yg=="]}]}),
    (JsonValue, [{"a": None}], {"L": [{"M": {"a": NULL}}]}),
    (int | str, "5", {"S": "5"}),
    (int | str, 5, {"N": "5"}),
    (str | bool | None, None, NULL),
    (int | bool, True, {"BOOL": True}),
    (int | list[int], [1], {"L": [{"N": "1"}]}),
    (list[int] | list[str], ["a"], {"L": [{"S": "a"}]}),
    (Cat | Dog, Dog(name="Rex"), {"M": {"kind": {"S": "dog"}, "name": {"S": "Rex"}}}),
    (
        list[Annotated[Cat | Dog, Field(discriminator="kind")]],
        [Cat(lives=9)],
        {"L": [{"M": {"kind": {"S": "cat"}, "lives": {"N": "9"}}}]},
    ),
    (
        Wolf | WereWolf,
        WereWolf(name="W", moon="full"),
        {"M": {"name": {"S": "W"}, "moon": {"S": "full"}}},
    ),
    (Point, Point(1), {"M": {"x": {"N": "1"}, "y": {"N": "0"}}}),
    (Point, Point(1, 2, "p"), {"M": {"x": {"N": "1"}, "y": {"N": "2"}, "label": {"S": "p"}}}),
    (
        Options,
        Options(colour=None, tags=set(), sizes=[]),
        {"M": {"colour": NULL, "sizes": {"L": []}}},
    ),
    (
        Node,
        Node(1, [Node(2)], Node(3)),
        {
            "M": {
                "value": {"N": "1"},
                "children": {"L": [{"M": {"value": {"N": "2"}, "children": {"L": []}}}]},
                "next": {"M": {"value": {"N": "3"}, "children": {"L": []}}},
            }
        },
    ),
    (
        Address,
        Address(street="Main", zip="123", since=date(2026, 1, 15)),
        {"M": {"street": {"S": "Main"}, "zip": {"S": "123"}, "since": {"S": "2026-01-15"}}},
    ),
    (
        Person,
        Person(
            name="Ann",
            homes={"b": Address(street="Main")},
            age=None,
            friends=[Person(name="Bob", age=7, likes=frozenset({"tea"}))],
        ),
        {
            "M": {
                "name": {"S": "Ann"},
                "homes": {"M": {"b": {"M": {"street": {"S": "Main"}}}}},
                "friends": {
                    "L": [
                        {
                            "M": {
                                "name": {"S": "Bob"},
                                "homes": {"M": {}},
                                "age": {"N": "7"},
                                "friends": {"L": []},
                                "likes": {"SS": ["tea"]},
                            }
                        }
                    ]
                },
            }
        },
    ),
    (
        Aliased,
        Aliased.model_validate({"1st": 1, "2nd": 2}),
        {"M": {"first": {"N": "1"}, "second": {"N": "2"}}},
    ),
    (Row, {"id": 1, "parent": None}, {"M": {"id": {"N": "1"}}}),
    (
        Row,
        {"id": 1, "note": "", "parent": "p"},
        {"M": {"id": {"N": "1"}, "note": {"S": ""}, "parent": {"S": "p"}}},
    ),
    (Row, {"id": 1, "parent": None, "size": None}, {"M": {"id": {"N": "1"}, "size": NULL}}),
    (Numbers, Numbers([1, 2]), {"L": [{"N": "1"}, {"N": "2"}]}),
    (Pair, Pair(1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
    (HttpUrl, HttpUrl("https://example.org/a"), {"S": "https://example.org/a"}),
    (IPv4Address, IPv4Address("10.0.0.1"), {"S": "10.0.0.1"}),
    (PurePosixPath, PurePosixPath("/a/b"), {"S": "/a/b"}),
    (list[IPv4Address], [IPv4Address("10.0.0.1")], {"L": [{"S": "10.0.0.1"}]}),
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


#: A type, what somebody else may have stored for it, and what that means.
OTHER_SPELLINGS: list[tuple[Any, Value, Any]] = [
    (int, {"N": "1E+3"}, 1000),
    (int, {"N": "5.0"}, 5),
    (float, {"N": "12.50"}, 12.5),
    (datetime, {"S": "2026-01-15T10:15:30Z"}, datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)),
    (datetime, {"S": "2026-01-15T10:15+02:00"}, datetime(2026, 1, 15, 8, 15, tzinfo=UTC)),
    (datetime, {"S": "2026-01-15 10:15:30.5Z"}, datetime(2026, 1, 15, 10, 15, 30, 500_000, UTC)),
    (UUID, {"S": A_UUID.replace("-", "").upper()}, UUID(A_UUID)),
    (Point, {"M": {"x": {"N": "1"}, "more": {"S": "ignored"}}}, Point(1)),
    (Point, {"M": {"x": {"N": "1"}, "label": NULL}}, Point(1)),
    (Options, {"M": {}}, Options(tags=set())),
    (Address, {"M": {"street": {"S": "Main"}, "more": NULL}}, Address(street="Main")),
    (Person, {"M": {"name": {"S": "Ann"}}}, Person(name="Ann", age=None)),
    (Wolf | WereWolf, {"M": {"name": {"S": "W"}, "more": NULL}}, Wolf(name="W")),
    (Any, {"N": "1E+3"}, 1000),
]


@pytest.mark.parametrize(("annotation", "stored", "value"), OTHER_SPELLINGS)
def test_other_spellings_are_read_too(annotation: Any, stored: Value, value: Any) -> None:
    again = converter(annotation, "Order.a").decode(stored)
    assert again == value
    assert type(again) is type(value)
    if isinstance(again, datetime):
        assert again.tzinfo is UTC


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


STRICT: list[Any] = [str, int, Decimal, float, bool, bytes, datetime, date, time, timedelta, UUID]
STRICT += [KSUID, Email, Cents, Status, Level, Point, Address, Row, HttpUrl]
STRICT += [list[int], tuple[int, ...], tuple[int, str], set[str], frozenset[str], dict[str, int]]
STRICT += [int | str, Literal["a"], Numbers]


@pytest.mark.parametrize("annotation", STRICT)
@pytest.mark.parametrize("value", [None, object(), ...])
def test_what_is_of_no_stored_type_is_refused(annotation: Any, value: Any) -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.a: "):
        converter(annotation, "Order.a").encode(value)


#: A type, a value that it does not take, and the words that say so.
REFUSED: list[tuple[Any, Any, str]] = [
    (str, 5, "Order.a: 5 (int) is not a str"),
    (str, b"x", "Order.a: b'x' (bytes) is not a str"),
    (str, "\ud800", "Order.a: '\\ud800' cannot be stored: it has half of a surrogate pair"),
    (str, ["x" * 100], "Order.a: ['" + "x" * 77 + "… (list) is not a str"),
    (int, "5", "Order.a: '5' (str) is not an int"),
    (int, True, "Order.a: True (bool) is not an int"),
    (int, 5.0, "Order.a: 5.0 (float) is not an int"),
    (int, 10**38 + 1, "cannot be stored: Attempting to store more than 38 significant digits"),
    (int, 10**126, "cannot be stored: Number overflow"),
    (Decimal, 1.5, "Order.a: 1.5 (float) is not a Decimal"),
    (Decimal, True, "is not a Decimal"),
    (Decimal, Decimal("NaN"), "Order.a: Decimal('NaN') cannot be stored: it is not finite"),
    (Decimal, Decimal("sNaN"), "it is not finite"),
    (Decimal, Decimal("-Infinity"), "it is not finite"),
    (Decimal, Decimal("1." + "1" * 38), "more than 38 significant digits"),
    (Decimal, Decimal("1e-131"), "Number underflow"),
    (float, float("nan"), "Order.a: nan cannot be stored: it is not finite"),
    (float, float("-inf"), "it is not finite"),
    (float, 1e200, "Order.a: 1e+200 cannot be stored: Number overflow"),
    (float, 5e-324, "Number underflow"),
    (float, Decimal("1.5"), "Order.a: Decimal('1.5') (Decimal) is not a float"),
    (float, 2**53 + 1, "is not a float; it would be rounded: use int or Decimal"),
    (float, 10**400, "is not a float"),
    (float, True, "Order.a: True (bool) is not a float"),
    (bool, 1, "Order.a: 1 (int) is not a bool"),
    (bytes, "x", "Order.a: 'x' (str) is not a bytes"),
    (datetime, datetime(2026, 1, 15), "give it a time zone, e.g. datetime.now(UTC)"),
    (datetime, date(2026, 1, 15), "is not a datetime"),
    (datetime, "2026-01-15T00:00:00Z", "is not a datetime"),
    (
        datetime,
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        "is out of range in UTC",
    ),
    (date, datetime(2026, 1, 15, tzinfo=UTC), "is not a date; use its .date()"),
    (time, time(10, tzinfo=ZoneInfo("Europe/Berlin")), "its offset is known only together with"),
    (timedelta, 60, "Order.a: 60 (int) is not a timedelta"),
    (UUID, A_UUID, "is not a UUID"),
    (KSUID, A_KSUID, f"Order.a: '{A_KSUID}' (str) is not a KSUID"),
    (Status, "open", "Order.a: 'open' (str) is not a Status; its values are 'open', 'done'"),
    (Level, 1, "Order.a: 1 (int) is not a Level"),
    (Literal["a"], "b", "Order.a: 'b' (str) is not a Literal['a']"),
    (Literal[1], True, "Order.a: True (bool) is not a Literal[1]"),
    (Literal["a"], [], "Order.a: [] (list) is not a Literal['a']"),
    (int | None, "5", "Order.a: '5' (str) is not an int"),
    (int | str, 1.5, "Order.a: 1.5 (float) is not an int | str"),
    (float | str, float("nan"), "it is not finite"),
    (set[str], set(), "Order.a: DynamoDB has no empty set; use None"),
    (set[str] | None, set(), "Order.a: DynamoDB has no empty set; use None"),
    (list[set[str]], [set()], "Order.a[]: DynamoDB has no empty set; use None"),
    (dict[str, set[str]], {"k": set()}, "Order.a[]: DynamoDB has no empty set; use None"),
    (set[str], {"a", 1}, "Order.a[]: 1 (int) is not a str"),
    (set[str], frozenset("a"), "is not a set[str]"),
    (list[int], ["5"], "Order.a[]: '5' (str) is not an int"),
    (list[int], (5,), "Order.a: (5,) (tuple) is not a list[int]"),
    (Sequence[str], "abc", "Order.a: 'abc' (str) is not a collections.abc.Sequence[str]"),
    (tuple[int, str], (1,), "Order.a: (1,) (tuple) is not a tuple[int, str]"),
    (tuple[int, str], ("a", 1), "Order.a[0]: 'a' (str) is not an int"),
    (dict[str, int], {1: 1}, "Order.a (key): 1 (int) is not a str"),
    (dict[str, int], {"a": "1"}, "Order.a[]: '1' (str) is not an int"),
    (Any, object, "is not a value of one of DynamoDB's types"),
    (Any, {"t": (1, 2)}, "Order.a: (1, 2) (tuple) is not a value"),
    (Any, [{1: 1}], "Order.a: 1 (int) is not a str"),
    (Any, {1, "a"}, "is not a set of strings, numbers or binaries"),
    (Any, {True}, "is not a set of strings, numbers or binaries"),
    (Any, {frozenset("a")}, "is not a set of strings, numbers or binaries"),
    (Any, set(), "is not a set of strings, numbers or binaries"),
    (Point, Point("a"), "Order.a.x: 'a' (str) is not an int"),  # type: ignore[arg-type] # so it is
    (Person, Address(street="x"), "(Address) is not a Person"),
    (Row, {"id": 1}, "Order.a: {'id': 1} (dict) is not a Row"),
    (Row, {"id": 1, "parent": None, "x": 1}, "is not a Row"),
    (HttpUrl, "https://example.org", "(str) is not a HttpUrl"),
    (IPv4Address, "10.0.0.1", "is not an IPv4Address"),
    (SecretStr, SecretStr("x"), "is not a SecretStr; it would not come back as it is"),
]


@pytest.mark.parametrize(("annotation", "value", "message"), REFUSED)
def test_a_value_that_does_not_fit_is_refused(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.a") as refused:
        converter(annotation, "Order.a").encode(value)
    assert message in str(refused.value)


def test_an_int_too_long_to_be_printed_is_refused() -> None:
    with pytest.raises(
        InvalidValue, match=r"^Order\.a: a number cannot be stored: Number overflow"
    ):
        converter(int, "Order.a").encode(10**5000)


def test_a_subclass_of_a_model_is_refused_because_its_fields_would_be_lost() -> None:
    @dataclass
    class Point3(Point):
        z: int = 0

    with pytest.raises(InvalidValue, match=r"\(Point3\) is not a Point$"):
        converter(Point, "Order.a").encode(Point3(1))


#: A type, what is stored, and the words that say that it cannot be read.
UNREADABLE: list[tuple[Any, Value, str]] = [
    (str, {"N": "5"}, "Order.a: stored as N ('5'), expected S for a str"),
    (str, NULL, "Order.a: stored as NULL (True), expected S for a str"),
    (int, {"S": "5"}, "Order.a: stored as S ('5'), expected N for an int"),
    (int, {"N": "1.5"}, "Order.a: '1.5' cannot be read as an int"),
    (Decimal, {"S": "5"}, "expected N for a Decimal"),
    (float, {"N": "0.12345678901234567890123"}, "as a float: it would be rounded"),
    (float, {"N": "9007199254740993"}, "as a float: it would be rounded"),
    (bool, {"N": "1"}, "expected BOOL for a bool"),
    (bytes, {"S": "x"}, "expected B for a bytes"),
    (datetime, {"N": "5"}, "expected S for a datetime"),
    (datetime, {"S": "soon"}, "Order.a: 'soon' cannot be read as a datetime"),
    (datetime, {"S": "2026-01-15T00:00:00"}, "it has no time zone"),
    (datetime, {"S": "2026-01-15"}, "it has no time zone"),
    (datetime, {"S": "0001-01-01T00:00:00+01:00"}, "cannot be read as a datetime"),
    (date, {"S": "2026-13-01"}, "cannot be read as a date: month must be in 1..12"),
    (time, {"S": "25:00"}, "cannot be read as a time"),
    (timedelta, {"N": "0.0000001"}, "cannot be read as a timedelta: it would be rounded"),
    (timedelta, {"N": "1" + "0" * 30}, "cannot be read as a timedelta"),
    (UUID, {"S": "x"}, "Order.a: 'x' cannot be read as a UUID"),
    (KSUID, {"S": "abc"}, "'abc' is not a KSUID: 27 characters of 0-9A-Za-z"),
    (Email, {"S": "abc"}, "Order.a: 'abc' cannot be read as an Email: 'abc' has no @"),
    (Status, {"S": "x"}, "'x' cannot be read as a Status: its values are 'open', 'done'"),
    (Status, {"N": "1"}, "Order.a: stored as N ('1'), expected S"),
    (Mixed, {"L": []}, "cannot be read as a Mixed: its values are 1, 'two', b'yes'"),
    (Literal["a"], {"S": "b"}, "cannot be read as a Literal['a']"),
    (Literal["a"], {"L": []}, "cannot be read as a Literal['a']"),
    (int | None, {"S": "5"}, "expected N for an int"),
    (int | str, {"BOOL": True}, "Order.a: {'BOOL': True} cannot be read as an int | str"),
    (set[str], {"NS": ["1"]}, "expected SS for a set[str]"),
    (set[Status], {"SS": ["x"]}, "Order.a[]: 'x' cannot be read as a Status"),
    (list[int], {"M": {}}, "expected L for a list[int]"),
    (list[int], {"L": [NULL]}, "Order.a[]: stored as NULL"),
    (tuple[int, str], {"L": [{"N": "1"}]}, "as a tuple[int, str]: it has 1 members"),
    (dict[int, int], {"M": {"x": {"N": "1"}}}, "Order.a (key): "),
    (Point, {"S": "x"}, "expected M for a Point"),
    (Point, {"M": {}}, "Order.a.x: the stored item has no 'x'"),
    (Point, {"M": {"x": {"S": "1"}}}, "Order.a.x: stored as S ('1'), expected N"),
    (Person, {"M": {"name": {"S": "x" * 11}}}, "as a Person: name: Value error, a name is short"),
    (Person, {"M": {"name": {"S": "x"}, "age": {"N": "-1"}}}, "age: Input should be greater"),
    (Cat | Dog, {"M": {"kind": {"S": "cow"}}}, "cannot be read as a"),
    (Row, {"M": {}}, "Order.a.id: the stored item has no 'id'"),
    (HttpUrl, {"S": "x"}, "Order.a: 'x' cannot be read as a HttpUrl"),
    (IPv4Address, {"L": []}, "cannot be read as an IPv4Address"),
]


@pytest.mark.parametrize(("annotation", "stored", "message"), UNREADABLE)
def test_a_stored_value_that_does_not_fit_is_unreadable(
    annotation: Any, stored: Value, message: str
) -> None:
    with pytest.raises(UnreadableItem, match=r"^Order\.a") as refused:
        converter(annotation, "Order.a").decode(stored)
    assert message in str(refused.value)


class Nothing:
    pass


class Places(Enum):
    HERE = (1, 2)


class Deep(BaseModel):
    x: int = Field(validation_alias=AliasPath("a", "b"))


@dataclass
class Unfinished:
    x: Missing  # type: ignore[name-defined] # noqa: F821 (that is the point)


MODEL_ERRORS: list[tuple[Any, str]] = [
    (Nothing, "Order.a: Nothing cannot be stored; use a dataclass, a pydantic model or Any"),
    (list[Nothing], "Order.a[]: Nothing cannot be stored"),
    (set[bool], "Order.a: set[bool] cannot be stored; a DynamoDB set holds strings, numbers or"),
    (set[Point], "use list[Point]"),
    (set[Mixed], "use list[Mixed]"),
    (set[str | None], "set[str | None] cannot be stored"),
    (set, "use set[str], say"),
    (dict[bool, int], "dict[bool, int] cannot be stored; its keys are stored as text"),
    (dict[str | None, int], "its keys are stored as text"),
    (Places, "Places.HERE does not come back from its value (1, 2): use strings or ints"),
    ("Node", "Order.a: Node cannot be stored"),
    (list["Missing"], "Order.a[]: Missing cannot be stored"),  # type: ignore[name-defined] # noqa: F821
    (Deep, "'x' is validated from AliasPath"),
    (Unfinished, "Unfinished is not complete: name 'Missing' is not defined"),
]


@pytest.mark.parametrize(("annotation", "message"), MODEL_ERRORS)
def test_a_type_that_cannot_be_stored_is_a_model_error(annotation: Any, message: str) -> None:
    with pytest.raises(ModelError, match=r"^Order\.a") as refused:
        converter(annotation, "Order.a")
    assert message in str(refused.value)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement came with 3.12")
def test_an_alias_may_contain_itself() -> None:
    names: dict[str, Any] = {}
    exec("type Tree = int | list[Tree]", names)
    tree = converter(names["Tree"], "Order.a")
    stored = {"L": [{"N": "1"}, {"L": [{"N": "2"}, {"L": []}]}]}
    assert tree.encode([1, [2, []]]) == stored
    assert tree.decode(stored) == [1, [2, []]]


#: A type, a value, what is stored for it as an attribute (None: nothing).
ATTRIBUTES: list[tuple[Any, Any, Value | None]] = [
    (str, "", {"S": ""}),
    (str | None, None, None),
    (str | None, "x", {"S": "x"}),
    (set[str], set(), None),
    (frozenset[int], frozenset(), None),
    (set[str], {"a"}, {"SS": ["a"]}),
    (set[str] | None, None, None),
    (Any, None, NULL),
    (list[str], [], {"L": []}),
]


@pytest.mark.parametrize(("annotation", "value", "stored"), ATTRIBUTES)
def test_an_attribute_is_stored_or_left_out_and_read_again(
    annotation: Any, value: Any, stored: Value | None
) -> None:
    made = converter(annotation, "Order.a")
    assert made.stored(value) == stored
    again = made.read({} if stored is None else {"a": stored}, "a")
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(str, None), (set[str], None), (set[str], []), (set[str] | None, set())],
)
def test_only_what_reads_back_is_left_out(annotation: Any, value: Any) -> None:
    with pytest.raises(InvalidValue):
        converter(annotation, "Order.a").stored(value)


def test_an_absent_attribute_that_must_be_there_is_unreadable() -> None:
    with pytest.raises(UnreadableItem, match=r"^Order\.a: the stored item has no 'b'$"):
        converter(str, "Order.a").read({"a": {"S": "x"}}, "b")


def test_an_optional_attribute_stored_as_null_is_none() -> None:
    assert converter(set[str] | None, "Order.a").read({"a": NULL}, "a") is None


def test_the_absent_set_is_a_new_one_each_time() -> None:
    tags = converter(set[str], "Order.tags")
    assert tags.read({}, "tags") is not tags.read({}, "tags")


def test_texts_of_datetimes_sort_as_the_moments_do() -> None:
    start = datetime(2026, 1, 15, tzinfo=UTC)
    moments = [start + timedelta(microseconds=n) for n in (0, 1, 999_999, 1_000_000, 10**12)]
    encode = converter(datetime, "Order.at").encode
    stored = [encode(moment)["S"] for moment in moments]
    assert stored == sorted(stored)


def moments_in(*zones: tzinfo) -> st.SearchStrategy[datetime]:
    return st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.sampled_from(zones))


moments = moments_in(UTC, timezone(timedelta(hours=-7, seconds=5)))
floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e125, max_value=1e125).filter(
    lambda number: number == 0 or abs(number) >= 1e-130
)
integers = st.integers(-(10**38) + 1, 10**38 - 1)
points = st.builds(Point, integers, integers, st.none() | texts)
addresses = st.builds(Address, street=texts, zip=st.none() | texts, since=st.none() | st.dates())
options = st.builds(
    Options, colour=st.none() | texts, tags=st.sets(texts), sizes=st.lists(integers)
)
nodes = st.recursive(
    st.builds(Node, integers),
    lambda inner: st.builds(Node, integers, st.lists(inner, max_size=3), st.none() | inner),
    max_leaves=6,
)
plain = st.recursive(
    st.one_of(
        st.none(), st.booleans(), texts, integers, decimals(), raw_bytes, st.sets(texts, min_size=1)
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, texts),
    (int, integers),
    (Decimal, decimals()),
    (float, floats),
    (bool, st.booleans()),
    (bytes, raw_bytes),
    (datetime, moments),
    (date, st.dates()),
    (time, st.times()),
    (timedelta, st.timedeltas()),
    (UUID, st.uuids()),
    (Status, st.sampled_from(Status)),
    (Mixed, st.sampled_from(Mixed)),
    (set[str], st.sets(texts, min_size=1)),
    (frozenset[Decimal], st.frozensets(decimals(), min_size=1)),
    (set[bytes], st.sets(raw_bytes, min_size=1)),
    (list[datetime | None], st.lists(st.none() | moments)),
    (tuple[int, str], st.tuples(integers, texts)),
    (dict[str, list[float]], st.dictionaries(texts, st.lists(floats))),
    (dict[int, dict[UUID, str]], st.dictionaries(integers, st.dictionaries(st.uuids(), texts))),
    (int | str | bytes | None, st.one_of(st.none(), integers, texts, raw_bytes)),
    (Point, points),
    (Options, options),
    (Node, nodes),
    (dict[str, Address | Point], st.dictionaries(texts, addresses | points)),
    (Any, plain),
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


# Python lets no time in a gap of its zone equal one of another zone, so they are compared in UTC.
@given(moments_in(ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata"), ZoneInfo("America/Lima")))
def test_a_datetime_comes_back_as_the_same_moment_in_utc(moment: datetime) -> None:
    made = converter(datetime, "Order.a")
    assert made.decode(made.encode(moment)) == moment.astimezone(UTC)


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
