"""`explain` reports what a write sets and requires, and each of its requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Create,
    Delete,
    Engine,
    Entity,
    Put,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    condition_check,
    connect,
    create,
    delete,
    explain,
    index,
    key,
    put,
    transact,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.observe import RequestEvent
from tablewright.plan.plan import Plan


class Desk(Table, name="explained_desk"):
    states = GSI("GSI1PK", "GSI1SK")


class State(Enum):
    OPEN = "open"
    DONE = "done"


class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    code: Attr[str] = attr()
    state: Attr[State] = attr(default=State.OPEN)
    opened: Attr[str] = attr(default="2026")
    points: Attr[int] = attr(default=0)
    tags: Attr[set[str]] = attr(default_factory=set)
    notes: Attr[list[str]] = attr(default_factory=list)
    note: Attr[str | None] = attr(default=None)
    changed: Attr[datetime] = updated_at()
    primary = key("TICKET" / ticket_id, "TICKET")
    by_state = index(Desk.states, "STATE" / state, "OPENED" / opened)
    by_code = unique("CODE" / code)


class Order(Entity, table=Desk):
    order_id: Attr[str] = attr()
    number: Attr[int] = attr(default=0)
    state: Attr[State] = attr(default=State.OPEN)
    revision: Attr[int] = version()
    primary = key("ORDER" / order_id, "ORDER")


def texts(plan: Plan[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shape = explain(plan)
    return shape.sets, shape.requires


TICKET = Ticket.primary("1")
CHANGES: dict[str, tuple[Any, str]] = {
    "set": (Ticket.points.set(3), "points = 3"),
    "an enum member": (Ticket.note.set("x"), "note = 'x'"),
    "increment": (Ticket.points.increment(2), "points = points + 2"),
    "remove": (Ticket.note.remove(), "remove note"),
    "add to a set": (Ticket.tags.add_to_set({"a"}), "add {'a'} to tags"),
    "remove from a set": (Ticket.tags.remove_from_set({"a"}), "remove {'a'} from tags"),
    "append": (Ticket.notes.append("a"), "append ['a'] to notes"),
    "prepend": (Ticket.notes.prepend("a"), "prepend ['a'] to notes"),
}


@pytest.mark.parametrize(("change", "text"), CHANGES.values(), ids=CHANGES)
def test_each_change_is_shown(change: Any, text: str) -> None:
    assert texts(TICKET.update(change)) == ((text, "changed = now"), ("the item exists",))


def test_an_update_shows_the_index_keys_that_follow() -> None:
    sets, requires = texts(TICKET.update(Ticket.state.set(State.DONE)))
    assert sets == (
        "state = 'done'",
        "changed = now",
        'GSI1PK="STATE#{state}", GSI1SK="OPENED#{opened}"',
    )
    assert requires == ("the item exists", "opened unchanged since the read")


def test_an_update_shows_its_conditions_and_the_expected_version() -> None:
    plan = Order.primary("1").update(Order.number.increment(1)).condition(Order.number < 9)
    assert texts(plan) == (
        ("number = number + 1", "revision = revision + 1"),
        ("the item exists", "number < 9"),
    )

    @access_pattern
    def count(order: Order) -> Update[Order]:
        return update(order, Order.number.increment(1))

    assert explain(count).requires == ("the item exists", "revision = {order.revision}")


def test_other_writes_show_what_they_require() -> None:
    @access_pattern
    def place(order: Order) -> Create[Order]:
        return create(order)

    @access_pattern
    def replace(order: Order) -> Put[Order]:
        return put(order)

    @access_pattern
    def remove(order: Order) -> Delete[Order]:
        return delete(order).condition(Order.number == 0)

    assert explain(place).requires == ("the item does not exist",)
    assert explain(replace).requires == ("revision = {order.revision}",)
    assert explain(remove).requires == ("revision = {order.revision}", "number = 0")


class Office(Table, name="explained_office"):
    ranks = GSI("GSI1PK", "GSI1SK")


class Badge(Entity, table=Office):
    badge_id: Attr[str] = attr()
    code: Attr[str] = attr(default="A")
    rank: Attr[int] = attr(default=0)
    floor: Attr[str] = attr(default="1")
    revision: Attr[int] = version()
    primary = key("BADGE" / badge_id, "BADGE")
    by_rank = index(Office.ranks, "RANK" / rank, "FLOOR" / floor)
    by_code = unique("CODE" / code)


def test_a_version_is_required_beside_what_was_read() -> None:
    @access_pattern
    def replace(badge: Badge) -> Put[Badge]:
        return put(badge)

    @access_pattern
    def promote(badge: Badge) -> Update[Badge]:
        return update(badge, Badge.rank.set(2))

    of_version = "revision = {badge.revision}"
    assert explain(replace).requires == (of_version, "it is unchanged since the read")
    assert explain(promote).requires == (
        "the item exists",
        of_version,
        "floor unchanged since the read",
    )
    move = Badge.primary("1").update(Badge.badge_id.set("2"))
    assert explain(move).requires == ("the item exists", "revision is unchanged since the read")


def test_the_units_of_an_upsert_are_those_of_its_steps() -> None:
    shape = explain(Badge.primary("1").upsert(Badge.rank.increment(1)))
    assert [step.operation for step in shape.steps] == ["GetItem", "Update", "Put"]
    assert shape.write_units == sum(step.write_units for step in shape.steps)


def test_the_text_shows_what_is_set_and_required() -> None:
    plan = Order.primary("1").update(Order.number.set(1)).condition(Order.number < 9)
    assert str(explain(plan)).splitlines() == [
        'UpdateItem on explained_desk: PK="ORDER#1" AND SK="ORDER"',
        "  actions: 1",
        "  sets: number = 1; revision = revision + 1",
        "  requires: the item exists; number < 9",
        "  units: 1 write (estimate); at most 400 write",
    ]


# -- requests --------------------------------------------------------------------------------------

Make = Callable[[Ticket], Plan[Any]]

WRITES: dict[str, Make] = {
    "an update": lambda ticket: TICKET.update(Ticket.points.increment(1)),
    "an update that reads": lambda ticket: TICKET.update(Ticket.state.set(State.DONE)),
    "an update of a unique value": lambda ticket: TICKET.update(Ticket.code.set("b")),
    "a move": lambda ticket: TICKET.update(Ticket.ticket_id.set("2")),
    "a put": lambda ticket: put(Ticket(ticket_id="3", code="c")),
    "a delete": lambda ticket: TICKET.delete(),
    "a delete of an entity": lambda ticket: delete(ticket),
    "a create": lambda ticket: create(Ticket(ticket_id="3", code="c")),
    "a transaction": lambda ticket: transact(
        create(Order(order_id="1")),
        condition_check(TICKET, Ticket.points == 0),
    ),
    "a transaction that reads": lambda ticket: transact(
        create(Order(order_id="1")),
        TICKET.update(Ticket.code.set("b")),
    ),
}


@pytest.mark.parametrize("make", WRITES.values(), ids=WRITES)
def test_the_requests_are_those_that_are_sent(make: Make, engine: Engine) -> None:
    with connect(engine, Desk) as db:
        ticket = db.run(create(Ticket(ticket_id="1", code="a")))
    sent: list[RequestEvent] = []
    plan = make(ticket)
    requests = explain(plan).requests
    with connect(engine, Desk, observe=sent.append) as observed:
        del sent[:]
        observed.run(plan)
    assert [request.operation for request in requests] == [event.operation for event in sent]


def test_the_actions_of_a_transaction_are_its_steps() -> None:
    (read, write) = explain(
        WRITES["a transaction that reads"](Ticket(ticket_id="1", code="a"))
    ).requests
    assert (read.operation, read.condition) == ("GetItem", 'PK="TICKET#1" AND SK="TICKET"')
    assert [(step.operation, step.entity) for step in write.steps] == [
        ("Put", "Order"),
        ("Update", "Ticket"),
        ("Delete", "Ticket.by_code"),
        ("Put", "Ticket.by_code"),
    ]
    assert write.write_units == sum(step.write_units for step in write.steps)


def test_a_pattern_knows_where_it_is_defined() -> None:
    @access_pattern
    def both(first: Order, second: Order) -> Transaction:
        return transact(create(first), create(second))

    found = both.__pattern__  # type: ignore[attr-defined]
    line = both.__wrapped__.__code__.co_firstlineno  # type: ignore[attr-defined]
    assert found.location == f"{__file__}:{line}"
    assert found.label.endswith(
        "test_explaining_writes.test_a_pattern_knows_where_it_is_defined.<locals>.both"
    )
