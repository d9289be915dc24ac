"""Entities of one table whose keys could collide are refused."""

from __future__ import annotations

import pytest

from tablewright import Attr, Entity, Table, attr, key, unique
from tablewright.errors import DeclarationError
from tests.model.declaring.declarations import Keyed, Shop, refused
from tests.new_table import new_table


class Crowded(Table, name="crowded"): ...


class Resident(Entity, table=Crowded):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    email: Attr[str] = attr()
    primary = key("HOUSE" / name, "ROOM" / number)
    by_email = unique("EMAIL" / email)


@pytest.mark.parametrize(
    "case",
    ["same shape", "literal against number", "free text against literal", "free against number"],
)
def test_a_key_that_could_be_another_entitys_is_refused(case: str) -> None:
    with refused("Guest.primary", "PK=", "Resident.primary", "HOUSE#{name}", "its own literal"):
        if case == "same shape":

            class Guest(Entity, table=Crowded):
                who: Attr[str] = attr()
                bed: Attr[int] = attr(pad=3)
                primary = key("HOUSE" / who, "ROOM" / bed)

        elif case == "literal against number":

            class Guest(Entity, table=Crowded):  # type: ignore[no-redef]
                primary = key("HOUSE#hall", "ROOM#007")

        elif case == "free text against literal":

            class Guest(Entity, table=Crowded):  # type: ignore[no-redef]
                who: Attr[str] = attr()
                what: Attr[str] = attr()
                primary = key("HOUSE" / who, what / "007")

        else:

            class Guest(Entity, table=Crowded):  # type: ignore[no-redef]
                who: Attr[str] = attr()
                bed: Attr[str] = attr()
                primary = key("HOUSE" / who, "ROOM" / bed)


def test_a_key_that_could_be_anothers_sentinel_is_refused() -> None:
    with refused("Letter.primary", "Resident.by_email", "EMAIL#{email}", "its own literal"):

        class Letter(Entity, table=Crowded):
            to: Attr[str] = attr()
            primary = key("EMAIL" / to, "EMAIL" / to.again)


def test_a_sentinel_that_could_be_anothers_key_is_refused() -> None:
    with refused("Letter.by_house", "Resident.primary", "its own literal"):

        class Letter(Entity, table=Crowded):
            to: Attr[str] = attr()
            primary = key("LETTER" / to, "LETTER")
            by_house = unique("HOUSE" / to, "ROOM#007")


def test_a_sentinel_that_could_be_anothers_sentinel_is_refused() -> None:
    with refused("Letter.by_email", "Resident.by_email", "its own literal"):

        class Letter(Entity, table=Crowded):
            to: Attr[str] = attr()
            primary = key("LETTER" / to, "LETTER")
            by_email = unique("EMAIL" / to)


def test_a_sentinel_that_could_be_its_own_entitys_key_is_refused() -> None:
    """No two different values give the same key; a sentinel would overwrite an entity."""

    with refused("Customer.by_email", "Customer.primary", "its own literal"):

        class Customer(Entity, table=Shop):
            customer: Attr[str] = attr()
            email: Attr[str] = attr()
            primary = key("CUST" / customer, "PROFILE")
            by_email = unique("CUST" / email, "PROFILE")


def test_two_sentinels_of_one_entity_with_one_key_are_refused() -> None:
    """An email that is another's name would be taken."""

    with refused("Customer.by_", "NAME#{", "its own literal"):

        class Customer(Entity, table=Shop):
            customer: Attr[str] = attr()
            email: Attr[str] = attr()
            nick: Attr[str] = attr()
            primary = key("CUST" / customer, "PROFILE")
            by_email = unique("NAME" / email)
            by_nick = unique("NAME" / nick)


def test_keys_of_different_length_or_literals_live_side_by_side() -> None:
    shop = new_table()

    class Order(Entity, table=shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order)

    class Item(Entity, table=shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        item: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item)

    class Note(Entity, table=shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        note: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order / "NOTE" / note)

    class Profile(Entity, table=shop):
        customer: Attr[str] = attr()
        primary = key("CUST" / customer, "PROFILE")

    entities = [entity.name for entity in shop.__table__.entities]
    assert entities == ["Order", "Item", "Note", "Profile"]


def test_two_entities_of_one_type_name_are_refused() -> None:
    shop = new_table()

    class Order(Keyed, table=shop, type_name="O"): ...

    with refused("Offer", "Shop", "'O'", "type_name=…"):

        class Offer(Entity, table=shop, type_name="O"):
            offer: Attr[str] = attr()
            primary = key("OFFER" / offer, "OFFER")


def test_a_sentinel_of_an_entitys_type_is_refused() -> None:
    """It would be read as that entity."""

    with refused("Customer", "already has items of type 'Customer'", "type_name=…"):

        class Customer(Entity, table=Shop):
            customer: Attr[str] = attr()
            email: Attr[str] = attr()
            primary = key("CUST" / customer, "PROFILE")
            by_email = unique("EMAIL" / email, type_name="Customer")


def test_a_refused_entity_leaves_its_table_as_it_was() -> None:
    shop = new_table()
    for literal in ("", "ORDER"):
        try:

            class Order(Entity, table=shop):
                order: Attr[str] = attr()
                primary = key("ORDER" / order, literal)

        except DeclarationError:
            assert shop.__table__.entities == []
    assert [entity.name for entity in shop.__table__.entities] == ["Order"]
