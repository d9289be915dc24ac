"""`for_tenant`: which databases can be scoped, and what a scoped one keeps."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Table,
    Tenancy,
    batch_get,
    connect,
    connect_async,
    create,
    put,
    transact,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue, TablewrightError, TenantViolation
from tablewright.observe import RequestEvent
from tests.model.tenancy.market import (
    READS,
    Address,
    Bazaar,
    Market,
    Profile,
    Stall,
    Stamped,
    address,
    everything_of,
    last_orders,
    outside,
    size,
)
from tests.things import Thing, Things
from tests.transports import record_requests

# -- for_tenant() ----------------------------------------------------------------------------------


def test_a_scoped_database_cannot_be_scoped_again(own: Database) -> None:
    with pytest.raises(InvalidValue, match="already scoped to user_id=a"):
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
        connect(":memory:", Things) as db,
        pytest.raises(InvalidValue, match="no table of this database declares a Tenancy"),
    ):
        db.for_tenant(user_id="a")


def test_another_table_is_out_of_reach(db: Database, own: Database) -> None:
    db.run(create(Thing(name="x")))
    for plan in (Thing.primary("x"), put(Thing(name="y")), batch_get([Thing.primary("x")])):
        with pytest.raises(TablewrightError, match=r"market.*things"):
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
        async with connect_async(":memory:", Market) as db:
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


# -- declarations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ({}, "has no shards"),
        ({"write": ("U#",)}, "must contain {user_id} once"),
        ({"write": ("U#{user}",)}, "must contain {user_id} once"),
        ({"read": ("U#{user_id}#{user_id}",)}, "must contain {user_id} once"),
        (
            {"write": ("U#{user_id}",), "read": ("{other}#{user_id}",)},
            "must contain {user_id} once",
        ),
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


# -- what a scoped database keeps ------------------------------------------------------------------


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
