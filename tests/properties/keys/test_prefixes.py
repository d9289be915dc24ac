"""A prefix ends at a delimiter, and an index holds the entities that declare it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    child,
    children,
    connect,
    create,
    index,
    key,
    put,
    root,
    unique,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tests.examples import examples
from tests.new_table import new_table
from tests.properties.keys.values import NASTY, partitions, texts

# -- a prefix ends at a delimiter ------------------------------------------------------------------


class Nested(Table, name="nested"):
    second = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Nested):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    primary = key("CUST" / customer, "ORDER" / order)
    listed = index(Nested.second, "CUST" / customer, order)


class Item(Entity, table=Nested):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    item: Attr[str] = attr()
    primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item)
    listed = index(Nested.second, "CUST" / customer, order / "ITEM" / item)


class Note(Entity, table=Nested):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    item: Attr[str] = attr()
    note: Attr[int] = attr(pad=2)
    primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item / note)


class Turn(Entity, table=Nested):
    customer: Attr[str] = attr()
    turn: Attr[str] = attr()
    primary = key("CUST" / customer, "turns" / turn)


class Turnstile(Entity, table=Nested):
    customer: Attr[str] = attr()
    turn: Attr[str] = attr()
    primary = key("CUST" / customer, "turnstile" / turn)


class NotedItem(Aggregate):
    item: Item = root()
    notes: list[Note] = children()


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[Item] = children()


class WholeOrder(Aggregate):
    order: Order = root()
    items: list[NotedItem] = children()


ids = st.sampled_from(NASTY) | texts


@pytest.fixture(scope="module")
def nested() -> Database:
    return connect(":memory:", Nested)


@examples(60)
@given(
    orders=st.sets(ids, max_size=6),
    items=st.sets(st.tuples(ids, ids), max_size=8),
    notes=st.sets(st.tuples(ids, ids, st.integers(0, 99)), max_size=6),
    turns=st.sets(ids, max_size=3),
    asked=st.lists(ids, min_size=1, max_size=4),
)
def test_a_prefix_selects_what_has_that_value_and_nothing_else(
    nested: Database,
    orders: set[str],
    items: set[tuple[str, str]],
    notes: set[tuple[str, str, int]],
    turns: set[str],
    asked: list[str],
) -> None:
    db, customer = nested, f"{next(partitions)}"
    for order in orders:
        db.run(put(Order(customer=customer, order=order)))
    for order, item in items:
        db.run(put(Item(customer=customer, order=order, item=item)))
    for order, item, note in notes:
        db.run(put(Note(customer=customer, order=order, item=item, note=note)))
    for turn in turns:
        db.run(put(Turn(customer=customer, turn=turn)))
        db.run(put(Turnstile(customer=customer, turn=turn)))

    assert _told(db, Turn.primary.within(customer), "turn") == sorted(turns)
    assert _told(db, Turnstile.primary.within(customer), "turn") == sorted(turns)
    assert _told(db, Order.primary.within(customer), "order") == sorted(orders)
    assert _told(db, Order.listed(customer), "order") == sorted(orders)
    for order in (*asked, *orders):
        own = sorted(item for o, item in items if o == order)
        assert _told(db, Item.primary.within(customer).eq(order), "item") == own
        assert _told(db, Item.listed(customer).eq(order), "item") == own
        assert _told(db, Order.primary.within(customer).eq(order), "order") == [
            each for each in orders if each == order
        ]
        begun = sorted(each for each in orders if each.startswith(order))
        assert _told(db, Order.primary.within(customer).begins_with(order), "order") == begun
        assert _told(db, Order.listed(customer).begins_with(order), "order") == begun
        begun = sorted(o for o, _ in items if o.startswith(order))
        found = _told(db, Item.primary.within(customer).begins_with(order), "order")
        assert sorted(found) == begun

        loaded = db.run(OrderWithItems.of(Order.primary(customer, order)))
        whole = db.run(WholeOrder.of(Order.primary(customer, order)))
        if order not in orders:
            assert loaded is None
            assert whole is None
            continue
        assert loaded is not None
        assert loaded.order.order == order
        assert [item.item for item in loaded.items] == own
        assert whole is not None
        assert {noted.item.item: [note.note for note in noted.notes] for noted in whole.items} == {
            item: sorted(n for o, i, n in notes if (o, i) == (order, item)) for item in own
        }


def _told(db: Database, plan: Any, attribute: str) -> list[Any]:
    """One attribute of all results, which small pages and a count agree with."""
    found = [getattr(entity, attribute) for entity in db.iterate(plan)]
    assert [getattr(entity, attribute) for entity in db.iterate(plan.page_size(2))] == found
    assert db.run(plan.count()) == len(found)
    return found


def test_an_empty_id_is_refused_wherever_it_is_given(nested: Database) -> None:
    with pytest.raises(InvalidValue, match=r"Order\.primary: order is empty"):
        nested.run(create(Order(customer="C", order="")))
    with pytest.raises(InvalidValue, match=r"Order\.primary: order is empty"):
        nested.run(Order.primary("C", ""))
    with pytest.raises(InvalidValue, match=r"Item\.primary: order is empty"):
        nested.run(Item.primary.within("C").eq(""))


def test_the_root_of_an_aggregate_is_the_one_that_was_asked_for() -> None:
    """Also where a member does not lie below it, and the whole partition is read."""

    desk = new_table("desk")

    class Person(Entity, table=desk):
        person: Attr[str] = attr()
        primary = key("P" / person, "PROFILE")

    class Task(Entity, table=desk):
        person: Attr[str] = attr()
        task: Attr[str] = attr()
        primary = key("P" / person, "TASK" / task)

    class TaskOfPerson(Aggregate):
        task: Task = root()
        person: Person = child()

    db = connect(":memory:", desk)
    db.run(create(Person(person="ann")))
    for task in ("1", "2"):
        db.run(create(Task(person="ann", task=task)))
    try:
        plan = TaskOfPerson.of(Task.primary("ann", "2"))
    except DeclarationError:
        return
    loaded = db.run(plan)
    assert loaded is not None
    assert loaded.task.task == "2"
    assert db.run(TaskOfPerson.of(Task.primary("ann", "3"))) is None


# -- what is in an index, whoever declared it ------------------------------------------------------


class Market(Table, name="market", pk="pk", sk="sk"):
    reverse = GSI("sk", "pk")
    by_id = GSI("id")


class Visit(Entity, table=Market):
    user: Attr[str] = attr()
    stall: Attr[str] = attr()
    primary = key("U" / user, "S" / stall)
    visitors = primary.swapped(Market.reverse)


class Rating(Entity, table=Market):
    """It is in the reverse index as well: every item has a pk and an sk."""

    rating: Attr[str] = attr()
    stall: Attr[str] = attr()
    primary = key("R" / rating, "S" / stall)


class Stall(Entity, table=Market):
    stall: Attr[str] = attr(name="id")
    name: Attr[str] = attr()
    primary = key("STALL" / stall, "META")
    by_name = unique("NAME" / name, "META")
    stalls = primary.swapped(Market.reverse)
    found = index(Market.by_id, stall)


class Seat(Entity, table=Market):
    """It is in the index by id as well, for it has one."""

    seat: Attr[str] = attr(name="id")
    colour: Attr[str] = attr()
    primary = key("SEAT" / seat, "SEAT")


@pytest.fixture
def market() -> Database:
    return connect(":memory:", Market)


def test_rows_of_an_entity_that_did_not_ask_for_a_swapped_index_stay_out(market: Database) -> None:
    visit = Visit(user="a", stall="1")
    market.run(create(visit))
    market.run(create(Rating(rating="a", stall="1")))
    assert market.run(Visit.visitors("1")) == [visit]


def test_sentinels_stay_out_of_a_swapped_index(market: Database) -> None:
    stall = Stall(stall="1", name="n")
    market.run(create(stall))
    assert market.run(Stall.stalls()) == [stall]


def test_rows_of_an_entity_that_did_not_ask_for_a_natural_index_stay_out(market: Database) -> None:
    seat = Seat(seat="1", colour="red")
    market.run(create(seat))
    assert market.run(Stall.found("1")) == []


def test_sentinels_stay_out_of_a_natural_index(market: Database) -> None:
    stall = Stall(stall="1", name="n")
    market.run(create(stall))
    assert market.run(Stall.found("1")) == [stall]
