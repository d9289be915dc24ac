"""No two different values give the same key, for any template."""

from __future__ import annotations

import re
from datetime import date, datetime
from types import new_class
from typing import Any, Literal, NamedTuple
from uuid import UUID

from hypothesis import assume, given
from hypothesis import strategies as st

from tablewright import Attr, Entity, Table, attr, key
from tablewright.errors import DeclarationError
from tablewright.ids import KSUID
from tablewright.mapping.template import Parser, Template
from tablewright.model.attribute import KeyPath, RepeatedPiece
from tests.examples import examples
from tests.new_table import new_table
from tests.properties.keys.values import (
    NASTY,
    Level,
    Status,
    Triple,
    _hint,
    dates,
    joined,
    ksuids,
    moments,
    texts,
)


class Kind(NamedTuple):
    """A type that a part can have, and its values."""

    type: Any
    values: st.SearchStrategy[Any]
    pad: int | None = None
    sorts: bool = True


KINDS = [
    Kind(str, st.sampled_from([*NASTY, "A", "B", "A#B", "007", "PAID", "true", "A$!B"]) | texts),
    Kind(int, st.integers(0, 999), pad=3),
    Kind(int, st.integers(0, 9999), pad=4),
    Kind(int, st.integers(-11, 11) | st.integers(), sorts=False),
    Kind(bool, st.booleans()),
    Kind(Status, st.sampled_from(Status)),
    Kind(Level, st.sampled_from(Level)),
    Kind(Literal["a", "a#b", "b#c", "c"], st.sampled_from(["a", "a#b", "b#c", "c"])),
    Kind(date, dates),
    Kind(datetime, moments),
    Kind(UUID, st.uuids()),
    Kind(KSUID, ksuids),
]


LITERALS = ["A", "B", "A#B", "B#A#B", "007", "PAID", "true", "turns", "turnstile", "%s"]


class Made(NamedTuple):
    """An entity of a random design, and the values that its key asks for."""

    entity: Any
    values: st.SearchStrategy[tuple[Any, ...]]
    labels: list[str]


class Shape(NamedTuple):
    """Two paths of literals and numbers of attributes, and the kinds of the attributes."""

    partition: list[str | int]
    sort: list[str | int]
    kinds: list[Kind]
    delimiter: str | None = None
    #: Whether a delimiter is before each piece but the first of a path: `/` or `+`.
    delimited: tuple[bool, ...] = (True, True)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    piece = st.sampled_from(LITERALS) | st.integers(0, len(kinds) - 1)
    partition = draw(st.lists(piece, min_size=1, max_size=3))
    sort = draw(st.lists(piece, min_size=1, max_size=3))
    asked = {number for number in (*partition, *sort) if isinstance(number, int)}
    assume(asked)
    unsorted = {
        number
        for number in sort
        if isinstance(number, int) and not kinds[number].sorts and number not in partition
    }
    assume(not unsorted)
    return Shape(partition, sort, kinds)


@st.composite
def any_shapes(draw: st.DrawFn) -> Shape:
    """Shapes with delimiters of their own, or with none between pieces."""
    delimiter = draw(st.sampled_from([None, ":", "-", "0"]))
    delimited = draw(st.tuples(st.booleans(), st.booleans()))
    return draw(shapes())._replace(delimiter=delimiter, delimited=delimited)


def designed(table: type[Table], name: str, shape: Shape) -> Made:
    """The entity of a shape, in a table; DeclarationError if it cannot live there."""
    partition, sort, kinds, delimiter, delimited = shape
    attributes: list[Any] = [attr(pad=kind.pad) for kind in kinds]
    asked: list[int] = []

    def path(pieces: list[str | int]) -> KeyPath[Any]:
        used: list[Any] = []
        for piece in pieces:
            if isinstance(piece, str):
                used.append(piece)
            elif piece in asked:
                used.append(RepeatedPiece(attributes[piece]))
            else:
                asked.append(piece)
                used.append(attributes[piece])
        whole = joined(used[0])
        for piece, is_delimited in zip(used[1:], delimited, strict=False):
            whole = whole / piece if is_delimited else whole + piece
        return whole

    body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    for number, declared in enumerate(attributes):
        body[f"a{number}"] = declared
        declared.name = f"a{number}"
        body["__annotations__"][f"a{number}"] = _hint(kinds[number].type)
    body["primary"] = key(path(partition), path(sort), delimiter=delimiter)
    entity = new_class(name, (Entity,), {"table": table}, lambda space: space.update(body))
    labels = [f"a{number}" for number in asked]
    return Made(entity, st.tuples(*(kinds[number].values for number in asked)), labels)


