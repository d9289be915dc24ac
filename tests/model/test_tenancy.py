"""A scoped database reaches the shards of one tenant, and nothing else leaves it."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    connect,
    connect_async,
    create,
    delete,
    index,
    key,
    put,
    root,
    transact,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import (
    DeclarationError,
    InvalidCursor,
    InvalidValue,
    TablewrightError,
    TenantViolation,
)
from tablewright.ids import ULID
from tablewright.observe import RequestEvent
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plans import Plan
from tablewright.transport import Local
from tests.transports import RecordingLocal, record_requests

T = TypeVar("T")


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


class Plain(Table, name="plain"):
    pass


class Thing(Entity, table=Plain):
    name: Attr[str] = attr()
    primary = key("THING" / name, "THING")


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


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(":memory:", Market, Plain, cursor_secret="secret") as db:
        for user in USERS:
            for entity in everything_of(user):
                db.run(create(entity))
        for number in range(3):
            db.run(create(Inventory(item_id=number)))
        yield db
        assert local_of(db).engine.check()


@pytest.fixture
def own(db: Database) -> Database:
    """The database of the user a."""
    return db.for_tenant(user_id="a")


# -- inside --------------------------------------------------------------------------------------


def of(user: str, kind: type[T]) -> list[T]:
    return [entity for entity in everything_of(user) if isinstance(entity, kind)]


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


@pytest.mark.parametrize("name", READS)
def test_a_read_within_the_shards_gives_what_it_gives_without_a_scope(
    db: Database, own: Database, name: str
) -> None:
    make, count = READS[name]
    found = own.run(make())
    assert size(found) == count
    expected = db.run(make())
    assert (list(found) if isinstance(make(), Query) else found) == (
        list(expected) if isinstance(make(), Query) else expected
    )


def test_a_count_within_the_shards(own: Database) -> None:
    assert own.run(last_orders("a").count()) == 3
    assert own.run(Address.noted("a").count()) == 3


def test_each_page_within_the_shards(own: Database) -> None:
    assert [o.total for o in own.iterate(last_orders("a").page_size(2))] == [2, 1, 0]


def address(number: int = 1, user: str = "a", **more: Any) -> Address:
    return Address(user_id=user, address_id=number, **more)


#: Writes within the writable shard of the user a.
WRITES: dict[str, Callable[[], Plan[Any]]] = {
    "put": lambda: put(Profile(user_id="a", nick="new")),
    "create": lambda: create(address(9)),
    "update": lambda: Address.primary("a", 1).update(Address.street.set("Side Street")),
    "update that moves an index key": lambda: Address.primary("a", 1).update(Address.note.set("x")),
    "move": lambda: Address.primary("a", 1).update(Address.address_id.set(9)),
    "delete": lambda: Address.primary("a", 1).delete(),
    "batch": lambda: batch_write([put(Note(user_id="a", number=1))]),
    "transaction": lambda: transact(create(address(8)), create(address(9))),
    "transaction that requires an own row": lambda: transact(
        create(address(9)), condition_check(Profile.primary("a"))
    ),
    "transaction that requires a row of a read-only shard": lambda: transact(
        create(address(9)), condition_check(Order.primary("a", A1))
    ),
    "condition_check alone": lambda: condition_check(Order.primary("a", A1)),
    "create with a sentinel in the shard": lambda: create(
        Phone(user_id="a", phone_id=2, number="556")
    ),
    "update of a unique value in the shard": lambda: Phone.primary("a", 1).update(
        Phone.number.set("557")
    ),
    "delete with a sentinel in the shard": lambda: Phone.primary("a", 1).delete(),
    "update beside a unique value of all": lambda: Login.primary("a").update(
        Login.seen.increment(1)
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_within_the_writable_shard_is_done(db: Database, own: Database, name: str) -> None:
    before = stored(db)
    own.run(WRITES[name]())
    after = stored(db)
    changed = {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}
    assert {partition for partition, _ in changed} == (
        {"U#a"} if "condition_check alone" not in name else set()
    )


def test_a_transaction_block_within_the_shard_is_done(own: Database) -> None:
    with own.transaction() as tx:
        tx.add(create(address(8)), create(address(9)))
    assert own.run(Address.primary.within("a").count()) == 5


# -- outside -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", outside("b"))
def test_what_is_anothers_is_refused_before_any_request_leaves(db: Database, name: str) -> None:
    before = stored(db)
    recording = record_requests(db)
    for user in OTHERS:
        with pytest.raises(TenantViolation):
            db.for_tenant(user_id="a").run(outside(user)[name]())
        assert recording.requests == [], user
    assert stored(db) == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: Inventory.primary(1),
        lambda: Inventory.primary.within(),
        lambda: put(Inventory(item_id=1)),
        lambda: transact(create(address(9)), put(Inventory(item_id=1))),
        lambda: transact(create(address(9)), condition_check(Inventory.primary(1))),
    ],
)
def test_what_is_nobodys_is_refused(db: Database, make: Callable[[], Plan[Any]]) -> None:
    recording = record_requests(db)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(make())
    assert recording.requests == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: create(Login(user_id="a", email="new@example.com")),
        lambda: Login.primary("a").update(Login.email.set("new@example.com")),
        lambda: Login.primary("a").delete(),
        lambda: Login.by_email("a@example.com"),
    ],
    ids=["create", "update", "delete", "lookup"],
)
def test_a_sentinel_outside_of_the_shards_is_neither_read_nor_written(
    db: Database, make: Callable[[], Plan[Any]]
) -> None:
    before = stored(db)
    recording = record_requests(db)
    with pytest.raises(TenantViolation, match="EMAIL#"):
        db.for_tenant(user_id="a").run(make())
    assert set(recording.operations) <= {"GetItem"}
    assert all(request["Key"]["pk"] == {"S": "U#a"} for _, request in recording.requests)
    assert stored(db) == before


@pytest.mark.parametrize("user", OTHERS)
def test_a_row_cannot_be_moved_into_anothers_shard(db: Database, user: str) -> None:
    before = stored(db)
    recording = record_requests(db)
    with pytest.raises(TenantViolation, match="may write U#a; "):
        db.for_tenant(user_id="a").run(Address.primary("a", 1).update(Address.user_id.set(user)))
    assert set(recording.operations) <= {"GetItem", "Query"}
    assert stored(db) == before


def test_a_root_cannot_be_moved_with_its_rows_into_anothers_shard(db: Database) -> None:
    before = stored(db)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(Profile.primary("a").update(Profile.user_id.set("new")))
    assert stored(db) == before


def test_a_long_batch_with_one_row_of_anothers_writes_nothing(db: Database) -> None:
    before = stored(db)
    recording = record_requests(db)
    notes = [put(Note(user_id="a", number=n)) for n in range(30)]
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(batch_write([*notes, put(Note(user_id="b", number=1))]))
    assert recording.requests == []
    assert stored(db) == before


def test_a_long_batch_get_with_one_key_of_anothers_reads_nothing(db: Database) -> None:
    recording = record_requests(db)
    fetches = [Address.primary("a", n) for n in range(120)] + [Address.primary("b", 1)]
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(batch_get(fetches))
    assert recording.requests == []


def test_the_refusal_names_the_tenant_its_shards_and_the_partition(own: Database) -> None:
    with pytest.raises(TenantViolation) as read:
        own.run(Profile.primary("b"))
    assert str(read.value) == (
        "this database is scoped to user_id=a and may read U#a, U#a#O, U#a#P, U#a#R; "
        "pk='U#b' is outside"
    )
    with pytest.raises(TenantViolation) as write:
        own.run(put(order("a", 9)))
    assert str(write.value) == (
        "this database is scoped to user_id=a and may write U#a; pk='U#a#O' is outside"
    )
    with pytest.raises(
        TenantViolation, match=r"StatusIndex .* name the index in Tenancy\(filtered=…\)"
    ):
        own.run(Order.by_status("OPEN"))


def test_a_tenant_that_may_write_nothing_is_told_so() -> None:
    class Archive(Table, name="archive"):
        tenancy = Tenancy("owner", read=("OWNER#{owner}",))

    class Letter(Entity, table=Archive):
        owner: Attr[str] = attr()
        primary = key("OWNER" / owner, "LETTER")

    with (
        connect(":memory:", Archive) as db,
        pytest.raises(TenantViolation, match=r"may write nothing; PK='OWNER#ann' is outside"),
    ):
        db.for_tenant(owner="ann").run(put(Letter(owner="ann")))


# -- shards that may only be read ----------------------------------------------------------------

READ_ONLY: dict[str, Callable[[], Plan[Any]]] = {
    "put": lambda: put(order("a", 1)),
    "create": lambda: create(order("a", 9)),
    "create of a product": lambda: create(Product(user_id="a", item_id=9)),
    "create of a reward": lambda: create(Reward(user_id="a", reward_id=9)),
    "update": lambda: Order.primary("a", A1).update(Order.total.set(5)),
    "update of an entity at hand": lambda: update(order("a", 1), Order.total.set(5)),
    "delete": lambda: Order.primary("a", A1).delete(),
    "batch": lambda: batch_write([put(Reward(user_id="a", reward_id=9))]),
    "batch of deletes": lambda: batch_write([delete(order("a", 1))]),
    "transaction": lambda: transact(create(address(9)), create(order("a", 9))),
    "transaction delete": lambda: transact(create(address(9)), delete(order("a", 1))),
    "transaction update": lambda: transact(
        create(address(9)), Order.primary("a", A1).update(Order.total.set(5))
    ),
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_a_read_only_shard_refuses_every_write(db: Database, name: str) -> None:
    before = stored(db)
    recording = record_requests(db)
    with pytest.raises(TenantViolation, match="may write U#a; "):
        db.for_tenant(user_id="a").run(READ_ONLY[name]())
    assert set(recording.operations) <= {"GetItem"}  # of what may be read
    assert stored(db) == before


def test_a_row_of_a_read_only_shard_cannot_be_moved(db: Database) -> None:
    before = stored(db)
    with pytest.raises(TenantViolation, match="may write U#a; "):
        db.for_tenant(user_id="a").run(
            Order.primary("a", A1).update(Order.order_id.set(order_id("a", 9)))
        )
    assert stored(db) == before


# -- tenants that are not what they seem ---------------------------------------------------------

TRICKS = ["a#O", "a#", "a$", "a$!O", "#", "$", "{user_id}", "a#R#x", "U#b", "*", "a\n", " a", "a "]


@pytest.mark.parametrize("tenant", TRICKS)
def test_a_tenant_reaches_no_other_shard_by_its_name(db: Database, tenant: str) -> None:
    scoped = db.for_tenant(user_id=tenant)
    for name in USERS:
        if name == tenant:
            continue
        for plan in (Profile.primary(name), last_orders(name), Order.reverse(A1).eq(name)):
            with pytest.raises(TenantViolation):
                scoped.run(plan)
    known = tenant in USERS
    assert size(scoped.run(last_orders(tenant))) == (3 if known else 0)


@pytest.mark.parametrize("tenant", TRICKS)
def test_a_tenant_with_a_strange_name_has_shards_of_its_own(db: Database, tenant: str) -> None:
    before = stored(db)
    scoped = db.for_tenant(user_id=tenant)
    scoped.run(put(Note(user_id=tenant, number=1)))
    assert scoped.run(Note.primary(tenant, 1)) == Note(user_id=tenant, number=1)
    new = stored(db).keys() - before.keys()
    assert len(new) == 1
    assert {partition for partition, _ in new}.isdisjoint(
        {f"U#{user}" for user in USERS if user != tenant and "#" not in user and "$" not in user}
    )


@pytest.mark.parametrize("tenant", ["", None])
def test_a_tenant_that_is_nobody_is_refused(db: Database, tenant: object) -> None:
    """A session without a user must not become the database of the user "None"."""
    with pytest.raises(InvalidValue, match="user_id"):
        db.for_tenant(user_id=tenant)


def test_a_tenant_may_be_any_value_whose_text_stands_in_the_keys(db: Database) -> None:
    tenant = UUID("550e8400-e29b-41d4-a716-446655440000")
    db.run(put(Note(user_id=str(tenant), number=1)))
    assert db.for_tenant(user_id=tenant).run(Note.primary(str(tenant), 1)) is not None
    db.run(put(Note(user_id="7", number=1)))
    assert db.for_tenant(user_id=7).run(Note.primary("7", 1)) is not None


# -- for_tenant() --------------------------------------------------------------------------------


def test_a_scoped_database_cannot_be_scoped_again(own: Database) -> None:
    with pytest.raises(InvalidValue, match="scoped to user_id=a already"):
        own.for_tenant(user_id="b")


@pytest.mark.parametrize(
    "given", [{"user": "a"}, {}, {"user_id": "a", "role": "x"}, {"USER_ID": "a"}]
)
def test_a_wrong_or_missing_tenant_is_refused_with_the_right_one(
    db: Database, given: dict[str, str]
) -> None:
    with pytest.raises(InvalidValue, match=r"use for_tenant\(user_id=…\)"):
        db.for_tenant(**given)


def test_a_table_without_tenants_cannot_be_scoped() -> None:
    with (
        connect(":memory:", Plain) as db,
        pytest.raises(InvalidValue, match="no table here declares a Tenancy"),
    ):
        db.for_tenant(user_id="a")


def test_another_table_is_out_of_reach(db: Database, own: Database) -> None:
    db.run(create(Thing(name="x")))
    for plan in (Thing.primary("x"), put(Thing(name="y")), batch_get([Thing.primary("x")])):
        with pytest.raises(TablewrightError, match=r"market.*plain"):
            own.run(plan)


def test_a_scoped_database_shows_its_tenant(own: Database) -> None:
    assert repr(own) == "Database(market, user_id=a)"


def test_closing_a_scoped_database_leaves_the_whole_one_open(db: Database) -> None:
    with db.for_tenant(user_id="a") as own:
        own.run(Profile.primary("a"))
    assert db.run(Profile.primary("a")) is not None


def test_scopes_do_not_disturb_one_another(db: Database) -> None:
    one, other = db.for_tenant(user_id="a"), db.for_tenant(user_id="b")
    assert one.run(Profile.primary("a")) != other.run(Profile.primary("b"))
    with pytest.raises(TenantViolation):
        one.run(Profile.primary("b"))
    with pytest.raises(TenantViolation):
        other.run(Profile.primary("a"))
    assert db.run(Profile.primary("b")) is not None


def test_an_asynchronous_database_is_scoped_in_the_same_way() -> None:
    async def main() -> None:
        async with await connect_async(":memory:", Market) as db:
            for user in ("a", "b"):
                for entity in everything_of(user):
                    await db.run(create(entity))
            recording = record_requests(db)
            own = db.for_tenant(user_id="a")
            for name, make in outside("b").items():
                with pytest.raises(TenantViolation):
                    await own.run(make())
                assert recording.requests == [], name
            for make, count in READS.values():
                assert size(await own.run(make())) == count
            assert [o.total async for o in own.iterate(last_orders("a").page_size(2))] == [2, 1, 0]
            async with own.transaction() as tx:
                tx.add(create(address(8)), create(address(9)))
            with pytest.raises(TenantViolation):
                await own.run(transact(create(address(10)), create(address(9, "b"))))
            assert await own.run(Address.primary.within("a").count()) == 5
            assert repr(own) == "AsyncDatabase(market, user_id=a)"

    asyncio.run(main())


def test_a_table_under_another_name_is_scoped_too() -> None:
    with connect(":memory:", Market, table_name="test") as db:
        own = db.for_tenant(user_id="a")
        own.run(create(address(1)))
        assert size(own.run(Address.primary.within("a"))) == 1
        with pytest.raises(TenantViolation):
            own.run(create(address(1, "b")))


# -- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ({}, "has no shards"),
        ({"write": ("U#",)}, "must hold {user_id} once"),
        ({"write": ("U#{user}",)}, "must hold {user_id} once"),
        ({"read": ("U#{user_id}#{user_id}",)}, "must hold {user_id} once"),
        ({"write": ("U#{user_id}",), "read": ("{other}#{user_id}",)}, "must hold {user_id} once"),
    ],
)
def test_shards_that_do_not_name_the_tenant_are_an_error_at_import(
    shards: dict[str, Any], message: str
) -> None:
    with pytest.raises(DeclarationError) as refused:
        Tenancy("user_id", **shards)
    assert message in str(refused.value)


def test_a_filtered_index_that_is_not_one_of_the_tables_is_an_error_at_import() -> None:
    def declare() -> None:
        class Wrong(Table, pk="pk", sk="sk"):
            lookup = GSI("id")
            tenancy = Tenancy("user_id", write=("U#{user_id}",), filtered=("lookup",))

    with pytest.raises(DeclarationError, match="lookup"):
        declare()


# -- cursors -------------------------------------------------------------------------------------


def cursor_of(page: Any) -> str:
    assert isinstance(page.next_cursor, str)
    return page.next_cursor


def test_a_cursor_goes_on_for_its_own_tenant(db: Database) -> None:
    page = db.for_tenant(user_id="a").run(last_orders("a").page_size(2))
    following = db.for_tenant(user_id="a").run(
        last_orders("a").page_size(2).after(page.next_cursor)
    )
    assert [o.total for o in following] == [0]


@pytest.mark.parametrize("user", OTHERS)
def test_a_cursor_of_one_tenant_is_refused_for_another(db: Database, user: str) -> None:
    page = db.for_tenant(user_id="a").run(last_orders("a").page_size(1))
    recording = record_requests(db)
    with pytest.raises(InvalidCursor):
        db.for_tenant(user_id=user).run(last_orders(user).page_size(1).after(page.next_cursor))
    assert recording.requests == []


def test_a_cursor_of_a_filtered_index_is_refused_for_another_tenant(db: Database) -> None:
    page = db.for_tenant(user_id="a").run(Order.by_total().page_size(1))
    with pytest.raises(InvalidCursor):
        db.for_tenant(user_id="b").run(Order.by_total().page_size(1).after(cursor_of(page)))


def test_a_cursor_of_the_whole_database_is_refused_for_a_tenant_and_the_other_way(
    db: Database, own: Database
) -> None:
    plan = last_orders("a").page_size(1)
    with pytest.raises(InvalidCursor):
        own.run(plan.after(cursor_of(db.run(plan))))
    with pytest.raises(InvalidCursor):
        db.run(plan.after(cursor_of(own.run(plan))))


def test_a_cursor_that_was_changed_is_refused_for_a_tenant(own: Database) -> None:
    plan = last_orders("a").page_size(1)
    cursor = cursor_of(own.run(plan))
    for position in range(0, len(cursor), 7):
        changed = "A" if cursor[position] != "A" else "B"
        with pytest.raises(InvalidCursor):
            own.run(plan.after(cursor[:position] + changed + cursor[position + 1 :]))


# -- filtered indexes ----------------------------------------------------------------------------


@pytest.fixture
def mingled() -> Iterator[Database]:
    """Five orders of the user a, each between sixty of others in every index."""
    with connect(":memory:", Market) as db:
        rows = []
        for number in range(5):
            rows.append(put(order("a", number, total=number)))
            rows += [
                put(
                    Order(
                        user_id=f"x{stranger}",
                        order_id=ULID(f"01JZ10H7X367VB2NF4YQ97{number:02d}{stranger:02d}"),
                        total=number,
                    )
                )
                for stranger in range(10, 70)
            ]
        db.run(batch_write(rows))
        yield db
        assert local_of(db).engine.check()


def numbers(orders: Any) -> list[int]:
    assert {found.user_id for found in orders} <= {"a"}
    return [found.total for found in orders]


def test_a_filtered_index_gives_own_rows_only(mingled: Database) -> None:
    assert numbers(mingled.for_tenant(user_id="a").run(Order.by_total())) == [0, 1, 2, 3, 4]
    assert len(mingled.run(Order.by_total())) == 305


def test_a_filtered_index_is_filtered_in_the_request_that_leaves(mingled: Database) -> None:
    recording = record_requests(mingled)
    mingled.for_tenant(user_id="a").run(Order.by_total().filter(Order.status == "OPEN"))
    ((operation, request),) = recording.requests
    assert operation == "Query"
    assert request["FilterExpression"] == "#1 = :1 AND #2 IN (:2, :3, :4, :5)"
    assert request["ExpressionAttributeNames"] == {"#0": "GSI2PK", "#1": "status", "#2": "pk"}
    assert [request["ExpressionAttributeValues"][f":{n}"] for n in (2, 3, 4, 5)] == [
        s("U#a"),
        s("U#a#O"),
        s("U#a#P"),
        s("U#a#R"),
    ]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_a_filtered_index_gives_full_pages(mingled: Database, limit: int) -> None:
    own = mingled.for_tenant(user_id="a")
    page = own.run(Order.by_total().page_size(limit))
    assert numbers(page) == [0, 1, 2, 3, 4][:limit]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_a_filtered_index_gives_every_own_row_once_page_by_page(
    mingled: Database, limit: int
) -> None:
    own = mingled.for_tenant(user_id="a")
    assert numbers(list(own.iterate(Order.by_total().page_size(limit)))) == [0, 1, 2, 3, 4]
    newest = own.iterate(Order.by_total().desc().page_size(limit))
    assert numbers(list(newest)) == [4, 3, 2, 1, 0]


def test_a_filtered_index_gives_the_first_own_row(mingled: Database) -> None:
    own = mingled.for_tenant(user_id="a")
    first = own.run(Order.by_total().desc().first())
    assert first is not None
    assert numbers([first]) == [4]


def test_a_filtered_index_counts_own_rows_only(mingled: Database) -> None:
    assert mingled.for_tenant(user_id="a").run(Order.by_total().count()) == 5
    assert mingled.for_tenant(user_id="nobody").run(Order.by_total().count()) == 0


def test_a_filtered_index_without_own_rows_gives_none(mingled: Database) -> None:
    nobody = mingled.for_tenant(user_id="nobody")
    assert list(nobody.run(Order.by_total())) == []
    assert list(nobody.run(Order.by_total().page_size(2))) == []


def test_a_filter_of_the_callers_and_the_tenants_hold_both(mingled: Database) -> None:
    own = mingled.for_tenant(user_id="a")
    either = (Order.status == "OPEN") | (Order.status == "PAID")
    assert numbers(own.run(Order.by_total().filter(either))) == [0, 1, 2, 3, 4]
    assert numbers(own.run(Order.by_total().gte(2).filter(either).page_size(2))) == [2, 3]
    assert numbers(own.run(Order.by_total().filter(Order.status == "PAID"))) == []


def test_a_filtered_index_that_holds_little_gives_own_rows_only(mingled: Database) -> None:
    own = mingled.for_tenant(user_id="a")
    rows = own.run(Order.by_day("OPEN").select(Order.order_id))
    assert [found for (found,) in rows] == [order_id("a", number) for number in range(5)]


def test_an_aggregate_from_a_filtered_index_is_the_tenants(mingled: Database) -> None:
    class Alone(Aggregate):
        order: Order = root()

    found = mingled.for_tenant(user_id="a").run(Alone.of(Order.by_total()))
    assert found is not None
    assert numbers([found.order]) == [0]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["entities", "select", "filter"])
def test_a_cursor_of_a_filtered_index_holds_nothing_of_others(
    mingled: Database, limit: int, kind: str
) -> None:
    plans: dict[str, Query[Any]] = {
        "entities": Order.by_total(),
        "select": Order.by_total().select(Order.total),
        "filter": Order.by_total().filter(Order.status == "OPEN"),
    }
    page = mingled.for_tenant(user_id="a").run(plans[kind].page_size(limit))
    cursor = cursor_of(page)
    text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))[16:].decode()
    assert '"U#a#O"' in text
    assert "U#x" not in text


def test_a_filtered_index_with_a_megabyte_of_others_gives_own_rows() -> None:
    """DynamoDB ends a page at 1 MB of what it reads, not of what it gives."""
    with connect(":memory:", Market) as db:
        for number in range(3):
            db.run(put(order("a", number, total=number)))
            for stranger in range(10, 14):
                theirs = ULID(f"01JZ10H7X367VB2NF4YQ97{number:02d}{stranger:02d}")
                db.run(
                    put(
                        Order(
                            user_id=f"x{stranger}",
                            order_id=theirs,
                            total=number,
                            memo="m" * 300_000,
                        )
                    )
                )
        own = db.for_tenant(user_id="a")
        assert own.run(Order.by_total().count()) == 3
        assert numbers(list(own.iterate(Order.by_total()))) == [0, 1, 2]


@pytest.mark.parametrize("keys", [("sk", "pk"), ("pk", "note")], ids=str)
def test_an_index_with_the_tables_partition_key_cannot_be_filtered(keys: tuple[str, str]) -> None:
    """DynamoDB filters by no key of the index."""

    def declare() -> None:
        class Wrong(Table, pk="pk", sk="sk"):
            turned = GSI(*keys)
            tenancy = Tenancy("user_id", write=("U#{user_id}",), filtered=(turned,))

    with pytest.raises(
        DeclarationError, match=r"Wrong: turned has the table's partition key.*\.eq\(…\)"
    ):
        declare()


def test_a_reverse_index_is_queried_with_the_partition() -> None:
    with connect(":memory:", Bazaar) as db:
        for user in ("a", "b", "ab", "a#b"):
            db.run(put(Stall(user_id=user, street="main")))
        own = db.for_tenant(user_id="a")
        mine = Stall(user_id="a", street="main")
        assert own.run(Stall.reverse("main").eq("a")) == [mine]
        assert own.run(Stall.reverse("main").eq("a").count()) == 1
        for plan in (
            Stall.reverse("main"),
            Stall.reverse("main").count(),
            Stall.reverse("main").page_size(1),
            Stall.reverse("main").eq("b"),
            Stall.reverse("main").gte("a"),
            Stall.reverse("main").begins_with("a"),
        ):
            with pytest.raises(TenantViolation):
                own.run(plan)


# -- an index whose key happens to be the name of a shard ----------------------------------------


def test_a_row_of_anothers_is_not_read_because_its_id_is_the_name_of_a_shard(
    db: Database, own: Database
) -> None:
    """Only the table's own partition key says whose a row is."""
    db.for_tenant(user_id="b").run(put(Profile(user_id="b", business_id="U#a", nick="secret")))
    assert list(own.run(Profile.by_id("U#a"))) == []


