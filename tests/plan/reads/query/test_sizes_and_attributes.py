"""Conditions on the size of an attribute, and between two attributes."""

from __future__ import annotations

from collections.abc import Iterator

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
    put,
)
from tablewright.database import Database
from tablewright.errors import ConditionFailed, DeclarationError, InvalidValue
from tablewright.plans import Condition


class Store(Table, name="store"):
    due = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Store):
    number: Attr[int] = attr(pad=3)
    lines: Attr[list[str]] = attr(default_factory=list)
    tags: Attr[set[str]] = attr(default_factory=set)
    name: Attr[str] = attr(default="x")
    paid: Attr[int | None] = attr(default=None)
    total: Attr[int] = attr(default=0)
    primary = key("ORDERS", "ORDER" / number)
    due = index(Store.due, "DUE", "ORDER" / number, when=paid < total)


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(":memory:", Store) as db:
        db.run(create(Order(number=1, lines=["a"], name="äö", paid=5, total=5)))
        db.run(create(Order(number=2, lines=["a", "b", "c"], tags={"t"}, paid=3, total=5)))
        db.run(create(Order(number=3)))
        yield db


def numbers(db: Database, condition: Condition[Order]) -> list[int]:
    return [order.number for order in db.run(Order.primary.within().filter(condition))]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Order.lines.size() > 1, [2]),
        (Order.lines.size() == 0, [3]),
        (Order.lines.size() != 3, [1, 3]),
        (Order.tags.size() >= 1, [2]),
        (Order.name.size() <= 1, [2, 3]),
        (Order.name.size() < 5, [1, 2, 3]),
        (Order.name.size() == 2, [1]),
        (Order.lines.size().between(1, 3), [1, 2]),
        (Order.lines.size().in_([0, 3]), [2, 3]),
        (Order.paid == Order.total, [1]),
        (Order.paid < Order.total, [2]),
        (Order.paid != Order.total, [2, 3]),
        (Order.total >= Order.paid, [1, 2]),
        ((Order.paid <= Order.total) & (Order.lines.size() > 2), [2]),
        (~(Order.paid > Order.total), [1, 2, 3]),
    ],
)
def test_dynamodb_and_the_model_agree(
    db: Database, condition: Condition[Order], expected: list[int]
) -> None:
    assert numbers(db, condition) == expected
    stored = db.run(Order.primary.within())
    assert [order.number for order in stored if condition.holds(vars(order))] == expected


def test_a_write_may_require_them(db: Database) -> None:
    update = Order.primary(2).update(Order.total.set(9))
    with pytest.raises(ConditionFailed, match=r"paid = total"):
        db.run(update.condition(Order.paid == Order.total))
    assert db.run(update.condition(Order.lines.size() == 3)).total == 9


def test_they_decide_on_a_place_in_an_index(db: Database) -> None:
    assert [order.number for order in db.run(Order.due())] == [2]
    db.run(put(Order(number=4, paid=1, total=2)))
    assert [order.number for order in db.run(Order.due())] == [2, 4]


def test_a_size_is_compared_with_arguments_of_a_pattern(db: Database) -> None:
    @access_pattern
    def orders_by_lines(least: int, most: int) -> Query[Order]:
        """Orders with so many lines, and a name that is not of this length."""
        found = Order.primary.within().filter(Order.lines.size().between(least, most))
        return found.filter(Order.name.size() != least)

    filters = "size(lines) BETWEEN {least} AND {most} AND size(name) <> {least}"
    assert explain(orders_by_lines).filter == filters
    assert [order.number for order in db.run(orders_by_lines(1, 3))] == [1]
    assert [order.number for order in db.run(orders_by_lines(0, 1))] == [1, 3]


def test_one_of_no_sizes_is_refused() -> None:
    with pytest.raises(InvalidValue, match="needs at least one value"):
        Order.lines.size().in_([])


def test_a_size_is_a_whole_number() -> None:
    with pytest.raises(
        InvalidValue, match=r"lines\.size\(\) cannot be compared with 1\.5; pass an int"
    ):
        _ = Order.lines.size() > 1.5  # type: ignore[operator]


def test_the_other_attribute_must_be_of_the_same_entity() -> None:
    class Other(Entity, table=Store):
        number: Attr[int] = attr(pad=3)
        primary = key("OTHERS", "OTHER" / number)

    with pytest.raises(DeclarationError, match=r"Other\.number is not an attribute of Order"):
        Order.primary.within().filter(Order.total == Other.number)
