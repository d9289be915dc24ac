"""`.returning("old")`: a write whose result is the entity as it was before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tablewright import (
    Engine,
    batch_write,
    connect,
    connect_async,
    create,
    delete,
    explain,
    put,
    transact,
    update,
    upsert,
)
from tablewright.database import Database
from tablewright.errors import (
    ConditionFailed,
    DeclarationError,
    InvalidValue,
    NotFound,
    VersionConflict,
)
from tablewright.plans import ReturningOld, Write
from tests.plan.writes.bank import Account, Bank, Branches, Card, Customer, Loan
from tests.transports import InterferingTransport, record_requests


def account(balance: int = 1, **others: Any) -> Account:
    return Account(account_id="1", balance=balance, **others)


def test_a_put_returns_what_it_replaces(db: Database) -> None:
    assert db.run(put(account(1)).returning("old")) is None
    assert db.run(put(account(2)).returning("old")) == account(1)
    assert db.run(Account.primary("1")) == account(2)


def test_an_update_returns_what_was_before(db: Database) -> None:
    db.run(create(account(1)))
    change = Account.primary("1").update(Account.balance.increment(5), Account.owner.set("bob"))

    assert db.run(change.returning("old")) == account(1)
    assert db.run(Account.primary("1")) == account(6, owner="bob")
    assert list(db.run(Account.of_owner("bob"))) == [account(6, owner="bob")]


def test_an_update_of_a_missing_item_is_refused(db: Database) -> None:
    with pytest.raises(NotFound):
        db.run(Account.primary("1").update(Account.balance.set(1)).returning("old"))


def test_an_instance_gets_the_values_after_the_update(db: Database) -> None:
    """Those that are stored, also where the instance had others."""
    loan = db.run(create(Loan(customer_id="c", loan_id="1")))
    mine = account(1)
    db.run(create(mine))
    db.run(Account.primary("1").update(Account.log.append("other")))

    before = db.run(update(mine, Account.balance.increment(1)).returning("old"))
    draft = db.run(update(loan, Loan.state.set("open")).returning("old"))

    assert (before.balance, before.log, before is mine) == (1, ["other"], False)
    assert mine == db.run(Account.primary("1")) == account(2, log=["other"])
    assert (draft.state, draft.version) == ("draft", 1)
    assert loan == db.run(Loan.primary("c", "1"))
    assert (loan.state, loan.version) == ("open", 2)


def test_an_upsert_returns_none_if_it_creates(db: Database) -> None:
    count = Account.primary("1").upsert(Account.balance.increment(1)).returning("old")

    assert db.run(count) is None
    assert db.run(count) == account(1)
    mine = account(7)
    assert db.run(upsert(mine, Account.balance.increment(1)).returning("old")) == account(2)
    assert mine == db.run(Account.primary("1")) == account(3)


def test_an_upsert_that_reads_first_returns_what_it_read(db: Database) -> None:
    ann = Customer(customer_id="1", email="a@x.y", name="Ann")
    named = upsert(ann, Customer.name.set("Anna")).returning("old")

    assert db.run(named) is None
    assert ann.name == "Anna"
    assert db.run(named) == Customer(customer_id="1", email="a@x.y", name="Anna")


def test_a_move_returns_what_was_under_the_old_key(db: Database) -> None:
    mine = db.run(create(account(1)))

    old = db.run(update(mine, Account.account_id.set("2")).returning("old"))
    assert (old.account_id, mine.account_id) == ("1", "2")
    same = db.run(update(mine, Account.account_id.set("2")).returning("old"))
    assert same == mine


def test_a_delete_returns_what_it_deletes(db: Database) -> None:
    db.run(create(account(1)))

    assert db.run(Account.primary("1").delete().returning("old")) == account(1)
    assert db.run(Account.primary("1").delete().returning("old")) is None


def test_a_write_with_side_items_returns_what_it_has_read(db: Database) -> None:
    old = Customer(customer_id="1", email="a@x.y")
    new = Customer(customer_id="1", email="b@x.y")
    db.run(create(old))

    assert db.run(put(new).returning("old")) == Customer(customer_id="1", email="a@x.y")
    changed = Customer.primary("1").update(Customer.email.set("c@x.y"))
    assert db.run(changed.returning("old")) == new
    assert db.run(Customer.primary("1").delete().returning("old")) == Customer(
        customer_id="1", email="c@x.y"
    )
    assert db.run(Customer.by_email("c@x.y")) is None


def test_alone_it_is_one_request(db: Database) -> None:
    db.run(create(account(1)))
    sent = record_requests(db)
    writes: list[Write[Any]] = [
        put(account(2)).returning("old"),
        Account.primary("1").update(Account.balance.set(3)).returning("old"),
        Account.primary("1").upsert(Account.balance.set(4)).returning("old"),
        Account.primary("1").delete().returning("old"),
    ]
    for write in writes:
        db.run(write)

    assert sent.operations == ["PutItem", "UpdateItem", "UpdateItem", "DeleteItem"]
    assert {request["ReturnValues"] for _, request in sent.requests} == {"ALL_OLD"}


def others() -> list[Write[Any]]:
    return [
        put(account(2)),
        Account.primary("1").update(Account.balance.set(2)),
        Account.primary("1").upsert(Account.balance.set(2)),
        Account.primary("1").delete(),
    ]


@pytest.mark.parametrize("write", others(), ids=lambda each: type(each).__name__)
def test_in_a_transaction_the_item_is_read_first(db: Database, write: Any) -> None:
    db.run(create(account(1)))
    sent = record_requests(db)
    plan = transact(write.returning("old"), put(Account(account_id="9")))

    assert db.run(plan)[0] == account(1)
    assert sent.operations == ["GetItem", "TransactWriteItems"]
    assert [each.operation for each in explain(plan).requests] == sent.operations
    after = db.run(Account.primary("1"))
    assert after is None if type(write).__name__ == "Delete" else after == account(2)


@pytest.mark.parametrize("write", others(), ids=lambda each: type(each).__name__)
def test_in_a_transaction_a_change_since_the_read_is_noticed(engine: Engine, write: Any) -> None:
    """Also of an attribute that the write does not change."""
    db = connect(engine, Bank, Branches)
    db.run(create(account(1)))
    change = Account.primary("1").update(Account.log.append("x"))
    interfering = InterferingTransport(db.transport, lambda _: db.run(change))

    plan = transact(write.returning("old"), put(Account(account_id="9")))
    assert db.through(interfering).run(plan)[0] == account(1, log=["x"])


def test_a_missing_item_in_a_transaction(db: Database) -> None:
    loan = put(Loan(customer_id="c", loan_id="1")).returning("old")
    count = Account.primary("1").upsert(Account.balance.set(1)).returning("old")
    gone = Account.primary("2").delete().returning("old")
    changed = Account.primary("3").update(Account.log.append("x")).returning("old")

    assert db.run(transact(loan, count, gone)) == (None, None, None)
    with pytest.raises(NotFound, match=r"write 2 of 2, update Account"):
        db.run(transact(gone, changed))


def test_a_version_is_still_compared(db: Database) -> None:
    loan = db.run(create(Loan(customer_id="c", loan_id="1")))
    stale = db.run(Loan.primary("c", "1"))
    db.run(update(loan, Loan.state.set("open")))
    assert stale is not None

    for write in (put(stale), update(stale, Loan.state.set("paid")), delete(stale)):
        old: Any = write.returning("old")
        for plan in (old, transact(old, put(account()))):
            with pytest.raises(VersionConflict):
                db.run(plan)


def test_a_condition_comes_first_and_is_kept(db: Database) -> None:
    db.run(create(account(1)))
    refused = put(account(9)).condition(Account.balance > 5).returning("old")

    with pytest.raises(ConditionFailed):
        db.run(refused)
    with pytest.raises(ConditionFailed):
        db.run(transact(refused, put(Card(card_id="1"))))


def test_a_value_that_is_there_already_is_no_change(db: Database) -> None:
    db.run(create(account(1, log=["x"])))
    mine = Account.primary("1").update(Account.log.append_if_absent("x")).returning("old")

    assert db.run(mine) == account(1, log=["x"])


def test_what_has_no_old_values_is_refused(db: Database) -> None:
    with pytest.raises(InvalidValue, match=r"put Account: returning\('new'\): expected 'old'"):
        put(account()).returning("new")  # type: ignore[arg-type]
    with pytest.raises(DeclarationError, match=r"takes put\(…\) and delete\(…\)"):
        batch_write([put(account()).returning("old")])  # type: ignore[list-item]
    assert not hasattr(create(account()), "returning")
    assert isinstance(put(account()).returning("old"), ReturningOld)


def test_in_an_event_loop(engine: Engine) -> None:
    async def replaced() -> Account | None:
        async with connect_async(engine, Bank, Branches) as db:
            await db.run(create(account(1)))
            return await db.run(put(account(2)).returning("old"))

    assert asyncio.run(replaced()) == account(1)
