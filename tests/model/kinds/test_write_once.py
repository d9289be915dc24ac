"""Entities that are never changed, and attributes that never change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import (
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    WriteOnce,
    attr,
    batch_write,
    children,
    connect,
    create,
    delete,
    delete_all,
    history,
    key,
    put,
    root,
    transact,
    update,
    version,
)
from tablewright.database import Database
from tablewright.errors import AlreadyExists, ConditionFailed, DeclarationError, InvalidValue
from tablewright.plans import Plan
from tests.model.declaring.declarations import raw, refused
from tests.new_table import new_table
from tests.things import NamedEntity


class Ledger(Table, name="ledger"):
    pass


class Account(Entity, table=Ledger):
    number: Attr[str] = attr()
    owner: Attr[str] = attr(name="ownerName", immutable=True)
    currency: Attr[str] = attr(default="EUR", immutable=True)
    branch: Attr[str | None] = attr(default=None, immutable=True)
    label: Attr[str] = attr(default="")
    primary = key("ACCOUNT" / number, "ACCOUNT")


class Counted(Entity, table=Ledger):
    name: Attr[str] = attr()
    kind: Attr[str] = attr(immutable=True)
    version: Attr[int] = version()
    primary = key("COUNTED" / name, "COUNTED")


class Booking(Entity, table=Ledger, write_once=True, deletable=True):
    account: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    amount: Attr[int] = attr()
    primary = key("ACCOUNT" / account, "BOOKING" / number)


class Receipt(WriteOnce, table=Ledger):
    receipt_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("RECEIPT" / receipt_id, "RECEIPT")


class ReceiptLine(Entity, table=Ledger):
    receipt_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("RECEIPT" / receipt_id, "LINE" / number)


class ReceiptWithLines(Aggregate):
    receipt: Receipt = root()
    lines: list[ReceiptLine] = children()


class Book(Entity, table=Ledger):
    book_id: Attr[str] = attr()
    primary = key("BOOK" / book_id, "BOOK")


class BookPage(WriteOnce, table=Ledger):
    book_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("BOOK" / book_id, "PAGE" / number)


class BookWithPages(Aggregate):
    book: Book = root()
    pages: list[BookPage] = children()


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(Engine(":memory:"), Ledger) as db:
        yield db


BOOKING = Booking(account="A1", number=1, amount=5)


def test_a_deletable_write_once_entity_is_created_read_and_deleted(db: Database) -> None:
    db.run(create(BOOKING))
    assert raw(db, Ledger) == [
        {
            "PK": {"S": "ACCOUNT#A1"},
            "SK": {"S": "BOOKING#0001"},
            "type": {"S": "Booking"},
            "account": {"S": "A1"},
            "number": {"N": "1"},
            "amount": {"N": "5"},
        }
    ]
    assert db.run(Booking.primary("A1", 1)) == BOOKING
    with pytest.raises(AlreadyExists):
        db.run(create(Booking(account="A1", number=1, amount=6)))
    with pytest.raises(AlreadyExists):
        db.run(transact(create(Booking(account="A1", number=1, amount=6))))
    assert db.run(delete(BOOKING)) == BOOKING
    assert raw(db, Ledger) == []


WRITES: list[Any] = [
    lambda: put(BOOKING),
    lambda: update(BOOKING, Booking.amount.set(6)),
    lambda: Booking.primary("A1", 1).update(Booking.amount.set(6)),
    lambda: Booking.primary("A1", 1).update(Booking.number.set(2)),
    lambda: Booking.primary("A1", 1).upsert(Booking.amount.set(2)),
    lambda: put(Receipt(receipt_id="R1")),  # type: ignore[type-var]
    lambda: Receipt.primary("R1").update(Receipt.text.set("x")),
]


@pytest.mark.parametrize("write", WRITES)
def test_what_would_change_a_write_once_entity_is_refused(write: Any) -> None:
    with pytest.raises(DeclarationError) as failure:
        write()
    assert "is write-once, so" in str(failure.value)
    assert "use create(…)" in str(failure.value)
    assert "test_write_once.py" in str(failure.value)


RECEIPT = Receipt(receipt_id="R1")
DELETES: list[Any] = [
    lambda: delete(RECEIPT),
    lambda: Receipt.primary("R1").delete(),
    lambda: delete_all(Receipt.primary.within("R1")),
    lambda: delete_all(ReceiptWithLines.of(Receipt.primary("R1"))),
    lambda: delete_all(BookWithPages.of(Book.primary("B1"))),
]


@pytest.mark.parametrize("write", DELETES)
def test_a_delete_of_a_write_once_entity_is_refused_unless_it_is_deletable(write: Any) -> None:
    with pytest.raises(
        DeclarationError, match=r"is write-once, so delete.* declare class \w+\(…, de"
    ):
        write()


def test_deletable_is_an_option_of_write_once_entities() -> None:
    with refused("Bill: deletable=True is for write-once entities", __file__):

        class Bill(NamedEntity, table=Ledger, deletable=True): ...


def test_a_history_of_a_write_once_entity_is_refused() -> None:
    with refused("Bill is write-once, so its history has nothing to record", __file__):

        class Bill(NamedEntity, table=Ledger, write_once=True):
            account: Attr[str] = attr()
            number: Attr[int] = attr()
            amount: Attr[int] = attr()
            log = history(amount, Booking, new=Booking.amount)


def test_a_move_does_not_take_write_once_rows_along(db: Database) -> None:
    db.run(create(Account(number="A1", owner="ann")))
    db.run(create(BOOKING))
    before = raw(db, Ledger)
    with pytest.raises(DeclarationError, match=r"Booking is write-once, so a move of the item"):
        db.run(Account.primary("A1").update(Account.number.set("A2")))
    assert raw(db, Ledger) == before
    db.run(delete(BOOKING))
    assert db.run(Account.primary("A1").update(Account.number.set("A2"))).number == "A2"


def test_variants_of_a_write_once_base_are_write_once() -> None:
    class Event(NamedEntity, table=new_table(), variants=True, write_once=True): ...

    class Login(Event):
        user: Attr[str] = attr(default="")

    for write in (
        lambda: put(Login(name="E1")),
        lambda: Login.primary("E1").update(Login.user.set("x")),
        lambda: Login.primary("E1").delete(),
    ):
        with pytest.raises(DeclarationError, match="Login is write-once"):
            write()


def test_a_variant_has_the_permission_of_its_base_to_be_deleted() -> None:
    shop = new_table("variants")

    class Event(NamedEntity, table=shop, variants=True, write_once=True, deletable=True): ...

    class Login(Event):
        user: Attr[str] = attr(default="")

    with connect(Engine(":memory:"), shop) as db:
        made = db.run(create(Login(name="E1")))
        assert db.run(Event.primary("E1").delete()) == made


def test_a_base_with_a_write_once_variant_is_not_changed_or_deleted_by_its_key() -> None:
    class Event(NamedEntity, table=new_table(), variants=True):
        note: Attr[str] = attr(default="")

    class Login(Event, write_once=True): ...

    class Draft(Event): ...

    for write in (
        lambda: Event.primary("E1").update(Event.note.set("x")),
        lambda: Event.primary("E1").delete(),
    ):
        with pytest.raises(DeclarationError, match="Login is write-once"):
            write()
    Draft.primary("E1").delete()  # another variant may be deleted


# -- immutable attributes ------------------------------------------------------------------------


def test_a_put_may_change_the_other_attributes(db: Database) -> None:
    db.run(put(Account(number="A1", owner="ann")))
    db.run(put(Account(number="A1", owner="ann", label="savings")))
    assert raw(db, Ledger) == [
        {
            "PK": {"S": "ACCOUNT#A1"},
            "SK": {"S": "ACCOUNT"},
            "type": {"S": "Account"},
            "number": {"S": "A1"},
            "ownerName": {"S": "ann"},
            "currency": {"S": "EUR"},
            "label": {"S": "savings"},
        }
    ]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"owner": "bob"}, "Account.owner is immutable: it is stored as 'ann', and cannot"),
        ({"currency": "USD"}, "Account.currency is immutable: it is stored as 'EUR', and cannot"),
        ({"branch": "x"}, "Account.branch is immutable: it is stored as nothing, and cannot"),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_put_that_changes_an_immutable_attribute_is_rejected(
    db: Database, changed: dict[str, str], told: str, wrapped: bool
) -> None:
    db.run(create(Account(number="A1", owner="ann")))
    before = raw(db, Ledger)
    changed = {"number": "A1", "owner": "ann"} | changed
    write = put(Account(**changed))
    plan: Plan[Any] = transact(write, create(BOOKING)) if wrapped else write
    with pytest.raises(ConditionFailed) as failure:
        db.run(plan)
    assert told in str(failure.value)
    assert failure.value.current.owner == "ann"
    assert raw(db, Ledger) == before


def test_an_old_item_without_the_attribute_has_its_default(db: Database) -> None:
    engine = db._transport.engine  # type: ignore[attr-defined]
    old = {
        "PK": {"S": "ACCOUNT#A1"},
        "SK": {"S": "ACCOUNT"},
        "number": {"S": "A1"},
        "ownerName": {"S": "ann"},
    }
    engine.call("PutItem", {"TableName": "ledger", "Item": old})
    with pytest.raises(ConditionFailed, match=r"Account\.currency is immutable"):
        db.run(put(Account(number="A1", owner="ann", currency="USD")))
    db.run(put(Account(number="A1", owner="ann")))
    assert raw(db, Ledger)[0]["currency"] == {"S": "EUR"}


def test_a_condition_of_the_caller_is_told_apart(db: Database) -> None:
    db.run(create(Account(number="A1", owner="ann")))
    with pytest.raises(ConditionFailed, match="the condition label = 'x' is false"):
        db.run(put(Account(number="A1", owner="ann")).condition(Account.label == "x"))


def test_a_versioned_entity_keeps_its_immutable_attributes(db: Database) -> None:
    made = db.run(create(Counted(name="x", kind="a")))
    made.kind = "b"
    with pytest.raises(ConditionFailed, match=r"Counted\.kind is immutable"):
        db.run(put(made))
    made.kind = "a"
    assert db.run(put(made)).version == 2


def test_an_update_and_a_batch_are_refused(db: Database) -> None:
    with pytest.raises(InvalidValue, match=r"Account\.owner is immutable"):
        Account.primary("A1").update(Account.owner.set("bob"))
    with pytest.raises(DeclarationError, match="cannot put Account: it has immutable attributes"):
        batch_write([put(Account(number="A1", owner="ann"))])
    db.run(batch_write([Account.primary("A1").delete()]))


def test_the_time_of_an_event_may_be_immutable(db: Database) -> None:
    class Visit(NamedEntity, table=Ledger):
        at: Attr[datetime] = attr(immutable=True)

    at = datetime(2026, 1, 1, tzinfo=UTC)
    visit = db.run(put(Visit(name="x", at=at)))
    assert db.run(put(visit)) == visit
    visit.at = datetime(2026, 1, 2, tzinfo=UTC)
    with pytest.raises(ConditionFailed, match=r"Visit\.at is immutable"):
        db.run(put(visit))
