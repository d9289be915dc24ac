"""The table and the entities of the market."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    Tenancy,
    attr,
    children,
    index,
    key,
    root,
    ttl,
    unique,
)
from tablewright.ids import ULID


class Market(Table, name="Market", pk="pk", sk="sk", type_attribute="tp"):
    reverse = GSI("sk", "pk", name="ReverseIndex", project="KEYS_ONLY")
    id_lookup = GSI("id", "tp", name="IdLookupIndex")
    tenancy = Tenancy(
        "user_id",
        write=("U#{user_id}",),
        read=("U#{user_id}#O", "U#{user_id}#P", "U#{user_id}#R"),
        shared=("I#*",),
        filtered=(id_lookup,),
    )


class MarketItem(Entity):
    """What every item may have: a business id, and a time to expire."""

    business_id: Attr[Annotated[str, Field(min_length=1)] | None] = attr(name="id", default=None)
    expires: Attr[datetime | None] = ttl(name="ttl", default=None)

    by_id = index(Market.id_lookup, business_id)


class Account(MarketItem, table=Market, type_name="account"):
    """A group of users."""

    account_id: Attr[ULID] = attr(default_factory=ULID.new)
    name: Attr[str] = attr()

    primary = key("A" / account_id, "A" / account_id.again)
    by_system_key = index(Market.reverse, "A" / account_id, "A" / account_id.again)


class User(MarketItem, table=Market, type_name="user"):
    user_id: Attr[str] = attr(doc="the user id from Cognito: a UUID")
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    phones: Attr[list[str]] = attr(default_factory=list)
    addresses: Attr[list[str]] = attr(default_factory=list)
    account_id: Attr[ULID | None] = attr(default=None)

    primary = key("U" / user_id, "U" / user_id.again)
    by_system_key = index(Market.reverse, "U" / user_id, "U" / user_id.again)


class Cart(MarketItem, table=Market, type_name="cart"):
    user_id: Attr[str] = attr()
    cart_id: Attr[ULID] = attr(default_factory=ULID.new)
    lines: Attr[dict[str, int]] = attr(default_factory=dict)

    primary = key("U" / user_id, "C" / cart_id)
    by_system_key = primary.swapped(Market.reverse)


class InventoryItem(MarketItem, table=Market, type_name="inventory_item"):
    item_id: Attr[ULID] = attr(default_factory=ULID.new)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    stock: Attr[int] = attr(default=0)

    primary = key("I" / item_id, "I" / item_id.again)
    by_system_key = index(Market.reverse, "I" / item_id, "I" / item_id.again)


class Order(MarketItem, table=Market, type_name="order"):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr(default_factory=ULID.new)
    status: Attr[str] = attr(default="placed")
    total: Attr[Decimal] = attr(default=Decimal(0))

    primary = key("U" / user_id / "O", "O" / order_id)
    by_system_key = primary.swapped(Market.reverse)
    # The sentinels keep no `id`, which would add them to IdLookupIndex.
    reserved_key = unique("ORDERKEY" / order_id, keep=(user_id, order_id))
    reserved_id = unique("ORDERID" / MarketItem.business_id, keep=(user_id, order_id))
    by_own_id = unique("U" / user_id / "O", "ID" / MarketItem.business_id, keep=(user_id, order_id))


class OrderItem(MarketItem, table=Market, type_name="order_item"):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr()
    number: Attr[int] = attr(pad=3)
    item_id: Attr[ULID] = attr()
    quantity: Attr[int] = attr(default=1)
    price: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "O" / order_id / number)
    by_system_key = primary.swapped(Market.reverse)


class Bill(MarketItem, table=Market, type_name="bill"):
    user_id: Attr[str] = attr()
    bill_id: Attr[ULID] = attr(default_factory=ULID.new)
    order_id: Attr[ULID] = attr()
    amount: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "B" / bill_id)
    by_system_key = primary.swapped(Market.reverse)


class Payment(MarketItem, table=Market, type_name="payment"):
    user_id: Attr[str] = attr()
    payment_id: Attr[ULID] = attr(default_factory=ULID.new)
    bill_id: Attr[ULID] = attr()
    amount: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "P" / payment_id)
    by_system_key = primary.swapped(Market.reverse)


class Product(MarketItem, table=Market, type_name="product"):
    """A product of a user; the products of the market are inventory items."""

    user_id: Attr[str] = attr()
    product_id: Attr[ULID] = attr(default_factory=ULID.new)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()

    primary = key("U" / user_id / "P", "I" / product_id)
    by_system_key = primary.swapped(Market.reverse)


class Reward(MarketItem, table=Market, type_name="reward"):
    user_id: Attr[str] = attr()
    reward_id: Attr[ULID] = attr(default_factory=ULID.new)
    points: Attr[int] = attr()
    reason: Attr[str] = attr(default="")

    primary = key("U" / user_id / "R", "R" / reward_id)
    by_system_key = primary.swapped(Market.reverse)


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()
