"""`where` uses the key that binds most of its conditions and filters by the rest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from tablewright import GSI, Attr, Engine, Entity, Table, attr, connect, create, index, key, put
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.formats import day
from tests.model.patterns.club import MONDAY, Number
from tests.model.patterns.found import ITEMS, Fuzzy, Item
from tests.new_table import new_indexed_table
from tests.things import NamedEntity

# -- where: the right key, and a filter for the rest -----------------------------------------------


WHERE: dict[str, tuple[Any, str | None, str, str]] = {
    "the primary key": ((Item.item_id == "03",), None, 'PK="ITEM#03" AND SK="ITEM"', ""),
    "the primary key, and a filter": (
        (Item.item_id == "03", Item.rank > 1),
        None,
        'PK="ITEM#03" AND SK="ITEM"',
        "rank > 1",
    ),
    "an index": ((Item.owner == "ann",), "gsi1", 'GSI1PK="OWNER#ann"', ""),
    "an index, further": (
        (Item.shelf == "s1", Item.owner == "ann"),
        "gsi1",
        'GSI1PK="OWNER#ann" AND begins_with(GSI1SK, "SHELF#s1#MADE#")',
        "",
    ),
    "an index, and a filter": (
        (Item.owner == "ann", Item.color == "red"),
        "gsi1",
        'GSI1PK="OWNER#ann"',
        "color = 'red'",
    ),
    "a comparison of the next part": (
        (Item.owner == "ann", Item.shelf == "s1", Item.made >= MONDAY),
        "gsi1",
        'GSI1PK="OWNER#ann" AND GSI1SK BETWEEN "SHELF#s1#MADE#2026-01-05T00:00:00.000000Z" '
        'AND "SHELF#s1#MADE$"',
        "",
    ),
    "a comparison of a part that is not next": (
        (Item.owner == "ann", Item.rank > 3),
        "gsi1",
        'GSI1PK="OWNER#ann"',
        "rank > 3",
    ),
    "conditions joined by &": (
        ((Item.owner == "ann") & (Item.rank > 3),),
        "gsi1",
        'GSI1PK="OWNER#ann"',
        "rank > 3",
    ),
    "a part that sorts downwards": (
        (Item.shelf == "s1", Item.rank > 3),
        "gsi2",
        'GSI2PK="SHELF#s1" AND GSI2SK<"RANK#9996"',
        "",
    ),
}


@pytest.mark.parametrize(("conditions", "name", "condition", "filters"), WHERE.values(), ids=WHERE)
def test_where_takes_the_key_that_binds_most_and_filters_the_rest(
    conditions: Any, name: str | None, condition: str, filters: str
) -> None:
    shape = Item.where(*conditions)._shape()
    assert (shape.index, shape.condition) == (name, condition)
    assert shape.filter.removeprefix('kind="Item"').removeprefix(" AND ") == filters


MEANT: dict[str, tuple[Any, Callable[[Item], bool]]] = {
    "owner": ((Item.owner == "ann",), lambda item: item.owner == "ann"),
    "owner and shelf": (
        (Item.owner == "ann", Item.shelf == "s1"),
        lambda item: item.owner == "ann" and item.shelf == "s1",
    ),
    "owner, shelf and time": (
        (Item.owner == "ann", Item.shelf == "s1", Item.made > MONDAY + timedelta(days=1)),
        lambda item: (
            item.owner == "ann" and item.shelf == "s1" and item.made > MONDAY + timedelta(days=1)
        ),
    ),
    "owner and a text that others follow": (
        (Item.owner == "ann", Item.shelf > "s0"),
        lambda item: item.owner == "ann" and item.shelf > "s0",
    ),
    "owner and the beginning of a shelf": (
        (Item.owner == "ann", Item.shelf.begins_with("s")),
        lambda item: item.owner == "ann",
    ),
    "shelf and rank above": (
        (Item.shelf == "s1", Item.rank > 4),
        lambda item: item.shelf == "s1" and item.rank > 4,
    ),
    "shelf and rank up to": (
        (Item.shelf == "s1", Item.rank <= 4),
        lambda item: item.shelf == "s1" and item.rank <= 4,
    ),
    "shelf and rank between": (
        (Item.shelf == "s1", Item.rank.between(4, 7)),
        lambda item: item.shelf == "s1" and 4 <= item.rank <= 7,
    ),
    "two bounds of one part": (
        (Item.shelf == "s1", Item.rank > 1, Item.rank < 10),
        lambda item: item.shelf == "s1" and 1 < item.rank < 10,
    ),
    "shelf and one rank": (
        (Item.shelf == "s1", Item.rank == 4),
        lambda item: item.shelf == "s1" and item.rank == 4,
    ),
    "color and sale": (
        (Item.color == "red", Item.sold >= MONDAY),
        lambda item: item.color == "red" and item.sold is not None,
    ),
}


@pytest.mark.parametrize(("conditions", "holds"), MEANT.values(), ids=MEANT)
def test_where_gives_what_the_conditions_say(
    conditions: Any, holds: Callable[[Item], bool], found: Database
) -> None:
    given = sorted(item.item_id for item in found.iterate(Item.where(*conditions)))
    assert given == [item.item_id for item in ITEMS if holds(item)]


def test_where_does_not_use_an_index_that_lacks_some_of_the_items() -> None:
    """An item that is not sold is not in the index by sale, and is red all the same."""
    with pytest.raises(DeclarationError, match="would be a scan"):
        Item.where(Item.color == "red")


def test_where_does_not_use_an_index_that_lacks_some_of_the_attributes() -> None:
    """by_rank would bind three parts, and holds keys only."""
    plan = Item.where(Item.owner == "ann", Item.shelf == "s1", Item.made >= MONDAY)
    assert plan._shape().index == "gsi1"


FUZZY = [
    Fuzzy(name=name, group="g", at=MONDAY + timedelta(milliseconds=400 * number))
    for number, name in enumerate(["alice", "Bob", "carol", "DAVE", "eve"])
]


BLURRED: dict[str, tuple[Any, Callable[[Fuzzy], bool]]] = {
    "lower case, above": (
        (Fuzzy.group == "g", Fuzzy.name >= "Bob"),
        lambda one: one.name >= "Bob",
    ),
    "lower case, equal": (
        (Fuzzy.group == "g", Fuzzy.name == "bob"),
        lambda one: one.name == "bob",
    ),
    "lower case, the beginning": (
        (Fuzzy.group == "g", Fuzzy.name.begins_with("b")),
        lambda one: one.name.startswith("b"),
    ),
    "the second, above": (
        (Fuzzy.group == "g", Fuzzy.at > FUZZY[1].at),
        lambda one: one.at > FUZZY[1].at,
    ),
    "the second, below": (
        (Fuzzy.group == "g", Fuzzy.at < FUZZY[1].at),
        lambda one: one.at < FUZZY[1].at,
    ),
    "the second, equal": (
        (Fuzzy.group == "g", Fuzzy.at == FUZZY[1].at),
        lambda one: one.at == FUZZY[1].at,
    ),
}


@pytest.mark.parametrize(("conditions", "holds"), BLURRED.values(), ids=BLURRED)
def test_where_means_the_attribute_and_not_what_a_key_makes_of_it(
    conditions: Any, holds: Callable[[Fuzzy], bool], db: Database
) -> None:
    for entity in FUZZY:
        db.run(put(entity))
    given = sorted(entity.name for entity in db.iterate(Fuzzy.where(*conditions)))
    assert given == sorted(entity.name for entity in FUZZY if holds(entity))


def test_where_on_a_key_that_is_cut_to_its_day_filters_the_time(db: Database) -> None:
    table = new_indexed_table("pattern_days")

    class Event(NamedEntity, table=table):
        group: Attr[str] = attr()
        at: Attr[datetime] = attr()
        by_day = index(table.gsi1, "GROUP" / group, "DAY" / day(at) / NamedEntity.name)

    days = connect(":memory:", table)
    for hour in (1, 2, 3):
        days.run(put(Event(name=str(hour), group="g", at=MONDAY + timedelta(hours=hour))))
    plan = Event.where(Event.group == "g", Event.at >= MONDAY + timedelta(hours=2))
    assert [one.name for one in days.run(plan)] == ["2", "3"]
    assert [one.name for one in days.run(Event.by_day("g").eq(date(2026, 1, 5)))] == [
        "1",
        "2",
        "3",
    ]


def test_where_with_two_bounds_of_a_natural_key_says_to_compare_it_once() -> None:
    """DynamoDB takes one condition on a sort key, and none on it in a filter."""
    with pytest.raises(
        DeclarationError, match=r"'number' is part of the key; compare it with .*between"
    ):
        Number.where(Number.series == "s", Number.number >= 2, Number.number <= 4)


# -- where, and indexes that hold too little -------------------------------------------------------


class Thin(Table, name="pattern_thin"):
    keys = GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")


class Note(Entity, table=Thin):
    author: Attr[str] = attr()
    note_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    tag: Attr[str] = attr(default="x")
    primary = key("AUTHOR" / author, "NOTE" / note_id)
    timeline = index(Thin.keys, "TAG" / tag, "NOTE" / at)


def test_where_uses_the_table_rather_than_an_index_that_holds_no_whole_items(
    engine: Engine,
) -> None:
    db = connect(engine, Thin)
    note = db.run(create(Note(author="ann", note_id="1", at=MONDAY)))
    plan = Note.where(Note.author == "ann", Note.tag == "x", Note.at >= MONDAY)

    assert plan._shape().index is None
    assert list(db.run(plan)) == [note]


def test_where_that_only_an_index_without_whole_items_would_serve_is_a_scan() -> None:
    with pytest.raises(DeclarationError, match="would be a scan"):
        Note.where(Note.tag == "x")


def test_where_refuses_attributes_of_another_entity() -> None:
    with pytest.raises(DeclarationError, match="is not an attribute of Item"):
        Item.where(Note.note_id == "x")  # type: ignore[arg-type]


def test_where_refuses_what_is_no_condition() -> None:
    given: Any = "title = 'x'"
    with pytest.raises(
        DeclarationError, match="is not a condition; write one with attributes: Item"
    ):
        Item.where(given)
