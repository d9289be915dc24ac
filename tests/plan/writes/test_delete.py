from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    delete,
    index,
    key,
    unique,
    version,
)
from tablewright.database import Database
from tablewright.errors import ConditionFailed, DeclarationError, VersionConflict
from tests.prepared import Prepare, with_tables
from tests.transports import InterferingTransport


class Library(Table, name="library"):
    by_author = GSI("GSI1PK", "GSI1SK")


class Book(Entity, table=Library):
    isbn: Attr[str] = attr()
    author: Attr[str] = attr(default="ann")
    pages: Attr[int] = attr(default=100)

    primary = key("BOOK" / isbn, "BOOK")
    of_author = index(Library.by_author, "AUTHOR" / author, "BOOK" / isbn)


class Loan(Entity, table=Library):
    loan_id: Attr[str] = attr()
    state: Attr[str] = attr(default="open")
    version: Attr[int] = version()

    primary = key("LOAN" / loan_id, "LOAN")


class Member(Entity, table=Library):
    member_id: Attr[str] = attr()
    card: Attr[str | None] = attr(default=None)
    name: Attr[str] = attr(default="")

    primary = key("MEMBER" / member_id, "MEMBER")
    by_card = unique("CARD" / card)


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Library)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Library)


def keys(engine: Engine) -> list[str]:
    items = engine.call("Scan", {"TableName": "library"})["Items"]
    return sorted(item["PK"]["S"] for item in items)


def test_a_delete_gives_what_was_there(db: Database, engine: Engine) -> None:
    book = db.run(create(Book(isbn="1")))

    assert db.run(Book.primary("1").delete()) == book
    assert keys(engine) == []


def test_a_delete_of_what_is_not_there_gives_none(db: Database) -> None:
    assert db.run(Book.primary("1").delete()) is None
    assert db.run(delete(Book(isbn="1"))) is None


def test_a_delete_takes_the_index_entry_away(db: Database) -> None:
    book = db.run(create(Book(isbn="1")))
    db.run(delete(book))

    assert list(db.run(Book.of_author("ann"))) == []


def test_a_delete_leaves_others_alone(db: Database, engine: Engine) -> None:
    db.run(create(Book(isbn="1")))
    db.run(create(Book(isbn="10")))
    db.run(Book.primary("1").delete())

    assert keys(engine) == ["BOOK#10"]


def test_a_delete_under_a_condition_that_holds_is_done(db: Database, engine: Engine) -> None:
    db.run(create(Book(isbn="1", pages=10)))
    db.run(Book.primary("1").delete().condition(Book.pages < 50))

    assert keys(engine) == []


def test_a_delete_under_a_condition_that_does_not_hold_is_refused(
    db: Database, engine: Engine
) -> None:
    book = db.run(create(Book(isbn="1")))

    with pytest.raises(ConditionFailed, match=r"Book \(PK=.*pages < 50 is false") as refused:
        db.run(Book.primary("1").delete().condition(Book.pages < 50))

    assert refused.value.current == book
    assert keys(engine) == ["BOOK#1"]


def test_a_condition_on_what_is_not_there_does_not_hold(db: Database) -> None:
    with pytest.raises(ConditionFailed) as refused:
        db.run(Book.primary("1").delete().condition(Book.pages < 50))

    assert refused.value.current is None


# -- versions ------------------------------------------------------------------------------------


def test_a_delete_of_the_version_at_hand_is_done(db: Database, engine: Engine) -> None:
    loan = db.run(create(Loan(loan_id="1")))

    assert db.run(delete(loan)) == loan
    assert keys(engine) == []


def test_a_stale_delete_is_refused(db: Database, engine: Engine) -> None:
    loan = db.run(create(Loan(loan_id="1")))
    current = db.run(Loan.primary("1").update(Loan.state.set("late")))

    with pytest.raises(
        VersionConflict, match="version 1 was expected, but version 2 is stored"
    ) as refused:
        db.run(delete(loan))

    assert refused.value.current == current
    assert loan.version == 1
    assert keys(engine) == ["LOAN#1"]