def test_a_row_of_anothers_is_not_read_because_an_index_files_it_under_the_tenant(
    db: Database, own: Database
) -> None:
    """The user a sold it; the order is in the shard of the user b."""
    db.run(put(order("b", 1, seller="a")))
    assert list(own.run(Order.sold("a"))) == []


def test_an_index_that_reads_like_a_shard_gives_own_rows_by_a_filter(db: Database) -> None:
    mine = order("a", 1, seller="a")
    db.run(put(order("b", 1, seller="a")))
    db.run(put(mine))
    recording = record_requests(db)
    assert list(db.for_tenant(user_id="a").run(Order.sold("a"))) == [mine]
    ((operation, request),) = recording.requests
    assert operation == "Query"
    assert request["FilterExpression"] == "#1 IN (:1, :2, :3, :4)"
    assert request["ExpressionAttributeNames"]["#1"] == "pk"


def test_an_index_that_reads_like_anothers_shard_is_refused(db: Database) -> None:
    recording = record_requests(db)
    with pytest.raises(TenantViolation, match="SellerIndex"):
        db.for_tenant(user_id="a").run(Order.sold("b"))
    assert recording.requests == []


# -- plans that ask for anything -----------------------------------------------------------------


class Anything(Plan[bytes]):
    """A plan of the caller's own: it yields what it likes."""

    def __init__(self, operation: str, body: dict[str, Any]) -> None:
        self.operation = operation
        self.body = body

    def _steps(self, context: Context) -> Steps[bytes]:
        return (yield Request(self.operation, self.body))


