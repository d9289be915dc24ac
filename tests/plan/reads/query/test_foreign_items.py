"""Items that other programs wrote."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Attr, Engine, Entity, Query, attr, connect, create, key, unique
from tablewright.database import Database
from tablewright.errors import UnreadableItem
from tests.new_table import new_table
from tests.plan.reads.query.desk import Task, _key, _remove, numbers, task


def _set(engine: Engine, item: Task, name: str, value: dict[str, Any]) -> None:
    request = {
        "TableName": "query_desk",
        "Key": _key(item),
        "UpdateExpression": "SET #0 = :0",
        "ExpressionAttributeNames": {"#0": name},
        "ExpressionAttributeValues": {":0": value},
    }
    engine.call("UpdateItem", request)


PLANS: list[Any] = [
    Task.primary.within("P"),
    Task.primary.within("P").page_size(5),
    Task.primary.within("P").eq(1),
    Task.urgent(),
    Task.swapped(1),
]


plans = pytest.mark.parametrize("plan", PLANS, ids=["table", "page", "one", "gsi", "swapped"])


@plans
def test_attributes_that_the_entity_does_not_know_are_passed_over(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    _set(engine, task(1), "color", {"M": {"deep": {"SS": ["x"]}}})
    assert list(db.run(plan)) == [task(1, priority=5)]


@plans
def test_absent_attributes_read_as_their_defaults(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5, tags=["x"])))
    _remove(engine, task(1), "title", "tags", "priority")
    assert list(db.run(plan)) == [task(1)]


@plans
def test_an_item_that_cannot_be_read_names_entity_attribute_and_value(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    _set(engine, task(1), "createdAt", {"S": "yesterday"})
    with pytest.raises(UnreadableItem, match=r"Task\.created_at: 'yesterday' cannot be read as"):
        db.run(plan)


@plans
def test_an_item_without_a_needed_attribute_names_it(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    _remove(engine, task(1), "createdAt")
    told = r"Task\.created_at: the stored item has no 'createdAt'"
    with pytest.raises(UnreadableItem, match=told):
        db.run(plan)


@plans
def test_a_page_returns_what_can_be_read_and_reports_the_rest(
    plan: Query[Task], db: Database, engine: Engine
) -> None:
    db.run(create(task(1, priority=5)))
    db.run(create(task(2, priority=5)))
    _set(engine, task(1), "createdAt", {"S": "yesterday"})
    page = db.run(plan.skip_unreadable())
    assert list(page) in ([task(2, priority=5)], [])  # one plan reads a single task
    (error,) = page.unreadable
    assert "'yesterday' cannot be read" in str(error)
    assert error.item is not None
    assert error.item["createdAt"] == {"S": "yesterday"}
    with pytest.raises(UnreadableItem, match="'yesterday'"):
        list(db.iterate(plan))


def test_items_of_a_type_that_nobody_declared_are_passed_over(
    filled: Database, engine: Engine
) -> None:
    strange = {"PK": {"S": "PROJECT#P"}, "SK": {"S": "TASK#0001#X#1"}, "kind": {"S": "Strange"}}
    engine.call("PutItem", {"TableName": "query_desk", "Item": strange})
    assert numbers(filled.run(Task.primary.within("P"))) == list(range(1, 13))
    assert filled.run(Task.primary.within("P").count()) == 12


def test_sentinels_in_the_partition_are_passed_over(db: Database) -> None:
    table = new_table("query_club", type_attribute=None)

    class Member(Entity, table=table):
        name: Attr[str] = attr()
        email: Attr[str] = attr()
        primary = key("CLUB", "MEMBER" / name)
        by_email = unique("CLUB" / email, "MEMBER" / email.again)

    class Guest(Entity, table=table):
        name: Attr[str] = attr()
        nick: Attr[str] = attr()
        primary = key("GUESTS", "GUEST" / name)
        by_nick = unique("GUESTS" / nick, "NICK")

    club = connect(":memory:", table)
    club.run(create(Member(name="ann", email="a@b")))
    club.run(create(Guest(name="bob", nick="b")))
    assert [one.name for one in club.run(Member.primary.within())] == ["ann"]
    assert [one.name for one in club.run(Guest.primary.within())] == ["bob"]
