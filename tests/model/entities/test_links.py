"""Declarations of what belongs to an entity: how children are found, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import GSI, Attr, Entity, Table, attr, connect, create, index, key
from tablewright.errors import ConditionFailed, DeclarationError
from tablewright.formats import lower
from tablewright.mapping.links import CascadeMap
from tablewright.rules import cascade, detach, restrict
from tests.new_table import new_indexed_table, new_table


class Hub(Table, name="links"):
    by_owner = GSI("GSI1PK", "GSI1SK")


class Line(Entity, table=Hub):
    """Declared before its parent, which takes the class."""

    order: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("ORDER" / order, "LINE" / number)


class Parcel(Entity, table=Hub):
    parcel: Attr[str] = attr()
    order_id: Attr[str | None] = attr(default=None)
    primary = key("PARCEL" / parcel, "PARCEL")
    by_order = index(Hub.by_owner, "ORDER" / order_id, "PARCEL" / parcel)


class Order(Entity, table=Hub):
    order: Attr[str] = attr()
    primary = key("ORDER" / order, "ORDER")
    lines = cascade(Line)
    parcels = detach(Parcel.by_order, by=(Parcel.order_id,))
    refunds = restrict("Refund")


class Refund(Entity, table=Hub):
    order: Attr[str] = attr()
    primary = key("REFUND" / order, "REFUND")


def found(entity: type[Entity]) -> dict[str, CascadeMap]:
    return {each.name: each for each in entity.__entity__.cascades}


def test_children_are_found_by_a_key_that_begins_with_the_key_of_the_parent() -> None:
    cascades = found(Order)
    assert {name: each.key.name for name, each in cascades.items()} == {
        "Order.lines": "Line.primary",
        "Order.parcels": "Parcel.by_order",
        "Order.refunds": "Refund.primary",
    }
    assert {each.on_delete for each in cascades.values()} == {"delete", "detach", "restrict"}
    assert [each.name for each in Parcel.__entity__.links] == ["Order.parcels"]


def test_an_index_is_found_without_its_name() -> None:
    Shelf = new_indexed_table()  # noqa: N806

    class Box(Entity, table=Shelf):
        name: Attr[str] = attr()
        primary = key("BOX" / name, "BOX")
        things = cascade("Thing", by="box")

    class Thing(Entity, table=Shelf):
        thing: Attr[str] = attr()
        box: Attr[str | None] = attr(default=None)
        primary = key("THING" / thing, "THING")
        by_box = index(Shelf.gsi1, "BOX" / box, "THING" / thing)

    (things,) = found(Box).values()
    assert things.key.name == "Thing.by_box"
    with connect(":memory:", Shelf) as db:
        db.run(create(Box(name="b")))
        db.run(create(Thing(thing="t", box="b")))
        db.run(create(Thing(thing="u")))
        db.run(Box.primary("b").delete())
        assert [db.run(Thing.primary(each)) for each in "tu"] == [None, Thing(thing="u")]


# -- refused --------------------------------------------------------------------------------------


def declare(child: dict[str, Any], rule: Any, **options: Any) -> None:
    """Declare a parent with a rule, and its child."""
    table: Any = new_table()
    names: dict[str, Any] = {
        "__annotations__": {"name": Attr[str]},
        "name": (name := attr()),
        "primary": key("PARENT" / name, "PARENT"),
        "children": rule,
    }
    type("Parent", (Entity,), names, table=table)
    type("Child", (Entity,), child, table=table, **options)


def child(kind: Any = str, primary: Any = None, **more: Any) -> dict[str, Any]:
    name, number = attr(), attr(pad=3)
    return {
        "__annotations__": {"name": Attr[kind], "number": Attr[int]},
        "name": name,
        "number": number,
        "primary": (primary or (lambda a, b: key("PARENT" / a, "CHILD" / b)))(name, number),
        **more,
    }


MISTAKES: dict[str, tuple[dict[str, Any], Any, str]] = {
    "no such attribute": (
        child(),
        cascade("Child", by="nam"),
        "Child has no attribute 'nam'; did you mean 'name'",
    ),
    "too many attributes": (
        child(),
        cascade("Child", by=("name", "number")),
        "by= names 2 attributes, and the key of Parent is made of 1: name",
    ),
    "another type": (child(int), cascade("Child"), "Child.name is int, and Parent.name is str"),
    "no such key": (child(), cascade("Child.primry"), "Child has no key 'primry'"),
    "no key finds them": (
        child(primary=lambda a, b: key("CHILD" / b, "PARENT" / a)),
        cascade("Child"),
        "no key of Child begins with name",
    ),
    "a key of derived parts": (
        child(primary=lambda a, b: key("PARENT" / lower(a), "CHILD" / b)),
        cascade("Child"),
        "no key of Child begins with name",
    ),
    "cannot be detached": (child(), detach("Child"), "Child.name cannot be removed"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_found_at_import(what: str) -> None:
    body, rule, message = MISTAKES[what]
    with pytest.raises(DeclarationError, match=rf"Parent\.children: .*{message}"):
        declare(body, rule)


def test_a_write_once_child_is_not_deleted() -> None:
    with pytest.raises(DeclarationError, match="Child is write-once, so it is never deleted"):
        declare(child(), cascade("Child"), write_once=True)
    declare(child(), restrict("Child"), write_once=True)


def test_a_child_with_variants_is_refused_and_each_of_them_accepted() -> None:
    table = new_table()

    class Part(Entity, table=table, variants=True):
        name: Attr[str] = attr()
        number: Attr[int] = attr(pad=3)
        primary = key("WHOLE" / name, "PART" / number)

    class Wheel(Part):
        spokes: Attr[int] = attr(default=0)

    class Seat(Part):
        pass

    with pytest.raises(DeclarationError, match="Part has variants, which are found each by itself"):

        class All(Entity, table=table):
            name: Attr[str] = attr()
            primary = key("ALL" / name, "ALL")
            parts = cascade(Part)

    class Whole(Entity, table=table):
        name: Attr[str] = attr()
        primary = key("WHOLE" / name, "WHOLE")
        wheels = cascade(Wheel)
        seats = restrict(Seat)

    with connect(":memory:", table) as db:
        db.run(create(Whole(name="w")))
        db.run(create(Wheel(name="w", number=1)))
        db.run(create(Seat(name="w", number=2)))
        with pytest.raises(ConditionFailed, match="items of Seat belong to it"):
            db.run(Whole.primary("w").delete())
        db.run(Seat.primary("w", 2).delete())
        db.run(Whole.primary("w").delete())
        assert db.run(Part.primary("w", 1)) is None


@pytest.mark.parametrize("wrong", [None, 5, Hub])
def test_what_is_no_entity_is_refused(wrong: Any) -> None:
    with pytest.raises(DeclarationError, match=r"takes an entity or its key in an index"):
        cascade(wrong)


def test_an_entity_of_another_table_is_refused() -> None:
    with pytest.raises(DeclarationError, match="what belongs to an item is in its own table"):
        declare(child(), cascade(Line))


def test_a_child_that_is_never_declared_is_reported_when_a_database_is_opened() -> None:
    table = new_table()

    class Parent(Entity, table=table):
        name: Attr[str] = attr()
        primary = key("PARENT" / name, "PARENT")
        children = cascade("Chidl")

    with pytest.raises(DeclarationError, match=r"no entity of .* is named Chidl"):
        connect(":memory:", table)
