"""The table and the entities of the shop."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from tablewright import GSI, LSI, Attr, Entity, Table, attr, created_at, index, key, updated_at
from tablewright.errors import InvalidValue
from tablewright.formats import epoch_seconds
from tablewright.ids import KSUID

#: The id of an entity: a KSUID, or any text that the caller chooses.
Id = KSUID | str


class Shop(Table, name="shop"):
    lsi = LSI("SKU", name="LSI")
    gsi1 = GSI("GSI1PK", "GSI1SK", name="GSI1")
    gsi2 = GSI("GSI2PK", "GSI2SK", name="GSI2")


class OrderStatus(StrEnum):
    """The statuses that the shop uses. An order may have any other text as its status."""

    PENDING = "PENDING"
    PAID = "PAID"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"


class User(Entity, table=Shop):
    id: Attr[Id] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    password: Attr[str] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    # tablewright: allow(hot-partition, "the source document lists all users with one query")
    # tablewright: allow(collection-limit, "a user takes 530 bytes, so 20 million of them fit")
    primary = key("USER", "USER" / id)
    by_email = primary.local(Shop.lsi, "EMAIL" / email)
    # tablewright: allow(hot-partition, "prefixes of emails are ordered in one partition only")
    emails = index(Shop.gsi1, "USER", "EMAIL" / email)


class Category(Entity, table=Shop):
    id: Attr[Id] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    # tablewright: allow(hot-partition, "a shop has few categories")
    # tablewright: allow(collection-limit, "a shop has few categories")
    primary = key("CAT", "CAT" / id)
    by_name = primary.local(Shop.lsi, "CAT#NAME" / name)


class Brand(Entity, table=Shop):
    id: Attr[Id] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    # tablewright: allow(hot-partition, "a shop has few brands")
    # tablewright: allow(collection-limit, "a shop has few brands")
    primary = key("BRAND", "BRAND" / id)
    by_name = primary.local(Shop.lsi, "BRAND#NAME" / name)


class Product(Entity, table=Shop):
    id: Attr[Id] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    stock: Attr[int] = attr(default=0)
    category_id: Attr[Id] = attr()
    brand_id: Attr[Id] = attr()
    created_at: Attr[datetime] = created_at()
    # tablewright: allow(projected-stamp, "products are listed far more often than they change")
    updated_at: Attr[datetime] = updated_at()

    # tablewright: allow(hot-partition, "the source document lists all products with one query")
    # tablewright: allow(collection-limit, "a product takes 435 bytes, so 24 million of them fit")
    primary = key("PROD", "PRO" / id)
    by_brand = index(
        Shop.gsi1, "BRAND" / brand_id, "CAT" / category_id / "AT" / epoch_seconds(created_at)
    )
    by_category = index(
        Shop.gsi2, "CAT" / category_id, "BRAND" / brand_id / "AT" / epoch_seconds(created_at)
    )


@dataclass
class OrderItem:
    """One line of an order: a product, its quantity, and its price at the time of the order."""

    id: Id
    product_id: Id
    quantity: int
    price: Decimal

    def __post_init__(self) -> None:
        if self.quantity < 1:  # a negative quantity would add to the stock
            raise InvalidValue(f"OrderItem.quantity: {self.quantity} is not at least 1")


class Order(Entity, table=Shop):
    id: Attr[Id] = attr(default_factory=KSUID.new)
    user_id: Attr[Id] = attr()
    status: Attr[str] = attr(default=OrderStatus.PENDING)
    total_price: Attr[Decimal] = attr()
    items: Attr[list[OrderItem]] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("USER" / user_id, "ORDER" / id)
    by_status = index(Shop.gsi1, "ORDER#STATUS" / status, "AT" / epoch_seconds(updated_at))
