"""An update that changes the key of one item moves it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, key, update
from tablewright.database import Database
from tablewright.errors import UniqueViolation
from tests.plan.writes.move.menus import Menus, Product, Section, StateChange, Ticket, build, items
from tests.sensors import Reading, Sensors

# -- one row ---------------------------------------------------------------------------------------


def test_a_change_of_the_sort_key_moves_the_item(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup", price=7)))
    moved = db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert moved == Product(menu="m", section="s", product="q", name="Soup", price=7)
    assert db.run(Product.primary("m", "s", "p")) is None
    assert db.run(Product.primary("m", "s", "q")) == moved


def test_a_change_of_the_partition_moves_the_item(db: Database) -> None:
    product = db.run(create(Product(menu="m", section="s", product="p")))

    assert db.run(update(product, Product.menu.set("n"))) is product
    assert product.menu == "n"
    assert db.run(Product.primary("m", "s", "p")) is None
    assert db.run(Product.primary("n", "s", "p")) == product


def test_a_move_leaves_what_a_create_at_the_new_place_would(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup", price=7)))
    db.run(
        Product.primary("m", "s", "p").update(
            Product.section.set("t"), Product.price.increment(3), Product.note.set_if_absent("x")
        )
    )

    with Engine(":memory:") as other:
        connect(other, Menus).run(
            create(Product(menu="m", section="t", product="p", name="Soup", price=10, note="x"))
        )
        assert items(engine) == items(other)


def test_a_move_takes_the_sentinel_along(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup")))
    moved = db.run(Product.primary("m", "s", "p").update(Product.section.set("t")))

    assert db.run(Product.by_name("Soup")) == moved
    with pytest.raises(UniqueViolation):
        db.run(create(Product(menu="m", section="s", product="p", name="Soup")))


def test_a_move_may_change_the_unique_value_too(db: Database, engine: Engine) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup")))
    moved = db.run(
        Product.primary("m", "s", "p").update(Product.product.set("q"), Product.name.set("Stew"))
    )

    assert db.run(Product.by_name("Stew")) == moved
    assert db.run(Product.by_name("Soup")) is None
    assert len(items(engine)) == 2


def test_a_move_takes_the_places_in_indexes_along(db: Database) -> None:
    db.run(create(Product(menu="m", section="s", product="p", price=7)))
    db.run(Product.primary("m", "s", "p").update(Product.section.set("t"), Product.price.set(8)))

    assert list(db.run(Product.by_price("m", "s"))) == []
    assert [found.price for found in db.run(Product.by_price("m", "t"))] == [8]


def test_a_move_counts_the_version_stamps_the_time_and_writes_the_event(
    db: Database, engine: Engine
) -> None:
    ticket = db.run(create(Ticket(desk="d", ticket_id="1")))
    changed = ticket.changed
    db.run(update(ticket, Ticket.desk.set("e"), Ticket.state.set("open")))

    assert (ticket.version, ticket.desk, ticket.state) == (2, "e", "open")
    assert ticket.changed > changed
    assert db.run(Ticket.primary("e", "1")) == ticket
    assert [(event.old, event.new) for event in db.run(StateChange.primary.within("1"))] == [
        ("new", "open")
    ]
    assert set(items(engine)) == {
        ("CODE#c1", "CODE#c1"),
        ("DESK#e", "TICKET#1"),
        ("TICKET#1", "STATE#0002"),
    }


def test_a_move_takes_attributes_along_that_the_entity_does_not_know(
    db: Database, engine: Engine
) -> None:
    build(db, "m", "s", products=1, options=0)
    for place in ("SECTION#s", "SECTION#s#PRODUCT#p0"):
        request = {
            "TableName": "menus",
            "Key": {"PK": {"S": "MENU#m"}, "SK": {"S": place}},
            "UpdateExpression": "SET alien = :kept",
            "ExpressionAttributeValues": {":kept": {"S": "kept"}},
        }
        engine.call("UpdateItem", request)

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    stored = items(engine)
    assert stored["MENU#m", "SECTION#t"]["alien"] == {"S": "kept"}
    assert stored["MENU#m", "SECTION#t#PRODUCT#p0"]["alien"] == {"S": "kept"}


def test_a_sum_in_a_move_is_exact(db: Database) -> None:
    """DynamoDB counts with 38 digits; Python's decimals would round at 28."""
    db.run(create(Section(menu="m", section="s", weight=Decimal(10**33), title="t")))
    db.run(
        Section.primary("m", "s").update(
            Section.section.set("t"), Section.weight.increment(Decimal(1))
        )
    )

    moved = db.run(Section.primary("m", "t"))
    assert moved is not None
    assert moved.weight == Decimal(10**33 + 1)


