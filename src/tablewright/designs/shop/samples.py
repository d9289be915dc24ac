"""Sample data of the shop."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tablewright import Entity
from tablewright.designs.shop import Brand, Category, Order, OrderItem, OrderStatus, Product, User
from tablewright.ids import KSUID

START = datetime(2024, 6, 27, 7, 0, tzinfo=UTC)


def id_at(minutes: int) -> KSUID:
    """Return the lowest KSUID of a time, given in minutes after START; it is always the same."""
    return KSUID.floor(START + timedelta(minutes=minutes))


def sample() -> list[Entity]:
    """Return users, categories, brands, products and orders, created one per minute.

    No list is sorted by name. Some emails and names are prefixes of others.
    """
    users = [
        User(id=id_at(number), name=name, email=email, password=f"argon2:{number}")
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
        Category(id=id_at(10 + number), name=name)
        for number, name in enumerate(("CatXY", "Phones", "CatX", "Cat"))
    ]
    brands = [
        Brand(id=id_at(20 + number), name=name)
        for number, name in enumerate(("BrYZ", "Acme", "BrY", "Br"))
    ]
    products = [
        Product(
            id=id_at(30 + number),
            name=f"Product {number}",
            price=Decimal("9.90") * (number + 1),
            stock=5 * number,
            category_id=categories[(number * 3) % 4].id,
            brand_id=brands[number % 3].id,
        )
        for number in range(16)
    ]
    orders = [
        make_order(id_at(50 + number), users[number % 3], status, products[number + 1], products[9])
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
        entity.created_at = entity.updated_at = KSUID(entity.id).time
    for number, order in enumerate(orders):  # the newest order has the oldest update
        order.updated_at = START + timedelta(hours=2, seconds=-number)
    return list(entities)


def make_order(order_id: KSUID, user: User, status: str, *products: Product) -> Order:
    """Return an order of one piece of the first product, two of the second, and so on."""
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
