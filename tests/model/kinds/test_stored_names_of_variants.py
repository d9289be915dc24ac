"""Variants that store the attribute of their shared key under different names."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Projection,
    Table,
    attr,
    connect,
    create,
    explain,
    index,
    key,
    save,
    unique,
    update,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, NotFound, UniqueViolation
from tests.model.declaring.declarations import refused
from tests.new_table import new_table
from tests.prepared import with_tables


class Github(Table, name="github"):
    by_plan = GSI("GSI1PK", "GSI1SK")
    by_name = GSI("GSI2PK", "GSI2SK", project="KEYS_ONLY")
    by_owner = GSI("GSI3PK", "GSI3SK")


class Account(Entity, table=Github, variants=True):
    name: Attr[str] = attr()
    plan: Attr[str] = attr(default="free")
    email: Attr[str | None] = attr(default=None)
    primary = key("ACCOUNT" / name, "ACCOUNT")
    of_plan = index(Github.by_plan, "PLAN" / plan, "ACCOUNT" / name)
    names = index(Github.by_name, "ACCOUNTS", name)
    by_email = unique("EMAIL" / email)


class User(Account):
    name: Attr[str] = attr(name="username", doc="The name to log in with.")


class Organisation(Account):
    name: Attr[str] = attr(name="organization_name")
    owner: Attr[str] = attr(default="ann")
    owned = index(Github.by_owner, "OWNER" / owner, "ORG" / name)


class Bot(Account):
    """Keeps the name of the base."""


class Name(Projection[Account]):
    name: str
    plan: str


@pytest.fixture
def prepare() -> Any:
    return with_tables(Github)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Github)
    db.run(create(User(name="ann", email="a@x")))
    db.run(create(Organisation(name="acme", email="o@x")))
    db.run(create(Bot(name="bot")))
    return db


def stored(engine: Engine, name: str) -> dict[str, Any]:
    where = {"PK": {"S": f"ACCOUNT#{name}"}, "SK": {"S": "ACCOUNT"}}
    found: dict[str, Any] = engine.call("GetItem", {"TableName": "github", "Key": where})["Item"]
    return {each: value["S"] for each, value in found.items()}


def test_each_variant_stores_its_own_name(db: Database, engine: Engine) -> None:
    user, organisation, bot = (stored(engine, name) for name in ("ann", "acme", "bot"))
    assert (user["username"], "name" in user) == ("ann", False)
    assert (organisation["organization_name"], organisation["GSI3SK"]) == ("acme", "ORG#acme")
    assert bot["name"] == "bot"


def test_the_base_reads_all_of_them(db: Database) -> None:
    ann, acme, bot = (
        User(name="ann", email="a@x"),
        Organisation(name="acme", email="o@x"),
        Bot(name="bot"),
    )
    assert [db.run(Account.primary(each)) for each in ("ann", "acme", "bot")] == [ann, acme, bot]
    assert list(db.run(Account.of_plan("free"))) == [acme, ann, bot]
    assert list(db.run(User.of_plan("free"))) == [ann]
    assert [each.name for each in db.run(Account.of_plan("free").select(Name))] == [
        "acme", "ann", "bot",
    ]  # fmt: skip
    assert list(db.run(Account.names().select(Account.name))) == [("acme",), ("ann",), ("bot",)]
    assert db.run(Account.names().first()) == acme
    assert db.run(Account.where(Account.name == "ann"))[0] == ann


def test_writes_through_the_base_and_a_variant(db: Database, engine: Engine) -> None:
    found = db.run(Account.primary("acme").update(Account.plan.set("paid")))
    assert isinstance(found, Organisation)
    assert [each.name for each in db.run(Account.of_plan("paid"))] == ["acme"]
    user = db.run(User.primary("ann").or_raise())
    db.run(update(user, User.name.set("eve")))
    assert stored(engine, "eve")["username"] == "eve"
    user.plan = "paid"
    db.run(save(user))
    assert [each.name for each in db.run(Account.of_plan("paid"))] == ["acme", "eve"]
    with pytest.raises(NotFound):
        db.run(User.primary("acme").update(User.plan.set("x")))


def test_unique_values_of_the_base_find_each_of_them(db: Database) -> None:
    assert db.run(Account.by_email("o@x")) == Organisation(name="acme", email="o@x")
    assert db.run(User.by_email("a@x")) == User(name="ann", email="a@x")
    with pytest.raises(UniqueViolation):
        db.run(create(Bot(name="other", email="a@x")))
    db.run(User.primary("ann").update(User.email.remove()))
    db.run(create(Bot(name="other", email="a@x")))


def test_conditions_compare_the_names_of_a_variant_only(db: Database) -> None:
    assert [each.name for each in db.run(User.of_plan("free").filter(User.name > "a"))] == ["ann"]
    problem = (
        r"Account\.name is stored as 'username' in User and 'organization_name' in Organisation "
        "and 'name' in Bot, so DynamoDB cannot compare it for all variants"
    )
    with pytest.raises(DeclarationError, match=problem):
        Account.of_plan("free").filter(Account.name > "a")
    with pytest.raises(DeclarationError, match=problem):
        Account.primary("a").update(Account.plan.set("x")).condition(Account.name.exists())


def test_explain_shows_the_key_once() -> None:
    assert str(explain(User.primary("ann")).condition) == 'PK="ACCOUNT#ann" AND SK="ACCOUNT"'


def refuse(problem: str, **again: Any) -> None:
    """Declare a variant with these attributes, which is refused."""
    table = new_table()

    class Base(Entity, table=table, variants=True):
        name: Attr[str] = attr()
        plan: Attr[str] = attr(default="free")
        hidden: Attr[str] = attr(key_only=True)
        primary = key("BASE" / name, "HIDDEN" / hidden)

    kinds = {"name": Attr[str], "plan": Attr[str], "hidden": Attr[str]}
    annotations = {name: kinds[name] for name in again}
    with refused("Variant.", problem):
        type("Variant", (Base,), {"__annotations__": annotations, **again})


@pytest.mark.parametrize(
    ("again", "problem"),
    [
        ({"name": attr()}, "Base declares it already, for all of its variants"),
        ({"name": attr(name="n", default="x")}, "Only the stored name"),
        ({"name": attr(name="n", pad=3)}, "Only the stored name"),
        ({"plan": attr(name="p")}, "of an attribute of the primary key can be another one"),
        ({"hidden": attr(name="h")}, "Only the stored name"),
    ],
)
def test_only_the_stored_name_of_a_part_of_the_key_can_differ(
    again: dict[str, Any], problem: str
) -> None:
    refuse(problem, **again)


def test_the_type_stays_the_same() -> None:
    with refused("Variant.name: it has another type than Base.name"):

        class Base(Entity, table=new_table(), variants=True):
            name: Attr[str] = attr()
            primary = key("BASE" / name, "BASE")

        class Variant(Base):
            name: Attr[int] = attr(name="n")  # type: ignore[assignment]


def test_a_natural_key_keeps_its_name() -> None:
    class People(Table, pk="number", sk=None):
        pass

    with refused("Variant.number: Base declares it already"):

        class Base(Entity, table=People, variants=True):
            number: Attr[str] = attr()
            primary = key(number)

        class Variant(Base):
            number: Attr[str] = attr(name="user_number")
