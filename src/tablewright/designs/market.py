"""Market: a multi-tenant shop whose users' data lie in shards.

    pk                      sk                   what                    a user may
    U#{userId}              U#{userId}           the profile             read and write
                            C#{ULID}             carts, that expire      read and write
    U#{userId}#O            O#{ULID}             orders                  read
                            O#{ULID}#{001}       items of an order       read
                            B#{ULID}             bills                   read
    U#{userId}#P            P#{ULID}             payments                read
    U#{userId}#R            R#{ULID}             rewards                 read
    A#{ULID}                A#{ULID}             accounts                -
    I#{ULID}                I#{ULID}             inventory               -

System keys are a letter and a ULID, so they sort by time. ReverseIndex finds any item by its
system key; IdLookupIndex finds those that have a business id by it and by their type.

Chosen where the document leaves it open: what each entity holds; carts in the profile shard, as a
user writes them; bills beside the orders that they are for; `#P`, which the document calls both
payments (the type) and products (the shard), holds payments; accounts and inventory items, which
belong to no user, in partitions of their own.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from tablewright import (
    GSI,
    ULID,
    Aggregate,
    Attr,
    Entity,
    First,
    Get,
    LoadFound,
    Many,
    Table,
    Tenancy,
    attr,
    created,
    index,
    key,
    many,
    one,
    pattern,
    ttl,
)


class Market(Table, name="Market", pk="pk", sk="sk", type_attribute="tp"):
    reverse = GSI("sk", "pk", name="ReverseIndex")
    id_lookup = GSI("id", "tp", name="IdLookupIndex")
    tenancy = Tenancy(
        "user_id",
        write=("U#{user_id}",),
        read=("U#{user_id}#O", "U#{user_id}#P", "U#{user_id}#R"),
        filtered=(id_lookup,),
    )


class Account(Entity, table=Market, type_name="account"):
    """A group of users."""

    account_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    name: Attr[str] = attr()

    primary = key("A" / account_id, "A" / account_id.again)
    by_system_key = index(Market.reverse, "A" / account_id, "A" / account_id.again)
    by_id = index(Market.id_lookup, business_id)


class User(Entity, table=Market, type_name="user"):
    user_id: Attr[str] = attr(doc="as Cognito gives it: a UUID")
    business_id: Attr[str | None] = attr(name="id", default=None)
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    phone: Attr[str | None] = attr(default=None)
    addresses: Attr[list[str]] = attr(default_factory=list)
    account_id: Attr[ULID | None] = attr(default=None)
    registered: Attr[datetime] = created()

    primary = key("U" / user_id, "U" / user_id.again)
    by_system_key = index(Market.reverse, "U" / user_id, "U" / user_id.again)
    by_id = index(Market.id_lookup, business_id)


class Cart(Entity, table=Market, type_name="cart"):
    user_id: Attr[str] = attr()
    cart_id: Attr[ULID] = attr(default_factory=ULID.new)
    lines: Attr[dict[str, int]] = attr(default_factory=dict)
    expires: Attr[datetime] = ttl(name="ttl")

    primary = key("U" / user_id, "C" / cart_id)
    by_system_key = primary.swapped(Market.reverse)


class InventoryItem(Entity, table=Market, type_name="inventory"):
    item_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    stock: Attr[int] = attr(default=0)

    primary = key("I" / item_id, "I" / item_id.again)
    by_system_key = index(Market.reverse, "I" / item_id, "I" / item_id.again)
    by_id = index(Market.id_lookup, business_id)


class Order(Entity, table=Market, type_name="order"):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    status: Attr[str] = attr(default="placed")
    total: Attr[Decimal] = attr(default=Decimal(0))

    primary = key("U" / user_id / "O", "O" / order_id)
    by_system_key = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)


class OrderItem(Entity, table=Market, type_name="order_item"):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr()
    number: Attr[int] = attr(pad=3)
    item_id: Attr[ULID] = attr()
    quantity: Attr[int] = attr(default=1)
    price: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "O" / order_id / number)
    by_system_key = primary.swapped(Market.reverse)


class Bill(Entity, table=Market, type_name="bill"):
    user_id: Attr[str] = attr()
    bill_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    order_id: Attr[ULID] = attr()
    amount: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "B" / bill_id)
    by_system_key = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)


class Payment(Entity, table=Market, type_name="payment"):
    user_id: Attr[str] = attr()
    payment_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    bill_id: Attr[ULID] = attr()
    amount: Attr[Decimal] = attr()

    primary = key("U" / user_id / "P", "P" / payment_id)
    by_system_key = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)


class Reward(Entity, table=Market, type_name="reward"):
    user_id: Attr[str] = attr()
    reward_id: Attr[ULID] = attr(default_factory=ULID.new)
    points: Attr[int] = attr()
    reason: Attr[str] = attr(default="")

    primary = key("U" / user_id / "R", "R" / reward_id)
    by_system_key = primary.swapped(Market.reverse)


class OrderWithItems(Aggregate):
    order: Order = one()
    items: list[OrderItem] = many()


@pattern
def user_profile(user_id: str) -> Get[User]:
    """Get user profile"""
    return User.primary(user_id)


@pattern
def last_orders(user_id: str, count: int) -> Many[Order]:
    """Get the list of last N orders for user"""
    return Order.primary.within(user_id).newest_first().limit(count)


@pattern
def bonuses(user_id: str) -> Many[Reward]:
    """Display bonuses for user"""
    return Reward.primary.within(user_id).newest_first()


@pattern
def order_with_items(business_id: str) -> LoadFound[OrderWithItems]:
    """Get a single order with all its items by id"""
    return OrderWithItems.of(Order.by_id(business_id).first())


@pattern
def order_by_system_key(order_id: ULID) -> First[Order]:
    """Lookup by system key"""
    return Order.by_system_key(order_id).first()
