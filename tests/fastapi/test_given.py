"""Parameters that the API fills in, and transactions of which one write returns something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from fastapi import Header

from tablewright import (
    Attr,
    Create,
    Entity,
    Get,
    Input,
    Table,
    Transaction,
    access_pattern,
    attr,
    condition_check,
    create,
    key,
    transact,
    version,
)
from tablewright.client import ApiClient
from tablewright.fastapi import create_app
from tests.fastapi.desk import TestClient


class Board(Table, name="board"):
    pass


class Topic(Entity, table=Board):
    topic_id: Attr[str] = attr()
    owner: Attr[str] = attr()
    primary = key("TOPIC" / topic_id, "TOPIC")


class Post(Entity, table=Board):
    topic_id: Attr[str] = attr()
    post_id: Attr[str] = attr()
    author: Attr[str] = attr()
    version: Attr[int] = version()
    primary = key("TOPIC" / topic_id, "POST" / post_id)


class NewPost(Input[Post], exclude=("topic_id", "author")): ...


@access_pattern(route="POST /topics")
def add_topic(topic_id: str, owner: str) -> Create[Topic]:
    return create(Topic(topic_id=topic_id, owner=owner))


@access_pattern
def post(topic_id: str, post_id: str) -> Get[Post]:
    return Post.primary(topic_id, post_id)


@access_pattern(route="POST /topics/{topic_id}/posts")
def add_post(topic_id: str, author: str, new: NewPost) -> Transaction[tuple[Post, None]]:
    made = new.entity(topic_id=topic_id, author=author)
    return transact(create(made), condition_check(Topic.primary(topic_id)))


@access_pattern(route="POST /both")
def add_both(topic: Topic, new: Post) -> Transaction[tuple[Topic, Post]]:
    return transact(create(topic), create(new))


async def me(x_user: Annotated[str, Header()]) -> str:
    return x_user


@pytest.fixture
def client() -> Iterator[TestClient]:
    patterns: Any = [add_topic, add_post, post, add_both]
    given = {"author": me, "owner": me}
    app = create_app(":memory:", Board, patterns=patterns, given=given)
    with TestClient(app, headers={"X-User": "ann"}) as client:
        assert client.post("/topics", json={"topic_id": "T"}).json()["owner"] == "ann"
        yield client


def test_the_response_is_that_of_the_only_write_that_returns_something(client: TestClient) -> None:
    made = client.post("/topics/T/posts", json={"post_id": "1"})
    assert (made.status_code, made.headers["ETag"]) == (201, '"1"')
    assert made.json() == {"topic_id": "T", "post_id": "1", "author": "ann", "version": 1}
    assert client.get(made.headers["Location"]).json() == made.json()
    assert client.post("/topics/other/posts", json={"post_id": "1"}).status_code == 404


def test_a_transaction_that_only_creates_is_201(client: TestClient) -> None:
    new = {"topic_id": "U", "post_id": "1", "author": "eve"}
    made = client.post("/both", json={"topic": {"topic_id": "U", "owner": "eve"}, "new": new})
    assert (made.status_code, len(made.json())) == (201, 2)


def test_a_given_parameter_is_not_sent(client: TestClient) -> None:
    body = {"topic_id": "V", "owner": "eve"}
    assert client.post("/topics", json=body).status_code == 422
    assert client.post("/topics", json={"topic_id": "V"}, headers={"X-User": "eve"}).json() == body
    paths = client.get("/openapi.json").json()["paths"]
    assert [each["name"] for each in paths["/topics"]["post"]["parameters"]] == ["x-user"]


def test_a_client_gets_the_tuple_of_the_pattern(client: TestClient) -> None:
    api = ApiClient("http://testserver", http=client, given=("author", "owner"))
    made, nothing = api.call(add_post, "T", "ann", NewPost.model_validate({"post_id": "2"}))
    assert (made.author, nothing) == ("ann", None)
