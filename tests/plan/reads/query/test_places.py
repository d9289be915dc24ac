"""Alternative places of an entity in one index, and what the index projects.

Each read is compared with the entities themselves, for each form of places and each projection: it
finds what is there, or it is refused with the attribute that the index does not contain.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Projection,
    Table,
    access_pattern,
    attr,
    children,
    connect,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.formats import day, lower, shard
from tablewright.plan.reads.query import Count
from tests.new_table import new_indexed_table
from tests.things import NamedEntity
from tests.transports import record_requests

#: Where late tickets and the others are: their partition keys, and the literals of their sort keys.
FORMS = {
    "in two partitions": (("LATE", "DUE"), ("EARLY", "DUE")),
    "behind two literals": (("TICKETS", "LATE"), ("TICKETS", "EARLY")),
    "behind a literal and a part": (("TICKETS", "DUE"), ("TICKETS", "DUE#EARLY")),
    "with the same key": (("TICKETS", "DUE"), ("TICKETS", "DUE")),
}
PROJECTIONS: list[Any] = ["ALL", "KEYS_ONLY"]
for count in range(1, 4):
    PROJECTIONS += itertools.combinations(("isLate", "due", "note"), count)

TICKETS = [
    {"ticket": "a", "is_late": True, "due": 7, "note": "x"},
    {"ticket": "b", "is_late": False, "due": 7},
    {"ticket": "c", "is_late": True},
    {"ticket": "d", "is_late": False},
    {"ticket": "e", "is_late": True, "due": None},
    {"ticket": "f", "is_late": False, "due": 9, "note": "y"},
]
ATTRIBUTES = ("ticket", "is_late", "due", "note")


def declare(project: Any, form: str) -> tuple[type[Table], Any]:
    """Return a table, and an entity with two places in its index."""

    class Desk(Table, name="desk_of_places"):
        by_state = GSI("gsi1pk", "gsi1sk", project=project)

    (one, first), (two, second) = FORMS[form]

    class Ticket(Entity, table=Desk):
        ticket: Attr[str] = attr()
        is_late: Attr[bool] = attr(name="isLate")
        due: Attr[int | None] = attr(pad=4, default=1)
        note: Attr[str] = attr(default="none")
        primary = key("TICKET" / ticket, "TICKET")
        late = index(Desk.by_state, one, first / due, when=is_late == True)  # noqa: E712
        early = index(Desk.by_state, two, second / due, when=is_late == False)  # noqa: E712

    return Desk, Ticket


def missing(project: Any, wanted: tuple[str, ...]) -> set[str]:
    """Return the stored names that an index with a projection does not contain."""
    stored = {"isLate" if name == "is_late" else name for name in wanted} - {"ticket"}
    held = stored if project == "ALL" else () if project == "KEYS_ONLY" else project
    return stored.difference(held)


def check(db: Database, plan: Callable[[], Any], lacking: set[str], expected: Any) -> None:
    """Compare the result of a plan, in any order; or it is refused if something is missing."""
    if lacking:
        with pytest.raises(DeclarationError) as refused:
            db.run(plan())
        assert all(name in str(refused.value) for name in lacking)
        return
    found = db.run(plan())
    assert sorted(map(str, found)) == sorted(map(str, expected))


@pytest.mark.parametrize("project", PROJECTIONS, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_read_finds_the_items_of_its_place_or_is_refused(form: str, project: Any) -> None:
    undecided = missing(project, ("is_late", "due")) if form == "with the same key" else set()
    if undecided:
        with pytest.raises(DeclarationError, match="cannot tell them apart") as refused:
            declare(project, form)
        assert all(name in str(refused.value) for name in undecided)
        return
    table, ticket = declare(project, form)
    entities = [ticket(**values) for values in TICKETS]
    with connect(":memory:", table) as db:
        for entity in entities:
            db.run(put(entity))
        for place, is_late in ((ticket.late, True), (ticket.early, False)):
            here = [each for each in entities if each.is_late is is_late and each.due is not None]
            query = place()
            assert db.run(query.count()) == len(here)
            assert db.run(query.first()) in here
            assert db.run(place.scan(reason="test").count()) == len(here)
            check(db, place, missing(project, ATTRIBUTES), here)
            for size in (1, 2, 3):
                for names in itertools.combinations(ATTRIBUTES, size):
                    columns = [getattr(ticket, name) for name in names]
                    rows = [tuple(getattr(each, name) for name in names) for each in here]
                    lacking = missing(project, names)
                    for read in (query, place.scan(reason="test")):
                        check(db, partial(read.select, *columns), lacking, rows)
                    if not lacking:
                        paged = db.iterate(query.select(*columns).page_size(1))
                        assert sorted(map(str, paged)) == sorted(map(str, rows))


def test_a_count_and_a_first_of_an_index_with_only_keys_can_be_patterns() -> None:
    _, ticket = declare("KEYS_ONLY", "in two partitions")

    @access_pattern
    def late_tickets() -> Count:
        counted: Count = ticket.late().count()
        return counted

    assert late_tickets()._shape().operation == "Query"


class Diary(Table, name="places_diary"):
    by_author = GSI("gsi1pk", "gsi1sk", project="KEYS_ONLY")


class Entry(Entity, table=Diary):
    author: Attr[str] = attr()
    at: Attr[datetime] = attr()
    text: Attr[str] = attr(default="")
    primary = key("AUTHOR" / lower(author), "DAY" / day(at))
    by_author = index(Diary.by_author, "AUTHORS", "AUTHOR" / author)


class Stamp(Entity, table=Diary):
    at: Attr[datetime] = attr()
    text: Attr[str] = attr(default="")
    primary = key("STAMP", "AT" / at)
    all = index(Diary.by_author, "STAMPS", "STAMP")


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_the_first_entity_is_read_by_its_stored_key() -> None:
    entry = Entry(author="Ann", at=NOON, text="x")
    engine = Engine(":memory:")
    with connect(engine, Diary) as db:
        db.run(put(entry))
        assert db.run(Entry.by_author().first()) == entry  # its key is derived from `at`
        item: dict[str, Any] = {"PK": "STAMP", "SK": "AT#2026-05-01T12:00:00Z", "text": "y"}
        item |= {"at": "2026-05-01T12:00:00Z", "gsi1pk": "STAMPS", "gsi1sk": "STAMP"}
        item["type"] = "Stamp"
        stored = {name: {"S": text} for name, text in item.items()}
        engine.call("PutItem", {"TableName": "places_diary", "Item": stored})
        assert db.run(Stamp.all().first()) == Stamp(at=NOON, text="y")  # it has no microseconds


def declare_accounts(project: Any) -> tuple[Any, Any, Any, type[Table]]:
    accounts = new_indexed_table("places_accounts", project=project)

    class Account(NamedEntity, table=accounts, variants=True):
        by_name = index(accounts.gsi1, "ACCOUNTS", "NAME" / NamedEntity.name)

    class User(Account):
        mail: Attr[str] = attr(default="none")

    class Club(Account):
        boss: Attr[str] = attr(default="none")

    return Account, User, Club, accounts


@pytest.mark.parametrize(
    "project", ["ALL", "KEYS_ONLY", ("type",), ("mail", "boss"), ("type", "mail", "boss")], ids=str
)
def test_variants_are_read_from_an_index_that_says_which_they_are(project: Any) -> None:
    account, user, club, table = declare_accounts(project)
    held = {"type", "mail", "boss"} if project == "ALL" else set(project)
    ann, chess = user(name="ann", mail="a@b"), club(name="a chess club", boss="bob")
    with connect(":memory:", table) as db:
        db.run(put(ann))
        db.run(put(chess))
        names = account.by_name().select(account.name)
        assert db.run(names) == [("a chess club",), ("ann",)]
        assert db.run(account.by_name().count()) == 2
        assert db.run(account.by_name().first()) == chess
        check(db, account.by_name, {"type", "mail", "boss"} - held, [ann, chess])
        unsaid = {"type"} - held
        check(db, lambda: user.by_name().select(user.name), unsaid, [("ann",)])
        if unsaid:
            for plan in (user.by_name().count(), user.by_name().first()):
                with pytest.raises(DeclarationError, match="whether an item is a User or a Club"):
                    db.run(plan)
        else:
            assert db.run(user.by_name().count()) == 1
            assert db.run(user.by_name().first()) == ann


def test_a_scan_of_a_variant_needs_the_type_if_the_index_holds_other_variants() -> None:
    shelf = new_indexed_table("places_shelf", project="KEYS_ONLY")

    class Thing(NamedEntity, table=shelf, variants=True): ...

    class Book(Thing):
        books = index(shelf.gsi1, "BOOKS", "NAME" / Thing.name)

    with connect(":memory:", shelf) as db:
        db.run(put(Book(name="a")))
        assert db.run(Book.books().select(Book.name)) == [("a",)]
        assert db.run(Book.books.scan(reason="test").count()) == 1

    class Disc(Thing):
        discs = index(shelf.gsi1, "DISCS", "NAME" / Thing.name)

    with connect(":memory:", shelf) as db:
        db.run(put(Book(name="a")))
        db.run(put(Disc(name="b")))
        assert db.run(Book.books().count()) == 1
        assert db.run(Disc.discs().first()) == Disc(name="b")
        for plan in (Book.books.scan(reason="test").count(), Book.books.scan(reason="test")):
            with pytest.raises(DeclarationError, match="does not contain 'type'"):
                db.run(plan)


def test_shards_and_segments_find_the_first_entity_of_an_index_with_only_keys() -> None:
    table = new_indexed_table("places_doors", project="KEYS_ONLY")

    class Door(Entity, table=table):
        name: Attr[str] = attr()
        text: Attr[str] = attr(default="")
        primary = key("DOOR" / name, "DOOR")
        sharded = index(table.gsi1, "DOORS" / shard(name, of=4), "NAME" / name)

    doors = [Door(name=each, text="x") for each in "dbca"]
    with connect(":memory:", table) as db:
        for door in doors:
            db.run(put(door))
        assert db.run(Door.sharded.all_shards().first()) == Door(name="a", text="x")
        assert db.run(Door.sharded.all_shards().count()) == 4
        assert db.run(Door.sharded.scan(reason="test").segments(2).first()) in doors


class Office(Table, name="places_office"):
    by_team = GSI("gsi1pk", "gsi1sk")


class Person(Entity, table=Office):
    name: Attr[str] = attr()
    team: Attr[str] = attr()
    leads: Attr[bool] = attr(default=False)
    primary = key("PERSON" / name, "PERSON")
    leaders = index(Office.by_team, "TEAM" / team, "BOSS" / name, when=leads == True)  # noqa: E712
    others = index(Office.by_team, "TEAM" / team, "CREW" / name, when=leads == False)  # noqa: E712


class Room(Entity, table=Office):
    number: Attr[str] = attr()
    team: Attr[str] = attr()
    primary = key("ROOM" / number, "ROOM")
    by_team = index(Office.by_team, "TEAM" / team, "ROOM" / number)


class RoomNumber(Projection[Room]):
    number: str


class Team(Aggregate):
    leader: Person = root()
    rooms: list[Room] = children()


class TeamWithNumbers(Aggregate):
    leader: Person = root()
    rooms: list[RoomNumber] = children()


@pytest.mark.parametrize("kind", [Team, TeamWithNumbers])
def test_the_root_of_an_aggregate_is_in_the_place_of_its_key(kind: Any) -> None:
    with connect(":memory:", Office) as db:
        db.run(put(Person(name="bob", team="red")))
        db.run(put(Room(number="1", team="red")))
        assert db.run(kind.of(Person.leaders("red"))) is None
        ann = Person(name="ann", team="red", leads=True)
        db.run(put(ann))
        team = db.run(kind.of(Person.leaders("red")))
        assert (team.leader, [room.number for room in team.rooms]) == (ann, ["1"])


def test_a_union_leaves_out_items_in_other_places() -> None:
    with connect(":memory:", Office) as db:
        ann, bob = Person(name="ann", team="red", leads=True), Person(name="bob", team="red")
        room = Room(number="1", team="red")
        for entity in (ann, bob, room):
            db.run(put(entity))
        both = Person.leaders("red").union(Room.by_team("red"))
        assert db.run(both) == [ann, room]
        assert db.run(both.count()) == 2
        assert db.run(both.first()) == ann


def test_a_query_asks_for_what_decides_the_place_and_no_more() -> None:
    with connect(":memory:", Office) as db:
        recording = record_requests(db)
        db.run(Person.leaders("red").select(Person.name))
        ((_, body),) = recording.requests
        read = body["ProjectionExpression"].split(", ")
        names = {body["ExpressionAttributeNames"][each] for each in read}
        assert names == {"PK", "SK", "gsi1pk", "gsi1sk", "type", "name", "team", "leads"}
