"""The access patterns of the market."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from tablewright import (
    Create,
    First,
    Get,
    Put,
    Query,
    Transaction,
    Update,
    access_pattern,
    create,
    put,
    transact,
)
from tablewright.designs.market.entities import (
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
)
from tablewright.errors import InvalidValue
from tablewright.ids import ULID
from tablewright.plans import LoadFound, Then
from tablewright.symbol import contains_symbol

# -- the four access patterns of the source document ---------------------------------------------


@access_pattern
def user_profile(user_id: str) -> Get[User]:
    """Get user profile"""
    return User.primary(user_id)


@access_pattern
def last_orders(user_id: str, count: int) -> Query[Order]:
    """Get the list of last N orders for user"""
    return Order.primary.within(user_id).desc().page_size(count)


@access_pattern
def bonuses(user_id: str) -> Query[Reward]:
    """Display bonuses for user"""
    return Reward.primary.within(user_id).desc()


@access_pattern
def order_with_items(business_id: str) -> LoadFound[OrderWithItems]:
    """Get a single order with all its items by id"""
    return OrderWithItems.of(Order.by_id(business_id).first())


@access_pattern
def own_order_with_items(user_id: str, business_id: str) -> LoadFound[OrderWithItems]:
    """Get a single order of a user with all its items by id"""
    return OrderWithItems.of(Order.by_own_id(user_id, business_id))


# -- other items of a user -----------------------------------------------------------------------


@access_pattern
def carts(user_id: str) -> Query[Cart]:
    """Get the carts of a user, newest first"""
    return Cart.primary.within(user_id).desc()


@access_pattern
def bills(user_id: str) -> Query[Bill]:
    """Get the bills of a user, newest first"""
    return Bill.primary.within(user_id).desc()


@access_pattern
def payments(user_id: str) -> Query[Payment]:
    """Get the payments of a user, newest first"""
    return Payment.primary.within(user_id).desc()


@access_pattern
def products(user_id: str) -> Query[Product]:
    """Get the products of a user, newest first"""
    return Product.primary.within(user_id).desc()


# -- lookups -------------------------------------------------------------------------------------

E = TypeVar("E", bound=MarketItem)
#: What follows the letter of a system key: a ULID, or the id of a user.
Id = TypeVar("Id")
Ps = ParamSpec("Ps")


def _lookups(
    entity: type[E], by_system_key: Callable[[Id], Query[E]], kind: type[Id]
) -> tuple[Callable[[Id], First[E]], Callable[[str], First[E]]]:
    """Return the two lookups of an entity: in ReverseIndex, and in IdLookupIndex."""

    def system_key_lookup(system_id: Id) -> First[E]:
        return by_system_key(system_id).first()

    system_key_lookup.__annotations__["system_id"] = kind
    by_key = _lookup(entity, "by_system_key", "system key", system_key_lookup)
    return by_key, _id_lookup(entity)


def _id_lookup(entity: type[E]) -> Callable[[str], First[E]]:
    def id_lookup(business_id: str) -> First[E]:
        return entity.by_id(business_id).first()

    return _lookup(entity, "by_id", "business id", id_lookup)


def _lookup(
    entity: type[E], suffix: str, by: str, lookup: Callable[Ps, First[E]]
) -> Callable[Ps, First[E]]:
    """Declare a lookup as an access pattern, with a name and a description of its own."""
    name = entity.__entity__.type_name
    lookup.__name__ = lookup.__qualname__ = f"{name}_{suffix}"
    lookup.__doc__ = f"Look up by {by}: {name.replace('_', ' ')}"
    return access_pattern(lookup)


account_by_system_key, account_by_id = _lookups(Account, Account.by_system_key, ULID)
bill_by_system_key, bill_by_id = _lookups(Bill, Bill.by_system_key, ULID)
cart_by_system_key, cart_by_id = _lookups(Cart, Cart.by_system_key, ULID)
inventory_item_by_system_key, inventory_item_by_id = _lookups(
    InventoryItem, InventoryItem.by_system_key, ULID
)
order_by_system_key, order_by_id = _lookups(Order, Order.by_system_key, ULID)
payment_by_system_key, payment_by_id = _lookups(Payment, Payment.by_system_key, ULID)
product_by_system_key, product_by_id = _lookups(Product, Product.by_system_key, ULID)
reward_by_system_key, reward_by_id = _lookups(Reward, Reward.by_system_key, ULID)
user_by_system_key, user_by_id = _lookups(User, User.by_system_key, str)
order_item_by_id = _id_lookup(OrderItem)


@access_pattern
def order_item_by_system_key(order_id: ULID, number: int) -> First[OrderItem]:
    """Look up by system key: order item"""
    return OrderItem.by_system_key(order_id, number).first()


# -- writes by a user ----------------------------------------------------------------------------


@access_pattern
def update_profile(user_id: str, phones: list[str], addresses: list[str]) -> Update[User]:
    """Update user profile"""
    return User.primary(user_id).update(User.phones.set(phones), User.addresses.set(addresses))


@access_pattern
def put_cart(cart: Cart) -> Put[Cart]:
    """Put a cart that expires; it needs a business id"""
    if cart.business_id is None:
        raise InvalidValue(
            "put_cart(): the cart has no business id, by which its user would find it; use "
            "Cart(business_id=…)"
        )
    return put(cart)


def _set_quantity(cart: Cart, item_id: str, quantity: int) -> Update[Cart]:
    """Return the update of one line of a cart."""
    line = Cart.lines.path(lambda lines: lines[item_id])
    return Cart.primary(cart.user_id, cart.cart_id).update(line.set(quantity))


@access_pattern
def put_into_cart(business_id: str, item_id: str, quantity: int) -> Then[Cart, Cart]:
    """Put an inventory item into a cart; both have business ids"""
    return Cart.by_id(business_id).first().then(lambda cart: _set_quantity(cart, item_id, quantity))


@access_pattern
def put_into_newest_cart(user_id: str, item_id: str, quantity: int) -> Then[Cart, Cart]:
    """Put an inventory item into the newest cart of a user, with or without a business id"""
    newest = Cart.primary.within(user_id).desc().first()
    return newest.then(lambda cart: _set_quantity(cart, item_id, quantity))


# -- writes by the system ------------------------------------------------------------------------


def _of_order(order: Order, item: OrderItem) -> OrderItem:
    """Return the item; raise InvalidValue if it is not an item of this order."""
    theirs, own = (item.user_id, item.order_id), (order.user_id, order.order_id)
    if not contains_symbol(theirs) and theirs != own:
        raise InvalidValue(
            f"place_order(): item {item.number} is of the order {theirs}, not of {own}; an order "
            "is placed with its own items only"
        )
    return item


@access_pattern
def place_order(order: Order, items: Sequence[OrderItem]) -> Transaction:
    """Place an order with all its items"""
    return transact(create(order), *(create(_of_order(order, item)) for item in items))


@access_pattern
def grant_reward(reward: Reward) -> Create[Reward]:
    """Grant a reward"""
    return create(reward)


@access_pattern
def set_order_id(user_id: str, order_id: ULID, business_id: str | None) -> Update[Order]:
    """Set or remove the business id of an order"""
    return Order.primary(user_id, order_id).update(Order.business_id.set(business_id))
