"""Aggregates that are refused when they are declared."""

from __future__ import annotations

import pytest

from tablewright import Aggregate, Load, access_pattern, child, children, root
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tests.plan.reads.aggregates.sales import (
    Menu,
    Order,
    OrderItem,
    OrderWithItems,
    Profile,
    Warehouse,
    WholeOrder,
    item,
    order,
    store,
)


def test_a_member_outside_of_the_partition_is_refused() -> None:
    class Stocked(Aggregate):
        order: Order = root()
        warehouses: list[Warehouse] = children()

    with pytest.raises(
        DeclarationError,
        match=r"Stocked: Warehouse is not in the partitions of Order\.primary, "
        r"CUST#\{customer_id\}; one query cannot read both",
    ):
        Stocked.of(Order.primary("C1", "1"))

    with pytest.raises(DeclarationError, match="pattern stocked: Stocked: Warehouse is not in"):

        @access_pattern
        def stocked(customer_id: str, order_id: str) -> Load[Stocked]:
            return Stocked.of(Order.primary(customer_id, order_id))


def test_a_member_that_is_not_in_the_index_is_refused() -> None:
    with pytest.raises(
        DeclarationError, match=r"Payment is not in the partitions of Order\.by_state"
    ):
        WholeOrder.of(Order.by_state("open").eq("1"))


def test_a_member_of_a_member_outside_of_the_partition_is_refused() -> None:
    class Depot(Aggregate):
        warehouse: Warehouse = root()

    class Shipped(Aggregate):
        order: Order = root()
        depots: list[Depot] = children()

    with pytest.raises(DeclarationError, match="Shipped: Warehouse is not in the partitions"):
        Shipped.of(Order.primary("C1", "1"))


def test_the_root_of_another_entity_is_refused() -> None:
    with pytest.raises(
        DeclarationError, match=r"OrderWithItems\.of\(\) takes a key of Order, not of Profile"
    ):
        OrderWithItems.of(Profile.primary("C1"))


def test_an_aggregate_begins_with_its_root() -> None:
    with pytest.raises(
        DeclarationError, match=r"Rootless must begin with its root, an entity: order: Order = root"
    ):

        class Rootless(Aggregate):
            items: list[OrderItem] = children()
            order: Order = root()


def test_an_aggregate_without_members_is_refused() -> None:
    with pytest.raises(DeclarationError, match="Nothing must begin with its root"):

        class Nothing(Aggregate): ...


def test_children_are_annotated_as_a_list() -> None:
    with pytest.raises(
        DeclarationError, match=r"Single\.items = children\(\) must be annotated list"
    ):

        class Single(Aggregate):
            order: Order = root()
            items: OrderItem = children()  # type: ignore[assignment]


def test_a_member_is_an_entity_or_an_aggregate() -> None:
    with pytest.raises(
        DeclarationError, match=r"Texts\.notes: <class 'str'> is neither an entity nor"
    ):

        class Texts(Aggregate):
            order: Order = root()
            notes: list[str] = children()


def test_one_that_is_annotated_as_a_list_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Doubled\.items"):

        class Doubled(Aggregate):
            order: Order = root()
            items: list[OrderItem] = child()


def test_members_of_several_tables_are_refused() -> None:
    with pytest.raises(DeclarationError, match="its members are in the tables"):

        class Spread(Aggregate):
            order: Order = root()
            menus: list[Menu] = children()


def test_aggregates_of_equal_members_are_equal(db: Database) -> None:
    store(db, order("1"), item("1", "a"))
    plan = OrderWithItems.of(Order.primary("C1", "1"))
    found, again = db.run(plan), db.run(plan)
    assert found == again
    assert repr(found).startswith("OrderWithItems(order=Order(customer_id='C1', order_id='1'")
    store(db, item("1", "b"))
    assert db.run(plan) != found
