"""A table with tenants, its entities, and the items of several tenants."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    GetByUnique,
    Query,
    Table,
    Tenancy,
    access_pattern,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    create,
    delete,
    index,
    key,
    put,
    root,
    transact,
    transact_get,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.ids import ULID
from tablewright.plans import Plan
from tablewright.transport.targets import Local
from tests.transports import RecordingLocal


class Market(Table, name="market", pk="pk", sk="sk", type_attribute="tp"):
    reverse = GSI("sk", "pk", name="ReverseIndex")
    id_lookup = GSI("id", "tp", name="IdLookupIndex")
    by_status = GSI("GSI1PK", "GSI1SK", name="StatusIndex")
    by_total = GSI("GSI2PK", "GSI2SK", name="TotalIndex")
    by_day = GSI("GSI3PK", "GSI3SK", name="DayIndex", project=("order_id",))
    by_seller = GSI("GSI4PK", "GSI4SK", name="SellerIndex")
    own_notes = GSI("pk", "note", name="NoteIndex")

    tenancy = Tenancy(
        "user_id",
        write=("U#{user_id}",),
        read=("U#{user_id}#O", "U#{user_id}#P", "U#{user_id}#R"),
        filtered=(by_total, by_day),
    )


class Profile(Entity, table=Market):
    user_id: Attr[str] = attr()
    business_id: Attr[str | None] = attr(default=None, name="id")
    nick: Attr[str | None] = attr(default=None)
    primary = key("U" / user_id, "U" / user_id.again)
    reverse = index(Market.reverse, "U" / user_id, "U" / user_id.again)
    by_id = index(Market.id_lookup, business_id)


class Address(Entity, table=Market):
    user_id: Attr[str] = attr()
    address_id: Attr[int] = attr(pad=4)
    street: Attr[str] = attr(default="Main Street")
    note: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()
    primary = key("U" / user_id, "A" / address_id)
    reverse = primary.swapped(Market.reverse)
    noted = index(Market.own_notes, "U" / user_id, note)


class Phone(Entity, table=Market):
    """Unique within a user: its sentinel is in the user's own shard."""

    user_id: Attr[str] = attr()
    phone_id: Attr[int] = attr(pad=4)
    number: Attr[str] = attr()
    primary = key("U" / user_id, "T" / phone_id)
    by_number = unique("U" / user_id, "NUMBER" / number)


class Login(Entity, table=Market):
    """Unique among all users: its sentinel is in nobody's shard."""

    user_id: Attr[str] = attr()
    email: Attr[str] = attr()
    seen: Attr[int] = attr(default=0)
    primary = key("U" / user_id, "LOGIN")
    by_email = unique("EMAIL" / email)


class Order(Entity, table=Market):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr()
    business_id: Attr[str | None] = attr(default=None, name="id")
    status: Attr[str] = attr(default="OPEN")
    total: Attr[int] = attr(default=0, pad=6)
    seller: Attr[str | None] = attr(default=None)
    memo: Attr[str] = attr(default="")
    primary = key("U" / user_id / "O", "O" / order_id)
    reverse = primary.swapped(Market.reverse)
    by_id = index(Market.id_lookup, business_id)
    by_status = index(Market.by_status, "STATUS" / status, "O" / order_id)
    by_total = index(Market.by_total, "TOTALS", total / order_id)
    by_day = index(Market.by_day, "DAY" / status, order_id)
    sold = index(Market.by_seller, "U" / seller, "O" / order_id)


class OrderItem(Entity, table=Market):
    user_id: Attr[str] = attr()
    order_id: Attr[ULID] = attr()
    number: Attr[int] = attr(pad=3)
    title: Attr[str] = attr(default="Book")
    primary = key("U" / user_id / "O", "O" / order_id / number)


class Product(Entity, table=Market):
    user_id: Attr[str] = attr()
    item_id: Attr[int] = attr(pad=4)
    primary = key("U" / user_id / "P", "I" / item_id)


class Reward(Entity, table=Market):
    user_id: Attr[str] = attr()
    reward_id: Attr[int] = attr(pad=4)
    primary = key("U" / user_id / "R", "R" / reward_id)


class Note(Entity, table=Market):
    user_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("U" / user_id, "N" / number)


class Inventory(Entity, table=Market):
    """Nobody's: outside of all shards."""

    item_id: Attr[int] = attr(pad=4)
    primary = key("INVENTORY", "I" / item_id)


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()


