"""Market: a multi-tenant shop whose users' data lie in shards.

    pk                      sk                   what                    a user may
    U#{userId}              U#{userId}           the profile             read and write
                            C#{ULID}             carts, that expire      read and write
    U#{userId}#O            O#{ULID}             orders                  read
                            O#{ULID}#{001}       items of an order       read
                            B#{ULID}             bills                   read
    U#{userId}#P            P#{ULID}             payments                read
    U#{userId}#R            R#{ULID}             rewards                 read
    A#{ULID}                A#{ULID}             accounts                -
    I#{ULID}                I#{ULID}             inventory               -

System keys are a letter and a ULID, so they sort by time. ReverseIndex finds any item by its
system key; IdLookupIndex finds those that have a business id by it and by their type.

Chosen where the document leaves it open: what each entity holds; carts in the profile shard, as a
user writes them; bills beside the orders that they are for; `#P`, which the document calls both
payments (the type) and products (the shard), holds payments; accounts and inventory items, which
belong to no user, in partitions of their own. The id of a user is text: the document has UUIDs and
`rabinovich`. ReverseIndex, which the document calls minimal, holds whole items, so that a lookup is
one request; its keys alone would make writes cheaper, and each lookup two requests.

A scoped database may look up by business id, and finds what is in its own shards. It may not look
up by system key: that index can be asked for anybody's, and the key is never shown to a user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Entity,
    First,
    Get,
    Put,
    Query,
    Table,
    Tenancy,
    Transaction,
    Update,
    access_pattern,
    attr,
    children,
    create,
    index,
    key,
    put,
    root,
    transact,
    ttl,
)
from tablewright.errors import AlreadyExists
from tablewright.ids import ULID
from tablewright.plans import LoadFound
from tablewright.verify.rows import Refused, Row, Stored, changed


class Market(Table, name="Market", pk="pk", sk="sk", type_attribute="tp"):
    reverse = GSI("sk", "pk", name="ReverseIndex")
    id_lookup = GSI("id", "tp", name="IdLookupIndex")
    tenancy = Tenancy(
        "user_id",
        write=("U#{user_id}",),
        read=("U#{user_id}#O", "U#{user_id}#P", "U#{user_id}#R"),
        filtered=(id_lookup,),
    )


class Account(Entity, table=Market, type_name="account"):
    """A group of users."""

    account_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    name: Attr[str] = attr()

    primary = key("A" / account_id, "A" / account_id.again)
    by_system_key = index(Market.reverse, "A" / account_id, "A" / account_id.again)
    by_id = index(Market.id_lookup, business_id)


class User(Entity, table=Market, type_name="user"):
    user_id: Attr[str] = attr(doc="as Cognito gives it: a UUID")
    business_id: Attr[str | None] = attr(name="id", default=None)
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    phones: Attr[list[str]] = attr(default_factory=list)
    addresses: Attr[list[str]] = attr(default_factory=list)
    account_id: Attr[ULID | None] = attr(default=None)

    primary = key("U" / user_id, "U" / user_id.again)
    by_system_key = index(Market.reverse, "U" / user_id, "U" / user_id.again)
    by_id = index(Market.id_lookup, business_id)


class Cart(Entity, table=Market, type_name="cart"):
    user_id: Attr[str] = attr()
    cart_id: Attr[ULID] = attr(default_factory=ULID.new)
    lines: Attr[dict[str, int]] = attr(default_factory=dict)
    expires: Attr[datetime] = ttl(name="ttl")

    primary = key("U" / user_id, "C" / cart_id)
    by_system_key = primary.swapped(Market.reverse)


class InventoryItem(Entity, table=Market, type_name="inventory"):
    item_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    name: Attr[str] = attr()
    price: Attr[Decimal] = attr()
    stock: Attr[int] = attr(default=0)

    primary = key("I" / item_id, "I" / item_id.again)
    by_system_key = index(Market.reverse, "I" / item_id, "I" / item_id.again)
    by_id = index(Market.id_lookup, business_id)


class Order(Entity, table=Market, type_name="order"):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    status: Attr[str] = attr(default="placed")
    total: Attr[Decimal] = attr(default=Decimal(0))

    primary = key("U" / user_id / "O", "O" / order_id)
    by_system_key = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)


class OrderItem(Entity, table=Market, type_name="order_item"):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr()
    number: Attr[int] = attr(pad=3)
    item_id: Attr[ULID] = attr()
    quantity: Attr[int] = attr(default=1)
    price: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "O" / order_id / number)
    by_system_key = primary.swapped(Market.reverse)


class Bill(Entity, table=Market, type_name="bill"):
    user_id: Attr[str] = attr()
    bill_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    order_id: Attr[ULID] = attr()
    amount: Attr[Decimal] = attr()

    primary = key("U" / user_id / "O", "B" / bill_id)
    by_system_key = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)


class Payment(Entity, table=Market, type_name="payment"):
    user_id: Attr[str] = attr()
    payment_id: Attr[ULID] = attr(default_factory=ULID.new)
    business_id: Attr[str | None] = attr(name="id", default=None)
    bill_id: Attr[ULID] = attr()
    amount: Attr[Decimal] = attr()

    primary = key("U" / user_id / "P", "P" / payment_id)
    by_system_key = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)


class Reward(Entity, table=Market, type_name="reward"):
    user_id: Attr[str] = attr()
    reward_id: Attr[ULID] = attr(default_factory=ULID.new)
    points: Attr[int] = attr()
    reason: Attr[str] = attr(default="")

    primary = key("U" / user_id / "R", "R" / reward_id)
    by_system_key = primary.swapped(Market.reverse)


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()


# -- the four access patterns --------------------------------------------------------------------


@access_pattern
def user_profile(user_id: str) -> Get[User]:
    """Get user profile"""
    return User.primary(user_id)


@access_pattern
def last_orders(user_id: str, count: int) -> Query[Order]:
    """Get the list of last N orders for user"""
    return Order.primary.within(user_id).desc().page_size(count)


@access_pattern
def bonuses(user_id: str) -> Query[Reward]:
    """Display bonuses for user"""
    return Reward.primary.within(user_id).desc()


@access_pattern
def order_with_items(business_id: str) -> LoadFound[OrderWithItems]:
    """Get a single order with all its items by id"""
    return OrderWithItems.of(Order.by_id(business_id).first())


# -- more of a user's shards ---------------------------------------------------------------------


@access_pattern
def cart(user_id: str, cart_id: ULID) -> Get[Cart]:
    """Get a cart of a user"""
    return Cart.primary(user_id, cart_id)


@access_pattern
def carts(user_id: str) -> Query[Cart]:
    """Get the carts of a user, the newest first"""
    return Cart.primary.within(user_id).desc()


@access_pattern
def bills(user_id: str) -> Query[Bill]:
    """Get the bills of a user, the newest first"""
    return Bill.primary.within(user_id).desc()


@access_pattern
def payments(user_id: str) -> Query[Payment]:
    """Get the payments of a user, the newest first"""
    return Payment.primary.within(user_id).desc()


# -- lookup by system key ------------------------------------------------------------------------


@access_pattern
def account_by_system_key(account_id: ULID) -> First[Account]:
    """Lookup an account by system key"""
    return Account.by_system_key(account_id).first()


@access_pattern
def bill_by_system_key(bill_id: ULID) -> First[Bill]:
    """Lookup a bill by system key"""
    return Bill.by_system_key(bill_id).first()


@access_pattern
def cart_by_system_key(cart_id: ULID) -> First[Cart]:
    """Lookup a cart by system key"""
    return Cart.by_system_key(cart_id).first()


@access_pattern
def inventory_item_by_system_key(item_id: ULID) -> First[InventoryItem]:
    """Lookup an inventory item by system key"""
    return InventoryItem.by_system_key(item_id).first()


@access_pattern
def order_by_system_key(order_id: ULID) -> First[Order]:
    """Lookup an order by system key"""
    return Order.by_system_key(order_id).first()


@access_pattern
def order_item_by_system_key(order_id: ULID, number: int) -> First[OrderItem]:
    """Lookup an order item by system key"""
    return OrderItem.by_system_key(order_id, number).first()


@access_pattern
def payment_by_system_key(payment_id: ULID) -> First[Payment]:
    """Lookup a payment by system key"""
    return Payment.by_system_key(payment_id).first()


@access_pattern
def reward_by_system_key(reward_id: ULID) -> First[Reward]:
    """Lookup a reward by system key"""
    return Reward.by_system_key(reward_id).first()


@access_pattern
def user_by_system_key(user_id: str) -> First[User]:
    """Lookup a user by system key"""
    return User.by_system_key(user_id).first()


# -- lookup by business id -----------------------------------------------------------------------


@access_pattern
def account_by_id(business_id: str) -> First[Account]:
    """Lookup an account by business id"""
    return Account.by_id(business_id).first()


@access_pattern
def bill_by_id(business_id: str) -> First[Bill]:
    """Lookup a bill by business id"""
    return Bill.by_id(business_id).first()


@access_pattern
def inventory_item_by_id(business_id: str) -> First[InventoryItem]:
    """Lookup an inventory item by business id"""
    return InventoryItem.by_id(business_id).first()


@access_pattern
def order_by_id(business_id: str) -> First[Order]:
    """Lookup an order by business id"""
    return Order.by_id(business_id).first()


@access_pattern
def payment_by_id(business_id: str) -> First[Payment]:
    """Lookup a payment by business id"""
    return Payment.by_id(business_id).first()


@access_pattern
def user_by_id(business_id: str) -> First[User]:
    """Lookup a user by business id"""
    return User.by_id(business_id).first()


# -- what a user writes --------------------------------------------------------------------------


@access_pattern
def update_profile(user_id: str, phones: list[str], addresses: list[str]) -> Update[User]:
    """Update user profile"""
    return User.primary(user_id).update(User.phones.set(phones), User.addresses.set(addresses))


@access_pattern
def put_cart(cart: Cart) -> Put[Cart]:
    """Put a cart, which expires"""
    return put(cart)


@access_pattern
def put_into_cart(user_id: str, cart_id: ULID, item_id: ULID, quantity: int) -> Update[Cart]:
    """Put an inventory item into a cart"""
    return Cart.primary(user_id, cart_id).update(
        Cart.lines.path(lambda lines: lines[item_id]).set(quantity)
    )


# -- what another process writes -----------------------------------------------------------------


@access_pattern
def place_order(order: Order, items: Sequence[OrderItem]) -> Transaction:
    """Place an order with all its items"""
    return transact(create(order), *(create(item) for item in items))


@access_pattern
def grant_reward(reward: Reward) -> Create[Reward]:
    """Grant a reward"""
    return create(reward)


@access_pattern
def set_order_id(user_id: str, order_id: ULID, business_id: str | None) -> Update[Order]:
    """Give an order its business id, or take it away: with it, the order can be looked up"""
    return Order.primary(user_id, order_id).update(Order.business_id.set(business_id))


# -- sample data, and what each row of the document must give ------------------------------------

ANNA = "550e8400-e29b-41d4-a716-446655440000"
RABINOVICH = "rabinovich"
RABIN = "rabin"  # the beginning of another's id

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
EXPIRY = datetime(2036, 1, 1, tzinfo=UTC)


def sample() -> list[Entity]:
    """An account, three users, and what they have; three things to buy."""
    return [
        Account(account_id=ACCOUNT, business_id="tea-circle", name="Tea Circle"),
        *_users(),
        *_inventory(),
        *_orders(),
        *_money(),
        Cart(user_id=RABINOVICH, cart_id=CART, lines={TEAPOT: 1}, expires=EXPIRY),
        Cart(
            user_id=ANNA,
            cart_id=ULID("01JZ10H7X367VB2NF4YQ973DM1"),
            lines={GLASS: 6, SAMOVAR: 1},
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
        InventoryItem(item_id=GLASS, name="Tea glass", price=Decimal("4.50"), stock=96),
    ]


def _orders() -> list[Entity]:
    """Rabinovich's are those of the document; Rabin's has no business id."""
    orders = (
        (RABINOVICH, FIRST_ORDER, "2025-0001", (TEAPOT, SAMOVAR, GLASS)),
        (ANNA, ANNAS_ORDER, "2025-0002", (GLASS,)),
        (RABINOVICH, LAST_ORDER, "2025-0003", (GLASS,)),
        (RABIN, ULID("01JZ10H7X367VB2NF4YQ973DYY"), None, (TEAPOT, GLASS)),
    )
    found: list[Entity] = []
    for user_id, order_id, business_id, bought in orders:
        total = sum((_price(item_id) for item_id in bought), Decimal(0))
        found.append(
            Order(user_id=user_id, order_id=order_id, business_id=business_id, total=total)
        )
        found += [
            OrderItem(
                user_id=user_id,
                order_id=order_id,
                number=number,
                item_id=item_id,
                price=_price(item_id),
            )
            for number, item_id in enumerate(bought, start=1)
        ]
    return found


def _price(item_id: ULID) -> Decimal:
    return {TEAPOT: Decimal("24.00"), SAMOVAR: Decimal("180.00"), GLASS: Decimal("4.50")}[item_id]


def _money() -> list[Entity]:
    """Bills, payments and rewards."""
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


def rows(stored: Stored) -> Iterator[Row]:
    """The document's four patterns, the lookups of its two indexes, and writes."""
    yield from _patterns(stored)
    yield from _shards(stored)
    yield from _by_system_key(stored)
    yield from _by_business_id(stored)
    yield from _writes(stored)


