"""Unique values through a tenant's database: a sentinel in an own partition is the tenant's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import Engine, connect, create, delete, put, transact, update
from tablewright.database import Database
from tablewright.errors import TenantViolation, UniqueViolation
from tests.model.tenancy.orgs import Member, Work
from tests.prepared import prepared


def fill(engine: Engine) -> None:
    db = connect(engine, Work)
    db.run(create(Member(org="y", member="1", email="ann@example.com", badge="7")))


@pytest.fixture
def db() -> Iterator[Database]:
    with prepared(fill) as engine:
        yield connect(engine, Work)


@pytest.fixture
def own(db: Database) -> Database:
    return db.for_tenant(org="x")


def ann(**more: Any) -> Member:
    return Member(org="x", member="1", email="Ann@example.com", badge="7", **more)


def sentinels(db: Database, org: str = "x") -> list[str]:
    """The keys of the sentinels of one organisation."""
    items = db._transport.engine.call("Scan", {"TableName": "work"})["Items"]  # type: ignore[attr-defined]
    return sorted(
        item["SK"]["S"]
        for item in items
        if item["type"]["S"].startswith("Member.") and item["PK"]["S"].split("#")[1] == org
    )


def test_the_same_value_may_be_in_each_tenant(db: Database, own: Database) -> None:
    own.run(create(ann()))
    assert sentinels(db) == ["EMAIL#ann@example.com", "ORG#x#BADGE#7"]
    assert sentinels(db, "y") == ["EMAIL#ann@example.com", "ORG#y#BADGE#7"]


def test_it_is_unique_within_the_tenant(own: Database) -> None:
    own.run(create(ann()))
    for second in (
        Member(org="x", member="2", email="ANN@example.com"),
        Member(org="x", member="2", badge="7"),
    ):
        with pytest.raises(UniqueViolation):
            own.run(create(second))
    assert own.run(Member.primary("x", "2")) is None


def test_it_is_found_by_its_value_within_the_tenant(own: Database) -> None:
    own.run(create(ann()))
    assert own.run(Member.by_email("x", "ANN@EXAMPLE.COM")) == ann()
    assert own.run(Member.by_badge("x", "7")) == ann()
    assert own.run(Member.by_badge("x", "8")) is None
    for plan in (Member.by_email("y", "ann@example.com"), Member.by_badge("y", "7")):
        with pytest.raises(TenantViolation):
            own.run(plan)


def test_an_update_moves_the_sentinels(db: Database, own: Database) -> None:
    own.run(create(ann()))
    own.run(
        Member.primary("x", "1").update(Member.email.set("bea@example.com"), Member.badge.remove())
    )
    assert sentinels(db) == ["EMAIL#bea@example.com"]
    own.run(update(ann(), Member.badge.set("9")))
    assert sentinels(db) == ["EMAIL#bea@example.com", "ORG#x#BADGE#9"]
    assert own.run(Member.by_badge("x", "7")) is None


def test_a_put_over_a_stored_item_moves_the_sentinels(db: Database, own: Database) -> None:
    own.run(create(ann()))
    own.run(put(Member(org="x", member="1", email="bea@example.com")))
    assert sentinels(db) == ["EMAIL#bea@example.com"]


def test_a_move_within_the_tenant_keeps_them(db: Database, own: Database) -> None:
    own.run(create(ann()))
    own.run(Member.primary("x", "1").update(Member.member.set("2")))
    found = own.run(Member.by_email("x", "ann@example.com"))
    assert found is not None
    assert found.member == "2"
    assert sentinels(db) == ["EMAIL#ann@example.com", "ORG#x#BADGE#7"]


@pytest.mark.parametrize("by_key", [True, False])
def test_a_delete_deletes_them(db: Database, own: Database, by_key: bool) -> None:
    own.run(create(ann()))
    own.run(Member.primary("x", "1").delete() if by_key else delete(ann()))
    assert sentinels(db) == []
    own.run(create(ann()))


def test_a_transaction_hands_a_value_over(db: Database, own: Database) -> None:
    own.run(create(ann()))
    own.run(create(Member(org="x", member="2")))
    own.run(Member.primary("x", "1").update(Member.badge.remove()))
    own.run(
        transact(
            Member.primary("x", "2").update(Member.badge.set("7")),
            create(Member(org="x", member="3", badge="8")),
        )
    )
    assert sentinels(db) == ["EMAIL#ann@example.com", "ORG#x#BADGE#7", "ORG#x#BADGE#8"]


def test_a_move_to_another_tenant_is_refused(db: Database, own: Database) -> None:
    own.run(create(ann(passport=None)))
    with pytest.raises(TenantViolation):
        own.run(Member.primary("x", "1").update(Member.org.set("z")))
    assert sentinels(db) == ["EMAIL#ann@example.com", "ORG#x#BADGE#7"]


def test_a_value_that_is_unique_among_all_is_written_through_the_whole_database(
    db: Database, own: Database
) -> None:
    with pytest.raises(TenantViolation, match="PK='PASSPORT#P1' is outside"):
        own.run(create(ann(passport="P1")))
    db.run(create(ann(passport="P1")))
    assert own.run(Member.primary("x", "1")) == ann(passport="P1")
    with pytest.raises(TenantViolation):
        own.run(Member.primary("x", "1").delete())
