"""Attributes that no response contains."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    Aggregate,
    Attr,
    Create,
    Entity,
    Get,
    Load,
    Query,
    Table,
    Transaction,
    access_pattern,
    attr,
    children,
    create,
    key,
    put,
    root,
    transact,
)
from tablewright.errors import DeclarationError
from tablewright.fastapi import create_app
from tablewright.plans import ReturningOld
from tests.fastapi.desk import TestClient


class Club(Table, name="club"):
    pass


class User(Entity, table=Club):
    user_id: Attr[str] = attr()
    name: Attr[str] = attr()
    password: Attr[str] = attr()
    primary = key("USER" / user_id, "USER")


class Note(Entity, table=Club):
    user_id: Attr[str] = attr()
    at: Attr[int] = attr(pad=3)
    password: Attr[str] = attr(default="an attribute of another entity")
    primary = key("USER" / user_id, "NOTE" / at)


class UserWithNotes(Aggregate):
    user: User = root()
    notes: list[Note] = children()


@access_pattern
def add_user(user: User) -> Create[User]:
    return create(user)


@access_pattern(route="PUT /users")
def exchange(user: User) -> ReturningOld[User | None]:
    return put(user).returning("old")


@access_pattern
def user(user_id: str) -> Get[User]:
    return User.primary(user_id)


@access_pattern(route="GET /all/{user_id}")
def all_of(user_id: str) -> Query[User]:
    return User.primary.within(user_id)


@access_pattern
def user_with_notes(user_id: str) -> Load[UserWithNotes]:
    return UserWithNotes.of(User.primary(user_id))


@access_pattern(route="POST /both")
def add_both(user: User, note: Note) -> Transaction[tuple[User, Note]]:
    return transact(create(user), create(note))


@access_pattern
def passwords(user_id: str) -> Query[tuple[str]]:
    return User.primary.within(user_id).select(User.password)


EVERYTHING: Any = [add_user, exchange, user, all_of, user_with_notes, add_both]
ANN = {"user_id": "A", "name": "Ann", "password": "secret"}


def test_no_response_contains_a_hidden_attribute() -> None:
    app = create_app(":memory:", Club, patterns=EVERYTHING, hidden=[User.password])
    with TestClient(app) as client:
        made = client.post("/users", json=ANN)
        shown = {"user_id": "A", "name": "Ann"}
        assert (made.status_code, made.json()) == (201, shown)
        assert client.get(made.headers["Location"]).json() == shown
        assert client.put("/users", json=ANN | {"name": "Eve"}).json() == shown
        assert client.get("/all/A").json()["items"] == [shown | {"name": "Eve"}]
        both = client.post(
            "/both", json={"user": ANN | {"user_id": "B"}, "note": {"user_id": "B", "at": 1}}
        )
        assert [sorted(each) for each in both.json()] == [
            ["name", "user_id"],
            ["at", "password", "user_id"],
        ]
        whole = client.get("/users/B/user-with-notes").json()
        assert "password" not in whole["user"]
        assert "password" in whole["notes"][0]


def test_the_etag_of_content_does_not_depend_on_it() -> None:
    app = create_app(":memory:", Club, patterns=EVERYTHING, hidden=[User.password])
    with TestClient(app) as client:
        url = client.post("/users", json=ANN).headers["Location"]
        before = client.get(url).headers["ETag"]
        client.put("/users", json=ANN | {"password": "other"})
        assert client.get(url).headers["ETag"] == before


def test_the_document_has_it_only_in_requests() -> None:
    app = create_app(":memory:", Club, patterns=EVERYTHING, hidden=[User.password])
    schemas = app.openapi()["components"]["schemas"]
    assert schemas["User-Input"]["properties"]["password"]["writeOnly"]
    assert "password" in schemas["User-Input"]["required"]
    assert "password" not in schemas["User-Output"]["properties"]
    assert "password" not in schemas["User-Output"]["required"]
    other = create_app(":memory:", Club, patterns=EVERYTHING).openapi()["components"]["schemas"]
    assert "writeOnly" not in str(other)


def test_a_pattern_that_returns_a_hidden_attribute_alone_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"passwords returns single attributes, and User\.p"):
        create_app(":memory:", Club, patterns=[passwords], hidden=[User.password])


def test_what_is_hidden_must_be_an_attribute() -> None:
    with pytest.raises(DeclarationError, match=r"takes attributes of entities"):
        create_app(":memory:", Club, patterns=[user], hidden=["password"])
