"""Members of aggregates of which only some attributes are read."""

from __future__ import annotations

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Projection,
    Table,
    attr,
    child,
    children,
    connect,
    create,
    delete_all,
    index,
    key,
    root,
    save,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tests.plan.reads.aggregates.sales import (
    Order,
    OrderItem,
    Payment,
    Section,
    body_of,
    item,
    order,
    store,
)
from tests.plan.reads.aggregates.test_levels import fill_menu


class OrderState(Projection[Order]):
    order_id: str
    state: str | None


class ItemText(Projection[OrderItem]):
    item_id: str
    note: str


class Amount(Projection[Payment]):
    amount: int


class ShortOrder(Aggregate):
    order: OrderState = root()
    items: list[ItemText] = children()
    payment: Amount | None = child()


class OrderWithTexts(Aggregate):
    order: Order = root()
    items: list[ItemText] = children()


def test_each_member_has_its_attributes(db: Database) -> None:
    store(db, order("1", state="open"), item("1", "a", note="first", state="open"), item("1", "b"))
    store(db, Payment(customer_id="C1", order_id="1", amount=7))
    found = db.run(ShortOrder.of(Order.primary("C1", "1")))
    assert found == ShortOrder(
        order=OrderState(order_id="1", state="open"),
        items=[ItemText(item_id="a", note="first"), ItemText(item_id="b", note="")],
        payment=Amount(amount=7),
    )


def test_the_request_asks_for_these_attributes_only(db: Database) -> None:
    body = body_of(ShortOrder.of(Order.primary("C1", "1")), db)
    names = body["ExpressionAttributeNames"]
    asked = {names[mark] for mark in body["ProjectionExpression"].split(", ")}
    assert asked == {"PK", "SK", "entityType", "order_id", "state", "item_id", "note", "amount"}


def test_a_member_without_a_projection_is_whole(db: Database) -> None:
    store(db, order("1", state="open"), item("1", "a", note="n", state="open"))
    found = db.run(OrderWithTexts.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.order == order("1", state="open")
    assert found.items == [ItemText(item_id="a", note="n")]
    found.order.state = "closed"
    db.run(save(found.order))
    assert db.run(Order.primary("C1", "1")) == order("1", state="closed")


def test_without_projections_the_items_are_whole(db: Database) -> None:
    class Whole(Aggregate):
        order: Order = root()
        items: list[OrderItem] = children()

    assert "ProjectionExpression" not in body_of(Whole.of(Order.primary("C1", "1")), db)


def test_projections_on_several_levels(db: Database) -> None:
    from tests.plan.reads.aggregates.sales import Menu, Product

    class ProductName(Projection[Product]):
        product: str

    class SectionNames(Aggregate):
        section: Section = root()
        products: list[ProductName] = children()

    class MenuNames(Aggregate):
        menu: Menu = root()
        sections: list[SectionNames] = children()

    fill_menu(db, "lunch", {"a": {"x": ["egg"], "y": []}, "b": {}})
    found = db.run(MenuNames.of(Menu.primary("lunch")))
    assert found is not None
    assert {
        each.section.section: [one.product for one in each.products] for each in found.sections
    } == {
        "a": ["x", "y"],
        "b": [],
    }


class Library(Table, name="aggregate_library"):
    by_shelf = GSI("GSI1PK", "GSI1SK", project=("title",))


class Shelf(Entity, table=Library):
    shelf: Attr[str] = attr()
    room: Attr[str] = attr(default="")
    primary = key("SHELF" / shelf, "SHELF")
    by_shelf = index(Library.by_shelf, "SHELF" / shelf, "SHELF")


class Book(Entity, table=Library):
    shelf: Attr[str] = attr()
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("BOOK" / isbn, "BOOK")
    by_shelf = index(Library.by_shelf, "SHELF" / shelf, "SHELF#BOOK" / isbn)


class ShelfName(Projection[Shelf]):
    shelf: str


class Title(Projection[Book]):
    isbn: str
    title: str


class Titles(Aggregate):
    shelf: ShelfName = root()
    books: list[Title] = children()


class Books(Aggregate):
    shelf: ShelfName = root()
    books: list[Book] = children()


def test_an_index_needs_to_contain_the_projections_only() -> None:
    with connect(":memory:", Library) as db:
        db.run(create(Shelf(shelf="s", room="r")))
        db.run(create(Book(shelf="s", isbn="1", title="One")))
        found = db.run(Titles.of(Shelf.by_shelf("s")))
        assert found == Titles(shelf=ShelfName(shelf="s"), books=[Title(isbn="1", title="One")])
    with pytest.raises(DeclarationError, match=r"Book\.by_shelf: the index .* contain .*text"):
        Books.of(Shelf.by_shelf("s"))


def test_an_aggregate_of_projections_is_deleted_whole(db: Database) -> None:
    store(db, order("1"), item("1", "a"), Payment(customer_id="C1", order_id="1"))
    assert db.run(delete_all(ShortOrder.of(Order.primary("C1", "1")))) == 3
    assert db.run(Order.primary("C1", "1")) is None


def test_the_root_is_given_by_a_key_of_its_entity() -> None:
    with pytest.raises(DeclarationError, match=r"takes a key of Order, not of Payment"):
        ShortOrder.of(Payment.primary("C1", "1"))
