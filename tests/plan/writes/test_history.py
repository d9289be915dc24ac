from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
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
    history,
    index,
    key,
    put,
    transact,
    update,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    InvalidValue,
    NotFound,
    VersionConflict,
)
from tests.new_table import new_table
from tests.transports import InterferingTransport, RecordingTransport


class State(StrEnum):
    NEW = "NEW"
    PAID = "PAID"
    SENT = "SENT"


class Ledger(Table, name="ledger"):
    by_state = GSI("GSI1PK", "GSI1SK")


class StateChange(Entity, table=Ledger):
    order_id: Attr[str] = attr(name="orderId")
    version: Attr[int] = attr(pad=6)
    old_version: Attr[int] = attr()
    old: Attr[State] = attr()
    new: Attr[State] = attr()
    at: Attr[datetime] = attr()
    by: Attr[str] = attr()
    why: Attr[str | None] = attr(default=None)
    customer: Attr[str] = attr()
    kind: Attr[str] = attr(default="state")

    primary = key("ORDER" / order_id, "STATE" / version)


class Order(Entity, table=Ledger):
    order_id: Attr[str] = attr()
    customer: Attr[str] = attr(default="C1")
    state: Attr[State] = attr(default=State.NEW)
    note: Attr[str | None] = attr(default=None)
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("ORDER" / order_id, "ORDER")
    of_state = index(Ledger.by_state, "STATE" / state, "ORDER" / order_id)
    states = history(
        state,
        StateChange,
        old=StateChange.old,
        new=StateChange.new,
        version=StateChange.version,
        old_version=StateChange.old_version,
        at=StateChange.at,
        by=StateChange.by,
        reason=StateChange.why,
    )


class Renaming(Entity, table=Ledger):
    shop_id: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)
    why: Attr[str] = attr(default="unknown")

    primary = key("SHOP" / shop_id, "RENAMING" / version)


class Shop(Entity, table=Ledger):
    """Its events need no word about why."""

    shop_id: Attr[str] = attr()
    name: Attr[str] = attr()
    version: Attr[int] = version()

    primary = key("SHOP" / shop_id, "SHOP")
    names = history(name, Renaming, version=Renaming.version, reason=Renaming.why)


class Booking(Entity, table=Ledger):
    account_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[Decimal] = attr()
    new: Attr[Decimal] = attr()

    primary = key("ACCOUNT" / account_id, "BOOKING" / at)


class LabelChange(Entity, table=Ledger):
    account_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[set[str]] = attr(default_factory=set)
    new: Attr[set[str]] = attr(default_factory=set)

    primary = key("ACCOUNT" / account_id, "LABELS" / at)


class StepsChange(Entity, table=Ledger):
    account_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[list[str]] = attr()
    new: Attr[list[str]] = attr()

    primary = key("ACCOUNT" / account_id, "STEPS" / at)


class Account(Entity, table=Ledger):
    """Not versioned, with the history of a number, a set and a list."""

    account_id: Attr[str] = attr()
    owner: Attr[str] = attr(default="ann")
    balance: Attr[Decimal] = attr(default=Decimal(0))
    labels: Attr[set[str]] = attr(default_factory=set)
    steps: Attr[list[str]] = attr(default_factory=list)

    primary = key("ACCOUNT" / account_id, "ACCOUNT")
    bookings = history(balance, Booking, old=Booking.old, new=Booking.new, at=Booking.at)
    labelled = history(
        labels, LabelChange, old=LabelChange.old, new=LabelChange.new, at=LabelChange.at
    )
    stepped = history(
        steps, StepsChange, old=StepsChange.old, new=StepsChange.new, at=StepsChange.at
    )


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Ledger,)


@pytest.fixture
def order(db: Database) -> Order:
    return db.run(create(Order(order_id="1")))


def changes(db: Database) -> list[StateChange]:
    return list(db.run(StateChange.primary.within("1")))


