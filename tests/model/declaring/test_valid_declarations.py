"""Declarations that are accepted, and the items that they store."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from tablewright import GSI, LSI, Attr, Entity, Table, attr, connect, create, index, key, put
from tablewright.errors import DeclarationError
from tablewright.formats import day, descending, epoch_seconds, year_month
from tablewright.model.databases.provision import definition
from tests.model.declaring.declarations import Status, raw
from tests.new_table import new_table


def test_names_of_keys_and_of_the_type_are_free() -> None:
    market = new_table("market", pk="pk", sk="sk", type_attribute="tp")

    class Stall(Entity, table=market, type_name="S"):
        stall: Attr[str] = attr(name="id")
        primary = key("S" / stall, "S" / stall.again)

    db = connect(":memory:", market)
    db.run(create(Stall(stall="1")))
    assert raw(db, market) == [
        {"pk": {"S": "S#1"}, "sk": {"S": "S#1"}, "tp": {"S": "S"}, "id": {"S": "1"}}
    ]


def test_a_table_may_have_no_sort_key() -> None:
    settings = new_table("settings", pk="id", sk=None, type_attribute=None)

    class Setting(Entity, table=settings):
        name: Attr[str] = attr()
        value: Attr[int] = attr()
        primary = key("SETTING" / name)

    db = connect(":memory:", settings)
    made = Setting(name="x", value=1)
    db.run(create(made))
    assert db.run(Setting.primary("x")) == made
    assert raw(db, settings) == [
        {"id": {"S": "SETTING#x"}, "name": {"S": "x"}, "value": {"N": "1"}}
    ]


def test_without_a_type_attribute_entities_are_known_by_their_keys() -> None:
    plain = new_table("plain", type_attribute=None)

    class Order(Entity, table=plain):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        primary = key("CUST" / customer, "ORDER" / order)

    class Item(Entity, table=plain):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        item: Attr[int] = attr(pad=2)
        primary = key("CUST" / customer, "ORDER" / order / item)

    db = connect(":memory:", plain)
    orders = [Order(customer="C", order=order) for order in ("1", "10", "2")]
    items = [Item(customer="C", order="1", item=number) for number in (1, 2)]
    for entity in (*orders, *items):
        db.run(create(entity))
    assert all(set(item) <= {"PK", "SK", "customer", "order", "item"} for item in raw(db, plain))
    assert db.run(Order.primary.within("C")) == orders
    assert db.run(Item.primary.within("C")) == items
    assert db.run(Order.primary.within("C").count()) == 3


def test_keys_may_be_attributes_of_their_own_type() -> None:
    readings = new_table("readings", pk="sensor", sk="at", type_attribute=None)

    class Reading(Entity, table=readings):
        sensor: Attr[bytes] = attr()
        at: Attr[int] = attr()
        value: Attr[Decimal] = attr()
        primary = key(sensor, at)

    assert definition(readings.__table__, "readings").key_types == {"sensor": "B", "at": "N"}
    db = connect(":memory:", readings)
    made = [Reading(sensor=b"\x00#", at=at, value=Decimal("1.5")) for at in (-10, -9, 9, 10)]
    for reading in made:
        db.run(put(reading))
    assert db.run(Reading.primary.within(b"\x00#")) == made
    assert db.run(Reading.primary(b"\x00#", -9)) == made[1]
    assert db.run(Reading.primary.within(b"\x00#").gte(-9)) == made[1:]
    assert set(raw(db, readings)[0]) == {"sensor", "at", "value"}


def test_an_index_may_use_the_tables_own_partition_key() -> None:
    class Shop(Table, name="reusing"):
        by_date = GSI("PK", "GSI1SK")

    class Order(Entity, table=Shop):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        on: Attr[date] = attr()
        primary = key("CUST" / customer, "ORDER" / order)
        dated = index(Shop.by_date, "CUST" / customer, "ON" / on)

    db = connect(":memory:", Shop)
    late = Order(customer="C", order="1", on=date(2026, 2, 1))
    early = Order(customer="C", order="2", on=date(2026, 1, 1))
    db.run(create(late))
    db.run(create(early))
    assert db.run(Order.dated("C")) == [early, late]
    assert {tuple(sorted(item)) for item in raw(db, Shop)} == {
        ("GSI1SK", "PK", "SK", "customer", "on", "order", "type")
    }


def test_the_tables_keys_may_be_swapped_in_an_index() -> None:
    class Market(Table, name="swapping", pk="pk", sk="sk"):
        reverse = GSI("sk", "pk")

    class Visit(Entity, table=Market):
        user: Attr[str] = attr()
        stall: Attr[str] = attr()
        primary = key("U" / user, "S" / stall)
        visitors = primary.swapped(Market.reverse)

    db = connect(":memory:", Market)
    visits = [Visit(user=user, stall="1") for user in ("a", "b")]
    for visit in (*visits, Visit(user="a", stall="10")):
        db.run(create(visit))
    assert db.run(Visit.visitors("1")) == visits
    assert {tuple(sorted(item)) for item in raw(db, Market)} == {
        ("pk", "sk", "stall", "type", "user")
    }


def test_a_local_index_has_the_partition_of_the_primary_key() -> None:
    class Shop(Table, name="local"):
        by_name = LSI("NAME", name="by_name_index")

    class Product(Entity, table=Shop):
        brand: Attr[str] = attr()
        sku: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key("BRAND" / brand, "SKU" / sku)
        named = primary.local(Shop.by_name, "NAME" / name)

    db = connect(":memory:", Shop)
    b, a = Product(brand="x", sku="1", name="b"), Product(brand="x", sku="2", name="a")
    db.run(create(b))
    db.run(create(a))
    assert db.run(Product.named("x")) == [a, b]
    assert {item["NAME"]["S"] for item in raw(db, Shop)} == {"NAME#a", "NAME#b"}


def test_an_index_of_an_attribute_and_the_type_is_natural() -> None:
    class Market(Table, name="lookup", pk="pk", sk="sk", type_attribute="tp"):
        id_lookup = GSI("id", "tp")

    class Order(Entity, table=Market, type_name="O"):
        user: Attr[str] = attr()
        order: Attr[str] = attr(name="id")
        primary = key("U" / user, "O" / order)
        by_id = index(Market.id_lookup, order)

    class Reward(Entity, table=Market, type_name="R"):
        user: Attr[str] = attr()
        reward: Attr[str] = attr(name="id")
        primary = key("U" / user, "R" / reward)
        by_id = index(Market.id_lookup, reward)

    db = connect(":memory:", Market)
    order, reward = Order(user="a", order="1"), Reward(user="a", reward="1")
    db.run(create(order))
    db.run(create(reward))
    assert db.run(Order.by_id("1")) == [order]
    assert db.run(Reward.by_id("1")) == [reward]
    assert {tuple(sorted(item)) for item in raw(db, Market)} == {("id", "pk", "sk", "tp", "user")}


def test_an_entity_is_in_an_index_while_its_condition_holds() -> None:
    class Shop(Table, name="sparse"):
        unpaid = GSI("GSI1PK", "GSI1SK")

    class Order(Entity, table=Shop):
        order: Attr[str] = attr()
        status: Attr[Status] = attr(default=Status.CREATED)
        due: Attr[date | None] = attr()
        primary = key("ORDER" / order, "ORDER")
        waiting = index(Shop.unpaid, "WAITING", "DUE" / due, when=status == Status.CREATED)

    db = connect(":memory:", Shop)
    waiting = Order(order="1", due=date(2026, 1, 1))
    db.run(create(waiting))
    db.run(create(Order(order="2", due=date(2026, 1, 1), status=Status.PAID)))
    db.run(create(Order(order="3", due=None)))
    assert db.run(Order.waiting()) == [waiting]
    assert sorted(item["PK"]["S"] for item in raw(db, Shop) if "GSI1PK" in item) == ["ORDER#1"]
    assert sorted(item["PK"]["S"] for item in raw(db, Shop) if "GSI1SK" in item) == ["ORDER#1"]


def test_a_condition_cannot_take_an_attribute_out_of_a_natural_index() -> None:
    """An item with an `id` is in the index by `id`; `when=` must not promise otherwise."""

    class Market(Table, name="unconditional"):
        id_lookup = GSI("id")

    try:

        class Order(Entity, table=Market):
            order: Attr[str] = attr(name="id")
            status: Attr[Status] = attr(default=Status.CREATED)
            primary = key("ORDER" / order, "ORDER")
            by_id = index(Market.id_lookup, order, when=status == Status.CREATED)

    except DeclarationError as refusal:
        assert "Order.by_id" in str(refusal)  # noqa: PT017
        return
    db = connect(":memory:", Market)
    db.run(create(Order(order="1", status=Status.PAID)))
    assert db.run(Order.by_id("1")) == []


def test_every_type_of_part_stands_in_one_key() -> None:
    wide = new_table("wide")

    class Row(Entity, table=wide):
        text: Attr[str] = attr()
        number: Attr[int] = attr(pad=4)
        at: Attr[datetime] = attr()
        on: Attr[date] = attr()
        ident: Attr[UUID] = attr()
        status: Attr[Status] = attr()
        paid: Attr[bool] = attr()
        score: Attr[int] = attr(pad=3)
        primary = key(
            "ROW" / text / year_month(on),
            "N"
            / number
            / at
            / on
            / ident
            / status
            / paid
            / descending(score)
            / epoch_seconds(at)
            / day(at),
        )

    row = Row(
        text="a#b",
        number=7,
        at=datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC),
        on=date(2026, 1, 15),
        ident=UUID(int=1),
        status=Status.PAID,
        paid=True,
        score=7,
    )
    db = connect(":memory:", wide)
    db.run(create(row))
    (item,) = raw(db, wide)
    assert item["PK"] == {"S": "ROW#a$!b#2026-01"}
    assert item["SK"]["S"].split("#") == [
        "N",
        "0007",
        "2026-01-15T10:15:30.000000Z",
        "2026-01-15",
        "00000000-0000-0000-0000-000000000001",
        "PAID",
        "true",
        "992",
        "1768472130",
        "2026-01-15",
    ]
    assert db.run(Row.primary.within("a#b", date(2026, 1, 1))) == [row]


def test_what_is_byte_exact_with_the_documents() -> None:
    class Order(Entity, table=new_table()):
        customer: Attr[str] = attr()
        order: Attr[str] = attr()
        at: Attr[datetime] = attr()
        primary = key("CUST" / customer, "ORDER" / at / order)

    at = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
    assert Order.primary("C1", at, "O100")._key == {
        "PK": {"S": "CUST#C1"},
        "SK": {"S": "ORDER#2026-01-15T10:15:30.000000Z#O100"},
    }
