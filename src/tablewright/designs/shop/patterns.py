"""The access patterns of the shop."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

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
from tablewright.designs.shop.entities import Brand, Category, Order, OrderStatus, Product, User
from tablewright.ids import KSUID

# -- users ---------------------------------------------------------------------------------------


@access_pattern
def user_by_id(user_id: KSUID) -> Get[User]:
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
def users_created_after(moment: datetime) -> Query[User]:
    """List users filter by created_at"""
    return User.primary.within().gt(KSUID.ceiling(moment))


@access_pattern
def users_by_email_prefix(prefix: str) -> Query[User]:
    """List users filter by email-prefix"""
    return User.emails().begins_with(prefix)


# -- categories and brands -----------------------------------------------------------------------


@access_pattern
def category_by_id(category_id: KSUID) -> Get[Category]:
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
def brand_by_id(brand_id: KSUID) -> Get[Brand]:
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
def product_by_id(product_id: KSUID) -> Get[Product]:
    """Get a product by id"""
    return Product.primary(product_id)


@access_pattern
def products() -> Query[Product]:
    """List products"""
    return Product.primary.within()


@access_pattern
def products_by_brand(brand_id: KSUID) -> Query[Product]:
    """List products by brand"""
    return Product.by_brand(brand_id)


@access_pattern
def products_by_brand_and_category(brand_id: KSUID, category_id: KSUID) -> Query[Product]:
    """List products by brand + category"""
    return Product.by_brand(brand_id).eq(category_id)


@access_pattern
def products_by_category(category_id: KSUID) -> Query[Product]:
    """List products by category"""
    return Product.by_category(category_id)


@access_pattern
def products_by_category_and_brand(category_id: KSUID, brand_id: KSUID) -> Query[Product]:
    """List products by category + brand"""
    return Product.by_category(category_id).eq(brand_id)


# -- orders --------------------------------------------------------------------------------------


@access_pattern
def order_by_id(user_id: KSUID, order_id: KSUID) -> Get[Order]:
    """Get user's order by id"""
    return Order.primary(user_id, order_id)


@access_pattern
def orders_of_user(user_id: KSUID) -> Query[Order]:
    """List user's orders"""
    return Order.primary.within(user_id)


@access_pattern
def orders_by_status(status: OrderStatus, since: datetime) -> Query[Order]:
    """List orders by status"""
    return Order.by_status(status).gte(since)


# -- writes --------------------------------------------------------------------------------------


@access_pattern
def register(user: User) -> Create[User]:
    """Create a user"""
    return create(user)


@access_pattern
def change_email(user_id: KSUID, email: str) -> Update[User]:
    """Change a user's email, and the keys of both indexes on it"""
    return User.primary(user_id).update(User.email.set(email))


@access_pattern
def change_price(product_id: KSUID, price: Decimal) -> Update[Product]:
    """Change a product's price"""
    return Product.primary(product_id).update(Product.price.set(price))


@access_pattern
def change_brand(product_id: KSUID, brand_id: KSUID) -> Update[Product]:
    """Move a product to another brand"""
    return Product.primary(product_id).update(Product.brand_id.set(brand_id))


@access_pattern
def change_category(product_id: KSUID, category_id: KSUID) -> Update[Product]:
    """Move a product to another category"""
    return Product.primary(product_id).update(Product.category_id.set(category_id))


@access_pattern
def change_status(user_id: KSUID, order_id: KSUID, status: OrderStatus) -> Update[Order]:
    """Change an order's status"""
    return Order.primary(user_id, order_id).update(Order.status.set(status))


@access_pattern
def place_order(order: Order) -> Transaction:
    """Place an order and reduce the stock, if all products are in stock"""
    return transact(
        create(order),
        *(
            Product.primary(item.product_id)
            .update(Product.stock.increment(-item.quantity))
            .condition(Product.stock >= item.quantity)
            for item in order.items
        ),
    )