def items(engine: Engine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.call("Scan", {"TableName": "ledger"})["Items"]
    return found


PAY = Order.primary("1").update(Order.state.set(State.PAID)).audit(by="ann", reason="card")


def test_a_change_writes_an_event_with_all_that_is_told(
    db: Database, engine: Engine, order: Order
) -> None:
    paid = db.run(PAY)

    (event,) = (item for item in items(engine) if item["type"]["S"] == "StateChange")
    assert event == {
        "PK": {"S": "ORDER#1"},
        "SK": {"S": "STATE#000002"},
        "type": {"S": "StateChange"},
        "orderId": {"S": "1"},
        "version": {"N": "2"},
        "old_version": {"N": "1"},
        "old": {"S": "NEW"},
        "new": {"S": "PAID"},
        "at": {"S": paid.changed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")},
        "by": {"S": "ann"},
        "why": {"S": "card"},
        "customer": {"S": "C1"},
        "kind": {"S": "state"},
    }


def test_an_event_is_written_in_the_same_transaction(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(PAY)

    assert sent.operations == ["GetItem", "TransactWriteItems"]


def test_an_update_with_an_event_gives_the_entity_as_it_is_then(db: Database, order: Order) -> None:
    paid = db.run(PAY)

    assert (paid.state, paid.version) == (State.PAID, 2)
    assert db.run(Order.primary("1")) == paid
    assert [found.order_id for found in db.run(Order.of_state(State.PAID))] == ["1"]
    assert list(db.run(Order.of_state(State.NEW))) == []


def test_an_update_of_an_instance_writes_an_event(db: Database, order: Order) -> None:
    db.run(update(order, Order.state.set(State.PAID), Order.note.set("x")).audit(by="ann"))

    assert (order.state, order.note, order.version) == (State.PAID, "x", 2)
    assert db.run(Order.primary("1")) == order
    assert [(event.old, event.new, event.by) for event in changes(db)] == [
        (State.NEW, State.PAID, "ann")
    ]


def test_each_change_has_its_event_in_order(db: Database, order: Order) -> None:
    for state in (State.PAID, State.SENT, State.NEW):
        db.run(Order.primary("1").update(Order.state.set(state)).audit(by="ann"))

    assert [(event.old, event.new, event.version) for event in changes(db)] == [
        (State.NEW, State.PAID, 2),
        (State.PAID, State.SENT, 3),
        (State.SENT, State.NEW, 4),
    ]


def test_an_event_is_in_no_index(db: Database, engine: Engine, order: Order) -> None:
    db.run(PAY)

    for state in State:
        found = engine.call(
            "Query",
            {
                "TableName": "ledger",
                "IndexName": "by_state",
                "KeyConditionExpression": "GSI1PK = :p",
                "ExpressionAttributeValues": {":p": {"S": f"STATE#{state}"}},
            },
        )["Items"]
        assert [item["type"]["S"] for item in found] == ["Order"] * (state is State.PAID)


def test_a_create_writes_no_event(db: Database, order: Order) -> None:
    assert changes(db) == []


def test_a_change_to_the_same_value_writes_no_event(db: Database, order: Order) -> None:
    updated = db.run(Order.primary("1").update(Order.state.set(State.NEW)))

    assert updated.version == 2
    assert changes(db) == []


def test_a_change_of_another_attribute_writes_no_event(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("1").update(Order.note.set("x")))

    assert sent.operations == ["UpdateItem"]
    assert changes(db) == []


def test_an_event_that_needs_to_know_by_whom_is_not_written_without(
    db: Database, engine: Engine, order: Order
) -> None:
    before = items(engine)

    with pytest.raises(InvalidValue, match=r"StateChange\.by has no value.*audit\(by=…\)"):
        db.run(Order.primary("1").update(Order.state.set(State.PAID)))
    with pytest.raises(InvalidValue, match=r"StateChange\.by has no value"):
        db.run(Order.primary("1").update(Order.state.set(State.PAID)).audit(reason="card"))

    assert items(engine) == before


def test_what_an_event_may_lack_can_be_left_out(db: Database, order: Order) -> None:
    db.run(Order.primary("1").update(Order.state.set(State.PAID)).audit(by="ann"))

    assert [event.why for event in changes(db)] == [None]


def test_an_event_has_its_default_where_nothing_is_noted(db: Database) -> None:
    shop = db.run(create(Shop(shop_id="1", name="a")))
    db.run(update(shop, Shop.name.set("b")))
    db.run(update(shop, Shop.name.set("c")).audit(reason="sold"))

    events = db.run(Renaming.primary.within("1"))
    assert [(event.version, event.why) for event in events] == [(2, "unknown"), (3, "sold")]


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (PAY.condition(Order.customer == "C2"), ConditionFailed),
        (PAY.condition(Order.version == 7), VersionConflict),
        (
            Order.primary("2").update(Order.state.set(State.PAID)).audit(by="ann"),
            NotFound,
        ),
    ],
    ids=["condition", "version", "not there"],
)
def test_a_refused_update_writes_no_event(
    db: Database, engine: Engine, order: Order, plan: Any, error: type[Exception]
) -> None:
    before = items(engine)

    with pytest.raises(error):
        db.run(plan)

    assert items(engine) == before


def test_a_stale_instance_writes_no_event(db: Database, engine: Engine, order: Order) -> None:
    db.run(Order.primary("1").update(Order.note.set("theirs")))
    before = items(engine)

    with pytest.raises(VersionConflict):
        db.run(update(order, Order.state.set(State.PAID)).audit(by="ann"))

    assert items(engine) == before
    assert (order.version, order.state) == (1, State.NEW)


def test_an_event_tells_the_value_that_was_really_there(
    db: Database, engine: Engine, order: Order
) -> None:
    """Somebody else changes the value after it was read; the event tells of theirs."""
    other = connect(engine, Ledger)
    db._transport = InterferingTransport(db._transport, lambda _: other.run(PAY))

    db.run(Order.primary("1").update(Order.state.set(State.SENT)).audit(by="bob"))

    assert [(event.old, event.new, event.by, event.version) for event in changes(db)] == [
        (State.NEW, State.PAID, "ann", 2),
        (State.PAID, State.SENT, "bob", 3),
    ]


def test_an_event_is_part_of_a_larger_transaction(
    db: Database, engine: Engine, order: Order
) -> None:
    db.run(create(Order(order_id="2")))
    before = items(engine)

    with pytest.raises(ConditionFailed, match="write 2 of 2"):
        db.run(transact(PAY, Order.primary("2").delete().condition(Order.customer == "C2")))
    assert items(engine) == before

    db.run(transact(PAY, Order.primary("2").delete()))
    assert [event.new for event in changes(db)] == [State.PAID]


def test_a_put_that_changes_the_value_needs_what_the_event_needs(
    db: Database, engine: Engine, order: Order
) -> None:
    before = items(engine)
    order.state = State.PAID

    with pytest.raises(InvalidValue, match=r"StateChange\.by has no value"):
        db.run(put(order))

    assert items(engine) == before
    assert order.version == 1


def test_a_put_that_keeps_the_value_writes_no_event(db: Database, order: Order) -> None:
    order.note = "x"
    db.run(put(order))

    assert changes(db) == []
    assert order.version == 2


def test_a_put_that_changes_the_value_writes_an_event(db: Database) -> None:
    db.run(create(Account(account_id="1", balance=Decimal(5))))
    db.run(put(Account(account_id="1", balance=Decimal(7))))

    assert [(event.old, event.new) for event in db.run(Booking.primary.within("1"))] == [
        (Decimal(5), Decimal(7))
    ]


def test_events_stay_when_the_entity_goes(db: Database, order: Order) -> None:
    paid = db.run(PAY)
    db.run(delete(paid))

    assert [event.new for event in changes(db)] == [State.PAID]


def test_an_event_is_never_written_over(db: Database, engine: Engine, order: Order) -> None:
    """The version begins again after a delete; the old event of that version remains."""
    paid = db.run(PAY)
    event = changes(db)
    db.run(delete(paid))
    db.run(create(Order(order_id="1")))

    with pytest.raises(AlreadyExists, match="this event already exists"):
        db.run(Order.primary("1").update(Order.state.set(State.SENT)).audit(by="bob"))

    assert changes(db) == event


# -- changes other than set ----------------------------------------------------------------------


def test_the_event_of_a_sum_tells_what_is_stored(db: Database) -> None:
    db.run(create(Account(account_id="1", balance=Decimal("0.1"))))
    account = db.run(Account.primary("1").update(Account.balance.increment(Decimal("0.2"))))

    (event,) = db.run(Booking.primary.within("1"))
    assert (event.old, event.new) == (Decimal("0.1"), account.balance)


def test_the_event_of_a_sum_of_many_digits_tells_what_is_stored(db: Database) -> None:
    """DynamoDB counts with 38 digits; Python's decimals would round at 28."""
    large = Decimal(10**33)
    db.run(create(Account(account_id="1", balance=large)))
    db.run(Account.primary("1").update(Account.balance.increment(Decimal(1))))

    account = db.run(Account.primary("1"))
    (event,) = db.run(Booking.primary.within("1"))
    assert account is not None
    assert account.balance == Decimal(10**33 + 1)
    assert (event.old, event.new) == (large, Decimal(10**33 + 1))


@pytest.mark.parametrize(
    ("change", "new"),
    [
        (Account.labels.set({"c"}), {"c"}),
        (Account.labels.add_to_set({"c"}), {"a", "b", "c"}),
        (Account.labels.remove_from_set({"a"}), {"b"}),
    ],
    ids=["set", "add", "discard"],
)
def test_a_set_that_changes_writes_an_event(db: Database, change: Any, new: set[str]) -> None:
    db.run(create(Account(account_id="1", labels={"a", "b"})))
    account = db.run(Account.primary("1").update(change))

    assert account.labels == new
    assert [(event.old, event.new) for event in db.run(LabelChange.primary.within("1"))] == [
        ({"a", "b"}, new)
    ]


@pytest.mark.parametrize(
    ("change", "new"),
    [
        (Account.steps.set(["z"]), ["z"]),
        (Account.steps.append("z"), ["a", "z"]),
        (Account.steps.prepend("z"), ["z", "a"]),
        (Account.steps.append_if_absent("z"), ["a", "z"]),
        (Account.steps.path(lambda steps: steps[0]).set("z"), ["z"]),
    ],
    ids=["set", "append", "prepend", "append if absent", "a place inside"],
)
def test_a_list_that_changes_writes_an_event(db: Database, change: Any, new: list[str]) -> None:
    db.run(create(Account(account_id="1", steps=["a"])))
    account = db.run(Account.primary("1").update(change))

    assert account.steps == new
    assert [(event.old, event.new) for event in db.run(StepsChange.primary.within("1"))] == [
        (["a"], new)
    ]


# -- what an update gives ------------------------------------------------------------------------


def test_an_update_with_an_event_gives_what_is_stored_and_not_what_the_instance_holds(
    db: Database, order: Order
) -> None:
    order.note = "never saved"

    paid = db.run(update(order, Order.state.set(State.PAID)).audit(by="ann"))

    assert (paid.note, paid.version) == (None, 2)
    assert paid == db.run(Order.primary("1"))


@pytest.mark.parametrize("by", ["key", "instance"])
def test_an_update_with_an_event_gives_what_another_wrote_meanwhile(
    db: Database, engine: Engine, by: str
) -> None:
    """Nothing but the whole item says whether an unversioned entity has changed."""
    account = db.run(create(Account(account_id="1")))
    account.owner = "never saved"
    other = connect(engine, Ledger)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Account.primary("1").update(Account.owner.set("bob")))
    )

    change = Account.balance.increment(Decimal(5))
    changed = db.run(
        update(account, change) if by == "instance" else Account.primary("1").update(change)
    )

    assert changed == Account(account_id="1", owner="bob", balance=Decimal(5))
    assert changed == other.run(Account.primary("1"))


