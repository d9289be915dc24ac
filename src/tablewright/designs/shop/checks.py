"""Checks of the shop: each pattern of the source document, and the effects of each write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from tablewright.designs.shop import (
    Brand,
    Category,
    Order,
    OrderStatus,
    Product,
    User,
    brand_by_id,
    brands,
    brands_by_name_prefix,
    categories,
    categories_by_name_prefix,
    category_by_id,
    change_brand,
    change_category,
    change_email,
    change_price,
    change_status,
    order_by_id,
    orders_by_status,
    orders_by_status_since,
    orders_of_user,
    place_order,
    product_by_id,
    products,
    products_by_brand,
    products_by_brand_and_category,
    products_by_category,
    products_by_category_and_brand,
    register,
    user_by_email,
    user_by_id,
    users,
    users_by_email_prefix,
    users_created_since,
)
from tablewright.designs.shop.samples import START, id_at, make_order
from tablewright.errors import AlreadyExists, ConditionFailed, NotFound
from tablewright.verify.checks import Check, Raises, Stored, changed

Kind = TypeVar("Kind", User, Category, Brand, Product, Order)


def checks(stored: Stored) -> Iterator[Check]:
    """Check each row of the source document's pattern table, then the writes."""
    yield from _reads_of_users_categories_brands(stored)
    yield from _reads_of_products(stored)
    yield from _reads_of_orders(stored)
    yield from _writes_of_users(stored)
    yield from _writes_of_products(stored)
    yield from _status_changes(stored)
    yield from _placed_orders(stored)


def _one(stored: Stored, kind: type[Kind], entity_id: str) -> Kind:
    return next(entity for entity in stored(kind) if entity.id == entity_id)


def _by_creation(entities: list[Kind]) -> list[Kind]:
    return sorted(entities, key=lambda entity: entity.created_at)


def _reads_of_users_categories_brands(stored: Stored) -> Iterator[Check]:
    all_users, all_categories, all_brands = stored(User), stored(Category), stored(Brand)
    yield Check("Get a user by id", user_by_id(all_users[1].id), all_users[1])
    yield Check(
        "Get a user by email",
        user_by_email("test01@gmail.com"),
        next(user for user in all_users if user.email == "test01@gmail.com"),
    )
    yield Check("List users", users(), _by_creation(all_users))
    moment = all_users[2].created_at
    yield Check(
        "List users filter by created_at",
        users_created_since(moment),
        _by_creation([user for user in all_users if user.created_at >= moment]),
    )
    yield Check(
        "List users filter by created_at, later in the same second",
        users_created_since(moment + timedelta(milliseconds=500)),
        _by_creation([user for user in all_users if user.created_at >= moment]),
    )
    yield Check(
        "List users filter by email-prefix",
        users_by_email_prefix("test"),
        sorted(
            (user for user in all_users if user.email.startswith("test")),
            key=lambda user: user.email,
        ),
    )
    yield Check("Get a category by id", category_by_id(all_categories[2].id), all_categories[2])
    yield Check("List categories", categories(), _by_creation(all_categories))
    yield Check(
        "List categories filter by name-prefix",
        categories_by_name_prefix("CatX"),
        sorted(
            (category for category in all_categories if category.name.startswith("CatX")),
            key=lambda category: category.name,
        ),
    )
    yield Check("Get a brand by id", brand_by_id(all_brands[2].id), all_brands[2])
    yield Check("List brands", brands(), _by_creation(all_brands))
    yield Check(
        "List brands filter by name-prefix",
        brands_by_name_prefix("BrY"),
        sorted(
            (brand for brand in all_brands if brand.name.startswith("BrY")),
            key=lambda brand: brand.name,
        ),
    )


def _products_of_brand(stored: Stored, brand_id: str) -> list[Product]:
    """Sort as the index does: by the creation of the category, then of the product."""
    created = {category.id: category.created_at for category in stored(Category)}
    found = [product for product in stored(Product) if product.brand_id == brand_id]
    return sorted(found, key=lambda product: (created[product.category_id], product.created_at))


def _products_of_category(stored: Stored, category_id: str) -> list[Product]:
    """Sort as the index does: by the creation of the brand, then of the product."""
    created = {brand.id: brand.created_at for brand in stored(Brand)}
    found = [product for product in stored(Product) if product.category_id == category_id]
    return sorted(found, key=lambda product: (created[product.brand_id], product.created_at))


