"""Several places of an entity in one index, of which at most one holds."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

from tablewright import (
    GSI,
    LSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    put,
    version,
)
from tablewright.engine import Engine
from tablewright.errors import DeclarationError
from tablewright.formats import iso
from tests.model.declaring.declarations import refused
from tests.new_table import new_indexed_table
from tests.things import NamedEntity


class Status(StrEnum):
    OPEN = "Open"
    CLOSED = "Closed"


class Github(Table, name="github"):
    listed = GSI("GSI1PK", "GSI1SK")
    issues = GSI("GSI2PK", "GSI2SK")


class Repo(Entity, table=Github):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    parent: Attr[str | None] = attr(default=None)
    stars: Attr[int] = attr(default=0)

    primary = key("REPO" / owner / name, "REPO" / owner.again / name.again)
    itself = index(
        Github.listed, "REPO" / name, "REPO" / owner / name.again, when=parent.not_exists()
    )
    forks = index(Github.listed, "REPO" / parent, "FORK" / owner)


class Issue(Entity, table=Github):
    repo: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    status: Attr[Status] = attr(default=Status.OPEN)
    at: Attr[datetime] = attr()
    version: Attr[int] = version()

    primary = key("REPO" / repo, "ISSUE" / number)
    open = index(Github.issues, "REPO" / repo, "OPEN" / number, when=status == Status.OPEN)
    closed = index(
        Github.issues,
        "REPO" / repo,
        "#CLOSED" / iso(at, "seconds"),
        when=status == Status.CLOSED,
    )


NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


def stored(engine: Engine, partition: str, sort: str) -> dict[str, Any]:
    wanted = {"TableName": "github", "Key": {"PK": {"S": partition}, "SK": {"S": sort}}}
    item: dict[str, Any] = engine.call("GetItem", wanted)["Item"]
    return item


def test_an_item_is_in_the_place_whose_condition_holds() -> None:
    engine = Engine(":memory:")
    with connect(engine, Github) as db:
        db.run(create(Repo(owner="ann", name="tw")))
        db.run(create(Repo(owner="bob", name="tw", parent="tw")))
        whole, fork = stored(engine, *["REPO#ann#tw"] * 2), stored(engine, *["REPO#bob#tw"] * 2)
        assert (whole["GSI1PK"], whole["GSI1SK"]) == ({"S": "REPO#tw"}, {"S": "REPO#ann#tw"})
        assert (fork["GSI1PK"], fork["GSI1SK"]) == ({"S": "REPO#tw"}, {"S": "FORK#bob"})
        assert [repo.owner for repo in db.run(Repo.itself("tw"))] == ["ann"]
        assert [repo.owner for repo in db.run(Repo.forks("tw"))] == ["bob"]


def test_an_update_moves_the_item_from_one_place_to_the_other_and_back() -> None:
    engine = Engine(":memory:")
    with connect(engine, Github) as db:
        issue = db.run(create(Issue(repo="tw", number=7, at=NOON)))
        closed = db.run(Issue.primary("tw", 7).update(Issue.status.set(Status.CLOSED)))
        assert stored(engine, "REPO#tw", "ISSUE#00007")["GSI2SK"] == {
            "S": "#CLOSED#2026-01-15T12:00:00Z"
        }
        assert db.run(Issue.open("tw")) == []
        assert db.run(Issue.closed("tw")) == [closed]
        db.run(Issue.primary("tw", 7).update(Issue.status.set(Status.OPEN)))
        assert stored(engine, "REPO#tw", "ISSUE#00007")["GSI2SK"] == {"S": "OPEN#00007"}
        assert [one.number for one in db.run(Issue.open("tw"))] == [issue.number]


def test_an_update_of_another_attribute_leaves_the_place_as_it_is() -> None:
    engine = Engine(":memory:")
    with connect(engine, Github) as db:
        db.run(create(Repo(owner="bob", name="tw", parent="tw")))
        db.run(Repo.primary("bob", "tw").update(Repo.stars.increment(1)))
        assert stored(engine, *["REPO#bob#tw"] * 2)["GSI1SK"] == {"S": "FORK#bob"}


def test_a_removed_attribute_puts_the_item_into_the_other_place() -> None:
    engine = Engine(":memory:")
    with connect(engine, Github) as db:
        db.run(create(Repo(owner="bob", name="tw", parent="tw")))
        db.run(Repo.primary("bob", "tw").update(Repo.parent.remove()))
        assert stored(engine, *["REPO#bob#tw"] * 2)["GSI1SK"] == {"S": "REPO#bob#tw"}


class Sellable(NamedEntity):
    """Abstract: a thing that is offered until it is sold."""

    sold: Attr[bool] = attr(default=False)


NAME = Sellable.name
OFFERED = Sellable.sold == False  # noqa: E712
SOLD = Sellable.sold == True  # noqa: E712


def test_a_query_leaves_out_items_in_the_other_place_with_the_same_kind_of_key() -> None:
    store = new_indexed_table("store")

    class Thing(Sellable, table=store):
        offered = index(store.gsi1, "SHELF", "THING" / NAME, when=OFFERED)
        archive = index(store.gsi1, "SHELF", "THING" / NAME, when=SOLD)

    with connect(":memory:", store) as db:
        for name, sold in (("a", False), ("b", True), ("c", False)):
            db.run(put(Thing(name=name, sold=sold)))
        assert [one.name for one in db.run(Thing.offered())] == ["a", "c"]
        assert [one.name for one in db.run(Thing.archive())] == ["b"]
        assert db.run(Thing.offered().count()) == 2


def declare_places(one: str, other: str) -> type[Entity]:
    """Declare a thing with two places in an index, under these conditions."""
    store = new_indexed_table("store")

    class Thing(NamedEntity, table=store):
        status: Attr[Status] = attr()
        state: Attr[Status | None] = attr(default=None)
        rank: Attr[int] = attr()
        low: Attr[int | None] = attr(default=None)
        note: Attr[str | None] = attr(default=None)
        tags: Attr[set[str]] = attr(default_factory=set)
        first = index(store.gsi1, "FIRST", "THING" / NamedEntity.name, when=eval(one))
        second = index(store.gsi1, "SECOND", "THING" / NamedEntity.name, when=eval(other))

    return Thing


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("status == Status.OPEN", "status == Status.CLOSED"),
        ("status.in_([Status.OPEN])", "status != Status.OPEN"),
        ("rank < 5", "rank >= 5"),
        ("rank.between(1, 3)", "rank > 3"),
        ("note.exists()", "note.not_exists()"),
        ("note == 'a'", "note == 'b'"),
        ("(rank < 5) & (note == 'a')", "(rank >= 5) | (note == 'b')"),
        ("~(rank < 5)", "rank < 5"),
        ("note.begins_with('a')", "note.begins_with('b')"),
        ("note.begins_with('a')", "note < 'a'"),
        ("note.begins_with('a')", "note == 'b'"),
        ("note.begins_with('a')", "~note.begins_with('a')"),
        ("tags.contains('a')", "~tags.contains('a')"),
        ("tags.size() > 2", "~(tags.size() > 2)"),
        ("rank < low", "~(rank < low)"),
        ("rank < low", "low.not_exists()"),
        ("(rank < low) & (note == 'a')", "(rank < low) & (note == 'b')"),
    ],
)
def test_conditions_that_exclude_each_other_are_accepted(one: str, other: str) -> None:
    places = declare_places(one, other).__entity__.indexes
    assert {key.name for key in places} == {"Thing.first", "Thing.second"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rank <= 5", "rank >= 5"),
        ("rank < 5", "note == 'a'"),
        ("state != Status.OPEN", "state != Status.CLOSED"),
        ("note.begins_with('a')", "note.begins_with('ab')"),
        ("note.begins_with('a')", "note > 'a'"),
        ("tags.contains('a')", "tags.contains('b')"),
        ("rank != low", "low.not_exists()"),
        ("note > 'a'", "note < 'b'"),
        ("rank < 5", "None"),
    ],
)
def test_conditions_that_may_hold_together_are_refused(one: str, other: str) -> None:
    with refused("Thing.second and Thing.first can both apply", "when=…"):
        declare_places(one, other)


def test_a_local_index_has_alternative_places_too() -> None:
    class Store(Table, name="store"):
        shelf = LSI("shelf_key")

    class Thing(Entity, table=Store):
        store: Attr[str] = attr()
        name: Attr[str] = attr()
        sold: Attr[bool] = attr(default=False)
        primary = key("STORE" / store, "THING" / name)
        offered = primary.local(Store.shelf, "OFFERED" / name, when=sold.in_([False]))
        archive = primary.local(Store.shelf, "SOLD" / name, when=sold.in_([True]))

    engine = Engine(":memory:")
    with connect(engine, Store) as db:
        for name in "ab":
            db.run(put(Thing(store="1", name=name)))
        db.run(Thing.primary("1", "b").update(Thing.sold.set(True)))
        assert [one.name for one in db.run(Thing.offered("1"))] == ["a"]
        assert [one.name for one in db.run(Thing.archive("1"))] == ["b"]
        items = engine.call("Scan", {"TableName": "store"})["Items"]
        keys = sorted(item["shelf_key"]["S"] for item in items)
        assert keys == ["OFFERED#a", "SOLD#b"]
    with refused("primary.local(…, when='sold'): when takes a condition"):
        key("STORE").local(Store.shelf, "X", when="sold")  # type: ignore[call-overload]


def test_places_with_the_same_key_need_an_index_with_whole_items() -> None:
    class Store(Table, name="store"):
        shelf = GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")

    with pytest.raises(DeclarationError, match="cannot tell them apart"):

        class Thing(Sellable, table=Store):
            offered = index(Store.shelf, "SHELF", "THING" / NAME, when=OFFERED)
            archive = index(Store.shelf, "SHELF", "THING" / NAME, when=SOLD)


def test_an_attribute_may_be_only_in_the_key_of_one_place() -> None:
    store = new_indexed_table("store", type_attribute=None)

    class Thing(Sellable, table=store):
        seller: Attr[str | None] = attr(key_only=True, default=None)
        buyer: Attr[str | None] = attr(key_only=True, default=None)
        offered = index(store.gsi1, "SELLER" / seller, "OFFERED", when=OFFERED)
        archive = index(store.gsi1, "BUYER" / buyer, "SOLD" / NAME, when=SOLD)

    with connect(":memory:", store) as db:
        for thing in (
            Thing(name="a", seller="bob"),
            Thing(name="b", sold=True, buyer="ann"),
        ):
            db.run(put(thing))
            assert db.run(Thing.primary(thing.name)) == thing
        assert [one.buyer for one in db.run(Thing.offered("bob"))] == [None]
        assert [one.name for one in db.run(Thing.archive("ann"))] == ["b"]

    told = "Sale.second and Sale.first can have the same key in gsi1, so it does not say"
    with refused(told, "'buyer', which is key_only", __file__):

        class Sale(Entity, table=store):
            name: Attr[str] = attr()
            sold: Attr[bool] = attr(default=False)
            buyer: Attr[str | None] = attr(key_only=True, default=None)
            first = index(store.gsi1, "SHELF" / name, "X", when=sold.in_([False]))
            second = index(store.gsi1, "SHELF" / buyer, "X", when=sold.in_([True]))
            primary = key("SALE" / name, "SALE")
