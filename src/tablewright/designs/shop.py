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
which is what the key gives, where the row says by time; an item of an order does not repeat the
order's id; prices are exact decimals, not floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from tablewright import (
    GSI,
    LSI,
    Attr,
    Create,
    Entity,
    First,
    Get,
    Query,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    create,
    created_at,
    epoch_seconds,
    index,
    key,
    transact,
    updated_at,
)
from tablewright.errors import AlreadyExists, ConditionFailed, InvalidValue, NotFound
from tablewright.ids import KSUID
from tablewright.verify.rows import Refused, Row, Stored, changed


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
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("USER", "USER" / id)
    by_email = primary.local(Shop.lsi, "EMAIL" / email)
    emails = index(Shop.gsi1, "USER", "EMAIL" / email)


class Category(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("CAT", "CAT" / id)
    by_name = primary.local(Shop.lsi, "CAT#NAME" / name)


class Brand(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("BRAND", "BRAND" / id)
    by_name = primary.local(Shop.lsi, "BRAND#NAME" / name)


class Product(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    stock: Attr[int] = attr(default=0)
    category_id: Attr[KSUID] = attr()
    brand_id: Attr[KSUID] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("PROD", "PRO" / id)
    by_brand = index(
        Shop.gsi1, "BRAND" / brand_id, "CAT" / category_id / "AT" / epoch_seconds(created_at)
    )
    by_category = index(
        Shop.gsi2, "CAT" / category_id, "BRAND" / brand_id / "AT" / epoch_seconds(created_at)
    )


@dataclass
class OrderItem:
    """A line of an order: so many of a product, at the price it had."""

    id: KSUID
    product_id: KSUID
    quantity: int
    price: Decimal

    def __post_init__(self) -> None:
        if self.quantity < 1:  # it would fill the stock
            raise InvalidValue(f"OrderItem.quantity: {self.quantity} is not at least 1")


class Order(Entity, table=Shop):
    id: Attr[KSUID] = attr(default_factory=KSUID.new)
    user_id: Attr[KSUID] = attr()
    status: Attr[OrderStatus] = attr(default=OrderStatus.PENDING)
    total_price: Attr[Decimal] = attr()
    items: Attr[list[OrderItem]] = attr()
    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at()

    primary = key("USER" / user_id, "ORDER" / id)
    by_status = index(Shop.gsi1, "ORDER#STATUS" / status, "AT" / epoch_seconds(updated_at))


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
    """Change a user's email: both places it is looked up by follow"""
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
    """Place an order: its products are in stock, and leave it, or nothing happens"""
    return transact(
        create(order),
        *(
            Product.primary(item.product_id)
            .update(Product.stock.increment(-item.quantity))
            .condition(Product.stock >= item.quantity)
            for item in order.items
        ),
    )


# -- sample data, and what each row of the document must give ------------------------------------

Kind = TypeVar("Kind", User, Category, Brand, Product, Order)

_START = datetime(2024, 6, 27, 7, 0, tzinfo=UTC)


def _id(minutes: int) -> KSUID:
    """An id of so many minutes after the start: the lowest of its second, so always the same."""
    return KSUID.floor(_START + timedelta(minutes=minutes))


def sample() -> list[Entity]:
    """Users, categories, brands, products and orders, one a minute; no list is in the order of its
    names, and there are emails and names that are the beginning of others."""
    users = [
        User(id=_id(number), name=name, email=email, password=f"argon2:{number}")
        for number, (name, email) in enumerate(
            (
                ("Tess Tester", "tester@example.com"),
                ("Tom One", "test1@gmail.com"),
                ("Ann Arbor", "ann@example.com"),
                ("Tim Zero-One", "test01@gmail.com"),
                ("Tes Short", "tes@example.com"),
                ("Ada Test", "a.test@example.com"),
            )
        )
    ]
    categories = [
        Category(id=_id(10 + number), name=name)
        for number, name in enumerate(("CatXY", "Phones", "CatX", "Cat"))
    ]
    brands = [
        Brand(id=_id(20 + number), name=name)
        for number, name in enumerate(("BrYZ", "Acme", "BrY", "Br"))
    ]
    products = [
        Product(
            id=_id(30 + number),
            name=f"Product {number}",
            price=Decimal("9.90") * (number + 1),
            stock=5 * number,
            category_id=categories[(number * 3) % 4].id,
            brand_id=brands[number % 3].id,
        )
        for number in range(16)
    ]
    orders = [
        _ordered(_id(50 + number), users[number % 3], status, products[number + 1], products[9])
        for number, status in enumerate(
            (
                OrderStatus.DELIVERED,
                OrderStatus.PENDING,
                OrderStatus.DELIVERED,
                OrderStatus.SHIPPED,
                OrderStatus.DELIVERED,
                OrderStatus.PAID,
                OrderStatus.CANCELLED,
                OrderStatus.DELIVERED,
            )
        )
    ]
    entities: list[User | Category | Brand | Product | Order] = [
        *users,
        *categories,
        *brands,
        *products,
        *orders,
    ]
    for entity in entities:
        entity.created_at = entity.updated_at = entity.id.time
    for number, order in enumerate(orders):  # the later an order came, the sooner it was settled
        order.updated_at = _START + timedelta(hours=2, seconds=-number)
    return list(entities)


def _ordered(order_id: KSUID, user: User, status: OrderStatus, *products: Product) -> Order:
    """An order of one of the first product, two of the second, and so on."""
    lines = list(enumerate(products, start=1))
    return Order(
        id=order_id,
        user_id=user.id,
        status=status,
        total_price=sum((product.price * quantity for quantity, product in lines), Decimal(0)),
        items=[
            OrderItem(
                id=KSUID.floor(order_id.time + timedelta(seconds=quantity)),
                product_id=product.id,
                quantity=quantity,
                price=product.price,
            )
            for quantity, product in lines
        ],
    )


def rows(stored: Stored) -> Iterator[Row]:
    """Every row of the document's table, then what its writes move."""
    yield from _reads_of_people_and_names(stored)
    yield from _reads_of_products(stored)
    yield from _reads_of_orders(stored)
    yield from _change_of_email(stored)
    yield from _changes_of_a_product(stored)
    yield from _change_of_status(stored)
    yield from _orders_placed(stored)


def _one(stored: Stored, kind: type[Kind], entity_id: KSUID) -> Kind:
    return next(entity for entity in stored(kind) if entity.id == entity_id)


def _by_creation(entities: list[Kind]) -> list[Kind]:
    return sorted(entities, key=lambda entity: entity.created_at)


def _reads_of_people_and_names(stored: Stored) -> Iterator[Row]:
    people, some, others = stored(User), stored(Category), stored(Brand)
    yield Row("Get a user by id", user_by_id(people[1].id), people[1])
    yield Row(
        "Get a user by email",
        user_by_email("test01@gmail.com"),
        next(user for user in people if user.email == "test01@gmail.com"),
    )
    yield Row("List users", users(), _by_creation(people))
    moment = people[2].created_at
    yield Row(
        "List users filter by created_at",
        users_created_after(moment),
        _by_creation([user for user in people if user.created_at > moment]),
    )
    yield Row(
        "List users filter by email-prefix",
        users_by_email_prefix("test"),
        sorted(
            (user for user in people if user.email.startswith("test")), key=lambda user: user.email
        ),
    )
    yield Row("Get a category by id", category_by_id(some[2].id), some[2])
    yield Row("List categories", categories(), _by_creation(some))
    yield Row(
        "List categories filter by name-prefix",
        categories_by_name_prefix("CatX"),
        sorted(
            (category for category in some if category.name.startswith("CatX")),
            key=lambda category: category.name,
        ),
    )
    yield Row("Get a brand by id", brand_by_id(others[2].id), others[2])
    yield Row("List brands", brands(), _by_creation(others))
    yield Row(
        "List brands filter by name-prefix",
        brands_by_name_prefix("BrY"),
        sorted(
            (brand for brand in others if brand.name.startswith("BrY")),
            key=lambda brand: brand.name,
        ),
    )


def _of_brand(stored: Stored, brand_id: KSUID) -> list[Product]:
    """As the key has them: by the category's creation, then by their own."""
    made = {category.id: category.created_at for category in stored(Category)}
    found = [product for product in stored(Product) if product.brand_id == brand_id]
    return sorted(found, key=lambda product: (made[product.category_id], product.created_at))


def _of_category(stored: Stored, category_id: KSUID) -> list[Product]:
    """As the key has them: by the brand's creation, then by their own."""
    made = {brand.id: brand.created_at for brand in stored(Brand)}
    found = [product for product in stored(Product) if product.category_id == category_id]
    return sorted(found, key=lambda product: (made[product.brand_id], product.created_at))


def _of_both(stored: Stored, brand_id: KSUID, category_id: KSUID) -> list[Product]:
    found = _of_brand(stored, brand_id)
    return [product for product in found if product.category_id == category_id]


def _reads_of_products(stored: Stored) -> Iterator[Row]:
    some = stored(Product)
    product = some[1]
    brand_id, category_id = product.brand_id, product.category_id
    yield Row("Get a product by id", product_by_id(product.id), product)
    yield Row("List products", products(), _by_creation(some))
    yield Row("List products by brand", products_by_brand(brand_id), _of_brand(stored, brand_id))
    yield Row(
        "List products by brand + category",
        products_by_brand_and_category(brand_id, category_id),
        _of_both(stored, brand_id, category_id),
    )
    yield Row(
        "List products by category",
        products_by_category(category_id),
        _of_category(stored, category_id),
    )
    yield Row(
        "List products by category + brand",
        products_by_category_and_brand(category_id, brand_id),
        _of_both(stored, brand_id, category_id),
    )


def _second(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


def _of_status(stored: Stored, status: OrderStatus, since: datetime) -> list[Order]:
    """By the second they were updated in; within it by their keys, as the embedded engine has it
    (DynamoDB leaves that open)."""
    found = [
        order
        for order in stored(Order)
        if order.status is status and _second(order.updated_at) >= _second(since)
    ]
    return sorted(found, key=lambda order: (_second(order.updated_at), order.user_id, order.id))


def _reads_of_orders(stored: Stored) -> Iterator[Row]:
    orders = stored(Order)
    order = orders[0]
    yield Row("Get user's order by id", order_by_id(order.user_id, order.id), order)
    yield Row(
        "List user's orders",
        orders_of_user(order.user_id),
        _by_creation([other for other in orders if other.user_id == order.user_id]),
    )
    delivered = OrderStatus.DELIVERED
    since = _of_status(stored, delivered, _START)[1].updated_at
    yield Row(
        "List orders by status",
        orders_by_status(delivered, since),
        _of_status(stored, delivered, since),
    )


# -- writes: what they give, and where reads find it afterwards ----------------------------------


def _now(stored: Stored, before: Kind, **values: object) -> Callable[[], Kind]:
    """What a write must have made of an entity: these values are new, and the stamp of when."""

    def now() -> Kind:
        stamp = _one(stored, type(before), before.id).updated_at
        return changed(before, updated_at=stamp, **values)

    return now


def _change_of_email(stored: Stored) -> Iterator[Row]:
    new = User(id=_id(100), name="Eve Late", email="test2@gmail.com", password="argon2:100")
    yield Row("Create a user", register(new), lambda: _one(stored, User, new.id))
    again = changed(new, name="Somebody else")
    yield Row("Create a user, again", register(again), Refused(AlreadyExists))
    user = _one(stored, User, _id(3))
    yield Row(
        "Update an email",
        change_email(user.id, "zero@gmail.com"),
        _now(stored, user, email="zero@gmail.com"),
    )
    yield Row(
        "Get a user by email, the new one",
        user_by_email("zero@gmail.com"),
        _now(stored, user, email="zero@gmail.com"),
    )
    yield Row("Get a user by email, the old one", user_by_email("test01@gmail.com"), None)
    yield Row(
        "List users filter by email-prefix, without the old one",
        users_by_email_prefix("test"),
        lambda: sorted(
            (other for other in stored(User) if other.email.startswith("test")),
            key=lambda other: other.email,
        ),
    )
    yield Row("Update an email of nobody", change_email(_id(99), "no@no.com"), Refused(NotFound))


def _changes_of_a_product(stored: Stored) -> Iterator[Row]:
    product = _one(stored, Product, _id(33))
    price = Decimal("1.25")
    yield Row("Update a price", change_price(product.id, price), _now(stored, product, price=price))
    yield from _places_of(stored, product, "with the new price")

    product = _one(stored, Product, product.id)
    brand = next(brand for brand in stored(Brand) if brand.id != product.brand_id)
    moved = changed(product, brand_id=brand.id)
    yield Row(
        "Update a brand",
        change_brand(product.id, brand.id),
        _now(stored, product, brand_id=brand.id),
    )
    yield from _places_of(stored, product, "without the old brand")
    yield from _places_of(stored, moved, "with the new brand")

    product = _one(stored, Product, product.id)
    category = next(other for other in stored(Category) if other.id != product.category_id)
    moved = changed(product, category_id=category.id)
    yield Row(
        "Update a category",
        change_category(product.id, category.id),
        _now(stored, product, category_id=category.id),
    )
    yield from _places_of(stored, product, "without the old category")
    yield from _places_of(stored, moved, "with the new category")


def _places_of(stored: Stored, product: Product, how: str) -> Iterator[Row]:
    """The lists that a product with these values is in, or was."""
    brand_id, category_id = product.brand_id, product.category_id
    yield Row(
        f"List products by brand, {how}",
        products_by_brand(brand_id),
        _of_brand(stored, brand_id),
    )
    yield Row(
        f"List products by category, {how}",
        products_by_category(category_id),
        _of_category(stored, category_id),
    )


def _change_of_status(stored: Stored) -> Iterator[Row]:
    order = next(order for order in stored(Order) if order.status is OrderStatus.SHIPPED)
    delivered = OrderStatus.DELIVERED
    yield Row(
        "Update a status",
        change_status(order.user_id, order.id, delivered),
        _now(stored, order, status=delivered),
    )
    yield Row(
        "List orders by status, the old one",
        orders_by_status(order.status, _START),
        _of_status(stored, order.status, _START),
    )
    yield Row(
        "List orders by status, the new one",
        orders_by_status(delivered, _START),
        _of_status(stored, delivered, _START),
    )


def _orders_placed(stored: Stored) -> Iterator[Row]:
    user = stored(User)[0]
    first, second, third = (_one(stored, Product, _id(number)) for number in (33, 34, 35))
    order = _ordered(_id(110), user, OrderStatus.PENDING, first, second, third)
    yield Row("Place an order", place_order(order), None)
    yield Row(
        "Get user's order by id, once it is placed",
        order_by_id(user.id, order.id),
        lambda: _one(stored, Order, order.id),
    )
    for number, product in enumerate((first, second, third), start=1):
        yield Row(
            f"Get a product by id, {number} less in stock",
            product_by_id(product.id),
            _now(stored, product, stock=product.stock - number),
        )
    empty = _one(stored, Product, _id(30))
    yield Row(
        "Place an order of what is not in stock",
        place_order(_ordered(_id(111), user, OrderStatus.PENDING, first, second, empty)),
        Refused(ConditionFailed),
    )
    yield Row(
        "Place an order of what is not sold",
        place_order(
            _ordered(_id(112), user, OrderStatus.PENDING, first, changed(second, id=_id(98)))
        ),
        Refused(NotFound),
    )
    yield Row("Place an order, again", place_order(order), Refused(AlreadyExists))
