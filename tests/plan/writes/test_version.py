from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    Engine,
    condition_check,
    create,
    delete,
    put,
    transact,
    update,
)
from tablewright.database import Database
from tablewright.errors import AlreadyExists, InvalidValue, UniqueViolation, VersionConflict
from tablewright.plans import Write
from tests.plan.writes.bank import Card, Loan


@pytest.fixture
def loan(db: Database) -> Loan:
    return db.run(create(Loan(customer_id="C1", loan_id="1")))


def items(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "bank"})["Items"]
    return found


def stored_version(engine: Engine) -> str:
    (item,) = items(engine)
    return str(item["_version"]["N"])


# -- counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [create, put])
def test_a_new_entity_has_version_1(db: Database, engine: Engine, write: Any) -> None:
    loan = Loan(customer_id="C1", loan_id="1")
    assert loan.version == 0

    db.run(write(loan))

    assert loan.version == 1
    assert stored_version(engine) == "1"


WRITES: dict[str, Any] = {
    "put": put,
    "update of an instance": lambda loan: update(loan, Loan.text.set("x")),
    "update of an instance, with an index key": lambda loan: update(loan, Loan.state.set("x")),
    "update by key": lambda loan: Loan.primary("C1", "1").update(Loan.text.set("x")),
    "update by key, with an index key": lambda loan: Loan.primary("C1", "1").update(
        Loan.state.set("x")
    ),
    "update to the same value": lambda loan: Loan.primary("C1", "1").update(Loan.text.set("")),
    "put in a transaction": lambda loan: transact(put(loan)),
    "move": lambda loan: update(loan, Loan.customer_id.set("C2")),
    "move by key": lambda loan: Loan.primary("C1", "1").update(Loan.loan_id.set("2")),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_write_counts_the_version_on(
    db: Database, engine: Engine, loan: Loan, name: str
) -> None:
    db.run(WRITES[name](loan))

    assert stored_version(engine) == "2"


def test_an_update_in_a_transaction_counts_the_version_on(
    db: Database, engine: Engine, loan: Loan
) -> None:
    db.run(create(Card(card_id="C1")))
    db.run(transact(update(loan, Loan.text.set("x")), condition_check(Card.primary("C1"))))

    assert loan.version == 2
    assert loan.text == "x"
    assert db.run(Loan.primary("C1", "1")) == loan


@pytest.mark.parametrize(
    "name", ["put", "update of an instance", "update of an instance, with an index key", "move"]
)
def test_a_write_counts_the_version_of_the_instance_on(db: Database, loan: Loan, name: str) -> None:
    db.run(WRITES[name](loan))
    assert loan.version == 2

    db.run(put(loan))
    assert loan.version == 3


def test_a_create_after_a_delete_begins_again(db: Database, loan: Loan) -> None:
    db.run(delete(loan))
    db.run(create(loan))

    assert loan.version == 1


def test_a_version_cannot_be_given() -> None:
    with pytest.raises(InvalidValue, match=r"Loan\.version is set by the library"):
        Loan(customer_id="C1", loan_id="1", version=5)  # type: ignore[call-arg]


# -- stale writers -------------------------------------------------------------------------------

STALE: dict[str, Any] = {
    "put": put,
    "update": lambda loan: update(loan, Loan.text.set("mine")),
    "update with an index key": lambda loan: update(loan, Loan.state.set("mine")),
    "update by key": lambda loan: (
        Loan.primary("C1", "1").update(Loan.text.set("mine")).condition(Loan.version == 1)
    ),
    "update by key with an index key": lambda loan: (
        Loan.primary("C1", "1").update(Loan.state.set("mine")).condition(Loan.version == 1)
    ),
    "delete": delete,
    "delete by key": lambda loan: Loan.primary("C1", "1").delete().condition(Loan.version == 1),
    "move": lambda loan: update(loan, Loan.customer_id.set("C2")),
    "move by key": lambda loan: (
        Loan.primary("C1", "1").update(Loan.customer_id.set("C2")).condition(Loan.version == 1)
    ),
}


@pytest.mark.parametrize("name", STALE)
def test_a_stale_write_is_refused_and_nothing_is_written(
    db: Database, engine: Engine, loan: Loan, name: str
) -> None:
    current = db.run(Loan.primary("C1", "1").update(Loan.text.set("theirs")))
    before = items(engine)

    with pytest.raises(VersionConflict, match=r"Loan \(PK=.*version 1 was expected") as refused:
        db.run(STALE[name](loan))

    assert refused.value.entity == "Loan"
    assert refused.value.key == {"PK": {"S": "CUSTOMER#C1"}, "SK": {"S": "LOAN#1"}}
    assert refused.value.current == current
    assert items(engine) == before


@pytest.mark.parametrize("name", STALE)
def test_a_stale_write_in_a_transaction_is_refused_and_nothing_is_written(
    db: Database, engine: Engine, loan: Loan, name: str
) -> None:
    current = db.run(Loan.primary("C1", "1").update(Loan.text.set("theirs")))
    before = items(engine)

    with pytest.raises(VersionConflict, match="write 2 of 2") as refused:
        db.run(transact(create(Card(card_id="C1")), STALE[name](loan)))

    assert refused.value.current == current
    assert items(engine) == before


@pytest.mark.parametrize("name", ["put", "update", "update with an index key", "delete", "move"])
def test_an_instance_keeps_its_version_and_stamps_when_the_write_fails(
    db: Database, loan: Loan, name: str
) -> None:
    db.run(Loan.primary("C1", "1").update(Loan.text.set("theirs")))
    before = dict(vars(loan))

    with pytest.raises(VersionConflict):
        db.run(STALE[name](loan))

    assert vars(loan) == before


def test_a_put_over_what_was_never_read_is_refused(db: Database, loan: Loan) -> None:
    with pytest.raises(
        VersionConflict, match="it already exists, in version 1; read it before you replace it"
    ):
        db.run(put(Loan(customer_id="C1", loan_id="1", text="mine")))

    assert db.run(Loan.primary("C1", "1")) == loan


def test_a_put_of_what_was_deleted_is_refused(db: Database, engine: Engine, loan: Loan) -> None:
    db.run(Loan.primary("C1", "1").delete())

    with pytest.raises(
        VersionConflict, match="version 1 was expected, but the item does not exist: it was deleted"
    ):
        db.run(put(loan))

    assert items(engine) == []


def test_a_stale_writer_can_go_on_from_the_current_item(db: Database, loan: Loan) -> None:
    db.run(Loan.primary("C1", "1").update(Loan.text.set("theirs")))
    with pytest.raises(VersionConflict) as refused:
        db.run(update(loan, Loan.state.set("final")))

    current: Loan = refused.value.current
    updated = db.run(update(current, Loan.state.set("final")))

    assert (updated.version, updated.text, updated.state) == (3, "theirs", "final")


def test_a_create_of_what_is_there_is_no_stale_write(db: Database, loan: Loan) -> None:
    again = Loan(customer_id="C1", loan_id="1")

    with pytest.raises(AlreadyExists):
        db.run(create(again))

    assert again.version == 0


# -- with unique values --------------------------------------------------------------------------

CARD: dict[str, Any] = {
    "put": lambda card: _with_number(card, "b2"),
    "update": lambda card: update(card, Card.number.set("b2")),
    "delete": delete,
    "move": lambda card: update(card, Card.card_id.set("C9")),
}


def _with_number(card: Card, number: str) -> Write[Card]:
    card.number = number
    return put(card)


@pytest.mark.parametrize("name", CARD)
def test_a_stale_write_leaves_sentinels_alone(db: Database, engine: Engine, name: str) -> None:
    card = db.run(create(Card(card_id="C1", number="b1")))
    db.run(Card.primary("C1").update(Card.number.set("b0")))
    before = items(engine)

    with pytest.raises(VersionConflict):
        db.run(CARD[name](card))

    assert items(engine) == before
    assert card.version == 1


@pytest.mark.parametrize("name", ["put", "update", "move"])
def test_a_write_with_sentinels_counts_the_version_on(
    db: Database, engine: Engine, name: str
) -> None:
    card = db.run(create(Card(card_id="C1", number="b1")))
    db.run(CARD[name](card))

    assert card.version == 2
    found = db.run(Card.primary(card.card_id))
    assert found == card


def test_a_write_that_is_not_unique_keeps_the_version(db: Database) -> None:
    db.run(create(Card(card_id="C2", number="b2")))
    card = db.run(create(Card(card_id="C1", number="b1")))

    with pytest.raises(UniqueViolation):
        db.run(update(card, Card.number.set("b2")))

    assert (card.version, card.number) == (1, "b1")


# -- items from before the entity was versioned --------------------------------------------------


@pytest.mark.parametrize(
    "name", ["put", "update of an instance", "update by key", "update by key, with an index key"]
)
def test_an_item_without_a_version_counts_as_version_0(
    db: Database, engine: Engine, name: str
) -> None:
    old = {
        "customer_id": {"S": "C1"},
        "loan_id": {"S": "1"},
        "state": {"S": "draft"},
        "text": {"S": ""},
    }
    key = {"PK": {"S": "CUSTOMER#C1"}, "SK": {"S": "LOAN#1"}, "type": {"S": "Loan"}}
    engine.call("PutItem", {"TableName": "bank", "Item": key | old})
    loan = db.run(Loan.primary("C1", "1"))
    assert loan is not None
    assert loan.version == 0

    db.run(WRITES[name](loan))

    assert stored_version(engine) == "1"
