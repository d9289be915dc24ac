"""The access patterns of the market."""

from __future__ import annotations

from collections.abc import Sequence

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
    Order,
    OrderItem,
    OrderWithItems,
    Payment,
    Reward,
    User,
)
from tablewright.ids import ULID
from tablewright.plans import LoadFound

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


# -- other items of a user -----------------------------------------------------------------------


@access_pattern
def cart(user_id: str, cart_id: ULID) -> Get[Cart]:
    """Get a cart of a user"""
    return Cart.primary(user_id, cart_id)


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


# -- lookup by system key ------------------------------------------------------------------------


@access_pattern
def account_by_system_key(account_id: ULID) -> First[Account]:
    """Look up an account by system key"""
    return Account.by_system_key(account_id).first()


@access_pattern
def bill_by_system_key(bill_id: ULID) -> First[Bill]:
    """Look up a bill by system key"""
    return Bill.by_system_key(bill_id).first()


@access_pattern
def cart_by_system_key(cart_id: ULID) -> First[Cart]:
    """Look up a cart by system key"""
    return Cart.by_system_key(cart_id).first()


@access_pattern
def inventory_item_by_system_key(item_id: ULID) -> First[InventoryItem]:
    """Look up an inventory item by system key"""
    return InventoryItem.by_system_key(item_id).first()


@access_pattern
def order_by_system_key(order_id: ULID) -> First[Order]:
    """Look up an order by system key"""
    return Order.by_system_key(order_id).first()


@access_pattern
def order_item_by_system_key(order_id: ULID, number: int) -> First[OrderItem]:
    """Look up an order item by system key"""
    return OrderItem.by_system_key(order_id, number).first()


@access_pattern
def payment_by_system_key(payment_id: ULID) -> First[Payment]:
    """Look up a payment by system key"""
    return Payment.by_system_key(payment_id).first()


@access_pattern
def reward_by_system_key(reward_id: ULID) -> First[Reward]:
    """Look up a reward by system key"""
    return Reward.by_system_key(reward_id).first()


@access_pattern
def user_by_system_key(user_id: str) -> First[User]:
    """Look up a user by system key"""
    return User.by_system_key(user_id).first()


# -- lookup by business id -----------------------------------------------------------------------


@access_pattern
def account_by_id(business_id: str) -> First[Account]:
    """Look up an account by business id"""
    return Account.by_id(business_id).first()


@access_pattern
def bill_by_id(business_id: str) -> First[Bill]:
    """Look up a bill by business id"""
    return Bill.by_id(business_id).first()


@access_pattern
def inventory_item_by_id(business_id: str) -> First[InventoryItem]:
    """Look up an inventory item by business id"""
    return InventoryItem.by_id(business_id).first()


@access_pattern
def order_by_id(business_id: str) -> First[Order]:
    """Look up an order by business id"""
    return Order.by_id(business_id).first()


@access_pattern
def payment_by_id(business_id: str) -> First[Payment]:
    """Look up a payment by business id"""
    return Payment.by_id(business_id).first()


@access_pattern
def user_by_id(business_id: str) -> First[User]:
    """Look up a user by business id"""
    return User.by_id(business_id).first()


# -- writes by a user ----------------------------------------------------------------------------


@access_pattern
def update_profile(user_id: str, phones: list[str], addresses: list[str]) -> Update[User]:
    """Update user profile"""
    return User.primary(user_id).update(User.phones.set(phones), User.addresses.set(addresses))


@access_pattern
def put_cart(cart: Cart) -> Put[Cart]:
    """Put a cart that expires"""
    return put(cart)


@access_pattern
def put_into_cart(user_id: str, cart_id: ULID, item_id: ULID, quantity: int) -> Update[Cart]:
    """Put an inventory item into a cart"""
    return Cart.primary(user_id, cart_id).update(
        Cart.lines.path(lambda lines: lines[item_id]).set(quantity)
    )


# -- writes by the system ------------------------------------------------------------------------


@access_pattern
def place_order(order: Order, items: Sequence[OrderItem]) -> Transaction:
    """Place an order with all its items"""
    return transact(create(order), *(create(item) for item in items))


@access_pattern
def grant_reward(reward: Reward) -> Create[Reward]:
    """Grant a reward"""
    return create(reward)


@access_pattern
def set_order_id(user_id: str, order_id: ULID, business_id: str | None) -> Update[Order]:
    """Set or remove the business id of an order"""
    return Order.primary(user_id, order_id).update(Order.business_id.set(business_id))
