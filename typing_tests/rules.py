"""Counters: `rules_mistakes.py` misuses what is here."""
# pyright: strict

from __future__ import annotations

from decimal import Decimal
from typing import assert_type

from tablewright import Attr, Entity, Table, attr, connect, create, key
from tablewright.model.attribute import Reference
from tablewright.plans import Reconcile, reconcile
from tablewright.rules import count_of, sum_of


class Cafe(Table, name="cafe"): ...


class Cup(Entity, table=Cafe):
    """Declared before its parent, which names it as a class."""

    table_id: Attr[int] = attr()
    cup_id: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    sugar: Attr[int | None] = attr(default=None)
    primary = key("TABLE" / table_id, "CUP" / cup_id)


class Seat(Entity, table=Cafe):
    seat_id: Attr[int] = attr()
    cups: Attr[int] = count_of(Cup, by=(Cup.table_id,))
    strong: Attr[int] = count_of(Cup, by=("table_id",), when=Cup.price > Decimal(3))
    sweet: Attr[int] = count_of(Cup, by=("table_id",), when=lambda cup: cup.sugar == 2)
    total: Attr[Decimal] = sum_of(Cup.price, by=("table_id",))
    sugar: Attr[int] = sum_of(Cup.sugar, by=("table_id",), doc="All of it")
    visits: Attr[int] = count_of("Visit")
    tips: Attr[int] = sum_of("Visit.tip", when=lambda visit: visit.tip > 1)
    primary = key("TABLE" / seat_id, "SEAT")


class Visit(Entity, table=Cafe):
    """Declared after its parent, which names it."""

    seat_id: Attr[int] = attr()
    number: Attr[int] = attr(pad=4)
    tip: Attr[int] = attr(default=0)
    primary = key("TABLE" / seat_id, "VISIT" / number)


def a_counter_is_an_attribute_that_only_the_library_writes() -> None:
    with connect(":memory:", Cafe) as db:
        seat = db.run(create(Seat(seat_id=1)))
        assert_type(seat.cups, int)
        assert_type(seat.total, Decimal)
        assert_type(Seat.total, Reference[Seat, Decimal])
        db.run(create(Cup(table_id=1, cup_id="a", price=Decimal(4), sugar=2)))
        db.run(create(Visit(seat_id=1, number=1, tip=5)))
        found = db.run(Seat.primary(1).or_raise())
        assert (found.cups, found.strong, found.sweet, found.sugar) == (1, 1, 1, 2)
        assert (found.total, found.visits, found.tips) == (Decimal(4), 1, 5)
        plan = reconcile(Cafe)
        assert_type(plan, Reconcile)
        assert_type(db.run(plan), int)
