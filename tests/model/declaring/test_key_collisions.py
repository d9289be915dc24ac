"""Entities of one table whose keys could collide are refused."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Attr, Entity, Table, attr, key, unique
from tablewright.errors import DeclarationError
from tests.model.declaring.declarations import Keyed, Ordered, Parts, Shop, refused
from tests.new_table import new_table


class Crowded(Table, name="crowded"): ...


class Resident(Entity, table=Crowded):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    email: Attr[str] = attr()
    primary = key("HOUSE" / name, "ROOM" / number)
    by_email = unique("EMAIL" / email)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("HOUSE" / Parts.customer, "ROOM" / Parts.line, id="same shape"),
        pytest.param("HOUSE#hall", "ROOM#007", id="literal against number"),
        pytest.param("HOUSE" / Parts.customer, Parts.order / "007", id="free text against literal"),
        pytest.param("HOUSE" / Parts.customer, "ROOM" / Parts.order, id="free against number"),
    ],
)
def test_a_key_that_could_be_another_entitys_is_refused(first: Any, second: Any) -> None:
    with refused("Guest.primary", "PK=", "Resident.primary", "HOUSE#{name}", "its own literal"):

        class Guest(Parts, table=Crowded):
            primary = key(first, second)


def test_a_key_that_could_be_anothers_sentinel_is_refused() -> None:
    with refused("Letter.primary", "Resident.by_email", "EMAIL#{email}", "its own literal"):

        class Letter(Parts, table=Crowded):
            primary = key("EMAIL" / Parts.email, "EMAIL" / Parts.email.again)


def test_a_sentinel_that_could_be_anothers_key_is_refused() -> None:
    with refused("Order.by_house", "Resident.primary", "its own literal"):

        class Order(Ordered, table=Crowded):
            by_house = unique("HOUSE" / Parts.email, "ROOM#007")


def test_a_sentinel_that_could_be_anothers_sentinel_is_refused() -> None:
    with refused("Order.by_email", "Resident.by_email", "its own literal"):

        class Order(Ordered, table=Crowded):
            by_email = unique("EMAIL" / Parts.email)


def test_a_sentinel_that_could_be_its_own_entitys_key_is_refused() -> None:
    """No two different values give the same key; a sentinel would overwrite an entity."""
    with refused("Order.by_email", "Order.primary", "its own literal"):

        class Order(Parts, table=Shop):
            primary = key("CUST" / Parts.customer, "ORDER")
            by_email = unique("CUST" / Parts.email, "ORDER")


def test_two_sentinels_of_one_entity_with_one_key_are_refused() -> None:
    """An email that is another's name would be taken."""
    with refused("Order.by_", "NAME#{", "its own literal"):

        class Order(Ordered, table=Shop):
            by_email = unique("NAME" / Parts.email)
            by_name = unique("NAME" / Parts.name)


def test_keys_of_different_length_or_literals_live_side_by_side() -> None:
    shop = new_table()

    class Order(Ordered, table=shop): ...

    class Item(Parts, table=shop):
        primary = key("CUST" / Parts.customer, "ORDER" / Parts.order / "ITEM" / Parts.name)

    class Note(Parts, table=shop):
        primary = key("CUST" / Parts.customer, "ORDER" / Parts.order / "NOTE" / Parts.name)

    class Profile(Parts, table=shop):
        primary = key("CUST" / Parts.customer, "PROFILE")

    entities = [entity.name for entity in shop.__table__.entities]
    assert entities == ["Order", "Item", "Note", "Profile"]


def test_two_entities_of_one_type_name_are_refused() -> None:
    shop = new_table()

    class Order(Keyed, table=shop, type_name="O"): ...

    with refused("Offer", "Shop", "'O'", "type_name=…"):

        class Offer(Ordered, table=shop, type_name="O"): ...


def test_a_sentinel_of_an_entitys_type_is_refused() -> None:
    """It would be read as that entity."""
    with refused("Order", "already has items of type 'Order'", "type_name=…"):

        class Order(Ordered, table=Shop):
            by_email = unique("EMAIL" / Parts.email, type_name="Order")


def test_a_refused_entity_leaves_its_table_as_it_was() -> None:
    shop = new_table()
    for literal in ("", "ORDER"):
        try:

            class Order(Parts, table=shop):
                primary = key("ORDER" / Parts.order, literal)

        except DeclarationError:
            assert shop.__table__.entities == []
    assert [entity.name for entity in shop.__table__.entities] == ["Order"]