class Bazaar(Table, name="bazaar", pk="pk", sk="sk", type_attribute="tp"):
    reverse = GSI("sk", "pk", name="ReverseIndex")
    tenancy = Tenancy("user_id", write=("U#{user_id}",))


class Stall(Entity, table=Bazaar):
    user_id: Attr[str] = attr()
    street: Attr[str] = attr()
    primary = key("U" / user_id, "STREET" / street)
    reverse = primary.swapped(Bazaar.reverse)


@access_pattern
def last_orders(user_id: str) -> Query[Order]:
    """The last orders of a user."""
    return Order.primary.within(user_id).desc()


def find_phone(user_id: str, number: str) -> GetByUnique[Phone]:
    return Phone.by_number(user_id, number)


OTHERS = ("b", "ab", "a#O", "a$", "aa", "A")


USERS = ("a", *OTHERS)


def order_id(user: str, number: int) -> ULID:
    """The orders of all users take turns in time, so that no user's are together in an index."""
    return ULID(f"01JZ10H7X367VB2NF4YQ97{number:02d}{USERS.index(user):02d}")


def order(user: str, number: int, **more: Any) -> Order:
    return Order(user_id=user, order_id=order_id(user, number), **more)


def everything_of(user: str) -> list[Any]:
    return [
        Profile(user_id=user, business_id=f"profile-{user}"),
        Login(user_id=user, email=f"{user}@example.com"),
        Phone(user_id=user, phone_id=1, number="555"),
        *(Address(user_id=user, address_id=n, note=f"note {n}") for n in range(3)),
        *(order(user, n, business_id=f"order-{user}-{n}", total=n) for n in range(3)),
        *(OrderItem(user_id=user, order_id=order_id(user, 1), number=n) for n in range(2)),
        Product(user_id=user, item_id=1),
        Reward(user_id=user, reward_id=1),
    ]


def local_of(db: Any) -> Local:
    transport = db._transport.inner if isinstance(db._transport, RecordingLocal) else db._transport
    assert isinstance(transport, Local)
    return transport