def _patterns(stored: Stored) -> Iterator[Row]:
    orders = [order for order in stored(Order) if order.user_id == RABINOVICH]
    yield Row(
        "Get user profile",
        user_profile(ANNA),
        next(user for user in stored(User) if user.user_id == ANNA),
    )
    yield Row(
        "Get the list of last N orders for user",
        last_orders(RABINOVICH, 1),
        sorted(orders, key=lambda order: order.order_id, reverse=True)[:1],
    )
    yield Row(
        "Display bonuses for user",
        bonuses(RABINOVICH),
        [reward for reward in reversed(stored(Reward)) if reward.user_id == RABINOVICH],
    )
    first = next(order for order in orders if order.business_id == "2025-0001")
    yield Row(
        "Get a single order with all its items by id",
        order_with_items("2025-0001"),
        OrderWithItems(
            order=first,
            items=[item for item in stored(OrderItem) if item.order_id == first.order_id],
        ),
    )


def _shards(stored: Stored) -> Iterator[Row]:
    own = [found for found in stored(Cart) if found.user_id == RABINOVICH]
    yield Row("Get a cart of a user", cart(RABINOVICH, CART), own[0])
    yield Row("Get the carts of a user", carts(RABINOVICH), own)
    yield Row(
        "Get the bills of a user",
        bills(RABINOVICH),
        [bill for bill in stored(Bill) if bill.user_id == RABINOVICH],
    )
    yield Row(
        "Get the payments of a user",
        payments(RABINOVICH),
        [payment for payment in stored(Payment) if payment.user_id == RABINOVICH],
    )


