"""The access patterns of the shop."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from tablewright import (
    KSUID,
    Atomic,
    Create,
    First,
    Get,
    Many,
    Update,
    atomic,
    create,
    pattern,
)
from tablewright.designs.shop.entities import Brand, Category, Order, OrderStatus, Product, User

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
    """Change a user's email, and the keys of both indexes on it"""
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
    """Place an order and reduce the stock, if all products are in stock"""
    return atomic(
        create(order),
        *(
            Product.primary(item.product_id)
            .update(Product.stock.add(-item.quantity))
            .expect(Product.stock >= item.quantity)
            for item in order.items
        ),
    )
