"""Checks of the market: the source document's patterns, both lookups, and the writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypeVar

from tablewright import Entity
from tablewright.designs.market import (
    Account,
    Bill,
    Cart,
    InventoryItem,
    MarketItem,
    Order,
    OrderItem,
    OrderWithItems,
    Payment,
    Product,
    Reward,
    User,
    account_by_id,
    account_by_system_key,
    bill_by_id,
    bill_by_system_key,
    bills,
    bonuses,
    cart_by_id,
    cart_by_system_key,
    carts,
    grant_reward,
    inventory_item_by_id,
    inventory_item_by_system_key,
    last_orders,
    order_by_id,
    order_by_system_key,
    order_item_by_id,
    order_item_by_system_key,
    order_with_items,
    own_order_with_items,
    payment_by_id,
    payment_by_system_key,
    payments,
    place_order,
    product_by_id,
    product_by_system_key,
    products,
    put_cart,
    put_into_cart,
    put_into_newest_cart,
    reward_by_id,
    reward_by_system_key,
    set_order_id,
    update_profile,
    user_by_id,
    user_by_system_key,
    user_profile,
)
from tablewright.designs.market.samples import (
    ACCOUNT,
    ANNA,
    ANNAS_ORDER,
    BILL,
    CART,
    EXPIRY,
    FIRST_ORDER,
    GLASS,
    PAYMENT,
    PRODUCT,
    RABIN,
    RABINOVICH,
    REWARD,
    TEAPOT,
    price_of,
)
from tablewright.errors import AlreadyExists, UniqueViolation
from tablewright.ids import ULID
from tablewright.plans import Plan
from tablewright.verify.checks import Check, Raises, Stored, changed

E = TypeVar("E", bound=Entity)


def checks(stored: Stored) -> Iterator[Check]:
    """Check the four patterns, the other shards, the lookups of both indexes and the writes."""
    yield from _four_patterns(stored)
    yield from _other_shards(stored)
    yield from _by_system_key(stored)
    yield from _by_business_id(stored)
    yield from _writes(stored)


def _one(stored: Stored, kind: type[E], **values: object) -> E:
    """Return the stored entity that has these values."""
    return next(entity for entity in stored(kind) if values.items() <= vars(entity).items())


def _four_patterns(stored: Stored) -> Iterator[Check]:
    orders = [order for order in stored(Order) if order.user_id == RABINOVICH]
    yield Check("Get user profile", user_profile(ANNA), _one(stored, User, user_id=ANNA))
    yield Check(
        "Get the list of last N orders for user",
        last_orders(RABINOVICH, 1),
        sorted(orders, key=lambda order: order.order_id, reverse=True)[:1],
    )
    yield Check(
        "Display bonuses for user",
        bonuses(RABINOVICH),
        [reward for reward in reversed(stored(Reward)) if reward.user_id == RABINOVICH],
    )
    first = next(order for order in orders if order.business_id == "2025-0001")
    yield Check(
        "Get a single order with all its items by id",
        order_with_items("2025-0001"),
        OrderWithItems(
            order=first,
            items=[item for item in stored(OrderItem) if item.order_id == first.order_id],
        ),
    )
    annas = _one(stored, Order, user_id=ANNA)
    yield Check(
        "Get a single order of a user with all its items by id",
        own_order_with_items(ANNA, "2025-0002"),
        OrderWithItems(
            order=annas,
            items=[item for item in stored(OrderItem) if item.order_id == annas.order_id],
        ),
    )
    yield Check("Get an order of another user by id", own_order_with_items(ANNA, "2025-0001"), None)


def _other_shards(stored: Stored) -> Iterator[Check]:
    own = [found for found in stored(Cart) if found.user_id == RABINOVICH]
    yield Check("Get the carts of a user", carts(RABINOVICH), own)
    yield Check(
        "Get the bills of a user",
        bills(RABINOVICH),
        [bill for bill in stored(Bill) if bill.user_id == RABINOVICH],
    )
    yield Check(
        "Get the payments of a user",
        payments(RABINOVICH),
        [payment for payment in stored(Payment) if payment.user_id == RABINOVICH],
    )
    yield Check(
        "Get the products of a user, newest first",
        products(RABINOVICH),
        [product for product in reversed(stored(Product)) if product.user_id == RABINOVICH],
    )


def _by_system_key(stored: Stored) -> Iterator[Check]:
    lookups: tuple[tuple[str, Plan[Any], Entity], ...] = (
        ("account", account_by_system_key(ACCOUNT), _one(stored, Account, account_id=ACCOUNT)),
        ("bill", bill_by_system_key(BILL), _one(stored, Bill, bill_id=BILL)),
        ("cart", cart_by_system_key(CART), _one(stored, Cart, cart_id=CART)),
        (
            "inventory item",
            inventory_item_by_system_key(TEAPOT),
            _one(stored, InventoryItem, item_id=TEAPOT),
        ),
        ("order", order_by_system_key(ANNAS_ORDER), _one(stored, Order, order_id=ANNAS_ORDER)),
        (
            "order item",
            order_item_by_system_key(FIRST_ORDER, 1),
            _one(stored, OrderItem, order_id=FIRST_ORDER, number=1),
        ),
        ("payment", payment_by_system_key(PAYMENT), _one(stored, Payment, payment_id=PAYMENT)),
        ("product", product_by_system_key(PRODUCT), _one(stored, Product, product_id=PRODUCT)),
        ("reward", reward_by_system_key(REWARD), _one(stored, Reward, reward_id=REWARD)),
        ("user", user_by_system_key(RABIN), _one(stored, User, user_id=RABIN)),
    )
    for name, plan, found in lookups:
        yield Check(f"Lookup by system key: {name}", plan, found)


def _by_business_id(stored: Stored) -> Iterator[Check]:
    lookups: tuple[tuple[str, Callable[[str], Plan[Any]], type[MarketItem], str], ...] = (
        ("account", account_by_id, Account, "tea-circle"),
        ("bill", bill_by_id, Bill, "B-0001"),
        ("cart", cart_by_id, Cart, "C-0001"),
        ("product", product_by_id, Product, "JAM-01"),
        ("inventory item", inventory_item_by_id, InventoryItem, "TEA-02"),
        ("order", order_by_id, Order, "2025-0002"),
        ("payment", payment_by_id, Payment, "P-0001"),
        ("user", user_by_id, User, "rabinovich"),
    )
    for name, lookup, entity, business_id in lookups:
        found = _one(stored, entity, business_id=business_id)
        yield Check(f"Lookup by business id: {name}", lookup(business_id), found)
    yield Check("Lookup by business id: reward", reward_by_id("R-0009"), None)
    yield Check("Lookup by business id: order item", order_item_by_id("2025-0001"), None)
    yield Check("Lookup by business id: an id of another type", order_by_id("B-0001"), None)


def _writes(stored: Stored) -> Iterator[Check]:
    leah = _one(stored, User, user_id=RABIN)
    yield Check(
        "Update user profile",
        update_profile(RABIN, ["+972 3 555 0001"], ["1 Dizengoff Street, Tel Aviv"]),
        changed(leah, phones=["+972 3 555 0001"], addresses=["1 Dizengoff Street, Tel Aviv"]),
    )
    new_cart = Cart(
        user_id=RABIN,
        cart_id=ULID("01JZ10H7X367VB2NF4YQ973DM2"),
        business_id="C-0002",
        lines={"TEA-03": 2},
        expires=EXPIRY,
    )
    yield Check("Put a cart that expires", put_cart(new_cart), new_cart)
    yield Check(
        "Put an inventory item into a cart",
        put_into_cart("C-0002", "TEA-01", 1),
        (new_cart, changed(new_cart, lines={"TEA-03": 2, "TEA-01": 1})),
    )
    annas = _one(stored, Cart, user_id=ANNA)
    yield Check(
        "Put an inventory item into the newest cart, which has no business id",
        put_into_newest_cart(ANNA, "TEA-01", 1),
        (annas, changed(annas, lines={**annas.lines, "TEA-01": 1})),
    )
    order = Order(
        user_id=RABIN, order_id=ULID("01JZ10H7X367VB2NF4YQ973DZZ"), total=Decimal("33.00")
    )
    lines = [
        OrderItem(
            user_id=RABIN,
            order_id=order.order_id,
            number=number,
            item_id=item_id,
            quantity=quantity,
            price=price_of(item_id),
        )
        for number, (item_id, quantity) in enumerate([(TEAPOT, 1), (GLASS, 2)], start=1)
    ]
    yield Check("Place an order with all its items", place_order(order, lines), None)
    yield Check("Place the same order again", place_order(order, lines), Raises(AlreadyExists))
    yield Check(
        "Place an order with the system key of another user's",
        place_order(changed(order, user_id=ANNA), []),
        Raises(UniqueViolation),
    )
    yield Check("Lookup by business id: before it is set", order_with_items("2025-0004"), None)
    yield Check(
        "Set the business id of an order",
        set_order_id(RABIN, order.order_id, "2025-0004"),
        changed(order, business_id="2025-0004"),
    )
    yield Check(
        "Lookup by business id: after it is set",
        order_with_items("2025-0004"),
        OrderWithItems(order=changed(order, business_id="2025-0004"), items=lines),
    )
    yield Check(
        "Set the business id of an order to that of another user's",
        set_order_id(ANNA, ANNAS_ORDER, "2025-0004"),
        Raises(UniqueViolation),
    )
    yield Check(
        "Remove the business id of an order", set_order_id(RABIN, order.order_id, None), order
    )
    yield Check("Lookup by business id: after it is removed", order_with_items("2025-0004"), None)
    reward = Reward(
        user_id=RABIN, reward_id=ULID("01JZ10H7X367VB2NF4YQ973DZ2"), points=33, reason="order"
    )
    yield Check("Grant a reward", grant_reward(reward), reward)
