"""Moves that are refused, and changes that turn out to be no move."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, create, update
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    InvalidValue,
    NotFound,
    TablewrightError,
    UniqueViolation,
    VersionConflict,
)
from tests.plan.writes.move.menus import Product, Section, Ticket, User, items


def test_a_move_to_where_something_is_is_refused_and_changes_nothing(
    db: Database, engine: Engine
) -> None:
    db.run(create(Product(menu="m", section="s", product="p", name="Soup")))
    other = db.run(create(Product(menu="m", section="s", product="q", name="Stew")))
    before = items(engine)

    with pytest.raises(
        AlreadyExists, match=r"Product \(.*PRODUCT#q.*\): it already exists"
    ) as refused:
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert refused.value.current == other
    assert items(engine) == before


def test_a_move_of_what_is_not_there_is_refused(db: Database, engine: Engine) -> None:
    with pytest.raises(NotFound):
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert items(engine) == {}


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (
            Ticket.primary("d", "1").update(Ticket.desk.set("e")).condition(Ticket.state == "done"),
            ConditionFailed,
        ),
        (
            Ticket.primary("d", "1").update(Ticket.desk.set("e")).condition(Ticket.version == 7),
            VersionConflict,
        ),
        (
            Ticket.primary("d", "1").update(Ticket.desk.set("e"), Ticket.code.set("c2")),
            UniqueViolation,
        ),
    ],
    ids=["condition", "version", "unique"],
)
def test_a_refused_move_changes_nothing(
    db: Database, engine: Engine, plan: Any, error: type[Exception]
) -> None:
    db.run(create(Ticket(desk="d", ticket_id="1")))
    db.run(create(Ticket(desk="x", ticket_id="2", code="c2")))
    before = items(engine)

    with pytest.raises(error):
        db.run(plan)

    assert items(engine) == before


def test_a_refused_move_leaves_the_instance_as_it_was(db: Database) -> None:
    db.run(create(Ticket(desk="e", ticket_id="1", code="c2")))
    ticket = db.run(create(Ticket(desk="d", ticket_id="1")))
    before = dict(vars(ticket))

    with pytest.raises(AlreadyExists):
        db.run(update(ticket, Ticket.desk.set("e")))

    assert vars(ticket) == before


def test_a_change_inside_of_what_is_stored_may_be_part_of_a_move(db: Database) -> None:
    db.run(create(Section(menu="m", section="s", tags={"w"})))

    moved = db.run(
        Section.primary("m", "s").update(Section.section.set("t"), Section.tags.add_to_set({"x"}))
    )

    assert moved.tags == {"w", "x"}
    assert db.run(Section.primary("m", "t")) == moved
    assert db.run(Section.primary("m", "s")) is None


def test_a_key_needs_every_part(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s")))
    before = items(engine)

    with pytest.raises(InvalidValue):
        db.run(Section.primary("m", "s").update(Section.section.set("")))
    with pytest.raises(TablewrightError):
        db.run(Section.primary("m", "s").update(Section.section.set(None)))  # type: ignore[arg-type]

    assert items(engine) == before


def test_a_part_that_is_set_to_what_it_is_moves_nothing(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups")))
    updated = db.run(
        Section.primary("m", "s").update(Section.section.set("s"), Section.note.set("x"))
    )

    assert updated == Section(menu="m", section="s", title="Soups", note="x")
    assert len(items(engine)) == 2


def test_another_spelling_that_gives_the_same_key_is_an_update(
    db: Database, engine: Engine
) -> None:
    db.run(create(User(email="ann@x.ch", name="Ann")))
    updated = db.run(User.primary("ann@x.ch").update(User.email.set("Ann@X.ch")))

    assert updated == User(email="Ann@X.ch", name="Ann")
    assert list(items(engine)) == [("USER#ann@x.ch", "USER")]
