from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    attr,
    batch_write,
    condition_check,
    create,
    delete,
    history,
    key,
    put,
    update,
)
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import Contention, DeclarationError, InvalidValue
from tests.new_table import new_table
from tests.plan.writes.bank import Account, Branch, Customer, Loan
from tests.transports import ThrottlingTransport

Traces = new_table("traces")


class Event(Entity, table=Traces):
    thing_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    new: Attr[str] = attr()

    primary = key("TRACED" / thing_id, "EVENT" / at)


class Traced(Entity, table=Traces):
    thing_id: Attr[str] = attr()
    state: Attr[str] = attr(default="new")

    primary = key("TRACED" / thing_id, "TRACED")
    states = history(state, Event, new=Event.new, at=Event.at)


def keys(engine: Engine, table: str = "bank") -> list[str]:
    items = engine.call("Scan", {"TableName": table})["Items"]
    return sorted(item["PK"]["S"] for item in items)


def test_a_batch_puts_and_deletes(db: Database, engine: Engine) -> None:
    db.run(put(Account(account_id="1", owner="a")))
    db.run(put(Account(account_id="2", owner="a")))

    db.run(
        batch_write(
            [
                put(Account(account_id="3", owner="b")),
                put(Account(account_id="2", owner="b")),
                Account.primary("1").delete(),
            ]
        )
    )

    assert keys(engine) == ["ACCOUNT#2", "ACCOUNT#3"]
    assert [account.account_id for account in db.run(Account.of_owner("b"))] == ["2", "3"]
    assert list(db.run(Account.of_owner("a"))) == []


def test_a_batch_deletes_instances_and_what_is_not_there(db: Database, engine: Engine) -> None:
    account = db.run(put(Account(account_id="1")))
    db.run(batch_write([delete(account), Account.primary("9").delete()]))

    assert keys(engine) == []


def test_a_batch_of_more_than_25_goes_in_several_requests(db: Database, engine: Engine) -> None:
    db._transport = throttled = ThrottlingTransport(db._transport, times=0, unprocessed=0)
    db.run(batch_write(put(Account(account_id=f"{number:03}")) for number in range(60)))

    assert throttled.sizes == [25, 25, 10]
    assert keys(engine) == [f"ACCOUNT#{number:03}" for number in range(60)]


def test_a_batch_reaches_over_tables(db: Database, engine: Engine) -> None:
    db.run(batch_write([put(Account(account_id="1")), put(Branch(branch_id="1"))]))

    assert keys(engine) == ["ACCOUNT#1"]
    assert keys(engine, "branches") == ["BRANCH#1"]


def test_an_empty_batch_does_nothing(db: Database, engine: Engine) -> None:
    db._transport = throttled = ThrottlingTransport(db._transport, times=0, unprocessed=0)
    db.run(batch_write([]))

    assert throttled.sizes == []


@pytest.mark.parametrize("left", [1, 7, 25])
def test_what_was_not_processed_is_sent_again(db: Database, engine: Engine, left: int) -> None:
    db.run(put(Branch(branch_id="gone")))
    db._transport = throttled = ThrottlingTransport(db._transport, times=1, unprocessed=left)
    writes = [put(Account(account_id=f"{number:03}")) for number in range(30)]
    db.run(batch_write([*writes, Branch.primary("gone").delete(), put(Branch(branch_id="new"))]))

    assert keys(engine) == [f"ACCOUNT#{number:03}" for number in range(30)]
    assert keys(engine, "branches") == ["BRANCH#new"]
    assert sum(throttled.sizes) == 32 + left


def test_a_long_batch_of_which_every_answer_leaves_something_is_done(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB does most of every request, and so there is no reason to give up."""
    monkeypatch.setattr(
        "tablewright.plan.reads.several.UNPROCESSED", Backoff(10, first=0.0, longest=0.0)
    )
    db._transport = ThrottlingTransport(db._transport, times=14, unprocessed=5)
    db.run(batch_write(put(Account(account_id=f"{number:03}")) for number in range(302)))

    assert len(keys(engine)) == 302


def test_a_batch_of_which_nothing_is_ever_done_is_an_error(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.reads.several.UNPROCESSED", Backoff(10, first=0.0, longest=0.0)
    )
    db._transport = ThrottlingTransport(db._transport, times=1000, unprocessed=25)

    with pytest.raises(
        Contention, match="BatchWriteItem: DynamoDB processed nothing in 10 attempts"
    ):
        db.run(batch_write([put(Account(account_id="1"))]))

    assert keys(engine) == []


def test_a_batch_stamps_the_instances_as_a_put_does(db: Database) -> None:
    branch = Branch(branch_id="1")
    db.run(batch_write([put(branch)]))

    assert db.run(Branch.primary("1")) == branch


def test_two_writes_to_one_item_are_refused_before_sending(db: Database, engine: Engine) -> None:
    writes = [put(Account(account_id=str(number))) for number in range(30)]

    with pytest.raises(InvalidValue, match=r"two writes have the same key.*ACCOUNT#0"):
        db.run(batch_write([*writes, Account.primary("0").delete()]))

    assert keys(engine) == []


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (put(Loan(customer_id="C1", loan_id="1")), "put Loan: it has a version"),
        (delete(Loan(customer_id="C1", loan_id="1")), "delete Loan: it has a version"),
        (Loan.primary("C1", "1").delete(), "delete Loan: it has a version"),
        (put(Customer(customer_id="1", email="n")), "put Customer: it has unique values"),
        (Customer.primary("1").delete(), "delete Customer: it has unique values"),
        (put(Traced(thing_id="1")), "put Traced: it has a history"),
        (
            put(Account(account_id="1")).condition(Account.owner == "a"),
            "put Account: it has a condition",
        ),
        (
            Account.primary("1").delete().condition(Account.owner == "a"),
            "delete Account: it has a condition",
        ),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_write_that_needs_a_condition_is_refused(write: Any, reason: str) -> None:
    with pytest.raises(
        DeclarationError, match=rf"batch_write\(\) cannot {reason}.*use transact\(\)"
    ):
        batch_write([put(Account(account_id="2")), write])


@pytest.mark.parametrize(
    "write",
    [
        create(Account(account_id="1")),
        Account.primary("1").update(Account.owner.set("a")),
        update(Account(account_id="1"), Account.owner.set("a")),
        condition_check(Account.primary("1")),
        Account.primary("1"),
        Account(account_id="1"),
    ],
    ids=["create", "update by key", "update", "condition_check", "get", "instance"],
)
def test_what_is_neither_put_nor_delete_is_refused(write: Any) -> None:
    with pytest.raises(
        DeclarationError, match=r"batch_write\(\) takes put\(…\) and delete\(…\), not"
    ):
        batch_write([write])


def test_a_value_that_does_not_fit_is_refused_before_anything_is_sent(
    db: Database, engine: Engine
) -> None:
    writes = [put(Account(account_id=f"{number:03}")) for number in range(30)]

    with pytest.raises(InvalidValue, match="account_id is empty"):
        db.run(batch_write([*writes, put(Account(account_id=""))]))

    assert keys(engine) == []


def test_a_batch_of_no_writes_can_be_shown() -> None:
    assert repr(batch_write([])) == "BatchWrite(BatchWriteItem )"
