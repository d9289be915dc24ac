"""Why an item is in an index or is not, and what it has to do with others."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
from msgspec.structs import replace

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    table_description,
    unique,
)
from tablewright.engine import Engine
from tablewright.presentation.kinds import kind_of
from tablewright.studio.items.places import ItemPlace, places_of, read_neighbours
from tablewright.studio.items.reading import lookup, run
from tablewright.studio.items.relations import relations_of
from tablewright.table_description import TableDescription, read_table
from tablewright.values import Item


class Shelf(Table, name="shelf"):
    open_tasks = GSI("GSI1PK", "GSI1SK", name="open_tasks")
    by_rank = GSI("rank", name="by_rank", project="KEYS_ONLY")


class State(StrEnum):
    OPEN = "OPEN"
    DONE = "DONE"


class Person(Entity, table=Shelf):
    person_id: Attr[str] = attr(name="personId")
    name: Attr[str] = attr()

    primary = key("PERSON" / person_id, "PERSON" / person_id.again)
    names = unique("NAME" / name, keep=(person_id,))


class Task(Entity, table=Shelf):
    person_id: Attr[str] = attr(name="personId")
    task_id: Attr[str] = attr(name="taskId")
    state: Attr[State] = attr(default=State.OPEN)
    due: Attr[str | None] = attr(name="dueDay", default=None)
    rank: Attr[int | None] = attr(default=None)

    primary = key("PERSON" / person_id, "TASK" / task_id)
    waiting = index(Shelf.open_tasks, "OPEN", "DUE" / due / task_id, when=state == State.OPEN)
    ranks = index(Shelf.by_rank, rank)


KNOWN = Shelf.__table__


@pytest.fixture
def engine() -> Engine:
    engine = Engine(":memory:")
    with connect(engine, Shelf, create=True) as database:
        database.run(create(Person(person_id="P1", name="Ann")))
        for number in range(9):
            database.run(create(Task(person_id="P1", task_id=f"T{number}", due=f"D{number}")))
    return engine


def description_of(engine: Engine) -> TableDescription:
    return read_table(engine.call("DescribeTable", {"TableName": "shelf"})["Table"])


def place_in(engine: Engine, name: str, item: Item) -> ItemPlace:
    found = places_of(description_of(engine), kind_of(KNOWN, item), item)
    return next(place for place in found if place.collection.name == name)


def task(**changed: Any) -> Item:
    values = {"person_id": "P1", "task_id": "T1", "due": "D1", **changed}
    return Task.__entity__.encode(vars(Task(**values)))


def test_a_key_is_taken_apart_into_its_parts(engine: Engine) -> None:
    place = place_in(engine, "open_tasks", task())
    assert place.is_in
    pieces = [(piece.text, piece.label) for piece in place.keys["GSI1SK"]]
    assert pieces == [("DUE#", ""), ("D1", "dueDay"), ("#", ""), ("T1", "taskId")]


def test_a_missing_part_is_named(engine: Engine) -> None:
    place = place_in(engine, "open_tasks", task(due=None))
    assert (place.is_in, place.reason) == (False, "dueDay has no value")
    assert [piece.text for piece in place.keys["GSI1SK"]] == ["DUE#", "∅", "#", "T1"]


def test_a_false_condition_is_shown_with_the_stored_values(engine: Engine) -> None:
    place = place_in(engine, "open_tasks", task(state=State.DONE))
    assert not place.is_in
    assert place.reason == "its condition is false: state = 'OPEN'"
    assert place.about == ("state",)


def test_an_item_whose_entity_has_no_key_there_says_what_it_lacks(engine: Engine) -> None:
    person = Person.__entity__.encode({"person_id": "P1", "name": "Ann"})
    place = place_in(engine, "open_tasks", person)
    assert place.reason == "Person declares no key for it: the item has no GSI1PK and no GSI1SK"


def test_an_item_that_was_written_without_its_index_key_is_told(engine: Engine) -> None:
    item = task()
    del item["GSI1SK"]
    place = place_in(engine, "open_tasks", item)
    assert not place.is_in
    assert "although its values give a key" in place.reason


def test_a_key_that_does_not_follow_from_the_values_is_told(engine: Engine) -> None:
    place = place_in(engine, "open_tasks", task() | {"dueDay": {"S": "D2"}})
    assert place.is_in
    assert "by its values its key would be" in place.reason
    assert "DUE#D2#T1" in place.reason
    done = place_in(engine, "open_tasks", task() | {"state": {"S": "DONE"}})
    assert "would not be here" in done.reason


def test_a_key_attribute_of_another_type_is_told(engine: Engine) -> None:
    place = place_in(engine, "by_rank", {"PK": {"S": "x"}, "SK": {"S": "y"}, "rank": {"S": "1"}})
    assert place.reason == "rank has the type S, and the key takes N"


def test_an_item_is_in_an_index_that_its_entity_does_not_declare(engine: Engine) -> None:
    person = Person.__entity__.encode({"person_id": "P1", "name": "Ann"})
    place = place_in(engine, "by_rank", person | {"rank": {"N": "1"}})
    assert place.is_in
    assert "the item is here because it has rank" in place.reason


@pytest.mark.parametrize(
    ("number", "position", "before", "after"),
    [
        (0, "number 2 in its partition", ["PERSON#P1"], ["TASK#T1", "TASK#T2"]),
        (4, "in the middle of its partition", ["TASK#T2", "TASK#T3"], ["TASK#T5", "TASK#T6"]),
        (8, "last in its partition", ["TASK#T6", "TASK#T7"], []),
    ],
)
def test_neighbours_are_those_of_the_sort_key(
    engine: Engine, number: int, position: str, before: list[str], after: list[str]
) -> None:
    description = description_of(engine)
    key_ = {"PK": {"S": "PERSON#P1"}, "SK": {"S": f"TASK#T{number}"}}

    def send(operation: str, **request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = engine.call(operation, request)
        return answer

    found = read_neighbours(send, description, description.base, key_)
    assert found.position == position
    assert [item["SK"]["S"] for item in found.before] == before
    assert [item["SK"]["S"] for item in found.after] == after


def test_relations_go_both_ways(engine: Engine) -> None:
    def send(operation: str, **request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = engine.call(operation, request)
        return answer

    description = description_of(engine)
    (has,) = relations_of(description, Person.__entity__, {"person_id": "P1", "name": "Ann"})
    assert (has.direction, has.entity) == ("has", Task.__entity__)
    assert has.lookup is not None
    assert has.lookup.show() == "Query PK = PERSON#P1 AND begins_with(SK, TASK#)"
    assert run(send, has.lookup).count == "9"
    values = {"person_id": "P1", "task_id": "T1", "state": State.OPEN, "due": None, "rank": None}
    (belongs,) = relations_of(description, Task.__entity__, values)
    assert (belongs.direction, belongs.entity) == ("belongs to", Person.__entity__)
    assert belongs.lookup is not None
    (person,) = run(send, belongs.lookup).items
    assert person["name"] == {"S": "Ann"}


def test_a_relation_reads_one_page_and_says_that_there_is_more(engine: Engine) -> None:
    requests: list[dict[str, Any]] = []

    def send(operation: str, **request: Any) -> dict[str, Any]:
        requests.append(request)
        answer: dict[str, Any] = engine.call(operation, request)
        return answer

    for number in range(30):
        item = task(task_id=f"X{number}")
        engine.call("PutItem", {"TableName": "shelf", "Item": item})
    (has,) = relations_of(
        description_of(engine), Person.__entity__, {"person_id": "P1", "name": "Ann"}
    )
    assert has.lookup is not None
    assert run(send, has.lookup).count == "20+"
    assert [request["Limit"] for request in requests] == [21]


def test_a_lookup_that_no_key_serves_is_none(engine: Engine) -> None:
    description = description_of(engine)
    assert lookup(description, Task.__entity__, {"task_id": "T1"}, ("task_id",)) is None
    found = lookup(description, Task.__entity__, {"rank": 3}, ("rank",))
    assert found is not None
    assert found.show() == "Query by_rank: rank = 3"


def test_an_index_that_is_missing_or_being_built_is_not_used(engine: Engine) -> None:
    description = description_of(engine)
    missing = replace(description, indexes=description.indexes[:1])
    assert lookup(missing, Task.__entity__, {"rank": 3}, ("rank",)) is None
    building = replace(description.indexes[1], state=table_description.State("CREATING"))
    partly = replace(description, indexes=(description.indexes[0], building))
    assert [index.name for index in partly.indexes] == ["open_tasks", "by_rank"]
    assert lookup(partly, Task.__entity__, {"rank": 3}, ("rank",)) is None
