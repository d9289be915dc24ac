from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    Engine,
    connect,
    create,
    delete,
)
from tablewright.database import Database
from tablewright.errors import ConditionFailed, DeclarationError, VersionConflict
from tests.plan.writes.bank import Account, Bank, Customer, Loan
from tests.transports import InterferingTransport


def keys(engine: Engine) -> list[str]:
    items = engine.call("Scan", {"TableName": "bank"})["Items"]
    return sorted(item["PK"]["S"] for item in items)


def test_a_delete_gives_what_was_there(db: Database, engine: Engine) -> None:
    account = db.run(create(Account(account_id="1")))

    assert db.run(Account.primary("1").delete()) == account
    assert keys(engine) == []


def test_a_delete_of_what_is_not_there_gives_none(db: Database) -> None:
    assert db.run(Account.primary("1").delete()) is None
    assert db.run(delete(Account(account_id="1"))) is None


def test_a_delete_takes_the_index_entry_away(db: Database) -> None:
    account = db.run(create(Account(account_id="1")))
    db.run(delete(account))

    assert list(db.run(Account.of_owner("ann"))) == []


def test_a_delete_leaves_others_alone(db: Database, engine: Engine) -> None:
    db.run(create(Account(account_id="1")))
    db.run(create(Account(account_id="10")))
    db.run(Account.primary("1").delete())

    assert keys(engine) == ["ACCOUNT#10"]


def test_a_delete_under_a_condition_that_holds_is_done(db: Database, engine: Engine) -> None:
    db.run(create(Account(account_id="1", balance=10)))
    db.run(Account.primary("1").delete().condition(Account.balance < 50))

    assert keys(engine) == []


def test_a_delete_under_a_condition_that_does_not_hold_is_refused(
    db: Database, engine: Engine
) -> None:
    account = db.run(create(Account(account_id="1", balance=100)))

    with pytest.raises(ConditionFailed, match=r"Account \(PK=.*balance < 50 is false") as refused:
        db.run(Account.primary("1").delete().condition(Account.balance < 50))

    assert refused.value.current == account
    assert keys(engine) == ["ACCOUNT#1"]


def test_a_condition_on_what_is_not_there_does_not_hold(db: Database) -> None:
    with pytest.raises(ConditionFailed) as refused:
        db.run(Account.primary("1").delete().condition(Account.balance < 50))

    assert refused.value.current is None


# -- versions ------------------------------------------------------------------------------------


def test_a_delete_of_the_version_at_hand_is_done(db: Database, engine: Engine) -> None:
    loan = db.run(create(Loan(customer_id="C1", loan_id="1")))

    assert db.run(delete(loan)) == loan
    assert keys(engine) == []


def test_a_stale_delete_is_refused(db: Database, engine: Engine) -> None:
    loan = db.run(create(Loan(customer_id="C1", loan_id="1")))
    current = db.run(Loan.primary("C1", "1").update(Loan.state.set("late")))

    with pytest.raises(
        VersionConflict, match="version 1 was expected, but version 2 is stored"
    ) as refused:
        db.run(delete(loan))

    assert refused.value.current == current
    assert loan.version == 1
    assert keys(engine) == ["CUSTOMER#C1"]


def test_a_delete_by_key_takes_any_version(db: Database, engine: Engine) -> None:
    db.run(create(Loan(customer_id="C1", loan_id="1")))
    db.run(Loan.primary("C1", "1").update(Loan.state.set("late")))
    db.run(Loan.primary("C1", "1").delete())

    assert keys(engine) == []


def test_a_delete_by_key_can_expect_a_version(db: Database, engine: Engine) -> None:
    db.run(create(Loan(customer_id="C1", loan_id="1")))

    with pytest.raises(VersionConflict):
        db.run(Loan.primary("C1", "1").delete().condition(Loan.version == 2))

    db.run(Loan.primary("C1", "1").delete().condition(Loan.version == 1))
    assert keys(engine) == []


def test_a_delete_of_a_version_that_was_deleted_is_stale(db: Database) -> None:
    loan = db.run(create(Loan(customer_id="C1", loan_id="1")))
    db.run(Loan.primary("C1", "1").delete())

    with pytest.raises(
        VersionConflict, match="version 1 was expected, but the item does not exist: it was deleted"
    ) as refused:
        db.run(delete(loan))

    assert refused.value.current is None


def test_a_delete_by_one_who_never_read_the_item_is_stale(db: Database, engine: Engine) -> None:
    current = db.run(create(Loan(customer_id="C1", loan_id="1")))

    with pytest.raises(VersionConflict) as refused:
        db.run(delete(Loan(customer_id="C1", loan_id="1")))

    assert refused.value.current == current
    assert keys(engine) == ["CUSTOMER#C1"]


# -- unique values -------------------------------------------------------------------------------


def test_a_delete_frees_the_unique_value(db: Database, engine: Engine) -> None:
    customer = db.run(create(Customer(customer_id="1", email="c1")))
    assert keys(engine) == ["CUSTOMER#1", "EMAIL#c1"]

    assert db.run(Customer.primary("1").delete()) == customer

    assert keys(engine) == []
    db.run(create(Customer(customer_id="2", email="c1")))


def test_a_delete_without_a_unique_value_is_a_delete(db: Database, engine: Engine) -> None:
    customer = db.run(create(Customer(customer_id="1")))

    assert db.run(delete(customer)) == customer
    assert keys(engine) == []


def test_a_delete_of_a_unique_entity_that_is_not_there_gives_none(db: Database) -> None:
    assert db.run(Customer.primary("1").delete()) is None


def test_a_refused_delete_leaves_the_unique_value_taken(db: Database, engine: Engine) -> None:
    db.run(create(Customer(customer_id="1", email="c1", name="ann")))

    with pytest.raises(ConditionFailed, match="name = 'bob' is false"):
        db.run(Customer.primary("1").delete().condition(Customer.name == "bob"))

    assert keys(engine) == ["CUSTOMER#1", "EMAIL#c1"]


def test_a_delete_frees_the_value_that_came_while_it_read(db: Database, engine: Engine) -> None:
    db.run(create(Customer(customer_id="1", email="c1")))
    other = connect(engine, Bank)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Customer.primary("1").update(Customer.email.set("c2"))),
    )

    deleted = db.run(Customer.primary("1").delete())

    assert deleted is not None
    assert deleted.email == "c2"
    assert keys(engine) == []


def test_a_delete_of_what_goes_away_meanwhile_gives_none(db: Database, engine: Engine) -> None:
    db.run(create(Customer(customer_id="1", email="c1")))
    other = connect(engine, Bank)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Customer.primary("1").delete())
    )

    assert db.run(Customer.primary("1").delete()) is None
    assert keys(engine) == []


def test_a_delete_under_a_condition_of_another_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Loan\.state is not an attribute of Account"):
        Account.primary("1").delete().condition(Loan.state == "open")  # type: ignore[arg-type]


@pytest.mark.parametrize("condition", [None, True, "balance > 1", Account.balance])
def test_a_delete_under_what_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Account\."):
        Account.primary("1").delete().condition(condition)


def test_a_key_is_no_entity() -> None:
    with pytest.raises(
        DeclarationError, match=r"write Order\.primary\(…\)\.update\(…\) or \.delete"
    ):
        delete(Account.primary("1"))  # type: ignore[type-var]
