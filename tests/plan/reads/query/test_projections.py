"""Projections: any number of attributes of an entity, as a class or as tuples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pydantic
import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Page,
    Projection,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    created_at,
    explain,
    index,
    key,
    put,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.formats import day, lower
from tablewright.plans import Query
from tests.costs import run_within_range
from tests.new_table import new_table
from tests.things import NamedEntity, Thing
from tests.transports import record_requests


class Store(Table, name="projections"):
    by_total = GSI("gsi1pk", "gsi1sk", name="by_total", project="KEYS_ONLY")
    by_day = GSI("gsi2pk", "gsi2sk", name="by_day", project=("note",))


class Order(Entity, table=Store):
    customer_id: Attr[str] = attr(key_only=True)
    order_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    total: Attr[Decimal] = attr()
    note: Attr[str | None] = attr(default=None, name="n")
    day: Attr[str] = attr(key_only=True)
    tags: Attr[list[str]] = attr(default_factory=list)
    lines: Attr[int] = attr(default=1)
    made: Attr[str] = attr(default="web")
    primary = key("CUST" / customer_id, "ORDER" / order_id)
    ranking = index(Store.by_total, "TOTAL", "N" / number)
    daily = index(Store.by_day, "DAY" / day, "ORDER" / order_id)


class OrderLine(Projection[Order]):
    order_id: str
    total: Decimal


class WithKeys(OrderLine):
    customer_id: str
    note: str | None
    tags: list[str]
    lines: int
    made: str


FIRST = Order(customer_id="C1", order_id="O1", number=7, total=Decimal("9.5"), day="mon")


@pytest.fixture
def db() -> Database:
    db = connect(":memory:", Store)
    db.run(create(FIRST))
    second = Order(customer_id="C1", order_id="O2", number=8, total=Decimal(2), day="tue", note="x")
    db.run(create(second))
    return db


def orders() -> Query[Order]:
    return Order.primary.within("C1")


def test_a_page_of_a_projection_holds_its_attributes(db: Database) -> None:
    page: Page[OrderLine] = db.run(orders().select(OrderLine))
    assert page == [
        OrderLine(order_id="O1", total=Decimal("9.5")),
        OrderLine(order_id="O2", total=Decimal(2)),
    ]
    assert db.run(orders().select(OrderLine).first()) == page[0]


def test_dynamodb_is_asked_for_these_attributes_alone(db: Database) -> None:
    recording = record_requests(db)
    db.run(orders().select(OrderLine))
    ((_, body),) = recording.requests
    names = set(body["ExpressionAttributeNames"].values())
    assert {"order_id", "total"} <= names
    assert not names & {"n", "tags", "lines", "made"}


def test_attributes_that_are_only_in_keys_are_parsed_from_the_key(db: Database) -> None:
    first, second = db.run(orders().select(WithKeys))
    assert (first.customer_id, first.order_id, first.note, first.tags) == ("C1", "O1", None, [])
    assert (second.customer_id, second.note, second.lines, second.made) == ("C1", "x", 1, "web")
    assert db.run(orders().select(Order.customer_id, Order.day)) == [("C1", "mon"), ("C1", "tue")]


def test_a_tuple_may_have_any_number_of_attributes(db: Database) -> None:
    chosen = orders().select(
        Order.order_id, Order.number, Order.total, Order.note, Order.tags, Order.lines, Order.made
    )
    assert db.run(chosen)[0] == ("O1", 7, Decimal("9.5"), None, [], 1, "web")


def test_an_index_with_only_keys_gives_what_the_keys_say(db: Database) -> None:
    assert db.run(Order.ranking().select(Order.customer_id, Order.order_id)) == [
        ("C1", "O1"),
        ("C1", "O2"),
    ]


def test_the_first_entity_of_an_index_with_only_keys_is_read_in_the_table(db: Database) -> None:
    plan = Order.ranking().desc().first()
    recording = record_requests(db)
    found = db.run(plan)
    assert found == db.run(Order.primary("C1", "O2"))
    query, get = recording.requests[:2]
    assert (query[0], query[1]["IndexName"], query[1]["Limit"]) == ("Query", "by_total", 1)
    assert get == (
        "GetItem",
        {"TableName": "projections", "Key": {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O2"}}},
    )
    shape = explain(plan)
    assert (shape.operation, shape.index) == ("Query + GetItem", "by_total")
    assert db.run(Order.ranking().eq(9).first()) is None


class Visits(Table, name="visits"):
    by_room = GSI("gsi1pk", "gsi1sk", name="by_room", project=("guest", "at"))


class Visit(Entity, table=Visits):
    guest: Attr[str] = attr()
    at: Attr[datetime] = attr()
    room: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    primary = key("GUEST" / lower(guest), "DAY" / day(at))
    rooms = index(Visits.by_room, "ROOM" / room, "AT" / at)


def test_the_key_in_the_table_may_be_derived_from_the_attributes() -> None:
    visit = Visit(guest="Ann", at=datetime(2026, 5, 1, 12, tzinfo=UTC), room="7", note="late")
    with connect(":memory:", Visits) as db:
        db.run(put(visit))
        assert db.run(Visit.rooms("7").first()) == visit


@pytest.mark.parametrize(
    ("plan", "missing"),
    [
        (lambda: Order.ranking().select(OrderLine), "total"),
        (lambda: Order.ranking().select(Order.order_id, Order.day), "day"),
        (lambda: Order.daily("mon").select(WithKeys), "total, n, tags"),
        (lambda: Order.daily("mon"), "number, total"),
    ],
)
def test_an_index_that_does_not_hold_an_attribute_is_refused(
    plan: Callable[[], Query[Any]], missing: str
) -> None:
    with pytest.raises(DeclarationError, match=f"does not contain {missing}"):
        explain(plan())


def test_a_pattern_with_it_is_refused_at_import() -> None:
    with pytest.raises(DeclarationError, match="by_total does not contain total"):

        @access_pattern
        def lines() -> Query[OrderLine]:
            return Order.ranking().select(OrderLine)


def test_an_index_that_includes_attributes_and_keys_is_read(db: Database) -> None:
    class Noted(Projection[Order]):
        customer_id: str
        order_id: str
        day: str

    assert db.run(Order.daily("mon").select(Noted)) == [
        Noted(customer_id="C1", order_id="O1", day="mon")
    ]


def test_pages_cursors_and_limits_work_with_projections(db: Database) -> None:
    plan = orders().desc().page_size(1).select(OrderLine)
    assert [line.order_id for line in db.iterate(plan)] == ["O2", "O1"]
    assert [line.order_id for line in db.iterate(plan.limit(1))] == ["O2"]
    assert db.run(plan.count()) == 2
    assert run_within_range(db, plan)[0].order_id == "O2"


def test_an_item_that_cannot_be_read_is_reported(db: Database) -> None:
    engine: Any = db._transport
    item = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#O3"}, "order_id": {"S": "O3"}}
    engine.send("PutItem", {"TableName": "projections", "Item": item | {"total": {"S": "x"}}})
    page = db.run(orders().select(OrderLine).skip_unreadable())
    assert [line.order_id for line in page] == ["O1", "O2"]
    (problem,) = page.unreadable
    assert (problem.item or {})["SK"] == {"S": "ORDER#O3"}


def test_a_moment_that_an_item_does_not_have_is_the_same_as_in_the_entity() -> None:
    later = new_table("later")

    class Stamped(NamedEntity, table=later):
        at: Attr[datetime] = created_at()

    db = connect(":memory:", later)
    engine: Any = db._transport
    item = {"PK": {"S": "THING#a"}, "SK": {"S": "THING"}, "name": {"S": "a"}}
    engine.send("PutItem", {"TableName": "later", "Item": item})
    whole = db.run(Stamped.primary("a"))
    assert whole is not None
    assert db.run(Stamped.primary.within("a").select(Stamped.at)) == [(whole.at,)]


def test_a_projection_is_a_frozen_dataclass_and_has_a_schema() -> None:
    line = OrderLine(order_id="O1", total=Decimal(1))
    assert repr(line).endswith("OrderLine(order_id='O1', total=Decimal('1'))")
    assert hash(line) == hash(OrderLine(order_id="O1", total=Decimal(1)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        line.order_id = "O2"  # type: ignore[misc]
    adapter = pydantic.TypeAdapter(OrderLine)
    assert adapter.dump_python(line, mode="json") == {"order_id": "O1", "total": "1"}


def test_a_name_that_the_entity_does_not_have_is_refused_when_the_class_is_defined() -> None:
    with pytest.raises(DeclarationError, match="no attribute 'totl'; did you mean 'total'"):

        class Wrong(Projection[Order]):
            totl: Decimal


@pytest.mark.parametrize("kind", [int, int | None, list[str]])
def test_another_type_is_refused_when_the_class_is_defined(kind: Any) -> None:
    body = {"__annotations__": {"order_id": kind}}
    with pytest.raises(DeclarationError, match=r"but Order.order_id is Attr\[str\]; write"):
        type("Wrong", (Projection,), {**body, "__orig_bases__": (Projection[Order],)})


def test_an_attribute_that_may_be_none_needs_none_in_its_type() -> None:
    with pytest.raises(DeclarationError, match=r"Order.note is Attr\[str | None\]"):

        class Wrong(Projection[Order]):
            note: str

    class Wider(Projection[Order]):
        made: str | None


def test_a_projection_without_an_entity_or_attributes_is_refused() -> None:
    with pytest.raises(DeclarationError, match="write the entity"):

        class NoEntity(Projection[str]):
            name: str

    with pytest.raises(DeclarationError, match="lists no attribute"):

        class Empty(Projection[Order]): ...

    with pytest.raises(DeclarationError, match="leave the value out"):

        class Valued(Projection[Order]):
            made: str = "web"


def test_a_projection_of_another_entity_is_refused(db: Database) -> None:
    class Name(Projection[Thing]):
        name: str

    with pytest.raises(DeclarationError, match="a projection of Thing, not of Order"):
        orders().select(Name)
    with pytest.raises(DeclarationError, match="takes Name alone"):
        orders().select(Name, Name)  # type: ignore[call-overload]
    db.run(put(FIRST))
