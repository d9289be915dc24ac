"""`unique(…, when=…)`: a value is reserved while a condition holds, as for soft deletes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    attr,
    connect,
    create,
    key,
    put,
    unique,
    update,
    upsert,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, UniqueViolation
from tablewright.formats import lower
from tablewright.model.description import describe_design
from tablewright.verify import compare_stored
from tests.new_table import new_table

Accounts = new_table("accounts")
NOW = datetime(2026, 1, 15, tzinfo=UTC)


class Account(Entity, table=Accounts):
    account_id: Attr[str] = attr()
    email: Attr[str] = attr()
    deleted_at: Attr[datetime | None] = attr(default=None)
    primary = key("ACCOUNT" / account_id, "ACCOUNT")
    by_email = unique("EMAIL" / lower(email), when=deleted_at == None)  # noqa: E711


@pytest.fixture
def engine() -> Engine:
    return Engine(":memory:")


@pytest.fixture
def db(engine: Engine) -> Database:
    made = connect(engine, Accounts)
    made.run(create(Account(account_id="1", email="Ann@x")))
    return made


def sentinels(engine: Engine) -> list[str]:
    items = engine.call("Scan", {"TableName": "accounts"})["Items"]
    return sorted(each["PK"]["S"] for each in items if each["type"]["S"] != "Account")


def soft_delete(db: Database, account_id: str) -> Any:
    return db.run(Account.primary(account_id).update(Account.deleted_at.set(NOW)))


def test_a_value_is_free_when_the_condition_no_longer_holds(db: Database, engine: Engine) -> None:
    with pytest.raises(UniqueViolation, match="another Account has the email"):
        db.run(create(Account(account_id="2", email="ann@x")))
    soft_delete(db, "1")
    assert sentinels(engine) == []
    assert db.run(Account.by_email("ann@x")) is None
    assert db.run(Account.primary("1")) is not None
    second = db.run(create(Account(account_id="2", email="ann@x")))
    assert db.run(Account.by_email("ANN@x")) == second
    assert sentinels(engine) == ["EMAIL#ann@x"]


def test_a_value_that_was_taken_meanwhile_is_not_reserved_again(db: Database) -> None:
    soft_delete(db, "1")
    db.run(create(Account(account_id="2", email="ann@x")))
    with pytest.raises(UniqueViolation) as raised:
        db.run(Account.primary("1").update(Account.deleted_at.remove()))
    assert raised.value.attributes == ("email",)
    first = db.run(Account.primary("1"))
    assert first is not None
    assert first.deleted_at == NOW


def test_a_deleted_item_leaves_the_value_of_another_one(db: Database, engine: Engine) -> None:
    soft_delete(db, "1")
    second = db.run(create(Account(account_id="2", email="ann@x")))
    db.run(Account.primary("1").delete())
    assert db.run(Account.by_email("ann@x")) == second
    db.run(Account.primary("2").delete())
    assert sentinels(engine) == []


def test_every_write_follows_the_condition(db: Database, engine: Engine) -> None:
    db.run(put(Account(account_id="2", email="bob@x", deleted_at=NOW)))
    db.run(upsert(Account(account_id="3", email="cy@x"), Account.deleted_at.set(NOW)))
    assert sentinels(engine) == ["EMAIL#ann@x"]
    db.run(upsert(Account(account_id="4", email="?"), Account.email.set("dan@x")))
    db.run(put(Account(account_id="2", email="bob@x")))
    assert sentinels(engine) == ["EMAIL#ann@x", "EMAIL#bob@x", "EMAIL#dan@x"]
    bob = db.run(Account.primary("2"))
    assert bob is not None
    db.run(update(bob, Account.email.set("eve@x"), Account.deleted_at.set(NOW)))
    assert sentinels(engine) == ["EMAIL#ann@x", "EMAIL#dan@x"]


def test_stored_items_are_compared_by_the_condition(db: Database, engine: Engine) -> None:
    soft_delete(db, "1")
    db.run(create(Account(account_id="2", email="ann@x")))
    items = engine.call("Scan", {"TableName": "accounts"})["Items"]
    assert compare_stored(Accounts.__table__, items)


def test_the_condition_is_part_of_what_is_stored() -> None:
    description = describe_design(Accounts).tables["accounts"]
    unique_value = (description.entities or {})["Account"].uniques["Account.by_email"]
    assert unique_value.key.when is not None
    assert unique_value.keeps == ("account_id", "email")


def test_a_condition_on_other_attributes_is_refused() -> None:
    other: Any = Account.deleted_at
    with pytest.raises(DeclarationError, match="that User does not declare"):

        class User(Entity, table=new_table()):
            name: Attr[str] = attr()
            primary = key("USER" / name, "USER")
            by_name = unique("NAME" / name, when=other == None)  # noqa: E711