def _by_system_key(stored: Stored) -> Iterator[Row]:
    first_item = next(
        item for item in stored(OrderItem) if item.order_id == FIRST_ORDER and item.number == 1
    )
    yield Row("Lookup by system key: account", account_by_system_key(ACCOUNT), stored(Account)[0])
    yield Row(
        "Lookup by system key: bill",
        bill_by_system_key(BILL),
        next(bill for bill in stored(Bill) if bill.bill_id == BILL),
    )
    yield Row(
        "Lookup by system key: cart",
        cart_by_system_key(CART),
        next(found for found in stored(Cart) if found.cart_id == CART),
    )
    yield Row(
        "Lookup by system key: inventory item",
        inventory_item_by_system_key(TEAPOT),
        next(item for item in stored(InventoryItem) if item.item_id == TEAPOT),
    )
    yield Row(
        "Lookup by system key: order",
        order_by_system_key(ANNAS_ORDER),
        next(order for order in stored(Order) if order.order_id == ANNAS_ORDER),
    )
    yield Row(
        "Lookup by system key: order item", order_item_by_system_key(FIRST_ORDER, 1), first_item
    )
    yield Row(
        "Lookup by system key: payment",
        payment_by_system_key(PAYMENT),
        next(payment for payment in stored(Payment) if payment.payment_id == PAYMENT),
    )
    yield Row(
        "Lookup by system key: reward",
        reward_by_system_key(REWARD),
        next(reward for reward in stored(Reward) if reward.reward_id == REWARD),
    )
    yield Row(
        "Lookup by system key: user",
        user_by_system_key(RABIN),
        next(user for user in stored(User) if user.user_id == RABIN),
    )


