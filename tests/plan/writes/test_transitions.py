"""Transitions: which values of an attribute may follow each other, on every path of writing."""

from __future__ import annotations

import threading
from datetime import datetime
from enum import StrEnum
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    Update,
    access_pattern,
    attr,
    batch_write,
    connect,
    create,
    delete,
    explain,
    history,
    index,
    key,
    put,
    save,
    transact,
    update,
    update_all,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidTransition, InvalidValue, NotFound
from tablewright.rules import any_state
from tests.new_table import new_table


class State(StrEnum):
    NEW = "NEW"
    PAID = "PAID"
    SHIPPED = "SHIPPED"
    CANCELLED = "CANCELLED"


NEW, PAID, SHIPPED, CANCELLED = State
AFTER = {NEW: [PAID], PAID: [SHIPPED], any_state: [CANCELLED]}


class Sales(Table, name="sales"):
    by_state = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Sales):
    order_id: Attr[str] = attr()
    state: Attr[State] = attr(default=NEW, transitions=AFTER)
    note: Attr[str] = attr(default="")
    primary = key("ORDER" / order_id, "ORDER")
    by_state = index(Sales.by_state, "STATE" / state, "ORDER" / order_id)


class Parcel(Entity, table=Sales):
    """Has no state until it gets one."""

    parcel_id: Attr[str] = attr()
    place: Attr[str | None] = attr(
        default=None, transitions={"depot": ["van"], "van": ["door", None]}
    )
    primary = key("PARCEL" / parcel_id, "PARCEL")


class StateEvent(Entity, table=Sales):
    name: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[State] = attr()
    new: Attr[State] = attr()
    primary = key("TRACKED" / name, "EVENT" / at)


class Tracked(Entity, table=Sales):
    name: Attr[str] = attr()
    state: Attr[State] = attr(default=NEW, transitions=AFTER)
    primary = key("TRACKED" / name, "TRACKED")
    states = history(state, StateEvent, old=StateEvent.old, new=StateEvent.new, at=StateEvent.at)


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Sales,)


@pytest.fixture
def order(db: Database) -> Order:
    return db.run(create(Order(order_id="1")))


def stored_state(db: Database) -> State:
    return db.run(Order.primary("1").or_raise()).state


def test_an_allowed_change_is_written_with_its_index_keys(db: Database, order: Order) -> None:
    assert db.run(Order.primary("1").update(Order.state.set(PAID))).state == PAID
    assert [found.order_id for found in db.run(Order.by_state(PAID))] == ["1"]


def test_another_change_is_refused_and_named(db: Database, order: Order) -> None:
    with pytest.raises(InvalidTransition) as raised:
        db.run(Order.primary("1").update(Order.state.set(SHIPPED)))
    error = raised.value
    assert str(error) == (
        "Order (PK=\"ORDER#1\", SK=\"ORDER\"): state is 'NEW' and cannot become 'SHIPPED'; "
        "'PAID' or 'CANCELLED' may follow it"
    )
    assert (error.attribute, error.state, error.wanted) == ("state", NEW, SHIPPED)
    assert error.current == order
    assert stored_state(db) == NEW


def test_the_same_value_is_no_change(db: Database, order: Order) -> None:
    db.run(put(Order(order_id="1", state=NEW, note="again")))
    db.run(Order.primary("1").update(Order.state.set(CANCELLED)))
    db.run(Order.primary("1").update(Order.state.set(CANCELLED), Order.note.set("twice")))
    assert stored_state(db) == CANCELLED


def test_a_last_value_stays(db: Database, order: Order) -> None:
    db.run(Order.primary("1").update(Order.state.set(CANCELLED)))
    with pytest.raises(InvalidTransition, match="no other value may follow it"):
        db.run(Order.primary("1").update(Order.state.set(PAID)))


def test_any_value_may_be_created(db: Database) -> None:
    assert db.run(create(Order(order_id="1", state=SHIPPED))).state == SHIPPED
    assert db.run(put(Order(order_id="2", state=SHIPPED))).state == SHIPPED
    upserted = db.run(Order.primary("3").upsert(Order.state.set(SHIPPED)))
    assert upserted is not None
    assert upserted.state == SHIPPED


def refused_writes(order: Order) -> dict[str, Any]:
    """Each way to write SHIPPED over NEW."""
    changed = Order(order_id="1", state=SHIPPED)
    return {
        "update of a key": Order.primary("1").update(Order.state.set(SHIPPED)),
        "update of an instance": update(order, Order.state.set(SHIPPED)),
        "put": put(changed),
        "upsert": Order.primary("1").upsert(Order.state.set(SHIPPED)),
        "upsert that reads": Order.primary("1").upsert(
            Order.state.set(SHIPPED), Order.note.set_if_absent("x")
        ),
        "transaction": transact(put(changed), create(Order(order_id="2"))),
        "update of a range": update_all(
            Order.by_state(NEW).filter(Order.note == ""), Order.state.set(SHIPPED)
        ),
    }


@pytest.mark.parametrize("name", refused_writes(Order(order_id="1")))
def test_every_path_of_writing_refuses(db: Database, order: Order, name: str) -> None:
    with pytest.raises(InvalidTransition):
        db.run(refused_writes(order)[name])
    assert stored_state(db) == NEW
    assert db.run(Order.primary("2")) is None


def test_a_save_refuses(db: Database, order: Order) -> None:
    order.state = SHIPPED
    with pytest.raises(InvalidTransition):
        db.run(save(order))
    order.state = PAID
    db.run(save(order))
    assert stored_state(db) == PAID


