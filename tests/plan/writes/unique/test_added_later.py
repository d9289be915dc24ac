"""A unique value that is added to an entity with stored items."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    attr,
    connect,
    connect_async,
    create,
    delete,
    delete_all,
    key,
    put,
    save,
    transact,
    unique,
    update,
    update_all,
    upsert,
)
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import (
    DuplicateValues,
    TransactionCanceledException,
    UniqueNotReady,
    UniqueViolation,
    UnreadableItem,
)
from tablewright.formats import lower
from tablewright.plan.backfill import throttling
from tablewright.plans import BackfillProgress, backfill
from tests.new_table import new_table
from tests.things import NamedEntity
from tests.transports import InterceptingTransport, InterferingTransport, record_requests

OldUsers = new_table("users")
Users = new_table("users")


class UserFields(Entity):
    user_id: Attr[str] = attr()
    email: Attr[str | None] = attr(default=None)
    name: Attr[str] = attr(default="")
    primary = key("USER" / user_id, "USER")


class OldUser(UserFields, table=OldUsers, type_name="User"): ...


class User(UserFields, table=Users):
    by_email = unique("EMAIL" / lower(UserFields.email))


@pytest.fixture
def old(engine: Engine) -> Database:
    return connect(engine, OldUsers, update=True)


@pytest.fixture
def db(engine: Engine, old: Database) -> Database:
    """Of the new version, with a user from before."""
    old.run(put(OldUser(user_id="1", email="a@x")))
    return connect(engine, Users)


def sentinels(engine: Engine) -> dict[str, str]:
    """The owner of each reserved value."""
    found = engine.call("Scan", {"TableName": "users"})["Items"]
    return {
        item["PK"]["S"]: item["user_id"]["S"]
        for item in found
        if item["PK"]["S"].startswith("EMAIL")
    }


def change_and_save(db: Database) -> Any:
    user = db.run(User.primary("1"))
    assert user is not None
    user.email = "b@x"
    return save(user)


def test_a_value_too_long_for_a_key_is_named_and_can_be_deleted(
    db: Database, old: Database, engine: Engine
) -> None:
    """Its sentinel cannot exist: DynamoDB refuses the key."""
    for name in "234":
        old.run(put(OldUser(user_id=name, email=name * 2000)))
    with pytest.raises(UnreadableItem) as refused:
        db.run(backfill(User))
    assert str(refused.value).startswith(
        "User.by_email: the value of email is too long for a key: SK has 2,006 bytes, and the "
        'maximum is 1,024 (the item with PK="USER#'
    )
    db.run(User.primary("2").delete())
    found = db.run(User.primary("3"))
    assert found is not None
    db.run(delete(found))
    db.run(User.primary("4").update(User.email.remove()))
    assert db.run(backfill(User)) == 1
    assert sentinels(engine) == {"EMAIL#a@x": "1"}
    db = connect(engine, Users)
    assert db.run(User.by_email("a@x")) == User(user_id="1", email="a@x")


AT = User.primary("1")
NEW = User.email.set("b@x")
DEPENDING: dict[str, Callable[[Database], Any]] = {
    "create": lambda _: create(User(user_id="2", email="a@x")),
    "put": lambda _: put(User(user_id="2", email="b@x")),
    "put over an item": lambda _: put(User(user_id="1", email="b@x")),
    "update": lambda _: AT.update(NEW),
    "update of an instance": lambda db: update(db.run(AT), NEW),
    "save": change_and_save,
    "upsert": lambda _: User.primary("2").upsert(NEW),
    "upsert of an instance": lambda _: upsert(User(user_id="2"), NEW),
    "update_all": lambda _: update_all(User.primary.within("1"), NEW),
    "move": lambda _: AT.update(User.user_id.set("9")),
    "transact": lambda _: transact(create(User(user_id="2", email="b@x")), AT.delete()),
    "get": lambda _: User.by_email("a@x"),
}
INDEPENDENT: dict[str, Callable[[Database], Any]] = {
    "get": lambda _: AT,
    "create without the value": lambda _: create(User(user_id="2")),
    "put of the same value": lambda _: put(User(user_id="1", email="a@x", name="Ann")),
    "update": lambda _: AT.update(User.name.set("Ann")),
    "remove": lambda _: AT.update(User.email.remove()),
    "delete": lambda _: AT.delete(),
    "delete of an instance": lambda db: delete(db.run(AT)),
    "delete_all": lambda _: delete_all(User.primary.within("1")),
}


@pytest.mark.parametrize("plan", DEPENDING.values(), ids=DEPENDING)
def test_what_depends_on_the_value_is_refused(
    db: Database, engine: Engine, plan: Callable[[Database], Any]
) -> None:
    made, before = plan(db), engine.call("Scan", {"TableName": "users"})["Items"]
    with pytest.raises(UniqueNotReady) as refused:
        db.run(made)

    assert str(refused.value) == (
        "User.by_email: items of User that were stored in the table 'users' before this unique "
        "value was declared may not have reserved their values. Run: tablewright backfill "
        "tests.plan.writes.unique.test_added_later TARGET (TARGET: where the table is)"
    )
    assert engine.call("Scan", {"TableName": "users"})["Items"] == before


@pytest.mark.parametrize("plan", INDEPENDENT.values(), ids=INDEPENDENT)
def test_what_does_not_depend_on_the_value_works(
    db: Database, plan: Callable[[Database], Any]
) -> None:
    db.run(plan(db))


def test_an_asynchronous_write_is_refused_until_the_backfill_has_ended(
    db: Database, engine: Engine
) -> None:
    async def run() -> None:
        other = await connect_async(engine, Users)
        with pytest.raises(UniqueNotReady):
            await other.run(create(User(user_id="2", email="b@x")))
        assert await other.run(backfill(User)) == 1
        await other.run(create(User(user_id="2", email="b@x")))

    asyncio.run(run())


def test_a_connected_program_writes_as_soon_as_the_backfill_has_ended(
    db: Database, engine: Engine
) -> None:
    with pytest.raises(UniqueNotReady):
        db.run(create(User(user_id="2", email="b@x")))

    assert connect(engine, Users).run(backfill(Users)) == 1

    db.run(create(User(user_id="2", email="b@x")))
    with pytest.raises(UniqueViolation):
        db.run(create(User(user_id="3", email="A@x")))
    first = db.run(User.by_email("a@x"))
    assert first is not None
    assert first.user_id == "1"


def test_a_second_backfill_finds_nothing_to_do(db: Database) -> None:
    db.run(backfill(User))
    assert db.run(backfill(User)) == 0


def test_a_table_without_a_record_is_not_refused_and_can_be_backfilled(engine: Engine) -> None:
    connect(engine, OldUsers).run(put(OldUser(user_id="1", email="a@x")))
    db = connect(engine, Users)
    db.run(create(User(user_id="2", email="b@x")))

    assert db.run(backfill(User)) == 1
    with pytest.raises(UniqueViolation):
        db.run(create(User(user_id="3", email="a@x")))


def test_a_backfill_of_an_index_reserves_nothing(db: Database, engine: Engine) -> None:
    assert db.run(backfill(User, indexes=[])) == 0

    assert sentinels(engine) == {}
    with pytest.raises(UniqueNotReady):
        db.run(create(User(user_id="2", email="b@x")))


# -- rows below an item ----------------------------------------------------------------------------


OldMenus = new_table("menus")
Menus = new_table("menus")


class MenuFields(Entity):
    menu: Attr[str] = attr()
    primary = key("MENU" / menu, "MENU")


class OldMenu(MenuFields, table=OldMenus, type_name="Menu"): ...


class DishFields(Entity):
    menu: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    code: Attr[str | None] = attr(default=None)
    primary = key("MENU" / menu, "MENU#DISH" / number)


class OldDish(DishFields, table=OldMenus, type_name="Dish"): ...


class Menu(MenuFields, table=Menus): ...


class Dish(DishFields, table=Menus):
    by_code = unique("CODE" / DishFields.code)


def test_a_move_in_several_transactions_is_refused_before_the_first(engine: Engine) -> None:
    old = connect(engine, OldMenus, update=True)
    old.run(put(OldMenu(menu="1")))
    for number in range(60):
        old.run(put(OldDish(menu="1", number=number)))
    old.run(put(OldDish(menu="1", number=60, code="last")))
    db = connect(engine, Menus)

    with pytest.raises(UniqueNotReady):
        db.run(Menu.primary("1").update(Menu.menu.set("2")))

    assert len(db.run(Dish.primary.within("1"))) == 61


# -- variants, which share a unique value ----------------------------------------------------------


OldAccounts = new_table("accounts")
Accounts = new_table("accounts")


class AccountFields(NamedEntity):
    email: Attr[str] = attr()


class OldAccount(AccountFields, table=OldAccounts, variants=True): ...


class OldMember(OldAccount, type_name="Member"):
    pass


class OldTeam(OldAccount, type_name="Team"):
    pass


class Account(AccountFields, table=Accounts, variants=True):
    by_email = unique("EMAIL" / AccountFields.email)


class Member(Account):
    pass


class Team(Account):
    pass


def test_a_value_is_refused_until_all_variants_have_reserved_theirs(engine: Engine) -> None:
    old = connect(engine, OldAccounts, update=True)
    old.run(put(OldMember(name="ann", email="ann@x")))
    old.run(put(OldTeam(name="team", email="team@x")))
    db = connect(engine, Accounts)
    again = create(Member(name="bob", email="team@x"))

    db.run(backfill(Member))
    with pytest.raises(UniqueNotReady):
        db.run(again)

    db.run(backfill(Team))
    with pytest.raises(UniqueViolation):
        db.run(again)


# -- duplicates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_backfill_lists_all_duplicates(db: Database, old: Database, dry_run: bool) -> None:
    for number, email in (("2", "A@x"), ("3", "c@x"), ("4", "c@x"), ("5", "a@x"), ("6", "d@x")):
        old.run(put(OldUser(user_id=number, email=email)))
    seen: list[BackfillProgress] = []

    with pytest.raises(DuplicateValues) as refused:
        db.run(backfill(User, dry_run=dry_run, progress=seen.append))

    groups: dict[str, set[str]] = {}
    for duplicate in refused.value.duplicates:
        assert duplicate.unique == "User.by_email"
        groups.setdefault(duplicate.value.lower(), set()).update([duplicate.key, duplicate.other])
    assert groups == {
        "email 'a@x'": {f'PK="USER#{number}", SK="USER"' for number in "125"},
        "email 'c@x'": {f'PK="USER#{number}", SK="USER"' for number in "34"},
    }
    assert len(refused.value.duplicates) == 3
    assert str(refused.value).startswith("items of the table 'users' share values that must be")
    assert seen[-1].reserved == 3
    with pytest.raises(UniqueNotReady):
        db.run(create(User(user_id="9", email="z@x")))


def test_a_dry_run_writes_nothing(db: Database, engine: Engine) -> None:
    before = engine.call("Scan", {"TableName": "users"})["Items"]

    assert db.run(backfill(User, dry_run=True)) == 1
    assert engine.call("Scan", {"TableName": "users"})["Items"] == before


@pytest.mark.parametrize(
    "fix",
    [
        lambda db, old: db.run(User.primary("1").delete()),
        lambda db, old: db.run(User.primary("2").delete()),
        lambda db, old: db.run(User.primary("1").update(User.email.remove())),
        lambda db, old: old.run(OldUser.primary("1").update(OldUser.email.set("c@x"))),
        lambda db, old: old.run(OldUser.primary("2").update(OldUser.email.set("c@x"))),
        lambda db, old: old.run(OldUser.primary("1").delete()),
    ],
)
def test_a_second_backfill_completes_when_the_duplicates_are_fixed(
    db: Database, old: Database, engine: Engine, fix: Callable[[Database, Database], Any]
) -> None:
    old.run(put(OldUser(user_id="2", email="a@x")))
    with pytest.raises(DuplicateValues):
        db.run(backfill(User))

    fix(db, old)
    db.run(backfill(User))

    stored = {
        f"EMAIL#{user.email}": user.user_id
        for number in "12"
        if (user := db.run(User.primary(number))) is not None and user.email
    }
    assert sentinels(engine) == stored
    db.run(create(User(user_id="9", email="z@x")))


def test_a_duplicate_is_found_again_by_a_run_that_continues(engine: Engine, old: Database) -> None:
    """A page with a duplicate is not skipped by the next run."""
    for number in range(40):
        user = OldUser(user_id=str(number), email=f"{number % 39}@x", name="x" * 60_000)
        old.run(put(user))
    db = connect(engine, Users)

    for _ in range(3):
        pages = iter([False, True])

        def stop(_: BackfillProgress, pages: Iterator[bool] = pages) -> None:
            if next(pages):
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt, DuplicateValues):
            db.run(backfill(User, progress=stop))
    with pytest.raises(DuplicateValues) as refused:
        db.run(backfill(User))
    assert len(refused.value.duplicates) == 1


# -- while others write ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reserved"),
    [
        (OldUser.primary("1").update(OldUser.email.set("b@x")), {"EMAIL#b@x": "1"}),
        (OldUser.primary("1").update(OldUser.email.remove()), {}),
        (OldUser.primary("1").delete(), {}),
    ],
    ids=repr,
)
def test_a_value_is_reserved_only_if_the_item_still_has_it(
    db: Database, old: Database, engine: Engine, change: Any, reserved: dict[str, str]
) -> None:
    db._transport = InterferingTransport(db._transport, lambda _: old.run(change))

    db.run(backfill(User))

    assert sentinels(engine) == reserved


def test_a_value_that_another_item_takes_meanwhile_is_a_duplicate(
    db: Database, engine: Engine
) -> None:
    def reserve(_: int) -> None:
        engine.call("PutItem", {"TableName": "users", "Item": _item("2", "a@x")})
        sentinel = {
            "PK": {"S": "EMAIL#a@x"},
            "SK": {"S": "EMAIL#a@x"},
            "user_id": {"S": "2"},
            "email": {"S": "a@x"},
        }
        engine.call("PutItem", {"TableName": "users", "Item": sentinel})

    db._transport = InterferingTransport(db._transport, reserve)

    with pytest.raises(DuplicateValues):
        db.run(backfill(User))
    assert sentinels(engine) == {"EMAIL#a@x": "2"}


def _item(number: str, email: str) -> dict[str, Any]:
    return User.__entity__.encode(vars(User(user_id=number, email=email)))


def test_an_item_that_cannot_be_read_stops_the_backfill(db: Database, engine: Engine) -> None:
    item = _item("2", "b@x") | {"email": {"N": "5"}}
    engine.call("PutItem", {"TableName": "users", "Item": item})

    with pytest.raises(UnreadableItem, match='PK="USER#2"'):
        db.run(backfill(User))
    with pytest.raises(UniqueNotReady):
        db.run(create(User(user_id="3", email="b@x")))


def test_a_throttled_transaction_is_sent_again(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttling, "THROTTLED", Backoff(attempts=50, first=0.0, longest=0.0))
    canceled = iter(["ThrottlingError", "ProvisionedThroughputExceeded"] * 20)

    def throttle(operation: str, _: dict[str, Any]) -> None:
        if operation == "TransactWriteItems" and (code := next(canceled, None)) is not None:
            raise TransactionCanceledException([{"Code": code}, {"Code": "None"}])

    db._transport = InterceptingTransport(engine, throttle)

    assert db.run(backfill(User)) == 1


def test_a_reserved_value_takes_no_write(db: Database) -> None:
    db.run(backfill(User))
    sent = record_requests(db)

    db.run(backfill(User))

    assert "TransactWriteItems" not in sent.operations


# -- sentinels that do not name their entity -------------------------------------------------------


OldParts = new_table("parts")
Parts = new_table("parts")


class OldPart(Entity, table=OldParts, type_name="Part"):
    box: Attr[str] = attr()
    part: Attr[str] = attr()
    serial: Attr[str] = attr()
    primary = key("BOX" / box, "PART" / part)


class Part(Entity, table=Parts):
    box: Attr[str] = attr()
    part: Attr[str] = attr()
    serial: Attr[str] = attr()
    primary = key("BOX" / box, "PART" / part)
    by_serial = unique("SERIAL" / serial, keep=(part,))


@pytest.mark.parametrize("dry_run", [False, True])
def test_duplicates_are_found_if_their_sentinels_are_equal(engine: Engine, dry_run: bool) -> None:
    old = connect(engine, OldParts, update=True)
    for box in "12":
        old.run(put(OldPart(box=box, part="1", serial="s")))
    db = connect(engine, Parts)

    with pytest.raises(DuplicateValues) as refused:
        db.run(backfill(Part, dry_run=dry_run))

    (duplicate,) = refused.value.duplicates
    assert {duplicate.key, duplicate.other} == {f'PK="BOX#{box}", SK="PART#1"' for box in "12"}
    old.run(OldPart.primary("2", "1").delete())
    db.run(backfill(Part))
    with pytest.raises(UniqueViolation):
        db.run(create(Part(box="3", part="1", serial="s")))


OldLogins = new_table("logins")
Logins = new_table("logins")


class LoginFields(Entity):
    login: Attr[str] = attr()
    email: Attr[str] = attr()
    primary = key("LOGIN" / lower(login), "LOGIN")


class OldLogin(LoginFields, table=OldLogins, type_name="Login"): ...


class Login(LoginFields, table=Logins):
    by_email = unique("EMAIL" / LoginFields.email)


def test_an_item_is_no_duplicate_of_itself_in_another_spelling(engine: Engine) -> None:
    db = connect(engine, Logins, update=True)
    db.run(create(Login(login="Ann", email="a@x")))
    connect(engine, OldLogins).run(put(OldLogin(login="ann", email="a@x")))

    assert db.run(backfill(Logins)) == 1
    assert db.run(backfill(Logins)) == 0


def test_a_sentinel_of_an_unknown_item_is_reported(engine: Engine) -> None:
    old = connect(engine, OldParts, update=True)
    old.run(put(OldPart(box="1", part="1", serial="s")))
    sentinel = {"PK": {"S": "SERIAL#s"}, "SK": {"S": "SERIAL#s"}, "part": {"S": "7"}}
    engine.call("PutItem", {"TableName": "parts", "Item": sentinel})

    with pytest.raises(DuplicateValues, match='the sentinel PK="SERIAL#s", SK="SERIAL#s"'):
        connect(engine, Parts).run(backfill(Part))
