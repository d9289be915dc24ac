from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tablewright import (
    Attr,
    Database,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    delete,
    key,
    lower,
    put,
    transact,
    ttl,
    unique,
    update,
    version,
)
from tablewright.backoff import Backoff
from tablewright.errors import ConditionFailed, Contention, DeclarationError, UniqueViolation
from tests.transports import InterferingTransport, RecordingTransport


class Recipes(Table, name="recipes", type_attribute=None):
    """As in the recipes document: no type attribute, and sentinels with the same text twice."""


class Category(Entity, table=Recipes):
    id: Attr[str] = attr()
    name: Attr[str] = attr()
    shop_order: Attr[int] = attr(name="shopOrder", default=0)

    primary = key("CATEGORY" / id, "CATEGORY" / id.again)  # noqa: A003  # as the document calls it
    by_name = unique("CATEGORYNAME" / name, keep=(id, name))  # noqa: A003


class Accounts(Table, name="accounts"):
    pass


class Account(Entity, table=Accounts):
    tenant: Attr[str] = attr()
    account_id: Attr[str] = attr()
    email: Attr[str | None] = attr(default=None)
    handle: Attr[str] = attr()
    plan: Attr[str] = attr(default="free")
    roles: Attr[list[str]] = attr(default_factory=list)

    primary = key("TENANT" / tenant, "ACCOUNT" / account_id)
    by_email = unique("EMAIL" / lower(email), type_name="Email")
    by_handle = unique(
        "HANDLES" / tenant, "HANDLE" / handle, keep=(tenant, account_id, plan, roles)
    )


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Recipes)


@pytest.fixture
def accounts(engine: Engine) -> Database:
    return connect(engine, Accounts)


def items(engine: Engine, table: str = "recipes") -> list[dict[str, Any]]:
    """Every item, with plain values, in the order of its key."""
    found = [
        {name: next(iter(value.values())) for name, value in item.items()}
        for item in engine.call("Scan", {"TableName": table})["Items"]
    ]
    return sorted(found, key=lambda item: (item["PK"], item["SK"]))


# -- as declared ---------------------------------------------------------------------------------


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
    class Things(Table, name="things"):
        pass

    class Thing(Entity, table=Things):
        thing_id: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key("THING" / thing_id, "THING")
        by_name = unique("NAME" / name, keep=(name,))

    db = connect(":memory:", Things)
    db.run(create(Thing(thing_id="1", name="pot")))
    with pytest.raises(UniqueViolation):
        db.run(create(Thing(thing_id="2", name="pot")))
    with pytest.raises(
        DeclarationError, match=r"Thing\.by_name: its sentinel does not keep thing_id"
    ):
        Thing.by_name("pot")