def _by_business_id(stored: Stored) -> Iterator[Row]:
    yield Row(
        "Lookup by business id: account",
        account_by_id("tea-circle"),
        next(account for account in stored(Account) if account.business_id == "tea-circle"),
    )
    yield Row(
        "Lookup by business id: bill",
        bill_by_id("B-0001"),
        next(bill for bill in stored(Bill) if bill.business_id == "B-0001"),
    )
    yield Row(
        "Lookup by business id: inventory item",
        inventory_item_by_id("TEA-02"),
        next(item for item in stored(InventoryItem) if item.business_id == "TEA-02"),
    )
    yield Row(
        "Lookup by business id: order",
        order_by_id("2025-0002"),
        next(order for order in stored(Order) if order.business_id == "2025-0002"),
    )
    yield Row(
        "Lookup by business id: payment",
        payment_by_id("P-0001"),
        next(payment for payment in stored(Payment) if payment.business_id == "P-0001"),
    )
    yield Row(
        "Lookup by business id: user",
        user_by_id("rabinovich"),
        next(user for user in stored(User) if user.business_id == "rabinovich"),
    )
    yield Row("Lookup by business id: of another type", order_by_id("B-0001"), None)


def _writes(stored: Stored) -> Iterator[Row]:
    leah = next(user for user in stored(User) if user.user_id == RABIN)
    yield Row(
        "Update user profile",
        update_profile(RABIN, ["+972 3 555 0001"], ["1 Dizengoff Street, Tel Aviv"]),
        changed(leah, phones=["+972 3 555 0001"], addresses=["1 Dizengoff Street, Tel Aviv"]),
    )
    new_cart = Cart(
        user_id=RABIN,
        cart_id=ULID("01JZ10H7X367VB2NF4YQ973DM2"),
        lines={GLASS: 2},
        expires=EXPIRY,
    )
    yield Row("Put a cart, which expires", put_cart(new_cart), new_cart)
    yield Row(
        "Put an inventory item into a cart",
        put_into_cart(RABIN, new_cart.cart_id, TEAPOT, 1),
        changed(new_cart, lines={GLASS: 2, TEAPOT: 1}),
    )
    order = Order(
        user_id=RABIN, order_id=ULID("01JZ10H7X367VB2NF4YQ973DZZ"), total=Decimal("33.00")
    )
    lines = [
        OrderItem(
            user_id=RABIN,
            order_id=order.order_id,
            number=number,
            item_id=item_id,
            quantity=quantity,
            price=_price(item_id),
        )
        for number, (item_id, quantity) in enumerate([(TEAPOT, 1), (GLASS, 2)], start=1)
    ]
    yield Row("Place an order with all its items", place_order(order, lines), None)
    yield Row("Place it again", place_order(order, lines), Refused(AlreadyExists))
    yield Row("Lookup by business id: before it has one", order_with_items("2025-0004"), None)
    yield Row(
        "Give an order its business id",
        set_order_id(RABIN, order.order_id, "2025-0004"),
        changed(order, business_id="2025-0004"),
    )
    yield Row(
        "Lookup by business id: once it has one",
        order_with_items("2025-0004"),
        OrderWithItems(order=changed(order, business_id="2025-0004"), items=lines),
    )
    yield Row(
        "Take the business id of an order away", set_order_id(RABIN, order.order_id, None), order
    )
    yield Row("Lookup by business id: once it is gone", order_with_items("2025-0004"), None)
    reward = Reward(
        user_id=RABIN, reward_id=ULID("01JZ10H7X367VB2NF4YQ973DZ2"), points=33, reason="order"
    )
    yield Row("Grant a reward", grant_reward(reward), reward)
