"""The text of a stored type: equal for types that store and read alike, different for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from random import Random
from typing import Annotated, Any, Literal, NewType, NotRequired, TypedDict
from uuid import UUID, uuid4

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, HttpUrl, RootModel, create_model
from typing_extensions import TypeAliasType

from tablewright.ids import KSUID
from tablewright.mapping.converters import converter
from tablewright.mapping.stored_type import choices_of, stored_default, stored_type
from tests.examples import examples
from tests.mapping.converters import choices, containers, dynamic, scalars, structures, times


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    HIGH = 12
    LOW = 1


class Rights(Flag):
    READ = 1
    WRITE = 2


class Name(str):
    """A text of any kind."""


class Code(str):
    def __new__(cls, text: str) -> Code:
        if not text.isupper():
            raise ValueError("not in capitals")
        return super().__new__(cls, text)


@dataclass
class Place:
    city: str
    zip: str = "0"
    id: UUID = field(default_factory=uuid4)
    tags: list[str] = field(default_factory=list)


class Card(BaseModel):
    mail: str = Field(alias="e-mail")
    place: Place | None = None


class Node(BaseModel):
    label: str
    parts: list[Node] = []


class Options(TypedDict):
    size: int
    note: NotRequired[str]


class Scores(RootModel[list[int]]):
    pass


UserId = NewType("UserId", str)
Text = TypeAliasType("Text", str)

CASES: list[tuple[Any, str]] = [
    (str, "str"),
    (UserId, "str"),
    (Name, "str"),
    (Code, "Code"),
    (KSUID, "KSUID"),
    (KSUID | str, "KSUID | str"),
    (Annotated[int, Field(ge=1)], "int"),
    (pydantic.PastDatetime, "datetime"),
    (HttpUrl, "HttpUrl"),
    (object, "Any"),
    (list, "list[Any]"),
    (list[Decimal], "list[Decimal]"),
    (tuple[int, ...], "list[int]"),
    (Sequence[int], "list[int]"),
    (tuple[int, str], "tuple[int, str]"),
    (frozenset[str], "set[str]"),
    (AbstractSet[int], "set[int]"),
    (Mapping[str, date], "dict[str, date]"),
    (dict, "dict[str, Any]"),
    (int | str, "int | str"),
    (str | int, "int | str"),
    (date | str, "date | str"),
    (str | date | None, "str | date | None"),
    (Colour, "choice['blue', 'red']"),
    (Level, "choice[1, 12]"),
    (Rights, "flags[1, 2]"),
    (Literal["b", "a"], "choice['a', 'b']"),
    (list[Colour | None], "list[choice['blue', 'red'] | None]"),
    (Place, "{city: str, id?: UUID = computed, tags?: list[str] = {'L': []}, zip?: str = '0'}"),
    (
        Card,
        "{e-mail: str, place?: {city: str, id?: UUID = computed, "
        "tags?: list[str] = {'L': []}, zip?: str = '0'} | None}",
    ),
    (Options, "{note?: str, size: int}"),
    (Node, "{label: str, parts?: list[^1] = {'L': []}}"),
    (Scores, "list[int]"),
    (list[Text], "list[str]"),
]


@pytest.mark.parametrize(("annotation", "text"), CASES)
def test_a_type_has_this_text(annotation: Any, text: str) -> None:
    assert stored_type(annotation) == text


def test_a_default_that_needs_other_fields_is_computed() -> None:
    model = create_model("M", a=(int, ...), b=(int, Field(default_factory=lambda data: data["a"])))
    assert stored_type(model) == "{a: int, b?: int = computed}"


def test_a_default_that_reads_a_clock_is_computed_even_if_the_clock_stands() -> None:
    encode = converter(datetime, "").stored
    constant = datetime(2026, 1, 15, tzinfo=UTC)
    assert stored_default(lambda: constant, encode) == {"S": "2026-01-15T00:00:00.000000Z"}
    assert stored_default(lambda: datetime(2026, 1, 15, tzinfo=UTC), encode) == "computed"


def test_the_choices_of_a_type_are_sorted_texts_of_stored_values() -> None:
    assert choices_of(Colour) == ("'blue'", "'red'")
    assert choices_of(Literal["b", "a", None]) == ("'a'", "'b'")
    assert choices_of(str) is None


#: Types with values, from the tests of converters.
VALUES: list[tuple[Any, Any, Any]] = [
    *scalars.CASES,
    *times.CASES,
    *choices.CASES,
    *containers.CASES,
    *structures.CASES,
    *dynamic.CASES,
]


@pytest.mark.parametrize(("annotation", "value", "stored"), VALUES)
def test_types_with_equal_texts_store_and_read_alike(
    annotation: Any, value: Any, stored: Any
) -> None:
    text = stored_type(annotation)
    for other in (each for each, _, _ in VALUES if stored_type(each) == text):
        one, another = converter(annotation, ""), converter(other, "")
        assert another.encode(another.decode(stored)) == one.encode(one.decode(stored))


#: The shape of a type: the name of a scalar, or a container with its members.
SCALARS = {"str": str, "int": int, "Decimal": Decimal, "date": date, "datetime": datetime}
SHAPES = st.recursive(
    st.sampled_from([*SCALARS, "enum"]),
    lambda inner: st.one_of(
        st.tuples(st.just("list"), inner),
        st.tuples(st.just("optional"), inner),
        st.tuples(st.sampled_from(["model", "dataclass"]), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)


def realize(shape: Any, random: Random) -> Any:
    """Return a type of a shape, whose classes have random names, and fields a random order."""
    name = f"C{random.randrange(10**6)}"
    if isinstance(shape, str):
        members = random.sample(["a", "b", "c"], 3)
        is_enum = shape == "enum"
        return (
            Enum(name, {f"{name}_{each}": each for each in members}) if is_enum else SCALARS[shape]
        )
    kind, inner = shape
    if kind == "list":
        return random.choice([list, Sequence])[realize(inner, random)]
    if kind == "optional":
        return realize(inner, random) | None
    fields = {f"f{number}": realize(each, random) for number, each in enumerate(inner)}
    names = random.sample([*fields], len(fields))
    if kind == "dataclass":
        return make_dataclass(name, [(each, fields[each]) for each in names])
    given: dict[str, Any] = {f"{name}_{each}": (fields[each], Field(alias=each)) for each in names}
    return create_model(name, **given)


@given(SHAPES, st.integers(0, 2**32), st.integers(0, 2**32))
@examples(100)
def test_names_of_classes_and_the_order_of_members_are_not_in_the_text(
    shape: Any, one: int, other: int
) -> None:
    texts = {stored_type(realize(shape, Random(seed))) for seed in (one, other)}
    assert len(texts) == 1


@given(SHAPES, SHAPES)
@examples(100)
def test_types_of_different_shapes_have_different_texts(one: Any, other: Any) -> None:
    first, second = (stored_type(realize(each, Random(1))) for each in (one, other))
    assert (first == second) == (stored_shape(one) == stored_shape(other))


def stored_shape(shape: Any) -> Any:
    """Return a shape without what is stored alike: a model and a dataclass, None twice."""
    if isinstance(shape, str):
        return shape
    kind, inner = shape
    if kind in ("model", "dataclass"):
        return "structure", [stored_shape(each) for each in inner]
    found = stored_shape(inner)
    is_nested = kind == "optional" and isinstance(found, tuple) and found[0] == "optional"
    return found if is_nested else (kind, found)
