"""Variants: several kinds of entity at one key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    connect,
    create,
    delete,
    explain,
    index,
    key,
    put,
    root,
    transact,
    unique,
    update,
    upsert,
    version,
)
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    DeclarationError,
    NotFound,
    UniqueViolation,
    UnreadableItem,
)
from tablewright.plans import backfill
from tests.model.declaring.declarations import raw, refused
from tests.new_table import new_table
from tests.things import NamedEntity


class Github(Table, name="github"):
    by_plan = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class Account(Entity, table=Github, variants=True):
    name: Attr[str] = attr()
    plan: Attr[str] = attr(default="free")
    label: Attr[str] = attr(default="x")
    email: Attr[str | None] = attr(default=None)
    primary = key("ACCOUNT" / name, "ACCOUNT" / name.again)
    of_plan = index(Github.by_plan, "PLAN" / plan, "ACCOUNT" / name)
    by_email = unique("EMAIL" / email)


class User(Account):
    shoe_size: Attr[int] = attr(default=40)


class Organisation(Account, type_name="Org"):
    owner: Attr[str] = attr()
    owned = index(Github.by_owner, "OWNER" / owner, "ORG" / Account.label / Account.name)


class Repo(Entity, table=Github):
    owner: Attr[str] = attr()
    repo: Attr[str] = attr()
    primary = key("ACCOUNT" / owner, "REPO" / repo)


class Page(Aggregate):
    account: Account = root()
    repos: list[Repo] = children()


class OrganisationPage(Aggregate):
    organisation: Organisation = root()
    repos: list[Repo] = children()


ANN = User(name="ann", shoe_size=38)
ACME = Organisation(name="acme", owner="ann")


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(Engine(":memory:"), Github) as db:
        db.run(create(ANN))
        db.run(create(ACME))
        yield db


def item(db: Database, name: str) -> Any:
    return next(each for each in raw(db, Github) if each["PK"] == {"S": f"ACCOUNT#{name}"})


def test_variants_are_stored_at_the_key_of_their_base(db: Database) -> None:
    assert [item(db, "acme"), item(db, "ann")] == [
        {
            "PK": {"S": "ACCOUNT#acme"},
            "SK": {"S": "ACCOUNT#acme"},
            "GSI1PK": {"S": "PLAN#free"},
            "GSI1SK": {"S": "ACCOUNT#acme"},
            "GSI2PK": {"S": "OWNER#ann"},
            "GSI2SK": {"S": "ORG#x#acme"},
            "type": {"S": "Org"},
            "name": {"S": "acme"},
            "plan": {"S": "free"},
            "label": {"S": "x"},
            "owner": {"S": "ann"},
        },
        {
            "PK": {"S": "ACCOUNT#ann"},
            "SK": {"S": "ACCOUNT#ann"},
            "GSI1PK": {"S": "PLAN#free"},
            "GSI1SK": {"S": "ACCOUNT#ann"},
            "type": {"S": "User"},
            "name": {"S": "ann"},
            "plan": {"S": "free"},
            "label": {"S": "x"},
            "shoe_size": {"N": "38"},
        },
    ]


# -- reads ---------------------------------------------------------------------------------------


def test_reads_through_the_base_give_every_kind(db: Database) -> None:
    assert db.run(Account.primary("ann")) == ANN
    assert db.run(Account.primary("acme")) == ACME
    assert db.run(Account.primary("bob")) is None
    assert db.run(Account.of_plan("free")) == [ACME, ANN]
    assert db.run(Account.of_plan("free").desc().first()) == ANN
    assert db.run(Account.of_plan("free").count()) == 2
    assert db.run(Account.primary.within("ann")) == [ANN]
    assert db.run(Account.where(Account.plan == "free")) == [ACME, ANN]
    assert sorted(each.name for each in db.iterate(Account.scan(reason="all"))) == ["acme", "ann"]
    gets = [Account.primary("ann"), Account.primary("acme"), Account.primary("bob")]
    assert db.run(batch_get(gets)) == [ANN, ACME, None]
    assert db.run(Account.of_plan("free").select(Account.name)) == [("acme",), ("ann",)]


def test_reads_through_a_variant_give_that_kind_alone(db: Database) -> None:
    assert db.run(User.primary("ann")) == ANN
    assert db.run(User.primary("acme")) is None
    assert db.run(User.of_plan("free")) == [ANN]
    assert db.run(User.of_plan("free").count()) == 1
    assert db.run(User.primary.within("acme")) == []
    assert db.run(Organisation.owned("ann")) == [ACME]
    assert db.run(User.scan(reason="all")) == [ANN]
    assert db.run(batch_get([User.primary("ann"), User.primary("acme")])) == [ANN, None]


def test_aggregates_have_the_kind_that_is_stored(db: Database) -> None:
    repo = db.run(create(Repo(owner="acme", repo="r")))
    page = db.run(Page.of(Account.primary("acme")))
    assert page is not None
    assert page.account == ACME
    assert page.repos == [repo]
    found = db.run(Page.of(Account.primary("ann")))
    assert found is not None
    assert found.account == ANN
    assert db.run(OrganisationPage.of(Organisation.primary("ann"))) is None
    assert db.run(OrganisationPage.of(Organisation.primary("acme"))) is not None


def test_unique_values_are_shared_by_the_variants(db: Database) -> None:
    bob = db.run(create(User(name="bob", email="x@y.z")))
    with pytest.raises(UniqueViolation):
        db.run(create(Organisation(name="beta", owner="ann", email="x@y.z")))
    assert db.run(Account.by_email("x@y.z")) == bob
    assert db.run(User.by_email("x@y.z")) == bob
    assert db.run(Organisation.by_email("x@y.z")) is None
    db.run(delete(bob))
    assert len(raw(db, Github)) == 2


def test_an_item_without_a_kind_is_reported(db: Database) -> None:
    engine = db._transport.engine  # type: ignore[attr-defined]
    foreign = {
        "PK": {"S": "ACCOUNT#x"},
        "SK": {"S": "ACCOUNT#x"},
        "GSI1PK": {"S": "PLAN#free"},
        "GSI1SK": {"S": "ACCOUNT#x"},
        "name": {"S": "x"},
    }
    engine.call("PutItem", {"TableName": "github", "Item": foreign})
    for plan in (Account.primary("x"), User.primary("x")):
        with pytest.raises(UnreadableItem, match=r"no 'type', so its kind is unknown"):
            db.run(plan)
    for kind in (Account, User):
        (unreadable,) = db.run(kind.of_plan("free").skip_unreadable()).unreadable
        assert unreadable.item == foreign
    with pytest.raises(ConditionFailed, match="of an unknown kind, not User"):
        db.run(put(User(name="x")))


# -- writes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_create_fails_if_any_kind_is_at_the_key(db: Database, wrapped: bool) -> None:
    write = create(User(name="acme"))
    with pytest.raises(AlreadyExists) as failure:
        db.run(transact(write) if wrapped else write)
    assert failure.value.current == ACME


OTHER_KIND: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "put": (lambda: put(User(name="acme")), ConditionFailed),
    "put in a transaction": (lambda: transact(put(User(name="acme"))), ConditionFailed),
    "update": (lambda: User.primary("acme").update(User.shoe_size.set(1)), NotFound),
    "update of an index": (lambda: User.primary("acme").update(User.plan.set("pro")), NotFound),
    "update of an instance": (lambda: update(User(name="acme"), User.label.set("y")), NotFound),
    "update of a unique value": (
        lambda: User.primary("acme").update(User.email.set("x")),
        NotFound,
    ),
    "upsert": (lambda: upsert(User(name="acme"), User.shoe_size.increment(1)), ConditionFailed),
    "upsert of an index": (
        lambda: User.primary("acme").upsert(User.plan.set("pro")),
        ConditionFailed,
    ),
    "move": (lambda: User.primary("acme").update(User.name.set("x")), NotFound),
    "condition_check": (lambda: transact(condition_check(User.primary("acme"))), NotFound),
    "delete in a transaction": (
        lambda: transact(create(Repo(owner="a", repo="b")), delete(User(name="acme"))),
        NotFound,
    ),
}


@pytest.mark.parametrize("way", OTHER_KIND)
def test_a_write_keeps_the_kind(db: Database, way: str) -> None:
    before = raw(db, Github)
    write, error = OTHER_KIND[way]
    with pytest.raises(error, match=r"of the kind Organisation, not User") as failure:
        db.run(write())
    assert failure.value.current == ACME  # type: ignore[attr-defined]
    assert raw(db, Github) == before


def test_a_delete_of_another_kind_finds_nothing(db: Database) -> None:
    assert db.run(User.primary("acme").delete()) is None
    assert db.run(Account.primary("acme")) == ACME
    assert db.run(Organisation.primary("acme").delete()) == ACME
    assert db.run(Account.primary("acme")) is None


def test_writes_of_the_right_kind(db: Database) -> None:
    assert db.run(put(User(name="ann", shoe_size=39))).shoe_size == 39
    assert db.run(User.primary("ann").update(User.plan.set("pro"))).plan == "pro"
    assert item(db, "ann")["GSI1PK"] == {"S": "PLAN#pro"}
    moved = db.run(Organisation.primary("acme").update(Organisation.name.set("beta")))
    assert db.run(Account.primary("beta")) == moved
    assert item(db, "beta")["GSI2SK"] == {"S": "ORG#x#beta"}


def test_writes_through_the_base(db: Database) -> None:
    changed = db.run(Account.primary("acme").update(Account.plan.set("pro")))
    assert type(changed) is Organisation
    assert item(db, "acme")["GSI1PK"] == {"S": "PLAN#pro"}
    with pytest.raises(DeclarationError, match=r"write through one of its variants: User, Org"):
        Account.primary("acme").update(Account.name.set("x"))
    with pytest.raises(DeclarationError, match=r"upsert Account: .*through one of its variants"):
        Account.primary("new").upsert(Account.plan.set("pro"))
    assert db.run(Account.primary("ann").delete()) == ANN


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_update_through_the_base_writes_the_keys_of_the_stored_kind(
    db: Database, wrapped: bool
) -> None:
    changes = [Account.label.set("y"), Account.email.set("a@b.c")]
    plan = Account.primary("acme").update(*changes).condition(Account.plan == "free")
    db.run(transact(plan) if wrapped else plan)
    stored = item(db, "acme")
    assert (stored["GSI2SK"], stored["label"]) == ({"S": "ORG#y#acme"}, {"S": "y"})
    assert db.run(Account.by_email("a@b.c")) == db.run(Organisation.primary("acme"))
    db.run(Account.primary("ann").update(Account.label.set("y")))
    assert "GSI2SK" not in item(db, "ann")
    with pytest.raises(NotFound):
        db.run(Account.primary("bob").update(Account.label.set("y")))
    with pytest.raises(ConditionFailed, match="the condition plan = 'pro' is false"):
        db.run(
            Account.primary("acme").update(Account.label.set("z")).condition(Account.plan == "pro")
        )
    shape = explain(Account.primary("acme").update(Account.label.set("y")))
    assert [each.operation for each in shape.requests] == ["GetItem", "UpdateItem"]
    assert 'GSI2SK="ORG#{label}#{name}"' in str(shape)


def test_an_instance_is_updated_with_attributes_of_the_base(db: Database) -> None:
    account: Any = db.run(Account.primary("acme"))
    db.run(update(account, Account.label.set("y")))
    assert (account.label, item(db, "acme")["GSI2SK"]) == ("y", {"S": "ORG#y#acme"})
    db.run(Organisation.primary("acme").update(Account.label.set("z")))  # type: ignore[arg-type]
    assert item(db, "acme")["GSI2SK"] == {"S": "ORG#z#acme"}


def test_a_delete_through_the_base_releases_the_unique_values_of_the_stored_kind() -> None:
    shop = new_table("released")

    class Holder(NamedEntity, table=shop, variants=True): ...

    class Plain(Holder):
        pass

    class Numbered(Holder):
        number: Attr[str] = attr()
        by_number = unique("NUMBER" / number)

    with connect(":memory:", shop) as db:
        numbered = db.run(create(Numbered(name="b", number="7")))
        db.run(create(Plain(name="a")))
        assert db.run(Holder.primary("b").delete()) == numbered
        assert db.run(Holder.primary("a").delete()) == Plain(name="a")
        assert db.run(Holder.primary("a").delete()) is None
        assert raw(db, shop) == []
        operations = [each.operation for each in explain(Holder.primary("b").delete()).requests]
        assert operations == ["GetItem", "TransactWriteItems"]


def test_a_batch_of_variants_is_refused() -> None:
    with pytest.raises(DeclarationError, match="cannot put User: it has other variants"):
        batch_write([put(ANN)])


def test_a_backfill_of_the_base_writes_the_keys_of_each_variant(db: Database) -> None:
    engine = db._transport.engine  # type: ignore[attr-defined]
    old = {name: value for name, value in item(db, "acme").items() if "GSI" not in name}
    whole = item(db, "acme")
    engine.call("PutItem", {"TableName": "github", "Item": old})
    assert db.run(backfill(Account)) == 1
    assert item(db, "acme") == whole


def test_the_base_in_json_is_any_of_its_variants() -> None:
    adapter: TypeAdapter[Account] = TypeAdapter(Account)
    for account in (ANN, ACME):
        assert adapter.validate_json(adapter.dump_json(account)) == account
    assert TypeAdapter(list[Account]).dump_python([ANN])[0]["shoe_size"] == 38


# -- declarations --------------------------------------------------------------------------------


def test_the_base_has_no_instances() -> None:
    with pytest.raises(TypeError, match=r"create one of them: User, Organisation"):
        Account(name="x")


def test_variants_need_a_type_attribute() -> None:
    with refused("Base: Typeless has no type attribute", __file__):

        class Base(
            NamedEntity, table=new_table("typeless", type_attribute=None), variants=True
        ): ...


def test_what_a_variant_cannot_declare() -> None:
    with refused("Robot.name: Account declares it already", __file__):

        class Robot(Account):
            name: Attr[str] = attr()

    with refused("Robot.primary: Account declares it already", __file__):

        class Robot(Account):  # type: ignore[no-redef]
            primary = key("ROBOT" / Account.name, "ROBOT")

    with refused("Robot is a variant of Account, and has its table", __file__):

        class Robot(Account, table=Github):  # type: ignore[no-redef]
            pass

    with refused("Github already has items of type 'Org'", __file__):

        class Robot(Account, type_name="Org"):  # type: ignore[no-redef]
            pass


def test_other_entities_still_collide_with_variants() -> None:
    with refused("Bot.primary", "can be the same key as", __file__):

        class Bot(Entity, table=Github):
            name: Attr[str] = attr()
            primary = key("ACCOUNT" / name, "ACCOUNT" / name.again)


def test_a_base_collides_with_other_entities() -> None:
    shop = new_table()

    class Bot(NamedEntity, table=shop): ...

    with refused("Machine.primary", "can be the same key as Bot.primary", __file__):

        class Machine(NamedEntity, table=shop, variants=True): ...


def test_variants_have_versions() -> None:
    shop = new_table("versioned")

    class Machine(NamedEntity, table=shop, variants=True):
        version: Attr[int] = version()

    class Saw(Machine):
        teeth: Attr[int] = attr(default=1)

    class Drill(Machine):
        pass

    with connect(":memory:", shop) as db:
        saw = db.run(create(Saw(name="x")))
        assert db.run(put(saw)).version == 2
        with pytest.raises(ConditionFailed, match="of the kind Saw, not Drill"):
            db.run(put(Drill(name="x")))
        found = db.run(Machine.primary("x"))
        assert isinstance(found, Saw)
        assert found.teeth == 1
