"""Indexes with several attributes in a key: requests, items and results as with boto3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Table,
    Tenancy,
    access_pattern,
    attr,
    children,
    connect,
    explain,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import (
    DeclarationError,
    InvalidCursor,
    TableMismatch,
    TenantViolation,
    ValidationException,
)
from tablewright.plans import Query
from tablewright.presentation.blocks import EntityCell
from tablewright.publish.charts import index_chart
from tablewright.server import serving
from tests.model.declaring.declarations import refused
from tests.server.http import sdk_client
from tests.transports import record_requests


class Status(StrEnum):
    OPEN = "OPEN"
    PAID = "PAID"


class Shop(Table, name="shop"):
    by_region = GSI(("tenantId", "region"), ("status", "createdAt"))
    by_size = GSI(("a", "b", "c", "d"), ("w", "x", "y", "z"), project="KEYS_ONLY")
    by_tenant = GSI(("tenantId", "status"), "GSI3SK")


class Order(Entity, table=Shop):
    order_id: Attr[str] = attr(name="orderId")
    tenant_id: Attr[str] = attr(name="tenantId")
    region: Attr[str] = attr()
    status: Attr[Status] = attr(default=Status.OPEN)
    created_at: Attr[datetime | None] = attr(name="createdAt", default=None)
    total: Attr[int] = attr(default=0)

    primary = key("ORDER" / order_id, "ORDER")
    by_region = index(Shop.by_region, (tenant_id, region), (status, created_at))
    of_tenant = index(Shop.by_tenant, (tenant_id, status), "ORDER" / order_id)


class Invoice(Entity, table=Shop):
    """Has the attributes of an index without declaring a place in it."""

    invoice_id: Attr[str] = attr(name="invoiceId")
    tenant_id: Attr[str] = attr(name="tenantId")
    region: Attr[str] = attr()
    status: Attr[Status] = attr()
    created_at: Attr[datetime] = attr(name="createdAt")
    primary = key("INVOICE" / invoice_id, "INVOICE")


class Box(Entity, table=Shop):
    box_id: Attr[str] = attr()
    a: Attr[str] = attr()
    b: Attr[int] = attr()
    c: Attr[bytes] = attr()
    d: Attr[str] = attr()
    w: Attr[int] = attr()
    x: Attr[str] = attr()
    y: Attr[int] = attr()
    z: Attr[str] = attr()
    primary = key("BOX" / box_id, "BOX")
    by_size = index(Shop.by_size, (a, b, c, d), (w, x, y, z))


def day(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


def stored(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00.000000Z"


ORDERS = [
    Order(order_id="1", tenant_id="t1", region="eu", status=Status.PAID, created_at=day(3)),
    Order(order_id="2", tenant_id="t1", region="eu", status=Status.PAID, created_at=day(1)),
    Order(order_id="3", tenant_id="t1", region="eu", status=Status.OPEN, created_at=day(2)),
    Order(order_id="4", tenant_id="t1", region="us", status=Status.PAID, created_at=day(2)),
    Order(order_id="5", tenant_id="t2", region="eu", status=Status.PAID, created_at=day(2)),
    Order(order_id="6", tenant_id="t1", region="eu", status=Status.PAID),  # not in the index
    Order(order_id="7", tenant_id="t1", region="eu", status=Status.PAID, created_at=day(5)),
]


@pytest.fixture(params=["in process", "http"])
def shop(request: pytest.FixtureRequest) -> Iterator[tuple[Database, Any]]:
    """A database with orders, and a boto3 client of the same data."""
    with (
        closing(Engine(":memory:")) as engine,
        serving(engine) as url,
        connect(engine if request.param == "in process" else url, Shop, create=True) as database,
    ):
        for order in ORDERS:
            database.run(put(order))
        yield database, sdk_client(url)


def ids(page: Any) -> list[str]:
    return [order.order_id for order in page]


def test_the_table_is_created_with_all_key_attributes(shop: tuple[Database, Any]) -> None:
    described = shop[1].describe_table(TableName="shop")["Table"]
    schemas = {each["IndexName"]: each["KeySchema"] for each in described["GlobalSecondaryIndexes"]}
    assert schemas["by_region"] == [
        {"AttributeName": "tenantId", "KeyType": "HASH"},
        {"AttributeName": "region", "KeyType": "HASH"},
        {"AttributeName": "status", "KeyType": "RANGE"},
        {"AttributeName": "createdAt", "KeyType": "RANGE"},
    ]
    types = {
        each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]
    }
    assert [types[name] for name in "abcdwxyz"] == ["S", "N", "B", "S", "N", "S", "N", "S"]


def test_an_item_has_no_composed_attributes_for_the_index(shop: tuple[Database, Any]) -> None:
    order = {"PK": {"S": "ORDER#1"}, "SK": {"S": "ORDER"}}
    assert shop[1].get_item(TableName="shop", Key=order)["Item"] == {
        **order,
        "type": {"S": "Order"},
        "orderId": {"S": "1"},
        "tenantId": {"S": "t1"},
        "region": {"S": "eu"},
        "status": {"S": "PAID"},
        "createdAt": {"S": stored(3)},
        "total": {"N": "0"},
        "GSI3SK": {"S": "ORDER#1"},  # of by_tenant, whose sort key is one attribute
    }


EU = Order.by_region("t1", "eu")
PAID = "#0 = :0 AND #1 = :1 AND #2 = :2"


@pytest.mark.parametrize(
    ("query", "expression", "values", "found"),
    [
        (EU, "#0 = :0 AND #1 = :1", ["t1", "eu"], ["3", "2", "1", "7"]),
        (EU.eq(Status.PAID), PAID, ["t1", "eu", "PAID"], ["2", "1", "7"]),
        (
            EU.eq(Status.PAID, day(3)),
            f"{PAID} AND #3 = :3",
            ["t1", "eu", "PAID", stored(3)],
            ["1"],
        ),
        (
            EU.eq(Status.PAID).eq(day(3)),
            f"{PAID} AND #3 = :3",
            ["t1", "eu", "PAID", stored(3)],
            ["1"],
        ),
        (
            EU.eq(Status.PAID).gte(day(3)),
            f"{PAID} AND #3 >= :3",
            ["t1", "eu", "PAID", stored(3)],
            ["1", "7"],
        ),
        (
            EU.eq(Status.PAID).gt(day(3)),
            f"{PAID} AND #3 > :3",
            ["t1", "eu", "PAID", stored(3)],
            ["7"],
        ),
        (
            EU.eq(Status.PAID).lt(day(3)),
            f"{PAID} AND #3 < :3",
            ["t1", "eu", "PAID", stored(3)],
            ["2"],
        ),
        (
            EU.eq(Status.PAID).between(day(1), day(3)),
            f"{PAID} AND #3 BETWEEN :3 AND :4",
            ["t1", "eu", "PAID", stored(1), stored(3)],
            ["2", "1"],
        ),
        (EU.gt(Status.OPEN), "#0 = :0 AND #1 = :1 AND #2 > :2", ["t1", "eu", "OPEN"], "217"),
        (EU.desc().page_size(2), "#0 = :0 AND #1 = :1", ["t1", "eu"], ["7", "1"]),
        (Order.by_region("t1", "no"), "#0 = :0 AND #1 = :1", ["t1", "no"], []),
        (
            Order.of_tenant("t1", Status.PAID).between("1", "5"),
            "#0 = :0 AND #1 = :1 AND #2 BETWEEN :2 AND :3",
            ["t1", "PAID", "ORDER#1", "ORDER#5"],
            ["1", "2", "4"],
        ),
    ],
)
def test_a_query_is_the_request_that_boto3_would_send(
    query: Query[Order], expression: str, values: list[str], found: Any
) -> None:
    with closing(Engine(":memory:")) as engine, serving(engine) as url:
        database = connect(engine, Shop)
        for order in ORDERS:
            database.run(put(order))
        sent = record_requests(database)
        assert ids(database.run(query)) == list(found)
        ((operation, request),) = sent.requests
        assert operation == "Query"
        assert request["KeyConditionExpression"] == expression
        assert request["IndexName"] in ("by_region", "by_tenant")
        given = request["ExpressionAttributeValues"]
        assert [given[f":{n}"]["S"] for n in range(len(values))] == values
        items = sdk_client(url).query(**request)["Items"]
        assert [item["orderId"]["S"] for item in items][: len(found)] == list(found)


def test_the_model_reads_the_same_over_http(shop: tuple[Database, Any]) -> None:
    database, client = shop
    assert ids(database.run(EU.eq(Status.PAID).gte(day(1)))) == ["2", "1", "7"]
    answer = client.query(
        TableName="shop",
        IndexName="by_region",
        KeyConditionExpression="tenantId = :t AND #r = :r AND #s = :s AND createdAt >= :c",
        ExpressionAttributeNames={"#r": "region", "#s": "status"},
        ExpressionAttributeValues={
            ":t": {"S": "t1"},
            ":r": {"S": "eu"},
            ":s": {"S": "PAID"},
            ":c": {"S": stored(1)},
        },
    )
    assert [item["orderId"]["S"] for item in answer["Items"]] == ["2", "1", "7"]


def test_a_cursor_has_every_key_attribute(shop: tuple[Database, Any]) -> None:
    database, _ = shop
    for query in (EU.page_size(1), EU.page_size(1).filter(Order.total == 0)):
        found, cursor = [], None
        while True:
            page = database.run(query.after(cursor))
            found += ids(page)
            cursor = page.next_cursor
            if cursor is None:
                break
        assert found == ["3", "2", "1", "7"]
    cursor = database.run(EU.page_size(1)).next_cursor
    with pytest.raises(InvalidCursor):
        database.run(Order.by_region("t2", "eu").page_size(1).after(cursor))


def test_the_start_key_has_the_attributes_of_index_and_table() -> None:
    database = connect(":memory:", Shop)
    for order in ORDERS:
        database.run(put(order))
    cursor = database.run(EU.page_size(1)).next_cursor
    sent = record_requests(database)
    database.run(EU.page_size(1).after(cursor))
    assert sent.requests[0][1]["ExclusiveStartKey"] == {
        "PK": {"S": "ORDER#3"},
        "SK": {"S": "ORDER"},
        "tenantId": {"S": "t1"},
        "region": {"S": "eu"},
        "status": {"S": "OPEN"},
        "createdAt": {"S": stored(2)},
    }


def test_an_item_is_in_the_index_while_it_has_all_attributes(shop: tuple[Database, Any]) -> None:
    database, _ = shop
    late = Order.primary("6")
    database.run(late.update(Order.created_at.set(day(9))))
    assert ids(database.run(EU.eq(Status.PAID))) == ["2", "1", "7", "6"]
    database.run(late.update(Order.region.set("us")))
    assert ids(database.run(EU.eq(Status.PAID))) == ["2", "1", "7"]
    database.run(late.update(Order.created_at.remove()))
    assert ids(database.run(Order.by_region("t1", "us"))) == ["4"]


def test_four_and_four_attributes_of_any_key_type() -> None:
    database = connect(":memory:", Shop)
    for number in (10, 9):
        box = Box(box_id=f"{number}", a="a", b=-2, c=b"\x00", d="d", w=1, x="x", y=number, z="z")
        database.run(put(box))
    places = Box.by_size("a", -2, b"\x00", "d").select(Box.y, Box.z)
    assert database.run(places) == [(9, "z"), (10, "z")]
    text = Box.by_size("a", -2, b"\x00", "d").eq(1).begins_with("x").select(Box.y)
    assert database.run(text) == [(9,), (10,)]
    narrow = Box.by_size("a", -2, b"\x00", "d").eq(1, "x").gte(10).select(Box.y)
    assert database.run(narrow) == [(10,)]
    whole = Box.by_size("a", -2, b"\x00", "d").eq(1, "x", 9, "z").select(Box.y)
    assert database.run(whole) == [(9,)]


def test_items_of_other_entities_with_these_attributes_are_left_out(
    shop: tuple[Database, Any],
) -> None:
    database, _ = shop
    database.run(
        put(
            Invoice(
                invoice_id="I1",
                tenant_id="t1",
                region="eu",
                status=Status.PAID,
                created_at=day(2),
            )
        )
    )
    assert ids(database.run(EU.eq(Status.PAID))) == ["2", "1", "7"]
    assert database.run(EU.eq(Status.PAID).count()) == 3
    assert ids(database.run(EU.eq(Status.PAID).page_size(2))) == ["2", "1"]


# -- what a caller may ask ----------------------------------------------------------------------


def test_a_call_takes_all_partition_attributes() -> None:
    untyped: Any = Order.by_region
    with refused("Order.by_region takes tenant_id, region; 1 value was given"):
        untyped("t1")
    with refused("the parts of its partition key; 3 values were given", "eq()"):
        untyped("t1", "eu", Status.PAID)
    with refused("Order.by_region takes at most 4 values; 5 were given"):
        untyped("t1", "eu").eq(Status.PAID, day(1), 3)
    with refused("every part is bound"):
        untyped("t1", "eu").eq(Status.PAID, day(1)).gte(day(1))
    with refused("compares a sort key once"):
        untyped("t1", "eu").eq(Status.PAID).gte(day(1)).lte(day(2))


def test_the_engine_refuses_what_the_model_does_not_express(shop: tuple[Database, Any]) -> None:
    with pytest.raises(Exception, match="HASH key attributes region must have equality"):
        shop[1].query(
            TableName="shop",
            IndexName="by_region",
            KeyConditionExpression="tenantId = :t",
            ExpressionAttributeValues={":t": {"S": "t1"}},
        )


def test_a_filter_on_a_key_attribute_is_refused() -> None:
    with refused("Order.by_region", "'createdAt' is part of the key"):
        EU.filter(Order.created_at == day(1))


def test_where_uses_the_index_from_left_to_right() -> None:
    tenant, region = Order.tenant_id == "t1", Order.region == "eu"
    paid, late = Order.status == Status.PAID, Order.created_at >= day(2)
    shape = Order.where(tenant, region, paid, late, Order.total > 3)._shape()
    assert shape.index == "by_region"
    assert shape.condition == (
        f'tenantId="t1" AND region="eu" AND status="PAID" AND createdAt>="{stored(2)}"'
    )
    assert shape.filter == 'type="Order" AND total > 3'  # an Invoice may be there, too
    # Without a region only the other index can be used.
    assert Order.where(tenant, paid, late)._shape().index == "by_tenant"
    with refused("would be a scan"):
        Order.where(tenant, region)  # an order without created_at is not in the index


def test_a_condition_that_no_filter_takes_leads_to_another_index() -> None:
    class Plant(Table, name="plant"):
        wide = GSI(("a", "b"), ("c", "d"))
        narrow = GSI("a", "e")

    class Part(Entity, table=Plant):
        a: Attr[str] = attr()
        b: Attr[str] = attr()
        c: Attr[str] = attr()
        d: Attr[str] = attr()
        e: Attr[str] = attr()
        primary = key("PART" / e, "PART")
        wide = index(Plant.wide, (a, b), (c, d))
        narrow = index(Plant.narrow, a, e)

    assert Part.where(Part.a == "1", Part.b == "2", Part.d == "3")._shape().index == "narrow"
    assert Part.where(Part.a == "1", Part.b == "2", Part.c == "3")._shape().index == "wide"


def test_explain_shows_every_attribute() -> None:
    @access_pattern
    def orders_in(tenant: str, region: str, status: Status, start: datetime) -> Query[Order]:
        """Orders of a region."""
        return Order.by_region(tenant, region).eq(status).gte(start).desc()

    assert str(explain(orders_in)).splitlines()[0] == (
        'Query on shop.by_region: tenantId="{tenant}" AND region="{region}" AND '
        'status="{status}" AND createdAt>="{start}"'
    )


def test_documents_show_a_column_for_each_attribute() -> None:
    chart = index_chart(Shop.__table__, "by_region")
    assert chart.header == [
        "Entity",
        "tenantId",
        "region",
        "status",
        "createdAt",
    ]
    assert chart.rows[0] == [
        EntityCell("Order", (Order.__entity__,)),
        "{tenantId}",
        "{region}",
        "{status}",
        "{createdAt}",
    ]


class OrderWithInvoices(Aggregate):
    order: Order = root()
    invoices: list[Invoice] = children()


def test_an_aggregate_of_such_an_index_is_refused() -> None:
    with refused("OrderWithInvoices", "Order.by_region has a key of several attributes"):
        OrderWithInvoices.of(EU)


def test_a_table_with_other_sides_is_a_mismatch() -> None:
    """The same attributes, but the second one is in the sort key."""
    engine = Engine(":memory:")

    class Plain(Table, name="sides"):
        listed = GSI(("a", "b"), "c")

    class Other(Table, name="sides"):
        listed = GSI("a", ("b", "c"))

    for table in (Plain, Other):

        class Row(Entity, table=table):
            a: Attr[str] = attr()
            primary = key("A" / a, "A")

    connect(engine, Plain)
    connect(engine, Plain)
    with pytest.raises(TableMismatch, match=r"index listed: declared a \+ b, c, found a, b \+ c"):
        connect(engine, Other)


def test_an_empty_text_is_no_key(shop: tuple[Database, Any]) -> None:
    """DynamoDB refuses the item, as it does for other index keys."""
    order = Order(order_id="8", tenant_id="t1", region="", created_at=day(1))
    with pytest.raises(ValidationException, match="empty string value"):
        shop[0].run(put(order))


# -- tenancy ------------------------------------------------------------------------------------


class Cloud(Table, name="cloud", pk="tenantId"):
    tenancy = Tenancy("tenant_id", write=("{tenant_id}",))
    by_region = GSI(("tenantId", "region"), ("status", "size"))
    by_status = GSI(("status", "region"), ("tenantId", "size"))
    by_zone = GSI(("zone", "status"), ("size", "region"))
    by_owner = GSI(("owner", "region"), "size")


class Server(Entity, table=Cloud):
    tenant_id: Attr[str] = attr(name="tenantId")
    name: Attr[str] = attr()
    owner: Attr[str] = attr(default="o")
    region: Attr[str] = attr(default="eu")
    zone: Attr[str] = attr(default="a")
    status: Attr[str] = attr(default="up")
    size: Attr[int] = attr(default=1)
    primary = key(tenant_id, "SERVER" / name)
    by_region = index(Cloud.by_region, (tenant_id, region), (status, size))
    by_status = index(Cloud.by_status, (status, region), (tenant_id, size))
    by_zone = index(Cloud.by_zone, (zone, status), (size, region))
    by_owner = index(Cloud.by_owner, (owner, region), size)


def test_a_tenant_reads_only_its_own_rows_of_such_an_index() -> None:
    database = connect(":memory:", Cloud)
    for tenant in ("x", "y"):
        database.run(put(Server(tenant_id=tenant, name="1", owner="x")))
    own = database.for_tenant(tenant_id="x")
    # The tenant's partition is fixed: in the partition key, or as the first sort attribute.
    assert [each.tenant_id for each in own.run(Server.by_region("x", "eu"))] == ["x"]
    fixed = Server.by_status("up", "eu").eq("x")
    assert [each.tenant_id for each in own.run(fixed)] == ["x"]
    # It is not fixed, and DynamoDB filters by no key attribute of the index.
    for query in (
        Server.by_region("y", "eu"),
        Server.by_status("up", "eu"),
        Server.by_status("up", "eu").gte("x"),
        Server.by_status("up", "eu").eq("y"),
        Server.by_zone("a", "up"),  # not declared as filtered
    ):
        with pytest.raises(TenantViolation):
            own.run(query)
    # One attribute of the partition is the tenant's: a filter keeps the rows of others out.
    sent = record_requests(database)
    scoped = database.for_tenant(tenant_id="x")
    assert [each.tenant_id for each in scoped.run(Server.by_owner("x", "eu"))] == ["x"]
    assert "FilterExpression" in sent.requests[0][1]


def test_a_filtered_index_must_not_have_the_partition_key_among_its_keys() -> None:
    by_status = GSI(("status", "region"), ("tenantId", "size"))
    with refused("cannot include by_status_: the table's partition key is a key of by_status"):

        class Bad(Table, pk="tenantId"):
            by_status_ = by_status
            tenancy = Tenancy("tenant_id", write=("{tenant_id}",), filtered=(by_status,))


# -- bad declarations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: GSI(("a", "b", "c", "d", "e")), "the partition key has 5 attributes"),
        (lambda: GSI("a", ("b", "c", "d", "e", "f")), "the sort key has 5 attributes"),
        (lambda: GSI(()), "has no partition key"),
        (lambda: GSI(("a", "b"), ("c", "a")), "'a' is in the key twice"),
        (lambda: GSI("a", "a"), "'a' is in the key twice"),
    ],
)
def test_a_bad_index_is_refused(make: Any, told: str) -> None:
    with refused("Bad.listed", told):

        class Bad(Table):
            listed = make()


class Base(Table, name="base"):
    listed = GSI(("tenantId", "region"), ("status", "createdAt"))
    single = GSI("region", "status")


def declare(make: Any) -> None:
    class Order(Entity, table=Base):
        order_id: Attr[str] = attr()
        tenant_id: Attr[str] = attr(name="tenantId")
        region: Attr[str] = attr()
        status: Attr[str] = attr()
        created_at: Attr[datetime] = attr(name="createdAt")
        primary = key("ORDER" / order_id, "ORDER")
        listing = make(tenant_id, region, status, created_at)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda t, r, s, c: index(Base.listed, t, (s, c)),
            "the key consists of tenantId, region, and 1 path is given; write (tenant_id, region)",
        ),
        (
            lambda t, r, s, c: index(Base.listed, (t, r, s), (s, c)),
            "the key consists of tenantId, region, and 3 paths are given",
        ),
        (
            lambda t, r, s, c: index(Base.listed, (t, r)),
            "listed has a sort key, 'status', 'createdAt'; pass a second path",
        ),
        (
            lambda t, r, s, c: index(Base.listed, (r, t), (s, c)),
            "region is stored as 'region', not as 'tenantId'; write (tenant_id, region), or give "
            "it attr(name='tenantId')",
        ),
        (
            lambda t, r, s, c: index(Base.listed, ("TENANT" / t, r), (s, c)),
            "'tenantId' belongs to a key of several attributes, which are stored unchanged",
        ),
        (lambda t, r, s, c: index(Base.listed, ("t1", r), (s, c)), "without literals or formats"),  # type: ignore[type-var]
        (
            lambda t, r, s, c: index(Base.listed, (t, r), (s, c), when=s == "PAID"),
            "when= cannot keep the item out of it",
        ),
        (
            lambda t, r, s, c: index(Base.single, (r, t), s),
            "the key consists of region, and 2 paths are given; write region",
        ),
    ],
)
def test_a_bad_place_is_refused(make: Any, told: str) -> None:
    with refused("Order.listing", told, "test_several_attributes.py:"):
        declare(make)


def test_attributes_that_cannot_be_a_key_are_refused() -> None:
    class Keys(Table):
        listed = GSI(("a", "b"))

    with refused("'b'", "cannot be a key of DynamoDB"):

        class Listed(Entity, table=Keys):
            a: Attr[str] = attr()
            b: Attr[list[str]] = attr()
            primary = key("A" / a, "A")
            listing = index(Keys.listed, (a, b))

    with refused("Hidden.b is key_only"):

        class Hidden(Entity, table=Keys):
            a: Attr[str] = attr()
            b: Attr[str] = attr(key_only=True)
            primary = key("B" / b, "B")
            listing = index(Keys.listed, (a, b))

    with refused("Defaulted.b is a natural key, which cannot be None"):

        class Defaulted(Entity, table=Keys):
            a: Attr[str] = attr()
            b: Attr[str | None] = attr(default="x")
            primary = key("C" / a, "C")
            listing = index(Keys.listed, (a, b))

    with refused("key attribute 'b'", "has type N here and type S"):

        class First(Entity, table=Keys):
            a: Attr[str] = attr()
            b: Attr[str] = attr()
            primary = key("D" / a, "D")
            listing = index(Keys.listed, (a, b))

        class Second(Entity, table=Keys):
            a: Attr[str] = attr()
            b: Attr[int] = attr()
            primary = key("E" / a, "E")


def test_the_type_attribute_is_no_attribute_of_such_a_key() -> None:
    class Kinds(Table):
        listed = GSI("a", ("type", "b"))

    with pytest.raises(DeclarationError, match="pass the attribute alone, without literals"):

        class Kind(Entity, table=Kinds):
            a: Attr[str] = attr()
            b: Attr[str] = attr()
            primary = key("A" / a, "A")
            listing = index(Kinds.listed, a, ("Kind", b))  # type: ignore[type-var]