# -- create and put ------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [create, put])
def test_a_second_entity_with_the_value_is_refused_and_nothing_is_written(
    db: Database, engine: Engine, write: Any
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    before = items(engine)

    with pytest.raises(
        UniqueViolation,
        match=r"another Category has the name 'vegetables'; Category\.by_name keeps it",
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


# -- update --------------------------------------------------------------------------------------


def test_an_update_of_the_value_moves_the_sentinel(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    updated = db.run(Category.primary("1").update(Category.name.set("greens")))

    assert updated == Category(id="1", name="greens")
    assert items(engine) == [
        {"PK": "CATEGORY#1", "SK": "CATEGORY#1", "id": "1", "name": "greens", "shopOrder": "0"},
        {"PK": "CATEGORYNAME#greens", "SK": "CATEGORYNAME#greens", "id": "1", "name": "greens"},
    ]
    assert db.run(Category.by_name("vegetables")) is None
    assert db.run(Category.by_name("greens")) == updated


def test_an_update_of_an_instance_moves_the_sentinel(db: Database, engine: Engine) -> None:
    category = db.run(create(Category(id="1", name="vegetables")))
    db.run(update(category, Category.name.set("greens"), Category.shop_order.increment(3)))

    assert category == Category(id="1", name="greens", shop_order=3)
    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_an_update_to_the_value_of_another_is_refused_and_nothing_is_written(
    db: Database, engine: Engine
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db.run(create(Category(id="2", name="pasta")))
    before = items(engine)

    with pytest.raises(UniqueViolation, match="name 'vegetables'"):
        db.run(Category.primary("2").update(Category.name.set("vegetables")))

    assert items(engine) == before


def test_an_update_beside_the_value_leaves_the_sentinel_alone(db: Database) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Category.primary("1").update(Category.shop_order.set(5)))

    assert sent.operations == ["UpdateItem"]


def test_an_update_to_the_same_value_leaves_the_sentinel_alone(
    db: Database, engine: Engine
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    before = items(engine)
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Category.primary("1").update(Category.name.set("vegetables")))

    assert sent.operations == ["GetItem", "UpdateItem"]
    assert items(engine) == before


def test_an_update_to_another_spelling_of_the_value_keeps_it(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", email="ann@x.ch", handle="a")))
    accounts.run(Account.primary("T", "1").update(Account.email.set("ANN@x.ch")))

    (sentinel,) = (item for item in items(engine, "accounts") if item["PK"] == "EMAIL#ann@x.ch")
    assert sentinel["email"] == "ANN@x.ch"


def test_an_update_of_a_kept_attribute_updates_the_sentinel(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    accounts.run(Account.primary("T", "1").update(Account.plan.set("paid")))

    assert [item["plan"] for item in items(engine, "accounts")] == ["paid", "paid"]


def test_a_list_that_a_sentinel_keeps_grows_with_the_entity(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    accounts.run(Account.primary("T", "1").update(Account.roles.append("admin")))

    assert [item["roles"] for item in items(engine, "accounts")] == [[{"S": "admin"}]] * 2


@pytest.mark.parametrize("change", [Account.email.set(None), Account.email.remove()], ids=repr)
def test_an_update_to_nothing_frees_the_value(
    accounts: Database, engine: Engine, change: Any
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", email="ann@x.ch", handle="a")))
    accounts.run(Account.primary("T", "1").update(change))

    assert not [item for item in items(engine, "accounts") if item["PK"].startswith("EMAIL")]
    accounts.run(create(Account(tenant="T", account_id="2", email="ann@x.ch", handle="b")))


@pytest.mark.parametrize(
    "change", [Account.email.set("ann@x.ch"), Account.email.set_if_absent("ann@x.ch")], ids=repr
)
def test_an_update_from_nothing_takes_the_value(accounts: Database, change: Any) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    ann = accounts.run(Account.primary("T", "1").update(change))

    assert accounts.run(Account.by_email("ann@x.ch")) == ann


def test_a_condition_that_fails_leaves_the_sentinel_alone(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    before = items(engine)

    with pytest.raises(ConditionFailed, match="shop_order = 9 does not hold"):
        db.run(
            Category.primary("1")
            .update(Category.name.set("greens"))
            .condition(Category.shop_order == 9)
        )

    assert items(engine) == before


# -- several at once -----------------------------------------------------------------------------


def test_two_entities_swap_their_values(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db.run(create(Category(id="2", name="pasta")))

    db.run(
        transact(
            Category.primary("1").update(Category.name.set("pasta")),
            Category.primary("2").update(Category.name.set("vegetables")),
        )
    )

    assert db.run(Category.by_name("pasta")) == Category(id="1", name="pasta")
    assert db.run(Category.by_name("vegetables")) == Category(id="2", name="vegetables")
    assert len(items(engine)) == 4


def test_a_value_is_given_up_and_taken_in_one_transaction(db: Database, engine: Engine) -> None:
    vegetables = db.run(create(Category(id="1", name="vegetables")))
    db.run(transact(create(Category(id="2", name="vegetables")), delete(vegetables)))

    assert db.run(Category.by_name("vegetables")) == Category(id="2", name="vegetables")
    assert [item["PK"] for item in items(engine)] == ["CATEGORY#2", "CATEGORYNAME#vegetables"]


def test_a_swap_of_which_one_half_fails_changes_nothing(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db.run(create(Category(id="2", name="pasta")))
    before = items(engine)

    with pytest.raises(ConditionFailed, match="write 2 of 2, update Category"):
        db.run(
            transact(
                Category.primary("1").update(Category.name.set("pasta")),
                Category.primary("2")
                .update(Category.name.set("vegetables"))
                .condition(Category.shop_order == 9),
            )
        )

    assert items(engine) == before


def test_a_value_taken_by_another_meanwhile_is_not_handed_on(db: Database, engine: Engine) -> None:
    """The delete that was to free the value finds that its entity gave it up to somebody else."""
    vegetables = db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)

    def hand_on(_: int) -> None:
        other.run(Category.primary("1").update(Category.name.set("greens")))
        other.run(create(Category(id="3", name="vegetables")))

    db._transport = InterferingTransport(db._transport, hand_on)

    with pytest.raises(UniqueViolation):
        db.run(transact(delete(vegetables), create(Category(id="2", name="vegetables"))))

    assert [item["PK"] for item in items(engine)] == [
        "CATEGORY#1",
        "CATEGORY#3",
        "CATEGORYNAME#greens",
        "CATEGORYNAME#vegetables",
    ]


# -- others write at the same time ---------------------------------------------------------------


def test_a_value_that_changes_after_it_was_read_is_read_again(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.name.set("roots"))),
    )

    db.run(Category.primary("1").update(Category.name.set("greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_a_put_over_a_value_that_changes_after_it_was_read_reads_it_again(
    db: Database, engine: Engine
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.name.set("roots"))),
    )

    db.run(put(Category(id="1", name="greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_a_put_of_what_another_creates_meanwhile_replaces_it(db: Database, engine: Engine) -> None:
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(create(Category(id="1", name="roots")))
    )

    db.run(put(Category(id="1", name="greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


@pytest.mark.parametrize(
    "write",
    [
        lambda: Category.primary("1").update(Category.name.set("greens")),
        lambda: put(Category(id="1", name="greens")),
    ],
    ids=["update", "put"],
)
def test_a_value_that_the_entity_itself_got_meanwhile_is_its_own(
    db: Database, engine: Engine, write: Callable[[], Any]
) -> None:
    """Somebody else makes the same change first; no other entity has the value."""
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.name.set("greens"))),
    )

    db.run(write())

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_a_value_that_another_takes_meanwhile_is_refused(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(create(Category(id="2", name="greens")))
    )

    with pytest.raises(UniqueViolation):
        db.run(Category.primary("1").update(Category.name.set("greens")))

    assert db.run(Category.by_name("vegetables")) == Category(id="1", name="vegetables")


def test_a_change_that_never_wins_gives_up_and_writes_nothing(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.commit.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda n: other.run(Category.primary("1").update(Category.name.set(f"name {n}"))),
        times=1000,
    )

    with pytest.raises(Contention, match=r"update Category: .* nothing was written"):
        db.run(Category.primary("1").update(Category.name.set("greens")))

    (category, sentinel) = items(engine)
    assert category["name"].startswith("name ")
    assert sentinel["PK"] == f"CATEGORYNAME#{category['name']}"


# -- what an update gives ------------------------------------------------------------------------


class Badge(Entity, table=Accounts):
    badge_id: Attr[str] = attr()
    code: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    version: Attr[int] = version()

    primary = key("BADGE" / badge_id, "BADGE")
    by_code = unique("CODE" / code)


def test_an_update_of_the_value_gives_what_is_stored_and_not_what_the_instance_holds(
    db: Database,
) -> None:
    category = db.run(create(Category(id="1", name="vegetables")))
    db.run(Category.primary("1").update(Category.shop_order.set(5)))
    category.shop_order = 9

    changed = db.run(update(category, Category.name.set("greens")))

    assert changed == Category(id="1", name="greens", shop_order=5)
    assert changed == db.run(Category.primary("1"))


def test_an_update_of_the_value_of_a_versioned_entity_gives_what_is_stored(
    accounts: Database,
) -> None:
    badge = accounts.run(create(Badge(badge_id="1", code="a")))
    badge.state = "never saved"

    changed = accounts.run(update(badge, Badge.code.set("b")))

    assert (changed.code, changed.state, changed.version) == ("b", "new", 2)
    assert changed == accounts.run(Badge.primary("1"))


@pytest.mark.parametrize("by", ["key", "instance"])
def test_an_update_of_the_value_gives_what_another_wrote_meanwhile(
    db: Database, engine: Engine, by: str
) -> None:
    category = db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.shop_order.set(5))),
    )

    change = Category.name.set("greens")
    changed = db.run(
        update(category, change) if by == "instance" else Category.primary("1").update(change)
    )

    assert changed == Category(id="1", name="greens", shop_order=5)
    assert changed == other.run(Category.primary("1"))


# -- what a sentinel keeps -----------------------------------------------------------------------


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


# -- what expires --------------------------------------------------------------------------------


class Sessions(Table, name="sessions"):
    pass


class Session(Entity, table=Sessions):
    session_id: Attr[str] = attr()
    token: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    ends: Attr[datetime | None] = ttl(name="expires", default=None)

    primary = key("SESSION" / session_id, "SESSION")
    by_token = unique("TOKEN" / token)


ENDS = datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def sessions(engine: Engine) -> Database:
    db = connect(engine, Sessions)
    db.run(create(Session(session_id="1", token="t", ends=ENDS)))
    return db


def expiries(engine: Engine) -> dict[str, str | None]:
    """When each item expires, by its partition key."""
    return {item["PK"]: item.get("expires") for item in items(engine, "sessions")}


def seconds(moment: datetime) -> str:
    return str(int(moment.timestamp()))


def test_a_sentinel_expires_with_its_entity(sessions: Database, engine: Engine) -> None:
    assert expiries(engine) == {"SESSION#1": seconds(ENDS), "TOKEN#t": seconds(ENDS)}


def later(_: Database) -> Any:
    return Session.primary("1").update(Session.ends.set(ENDS + timedelta(hours=1)))


def never(_: Database) -> Any:
    return Session.primary("1").update(Session.ends.set(None))


def put_later(_: Database) -> Any:
    return put(Session(session_id="1", token="t", ends=ENDS + timedelta(hours=1)))


def instance_later(db: Database) -> Any:
    session = db.run(Session.primary("1"))
    assert session is not None
    return update(session, Session.ends.set(ENDS + timedelta(hours=1)))


@pytest.mark.parametrize(
    ("write", "expires"),
    [
        (later, seconds(ENDS + timedelta(hours=1))),
        (put_later, seconds(ENDS + timedelta(hours=1))),
        (instance_later, seconds(ENDS + timedelta(hours=1))),
        (never, None),
    ],
)
def test_a_sentinel_expires_when_its_entity_does_after_a_change(
    sessions: Database, engine: Engine, write: Callable[[Database], Any], expires: str | None
) -> None:
    sessions.run(write(sessions))
    assert expiries(engine) == {"SESSION#1": expires, "TOKEN#t": expires}


def test_a_sentinel_of_another_value_expires_with_its_entity(
    sessions: Database, engine: Engine
) -> None:
    sessions.run(Session.primary("1").update(Session.token.set("u")))
    assert expiries(engine) == {"SESSION#1": seconds(ENDS), "TOKEN#u": seconds(ENDS)}


def test_what_expires_frees_its_value(sessions: Database, engine: Engine) -> None:
    second = Session(session_id="2", token="t")
    engine.expire(ENDS.timestamp() - 1)
    with pytest.raises(UniqueViolation):
        sessions.run(create(second))

    engine.expire(ENDS.timestamp() + 1)
    sessions.run(create(second))

    assert sessions.run(Session.by_token("t")) == second
    assert sorted(expiries(engine)) == ["SESSION#2", "TOKEN#t"]
