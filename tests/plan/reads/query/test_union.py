"""Unions: several entities in one range, from one query."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from tablewright import (
    Aggregate,
    Query,
    access_pattern,
    children,
    connect,
    create,
    explain,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidCursor, TenantViolation
from tests.costs import run_within_range
from tests.plan.reads.store import Call, Customer, Invoice, Item, Store
from tests.transports import record_requests


def union(first: Any, *others: Any) -> Any:
    for other in others:
        first = first.union(other)
    return first


def day(number: int) -> date:
    return date(2026, 3, number)


def item(number: int, customer: str = "C1") -> Item:
    return Item(customer=customer, item_id=f"I{number}", day=day(number))


def invoice(number: int, customer: str = "C1") -> Invoice:
    return Invoice(customer=customer, number=number, day=day(number))


@pytest.fixture
def db() -> Database:
    db = connect(":memory:", Store)
    for customer in "C1", "C2":
        db.run(create(Customer(customer=customer)))
        for number in range(1, 5):
            db.run(create(item(number, customer)))
            db.run(create(invoice(number, customer)))
            db.run(create(Call(customer=customer, number=number, day=day(number))))
    return db


def both() -> Any:
    return union(Item.by_date("C1"), Invoice.by_date("C1"))


#: In the order of the sort keys: INVOICE before ITEM on each day.
ALL = [thing for number in range(1, 5) for thing in (invoice(number), item(number))]

RANGES: dict[str, tuple[Callable[[Any], Query[Any]], Callable[[int], bool]]] = {
    "all": (lambda u: u, lambda n: True),
    "eq": (lambda u: u.eq(day(2)), lambda n: n == 2),
    "gte": (lambda u: u.gte(day(2)), lambda n: n >= 2),
    "gt": (lambda u: u.gt(day(2)), lambda n: n > 2),
    "lte": (lambda u: u.lte(day(2)), lambda n: n <= 2),
    "lt": (lambda u: u.lt(day(2)), lambda n: n < 2),
    "between": (lambda u: u.between(day(2), day(3)), lambda n: 2 <= n <= 3),
}


@pytest.mark.parametrize("name", RANGES)
def test_a_union_returns_the_items_of_its_entities_in_key_order(db: Database, name: str) -> None:
    make, chosen = RANGES[name]
    expected = [thing for thing in ALL if chosen(thing.day.day)]
    recording = record_requests(db)
    assert db.run(make(both())) == expected
    assert recording.operations == ["Query"]
    assert db.run(make(both()).desc()) == expected[::-1]
    assert db.run(make(both()).count()) == len(expected)
    assert run_within_range(db, make(both()).page_size(2)) == expected[:2]


def test_pages_limits_and_the_first_result(db: Database) -> None:
    for size in range(1, 10):
        assert list(db.iterate(both().page_size(size))) == ALL
        assert list(db.iterate(both().desc().page_size(size).limit(5))) == ALL[:2:-1]
    assert db.run(both().gte(day(3)).first()) == invoice(3)


def test_a_cursor_of_a_union_is_for_this_union(db: Database) -> None:
    page = db.run(both().page_size(3))
    assert page.next_cursor is not None
    others = [
        Item.by_date("C1"),
        union(Item.by_date("C1"), Call.by_date("C1")),
        union(Item.by_date("C2"), Invoice.by_date("C2")),
    ]
    for other in others:
        with pytest.raises(InvalidCursor):
            db.run(other.page_size(3).after(page.next_cursor))


def test_a_union_of_all_entities_of_the_range_sends_no_filter(db: Database) -> None:
    every = union(Item.by_date("C1"), Invoice.by_date("C1"), Call.by_date("C1"))
    recording = record_requests(db)
    assert len(db.run(every)) == 12
    ((_, request),) = recording.requests
    assert "FilterExpression" not in request
    assert "type" not in explain(every).filter
    assert explain(both()).filter.startswith('type="Item" or "Invoice"')


def test_entities_in_the_partition_of_the_table_without_a_comparison(db: Database) -> None:
    found = db.run(union(Item.primary.within("C1"), Invoice.primary.within("C1")))
    assert [type(each) for each in found] == [Invoice] * 4 + [Item] * 4
    shape = explain(union(Item.primary.within("C1"), Invoice.primary.within("C1")))
    assert shape.entity == "Item, Invoice"
    assert 'SK BETWEEN "INVOICE#" AND "ITEM$"' in shape.condition


def test_a_sort_key_of_one_text_is_in_the_union(db: Database) -> None:
    found = db.run(union(Customer.primary.within("C1"), Item.primary.within("C1")).desc())
    assert [type(each) for each in found] == [Customer] + [Item] * 4


def test_a_pattern_is_explained() -> None:
    @access_pattern
    def ledger(customer: str, since: date) -> Query[Item | Invoice]:
        return Item.by_date(customer).union(Invoice.by_date(customer)).gte(since).desc()

    shape = explain(ledger)
    assert (shape.operation, shape.entity, shape.index) == ("Query", "Item, Invoice", "by_date")
    assert shape.order == "descending"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: union(Item.other("C1"), Invoice.other("C1")).gte(day(1)),
            "the compared part must be at the same place",
        ),
        (
            lambda: union(Item.by_date("C1"), Invoice.by_date("C2")),
            "its ranges are of two partitions",
        ),
        (
            lambda: union(Item.by_date("C1"), Invoice.other("C1")),
            "not in the same table or index",
        ),
        (lambda: union(Item.by_date("C1"), Item.by_date("C1")), "Item is in it twice"),
        (lambda: union(Item.by_date("C1"), Item.primary("C1", "I1")), "joins ranges"),
        (
            lambda: union(Item.by_date("C1").desc(), Invoice.by_date("C1")),
            "options are called on the union",
        ),
        (lambda: both().filter(Item.day == day(1)), "a union has no filter"),
        (lambda: both().select(Item.day), "leave select"),
        (lambda: both().gte(day(1)).gte(day(2)), "compares a sort key once"),
    ],
)
def test_what_one_query_cannot_read_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        make()


def test_a_pattern_that_compares_different_parts_is_refused_at_import() -> None:
    with pytest.raises(DeclarationError, match=r"pattern due: .*the compared part"):

        @access_pattern
        def due(customer: str, since: date) -> Query[Item | Invoice]:
            return Item.other(customer).union(Invoice.other(customer)).gte(since)


def test_an_aggregate_does_not_take_a_union() -> None:
    class Account(Aggregate):
        profile: Customer = root()
        items: list[Item] = children()

    wrong: Any = union(Customer.primary.within("C1"), Item.primary.within("C1"))
    with pytest.raises(DeclarationError, match=r"a range with union\(\)"):
        Account.of(wrong)


def test_items_of_other_tenants_are_never_read(db: Database) -> None:
    scoped = db.for_tenant(customer="C1")
    assert scoped.run(both().gte(day(3))) == ALL[4:]
    own = union(Item.primary.within("C1"), Invoice.primary.within("C1"))
    assert len(scoped.run(own)) == 8
    theirs = union(Item.primary.within("C2"), Invoice.primary.within("C2"))
    with pytest.raises(TenantViolation):
        scoped.run(theirs)
    assert scoped.run(union(Item.by_date("C2"), Invoice.by_date("C2"))) == []


def test_an_item_that_cannot_be_read_is_reported(db: Database) -> None:
    transport: Any = db._transport
    broken = {
        "PK": {"S": "CUST#C1"},
        "SK": {"S": "ITEM#I9"},
        "type": {"S": "Item"},
        "GSI1PK": {"S": "CUST#C1"},
        "GSI1SK": {"S": "DATE#2026-03-09#ITEM#I9"},
    }
    transport.send("PutItem", {"TableName": "store", "Item": broken})
    page = db.run(both().skip_unreadable())
    assert page == ALL
    assert len(page.unreadable) == 1


def test_every_pair_of_entities_is_a_union(db: Database) -> None:
    for one, two in itertools.permutations([Item, Invoice, Call], 2):
        first: Any = one
        second: Any = two
        pair = union(first.by_date("C1"), second.by_date("C1"))
        kinds = {type(found) for found in db.run(pair.gte(day(2)))}
        assert kinds == {one, two}
