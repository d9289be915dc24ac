"""The access patterns of the shop."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import reduce
from itertools import groupby
from operator import add, attrgetter

from tablewright import (
    Create,
    First,
    Get,
    Query,
    Transaction,
    Update,
    access_pattern,
    create,
    transact,
)
from tablewright.designs.shop.entities import Brand, Category, Order, OrderItem, Product, User
from tablewright.ids import KSUID

# -- users ---------------------------------------------------------------------------------------


@access_pattern
def user_by_id(user_id: str) -> Get[User]:
    """Get a user by id"""
    return User.primary(user_id)


@access_pattern
def user_by_email(email: str) -> First[User]:
    """Get a user by email"""
    return User.by_email().eq(email).first()


@access_pattern
def users() -> Query[User]:
    """List users"""
    return User.primary.within()


@access_pattern
def users_created_since(moment: datetime) -> Query[User]:
    """List users filter by created_at

    KSUIDs contain whole seconds, so the users of the whole second of the moment are listed, too.
    """
    return User.primary.within().gte(KSUID.floor(moment))


@access_pattern
def users_by_email_prefix(prefix: str) -> Query[User]:
    """List users filter by email-prefix"""
    return User.emails().begins_with(prefix)


# -- categories and brands -----------------------------------------------------------------------


@access_pattern
def category_by_id(category_id: str) -> Get[Category]:
    """Get a category by id"""
    return Category.primary(category_id)


@access_pattern
def categories() -> Query[Category]:
    """List categories"""
    return Category.primary.within()


@access_pattern
def categories_by_name_prefix(prefix: str) -> Query[Category]:
    """List categories filter by name-prefix"""
    return Category.by_name().begins_with(prefix)


@access_pattern
def brand_by_id(brand_id: str) -> Get[Brand]:
    """Get a brand by id"""
    return Brand.primary(brand_id)


@access_pattern
def brands() -> Query[Brand]:
    """List brands"""
    return Brand.primary.within()


@access_pattern
def brands_by_name_prefix(prefix: str) -> Query[Brand]:
    """List brands filter by name-prefix"""
    return Brand.by_name().begins_with(prefix)


# -- products ------------------------------------------------------------------------------------


@access_pattern
def product_by_id(product_id: str) -> Get[Product]:
    """Get a product by id"""
    return Product.primary(product_id)


@access_pattern
def products() -> Query[Product]:
    """List products"""
    return Product.primary.within()


@access_pattern
def products_by_brand(brand_id: str) -> Query[Product]:
    """List products by brand"""
    return Product.by_brand(brand_id)


@access_pattern
def products_by_brand_and_category(brand_id: str, category_id: str) -> Query[Product]:
    """List products by brand + category"""
    return Product.by_brand(brand_id).eq(category_id)


@access_pattern
def products_by_category(category_id: str) -> Query[Product]:
    """List products by category"""
    return Product.by_category(category_id)


@access_pattern
def products_by_category_and_brand(category_id: str, brand_id: str) -> Query[Product]:
    """List products by category + brand"""
    return Product.by_category(category_id).eq(brand_id)


# -- orders --------------------------------------------------------------------------------------


@access_pattern
def order_by_id(user_id: str, order_id: str) -> Get[Order]:
    """Get user's order by id"""
    return Order.primary(user_id, order_id)


@access_pattern
def orders_of_user(user_id: str) -> Query[Order]:
    """List user's orders"""
    return Order.primary.within(user_id)


@access_pattern
def orders_by_status(status: str) -> Query[Order]:
    """List orders by status"""
    return Order.by_status(status)


@access_pattern
def orders_by_status_since(status: str, since: datetime) -> Query[Order]:
    """List orders by status, updated since a moment"""
    return Order.by_status(status).gte(since)


# -- writes --------------------------------------------------------------------------------------


@access_pattern
def register(user: User) -> Create[User]:
    """Create a user"""
    return create(user)


@access_pattern
def change_email(user_id: str, email: str) -> Update[User]:
    """Change a user's email, and the keys of both indexes on it"""
    return User.primary(user_id).update(User.email.set(email))


@access_pattern
def change_price(product_id: str, price: Decimal) -> Update[Product]:
    """Change a product's price"""
    return Product.primary(product_id).update(Product.price.set(price))


@access_pattern
def change_brand(product_id: str, brand_id: str) -> Update[Product]:
    """Move a product to another brand"""
    return Product.primary(product_id).update(Product.brand_id.set(brand_id))


@access_pattern
def change_category(product_id: str, category_id: str) -> Update[Product]:
    """Move a product to another category"""
    return Product.primary(product_id).update(Product.category_id.set(category_id))


@access_pattern
def change_status(user_id: str, order_id: str, status: str) -> Update[Order]:
    """Change an order's status"""
    return Order.primary(user_id, order_id).update(Order.status.set(status))


def _quantities(items: list[OrderItem]) -> Iterator[tuple[str, int]]:
    """Return each product with its quantity in all lines: a transaction writes an item once."""
    by_product = attrgetter("product_id")
    for product_id, lines in groupby(sorted(items, key=by_product), by_product):
        yield product_id, reduce(add, (line.quantity for line in lines))


@access_pattern
def place_order(order: Order) -> Transaction:
    """Place an order and reduce the stock, if all products are in stock"""
    return transact(
        create(order),
        *(
            Product.primary(product_id)
            .update(Product.stock.increment(-quantity))
            .condition(Product.stock >= quantity)
            for product_id, quantity in _quantities(order.items)
        ),
    )
