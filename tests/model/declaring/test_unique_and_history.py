"""Unique values and histories."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    history,
    key,
    unique,
    update,
    version,
)
from tablewright.errors import InvalidValue, UniqueViolation
from tests.model.declaring.declarations import Keyed, Parts, Shop, Status, refused
from tests.new_table import new_table
from tests.things import Thing


def test_a_unique_value_needs_an_attribute() -> None:
    nothing: Any = "SETTINGS"
    with refused("Order.only", "unique() has no attribute"):

        class Order(Keyed, table=Shop):
            only: Any = unique(nothing)


def test_a_sentinel_keeps_attributes_of_its_entity() -> None:
    kept: Any = Parts.email
    with refused("Order.by_name", "email", "not an attribute of Order"):

        class Order(Keyed, table=Shop):
            name: Attr[str] = attr()
            by_name = unique("NAME" / name, keep=(kept,))


def test_a_sentinel_that_does_not_keep_the_key_is_not_looked_up() -> None:
    """It keeps the value unique; what it stands for, it does not say."""

    shop = new_table("kept")

    class Order(Keyed, table=shop):
        name: Attr[str] = attr()
        by_name = unique("NAME" / name, keep=(name,))

    db = connect(":memory:", shop)
    db.run(create(Order(order="O1", name="n")))
    with pytest.raises(UniqueViolation):
        db.run(create(Order(order="O2", name="n")))
    with refused("Order.by_name", "does not keep order", "keep it"):
        Order.by_name("n")


class Recorded(Table, name="recorded"): ...


class Event(Entity, table=Recorded):
    order: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    old: Attr[Status | None] = attr()
    new: Attr[Status] = attr()
    primary = key("ORDER" / order, "EVENT" / number)


def test_a_history_needs_an_entity_of_its_table() -> None:
    with refused("Order.changes", "Event", "not an entity of shop"):

        class Order(Keyed, table=Shop):
            status: Attr[Status] = attr()
            changes = history(status, Event, new=Event.new)

    with refused("Offer.changes", "str", "not an entity of shop"):

        class Offer(Keyed, table=Shop):
            status: Attr[Status] = attr()
            changes = history(status, str, new=Event.new)  # type: ignore[misc]


def test_a_history_is_of_an_attribute_of_its_entity() -> None:
    inherited: Any = vars(Parts)["email"]
    with refused("Order.changes", "email", "not an attribute of Order"):

        class Order(Keyed, table=Recorded):
            number: Attr[int] = version()
            changes = history(inherited, Event, new=Event.new, version=Event.number)


def test_a_history_of_versions_needs_a_version() -> None:
    with refused("Order.changes", "Order has no version()"):

        class Order(Keyed, table=Recorded):
            status: Attr[Status] = attr()
            changes = history(status, Event, new=Event.new, version=Event.number)


def test_a_history_fills_every_attribute_of_its_event() -> None:
    with refused("Order.changes", "Event.number gets no value", "attribute of Order"):

        class Order(Keyed, table=Recorded):
            status: Attr[Status] = attr()
            count: Attr[int] = version()
            changes = history(status, Event, new=Event.new)


def test_a_history_records_by_the_names_of_its_event() -> None:
    shop = new_table("by-name")

    class Change(Entity, table=shop):
        order: Attr[str] = attr()
        version: Attr[int] = attr(pad=5)
        old: Attr[Status | None] = attr()
        new: Attr[Status] = attr()
        at: Attr[datetime] = attr()
        by: Attr[str] = attr()
        reason: Attr[str | None] = attr(default=None)
        primary = key("ORDER" / order, "CHANGE" / version)

    class Order(Keyed, table=shop):
        status: Attr[Status] = attr(default=Status.CREATED)
        version: Attr[int] = version()
        changes = history(status, Change)

    with connect(":memory:", shop) as db:
        order = db.run(create(Order(order="O1")))
        db.run(update(order, Order.status.set(Status.PAID)).audit(by="ann"))
        (change,) = db.run(Change.primary.within("O1"))
        assert (change.old, change.new, change.version) == (Status.CREATED, Status.PAID, 2)
        assert (change.by, change.reason) == ("ann", None)
        with pytest.raises(InvalidValue, match=r"Change.by has no value.*audit\(by=…\)"):
            db.run(update(order, Order.status.set(Status.CREATED)))


def test_a_named_value_is_not_recorded_twice() -> None:
    shop = new_table("once")

    class Change(Entity, table=shop):
        order: Attr[str] = attr()
        version: Attr[int] = attr(pad=5)
        status: Attr[Status] = attr()
        new: Attr[str] = attr(default="-")
        primary = key("ORDER" / order, "CHANGE" / version)

    class Order(Keyed, table=shop):
        state: Attr[Status] = attr(default=Status.CREATED)
        version: Attr[int] = version()
        changes = history(state, Change, new=Change.status)

    with connect(":memory:", shop) as db:
        order = db.run(create(Order(order="O1")))
        db.run(update(order, Order.state.set(Status.PAID)))
        (change,) = db.run(Change.primary.within("O1"))
        assert (change.status, change.new) == (Status.PAID, "-")


def test_a_value_is_recorded_by_its_name_only_with_its_type() -> None:
    with refused("Order.changes", "Event.new gets no value", "with the type of the recorded value"):

        class Order(Keyed, table=Recorded):
            number: Attr[int] = version()
            count: Attr[int] = attr()
            changes = history(count, Event)


def test_a_history_tells_attributes_of_its_event_only() -> None:
    with refused("Order.changes", "Thing.name", "Event"):

        class Order(Keyed, table=Recorded):
            status: Attr[Status] = attr()
            count: Attr[int] = version()
            changes = history(  # type: ignore[misc]
                status, Event, new=Event.new, version=Event.number, reason=Thing.name
            )


def test_the_attribute_of_a_history_is_not_its_name() -> None:
    name: Any = "status"
    with refused("Order.changes: 'status' is not an attribute of Order"):

        class Order(Keyed, table=Recorded):
            status: Attr[str] = attr()
            changes = history(name, Event)


def test_the_events_of_an_entity_need_different_keys() -> None:
    class Change(Entity, table=Recorded):
        order: Attr[str] = attr()
        old: Attr[str] = attr()
        new: Attr[str] = attr()
        primary = key("CHANGES" / order, "CHANGE")

    with refused(
        "Order.changes: all events of one Order would have the same key", "Change.primary"
    ):

        class Order(Keyed, table=Recorded):
            status: Attr[str] = attr()
            changes = history(status, Change)
