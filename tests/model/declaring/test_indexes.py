"""Indexes and the keys that entities declare for them."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import GSI, LSI, Attr, Entity, Table, attr, connect, create, index, key
from tests.model.declaring.declarations import Keyed, Ordered, Parts, Shop, refused
from tests.things import Thing


def test_an_index_of_another_table_is_refused() -> None:
    class Market(Table):
        stalls = GSI("GSI1PK", "GSI1SK")

    with refused("Order.listing", "'stalls'", "not an index of shop", "it has listed, reverse"):

        class Order(Keyed, table=Shop):
            listing = index(Market.stalls, "ORDERS", "ORDER" / Keyed.order)


def test_an_index_needs_its_sort_key() -> None:
    with refused("Order.listing", "listed has a sort key, 'GSI1SK'", "pass a second path"):

        class Order(Keyed, table=Shop):
            listing = index(Shop.listed, "ORDERS" / Keyed.order)


def test_an_index_without_a_sort_key_takes_none() -> None:
    with refused("Order.listing", "flat has no sort key", "leave the second path out"):

        class Order(Keyed, table=Shop):
            listing = index(Shop.flat, "ORDERS", "ORDER" / Keyed.order)


def test_two_places_in_one_index_are_refused() -> None:
    with refused("Order.second", "Order.first", "one place in an index", "when=…"):

        class Order(Keyed, table=Shop):
            first = index(Shop.listed, "ORDERS", "ORDER" / Keyed.order)
            second = index(Shop.listed, "OTHERS", "ORDER" / Keyed.order)


def test_an_index_key_that_is_the_tables_own_cannot_be_another() -> None:
    with refused("Order.back", "'SK'", "a key of the table", "ORDER#{order}", "OTHER#{order}"):

        class Order(Ordered, table=Shop):
            back = index(Shop.reverse, "OTHER" / Parts.order, "CUST" / Parts.customer)


def test_an_index_key_that_is_the_tables_own_cannot_be_another_in_the_sort_key() -> None:
    with refused("Order.listing", "'PK'", "a key of the table", "CUST#{customer}"):

        class Order(Ordered, table=Shop):
            listing = index(Shop.by_customer, "ORDERS", "ORDER" / Parts.order)


def test_an_index_key_that_is_the_type_attribute_cannot_be_another_text() -> None:
    """The library writes the type there: a query for another text would find nothing."""

    class Market(Table, type_attribute="tp"):
        id_lookup = GSI("id", "tp")

    with refused("Order.by_id", "id_lookup is the type", "'Order'", "leave the second path out"):

        class Order(Entity, table=Market):
            order: Attr[str] = attr(name="id")
            primary = key("ORDER" / order, "ORDER")
            by_id = index(Market.id_lookup, order, "SOMETHING")


@pytest.mark.parametrize("literal", ["CUST", "ELSE"])
def test_a_local_index_is_declared_by_the_primary_key(literal: str) -> None:
    """With the partition of the primary key, and with another one."""
    local: Any = Shop.by_name
    with refused("Order.named", "primary.local(…)"):

        class Order(Ordered, table=Shop):
            named = index(local, literal / Parts.customer, "NAME" / Parts.order)


def test_a_global_index_is_no_local_one() -> None:
    wrong: Any = Shop.listed
    with refused("Order.named", "index("):

        class Order(Parts, table=Shop):
            primary = key("CUST" / Parts.customer, "ORDER" / Parts.order)
            named = primary.local(wrong, "NAME" / Parts.order)


def test_a_table_without_a_sort_key_has_no_local_indexes() -> None:
    with refused("Shop.by_name", "without a sort key"):

        class Shop(Table, name="shop", sk=None):
            by_name = LSI("NAME")


def test_a_table_without_a_sort_key_has_nothing_to_swap() -> None:
    class Shop(Table, sk=None):
        reverse = GSI("GSI1PK", "PK")

    with refused("Order.back", "sort key"):

        class Order(Entity, table=Shop):
            order: Attr[str] = attr()
            primary = key("ORDER" / order)
            back = primary.swapped(Shop.reverse)


def test_an_index_key_has_one_type_for_all_entities() -> None:
    """DynamoDB declares it once; a put of the other type would be refused."""

    class Shop(Table):
        by_number = GSI("number")

    class Order(Entity, table=Shop):
        number: Attr[int] = attr()
        primary = key("ORDER" / number, "ORDER")
        numbered = index(Shop.by_number, number)

    with refused("Offer", "'number'"):

        class Offer(Entity, table=Shop):
            number: Attr[str] = attr()
            primary = key("OFFER" / number, "OFFER")
            numbered = index(Shop.by_number, number)


def test_an_attribute_under_an_index_keys_name_has_its_type() -> None:
    """DynamoDB takes one type for `GSI1PK`, whether or not an index was meant."""

    class Shop(Table, name="typed"):
        listed = GSI("GSI1PK")

    class Order(Keyed, table=Shop):
        number: Attr[int] = attr(name="GSI1PK")

    db = connect(":memory:", Shop)
    made = db.run(create(Order(order="1", number=5)))
    assert db.run(Order.primary("1")) == made
    with refused("Offer", "'GSI1PK'", "type N", "S here"):

        class Offer(Ordered, table=Shop):
            listing = index(Shop.listed, "OFFER" / Parts.order)


def test_a_condition_on_another_classs_attribute_is_refused() -> None:
    with refused("Order.listing", "name"):

        class Order(Keyed, table=Shop):
            listing = index(Shop.listed, "X", "ORDER" / Keyed.order, when=Thing.name == "Lamp")
