"""Reads and writes outside the tenant's shards are refused before a request is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import (
    Tenancy,
    batch_get,
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    put,
    transact,
    update,
)
from tablewright.database import Database
from tablewright.errors import TenantViolation
from tablewright.plans import Plan
from tests.model.tenancy.market import (
    A1,
    OTHERS,
    Address,
    Inventory,
    Login,
    Note,
    Order,
    Product,
    Profile,
    Reward,
    address,
    order,
    order_id,
    outside,
    stored,
)
from tests.model.tenancy.owned_items import UserItem
from tests.new_table import new_table
from tests.transports import record_requests

# -- outside ---------------------------------------------------------------------------------------


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
        TenantViolation, match=r"StatusIndex .* add the index to Tenancy\(filtered=…\)"
    ):
        own.run(Order.by_status("OPEN"))


def test_a_tenant_that_may_write_nothing_is_told_so() -> None:
    archive = new_table(tenancy=Tenancy("user", read=("U#{user}",)))

    class Letter(UserItem, table=archive): ...

    with (
        connect(":memory:", archive) as db,
        pytest.raises(TenantViolation, match=r"may write nothing; PK='U#ann' is outside"),
    ):
        db.for_tenant(user="ann").run(put(Letter(user="ann")))


# -- shards that may only be read ------------------------------------------------------------------


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