def s(text: str) -> dict[str, str]:
    return {"S": text}


THEIRS = {"pk": s("U#b"), "sk": s("U#b")}
OWN = {"pk": s("U#a"), "sk": s("U#a")}
WHERE = {"TableName": "market"}
QUERY: dict[str, Any] = {
    "TableName": "market",
    "KeyConditionExpression": "#p = :p",
    "ExpressionAttributeNames": {"#p": "pk"},
    "ExpressionAttributeValues": {":p": s("U#b")},
}
INDEX: dict[str, Any] = {
    **QUERY,
    "IndexName": "TotalIndex",
    "ExpressionAttributeNames": {"#p": "GSI2PK"},
    "ExpressionAttributeValues": {":p": s("TOTALS")},
}
SET = {
    "UpdateExpression": "SET nick = :n",
    "ExpressionAttributeValues": {":n": s("hacked")},
}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "GetItem": ("GetItem", {**WHERE, "Key": THEIRS}),
    "GetItem of another table": ("GetItem", {"TableName": "plain", "Key": OWN}),
    "GetItem by a binary key": ("GetItem", {**WHERE, "Key": {**OWN, "pk": {"B": "VSNh"}}}),
    "GetItem without a partition": ("GetItem", {**WHERE, "Key": {"sk": s("U#b")}}),
    "BatchGetItem": ("BatchGetItem", {"RequestItems": {"market": {"Keys": [OWN, THEIRS]}}}),
    "BatchGetItem of another table": (
        "BatchGetItem",
        {"RequestItems": {"market": {"Keys": [OWN]}, "plain": {"Keys": [OWN]}}},
    ),
    "TransactGetItems": (
        "TransactGetItems",
        {"TransactItems": [{"Get": {**WHERE, "Key": THEIRS}}]},
    ),
    "Query": ("Query", QUERY),
    "Query by literal names": (
        "Query",
        {
            **WHERE,
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": s("U#b")},
        },
    ),
    "Query in brackets": ("Query", {**QUERY, "KeyConditionExpression": "(#p = :p)"}),
    "Query by old conditions": (
        "Query",
        {
            **WHERE,
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("U#b")]}},
        },
    ),
    "Query of an index that is not there": ("Query", {**QUERY, "IndexName": "Nothing"}),
    "Query that begins as a shard does": (
        "Query",
        {
            **QUERY,
            "IndexName": "ReverseIndex",
            "KeyConditionExpression": "#s = :s AND begins_with(#p, :p)",
            "ExpressionAttributeNames": {"#p": "pk", "#s": "sk"},
            "ExpressionAttributeValues": {":p": s("U#a"), ":s": s("LOGIN")},
        },
    ),
    "Scan": ("Scan", WHERE),
    "PutItem": ("PutItem", {**WHERE, "Item": THEIRS}),
    "UpdateItem": ("UpdateItem", {**WHERE, **SET, "Key": THEIRS}),
    "DeleteItem": ("DeleteItem", {**WHERE, "Key": THEIRS}),
    "UpdateItem with an own item beside the key": (
        "UpdateItem",
        {**WHERE, **SET, "Key": THEIRS, "Item": OWN},
    ),
    "BatchWriteItem": (
        "BatchWriteItem",
        {
            "RequestItems": {
                "market": [{"PutRequest": {"Item": OWN}}, {"DeleteRequest": {"Key": THEIRS}}]
            }
        },
    ),
    "BatchWriteItem with an own item beside the key": (
        "BatchWriteItem",
        {"RequestItems": {"market": [{"DeleteRequest": {"Key": THEIRS, "Item": OWN}}]}},
    ),
    "TransactWriteItems": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Delete": {**WHERE, "Key": OWN}},
                {"Delete": {**WHERE, "Key": THEIRS}},
            ]
        },
    ),
    "TransactWriteItems with an own item beside the key": (
        "TransactWriteItems",
        {"TransactItems": [{"Update": {**WHERE, **SET, "Key": THEIRS, "Item": OWN}}]},
    ),
    "TransactWriteItems that deletes with an own item beside the key": (
        "TransactWriteItems",
        {"TransactItems": [{"Delete": {**WHERE, "Key": THEIRS, "Item": OWN}}]},
    ),
    "DescribeTable": ("DescribeTable", WHERE),
    "DeleteTable": ("DeleteTable", WHERE),
    "UpdateTable": ("UpdateTable", WHERE),
    "CreateTable": ("CreateTable", WHERE),
    "UpdateTimeToLive": ("UpdateTimeToLive", WHERE),
    "ListTables": ("ListTables", {}),
    "ExecuteStatement": ("ExecuteStatement", {"Statement": 'SELECT * FROM "market"'}),
    "no operation at all": ("same_table", {}),
    "nor is this one": ("filter", INDEX),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_plan_of_the_callers_own_is_refused_too(db: Database, name: str) -> None:
    before = stored(db)
    recording = record_requests(db)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(Anything(*REQUESTS[name]))
    assert recording.requests == []
    assert stored(db) == before


