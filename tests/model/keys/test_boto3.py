"""Keys byte for byte: what the model writes is what boto3 reads, and the other way round.

Each case is an entity and the whole item that is stored for it, written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal

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
    index,
    key,
    put,
    save,
    update,
)
from tablewright.database import Database
from tablewright.errors import InvalidValue, UnreadableItem
from tablewright.formats import (
    Codec,
    binary,
    casefold,
    coded,
    day,
    descending,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    hour,
    iso,
    lower,
    number,
    padded,
    shard,
    truncated,
    upper,
    week,
    year,
    year_month,
)
from tablewright.server import serving
from tests.server.http import sdk_client

AT = datetime(2026, 1, 15, 10, 15, 30, 123_456, tzinfo=UTC)
SECOND = AT.replace(microsecond=0)
TEXT = "2026-01-15T10:15:30.123456Z"
WHOLE = "2026-01-15T10:15:30.000000Z"


class Shop(Table, name="shop"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI1PK", "GSI2SK")
    ranked = GSI("RankPK", "Rank")
    digests = GSI("Digest")


class Colons(Table, name="colons", delimiter=":", type_attribute=None): ...


class Plain(Table, name="plain", escape=False, type_attribute=None): ...


class Versions(Table, name="versions", sk="version", type_attribute=None): ...


class Sales(Table, name="sales", type_attribute=None):
    by_region = GSI(("tenant", "region"), ("status", "sold"))


class Visits(Table, name="visits", pk="page", sk="at", type_attribute=None): ...


class User(Entity, table=Colons):
    user: Attr[str] = attr(key_only=True)
    primary = key("User" / user, "#META#")


class Badge(Entity, table=Colons):
    user: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("User" / user, "Badge" / number, delimiter="|")


class Repo(Entity, table=Shop):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    pushed: Attr[datetime] = attr()
    stars: Attr[int] = attr(default=0)
    digest: Attr[bytes | None] = attr(default=None)
    state: Attr[Literal["open", "archived"]] = attr(default="open")
    primary = key("REPO#" + owner + "#" + name, "REPO#")
    by_push = index(Shop.gsi1, "OWNER" / lower(owner), "" / pushed)
    by_state = index(Shop.gsi2, "OWNER" / lower(owner), state + "!" + name)
    ranked = index(Shop.ranked, "REPOS", number(stars))
    by_digest = index(Shop.digests, binary(digest))


@dataclass
class Address:
    city: str
    zone: str | None = None


class Person(Entity, table=Shop):
    name: Attr[str] = attr()
    address: Attr[Address] = attr()
    labels: Attr[dict[str, str]] = attr()
    primary = key(
        "CITY" / upper(address.path(lambda a: a.city)) / labels.path(lambda each: each["team"]),
        "PERSON" / name / name.again,
    )
    by_zone = index(Shop.gsi1, "ZONE" / address.path(lambda a: a.zone), "PERSON")


class Version(Entity, table=Versions):
    name: Attr[str] = attr()
    version: Attr[int] = attr()
    primary = key("DOC" / name, version)


class Latest(Entity, table=Versions):
    name: Attr[str] = attr()
    primary = key("LATEST" / name, 0)


class Note(Entity, table=Plain):
    owner: Attr[str] = attr()
    title: Attr[str] = attr()
    primary = key("OWNER" / owner, "NOTE" / title)


class Sale(Entity, table=Sales):
    sale: Attr[str] = attr(key_only=True)
    tenant: Attr[str] = attr()
    region: Attr[str] = attr()
    status: Attr[str] = attr(default="new")
    sold: Attr[int] = attr()
    primary = key("SALE" / sale, "SALE")
    by_region = index(Sales.by_region, (tenant, region), (status, sold))


class Visit(Entity, table=Visits):
    page: Attr[str] = attr()
    at: Attr[datetime] = attr()
    note: Attr[str] = attr(default="")
    primary = key(page, at)


def texts(**values: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in values.items()}


ITEMS: list[tuple[Any, dict[str, Any]]] = [
    (User(user="a:b;c"), texts(PK="User:a;!b;;c", SK="#META#")),
    (
        Badge(user="A", number=7),
        texts(PK="User|A", SK="Badge|007", user="A") | {"number": {"N": "7"}},
    ),
    (
        Repo(owner="Ann", name="tw", pushed=AT, stars=-9, digest=b"\x00\xff"),
        texts(
            PK="REPO#Ann#tw",
            SK="REPO#",
            GSI1PK="OWNER#ann",
            GSI1SK=f"#{TEXT}",
            GSI2SK="open!tw",
            RankPK="REPOS",
            type="Repo",
            owner="Ann",
            name="tw",
            pushed=TEXT,
            state="open",
        )
        | {"Rank": {"N": "-9"}, "stars": {"N": "-9"}}
        | {"Digest": {"B": b"\x00\xff"}, "digest": {"B": b"\x00\xff"}},
    ),
    (
        Person(name="Ann", address=Address("Bern", "Z1"), labels={"team": "a#b"}),
        texts(
            PK="CITY#BERN#a$!b",
            SK="PERSON#Ann#Ann",
            GSI1PK="ZONE#Z1",
            GSI1SK="PERSON",
            type="Person",
            name="Ann",
        )
        | {
            "address": {"M": texts(city="Bern", zone="Z1")},
            "labels": {"M": texts(team="a#b")},
        },
    ),
    (
        Version(name="x", version=3),
        texts(PK="DOC#x", name="x") | {"version": {"N": "3"}},
    ),
    (Latest(name="x"), texts(PK="LATEST#x", name="x") | {"version": {"N": "0"}}),
    (Note(owner="$a", title="!"), texts(PK="OWNER#$a", SK="NOTE#!", owner="$a", title="!")),
    (
        Sale(sale="S1", tenant="T#1", region="eu", sold=40),
        texts(PK="SALE#S1", SK="SALE", tenant="T#1", region="eu", status="new")
        | {"sold": {"N": "40"}},
    ),
    (Visit(page="p", at=AT), texts(page="p", at=TEXT, note="")),
]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Any]]:
    with closing(Engine(":memory:")) as engine, serving(engine) as url:
        yield url, sdk_client(url)


@pytest.fixture
def databases(served: tuple[str, Any]) -> Iterator[dict[type[Table], Database]]:
    """Databases over HTTP, whose tables are empty."""
    url, client = served
    tables = (Shop, Colons, Plain, Versions, Sales, Visits)
    with ExitStack() as stack:
        yield {each: stack.enter_context(connect(url, each, create=True)) for each in tables}
    for name in client.list_tables()["TableNames"]:
        client.delete_table(TableName=name)


@pytest.fixture
def client(served: tuple[str, Any]) -> Any:
    return served[1]


def table_of(entity: Any) -> Any:
    return entity.__entity__.table


def database_of(databases: dict[type[Table], Database], entity: Any) -> Database:
    return next(db for each, db in databases.items() if each.__table__ is table_of(entity))


def only_item(client: Any, name: str) -> Any:
    (item,) = client.scan(TableName=name, ConsistentRead=True)["Items"]
    return item


@pytest.mark.parametrize(("entity", "item"), ITEMS)
def test_boto3_reads_what_the_model_writes(
    databases: dict[type[Table], Database], client: Any, entity: Any, item: dict[str, Any]
) -> None:
    database_of(databases, entity).run(put(entity))
    assert only_item(client, table_of(entity).name) == item


@pytest.mark.parametrize(("entity", "item"), ITEMS)
def test_the_model_reads_what_boto3_writes_and_writes_the_same(
    databases: dict[type[Table], Database], client: Any, entity: Any, item: dict[str, Any]
) -> None:
    db, name = database_of(databases, entity), table_of(entity).name
    client.put_item(TableName=name, Item=item)
    arguments = entity.__entity__.key_arguments(entity)
    read = db.run(type(entity).primary(*arguments))
    assert read == entity
    assert list(db.run(type(entity).scan(reason="test"))) == [entity]
    db.run(put(read))
    assert only_item(client, name) == item


# -- formats -------------------------------------------------------------------------------------

HEX = Codec[int](
    encode=lambda value: f"{value:04x}",
    decode=lambda text: int(text, 16),
    ordered=True,
    width=4,
    alphabet="0123456789abcdef",
)


class Log(Table, name="log", type_attribute=None): ...


class Moments(Entity, table=Log):
    at: Attr[datetime] = attr()
    primary = key(
        "AT" / iso(at, "seconds") / iso(at, "milliseconds", zone="+00:00") / year(at),
        day(at)
        / hour(at)
        / week(at)
        / year_month(at)
        / iso(at, "seconds", zone="")
        / iso(at, "seconds", zone=timezone(timedelta(hours=9)))
        / descending(day(at))
        / epoch_seconds(at)
        / epoch_millis(at)
        / descending(epoch_seconds(at)),
    )


class Values(Entity, table=Log):
    count: Attr[int] = attr()
    price: Attr[Decimal] = attr()
    name: Attr[str] = attr()
    primary = key(
        "VALUES" / shard(name, of=8),
        padded(count, 6)
        / descending(padded(count, 6))
        / fixed_point(price, 4, 2)
        / lower(name)
        / upper(name)
        / casefold(name)
        / truncated(name, 2)
        / coded(count, HEX),
    )


@pytest.mark.parametrize(
    ("entity", "pk", "sk"),
    [
        (
            Moments(at=AT),
            "AT#2026-01-15T10:15:30Z#2026-01-15T10:15:30.123+00:00#2026",
            "2026-01-15#2026-01-15T10#2026-W03#2026-01#2026-01-15T10:15:30"
            "#2026-01-15T19:15:30+09:00#7973-98-84#1768472130#1768472130123#8231527869",
        ),
        (
            Values(count=255, price=Decimal("12.5"), name="Straße"),
            "VALUES#1",
            "000255#999744#0012.50#straße#STRASSE#strasse#St#00ff",
        ),
    ],
)
def test_formats_byte_for_byte(served: tuple[str, Any], entity: Any, pk: str, sk: str) -> None:
    url, client = served
    with connect(url, Log, create=True) as db:
        db.run(create(entity))
        item = only_item(client, "log")
        assert (item["PK"], item["SK"]) == ({"S": pk}, {"S": sk})
        assert db.run(type(entity).primary(*entity.__entity__.key_arguments(entity))) == entity
        client.delete_table(TableName="log")


# -- other spellings -----------------------------------------------------------------------------

FOREIGN = texts(
    PK="REPO#Ann#tw",
    SK="REPO#",
    GSI1PK="OWNER#ann",
    GSI1SK="#2026-01-15T10:15:30Z",
    GSI2SK="open!tw",
    RankPK="REPOS",
    type="Repo",
    owner="Ann",
    name="tw",
    pushed="2026-01-15T10:15:30+00:00",
    state="open",
) | {"Rank": {"N": "5"}, "stars": {"N": "5"}}


def test_all_keys_of_an_item_are_written_as_they_were_read(
    databases: dict[type[Table], Database], client: Any
) -> None:
    db = databases[Shop]
    client.put_item(TableName="shop", Item=FOREIGN)
    repo = db.run(Repo.by_push("Ann"))[0]
    assert repo.pushed == SECOND
    db.run(put(repo))
    assert only_item(client, "shop") == FOREIGN | texts(pushed=WHOLE)
    repo.stars = 6
    db.run(save(repo))
    db.run(update(repo, Repo.state.set("archived")))
    changed = texts(pushed=WHOLE, state="archived", GSI2SK="archived!tw")
    numbers = {"Rank": {"N": "6"}, "stars": {"N": "6"}}
    assert only_item(client, "shop") == FOREIGN | changed | numbers


def test_a_key_that_is_an_attribute_is_written_as_it_was_read(
    databases: dict[type[Table], Database], client: Any
) -> None:
    db = databases[Visits]
    stored = texts(page="p", at="2026-01-15T11:15:30+01:00")
    client.put_item(TableName="visits", Item=stored)
    (visit,) = db.run(Visit.primary.within("p"))
    visit.note = "new"
    db.run(put(visit))
    assert only_item(client, "visits") == stored | texts(note="new")


def test_a_list_returns_what_is_readable_and_reports_the_rest(
    databases: dict[type[Table], Database], client: Any
) -> None:
    db = databases[Plain]
    good = texts(PK="OWNER#a", SK="NOTE#x", owner="a", title="x")
    bad = texts(PK="OWNER#a", SK="NOTE#y#z", owner="a", title="y")
    for item in good, bad:
        client.put_item(TableName="plain", Item=item)
    page = db.run(Note.primary.within("a").skip_unreadable())
    assert list(page) == [Note(owner="a", title="x")]
    (error,) = page.unreadable
    assert error.item == bad
    assert "the stored SK is 'NOTE#y#z', but its values (title) give 'NOTE#y'" in str(error)
    with pytest.raises(UnreadableItem):
        db.run(Note.primary.within("a"))


def test_a_value_with_the_delimiter_leaves_a_table_without_escapes_as_it_was(
    databases: dict[type[Table], Database], client: Any
) -> None:
    with pytest.raises(InvalidValue, match="contains the delimiter '#'"):
        databases[Plain].run(create(Note(owner="a", title="x#y")))
    assert client.scan(TableName="plain")["Items"] == []


# -- several attributes in a key -----------------------------------------------------------------


def test_a_key_of_several_attributes_is_queried_as_by_boto3(
    databases: dict[type[Table], Database], client: Any
) -> None:
    db = databases[Sales]
    for sold in 9, 40, 100:
        db.run(create(Sale(sale=f"S{sold}", tenant="T", region="eu", sold=sold)))
    found = client.query(
        TableName="sales",
        IndexName="by_region",
        KeyConditionExpression="tenant = :t AND #r = :r AND #s = :s AND sold >= :n",
        ExpressionAttributeNames={"#r": "region", "#s": "status"},
        ExpressionAttributeValues=texts(**{":t": "T", ":r": "eu", ":s": "new"})
        | {":n": {"N": "10"}},
    )["Items"]
    expected = [item["PK"]["S"] for item in found]
    sales = db.run(Sale.by_region("T", "eu").eq("new").gte(10))
    assert [f"SALE#{each.sale}" for each in sales] == expected == ["SALE#S40", "SALE#S100"]