@given(shapes(), st.data())
def test_different_values_of_an_entity_have_different_keys(shape: Any, data: st.DataObject) -> None:
    made = designed(new_table(), "One", shape)
    tuples = data.draw(st.lists(made.values, min_size=2, max_size=8, unique=True))
    keys = {repr(made.entity.primary(*values)._key) for values in tuples}
    assert len(keys) == len(tuples)


@examples(200)
@given(any_shapes(), any_shapes(), st.data())
def test_keys_with_any_delimiter_that_are_accepted_are_different(
    one: Shape, other: Shape, data: st.DataObject
) -> None:
    table = new_table()
    keys: list[str] = []
    for name, shape in (("One", one), ("Other", other)):
        try:
            made = designed(table, name, shape)
        except DeclarationError as refused:
            assert re.search("can be the same key|a key cannot be read", str(refused))  # noqa: PT017
            return
        tuples = data.draw(st.lists(made.values, min_size=1, max_size=4, unique=True))
        for values in tuples:
            composed = made.entity.primary(*values)._key
            keys.append(repr(composed))
            parsed: dict[str, Any] = {}
            for template, text in zip(_templates(made.entity), composed.values(), strict=True):
                read = Parser(template)(text["S"])
                parsed |= {
                    part.label: each for part, each in zip(template.parts, read, strict=True)
                }
            assert parsed == dict(zip(made.labels, values, strict=True))
    assert len(set(keys)) == len(keys)


def _templates(entity: Any) -> list[Template]:
    primary = entity.__entity__.primary
    return [primary.partition, primary.sort]


@given(st.tuples(texts, texts, texts), st.tuples(texts, texts, texts))
def test_texts_side_by_side_never_run_together(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (_joined(*one) == _joined(*other)) == (one == other)


def _joined(a: str, b: str, c: str) -> Any:
    return Triple.primary(a, b, c)._key


class Choosing(Table, name="choosing"): ...


class Choice(Entity, table=Choosing):
    first: Attr[Literal["a", "a#b"]] = attr()
    second: Attr[Literal["b#c", "c"]] = attr()
    primary = key("CHOICE", first / second)


def test_choices_that_hold_the_delimiter_have_different_keys() -> None:
    assert Choice.primary("a", "b#c")._key != Choice.primary("a#b", "c")._key


@examples(300)
@given(shapes(), shapes(), st.data())
def test_entities_that_are_accepted_side_by_side_have_different_keys(
    one: Any, other: Any, data: st.DataObject
) -> None:
    table = new_table()
    first = designed(table, "One", one)
    try:
        second = designed(table, "Other", other)
    except DeclarationError as refused:
        assert "can be the same key" in str(refused)  # noqa: PT017
        return
    ones = data.draw(st.lists(first.values, min_size=1, max_size=5))
    others = data.draw(st.lists(second.values, min_size=1, max_size=5))
    keys = [repr(first.entity.primary(*values)._key) for values in ones]
    assert not {repr(second.entity.primary(*values)._key) for values in others} & set(keys)


@examples(200)
@given(shapes(), shapes(), st.data())
def test_without_a_type_every_item_is_known_by_its_key(
    one: Any, other: Any, data: st.DataObject
) -> None:
    untyped = new_table("untyped", type_attribute=None)
    first = designed(untyped, "One", one)
    try:
        second = designed(untyped, "Other", other)
    except DeclarationError:
        return
    for made in (first, second):
        item = made.entity.primary(*data.draw(made.values))._key
        assert untyped.__table__.entity_of(item) is made.entity.__entity__