def stored(db: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Everything in the table, by its key."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    scan: dict[str, Any] = {"TableName": "market"}
    while True:
        answer = local_of(db).engine.call("Scan", scan)
        found |= {(item["pk"]["S"], item["sk"]["S"]): item for item in answer["Items"]}
        if "LastEvaluatedKey" not in answer:
            return found
        scan["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


A1 = order_id("a", 1)


#: Reads within the shards of the user a, and how many results each has.
READS: dict[str, tuple[Callable[[], Plan[Any]], int]] = {
    "get from the writable shard": (lambda: Profile.primary("a"), 1),
    "get from a read-only shard": (lambda: Order.primary("a", A1), 1),
    "consistent get": (lambda: Product.primary("a", 1).consistent(), 1),
    "get of nothing": (lambda: Address.primary("a", 99), 0),
    "batch get from several shards": (
        lambda: batch_get([Order.primary("a", A1), Order.primary("a", order_id("a", 2))]),
        2,
    ),
    "transact get from several shards": (
        lambda: transact_get(Order.primary("a", A1), Profile.primary("a")),
        2,
    ),
    "query of the writable shard": (lambda: Address.primary.within("a"), 3),
    "query of a read-only shard": (lambda: last_orders("a"), 3),
    "query with a limit": (lambda: last_orders("a").page_size(2), 2),
    "query with a filter": (lambda: last_orders("a").filter(Order.total > 0), 2),
    "range": (lambda: Address.primary.within("a").gte(1), 2),
    "rewards": (lambda: Reward.primary.within("a"), 1),
    "first": (lambda: last_orders("a").first(), 1),
    "where": (lambda: Address.where(Address.user_id == "a", Address.address_id == 1), 1),
    "select": (lambda: last_orders("a").select(Order.order_id, Order.total), 3),
    "aggregate": (lambda: OrderWithItems.of(Order.primary("a", A1)), 1),
    "reverse index by the whole key": (lambda: Order.reverse(A1).eq("a"), 1),
    "reverse index of a profile": (lambda: Profile.reverse("a"), 1),
    "index with the table's own partition key": (lambda: Address.noted("a"), 3),
    "range on it": (lambda: Address.noted("a").gte("note 1"), 2),
    "unique value within the shard": (lambda: find_phone("a", "555"), 1),
}


def size(result: Any) -> int:
    if result is None:
        return 0
    if isinstance(result, (Entity, Aggregate)):
        return 1
    return len(result)


def address(number: int = 1, user: str = "a", **more: Any) -> Address:
    return Address(user_id=user, address_id=number, **more)


def outside(user: str) -> dict[str, Callable[[], Plan[Any]]]:
    """Plans about the data of another user."""
    theirs = order_id(user, 1)
    return {
        "get": lambda: Profile.primary(user),
        "get from a read-only shard": lambda: Order.primary(user, theirs),
        "batch get": lambda: batch_get([Profile.primary(user)]),
        "batch get with an own key first": lambda: batch_get(
            [Profile.primary("a"), Profile.primary(user)]
        ),
        "transact get": lambda: transact_get(Profile.primary(user)),
        "transact get with an own key first": lambda: transact_get(
            Profile.primary("a"), Profile.primary(user)
        ),
        "query": lambda: Address.primary.within(user),
        "query of a read-only shard": lambda: last_orders(user),
        "query with a limit": lambda: last_orders(user).page_size(1),
        "range": lambda: Address.primary.within(user).gte(1),
        "where": lambda: Address.where(Address.user_id == user),
        "first": lambda: last_orders(user).first(),
        "count": lambda: last_orders(user).count(),
        "select": lambda: last_orders(user).select(Order.order_id),
        "aggregate": lambda: OrderWithItems.of(Order.primary(user, theirs)),
        "reverse index by the whole key": lambda: Order.reverse(theirs).eq(user),
        "reverse index by the system key": lambda: Order.reverse(theirs),
        "reverse index by an own system key, and another's": lambda: Order.reverse(A1).eq(user),
        "reverse index of a profile": lambda: Profile.reverse(user),
        "reverse index, count": lambda: Order.reverse(theirs).count(),
        "reverse index, select": lambda: Order.reverse(theirs).select(Order.user_id),
        "id lookup": lambda: Order.by_id(f"order-{user}-1"),
        "id lookup of a profile": lambda: Profile.by_id(f"profile-{user}"),
        "id lookup, first": lambda: Order.by_id(f"order-{user}-1").first(),
        "global index": lambda: Order.by_status("OPEN"),
        "global index, range": lambda: Order.by_status("OPEN").gte(theirs),
        "global index, count": lambda: Order.by_status("OPEN").count(),
        "index with the table's own partition key": lambda: Address.noted(user),
        "unique value": lambda: Login.by_email(f"{user}@example.com"),
        "unique value within the other's shard": lambda: find_phone(user, "555"),
        "scan": lambda: Profile.scan(reason="test"),
        "scan, count": lambda: Profile.scan(reason="test").count(),
        "put": lambda: put(Profile(user_id=user)),
        "create": lambda: create(address(9, user)),
        "update": lambda: Address.primary(user, 1).update(Address.street.set("x")),
        "update that reads first": lambda: Phone.primary(user, 1).update(Phone.number.set("1")),
        "update of an entity at hand": lambda: update(Profile(user_id=user), Profile.nick.set("x")),
        "delete": lambda: Address.primary(user, 1).delete(),
        "delete of an entity at hand": lambda: delete(Profile(user_id=user)),
        "move": lambda: Address.primary(user, 1).update(Address.address_id.set(9)),
        "batch": lambda: batch_write([put(Profile(user_id=user))]),
        "batch of deletes": lambda: batch_write([delete(Profile(user_id=user))]),
        "batch with an own write first": lambda: batch_write(
            [put(Profile(user_id="a")), put(Profile(user_id=user))]
        ),
        "transaction": lambda: transact(create(address(8, user)), create(address(9, user))),
        "transaction with an own write first": lambda: transact(
            create(address(9)), create(address(9, user))
        ),
        "transaction with an own write and another's delete": lambda: transact(
            create(address(9)), delete(Profile(user_id=user))
        ),
        "transaction that requires another's row": lambda: transact(
            create(address(9)), condition_check(Profile.primary(user))
        ),
        "condition_check alone": lambda: condition_check(Profile.primary(user)),
    }


def cursor_of(page: Any) -> str:
    assert isinstance(page.next_cursor, str)
    return page.next_cursor


def s(text: str) -> dict[str, str]:
    return {"S": text}


class Stamped(Entity, table=Bazaar):
    user_id: Attr[str] = attr()
    changed: Attr[datetime] = updated_at()
    primary = key("U" / user_id, "STAMPED")
