"""Keys of any spelling, byte for byte, and read back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
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
    index,
    key,
    put,
    save,
    unique,
)
from tablewright.database import Database
from tablewright.errors import InvalidValue
from tablewright.formats import day, lower, year_month
from tests.model.declaring.declarations import refused
from tests.new_table import new_indexed_table, new_table
from tests.prepared import Prepare, with_tables

AT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)


def keys_of(engine: Engine, table: str) -> set[tuple[str, str]]:
    items = engine.call("Scan", {"TableName": table})["Items"]
    return {(item["PK"]["S"], item["SK"]["S"]) for item in items}


# -- delimiters ----------------------------------------------------------------------------------


class Colons(Table, name="colons", delimiter=":"):
    by_team = GSI("GSI1PK", "GSI1SK")


class User(Entity, table=Colons):
    user: Attr[str] = attr()
    team: Attr[str] = attr(default="t")
    at: Attr[datetime] = attr(default=AT)
    primary = key("User" / user, "User" / user.again)
    by_team = index(Colons.by_team, "Team" / team, "At" / at / user)
    by_name = unique("Name" / lower(user))


class Badge(Entity, table=Colons):
    user: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    primary = key("User" / user, "Badge" / number, delimiter="|")


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Colons)


@pytest.fixture
def colons(engine: Engine) -> Database:
    return connect(engine, Colons)


def test_a_delimiter_per_table_and_per_key(colons: Database, engine: Engine) -> None:
    colons.run(create(User(user="A")))
    colons.run(create(Badge(user="A", number=7)))
    assert keys_of(engine, "colons") == {
        ("User:A", "User:A"),
        ("Name:a", "Name:a"),
        ("User|A", "Badge|007"),
    }
    assert colons.run(User.primary("A")) == User(user="A")
    assert colons.run(User.by_name("a")) == User(user="A")
    assert colons.run(Badge.primary("A", 7)) == Badge(user="A", number=7)
    assert colons.run(Badge.primary.within("A").gte(7)) == [Badge(user="A", number=7)]


def test_a_value_with_the_delimiter_is_escaped(colons: Database, engine: Engine) -> None:
    names = ["a:b", "a;b", "a#b"]
    for name in names:
        colons.run(create(User(user=name)))
    assert {pk for pk, _ in keys_of(engine, "colons") if pk.startswith("User")} == {
        "User:a;!b",
        "User:a;;b",
        "User:a#b",
    }
    for name in names:
        assert colons.run(User.primary(name)) == User(user=name)


def test_a_moment_is_not_escaped_for_its_colons(colons: Database, engine: Engine) -> None:
    """Its width is fixed: it is known where it ends."""
    colons.run(create(User(user="A")))
    items = engine.call("Scan", {"TableName": "colons"})["Items"]
    found = [item["GSI1SK"]["S"] for item in items if "GSI1SK" in item]
    assert found == ["At:2026-01-15T10:15:30.000000Z:A"]
    place = User.by_team("t")
    assert colons.run(place.eq(AT)) == [User(user="A")]
    assert colons.run(place.lte(AT)) == [User(user="A")]
    assert colons.run(place.gt(AT)) == []


class Plain(Table, name="plain", escape=False):
    by_day = GSI("GSI1PK", "GSI1SK")


class Note(Entity, table=Plain):
    owner: Attr[str] = attr()
    title: Attr[str] = attr()
    price: Attr[str] = attr(default="$5")
    primary = key("OWNER" / owner, "NOTE" / title)
    by_price = index(Plain.by_day, "PRICE" / price, title)


def test_without_escapes_values_are_written_as_they_are(engine: Engine) -> None:
    db = connect(engine, Plain)
    db.run(create(Note(owner="$a", title="!x$")))
    assert keys_of(engine, "plain") == {("OWNER#$a", "NOTE#!x$")}
    assert db.run(Note.primary("$a", "!x$")) == Note(owner="$a", title="!x$")


def test_without_escapes_a_value_with_the_delimiter_is_refused(engine: Engine) -> None:
    db = connect(engine, Plain)
    with pytest.raises(InvalidValue, match=r"^Note\.primary: title 'a#b' contains the delimiter"):
        db.run(create(Note(owner="a", title="a#b")))
    with pytest.raises(InvalidValue, match=r"^Note\.primary: owner 'a#b' contains the delimiter"):
        db.run(Note.primary("a#b", "x"))
    with pytest.raises(InvalidValue, match=r"^Note\.by_price: price '#5' contains the delimiter"):
        db.run(create(Note(owner="a", title="b", price="#5")))


# -- literals ------------------------------------------------------------------------------------


class Repos(Table, name="repos"):
    recent = GSI("GSI1PK", "GSI1SK")


class Repo(Entity, table=Repos):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    updated_at: Attr[datetime] = attr(default=AT)
    primary = key("REPO#" + owner + "#" + name, "#META#")
    recent = index(Repos.recent, "ACCOUNT" / owner, "" / updated_at)


class Issue(Entity, table=Repos):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("REPO" / owner / name, "ISSUE#" + number + "#OPEN#")


class Star(Entity, table=Repos):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    at: Attr[datetime] = attr(default=AT)
    primary = key("REPO" / owner / name, at)


class Counter(Entity, table=Repos):
    total: Attr[int] = attr(default=0)
    primary = key("COUNTER", "COUNTER")


def test_literals_contain_begin_and_end_with_the_delimiter(engine: Engine) -> None:
    db = connect(engine, Repos)
    written: list[Any] = [
        Repo(owner="o", name="n"),
        Issue(owner="o", name="n", number=7),
        Star(owner="o", name="n"),
        Counter(),
    ]
    for each in written:
        db.run(create(each))
    assert keys_of(engine, "repos") == {
        ("REPO#o#n", "#META#"),
        ("REPO#o#n", "ISSUE#0007#OPEN#"),
        ("REPO#o#n", "2026-01-15T10:15:30.000000Z"),
        ("COUNTER", "COUNTER"),
    }
    reads: list[Any] = [
        Repo.primary("o", "n"),
        Issue.primary("o", "n", 7),
        Star.primary("o", "n", AT),
        Counter.primary(),
    ]
    assert [db.run(read) for read in reads] == written
    assert db.run(Issue.primary.within("o", "n")) == written[1:2]
    assert db.run(Issue.primary.within("o", "n").lte(7)) == written[1:2]
    assert db.run(Star.primary.within("o", "n")) == written[2:3]
    assert db.run(Star.primary.within("o", "n").gte(AT)) == written[2:3]


def test_an_empty_first_literal_is_the_delimiter_alone(engine: Engine) -> None:
    db = connect(engine, Repos)
    db.run(create(Repo(owner="o", name="n")))
    (item,) = engine.call("Scan", {"TableName": "repos"})["Items"]
    assert item["GSI1SK"] == {"S": "#2026-01-15T10:15:30.000000Z"}
    assert db.run(Repo.recent("o").gte(AT)) == [Repo(owner="o", name="n")]


def test_a_neighbour_that_equals_the_end_of_a_range_is_not_read(engine: Engine) -> None:
    """BETWEEN includes its upper bound, `LOG$`."""

    logs = new_table("logs")

    class Log(Entity, table=logs):
        log: Attr[str] = attr()
        number: Attr[int] = attr(pad=2)
        primary = key("L" / log, "LOG" / number)

    class Total(Entity, table=logs):
        log: Attr[str] = attr()
        primary = key("L" / log, "LOG$")

    db = connect(engine, logs)
    db.run(create(Log(log="a", number=1)))
    db.run(create(Total(log="a")))
    assert db.run(Log.primary.within("a").gte(1)) == [Log(log="a", number=1)]
    assert db.run(Log.primary.within("a").gte(1).count()) == 1
    assert db.run(Total.primary("a")) == Total(log="a")


# -- the same attribute twice --------------------------------------------------------------------


class Archive(Table, name="archive"): ...


class Entry(Entity, table=Archive):
    box: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("BOX" / box, "BOX" / box.again / year_month(at) / day(at) / at)


def test_the_same_attribute_again_and_in_several_formats(engine: Engine) -> None:
    db = connect(engine, Archive)
    entry = Entry(box="b#1", at=AT)
    db.run(create(entry))
    assert keys_of(engine, "archive") == {
        ("BOX#b$!1", "BOX#b$!1#2026-01#2026-01-15#2026-01-15T10:15:30.000000Z")
    }
    assert db.run(Entry.primary("b#1", date(2026, 1, 1), AT.date(), AT)) == entry
    place = Entry.primary.within("b#1")
    assert db.run(place.eq(date(2026, 1, 31))) == [entry]
    assert db.run(place.eq(date(2026, 1, 31)).gte(AT.date())) == [entry]
    assert db.run(place.gt(date(2026, 1, 31))) == []
    assert db.run(place) == [entry]


# -- values inside documents ---------------------------------------------------------------------


@dataclass
class Address:
    city: str
    zone: str | None = None
    floor: int = 0


class People(Table, name="people"):
    by_city = GSI("GSI1PK", "GSI1SK")
    by_zone = GSI("GSI2PK", "GSI2SK")
    by_label = GSI("GSI3PK")


class Person(Entity, table=People):
    name: Attr[str] = attr()
    address: Attr[Address | None] = attr(default=None)
    labels: Attr[dict[str, str]] = attr(default_factory=dict)
    primary = key("PERSON" / name, "PERSON")
    by_city = index(People.by_city, "CITY" / lower(address.path(lambda a: a.city)), "P" / name)
    by_zone = index(People.by_zone, "ZONE" / address.path(lambda a: a.zone), "P" / name)
    by_label = index(People.by_label, "TEAM" / labels.path(lambda labels: labels["team"]))


def index_keys(engine: Engine) -> dict[str, str]:
    (item,) = engine.call("Scan", {"TableName": "people"})["Items"]
    return {name: item[name]["S"] for name in sorted(item) if name.startswith("GSI")}


@pytest.mark.parametrize(
    ("address", "labels", "keys"),
    [
        (None, {}, {}),
        (Address("Bern"), {}, {"GSI1PK": "CITY#bern", "GSI1SK": "P#ann"}),
        (None, {"team": "a#b"}, {"GSI3PK": "TEAM#a$!b"}),
        (None, {"other": "x"}, {}),
        (
            Address("Bern", "Z1"),
            {"team": "red"},
            {
                "GSI1PK": "CITY#bern",
                "GSI1SK": "P#ann",
                "GSI2PK": "ZONE#Z1",
                "GSI2SK": "P#ann",
                "GSI3PK": "TEAM#red",
            },
        ),
    ],
)
def test_a_member_of_a_document_is_in_the_index_while_it_has_a_value(
    engine: Engine, address: Address | None, labels: dict[str, str], keys: dict[str, str]
) -> None:
    db = connect(engine, People)
    person = Person(name="ann", address=address, labels=labels)
    db.run(create(person))
    assert index_keys(engine) == keys
    for found, name in (
        (Person.by_city("bern"), "GSI1PK"),
        (Person.by_zone("Z1"), "GSI2PK"),
        (Person.by_label(labels.get("team", "red")), "GSI3PK"),
    ):
        assert db.run(found) == ([person] if name in keys else [])


def test_an_index_follows_the_member_of_a_document(engine: Engine) -> None:
    db = connect(engine, People)
    db.run(create(Person(name="ann", address=Address("Bern", "Z1"), labels={"team": "red"})))
    ann = Person.primary("ann")

    db.run(ann.update(Person.address.path(lambda a: a.city).set("Basel")))
    assert index_keys(engine)["GSI1PK"] == "CITY#basel"

    db.run(ann.update(Person.labels.path(lambda labels: labels["team"]).set("blue")))
    assert index_keys(engine)["GSI3PK"] == "TEAM#blue"

    db.run(ann.update(Person.labels.path(lambda labels: labels["team"]).remove()))
    assert "GSI3PK" not in index_keys(engine)

    db.run(ann.update(Person.address.set(Address("Chur"))))
    assert index_keys(engine) == {"GSI1PK": "CITY#chur", "GSI1SK": "P#ann"}

    db.run(ann.update(Person.address.set(None)))
    assert index_keys(engine) == {}


class Orders(Table, name="orders"): ...


class Order(Entity, table=Orders):
    buyer: Attr[Address] = attr()
    data: Attr[dict[str, str]] = attr()
    note: Attr[str] = attr(default="")
    primary = key("CITY" / lower(buyer.path(lambda b: b.city)), "O" / data.path(lambda d: d["id"]))


def test_a_member_of_a_document_in_the_primary_key(engine: Engine) -> None:
    db = connect(engine, Orders)
    order = db.run(create(Order(buyer=Address("Bern"), data={"id": "7#1"})))
    assert keys_of(engine, "orders") == {("CITY#bern", "O#7$!1")}
    found = db.run(Order.primary("Bern", "7#1"))
    assert found == order == db.run(Order.primary.within("Bern"))[0]

    db.run(Order.primary("Bern", "7#1").update(Order.note.set("new")))
    db.run(Order.primary("Bern", "7#1").update(Order.data.path(lambda d: d["id"]).set("8")))
    assert keys_of(engine, "orders") == {("CITY#bern", "O#8")}
    found = db.run(Order.primary("Bern", "8"))
    assert found is not None
    assert found.note == "new"
    found.buyer.city = "Basel"
    db.run(save(found))
    assert keys_of(engine, "orders") == {("CITY#basel", "O#8")}


def test_a_primary_key_needs_the_member_of_a_document(engine: Engine) -> None:
    db = connect(engine, Orders)
    message = r"^Order\.primary: data\['id'\] is None; a primary key needs every part"
    for write in create, put:
        with pytest.raises(InvalidValue, match=message):
            db.run(write(Order(buyer=Address("Bern"), data={})))
    db.run(create(Order(buyer=Address("Bern"), data={"id": "7"})))
    remove = Order.data.path(lambda d: d["id"]).remove()
    with pytest.raises(InvalidValue, match=message):
        db.run(Order.primary("Bern", "7").update(remove))
    item = {"PK": {"S": "CITY#bern"}, "SK": {"S": "O#9"}, "type": {"S": "Order"}, "data": {"M": {}}}
    item["buyer"] = {"M": {"city": {"S": "Bern"}}}
    engine.call("PutItem", {"TableName": "orders", "Item": item})
    page = db.run(Order.primary.within("Bern").skip_unreadable())
    assert (len(page), len(page.unreadable)) == (1, 1)


def test_a_member_that_can_be_none_is_not_part_of_a_primary_key() -> None:
    with refused("Parcel.primary: buyer.zone can be None, and a primary key needs every part"):

        class Parcel(Entity, table=Orders):
            buyer: Attr[Address] = attr()
            primary = key("ZONE" / buyer.path(lambda b: b.zone), "PARCEL")


def test_whole_paths_are_joined() -> None:
    paths = new_table("paths")

    class Named(Entity, table=paths):
        number: Attr[int] = attr(pad=4)
        name: Attr[str] = attr()
        primary = key("v" + number / name, "N" / number.again + "x" / name.again)

    class Rated(Entity, table=paths):
        number: Attr[int] = attr(pad=4)
        name: Attr[str] = attr()
        primary = key("w" / (number / name), number.again + "X" / name.again)

    with Engine(":memory:") as engine:
        db = connect(engine, paths)
        for entity in (Named(number=7, name="a"), Rated(number=7, name="a")):
            db.run(put(entity))
        assert keys_of(engine, "paths") == {("v0007#a", "N#0007x#a"), ("w#0007#a", "0007X#a")}
        assert db.run(Named.primary(7, "a")) == Named(number=7, name="a")
        assert db.run(Rated.primary(7, "a")) == Rated(number=7, name="a")


def test_keys_of_one_entity_that_look_alike_have_their_own_texts() -> None:
    alike = new_indexed_table("alike", 2)

    class Thing(Entity, table=alike):
        name: Attr[str] = attr()
        kind: Attr[str] = attr()
        size: Attr[int | None] = attr(pad=3)
        primary = key("THING" / name, "A" / name.again)
        by_kind = index(alike.gsi1, "THING" / kind, "A" / name)
        by_size = index(alike.gsi2, "THING" / lower(name), "A" / size)

    made = Thing(name="Ann#1", kind="Box", size=7)
    item = Thing.__entity__.encode(vars(made))
    assert {name: item[name]["S"] for name in ("PK", "SK")} == {
        "PK": "THING#Ann$!1",
        "SK": "A#Ann$!1",
    }
    assert {name: value["S"] for name, value in item.items() if name.startswith("GSI")} == {
        "GSI1PK": "THING#Box",
        "GSI1SK": "A#Ann$!1",
        "GSI2PK": "THING#ann$!1",
        "GSI2SK": "A#007",
    }


@pytest.mark.parametrize("delimiter", ["~", "[", "'", '"', "{"])
def test_a_key_with_any_delimiter_is_read_back(delimiter: str) -> None:
    """The reader is generated code, in which these characters need care."""

    marked = new_table("marked", delimiter=delimiter)

    class Pair(Entity, table=marked):
        one: Attr[str] = attr()
        two: Attr[str] = attr()
        primary = key("ONE" / one, "TWO" / two)

    value = f"x{delimiter}y"
    with connect(":memory:", marked) as db:
        db.run(put(Pair(one=value, two=value)))
        assert db.run(Pair.primary(value, value)) == Pair(one=value, two=value)
