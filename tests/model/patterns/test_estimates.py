"""The estimated capacity units of a pattern."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Delete,
    Entity,
    Get,
    Query,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    batch_write,
    connect,
    create,
    explain,
    history,
    key,
    put,
    transact,
    unique,
    version,
)
from tablewright.database import Database
from tablewright.plan.plan import Together, Wait
from tablewright.plans import Plan
from tests.costs import run_within_range
from tests.model.patterns.club import (
    MONDAY,
    User,
    Visit,
    add_user,
    add_visit,
    add_visits,
    all_users,
    forget_visit,
    last_visit,
    member,
    move_city,
    newest_users,
    reward,
    several_users,
    user,
    user_by_email,
    user_with_visits,
    visit_as,
    visit_count,
)


def charged(plan: Plan[Any], db: Database) -> float:
    """What the engine charges for a plan, in units."""
    steps = plan._steps(db._context)
    units = 0.0
    try:
        step = next(steps)
        while True:
            assert not isinstance(step, (Wait, Together))
            answer = db._transport.send(
                step.operation, {**step.body, "ReturnConsumedCapacity": "TOTAL"}
            ).body
            consumed = msgspec.json.decode(answer)["ConsumedCapacity"]
            for one in consumed if isinstance(consumed, list) else [consumed]:
                units += one["CapacityUnits"]
            step = steps.send(answer)
    except StopIteration:
        return units


@pytest.mark.parametrize(
    ("function", "plan"),
    [
        pytest.param(function, plan, id=function.__name__)
        for function, plan in (
            (user, lambda: user("user-0001")),
            (all_users, all_users),
            (newest_users, lambda: newest_users(20)),
            (last_visit, lambda: last_visit("user-0001")),
            (visit_count, lambda: visit_count("user-0001")),
            (user_with_visits, lambda: user_with_visits("user-0001")),
            (user_by_email, lambda: user_by_email("user-0001@example.com")),
            (several_users, lambda: several_users(["user-0001"])),
            (add_visit, lambda: add_visit(Visit(user_id="u", at=MONDAY))),
            (add_user, lambda: add_user(member(99, city="Rome"))),
            (reward, lambda: reward("user-0001", 5)),
            (move_city, lambda: move_city("user-0001", "Rome")),
            (forget_visit, lambda: forget_visit("user-0001", MONDAY)),
            (visit_as, lambda: visit_as("user-0001", Visit(user_id="u", at=MONDAY))),
            (add_visits, lambda: add_visits([Visit(user_id="u", at=MONDAY)])),
        )
    ],
)
def test_the_estimate_is_within_a_factor_of_two_of_what_is_charged(
    function: Callable[..., Any], plan: Callable[[], Plan[Any]], db: Database
) -> None:
    """For items of an ordinary size, and a page of twenty."""
    for number in range(20):
        db.run(create(member(number, city="Oslo", points=9)))
        db.run(put(Visit(user_id="user-0001", at=MONDAY + timedelta(days=number))))
    shape = explain(function)
    estimate = shape.read_units + shape.write_units
    actual = charged(plan(), db)
    assert actual / 2 <= estimate <= actual * 2


def test_a_change_of_a_unique_value_is_charged_for_every_item_it_writes(db: Database) -> None:
    @access_pattern
    def change_email(user_id: str, email: str) -> Update[User]:
        return User.primary(user_id).update(User.email.set(email))

    db.run(create(member(1)))
    shape = explain(change_email)
    actual = charged(change_email("user-0001", "new@example.com"), db)
    assert actual / 2 <= shape.read_units + shape.write_units <= actual * 2


def test_a_delete_of_a_unique_value_is_charged_for_the_read_that_finds_it(db: Database) -> None:
    @access_pattern
    def forget_user(user_id: str) -> Delete[User]:
        return User.primary(user_id).delete()

    db.run(create(member(1)))
    shape = explain(forget_user)
    assert shape.read_units == 1
    actual = charged(forget_user("user-0001"), db)
    assert actual / 2 <= shape.read_units + shape.write_units <= actual * 2


def test_a_write_with_a_sentinel_is_no_dearer_inside_of_transact() -> None:
    """It is a transaction already, and doubled once."""

    @access_pattern
    def add_atomically(user: User) -> Transaction:
        return transact(create(user))

    assert explain(add_user).operation == "TransactWriteItems"
    assert explain(add_atomically).write_units == explain(add_user).write_units


def test_a_consistent_read_costs_twice_as_much() -> None:
    @access_pattern
    def surely(user_id: str) -> Get[User]:
        return User.primary(user_id).consistent()

    assert explain(surely).read_units == 2 * explain(user).read_units


def test_reads_cost_no_writes_and_writes_no_reads() -> None:
    assert explain(user).write_units == 0
    assert explain(add_visit).read_units == 0
    assert explain(add_visit).write_units > 0


def test_a_larger_page_costs_more() -> None:
    @access_pattern
    def thousand() -> Query[User]:
        return User.recent().page_size(1000)

    assert explain(thousand).read_units > explain(newest_users).read_units


class Arena(Table, name="arena"):
    reverse = GSI("SK", "PK")
    by_map = GSI("map", "opened")


class Turn(Entity, table=Arena):
    game: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)
    score: Attr[int] = attr()
    primary = key("GAME" / game, "TURN" / version)


class Game(Entity, table=Arena):
    game: Attr[str] = attr()
    map: Attr[str] = attr()
    opened: Attr[str | None] = attr(default=None)
    score: Attr[int] = attr(default=0)
    slug: Attr[str] = attr()
    version: Attr[int] = version()
    primary = key("GAME" / game, "GAME" / game.again)
    by_slug = unique("SLUG" / slug)
    turns = history(score, Turn, new=Turn.score, version=Turn.version)


def test_items_in_indexes_that_their_entity_does_not_declare_are_counted() -> None:
    db = connect(":memory:", Arena)
    game = Game(game="G", map="M", opened="O", slug="s")
    for plan, units in (
        (create(game), 2 * (3 + 2)),  # the game in three places, its sentinel in two
        (Game.primary("G").update(Game.score.set(1)), 2 * (3 + 2)),
        (Game.primary("G").update(Game.slug.set("t")), 2 * (3 + 2 * 2)),
        (Game.primary("G").delete(), 2 * (3 + 2)),
    ):
        run_within_range(db, plan)
        assert explain(plan).write_units == units


class Ledger(Table, name="ledger"):
    by_text = GSI("text", "PK")
    by_note = GSI("note", "PK")
    by_time = GSI("at", "PK")


class Entry(Entity, table=Ledger):
    book: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)
    text: Attr[str] = attr()
    note: Attr[str] = attr(default="-")
    at: Attr[str] = attr(default="-")
    body: Attr[str] = attr()
    primary = key("BOOK" / book, "ENTRY" / version)


class Book(Entity, table=Ledger):
    book: Attr[str] = attr()
    body: Attr[str] = attr(default="")
    state: Attr[str] = attr(default="new")
    version: Attr[int] = version()
    primary = key("BOOK" / book, "BOOK")
    entries = history(state, Entry, new=Entry.text, version=Entry.version)


def test_the_event_of_a_put_is_counted_with_its_index_rows() -> None:
    with connect(":memory:", Ledger) as db:
        book = db.run(create(Book(book="B", body="x" * 390_000)))
        book.state = "read"
        plan = put(book)
        run_within_range(db, plan)  # the book twice, as in a transaction, and an event of four rows
        assert len(db.run(Entry.primary.within("B"))) == 1
        small = db.run(create(Book(book="C")))
        small.state = "read"
        shape = explain(put(small))
        (told,) = [text for text in shape.sets if text.startswith("Entry")]
        assert told == ("Entry, in a transaction, if it changes state (about 9 write units more)")
        assert charged(put(small), db) == shape.read_units + shape.write_units + 9


def test_a_list_of_entities_states_the_units_of_each(db: Database) -> None:
    @access_pattern
    def visit_together(visits: list[Visit]) -> Transaction:
        return transact(*[create(visit) for visit in visits])

    visits = [Visit(user_id="u", at=MONDAY + timedelta(days=number)) for number in range(30)]
    for pattern, factor in ((add_visits, 1), (visit_together, 2)):
        stated = explain(pattern).write_range
        assert (stated.high, stated.per_item) == (0, 400 * factor)
        assert charged(pattern(visits), db) in stated.for_items(30)
        db.run(batch_write([Visit.primary(visit.user_id, visit.at).delete() for visit in visits]))
