"""Shop: users, categories, brands, products and orders, in one table with an LSI and two GSIs.

    entity    PK              SK           SKU (LSI)          GSI1PK | GSI1SK
    User      USER            USER#{id}    EMAIL#{email}      USER | EMAIL#{email}
    Category  CAT             CAT#{id}     CAT#NAME#{name}
    Brand     BRAND           BRAND#{id}   BRAND#NAME#{name}
    Product   PROD            PRO#{id}                        BRAND#{brand} | CAT#{category}#AT#{…}
    Order     USER#{user_id}  ORDER#{id}                      ORDER#STATUS#{status} | AT#{updated}

                                                              GSI2PK | GSI2SK
    Product                                                   CAT#{category} | BRAND#{brand}#AT#{…}

Ids are KSUIDs, so whatever is sorted by id is sorted by creation. Items of an order are inside it.

Chosen where the document contradicts itself or leaves it open: orders by status are in GSI1, as its
index table says (the pattern's row says GSI1 and then GSI2PK); times in keys are seconds since
1970, as in its example `AT#1719473962`; products of a brand come by category and then by time,
which is what the key gives, where the row says by time; prices are exact decimals, not floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from tablewright import (
    GSI,
    KSUID,
    LSI,
    Atomic,
    Attr,
    Create,
    Entity,
    First,
    Get,
    Many,
    Table,
    Update,
    atomic,
    attr,
    create,
    created,
    epoch,
    index,
    key,
    pattern,
    updated,
)


class Shop(Table, name="shop"):
    lsi = LSI("SKU", name="LSI")
    gsi1 = GSI("GSI1PK", "GSI1SK", name="GSI1")
    gsi2 = GSI("GSI2PK", "GSI2SK", name="GSI2")


class OrderStatus(StrEnum):
    PENDING = "PENDING"
    PAID = "PAID"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"


class User(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    password: Attr[str] = attr()
    created_at: Attr[datetime] = created()
    updated_at: Attr[datetime] = updated()

    primary = key("USER", "USER" / id)
    by_email = primary.local(Shop.lsi, "EMAIL" / email)
    emails = index(Shop.gsi1, "USER", "EMAIL" / email)


class Category(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    created_at: Attr[datetime] = created()
    updated_at: Attr[datetime] = updated()

    primary = key("CAT", "CAT" / id)
    by_name = primary.local(Shop.lsi, "CAT#NAME" / name)


class Brand(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    created_at: Attr[datetime] = created()
    updated_at: Attr[datetime] = updated()

    primary = key("BRAND", "BRAND" / id)
    by_name = primary.local(Shop.lsi, "BRAND#NAME" / name)


class Product(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    stock: Attr[int] = attr(default=0)
    category_id: Attr[KSUID] = attr()
    brand_id: Attr[KSUID] = attr()
    created_at: Attr[datetime] = created()
    updated_at: Attr[datetime] = updated()

    primary = key("PROD", "PRO" / id)
    by_brand = index(Shop.gsi1, "BRAND" / brand_id, "CAT" / category_id / "AT" / epoch(created_at))
    by_category = index(
        Shop.gsi2, "CAT" / category_id, "BRAND" / brand_id / "AT" / epoch(created_at)
    )


@dataclass
class OrderItem:
    """A line of an order: so many of a product, at the price it had."""

    id: KSUID
    product_id: KSUID
    quantity: int
    price: Decimal


class Order(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    user_id: Attr[KSUID] = attr()
    status: Attr[OrderStatus] = attr(default=OrderStatus.PENDING)
    total_price: Attr[Decimal] = attr()
    items: Attr[list[OrderItem]] = attr()
    created_at: Attr[datetime] = created()
    updated_at: Attr[datetime] = updated()

    primary = key("USER" / user_id, "ORDER" / id)
    by_status = index(Shop.gsi1, "ORDER#STATUS" / status, "AT" / epoch(updated_at))


# -- users ---------------------------------------------------------------------------------------


@pattern
def user_by_id(user_id: KSUID) -> Get[User]:
    """Get a user by id"""
    return User.primary(user_id)


@pattern
def user_by_email(email: str) -> First[User]:
    """Get a user by email"""
    return User.by_email().at(email).first()


@pattern
def users() -> Many[User]:
    """List users"""
    return User.primary.within()


@pattern
def users_created_after(moment: datetime) -> Many[User]:
    """List users filter by created_at"""
    return User.primary.within().after(KSUID.ceiling(moment))


@pattern
def users_by_email_prefix(prefix: str) -> Many[User]:
    """List users filter by email-prefix"""
    return User.emails().begins_with(prefix)


# -- categories and brands -----------------------------------------------------------------------


@pattern
def category_by_id(category_id: KSUID) -> Get[Category]:
    """Get a category by id"""
    return Category.primary(category_id)


@pattern
def categories() -> Many[Category]:
    """List categories"""
    return Category.primary.within()


@pattern
def categories_by_name_prefix(prefix: str) -> Many[Category]:
    """List categories filter by name-prefix"""
    return Category.by_name().begins_with(prefix)


@pattern
def brand_by_id(brand_id: KSUID) -> Get[Brand]:
    """Get a brand by id"""
    return Brand.primary(brand_id)


@pattern
def brands() -> Many[Brand]:
    """List brands"""
    return Brand.primary.within()


@pattern
def brands_by_name_prefix(prefix: str) -> Many[Brand]:
    """List brands filter by name-prefix"""
    return Brand.by_name().begins_with(prefix)


# -- products ------------------------------------------------------------------------------------


@pattern
def product_by_id(product_id: KSUID) -> Get[Product]:
    """Get a product by id"""
    return Product.primary(product_id)


@pattern
def products() -> Many[Product]:
    """List products"""
    return Product.primary.within()


@pattern
def products_by_brand(brand_id: KSUID) -> Many[Product]:
    """List products by brand"""
    return Product.by_brand(brand_id)


@pattern
def products_by_brand_and_category(brand_id: KSUID, category_id: KSUID) -> Many[Product]:
    """List products by brand + category"""
    return Product.by_brand(brand_id).at(category_id)


@pattern
def products_by_category(category_id: KSUID) -> Many[Product]:
    """List products by category"""
    return Product.by_category(category_id)


@pattern
def products_by_category_and_brand(category_id: KSUID, brand_id: KSUID) -> Many[Product]:
    """List products by category + brand"""
    return Product.by_category(category_id).at(brand_id)


# -- orders --------------------------------------------------------------------------------------


@pattern
def order_by_id(user_id: KSUID, order_id: KSUID) -> Get[Order]:
    """Get user's order by id"""
    return Order.primary(user_id, order_id)


