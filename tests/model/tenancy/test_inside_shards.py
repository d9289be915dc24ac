"""Reads and writes inside the tenant's shards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import Query, batch_write, condition_check, create, put, transact
from tablewright.database import Database
from tablewright.plans import Plan
from tests.model.tenancy.market import (
    A1,
    READS,
    Address,
    Login,
    Note,
    Order,
    Phone,
    Profile,
    address,
    last_orders,
    size,
    stored,
)


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