def _products_of_both(stored: Stored, brand_id: str, category_id: str) -> list[Product]:
    found = _products_of_brand(stored, brand_id)
    return [product for product in found if product.category_id == category_id]


def _reads_of_products(stored: Stored) -> Iterator[Check]:
    all_products = stored(Product)
    product = all_products[1]
    brand_id, category_id = product.brand_id, product.category_id
    yield Check("Get a product by id", product_by_id(product.id), product)
    yield Check("List products", products(), _by_creation(all_products))
    yield Check(
        "List products by brand", products_by_brand(brand_id), _products_of_brand(stored, brand_id)
    )
    yield Check(
        "List products by brand + category",
        products_by_brand_and_category(brand_id, category_id),
        _products_of_both(stored, brand_id, category_id),
    )
    yield Check(
        "List products by category",
        products_by_category(category_id),
        _products_of_category(stored, category_id),
    )
    yield Check(
        "List products by category + brand",
        products_by_category_and_brand(category_id, brand_id),
        _products_of_both(stored, brand_id, category_id),
    )


def _truncate_to_second(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


def _orders_with_status(stored: Stored, status: str, since: datetime) -> list[Order]:
    """Sort by the second of the update, then by the table's key, as the embedded engine does.

    DynamoDB does not define the order of items with equal index keys.
    """
    found = [
        order
        for order in stored(Order)
        if order.status == status
        and _truncate_to_second(order.updated_at) >= _truncate_to_second(since)
    ]
    return sorted(
        found, key=lambda order: (_truncate_to_second(order.updated_at), order.user_id, order.id)
    )


def _reads_of_orders(stored: Stored) -> Iterator[Check]:
    orders = stored(Order)
    order = orders[0]
    yield Check("Get user's order by id", order_by_id(order.user_id, order.id), order)
    yield Check(
        "List user's orders",
        orders_of_user(order.user_id),
        _by_creation([other for other in orders if other.user_id == order.user_id]),
    )
    delivered = OrderStatus.DELIVERED
    since = _orders_with_status(stored, delivered, START)[1].updated_at
    yield Check(
        "List orders by status",
        orders_by_status(delivered),
        _orders_with_status(stored, delivered, START),
    )
    yield Check(
        "List orders by status, updated since a moment",
        orders_by_status_since(delivered, since),
        _orders_with_status(stored, delivered, since),
    )


# -- writes: their results, and the reads that return the changed entities -----------------------


def _updated(stored: Stored, before: Kind, **values: object) -> Callable[[], Kind]:
    """Expect the entity with these values, and with the update time that the write stored."""

    def expected() -> Kind:
        updated_at = _one(stored, type(before), before.id).updated_at
        return changed(before, updated_at=updated_at, **values)

    return expected


def _writes_of_users(stored: Stored) -> Iterator[Check]:
    new = User(id=id_at(100), name="Eve Late", email="test2@gmail.com", password="argon2:100")
    yield Check("Create a user", register(new), lambda: _one(stored, User, new.id))
    again = changed(new, name="Another user")
    yield Check("Create a user, a second time", register(again), Raises(AlreadyExists))
    user = _one(stored, User, id_at(3))
    yield Check(
        "Update an email",
        change_email(user.id, "zero@gmail.com"),
        _updated(stored, user, email="zero@gmail.com"),
    )
    yield Check(
        "Get a user by email, new email",
        user_by_email("zero@gmail.com"),
        _updated(stored, user, email="zero@gmail.com"),
    )
    yield Check("Get a user by email, old email", user_by_email("test01@gmail.com"), None)
    yield Check(
        "List users filter by email-prefix, after the update",
        users_by_email_prefix("test"),
        lambda: sorted(
            (other for other in stored(User) if other.email.startswith("test")),
            key=lambda other: other.email,
        ),
    )
    yield Check(
        "Update the email of an unknown user",
        change_email(id_at(99), "no@no.com"),
        Raises(NotFound),
    )


def _writes_of_products(stored: Stored) -> Iterator[Check]:
    product = _one(stored, Product, id_at(33))
    price = Decimal("1.25")
    yield Check(
        "Update a price", change_price(product.id, price), _updated(stored, product, price=price)
    )
    yield from _lists_with(stored, product, "new price")

    product = _one(stored, Product, product.id)
    brand = next(brand for brand in stored(Brand) if brand.id != product.brand_id)
    moved = changed(product, brand_id=brand.id)
    yield Check(
        "Update a brand",
        change_brand(product.id, brand.id),
        _updated(stored, product, brand_id=brand.id),
    )
    yield from _lists_with(stored, product, "old brand")
    yield from _lists_with(stored, moved, "new brand")

    product = _one(stored, Product, product.id)
    category = next(other for other in stored(Category) if other.id != product.category_id)
    moved = changed(product, category_id=category.id)
    yield Check(
        "Update a category",
        change_category(product.id, category.id),
        _updated(stored, product, category_id=category.id),
    )
    yield from _lists_with(stored, product, "old category")
    yield from _lists_with(stored, moved, "new category")


def _lists_with(stored: Stored, product: Product, case: str) -> Iterator[Check]:
    """Check the lists of the product's brand and of its category."""
    brand_id, category_id = product.brand_id, product.category_id
    yield Check(
        f"List products by brand, {case}",
        products_by_brand(brand_id),
        _products_of_brand(stored, brand_id),
    )
    yield Check(
        f"List products by category, {case}",
        products_by_category(category_id),
        _products_of_category(stored, category_id),
    )


def _status_changes(stored: Stored) -> Iterator[Check]:
    order = next(order for order in stored(Order) if order.status == OrderStatus.SHIPPED)
    delivered = OrderStatus.DELIVERED
    yield Check(
        "Update a status",
        change_status(order.user_id, order.id, delivered),
        _updated(stored, order, status=delivered),
    )
    yield Check(
        "List orders by status, old status",
        orders_by_status(order.status),
        _orders_with_status(stored, order.status, START),
    )
    yield Check(
        "List orders by status, new status",
        orders_by_status(delivered),
        _orders_with_status(stored, delivered, START),
    )


def _placed_orders(stored: Stored) -> Iterator[Check]:
    user = stored(User)[0]
    first, second, third = (_one(stored, Product, id_at(number)) for number in (33, 34, 35))
    order = make_order(id_at(110), user, OrderStatus.PENDING, first, second, third)
    yield Check("Place an order", place_order(order), None)
    yield Check(
        "Get user's order by id, after placing it",
        order_by_id(user.id, order.id),
        lambda: _one(stored, Order, order.id),
    )
    for number, product in enumerate((first, second, third), start=1):
        yield Check(
            f"Get a product by id, stock reduced by {number}",
            product_by_id(product.id),
            _updated(stored, product, stock=product.stock - number),
        )
    empty = _one(stored, Product, id_at(30))
    yield Check(
        "Place an order for a product that is out of stock",
        place_order(make_order(id_at(111), user, OrderStatus.PENDING, first, second, empty)),
        Raises(ConditionFailed),
    )
    yield Check(
        "Place an order for an unknown product",
        place_order(
            make_order(id_at(112), user, OrderStatus.PENDING, first, changed(second, id=id_at(98)))
        ),
        Raises(NotFound),
    )
    yield Check("Place an order, a second time", place_order(order), Raises(AlreadyExists))
    third = _one(stored, Product, third.id)
    twice = make_order(id_at(113), user, OrderStatus.PENDING, third, third)
    yield Check("Place an order with one product in two lines", place_order(twice), None)
    yield Check(
        "Get a product by id, stock reduced by both lines",
        product_by_id(third.id),
        _updated(stored, third, stock=third.stock - 3),
    )
    yield from _other_ids_and_statuses(stored)


def _other_ids_and_statuses(stored: Stored) -> Iterator[Check]:
    """Check ids as in the source document's examples, and a status that the shop does not use."""
    user = User(id="001", name="First", email="first@example.com", password="argon2:001")
    yield Check("Create a user, id 001", register(user), lambda: _one(stored, User, "001"))
    yield Check("Get a user by id, id 001", user_by_id("001"), lambda: _one(stored, User, "001"))
    product = _one(stored, Product, id_at(36))
    order = make_order(id_at(114), user, "ON_HOLD", product)
    yield Check("Place an order with another status", place_order(order), None)
    yield Check(
        "List user's orders, another status",
        orders_of_user("001"),
        lambda: [_one(stored, Order, order.id)],
    )
    yield Check(
        "List orders by status, another status",
        orders_by_status("ON_HOLD"),
        lambda: [_one(stored, Order, order.id)],
    )
