"""Declarations of counters: what they connect, and every mistake with its fix."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    history,
    index,
    key,
    put,
    transact,
    ttl,
)
from tablewright.errors import ConditionFailed, DeclarationError
from tablewright.plans import reconcile
from tablewright.rules import count_of, sum_of
from tests.new_table import new_table


class Line(Entity):
    """Abstract: what is counted."""

    order: Attr[str] = attr()
    number: Attr[int] = attr()
    price: Attr[Decimal] = attr(default=Decimal(1))
    primary = key("ORDER" / order, "LINE" / number)


class Order(Entity):
    """Abstract: what counts."""

    order: Attr[str] = attr()
    primary = key("ORDER" / order, "ORDER")


def test_a_child_may_be_declared_before_its_parent() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        many: Attr[int] = count_of(Item)
        dear: Attr[int] = count_of(Item, when=Item.price > Decimal(5))
        total: Attr[Decimal] = sum_of(Item.price)

    db = connect(":memory:", shop)
    cart = db.run(create(Cart(order="o")))
    for number in (1, 10):
        db.run(create(Item(order="o", number=number, price=Decimal(number))))
    found = db.run(Cart.primary("o").or_raise())
    assert (cart.many, found.many, found.dear, found.total) == (0, 2, 1, Decimal(11))


def test_plans_that_were_made_before_the_parent_was_declared_are_counted() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    db = connect(":memory:", shop)
    db.run(create(Item(order="o", number=1)))

    class Cart(Order, table=shop):
        many: Attr[int] = count_of(Item)

    db.run(create(Cart(order="o")))
    db.run(create(Item(order="o", number=2)))
    assert db.run(Cart.primary("o").or_raise()).many == 1


def test_all_variants_of_a_base_are_counted_and_one_variant_alone() -> None:
    shop = new_table()

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Item")
        gifts: Attr[int] = count_of("Gift")

    class Item(Line, table=shop, variants=True): ...

    class Gift(Item): ...

    class Book(Item): ...

    db = connect(":memory:", shop)
    db.run(create(Cart(order="o")))
    db.run(create(Gift(order="o", number=1)))
    db.run(create(Book(order="o", number=2)))
    cart = db.run(Cart.primary("o").or_raise())
    assert (cart.many, cart.gifts) == (2, 1)
    for number in (1, 2):
        db.run(Item.primary("o", number).delete())
    cart = db.run(Cart.primary("o").or_raise())
    assert (cart.many, cart.gifts) == (0, 0)


def test_a_base_of_variants_counts_for_all_of_them() -> None:
    shop = new_table()

    class Cart(Order, table=shop, variants=True):
        many: Attr[int] = count_of("Item")
        others: Attr[int] = count_of("Other", by=("of",))

    class Plain(Cart): ...

    class Item(Line, table=shop): ...

    class Other(Entity, table=shop):
        of: Attr[str] = attr()
        other: Attr[str] = attr()
        primary = key("OTHER" / other, "OTHER")

    class Gift(Cart):
        text: Attr[str] = attr(default="")

    db = connect(":memory:", shop)
    db.run(transact(create(Plain(order="a")), create(Gift(order="b"))))
    db.run(transact(create(Item(order="a", number=1)), create(Item(order="b", number=1))))
    db.run(create(Other(of="b", other="x")))
    db.run(put(Gift(order="b", text="x")))
    for kind, order, others in ((Plain, "a", 0), (Gift, "b", 1)):
        cart = db.run(kind.primary(order).or_raise())
        assert (cart.many, cart.others) == (1, others)
        with pytest.raises(ConditionFailed, match="many is 1"):
            db.run(Cart.primary(order).delete())
    assert db.run(reconcile(shop)) == 0
    db.run(transact(Item.primary("a", 1).delete(), Cart.primary("a").delete()))
    assert db.run(Cart.primary("a")) is None


def test_a_child_that_is_never_declared_is_reported_by_the_first_write() -> None:
    shop = new_table()

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Itm")

    class Item(Line, table=shop): ...

    db = connect(":memory:", shop)
    with pytest.raises(DeclarationError) as raised:
        db.run(create(Cart(order="o")))
    assert str(raised.value).startswith(
        "Cart.many: count_of(Itm): no entity of Shop is named Itm; declare it with table=Shop, or "
        "import the module that does; did you mean 'Item'?"
    )
    with pytest.raises(DeclarationError, match="did you mean 'Item'"):
        db.run(Cart.primary("o").delete())


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {}


def mistake(message: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(declare: Callable[[], Any]) -> Callable[[], Any]:
        MISTAKES[declare.__name__] = (declare, message)
        return declare

    return add


@mistake(
    "Cart.many: count_of(Item): Item has no attribute 'order'; name the attributes of Item that "
    "make the key of Cart: by=(…)"
)
def no_key_of_the_parent() -> None:
    shop = new_table()

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Item")

    class Item(Entity, table=shop):
        number: Attr[int] = attr()
        primary = key("ITEM" / number, "ITEM")


@mistake("Cart.many: count_of(Item): Item has no attribute 'ordr'; did you mean 'order'?")
def an_unknown_name_in_by() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        many: Attr[int] = count_of(Item, by=("ordr",))


@mistake(
    "Cart.many: count_of(Item): by= names 2 attributes, and the key of Cart is made of 1: order; "
    "name as many attributes of Item"
)
def too_many_in_by() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        many: Attr[int] = count_of(Item, by=(Item.order, Item.number))


@mistake(
    "Cart.many: count_of(Item): Item.number is int, and Cart.order is str; give it the type of "
    "the key: by=(…)"
)
def another_type_in_by() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        many: Attr[int] = count_of(Item, by=(Item.number,))


@mistake("Cart.many: count_of(Item) needs Attr[int]; annotate it so")
def a_count_that_is_no_int() -> None:
    class Cart(Order, table=new_table()):
        many: Attr[str] = count_of("Item")  # type: ignore[assignment]


@mistake("Cart.total: sum_of(Item.price) needs Attr[Decimal]; annotate it so")
def a_sum_of_another_type() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        total: Attr[int] = sum_of("Item.price")


@mistake(
    "Cart.total: sum_of(Item.order): Item.order is str; only an int or a Decimal has an exact sum"
)
def a_sum_of_texts() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        total: Attr[int] = sum_of("Item.order")


@mistake("Cart.total: sum_of(Item.prise): Item has no attribute 'prise'; did you mean 'price'?")
def a_sum_of_nothing() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        total: Attr[Decimal] = sum_of("Item.prise")


@mistake(
    "sum_of('Item') takes an attribute: Item.price, or \"Item.price\" if Item is declared later"
)
def a_sum_of_an_entity() -> None:
    sum_of("Item")


@mistake(
    'count_of(7) takes an entity: its class, or its name in quotes, "Star", if it is declared later'
)
def a_count_of_something_else() -> None:
    count_of(7)  # type: ignore[call-overload]


@mistake("Cart.many: count_of(Item): when=: type object 'Item' has no attribute 'prise'")
def an_unknown_name_in_when() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Item", when=lambda item: item.prise > 5)


@mistake(
    "Cart.many: count_of(Item): when=True is not a condition; write when=Item.… == …, or lambda "
    "item: item.… == … if it is declared later"
)
def a_when_that_is_no_condition() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Item", when=lambda _: True)  # type: ignore[arg-type, return-value]


@mistake("Cart.many: count_of(Item): when=label = 'x' uses an attribute that Item does not have")
def a_when_about_another_entity() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Other(Entity, table=shop):
        label: Attr[str] = attr()
        primary = key("OTHER" / label, "OTHER")

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Item", when=lambda _: Other.label == "x")


@mistake(
    "Cart.many: count_of(Item): Item has a ttl(), and DynamoDB deletes expired items without "
    "counting them; count another entity, or remove the ttl()"
)
def items_that_expire() -> None:
    shop = new_table()

    class Item(Line, table=shop):
        ends: Attr[datetime] = ttl()

    class Cart(Order, table=shop):
        many: Attr[int] = count_of(Item)


@mistake(
    "Cart.many: count_of(Cart): an item does not count itself; name the attributes that have the "
    "key of the item which counts it: by=(…)"
)
def itself() -> None:
    class Cart(Order, table=new_table()):
        many: Attr[int] = count_of("Cart")


@mistake(
    "Cart.many: count_of(Item): Item is in the table Other, and a counter counts items of its own "
    "table, Shop"
)
def another_table() -> None:
    class Other(Table, name="other"): ...

    class Item(Line, table=Other): ...

    class Cart(Order, table=new_table()):
        many: Attr[int] = count_of(Item)


@mistake(
    "Cart.many: count_of(Item) is part of Cart.by_many, which its changes would have to compose; "
    "use it as a key attribute of an index by itself, or leave it out"
)
def a_counter_in_a_composed_key() -> None:
    class Shop(Table, name="shop"):
        gsi1 = GSI("GSI1PK", "GSI1SK")

    class Cart(Order, table=Shop):
        many: Attr[int] = count_of("Item")
        by_many = index(Shop.gsi1, "CARTS", "MANY" / many)


@mistake(
    "Cart.many: count_of(Item): a counter cannot be unique, or have a history; leave one of them "
    "out"
)
def a_history_of_a_counter() -> None:
    shop = new_table()

    class Event(Entity, table=shop):
        order: Attr[str] = attr()
        at: Attr[datetime] = attr()
        primary = key("ORDER" / order, "EVENT" / at)

    class Cart(Order, table=shop):
        many: Attr[int] = count_of("Item")
        changes = history(many, Event)


@mistake(
    "Gift.many: count_of(Item): Gift is a variant; declare the counter in Cart, for all variants"
)
def a_variant_as_the_parent() -> None:
    class Cart(Order, table=new_table(), variants=True): ...

    class Gift(Cart):
        many: Attr[int] = count_of("Item")


@mistake(
    "Shop.carts: sum_of(Cart.many): Cart.many is a counter itself, and its changes are not counted "
    "again; count the entity that it counts"
)
def a_sum_of_a_counter() -> None:
    shop = new_table()

    class Item(Line, table=shop): ...

    class Cart(Order, table=shop):
        shop: Attr[str] = attr()
        many: Attr[int] = count_of(Item)

    class Shop(Entity, table=shop):
        shop: Attr[str] = attr()
        carts: Attr[int] = sum_of(Cart.many)
        primary = key("SHOP" / shop, "SHOP")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_names_the_counter_and_the_fix(name: str) -> None:
    declare, message = MISTAKES[name]
    with pytest.raises(DeclarationError) as raised:
        declare()
    assert str(raised.value).startswith(message)