def test_a_history_of_every_write_repeats_the_value(engine: Engine) -> None:
    table = new_table("rooms")

    class Reading(Entity, table=table):
        room_id: Attr[str] = attr()
        version: Attr[int] = attr(pad=4)
        old: Attr[int] = attr()
        new: Attr[int] = attr()
        primary = key("ROOM" / room_id, "READING" / version)

    class Room(Entity, table=table):
        room_id: Attr[str] = attr()
        degrees: Attr[int] = attr()
        note: Attr[str] = attr(default="")
        version: Attr[int] = version()
        primary = key("ROOM" / room_id, "ROOM")
        readings = history(
            degrees,
            Reading,
            old=Reading.old,
            new=Reading.new,
            version=Reading.version,
            always=True,
        )

    rooms = connect(engine, table)
    rooms.run(create(Room(room_id="1", degrees=20)))
    rooms.run(Room.primary("1").update(Room.degrees.set(20)))
    rooms.run(Room.primary("1").update(Room.note.set("warm")))  # not of the attribute
    room = rooms.run(Room.primary("1"))
    assert room is not None
    rooms.run(put(room))
    found = engine.call("Scan", {"TableName": "rooms"})["Items"]
    events = [item for item in found if item["type"]["S"] == "Reading"]
    assert [(item["SK"]["S"], item["old"]["N"], item["new"]["N"]) for item in events] == [
        ("READING#0002", "20", "20"),
        ("READING#0004", "20", "20"),
    ]