def test_an_old_instance_does_not_hide_what_is_stored(db: Database, order: Order) -> None:
    """The stored value counts, not that of the instance."""
    db.run(Order.primary("1").update(Order.state.set(CANCELLED)))
    with pytest.raises(InvalidTransition, match="state is 'CANCELLED'"):
        db.run(update(order, Order.state.set(PAID)))


def test_other_attributes_change_in_every_state(db: Database, order: Order) -> None:
    db.run(Order.primary("1").update(Order.state.set(CANCELLED)))
    assert db.run(Order.primary("1").update(Order.note.set("late"))).note == "late"


def test_a_missing_item_is_not_found(db: Database) -> None:
    with pytest.raises(NotFound):
        db.run(Order.primary("1").update(Order.state.set(PAID)))


def test_a_batch_cannot_check(db: Database) -> None:
    with pytest.raises(DeclarationError, match="it has transitions, and DynamoDB's batches"):
        batch_write([put(Order(order_id="1"))])
    batch_write([delete(Order(order_id="1"))])


def test_an_item_without_the_attribute_has_its_default(engine: Engine, db: Database) -> None:
    item = {"PK": {"S": "ORDER#1"}, "SK": {"S": "ORDER"}, "type": {"S": "Order"}}
    item |= {"order_id": {"S": "1"}}
    engine.call("PutItem", {"TableName": "sales", "Item": item})
    with pytest.raises(InvalidTransition, match="state is 'NEW'"):
        db.run(Order.primary("1").update(Order.state.set(SHIPPED)))
    db.run(Order.primary("1").update(Order.state.set(PAID)))
    assert stored_state(db) == PAID


def test_an_item_without_a_value_may_get_any_unless_none_is_one(db: Database) -> None:
    db.run(create(Parcel(parcel_id="1")))
    with pytest.raises(InvalidTransition, match="place is None and cannot become 'van'"):
        db.run(Parcel.primary("1").update(Parcel.place.set("van")))
    db.run(create(Parcel(parcel_id="2", place="van")))
    assert db.run(Parcel.primary("2").update(Parcel.place.remove())).place is None

    boxes = new_table("boxes")

    class Box(Entity, table=boxes):
        name: Attr[str] = attr()
        place: Attr[str | None] = attr(default=None, transitions={"depot": ["van"]})
        primary = key("BOX" / name, "BOX")

    with connect(":memory:", boxes) as other:
        other.run(create(Box(name="a")))
        assert other.run(Box.primary("a").update(Box.place.set("van"))).place == "van"
        with pytest.raises(InvalidValue, match=r"Box\.place: None follows no other value"):
            Box.primary("a").update(Box.place.remove())


def test_of_two_changes_at_once_one_is_refused(db: Database, order: Order) -> None:
    db.run(Order.primary("1").update(Order.state.set(PAID)))
    results: list[str] = []

    def change(state: State) -> None:
        try:
            db.run(Order.primary("1").update(Order.state.set(state)))
            results.append("done")
        except InvalidTransition as error:
            results.append(error.state)

    threads = [threading.Thread(target=change, args=(each,)) for each in (SHIPPED, CANCELLED)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # CANCELLED may follow SHIPPED, so both may be written, in this order.
    assert sorted(results) in (["CANCELLED", "done"], ["done", "done"])
    assert stored_state(db) == CANCELLED


# -- explain, and patterns -----------------------------------------------------------------------


def test_explain_says_what_a_write_requires() -> None:
    shape = explain(Order.primary("1").update(Order.state.set(PAID)))
    assert "state may become 'PAID' (it is 'NEW')" in shape.requires

    @access_pattern
    def change_state(order_id: str, state: State) -> Update[Order]:
        return Order.primary(order_id).update(Order.state.set(state))

    assert "state may become {state}" in explain(change_state).requires
    assert "state may become 'NEW'" in explain(put(Order(order_id="1"))).requires


def test_a_history_records_the_change(db: Database) -> None:
    db.run(create(Tracked(name="a")))
    with pytest.raises(InvalidTransition):
        db.run(Tracked.primary("a").update(Tracked.state.set(SHIPPED)))
    db.run(Tracked.primary("a").update(Tracked.state.set(PAID)))
    events = db.run(StateEvent.primary.within("a"))
    assert [(event.old, event.new) for event in events] == [(NEW, PAID)]


# -- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transitions": {"a": "b"}}, r"lists the values that may follow each value: \{NEW:"),
        ({"transitions": ["a", "b"]}, r"lists the values that may follow each value"),
        ({"transitions": {"a": ["b"]}, "default": "c"}, r"does not have the default, 'c'; add it"),
        (
            {"transitions": {"a": ["b"]}, "immutable": True},
            r"and immutable=True exclude each other",
        ),
        ({"transitions": {"a": [7]}}, r"7 in transitions= is not valid"),
        ({"transitions": {"a": [None]}}, r"has None; annotate the attribute with … \| None"),
        ({"transitions": {"a": [["b"]]}}, r"lists the values that may follow each value"),
    ],
)
def test_wrong_transitions_are_refused_at_import(options: dict[str, Any], message: str) -> None:
    declare: Any = attr  # with options that are not its own
    with pytest.raises(DeclarationError, match=rf"^Wrong\.state: .*{message}"):

        class Wrong(Entity, table=new_table()):
            name: Attr[str] = attr()
            state: Attr[str] = declare(**options)
            primary = key("WRONG" / name, "WRONG")


@pytest.mark.parametrize(
    "change",
    [lambda: Order.state.set_if_absent(PAID), lambda: Order.state.set(NEW)],
    ids=["if absent", "to a first value"],
)
def test_what_can_never_be_allowed_is_refused_at_once(change: Any) -> None:
    with pytest.raises(InvalidValue, match=r"^Order\.state"):
        Order.primary("1").update(change())
