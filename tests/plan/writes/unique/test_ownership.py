"""A sentinel is deleted and replaced only by the entity that it names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tablewright import (
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    children,
    connect,
    connect_async,
    create,
    delete,
    delete_all,
    key,
    put,
    root,
    save,
    transact,
    unique,
    update,
    update_all,
    upsert,
)
from tablewright.database import Database
from tablewright.errors import ConditionFailed, DuplicateValues, UniqueViolation
from tablewright.plans import backfill
from tests.new_table import new_table
from tests.plan.writes.unique.accounts import Account, Accounts, items
from tests.things import NamedEntity
from tests.transports import InterferingTransport, record_requests

EMAIL = "ann@x.ch"


def store_without_sentinels(engine: Engine, entity: Any) -> None:
    """Store an item as a program does that does not know its unique values."""
    compiled = entity.__entity__
    body = {"TableName": compiled.table.name, "Item": compiled.encode(vars(entity))}
    engine.call("PutItem", body)


def account(number: str, **values: Any) -> Account:
    return Account(tenant="T", account_id=number, handle=f"h{number}", **values)


def sentinels(engine: Engine, start: str = "EMAIL") -> list[dict[str, Any]]:
    return [item for item in items(engine, "accounts") if item["PK"].startswith(start)]


@pytest.fixture
def first(accounts: Database, engine: Engine) -> Account:
    """Account 1, without a sentinel of its email, which account 2 has reserved."""
    store_without_sentinels(engine, account("1", email=EMAIL))
    accounts.run(create(account("2", email=EMAIL)))
    found = accounts.run(Account.primary("T", "1"))
    assert found is not None
    return found


def change_and_save(entity: Account) -> Any:
    entity.email = "new@x.ch"
    return save(entity)


AT = Account.primary("T", "1")
NEW = Account.email.set("new@x.ch")
WRITES: dict[str, Callable[[Account], Any]] = {
    "put": lambda _: put(account("1", email="new@x.ch")),
    "put without the value": lambda _: put(account("1")),
    "update": lambda _: AT.update(NEW),
    "update of an instance": lambda entity: update(entity, NEW),
    "remove": lambda _: AT.update(Account.email.remove()),
    "save": change_and_save,
    "upsert": lambda _: AT.upsert(NEW, Account.handle.set("h1")),
    "upsert of an instance": lambda entity: upsert(entity, NEW),
    "update_all": lambda _: update_all(
        Account.primary.within("T").filter(Account.handle == "h1"), NEW
    ),
    "delete": lambda _: AT.delete(),
    "delete of an instance": delete,
    "delete_all": lambda _: delete_all(Account.primary.within("T").filter(Account.handle == "h1")),
    "move": lambda _: AT.update(Account.account_id.set("9")),
    "move and change": lambda _: AT.update(Account.account_id.set("9"), NEW),
    "transact": lambda _: transact(AT.update(NEW), create(account("8", email="other@x.ch"))),
    "transact with a delete": lambda _: transact(create(account("8")), AT.delete()),
    "spelling": lambda _: AT.update(Account.email.set(EMAIL.upper())),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_leaves_the_sentinel_of_another_entity(
    accounts: Database, engine: Engine, first: Account, write: Callable[[Account], Any]
) -> None:
    (reserved,) = sentinels(engine)

    accounts.run(write(first))

    assert reserved in sentinels(engine)
    second = accounts.run(Account.by_email(EMAIL))
    assert second is not None
    assert second.account_id == "2"
    with pytest.raises(UniqueViolation):
        accounts.run(create(account("3", email=EMAIL)))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_an_asynchronous_write_leaves_the_sentinel_of_another_entity(
    engine: Engine, first: Account, write: Callable[[Account], Any]
) -> None:
    (reserved,) = sentinels(engine)

    async def run() -> None:
        db = await connect_async(engine, Accounts)
        await db.run(write(first))
        with pytest.raises(UniqueViolation):
            await db.run(create(account("3", email=EMAIL)))

    asyncio.run(run())
    assert reserved in sentinels(engine)


def test_a_write_of_what_a_sentinel_keeps_leaves_that_of_another_entity(
    accounts: Database, engine: Engine
) -> None:
    store_without_sentinels(engine, Account(tenant="T", account_id="1", handle="ann"))
    accounts.run(create(Account(tenant="T", account_id="2", handle="ann")))

    changed = accounts.run(AT.update(Account.plan.set("paid")))

    assert changed.plan == "paid"
    (reserved,) = sentinels(engine, "HANDLE")
    assert (reserved["account_id"], reserved["plan"]) == ("2", "free")


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_of_an_item_without_sentinel_succeeds(
    accounts: Database, engine: Engine, write: Callable[[Account], Any]
) -> None:
    store_without_sentinels(engine, account("1", email=EMAIL))
    first = accounts.run(AT)
    assert first is not None

    accounts.run(write(first))


def test_a_write_of_what_a_sentinel_keeps_reserves_a_value_that_is_free(
    accounts: Database, engine: Engine
) -> None:
    store_without_sentinels(engine, Account(tenant="T", account_id="1", handle="ann"))

    accounts.run(AT.update(Account.plan.set("paid")))

    with pytest.raises(UniqueViolation):
        accounts.run(create(Account(tenant="T", account_id="2", handle="ann")))


def test_a_value_of_another_entity_cannot_be_handed_on(
    accounts: Database, engine: Engine, first: Account
) -> None:
    before = items(engine, "accounts")

    with pytest.raises(UniqueViolation, match="write 2 of 2, create Account"):
        accounts.run(transact(delete(first), create(account("3", email=EMAIL))))

    assert items(engine, "accounts") == before


def test_both_entities_with_a_value_can_be_deleted_in_one_transaction(
    accounts: Database, engine: Engine, first: Account
) -> None:
    accounts.run(transact(delete(first), Account.primary("T", "2").delete()))

    assert items(engine, "accounts") == []


def test_an_entity_that_shares_its_value_can_hand_it_on(
    accounts: Database, engine: Engine, first: Account
) -> None:
    """Account 2 has reserved the value, and gives it to account 3, while account 1 is deleted."""
    second = Account.primary("T", "2")
    accounts.run(transact(delete(first), second.delete(), create(account("3", email=EMAIL))))

    (reserved,) = sentinels(engine)
    assert reserved["account_id"] == "3"


def test_a_false_condition_is_reported_beside_the_sentinel_of_another_entity(
    accounts: Database, first: Account
) -> None:
    with pytest.raises(ConditionFailed, match="plan = 'paid' is false"):
        accounts.run(update(first, NEW).condition(Account.plan == "paid"))


def test_a_sentinel_that_names_its_entity_takes_no_further_request(
    accounts: Database,
) -> None:
    first = accounts.run(create(account("1", email=EMAIL)))
    sent = record_requests(accounts)

    accounts.run(update(first, NEW))

    assert sent.operations == ["GetItem", "TransactWriteItems"]


def test_the_sentinel_of_another_entity_takes_one_request_more(
    accounts: Database, first: Account
) -> None:
    sent = record_requests(accounts)

    accounts.run(update(first, NEW))

    assert sent.operations == ["GetItem", "TransactWriteItems", "TransactWriteItems"]


# -- aggregates ------------------------------------------------------------------------------------


class Parts(Table, name="parts"):
    pass


class Box(Entity, table=Parts):
    box: Attr[str] = attr()
    primary = key("BOX" / box, "BOX")


class Part(Entity, table=Parts):
    """Its sentinel keeps a part of the primary key only: it is compared as a whole."""

    box: Attr[str] = attr()
    part: Attr[str] = attr()
    serial: Attr[str] = attr()
    color: Attr[str] = attr(default="red")
    primary = key("BOX" / box, "PART" / part)
    by_serial = unique("SERIAL" / serial, keep=(part, color))


class BoxWithParts(Aggregate):
    box: Box = root()
    parts: list[Part] = children()


@pytest.fixture
def parts(engine: Engine) -> Database:
    return connect(engine, Parts)


def test_an_aggregate_whose_rows_share_a_value_is_deleted(parts: Database, engine: Engine) -> None:
    parts.run(create(Box(box="1")))
    for number in ("1", "2"):
        store_without_sentinels(engine, Part(box="1", part=number, serial="s"))

    assert parts.run(delete_all(BoxWithParts.of(Box.primary("1")))) == 3
    assert items(engine, "parts") == []


def test_rows_of_an_aggregate_leave_the_sentinels_of_other_rows(
    parts: Database, engine: Engine
) -> None:
    parts.run(create(Box(box="1")))
    store_without_sentinels(engine, Part(box="1", part="1", serial="s"))
    other = parts.run(create(Part(box="2", part="2", serial="s")))

    parts.run(delete_all(BoxWithParts.of(Box.primary("1"))))

    with pytest.raises(UniqueViolation):
        parts.run(create(Part(box="3", part="3", serial="s")))
    parts.run(delete(other))
    assert items(engine, "parts") == []


def test_a_moved_item_moves_its_rows_and_leaves_the_sentinels_of_others(
    parts: Database, engine: Engine
) -> None:
    parts.run(create(Box(box="1")))
    store_without_sentinels(engine, Part(box="1", part="1", serial="s"))
    parts.run(create(Part(box="2", part="2", serial="s")))

    parts.run(Box.primary("1").update(Box.box.set("9")))

    assert parts.run(Part.primary("9", "1")) is not None
    (reserved,) = (item for item in items(engine, "parts") if item["PK"] == "SERIAL#s")
    assert reserved["part"] == "2"


OldMembers = new_table("members")
Members = new_table("members")


class MemberFields(NamedEntity):
    email: Attr[str] = attr()


class OldMember(MemberFields, table=OldMembers, type_name="Member"):
    by_email = unique("EMAIL" / MemberFields.email, keep=(), type_name="Email")


class Member(MemberFields, table=Members):
    by_email = unique("EMAIL" / MemberFields.email, type_name="Email")


@pytest.fixture
def members(engine: Engine) -> Database:
    """With a member whose sentinel was written without the key, which is kept now."""
    connect(engine, OldMembers, update=True).run(create(OldMember(name="1", email=EMAIL)))
    return connect(engine, Members)


@pytest.mark.parametrize(
    "release",
    [
        Member.primary("1").update(Member.email.set("new@x.ch")),
        Member.primary("1").delete(),
        put(Member(name="1", email="new@x.ch")),
    ],
    ids=repr,
)
def test_a_sentinel_that_names_no_entity_is_released(members: Database, release: Any) -> None:
    with pytest.raises(UniqueViolation):
        members.run(create(Member(name="2", email=EMAIL)))
    members.run(release)
    members.run(create(Member(name="2", email=EMAIL)))


def test_a_backfill_names_the_entity_of_a_sentinel(members: Database) -> None:
    assert members.run(backfill(Members)) == 1
    found = members.run(Member.by_email(EMAIL))
    assert found is not None
    assert found.name == "1"
    assert members.run(backfill(Members)) == 0


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_backfill_finds_duplicates_of_a_sentinel_that_names_no_entity(
    members: Database, engine: Engine, dry_run: bool
) -> None:
    store_without_sentinels(engine, Member(name="2", email=EMAIL))

    with pytest.raises(DuplicateValues) as refused:
        members.run(backfill(Members, dry_run=dry_run))

    (duplicate,) = refused.value.duplicates
    found = {duplicate.key, duplicate.other}
    assert found == {f'PK="THING#{number}", SK="THING"' for number in "12"}


def test_a_sentinel_with_a_part_of_the_key_is_compared_as_a_whole(
    parts: Database, engine: Engine
) -> None:
    store_without_sentinels(engine, Part(box="1", part="1", serial="s"))
    parts.run(create(Part(box="2", part="1", serial="s", color="blue")))

    parts.run(Part.primary("1", "1").delete())

    with pytest.raises(UniqueViolation):
        parts.run(create(Part(box="3", part="3", serial="s")))


def test_a_change_of_what_a_sentinel_keeps_is_seen_by_a_delete_at_the_same_time(
    parts: Database, engine: Engine
) -> None:
    part = parts.run(create(Part(box="1", part="1", serial="s")))
    other = connect(engine, Parts)
    parts._transport = InterferingTransport(
        parts._transport,
        lambda _: other.run(Part.primary("1", "1").update(Part.color.set("blue"))),
    )

    parts.run(delete(part))

    assert items(engine, "parts") == []