@pytest.mark.parametrize(
    "expression",
    [
        "attribute_exists(tp) OR attribute_exists(sk)",
        "attribute_exists(tp)) OR (attribute_exists(sk)",
        "NOT attribute_exists(nothing) OR attribute_exists(tp)",
    ],
)
def test_a_filter_of_the_callers_own_cannot_undo_the_tenants(db: Database, expression: str) -> None:
    plan = Anything("Query", {**INDEX, "FilterExpression": expression})
    try:
        answer = db.for_tenant(user_id="a").run(plan).decode()
    except TablewrightError:
        return
    assert all(f"U#{user}" not in answer for user in ("b", "ab", "aa", "A"))
    assert "U#a#O" in answer


def test_a_query_from_anothers_place_gives_nothing_of_others(own: Database) -> None:
    plan = Anything(
        "Query",
        {**QUERY, "ExpressionAttributeValues": {":p": s("U#a")}, "ExclusiveStartKey": THEIRS},
    )
    with pytest.raises(TablewrightError):
        own.run(plan)


def test_a_plan_of_the_callers_own_within_the_shards_is_run(own: Database) -> None:
    answer = own.run(Anything("GetItem", {**WHERE, "Key": OWN}))
    assert b"profile-a" in answer


def test_a_plan_that_goes_on_after_a_refusal_is_refused_again(db: Database) -> None:
    class Stubborn(Plan[list[bytes]]):
        def _steps(self, context: Context) -> Steps[list[bytes]]:
            answers = []
            for wanted in (THEIRS, OWN):
                try:
                    answers.append((yield Request("GetItem", {**WHERE, "Key": wanted})))
                except TenantViolation:
                    continue
            return answers

    recording = record_requests(db)
    with pytest.raises(TenantViolation):
        db.for_tenant(user_id="a").run(Stubborn())
    assert all("U#b" not in str(request) for _, request in recording.requests)


