"""Items are recognised by their type attribute, in each of its forms, or by their keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    batch_get,
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
from tablewright.errors import UnreadableItem
from tests.model.declaring.declarations import raw, refused
from tests.new_table import new_indexed_table, new_table
from tests.things import NamedEntity


class Design:
    """A table, its entities and an aggregate."""

    def __init__(self, table: Any) -> None:
        class Customer(Entity, table=table):
            customer: Attr[str] = attr()
            email: Attr[str | None] = attr(default=None)
            primary = key("CUST" / customer, "PROFILE")
            listed = index(table.gsi1, "ALL", "CUST" / customer)
            by_email = unique("EMAIL" / email)

        class Order(Entity, table=table):
            customer: Attr[str] = attr()
            number: Attr[int] = attr(pad=3)
            total: Attr[int] = attr(default=0)
            primary = key("CUST" / customer, "ORDER" / number)
            listed = index(table.gsi1, "ALL", "CUST" / customer / number)

        class Whole(Aggregate):
            profile: Customer = root()
            orders: list[Order] = children()

        self.table = table
        self.customer: Any = Customer
        self.order: Any = Order
        self.whole: Any = Whole


Plain = new_indexed_table("plain", type_attribute=None)
Typed = new_indexed_table("typed")
Sets = new_indexed_table("sets", type_attribute="types", type_form="set")
Lists = new_indexed_table("lists", type_attribute="types", type_form="list")

DESIGNS = {table: Design(table) for table in (Plain, Typed, Sets, Lists)}
WRITTEN: dict[type[Table], Any] = {
    Plain: {},
    Typed: {"type": {"S": "Order"}},
    Sets: {"types": {"SS": ["Order"]}},
    Lists: {"types": {"L": [{"S": "Order"}]}},
}


@pytest.fixture(params=DESIGNS.values(), ids=[table.__name__ for table in DESIGNS])
def design(request: pytest.FixtureRequest) -> Design:
    design: Design = request.param
    return design


@pytest.fixture
def db(design: Design) -> Iterator[Database]:
    with connect(Engine(":memory:"), design.table) as db:
        yield db


KEYS = {
    "PK": {"S": "CUST#ann"},
    "SK": {"S": "ORDER#007"},
    "GSI1PK": {"S": "ALL"},
    "GSI1SK": {"S": "CUST#ann#007"},
}
VALUES = {"customer": {"S": "ann"}, "number": {"N": "7"}, "total": {"N": "5"}}


def test_an_item_is_written_with_its_type(design: Design, db: Database) -> None:
    db.run(create(design.order(customer="ann", number=7, total=5)))
    assert raw(db, design.table) == [KEYS | VALUES | WRITTEN[design.table]]


def check_reads(design: Design, db: Database, order: Any, profile: Any) -> None:
    """Every kind of read finds the order, and the profile beside it."""
    assert db.run(design.order.primary("ann", 7)) == order
    assert db.run(batch_get([design.order.primary("ann", 7)])) == [order]
    assert db.run(design.order.primary.within("ann")) == [order]
    assert db.run(design.order.listed()) == [order]
    assert db.run(design.customer.listed()) == [profile]
    assert db.run(design.order.listed().count()) == 1
    assert db.run(design.customer.listed().count()) == 1
    assert db.run(design.order.listed().page_size(1).first()) == order
    assert db.run(design.order.listed().select(design.order.total)) == [(5,)]
    assert db.run(design.order.scan(reason="test")) == [order]
    assert db.run(design.customer.scan(reason="test")) == [profile]
    assert db.run(design.customer.scan(reason="test").count()) == 1
    assert db.run(design.customer.by_email("a@b.c")) == profile
    whole = db.run(design.whole.of(design.customer.primary("ann")))
    assert (whole.profile, whole.orders) == (profile, [order])


def test_items_are_found_by_every_read(design: Design, db: Database) -> None:
    profile = db.run(create(design.customer(customer="ann", email="a@b.c")))
    order = db.run(create(design.order(customer="ann", number=7, total=5)))
    check_reads(design, db, order, profile)


def test_items_of_other_programs_are_found_by_their_keys(design: Design, db: Database) -> None:
    """They have no type attribute; whether the table has one does not matter."""
    engine = db._transport.engine  # type: ignore[attr-defined]
    profile = db.run(create(design.customer(customer="ann", email="a@b.c")))
    for item in raw(db, design.table):
        item.pop("type", None)
        item.pop("types", None)
        engine.call("PutItem", {"TableName": design.table.__table__.name, "Item": item})
    engine.call("PutItem", {"TableName": design.table.__table__.name, "Item": KEYS | VALUES})
    order = design.order(customer="ann", number=7, total=5)
    check_reads(design, db, order, profile)
    moved = design.customer.primary("ann").update(design.customer.customer.set("bob"))
    db.run(moved)
    assert db.run(design.order.primary("bob", 7)) is not None
    assert db.run(design.order.primary("ann", 7)) is None


def test_items_with_a_type_of_no_entity_are_found_by_their_keys(
    design: Design, db: Database
) -> None:
    """Another program may have its own names of types; every read gives what a get gives."""
    profile = db.run(create(design.customer(customer="ann", email="a@b.c")))
    for item in raw(db, design.table):
        if item["SK"] == {"S": "PROFILE"}:
            store(db, item | {"type": {"S": "CLIENT"}, "types": {"SS": ["CLIENT"]}})
    store(db, KEYS | VALUES | {"type": {"S": "Purchase"}, "types": {"L": [{"S": "Purchase"}]}})
    check_reads(design, db, design.order(customer="ann", number=7, total=5), profile)


def store(db: Database, item: Any) -> None:
    engine = db._transport.engine  # type: ignore[attr-defined]
    (table,) = engine.call("ListTables", {})["TableNames"]
    engine.call("PutItem", {"TableName": table, "Item": item})


#: An item in the partition of a customer and in the shared index, with a key of no entity.
UNKNOWN = KEYS | {"SK": {"S": "ORDER#7#x"}, "GSI1SK": {"S": "CUST#ann#7#x"}}


def reads_of_orders(design: Design) -> list[Any]:
    order = design.order
    return [
        order.primary.within("ann"),
        order.listed(),
        order.listed().select(order.number),
        order.listed().page_size(1),
        order.scan(reason="test"),
        order.scan(reason="test").segments(3),
        order.listed.scan(reason="test"),
        order.listed().union(design.customer.listed()),
    ]


def all_pages(db: Database, plan: Any) -> tuple[list[Any], list[Any]]:
    results, unreadable = [], []
    while True:
        page = db.run(plan)
        results += page
        unreadable += page.unreadable
        if page.next_cursor is None:
            return results, unreadable
        plan = plan.after(page.next_cursor)


def test_an_item_that_no_entity_describes_is_reported(design: Design, db: Database) -> None:
    db.run(create(design.order(customer="ann", number=7)))
    store(db, UNKNOWN)
    for plan in reads_of_orders(design):
        results, unreadable = all_pages(db, plan.skip_unreadable())
        assert len(results) == 1
        assert [error.key["SK"] for error in unreadable] == [{"S": "ORDER#7#x"}]
        with pytest.raises(UnreadableItem, match=r'SK="ORDER#7#x"|ORDER#7#x'):
            list(db.iterate(plan))
    assert db.run(design.order.listed().count()) == 1
    assert db.run(design.order.scan(reason="test").count()) == 1


def test_an_unknown_item_with_a_type_of_its_own_is_reported_and_stops_nothing(
    design: Design, db: Database
) -> None:
    """A newer program may write entities that this one does not know."""
    if design.table is Plain:
        pytest.skip("it has no types")
    db.run(create(design.order(customer="ann", number=7)))
    name = str(design.table.__table__.type_attribute)
    store(db, UNKNOWN | {name: {"S": "Refund"}})
    for plan in reads_of_orders(design):
        results, unreadable = all_pages(db, plan)
        assert len(results) == 1
        assert {str(error.item["SK"]) for error in unreadable} == {"{'S': 'ORDER#7#x'}"}
        assert len(list(db.iterate(plan))) == 1
    listed = design.order.listed()
    (error,) = db.run(listed).unreadable
    assert str(error) == (
        f'{design.table.__name__}: no entity has a key like PK="CUST#ann", SK="ORDER#7#x", or the '
        "type 'Refund'; declare one"
    )
    assert db.run(listed.first()).number == 7
    assert db.run(listed.skip_unreadable()) == db.run(listed)


def test_a_scan_does_not_report_items_elsewhere(design: Design, db: Database) -> None:
    db.run(create(design.customer(customer="ann", email="a@b.c")))  # and a sentinel
    store(db, {"PK": {"S": "OTHER#1"}, "SK": {"S": "ORDER#7#x"}})
    page = db.run(design.order.scan(reason="test"))
    assert (list(page), page.unreadable) == ([], ())
    assert db.run(design.customer.scan(reason="test")).unreadable == ()


@pytest.mark.parametrize(
    ("table", "types"),
    [
        (Sets, {"SS": ["Audited", "Order"]}),
        (Lists, {"L": [{"S": "Audited"}, {"S": "Order"}]}),
        (Sets, {"L": [{"S": "Order"}]}),
        (Lists, {"SS": ["Order"]}),
    ],
)
def test_an_item_may_have_several_types(table: type[Table], types: Any) -> None:
    design = DESIGNS[table]
    with connect(Engine(":memory:"), table) as db:
        engine = db._transport.engine  # type: ignore[attr-defined]
        item = KEYS | VALUES | {"types": types}
        engine.call("PutItem", {"TableName": table.__table__.name, "Item": item})
        order = db.run(design.order.primary("ann", 7))
        assert db.run(design.order.listed()) == [order]
        assert db.run(design.customer.listed()) == []
        db.run(put(order))
        assert raw(db, table) == [KEYS | VALUES | WRITTEN[table]]


def test_variants_are_told_apart_by_sets() -> None:
    shop = new_table(type_attribute="types", type_form="set")

    class Account(NamedEntity, table=shop, variants=True): ...

    class User(Account):
        pass

    class Company(Account):
        pass

    with connect(":memory:", shop) as db:
        db.run(create(User(name="ann")))
        assert type(db.run(Account.primary("ann"))) is User
        assert db.run(Company.primary("ann")) is None
        db.run(put(User(name="ann")))
        with pytest.raises(Exception, match="of the kind User, not Company"):
            db.run(put(Company(name="ann")))


def test_a_form_that_does_not_exist_is_refused() -> None:
    with refused("Shop: type_form='map' is not one of 'text', 'set', 'list'", __file__):

        class Shop(Table, type_form="map"):  # type: ignore[arg-type]
            pass


def test_a_key_is_not_a_set() -> None:
    with refused("Shop: 'types' is a key of by_type, which cannot be a set", __file__):

        class Shop(Table, type_attribute="types", type_form="set"):
            by_type = GSI("types", "PK")
