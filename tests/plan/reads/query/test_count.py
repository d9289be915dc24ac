"""Counts."""

from __future__ import annotations

from tablewright import Engine, create, put
from tablewright.database import Database
from tests.plan.reads.query.desk import (
    Book,
    Comment,
    Compare,
    Holds,
    Leaf,
    Task,
    comment,
    comparisons,
    numbers,
    task,
)


def test_a_count_counts_the_asked_entity_only(filled: Database) -> None:
    assert filled.run(Task.primary.within("P").count()) == 12
    assert filled.run(Comment.primary.within("P").count()) == 36
    assert filled.run(Comment.primary.within("P").eq(3).count()) == 3
    assert filled.run(Task.assigned("ann").count()) == 6
    assert filled.run(Task.primary.within("none").count()) == 0


def test_a_count_without_a_type_attribute_counts_the_asked_entity_only(db: Database) -> None:
    for name in "abc":
        db.run(put(Book(shelf="S", name=name)))
        for number in range(4):
            db.run(put(Leaf(shelf="S", name=name, number=number)))
    assert db.run(Book.primary.within("S").count()) == 3
    assert db.run(Leaf.primary.within("S").count()) == 12
    assert db.run(Book.primary.within("S").gt("a").count()) == 2


@comparisons
def test_a_count_is_the_length_of_what_a_query_gives(
    compare: Compare, holds: Holds, filled: Database
) -> None:
    plan = compare(Task.primary.within("P"), 5)
    assert filled.run(plan.count()) == len(list(filled.iterate(plan)))


def test_a_count_takes_no_notice_of_the_limit_and_keeps_the_filter(filled: Database) -> None:
    plan = Task.primary.within("P").filter(Task.priority > 6)
    assert filled.run(plan.page_size(2).count()) == 6


def test_more_than_a_megabyte_is_counted_and_read_to_the_end(db: Database, engine: Engine) -> None:
    body = "x" * 100_000
    for number in range(25):
        db.run(put(Leaf(shelf="S", name="a", number=number, body=body)))
        db.run(put(Book(shelf="S", name=f"b{number:03d}")))
    first = engine.call(
        "Query",
        {
            "TableName": "query_shelf",
            "KeyConditionExpression": "PK = :p",
            "ExpressionAttributeValues": {":p": {"S": "SHELF#S"}},
        },
    )
    assert "LastEvaluatedKey" in first
    assert db.run(Leaf.primary.within("S").count()) == 25
    assert db.run(Book.primary.within("S").count()) == 25
    assert [one.number for one in db.iterate(Leaf.primary.within("S"))] == list(range(25))
    assert len(db.run(Book.primary.within("S").page_size(25))) == 25


def test_a_megabyte_of_typed_items_is_counted_to_the_end(db: Database) -> None:
    for number in range(1, 22):
        db.run(create(task(number, title="x" * 100_000)))
        db.run(create(comment(number, "a")))
    assert db.run(Task.primary.within("P").count()) == 21
    assert db.run(Task.by_due("P").count()) == 0
    assert numbers(db.iterate(Task.primary.within("P"))) == list(range(1, 22))