# -- any plan ------------------------------------------------------------------------------------

users = st.sampled_from(["a", "b", "ab", "a#O", "a$"])
small = st.integers(0, 3)
ulids = st.builds(order_id, users, small)
orders = st.builds(
    lambda user, number, owner, status, seller: Order(
        user_id=user,
        order_id=order_id(owner, number),
        status=status,
        business_id=f"order-{user}-{number}",
        seller=seller,
    ),
    users,
    small,
    users,
    st.sampled_from(["OPEN", "PAID", "U#a"]),
    st.none(),
)
addresses = st.builds(address, small, users, note=st.none() | st.sampled_from(["U#a", "x"]))
entities: st.SearchStrategy[Any] = st.one_of(
    orders,
    addresses,
    st.builds(Profile, user_id=users, business_id=st.none() | st.sampled_from(["p1", "p2"])),
    st.builds(Phone, user_id=users, phone_id=small, number=st.sampled_from(["1", "2"])),
    st.builds(Login, user_id=users, email=st.sampled_from(["x@y", "a@b"])),
    st.builds(Reward, user_id=users, reward_id=small),
    st.builds(Inventory, item_id=small),
)
fetches: st.SearchStrategy[Any] = st.one_of(
    st.builds(Profile.primary, users),
    st.builds(Address.primary, users, small),
    st.builds(Order.primary, users, ulids),
    st.builds(Phone.primary, users, small),
    st.builds(Inventory.primary, small),
)
ranges: st.SearchStrategy[Any] = st.one_of(
    st.builds(Address.primary.within, users),
    st.builds(Order.primary.within, users),
    st.builds(Address.noted, users),
    st.builds(Order.reverse, ulids),
    st.builds(lambda number, user: Order.reverse(number).eq(user), ulids, users),
    st.builds(Profile.reverse, users),
    st.builds(Order.by_status, st.sampled_from(["OPEN", "PAID", "U#a"])),
    st.builds(Order.by_total),
    st.builds(lambda user, number: Order.by_id(f"order-{user}-{number}"), users, small),
    st.builds(Profile.by_id, st.sampled_from(["p1", "p2"])),
    st.builds(Profile.scan, reason=st.just("test")),
)
queries: st.SearchStrategy[Any] = st.one_of(
    ranges,
    ranges.map(lambda plan: plan.page_size(1)),
    ranges.map(lambda plan: plan.page_size(2)),
    ranges.map(lambda plan: plan.first()),
)
writes: st.SearchStrategy[Any] = st.one_of(
    entities.map(put),
    entities.map(create),
    entities.map(delete),
    st.builds(
        lambda user, number, new: Address.primary(user, number).update(Address.user_id.set(new)),
        users,
        small,
        users,
    ),
    st.builds(
        lambda user, number: Address.primary(user, number).update(Address.note.set("z")),
        users,
        small,
    ),
    st.builds(
        lambda user, new: Profile.primary(user).update(Profile.user_id.set(new)), users, users
    ),
    st.builds(
        lambda user, new: Login.primary(user).update(Login.email.set(new)),
        users,
        st.sampled_from(["x@y", "n@n"]),
    ),
    fetches.map(condition_check),
)
plans: st.SearchStrategy[Any] = st.one_of(
    fetches,
    st.lists(fetches, min_size=1, max_size=4).map(batch_get),
    queries,
    st.builds(lambda user, number: OrderWithItems.of(Order.primary(user, number)), users, ulids),
    st.builds(find_phone, users, st.just("555")),
    st.builds(lambda user: Login.by_email(f"{user}@example.com"), users),
    writes,
    st.lists(writes, min_size=1, max_size=3).map(lambda chosen: transact(*chosen)),
    st.lists(orders | addresses, min_size=1, max_size=3).map(
        lambda chosen: batch_write([put(each) for each in chosen if isinstance(each, Order)] or [])
    ),
)