@pattern
def orders_of_user(user_id: KSUID) -> Many[Order]:
    """List user's orders"""
    return Order.primary.within(user_id)


@pattern
def orders_by_status(status: OrderStatus, since: datetime) -> Many[Order]:
    """List orders by status"""
    return Order.by_status(status).since(since)


# -- writes --------------------------------------------------------------------------------------


@pattern
def register(user: User) -> Create[User]:
    """Create a user"""
    return create(user)


@pattern
def change_email(user_id: KSUID, email: str) -> Update[User]:
    """Change a user's email: both places it is looked up by follow"""
    return User.primary(user_id).update(User.email.set(email))


@pattern
def change_price(product_id: KSUID, price: Decimal) -> Update[Product]:
    """Change a product's price"""
    return Product.primary(product_id).update(Product.price.set(price))


@pattern
def change_brand(product_id: KSUID, brand_id: KSUID) -> Update[Product]:
    """Move a product to another brand"""
    return Product.primary(product_id).update(Product.brand_id.set(brand_id))


@pattern
def change_category(product_id: KSUID, category_id: KSUID) -> Update[Product]:
    """Move a product to another category"""
    return Product.primary(product_id).update(Product.category_id.set(category_id))


@pattern
def change_status(user_id: KSUID, order_id: KSUID, status: OrderStatus) -> Update[Order]:
    """Change an order's status"""
    return Order.primary(user_id, order_id).update(Order.status.set(status))


@pattern
def place_order(order: Order) -> Atomic:
    """Place an order: its products are in stock, and leave it, or nothing happens"""
    return atomic(
        create(order),
        *(
            Product.primary(item.product_id)
            .update(Product.stock.add(-item.quantity))
            .expect(Product.stock >= item.quantity)
            for item in order.items
        ),
    )