def test_a_delete_by_key_takes_any_version(db: Database, engine: Engine) -> None:
    db.run(create(Loan(loan_id="1")))
    db.run(Loan.primary("1").update(Loan.state.set("late")))
    db.run(Loan.primary("1").delete())

    assert keys(engine) == []


def test_a_delete_by_key_can_expect_a_version(db: Database, engine: Engine) -> None:
    db.run(create(Loan(loan_id="1")))

    with pytest.raises(VersionConflict):
        db.run(Loan.primary("1").delete().condition(Loan.version == 2))

    db.run(Loan.primary("1").delete().condition(Loan.version == 1))
    assert keys(engine) == []


def test_a_delete_of_a_version_that_was_deleted_is_stale(db: Database) -> None:
    loan = db.run(create(Loan(loan_id="1")))
    db.run(Loan.primary("1").delete())

    with pytest.raises(
        VersionConflict, match="version 1 was expected, but the item does not exist: it was deleted"
    ) as refused:
        db.run(delete(loan))

    assert refused.value.current is None


def test_a_delete_by_one_who_never_read_the_item_is_stale(db: Database, engine: Engine) -> None:
    current = db.run(create(Loan(loan_id="1")))

    with pytest.raises(VersionConflict) as refused:
        db.run(delete(Loan(loan_id="1")))

    assert refused.value.current == current
    assert keys(engine) == ["LOAN#1"]


# -- unique values -------------------------------------------------------------------------------


def test_a_delete_frees_the_unique_value(db: Database, engine: Engine) -> None:
    member = db.run(create(Member(member_id="1", card="c1")))
    assert keys(engine) == ["CARD#c1", "MEMBER#1"]

    assert db.run(Member.primary("1").delete()) == member

    assert keys(engine) == []
    db.run(create(Member(member_id="2", card="c1")))


def test_a_delete_without_a_unique_value_is_a_delete(db: Database, engine: Engine) -> None:
    member = db.run(create(Member(member_id="1")))

    assert db.run(delete(member)) == member
    assert keys(engine) == []


def test_a_delete_of_a_unique_entity_that_is_not_there_gives_none(db: Database) -> None:
    assert db.run(Member.primary("1").delete()) is None


def test_a_refused_delete_leaves_the_unique_value_taken(db: Database, engine: Engine) -> None:
    db.run(create(Member(member_id="1", card="c1", name="ann")))

    with pytest.raises(ConditionFailed, match="name = 'bob' is false"):
        db.run(Member.primary("1").delete().condition(Member.name == "bob"))

    assert keys(engine) == ["CARD#c1", "MEMBER#1"]


def test_a_delete_frees_the_value_that_came_while_it_read(db: Database, engine: Engine) -> None:
    db.run(create(Member(member_id="1", card="c1")))
    other = connect(engine, Library)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Member.primary("1").update(Member.card.set("c2"))),
    )

    deleted = db.run(Member.primary("1").delete())

    assert deleted is not None
    assert deleted.card == "c2"
    assert keys(engine) == []


def test_a_delete_of_what_goes_away_meanwhile_gives_none(db: Database, engine: Engine) -> None:
    db.run(create(Member(member_id="1", card="c1")))
    other = connect(engine, Library)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Member.primary("1").delete())
    )

    assert db.run(Member.primary("1").delete()) is None
    assert keys(engine) == []


def test_a_delete_under_a_condition_of_another_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Loan\.state is not an attribute of Book"):
        Book.primary("1").delete().condition(Loan.state == "open")  # type: ignore[arg-type]


@pytest.mark.parametrize("condition", [None, True, "pages > 1", Book.pages])
def test_a_delete_under_what_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Book\."):
        Book.primary("1").delete().condition(condition)


def test_a_key_is_no_entity() -> None:
    with pytest.raises(
        DeclarationError, match=r"write Order\.primary\(…\)\.update\(…\) or \.delete"
    ):
        delete(Book.primary("1"))  # type: ignore[type-var]