def owners(result: Any) -> set[str]:
    """Whose the entities in a result are."""
    if result is None:
        return set()
    if isinstance(result, OrderWithItems):
        return {result.order.user_id, *(item.user_id for item in result.items)}
    if isinstance(result, Entity):
        return {getattr(result, "user_id", "nobody")}
    return set().union(*map(owners, result))


@given(chosen=st.lists(plans, min_size=1, max_size=12))
def test_no_plan_gives_or_changes_what_is_not_the_tenants(chosen: list[Plan[Any]]) -> None:
    with connect(":memory:", Market) as db:
        for user in ("a", "b", "a#O"):
            for entity in everything_of(user):
                db.run(create(entity))
        db.run(create(Inventory(item_id=1)))
        before = stored(db)
        own = db.for_tenant(user_id="a")
        for plan in chosen:
            try:
                result = own.run(plan)
            except TablewrightError:
                continue
            assert owners(result) <= {"a"}
        after = stored(db)
        assert {k: v for k, v in after.items() if k[0] != "U#a"} == {
            k: v for k, v in before.items() if k[0] != "U#a"
        }
        assert local_of(db).engine.check()


@given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
def test_two_tenants_never_share_a_shard(one: str, other: str) -> None:
    for text in (one, other):
        try:
            text.encode()
        except UnicodeEncodeError:
            return
    if one == other:
        return
    with connect(":memory:", Market) as db:
        db.run(put(Note(user_id=other, number=1)))
        assert db.for_tenant(user_id=other).run(Note.primary(other, 1)) is not None
        with pytest.raises(TenantViolation):
            db.for_tenant(user_id=one).run(Note.primary(other, 1))


# -- what a scoped database keeps ----------------------------------------------------------------


class Stamped(Entity, table=Bazaar):
    user_id: Attr[str] = attr()
    changed: Attr[datetime] = updated_at()
    primary = key("U" / user_id, "STAMPED")


def test_a_scoped_database_keeps_the_clock() -> None:
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    with connect(":memory:", Bazaar) as db:
        db._context = msgspec.structs.replace(db._context, clock=lambda: long_ago)
        stamped = db.for_tenant(user_id="a").run(put(Stamped(user_id="a")))
    assert stamped.changed == long_ago


def test_a_scoped_database_keeps_the_observer() -> None:
    events: list[RequestEvent] = []
    with connect(":memory:", Bazaar, observe=events.append) as db:
        events.clear()
        db.for_tenant(user_id="a").run(Stall.primary("a", "Main Street"))
    assert [event.operation for event in events] == ["GetItem"]
