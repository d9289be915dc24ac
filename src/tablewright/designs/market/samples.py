"""Sample data of the market."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from tablewright import Entity
from tablewright.designs.market import (
    Account,
    Bill,
    Cart,
    InventoryItem,
    Order,
    OrderItem,
    Payment,
    Product,
    Reward,
    User,
)
from tablewright.ids import ULID

ANNA = "550e8400-e29b-41d4-a716-446655440000"
RABINOVICH = "rabinovich"
RABIN = "rabin"  # a prefix of another id

ACCOUNT = ULID("01JZ10H7X367VB2NF4YQ973DHW")
FIRST_ORDER = ULID("01JZ10H7X367VB2NF4YQ973DHW")
LAST_ORDER = ULID("01JZ10H7X367VB2NF4YQ973DXZ")
ANNAS_ORDER = ULID("01JZ10H7X367VB2NF4YQ973DHX")
REWARD = ULID("01JZ10H7X367VB2NF4YQ973DHY")
BILL = ULID("01JZ10H7X367VB2NF4YQ973DJ0")
PAYMENT = ULID("01JZ10H7X367VB2NF4YQ973DK0")
CART = ULID("01JZ10H7X367VB2NF4YQ973DM0")
TEAPOT = ULID("01JZ0ZZZZZ0000000000000001")
SAMOVAR = ULID("01JZ0ZZZZZ0000000000000002")
GLASS = ULID("01JZ0ZZZZZ0000000000000003")
PRODUCT = ULID("01JZ10H7X367VB2NF4YQ973DP0")
EXPIRY = datetime(2036, 1, 1, tzinfo=UTC)


def sample() -> list[Entity]:
    """Return an account, three users with their data, and three inventory items."""
    return [
        Account(account_id=ACCOUNT, business_id="tea-circle", name="Tea Circle"),
        *_users(),
        *_inventory(),
        *_orders(),
        *_bills_payments_rewards(),
        *_products(),
        Cart(
            user_id=RABINOVICH,
            cart_id=CART,
            business_id="C-0001",
            lines={"TEA-01": 1},
            expires=EXPIRY,
        ),
        Cart(
            user_id=ANNA,
            cart_id=ULID("01JZ10H7X367VB2NF4YQ973DM1"),
            lines={"TEA-03": 6, "TEA-02": 1},
            expires=EXPIRY.replace(month=2),
        ),
    ]


def _users() -> list[Entity]:
    return [
        User(
            user_id=ANNA,
            business_id="anna",
            name="Anna Petrova",
            email="anna@example.com",
            account_id=ACCOUNT,
        ),
        User(
            user_id=RABINOVICH,
            business_id="rabinovich",
            name="Moishe Rabinovich",
            email="rabinovich@example.com",
            phones=["+380 48 722 0001"],
            addresses=["12 Deribasivska Street, Odesa"],
            account_id=ACCOUNT,
        ),
        User(user_id=RABIN, name="Leah Rabin", email="leah@example.com"),
    ]


def _inventory() -> list[Entity]:
    return [
        InventoryItem(
            item_id=TEAPOT, business_id="TEA-01", name="Teapot", price=Decimal("24.00"), stock=12
        ),
        InventoryItem(
            item_id=SAMOVAR, business_id="TEA-02", name="Samovar", price=Decimal("180.00"), stock=2
        ),
        InventoryItem(
            item_id=GLASS, business_id="TEA-03", name="Tea glass", price=Decimal("4.50"), stock=96
        ),
    ]


def _products() -> list[Entity]:
    """Return products of two users."""
    return [
        Product(
            user_id=RABINOVICH,
            product_id=PRODUCT,
            business_id="JAM-01",
            name="Cherry jam",
            price=Decimal("6.00"),
        ),
        Product(
            user_id=RABINOVICH,
            product_id=ULID("01JZ10H7X367VB2NF4YQ973DP2"),
            name="Quince jam",
            price=Decimal("7.00"),
        ),
        Product(
            user_id=ANNA,
            product_id=ULID("01JZ10H7X367VB2NF4YQ973DP1"),
            name="Tea towel",
            price=Decimal("3.00"),
        ),
    ]


def _orders() -> list[Entity]:
    """Return the orders of the source document (Rabinovich), and others."""
    orders = (
        (RABINOVICH, FIRST_ORDER, "2025-0001", (TEAPOT, SAMOVAR, GLASS)),
        (ANNA, ANNAS_ORDER, "2025-0002", (GLASS,)),
        (RABINOVICH, LAST_ORDER, "2025-0003", (GLASS,)),
        (RABIN, ULID("01JZ10H7X367VB2NF4YQ973DYY"), None, (TEAPOT, GLASS)),
    )
    found: list[Entity] = []
    for user_id, order_id, business_id, bought in orders:
        total = sum((price_of(item_id) for item_id in bought), Decimal(0))
        found.append(
            Order(user_id=user_id, order_id=order_id, business_id=business_id, total=total)
        )
        found += [
            OrderItem(
                user_id=user_id,
                order_id=order_id,
                number=number,
                item_id=item_id,
                price=price_of(item_id),
            )
            for number, item_id in enumerate(bought, start=1)
        ]
    return found


def price_of(item_id: ULID) -> Decimal:
    return {TEAPOT: Decimal("24.00"), SAMOVAR: Decimal("180.00"), GLASS: Decimal("4.50")}[item_id]


def _bills_payments_rewards() -> list[Entity]:
    """Return bills, payments and rewards."""
    return [
        Bill(
            user_id=RABINOVICH,
            bill_id=BILL,
            business_id="B-0001",
            order_id=FIRST_ORDER,
            amount=Decimal("208.50"),
        ),
        Bill(
            user_id=ANNA,
            bill_id=ULID("01JZ10H7X367VB2NF4YQ973DJ1"),
            order_id=ANNAS_ORDER,
            amount=Decimal("4.50"),
        ),
        Payment(
            user_id=RABINOVICH,
            payment_id=PAYMENT,
            business_id="P-0001",
            bill_id=BILL,
            amount=Decimal("208.50"),
        ),
        Reward(user_id=RABINOVICH, reward_id=REWARD, points=208, reason="first order"),
        Reward(
            user_id=RABINOVICH,
            reward_id=ULID("01JZ10H7X367VB2NF4YQ973DZ0"),
            points=4,
            reason="order",
        ),
        Reward(
            user_id=ANNA,
            reward_id=ULID("01JZ10H7X367VB2NF4YQ973DZ1"),
            points=100,
            reason="birthday",
        ),
    ]
