"""Models, dataclasses and typed dicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from hypothesis import strategies as st
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    Field,
    PositiveInt,
    RootModel,
    field_validator,
)
from typing_extensions import TypedDict

from tests.encoding.strategies import texts
from tests.mapping.converters.choices import NULL
from tests.mapping.converters.scalars import integers

Value = dict[str, Any]


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


class Deep(BaseModel):
    x: int = Field(validation_alias=AliasPath("a", "b"))


@dataclass
class Unfinished:
    x: Missing  # type: ignore[name-defined] # noqa: F821 (that is the point)


STRICT: list[Any] = [Point, Address, Row, Numbers]

CASES: list[tuple[Any, Any, Value]] = [
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
]

OTHER_SPELLINGS: list[tuple[Any, Value, Any]] = [
    (Point, {"M": {"x": {"N": "1"}, "more": {"S": "ignored"}}}, Point(1)),
    (Point, {"M": {"x": {"N": "1"}, "label": NULL}}, Point(1)),
    (Options, {"M": {}}, Options(tags=set())),
    (Address, {"M": {"street": {"S": "Main"}, "more": NULL}}, Address(street="Main")),
    (Person, {"M": {"name": {"S": "Ann"}}}, Person(name="Ann", age=None)),
    (Wolf | WereWolf, {"M": {"name": {"S": "W"}, "more": NULL}}, Wolf(name="W")),
]

REFUSED: list[tuple[Any, Any, str]] = [
    (Point, Point("a"), "Order.a.x: 'a' (str) is not an int"),  # type: ignore[arg-type] # so it is
    (Person, Address(street="x"), "(Address) is not a Person"),
    (Row, {"id": 1}, "Order.a: {'id': 1} (dict) is not a Row"),
    (Row, {"id": 1, "parent": None, "x": 1}, "is not a Row"),
]

UNREADABLE: list[tuple[Any, Value, str]] = [
    (Point, {"S": "x"}, "expected M for a Point"),
    (Point, {"M": {}}, "Order.a.x: the stored item has no 'x'"),
    (Point, {"M": {"x": {"S": "1"}}}, "Order.a.x: stored as S ('1'), expected N"),
    (Person, {"M": {"name": {"S": "x" * 11}}}, "as a Person: name: Value error, a name is short"),
    (Person, {"M": {"name": {"S": "x"}, "age": {"N": "-1"}}}, "age: Input should be greater"),
    (Cat | Dog, {"M": {"kind": {"S": "cow"}}}, "cannot be read as a"),
    (Row, {"M": {}}, "Order.a.id: the stored item has no 'id'"),
]

MODEL_ERRORS: list[tuple[Any, str]] = [
    (set[Point], "use list[Point]"),
    (Deep, "'x' is validated from AliasPath"),
    (Unfinished, "Unfinished is not complete: name 'Missing' is not defined"),
]

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

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Point, points),
    (Options, options),
    (Node, nodes),
    (dict[str, Address | Point], st.dictionaries(texts, addresses | points)),
]
