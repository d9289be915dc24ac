"""The sentinel items that keep a value unique."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Attr, Engine, Entity, attr, connect, create, key, put, unique
from tablewright.database import Database
from tablewright.errors import DeclarationError, UniqueViolation
from tests.new_table import new_table
from tests.plan.writes.unique.accounts import Account, Accounts, Category, items
from tests.transports import InterferingTransport, RecordingTransport

# -- as declared -----------------------------------------------------------------------------------


def test_the_sentinel_is_exactly_as_the_document_shows(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables", shop_order=1)))
    db.run(create(Category(id="2", name="pasta", shop_order=2)))

    assert items(engine) == [
        {
            "PK": "CATEGORY#1",
            "SK": "CATEGORY#1",
            "id": "1",
            "name": "vegetables",
            "shopOrder": "1",
        },
        {"PK": "CATEGORY#2", "SK": "CATEGORY#2", "id": "2", "name": "pasta", "shopOrder": "2"},
        {"PK": "CATEGORYNAME#pasta", "SK": "CATEGORYNAME#pasta", "id": "2", "name": "pasta"},
        {
            "PK": "CATEGORYNAME#vegetables",
            "SK": "CATEGORYNAME#vegetables",
            "id": "1",
            "name": "vegetables",
        },
    ]


def test_a_sentinel_keeps_the_attributes_and_the_type_it_is_declared_with(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", email="Ann@x.ch", handle="ann")))

    email, handle, _ = items(engine, "accounts")
    assert email == {
        "PK": "EMAIL#ann@x.ch",
        "SK": "EMAIL#ann@x.ch",
        "type": "Email",
        "tenant": "T",
        "account_id": "1",
        "email": "Ann@x.ch",
    }
    assert handle == {
        "PK": "HANDLES#T",
        "SK": "HANDLE#ann",
        "type": "Account.by_handle",
        "tenant": "T",
        "account_id": "1",
        "plan": "free",
        "roles": [],
    }


def test_an_entity_is_found_by_its_unique_value(db: Database) -> None:
    vegetables = db.run(create(Category(id="1", name="vegetables")))

    assert db.run(Category.by_name("vegetables")) == vegetables
    assert db.run(Category.by_name("pasta")) is None


def test_an_entity_is_found_by_each_of_its_unique_values(accounts: Database) -> None:
    ann = accounts.run(create(Account(tenant="T", account_id="1", email="Ann@x.ch", handle="ann")))

    assert accounts.run(Account.by_email("ann@x.ch")) == ann
    assert accounts.run(Account.by_email("ANN@x.ch")) == ann
    assert accounts.run(Account.by_email("bob@x.ch")) is None
    by_handle: Any = Account.by_handle
    assert accounts.run(by_handle("T", "ann")) == ann
    assert accounts.run(by_handle("U", "ann")) is None


def test_what_a_sentinel_keeps_must_lead_to_the_entity_that_is_looked_up() -> None:
    things = new_table("things")

    class Thing(Entity, table=things):
        thing_id: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key("THING" / thing_id, "THING")
        by_name = unique("NAME" / name, keep=(name,))

    db = connect(":memory:", things)
    db.run(create(Thing(thing_id="1", name="pot")))
    with pytest.raises(UniqueViolation):
        db.run(create(Thing(thing_id="2", name="pot")))
    with pytest.raises(
        DeclarationError, match=r"Thing\.by_name: its sentinel does not keep thing_id"
    ):
        Thing.by_name("pot")


# -- create and put --------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [create, put])
def test_a_second_entity_with_the_value_is_refused_and_nothing_is_written(
    db: Database, engine: Engine, write: Any
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    before = items(engine)

    with pytest.raises(
        UniqueViolation,
        match=r"another Category has the name 'vegetables', which must be unique",
    ) as refused:
        db.run(write(Category(id="2", name="vegetables")))

    assert refused.value.entity == "Category"
    assert refused.value.key == {"PK": {"S": "CATEGORY#2"}, "SK": {"S": "CATEGORY#2"}}
    assert items(engine) == before


def test_values_that_differ_in_case_alone_are_one(accounts: Database) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", email="Ann@x.ch", handle="a")))

    with pytest.raises(UniqueViolation, match=r"email 'ANN@x\.ch'"):
        accounts.run(create(Account(tenant="T", account_id="2", email="ANN@x.ch", handle="b")))


def test_a_value_can_be_unique_within_another(accounts: Database) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="ann")))
    accounts.run(create(Account(tenant="U", account_id="1", handle="ann")))

    with pytest.raises(UniqueViolation):
        accounts.run(create(Account(tenant="T", account_id="2", handle="ann")))


def test_none_is_not_unique_and_has_no_sentinel(accounts: Database, engine: Engine) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    accounts.run(create(Account(tenant="T", account_id="2", handle="b")))

    assert not [item for item in items(engine, "accounts") if item["PK"].startswith("EMAIL")]


def test_a_put_over_an_entity_moves_its_sentinel(db: Database, engine: Engine) -> None:
    db.run(put(Category(id="1", name="vegetables")))
    db.run(put(Category(id="1", name="greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]
    db.run(create(Category(id="2", name="vegetables")))


def test_a_put_that_keeps_the_value_leaves_the_sentinel_alone(db: Database, engine: Engine) -> None:
    db.run(put(Category(id="1", name="vegetables")))
    db._transport = sent = RecordingTransport(db._transport)
    db.run(put(Category(id="1", name="vegetables", shop_order=5)))

    assert sent.operations == ["GetItem", "PutItem"]
    assert len(items(engine)) == 2


def test_a_put_to_a_value_of_another_is_refused_and_nothing_is_written(
    db: Database, engine: Engine
) -> None:
    db.run(put(Category(id="1", name="vegetables")))
    db.run(put(Category(id="2", name="pasta")))
    before = items(engine)

    with pytest.raises(UniqueViolation):
        db.run(put(Category(id="2", name="vegetables")))

    assert items(engine) == before


# -- what a sentinel keeps -------------------------------------------------------------------------


def test_what_a_sentinel_keeps_is_in_step_with_a_put_that_races_with_an_update(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="t", account_id="1", handle="ann")))
    other = connect(engine, Accounts)
    mine = Account.primary("t", "1")
    accounts._transport = InterferingTransport(
        accounts._transport, lambda _: other.run(mine.update(Account.plan.set("paid")))
    )

    accounts.run(put(Account(tenant="t", account_id="1", handle="ann")))

    (stored,) = (item for item in items(engine, "accounts") if item["PK"] == "TENANT#t")
    (sentinel,) = (item for item in items(engine, "accounts") if item["PK"] == "HANDLES#t")
    assert stored["plan"] == sentinel["plan"] == "free"
