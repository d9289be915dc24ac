"""Operands of conditions: attributes, sizes and arguments in place of values; subtraction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    explain,
    index,
    key,
)
from tablewright.errors import DeclarationError, InvalidValue


class Boxes(Table, name="boxes"):
    full = GSI("GSI1PK", "GSI1SK")


class Box(Entity, table=Boxes):
    box_id: Attr[str] = attr()
    weight: Attr[int] = attr(default=5)
    least: Attr[int] = attr(default=1)
    most: Attr[int] = attr(default=9)
    limit: Attr[int | None] = attr(default=None)
    label: Attr[str] = attr(default="abc")
    prefix: Attr[str] = attr(default="ab")
    things: Attr[list[str]] = attr(default_factory=lambda: ["abc", "x"])
    tags: Attr[set[str]] = attr(default_factory=lambda: {"ab"})
    price: Attr[Decimal] = attr(default=Decimal(5))
    primary = key("BOXES", "BOX" / box_id)
    full = index(Boxes.full, "FULL", "BOX" / box_id, when=things.size() >= most)


@pytest.fixture
def db() -> Any:
    made = connect(":memory:", Boxes)
    made.run(create(Box(box_id="1")))
    return made


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (Box.weight.between(Box.least, Box.most), 1),
        (Box.weight.between(6, Box.most), 0),
        (Box.weight.in_([Box.least, Box.most]), 0),
        (Box.label.begins_with(Box.prefix), 1),
        (Box.prefix.begins_with(Box.label), 0),
        (Box.label.contains(Box.prefix), 1),
        (Box.things.contains(Box.label), 1),
        (Box.tags.contains(Box.prefix), 1),
        (Box.tags.contains(Box.label), 0),
        (Box.things.size() > Box.least, 1),
        (Box.things.size() == Box.tags.size(), 0),
        (Box.things.size().between(Box.least, Box.label.size()), 1),
        (Box.things.size() > Box.limit, 0),
        (Box.label.attribute_type("S"), 1),
        (Box.label.attribute_type("N"), 0),
    ],
)
def test_an_operand_may_be_another_attribute(db: Any, condition: Any, found: int) -> None:
    assert len(db.run(Box.primary.within().filter(condition))) == found
    item = db.run(Box.primary.within())[0]
    assert condition.matches(Box.__entity__.encode(vars(item))) is bool(found)


def test_when_compares_a_size_with_an_attribute(db: Any) -> None:
    assert len(db.run(Box.full())) == 0
    db.run(Box.primary("1").update(Box.most.set(2)))
    assert len(db.run(Box.full())) == 1


def test_arguments_of_a_pattern_are_operands() -> None:
    @access_pattern
    def heavy(most: int, start: str, tag: str, count: int) -> Query[Box]:
        return Box.primary.within().filter(
            Box.weight.between(Box.least, most)
            & Box.label.begins_with(start)
            & Box.tags.contains(tag)
            & Box.things.size().in_([count, 7])
            & Box.label.in_([start, tag])
        )

    (text,) = explain(heavy).filters
    assert "weight BETWEEN least AND {most}" in str(text)
    assert "begins_with(label, {start})" in str(text)


def test_decrement_subtracts(db: Any) -> None:
    first = Box.primary("1")
    assert db.run(first.update(Box.weight.decrement(7))).weight == -2
    assert db.run(first.update(Box.limit.decrement(3))).limit == -3
    assert db.run(first.update(Box.price.decrement(Decimal("0.5")))).price == Decimal("4.5")
    assert db.run(first.update(Box.most.decrement(7))).most == 2
    assert len(db.run(Box.full())) == 1  # a part of its condition has changed
    with pytest.raises(InvalidValue, match="is not a number"):
        Box.label.decrement(1)  # type: ignore[misc]


def test_a_type_is_one_of_dynamodb() -> None:
    with pytest.raises(InvalidValue, match="the types are S, N, B"):
        Box.label.attribute_type("str")  # type: ignore[arg-type]


def test_a_stored_type_is_not_known_for_an_index() -> None:
    with pytest.raises(DeclarationError, match="tests the stored form of a value"):
        Box.label.attribute_type("S").holds({})
