"""Counters, cascades and references of the same items: one action for each item, and none lost."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    delete_all,
    key,
    put,
    transact,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import ConditionFailed, NotFound
from tablewright.rules import cascade, count_of, reference, sum_of
from tests.costs import run_within_range
from tests.prepared import Prepare, with_tables
from tests.transports import record_requests


class Forum(Table, name="forum"):
    pass


class Author(Entity, table=Forum):
    name: Attr[str] = attr()
    posts: Attr[int] = count_of("Post", by=("written_by",))
    primary = key("AUTHOR" / name, "AUTHOR")


class Topic(Entity, table=Forum):
    topic: Attr[str] = attr()
    posts: Attr[int] = count_of("Post")
    likes: Attr[int] = sum_of("Post.likes")
    primary = key("TOPIC" / topic, "TOPIC")
    content = cascade("Post")


class Post(Entity, table=Forum):
    topic: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    written_by: Attr[str] = attr()
    likes: Attr[int] = attr(default=0)
    primary = key("TOPIC" / topic, "POST" / number)
    author = reference(Author, by=written_by)


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Forum)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Forum)
    db.run(transact(create(Topic(topic="t")), create(Author(name="a")), create(Author(name="b"))))
    return db


def counted(db: Database) -> tuple[Any, ...]:
    topic = db.run(Topic.primary("t"))
    authors = [db.run(Author.primary(name)) for name in "ab"]
    return (
        None if topic is None else (topic.posts, topic.likes),
        *(None if each is None else each.posts for each in authors),
    )


def test_a_parent_has_one_action_for_its_counter_and_its_existence(db: Database) -> None:
    recorded = record_requests(db)
    db.run(create(Post(topic="t", number=1, written_by="a", likes=2)))
    ((operation, body),) = recorded.requests
    assert operation == "TransactWriteItems"
    assert [next(iter(each)) for each in body["TransactItems"]] == ["Put", "Update", "Update"]
    assert counted(db) == ((1, 2), 1, 0)


@pytest.mark.parametrize("missing", ["topic", "author"])
def test_a_post_needs_its_topic_and_its_author(db: Database, missing: str) -> None:
    topic, author = ("x", "a") if missing == "topic" else ("t", "x")
    for write in (create, put):
        with pytest.raises(NotFound, match=missing.capitalize()):
            db.run(write(Post(topic=topic, number=1, written_by=author)))
    assert counted(db) == ((0, 0), 0, 0)


def test_every_write_within_its_range_of_units_keeps_all_rules(db: Database) -> None:
    post = Post.primary("t", 1)
    run_within_range(db, create(Post(topic="t", number=1, written_by="a", likes=2)))
    run_within_range(db, put(Post(topic="t", number=2, written_by="b", likes=3)))
    run_within_range(db, post.update(Post.written_by.set("b"), Post.likes.increment(5)))
    assert counted(db) == ((2, 10), 0, 2)
    with pytest.raises(NotFound, match="Author"):
        db.run(post.update(Post.written_by.set("nobody")))
    with pytest.raises(ConditionFailed):
        db.run(Author.primary("b").delete())
    run_within_range(db, Author.primary("a").delete())
    assert counted(db) == ((2, 10), None, 2)
    run_within_range(db, post.delete())
    assert counted(db) == ((1, 3), None, 1)


@pytest.mark.parametrize("count", [0, 1, 30, 130])
def test_a_topic_goes_with_its_posts_and_its_authors_count_them_no_more(
    db: Database, count: int
) -> None:
    for number in range(count):
        db.run(create(Post(topic="t", number=number, written_by="ab"[number % 2], likes=1)))
    assert counted(db) == ((count, count), (count + 1) // 2, count // 2)
    db.run(Topic.primary("t").delete())
    assert counted(db) == (None, 0, 0)
    assert list(db.run(Post.primary.within("t"))) == []
    with pytest.raises(NotFound):
        db.run(create(Post(topic="t", number=1, written_by="a")))


def test_the_posts_of_a_topic_are_deleted_without_it(db: Database) -> None:
    for number in range(5):
        db.run(create(Post(topic="t", number=number, written_by="a", likes=1)))
    assert db.run(delete_all(Post.primary.within("t"))) == 5
    assert counted(db) == ((0, 0), 0, 0)


def test_a_topic_and_its_post_in_one_transaction(db: Database) -> None:
    posts = [create(Post(topic="u", number=number, written_by="a")) for number in range(3)]
    db.run(transact(create(Topic(topic="u")), *posts))
    topic = db.run(Topic.primary("u"))
    assert topic is not None
    assert (topic.posts, counted(db)[1]) == (3, 3)