# -- what a move gives -----------------------------------------------------------------------------


def test_a_move_gives_what_is_stored_and_not_what_the_instance_holds(db: Database) -> None:
    section = db.run(create(Section(menu="m", section="s", title="Soups")))
    db.run(Section.primary("m", "s").update(Section.note.set("fresh")))
    section.weight = Decimal(9)

    moved = db.run(update(section, Section.section.set("t")))

    assert moved == Section(menu="m", section="t", title="Soups", note="fresh")
    assert moved == db.run(Section.primary("m", "t"))


# -- natural keys ----------------------------------------------------------------------------------


class Plain(Table, name="move_plain", pk="id", sk=None): ...


class Thing(Entity, table=Plain):
    thing_id: Attr[str] = attr(name="id")
    size: Attr[int] = attr(default=0)

    primary = key(thing_id)


class Half(Table, name="move_half", pk="id", sk="SK"):
    """One entity has an attribute as its partition key, the other a composed one."""


class Natural(Entity, table=Half):
    natural_id: Attr[str] = attr(name="id")

    primary = key(natural_id, "NATURAL")


class Composed(Entity, table=Half):
    composed_id: Attr[str] = attr()

    primary = key("COMPOSED" / composed_id, "COMPOSED")


def test_an_entity_with_an_attribute_as_its_key_moves(engine: Engine) -> None:
    db = connect(engine, Plain)
    db.run(create(Thing(thing_id="a", size=1)))

    moved = db.run(Thing.primary("a").update(Thing.thing_id.set("b")))

    assert moved == db.run(Thing.primary("b")) == Thing(thing_id="b", size=1)
    assert db.run(Thing.primary("a")) is None


def test_an_entity_with_attributes_as_both_keys_moves(engine: Engine) -> None:
    db = connect(engine, Sensors)
    db.run(create(Reading(sensor="s", at=1)))
    db.run(create(Reading(sensor="s", at=2)))

    db.run(Reading.primary("s", 1).update(Reading.at.set(10)))
    db.run(Reading.primary("s", 2).update(Reading.sensor.set("t")))

    assert list(db.run(Reading.primary.within("s"))) == [Reading(sensor="s", at=10)]
    assert list(db.run(Reading.primary.within("t"))) == [Reading(sensor="t", at=2)]


def test_entities_with_and_without_an_attribute_as_their_key_move_in_one_table(
    engine: Engine,
) -> None:
    db = connect(engine, Half)
    db.run(create(Natural(natural_id="1")))
    db.run(create(Composed(composed_id="1")))

    db.run(Natural.primary("1").update(Natural.natural_id.set("2")))
    db.run(Composed.primary("1").update(Composed.composed_id.set("2")))

    found = engine.call("Scan", {"TableName": "move_half"})["Items"]
    assert sorted(item["id"]["S"] for item in found) == ["2", "COMPOSED#2"]


@pytest.mark.parametrize("by", ["key", "instance"])
@pytest.mark.parametrize("more", [(), (Thing.size.set(7),)], ids=["alone", "with another"])
def test_an_attribute_that_is_the_key_may_be_set_to_what_it_is(
    engine: Engine, by: str, more: tuple[Any, ...]
) -> None:
    db = connect(engine, Plain)
    thing = db.run(create(Thing(thing_id="a")))
    changes = (Thing.thing_id.set("a"), *more)

    changed = db.run(
        update(thing, *changes) if by == "instance" else Thing.primary("a").update(*changes)
    )

    assert changed == db.run(Thing.primary("a")) == Thing(thing_id="a", size=7 if more else 0)
